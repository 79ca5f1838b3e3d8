//! `app` as WebAssembly with its JavaScript glue.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use wasm_bindgen_cli_support::Bindgen;

use super::Form;
use crate::node;
use crate::process::{output, run};
use crate::progress::note;
use crate::wasm_target::TARGET;
use crate::workspace::Workspace;

/// What rustc's WASM target uses and every current browser understands; the module itself does not
/// say so once it is stripped. All features would be too many: browsers lack some of them.
const FEATURES: [&str; 7] = [
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// The two files that make the application.
#[derive(Debug)]
pub(super) struct Application {
    /// The glue, an ES module.
    pub(super) glue: PathBuf,
    /// The code.
    pub(super) wasm: PathBuf,
}

/// Compiles `app`, makes the glue and, in the small form, shrinks the code.
pub(super) fn build(workspace: &Workspace, form: Form, folder: &Path) -> Result<Application> {
    let compiled = compile(workspace, form)?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Bindgen::new()
        .input_path(&compiled)
        .out_name("app")
        .web(true)
        .and_then(|bindgen| bindgen.typescript(false).generate(folder))
        .map_err(|error| anyhow!("wasm-bindgen: {error:#}"))?;
    let application = Application { glue: folder.join("app.js"), wasm: folder.join("app_bg.wasm") };
    match form {
        Form::Quick => {}
        Form::Small => shrink(workspace, &application.wasm)?,
    }
    Ok(application)
}

/// Native and WASM builds never share a folder: features are unified for each invocation, and each
/// would undo the other's work.
fn compile(workspace: &Workspace, form: Form) -> Result<PathBuf> {
    let (profile, built) = match form {
        Form::Quick => ("dev", "debug"),
        Form::Small => ("wasm-release", "wasm-release"),
    };
    let target = workspace.target.join("wasm");
    let mut cargo = workspace.cargo();
    cargo
        .env_remove("CARGO_TARGET_DIR")
        .args(["build", "--package", "app", "--lib", "--target", TARGET])
        .args(["--no-default-features", "--features", "hydrate", "--profile", profile])
        .arg("--target-dir")
        .arg(&target);
    run(&mut cargo)?;
    Ok(target.join(TARGET).join(built).join("app.wasm"))
}

fn shrink(workspace: &Workspace, wasm: &Path) -> Result<()> {
    let before = fs::metadata(wasm)?.len();
    let optimizer = workspace.javascript().join("node_modules/binaryen/bin/wasm-opt");
    let mut node = node::node(&workspace.javascript());
    node.arg("--no-warnings").arg(optimizer).arg("-Oz").args(FEATURES);
    output(node.arg(wasm).arg("-o").arg(wasm)).context("wasm-opt of the npm package binaryen")?;
    let after = fs::metadata(wasm)?.len();
    note(&format!("wasm-opt: {} kB, was {} kB", after / 1000, before / 1000));
    Ok(())
}
