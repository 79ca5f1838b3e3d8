//! esbuild's work: the application's glue, the heavy JavaScript parts, the style sheet.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::application::Application;
use super::form::Form;
use super::inputs::files;
use super::site::Site;
use crate::node;
use crate::process::output;
use crate::workspace::Workspace;

/// Parts that have the texts of a language. Each page says which of them it needs, so that it comes
/// beside the code that asks for it.
const TEXTS: [&str; 2] = ["part_english_texts", "part_chinese_texts"];

/// Which of them a file is: it has a number behind its name.
fn texts_of(file: &str) -> Option<&'static str> {
    let is = |texts: &&str| {
        let number = file.strip_prefix(*texts).and_then(|rest| rest.strip_prefix('_'));
        number.is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit()))
    };
    TEXTS.into_iter().find(is)
}

/// The glue in one piece, with whatever it imports, and the code that it loads.
pub(super) fn application(
    workspace: &Workspace,
    form: Form,
    application: &Application,
    parts: &[PathBuf],
    site: &mut Site,
) -> Result<()> {
    let mut loader = fs::read_to_string(&application.loader)?;
    for part in parts {
        let name = part.file_name().and_then(OsStr::to_str).context("a part has a name")?;
        let hashed = site.add_part(name, part)?;
        if let Some(texts) = texts_of(name) {
            site.name(format!("{texts}.wasm"), &hashed);
        }
        loader = loader.replace(&format!("\"./{name}\""), &format!("\"./{hashed}\""));
    }
    fs::write(&application.loader, loader)?;
    let bundled = application.glue.with_file_name("bundled.js");
    let mut esbuild = esbuild(workspace, form);
    esbuild.arg(&application.glue).args(["--bundle", "--format=esm"]);
    output(esbuild.arg(format!("--outfile={}", bundled.display())))?;
    site.add("app.js", &bundled)?;
    site.add("app_bg.wasm", &application.wasm)
}

/// What `app/js` builds: an editor, a terminal. They name their files and say so in a manifest.
pub(super) fn javascript(
    workspace: &Workspace,
    form: Form,
    folder: &Path,
    site: &mut Site,
) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut build = node::node(&workspace.javascript());
    build.arg("build.mjs").arg(folder);
    match form {
        Form::Quick => output(build.arg("--dev"))?,
        Form::Small => output(&mut build)?,
    };
    let manifest = folder.join("manifest.json");
    let text = fs::read_to_string(&manifest)
        .with_context(|| format!("app/js/build.mjs left no {}", manifest.display()))?;
    let names: BTreeMap<String, String> = serde_json::from_str(&text)?;
    for file in files(folder)?.iter().filter(|file| **file != manifest) {
        site.add_hashed(file)?;
    }
    for (logical, file) in names {
        site.name(logical, &file);
    }
    Ok(())
}

/// `style/main.css` with everything it imports.
pub(super) fn styles(
    workspace: &Workspace,
    form: Form,
    folder: &Path,
    site: &mut Site,
) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let mut esbuild = esbuild(workspace, form);
    esbuild.arg(workspace.root.join("style/main.css")).args([
        "--bundle",
        "--asset-names=[name]-[hash]",
        "--loader:.woff2=file",
        "--loader:.svg=file",
    ]);
    output(esbuild.arg(format!("--outdir={}", folder.display())))?;
    for file in files(folder)? {
        if file.ends_with("main.css") {
            site.add("main.css", &file)?;
        } else {
            site.add_hashed(&file)?;
        }
    }
    Ok(())
}

fn esbuild(workspace: &Workspace, form: Form) -> Command {
    let mut node = node::node(&workspace.javascript());
    node.arg(workspace.javascript().join("node_modules/esbuild/bin/esbuild"));
    node.args(["--log-level=warning", "--target=es2022"]);
    match form {
        Form::Quick => {}
        Form::Small => {
            node.args(["--minify", "--legal-comments=none"]);
        }
    }
    node
}

#[cfg(test)]
mod tests {
    use super::texts_of;

    #[test]
    fn texts_are_known_by_their_name() {
        assert_eq!(texts_of("part_english_texts_123.wasm"), Some("part_english_texts"));
        assert_eq!(texts_of("part_chinese_texts_456.wasm"), Some("part_chinese_texts"));
        for other in
            ["part_chinese_texts_said_789.wasm", "part_chinese_texts.wasm", "part_job_1.wasm"]
        {
            assert_eq!(texts_of(other), None, "{other}");
        }
    }
}
