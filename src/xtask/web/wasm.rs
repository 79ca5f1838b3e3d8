//! `app` as WebAssembly with its JavaScript glue.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use wasm_bindgen_cli_support::Bindgen;

use super::application::{Application, Parts};
use super::form::Form;
use crate::node;
use crate::process::{output, run};
use crate::progress::note;
use crate::rust_target::WASM;
use crate::workspace::Workspace;

/// The name of the module that fetches parts.
const LOADER: &str = "parts.js";

/// Compiles `app`, takes it apart, makes the glue and, in the small form, shrinks the code.
pub(super) fn build(workspace: &Workspace, form: Form, folder: &Path) -> Result<Application> {
    let compiled = compile(workspace, form)?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let main = folder.join("main.wasm");
    let (pieces, parts) = split(&compiled, &main, folder)?;
    Bindgen::new()
        .input_path(&main)
        .out_name("app")
        // The parts are linked to the main one by the linker's names.
        .keep_lld_exports(true)
        .demangle(false)
        .web(true)
        .and_then(|bindgen| bindgen.typescript(false).generate(folder))
        .map_err(|error| anyhow!("wasm-bindgen: {error:#}"))?;
    let application = Application {
        glue: folder.join("app.js"),
        wasm: folder.join("app_bg.wasm"),
        loader: folder.join(LOADER),
        pieces,
        parts,
    };
    match form {
        Form::Quick => {}
        Form::Small => shrink(workspace, &application)?,
    }
    Ok(application)
}

/// Takes what is loaded later out of the main module; gives its pieces, and which part needs which.
fn split(compiled: &Path, main: &Path, folder: &Path) -> Result<(Vec<PathBuf>, Parts)> {
    let code = fs::read(compiled).with_context(|| format!("cannot read {}", compiled.display()))?;
    let link_name = format!("./{LOADER}");
    let mut options = wasm_split_cli_support::Options::new(&code);
    options.output_dir = folder;
    options.main_out_path = main;
    options.link_name = &link_name;
    options.main_module = "./app.js";
    let split = wasm_split_cli_support::transform(options)
        .map_err(|error| anyhow!("cannot split {}: {error:#}", compiled.display()))?;
    Ok((split.split_modules, split.prefetch_map.into_iter().collect()))
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
        .args(["build", "--package", "app", "--lib", "--target", WASM])
        .args(["--no-default-features", "--features", "hydrate", "--profile", profile])
        .arg("--target-dir")
        .arg(&target);
    run(&mut cargo)?;
    Ok(target.join(WASM).join(built).join("app.wasm"))
}

fn shrink(workspace: &Workspace, application: &Application) -> Result<()> {
    let files = || iter::once(&application.wasm).chain(&application.pieces);
    let size = || files().map(|file| Ok(fs::metadata(file)?.len())).sum::<Result<u64>>();
    let before = size()?;
    let mut node = node::node(&workspace.javascript());
    output(node.arg("shrink.mjs").args(files())).context("the npm package binaryen")?;
    let main = fs::metadata(&application.wasm)?.len();
    note(&format!(
        "wasm: {} kB, was {} kB; {} kB of it in {} pieces for {} parts",
        size()? / 1000,
        before / 1000,
        (size()? - main) / 1000,
        application.pieces.len(),
        application.parts.len()
    ));
    Ok(())
}
