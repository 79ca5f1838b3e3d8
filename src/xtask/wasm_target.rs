//! The `wasm32-unknown-unknown` target, also where rustup cannot download it.
//!
//! rustup is asked first. Where it is missing or cannot reach its server, the standard library is
//! compiled from source: from `BERTH_RUST_SRC`, from the toolchain's own `rust-src`, or from the
//! Debian package of exactly this compiler's version. The libraries go where rustup would have put
//! them, so that Cargo cannot tell the difference.

mod debian;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{output, run, succeeds};
use crate::progress::{note, step};
use crate::workspace::Workspace;

/// The target's name.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// A `library` folder of the compiler's sources, or a `.tar.xz` of one.
pub(crate) const SOURCE_VARIABLE: &str = "BERTH_RUST_SRC";

/// The throw-away crate whose build leaves the standard library behind.
const PROBE: &str = "berth_wasm_probe";

/// Makes sure that Cargo can build for the target.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    let sysroot = PathBuf::from(output(Command::new("rustc").args(["--print", "sysroot"]))?.trim());
    if installed(&sysroot) {
        return Ok(());
    }
    step("Rust's WASM target", || {
        let chosen = std::env::var_os(SOURCE_VARIABLE).map(PathBuf::from);
        // rustup may manage another toolchain than the one on the PATH: what counts is what is there.
        if chosen.is_none()
            && succeeds(Command::new("rustup").args(["target", "add", TARGET]))
            && installed(&sysroot)
        {
            note("added by rustup");
            return Ok(());
        }
        let scratch = workspace.target.join("wasm-target");
        remove_folder(&scratch)?;
        fs::create_dir_all(&scratch)?;
        let library = find_library(chosen, &sysroot, &scratch)?;
        build(&library, &sysroot, &scratch)?;
        remove_folder(&scratch)
    })
}

fn installed(sysroot: &Path) -> bool {
    let folder = sysroot.join("lib/rustlib").join(TARGET).join("lib");
    fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
    })
}

/// The source of the standard library of exactly this compiler.
fn find_library(chosen: Option<PathBuf>, sysroot: &Path, scratch: &Path) -> Result<PathBuf> {
    if let Some(path) = chosen {
        return unpack_chosen(&path, scratch);
    }
    let own = source_link(sysroot);
    if own.join("std/src/lib.rs").is_file() {
        return Ok(own);
    }
    note("rustup cannot add it here; looking for the compiler's source among Debian's packages");
    debian::fetch_library(&compiler_version()?, scratch)
}

/// Takes `BERTH_RUST_SRC`: a `library` folder as it is, an archive unpacked.
fn unpack_chosen(path: &Path, scratch: &Path) -> Result<PathBuf> {
    if path.is_dir() {
        return path
            .canonicalize()
            .with_context(|| format!("{SOURCE_VARIABLE}={}", path.display()));
    }
    run(Command::new("tar").arg("-xf").arg(path).arg("-C").arg(scratch))
        .with_context(|| format!("{SOURCE_VARIABLE}={} is no folder and no tar", path.display()))?;
    let library = scratch.join("library");
    if !library.is_dir() {
        bail!("{SOURCE_VARIABLE}={}: there is no folder `library` in it", path.display());
    }
    Ok(library)
}

fn compiler_version() -> Result<String> {
    let verbose = output(Command::new("rustc").arg("-vV"))?;
    let release = verbose.lines().find_map(|line| line.strip_prefix("release: "));
    Ok(release.context("`rustc -vV` names no release")?.to_owned())
}

/// Where Cargo's `build-std` looks for the library.
fn source_link(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib/src/rust/library")
}

/// Compiles the library and copies it into the sysroot.
fn build(library: &Path, sysroot: &Path, scratch: &Path) -> Result<()> {
    let link = source_link(sysroot);
    let linked = link.as_path() != library;
    if linked {
        link_source(library, &link)?;
    }
    let built = compile(scratch);
    if linked {
        // The library lies in a folder that is about to go; a dangling link would mislead rustup.
        fs::remove_file(&link).with_context(|| format!("cannot remove {}", link.display()))?;
    }
    install(&built?, sysroot)
}

fn link_source(library: &Path, link: &Path) -> Result<()> {
    let parent = link.parent().context("the link has a parent by construction")?;
    fs::create_dir_all(parent).with_context(|| not_writable(parent))?;
    if link.symlink_metadata().is_ok() {
        fs::remove_file(link).with_context(|| not_writable(link))?;
    }
    symlink(library, link).with_context(|| not_writable(link))
}

/// Builds an empty crate with the standard library and gives the folder of its dependencies.
fn compile(scratch: &Path) -> Result<PathBuf> {
    let probe = scratch.join("probe");
    fs::create_dir_all(probe.join("src"))?;
    fs::write(probe.join("src/lib.rs"), "")?;
    fs::write(
        probe.join("Cargo.toml"),
        format!("[package]\nname = \"{PROBE}\"\nedition = \"2024\"\n\n[workspace]\n"),
    )?;
    note("compiling the standard library for it");
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(&probe)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", probe.join("target"))
        .env_remove("RUSTFLAGS")
        .args(["build", "--quiet", "--release", "--target", TARGET])
        .arg("-Zbuild-std=std,panic_abort,proc_macro,test");
    output(&mut cargo)?;
    Ok(probe.join("target").join(TARGET).join("release/deps"))
}

/// Copies the compiled libraries to where rustup would have put them.
fn install(built: &Path, sysroot: &Path) -> Result<()> {
    let folder = sysroot.join("lib/rustlib").join(TARGET).join("lib");
    fs::create_dir_all(&folder).with_context(|| not_writable(&folder))?;
    for entry in fs::read_dir(built)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.ends_with(".rlib") && !name.contains(PROBE) {
            fs::copy(&path, folder.join(name)).with_context(|| not_writable(&folder))?;
        }
    }
    if !installed(sysroot) {
        bail!("the build left no standard library in {}", built.display());
    }
    Ok(())
}

fn not_writable(path: &Path) -> String {
    format!(
        "cannot write {}: the Rust toolchain belongs to somebody else; run `cargo xtask setup` \
         once as its owner, or install Rust with rustup for yourself",
        path.display()
    )
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
