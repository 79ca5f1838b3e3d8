//! The front end: from `app`, `style` and `public` to the folder that the server serves.
//!
//! `<target>/site/pkg/` holds files with a hash of their content in the name, which browsers may
//! keep for ever; `<target>/site/manifest.json` says which file has which logical name; everything
//! else is `public/` as it is. Of each text there is the brotli form alone.

mod application;
mod at_once;
mod bundle;
mod form;
mod inputs;
mod pack;
mod site;
mod wasm;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::node;
use crate::progress::step;
use crate::rust_target;
use crate::workspace::Workspace;
pub(crate) use form::Form;
use site::Site;

/// Makes the site unless it is there, made in this form from exactly these inputs.
pub(crate) fn ensure(workspace: &Workspace, form: Form) -> Result<()> {
    rust_target::ensure(workspace, rust_target::WASM)?;
    node::ensure_packages(&workspace.javascript())?;
    let stamp = workspace.target.join("site.inputs");
    let inputs = inputs::fingerprint(workspace)?;
    let made = fs::read_to_string(&stamp).unwrap_or_default();
    // Whoever wants it quickly is served by the small one as well.
    let serves = |made_in: Form| made_in.serves(form) && made == made_in.stamp(&inputs);
    if [Form::Quick, Form::Small].into_iter().any(serves)
        && workspace.site().join("manifest.json").is_file()
    {
        return Ok(());
    }
    build(workspace, form)?;
    fs::write(&stamp, form.stamp(&inputs))
        .with_context(|| format!("cannot write {}", stamp.display()))
}

fn build(workspace: &Workspace, form: Form) -> Result<()> {
    let scratch = workspace.target.join("site-build");
    let wasm = step("app for the browser", || wasm::build(workspace, form, &scratch.join("wasm")))?;
    let parts = pack::parts(&wasm)?;
    let mut site = Site::begin(&workspace.target.join("site-new"))?;
    step("scripts and styles", || {
        bundle::application(workspace, form, &wasm, &parts, &mut site)?;
        bundle::javascript(workspace, form, &scratch.join("js"), &mut site)?;
        bundle::styles(workspace, form, &scratch.join("style"), &mut site)?;
        site.copy_tree(&workspace.root.join("public"), Path::new(""))
    })?;
    step("compression", || site.compress(form))?;
    site.finish(&workspace.site())
}
