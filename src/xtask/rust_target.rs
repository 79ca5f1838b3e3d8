//! What this machine's compiler builds for besides the machine itself: the browser, nodes of another
//! architecture.
//!
//! rustup is asked first for a target. Where it is missing or cannot reach its server, the standard library is
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
use crate::workspace::{SOURCE_VARIABLE, Workspace};

/// The browser's target.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// The throw-away crate whose build leaves the standard library behind.
const PROBE: &str = "berth_probe";

/// Makes sure that Cargo can build for the target, named as Rust does; what links for it is not looked at.
pub(crate) fn ensure(workspace: &Workspace, target: &str) -> Result<()> {
    let sysroot = PathBuf::from(output(Command::new("rustc").args(["--print", "sysroot"]))?.trim());
    let scratch = workspace.target.join("rust-target");
    if installed(&sysroot, target) && fits(target, &scratch)? {
        return Ok(());
    }
    step(&format!("Rust's target {target}"), || {
        let chosen = std::env::var_os(SOURCE_VARIABLE).map(PathBuf::from);
        // rustup may manage another toolchain than the one on the PATH: what counts is what is there.
        if chosen.is_none()
            && succeeds(Command::new("rustup").args(["target", "add", target]))
            && installed(&sysroot, target)
            && fits(target, &scratch)?
        {
            note("added by rustup");
            return Ok(());
        }
        remove_folder(&scratch)?;
        fs::create_dir_all(&scratch)?;
        let library = find_library(chosen, &sysroot, &scratch, target)?;
        build(&library, &sysroot, &scratch, target)?;
        remove_folder(&scratch)
    })
}

/// Where the compiler looks for the libraries of a target.
fn libraries(sysroot: &Path, target: &str) -> PathBuf {
    sysroot.join("lib/rustlib").join(target).join("lib")
}

fn installed(sysroot: &Path, target: &str) -> bool {
    fs::read_dir(libraries(sysroot, target)).is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
    })
}

/// Whether the compiler takes the libraries that are there: an update leaves those that were compiled here for
/// the one before.
fn fits(target: &str, scratch: &Path) -> Result<bool> {
    fs::create_dir_all(scratch)?;
    let mut rustc = Command::new("rustc");
    rustc.args(["--crate-type=lib", "--emit=metadata", "--target", target, "--out-dir"]);
    // An empty crate, read from nothing.
    Ok(succeeds(rustc.arg(scratch).arg("-")))
}

/// The source of the standard library of exactly this compiler.
fn find_library(
    chosen: Option<PathBuf>,
    sysroot: &Path,
    scratch: &Path,
    target: &str,
) -> Result<PathBuf> {
    if let Some(path) = chosen {
        return unpack_chosen(&path, scratch);
    }
    let own = source_link(sysroot);
    if own.join("std/src/lib.rs").is_file() {
        return Ok(own);
    }
    note("rustup cannot add it here; looking for the compiler's source among Debian's packages");
    let version = compiler_version()?;
    debian::fetch_library(&version, scratch).with_context(|| what_to_do(target, &version))
}

fn what_to_do(target: &str, version: &str) -> String {
    format!(
        "make the target available in one of these ways: `rustup target add {target}` where rustup \
         reaches its server; or unpack the source of Rust {version} and set {SOURCE_VARIABLE} to its \
         `library` folder"
    )
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
fn build(library: &Path, sysroot: &Path, scratch: &Path, target: &str) -> Result<()> {
    let link = source_link(sysroot);
    let linked = link.as_path() != library;
    if linked {
        link_source(library, &link)?;
    }
    let built = compile(scratch, target);
    if linked {
        // The library lies in a folder that is about to go; a dangling link would mislead rustup.
        fs::remove_file(&link).with_context(|| format!("cannot remove {}", link.display()))?;
    }
    install(&built?, sysroot, target)
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
fn compile(scratch: &Path, target: &str) -> Result<PathBuf> {
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
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        // As in rustup's libraries, lest a program that is optimised as a whole lack that of theirs.
        .env("RUSTFLAGS", "-Cembed-bitcode=yes")
        .args(["build", "--quiet", "--release", "--target", target])
        .arg("-Zbuild-std=std,panic_abort,proc_macro,test");
    output(&mut cargo)?;
    Ok(probe.join("target").join(target).join("release/deps"))
}

/// Copies the compiled libraries to where rustup would have put them, in place of an older compiler's.
fn install(built: &Path, sysroot: &Path, target: &str) -> Result<()> {
    let folder = libraries(sysroot, target);
    remove_folder(&folder).with_context(|| not_writable(&folder))?;
    fs::create_dir_all(&folder).with_context(|| not_writable(&folder))?;
    for entry in fs::read_dir(built)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.ends_with(".rlib") && !name.contains(PROBE) {
            fs::copy(&path, folder.join(name)).with_context(|| not_writable(&folder))?;
        }
    }
    if !installed(sysroot, target) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const ARM: &str = "aarch64-unknown-linux-gnu";

    #[test]
    fn the_libraries_go_where_the_compiler_looks_for_those_of_their_target() {
        let folder = tempfile::tempdir().unwrap();
        let [built, sysroot] = ["built", "sysroot"].map(|name| folder.path().join(name));
        fs::create_dir(&built).unwrap();
        for name in ["libcore-1.rlib", "libcore-1.rmeta", "core-1.d", "libberth_probe-1.rlib"] {
            fs::write(built.join(name), name).unwrap();
        }
        let problem = install(&built, &sysroot, ARM).unwrap_err().to_string();
        assert!(problem.starts_with("the build left no standard library"), "{problem}");
        fs::write(built.join("libstd-1.rlib"), "std").unwrap();
        fs::write(sysroot.join(format!("lib/rustlib/{ARM}/lib/libstd-0.rlib")), "old").unwrap();
        install(&built, &sysroot, ARM).unwrap();
        assert!(installed(&sysroot, ARM) && !installed(&sysroot, WASM));
        let libraries = fs::read_dir(sysroot.join(format!("lib/rustlib/{ARM}/lib"))).unwrap();
        let mut names: Vec<_> = libraries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["libcore-1.rlib", "libstd-1.rlib"]);
    }

    #[test]
    fn a_source_that_was_chosen_is_a_folder_or_an_archive_with_one() {
        let folder = tempfile::tempdir().unwrap();
        let [library, scratch, archive] =
            ["library", "scratch", "library.tar"].map(|name| folder.path().join(name));
        fs::create_dir(&library).unwrap();
        fs::create_dir(&scratch).unwrap();
        let chosen = unpack_chosen(&library, &scratch).unwrap();
        assert_eq!(chosen, library.canonicalize().unwrap());
        let pack = |what: &str| {
            let mut tar = Command::new("tar");
            output(tar.arg("-cf").arg(&archive).arg("-C").arg(folder.path()).arg(what)).unwrap();
        };
        pack("scratch");
        assert!(unpack_chosen(&archive, &scratch).is_err(), "there is no library in it");
        pack("library");
        assert_eq!(unpack_chosen(&archive, &scratch).unwrap(), scratch.join("library"));
        assert!(unpack_chosen(&folder.path().join("absent"), &scratch).is_err());
    }

    #[test]
    fn libraries_that_the_compiler_does_not_find_do_not_fit() {
        let scratch = tempfile::tempdir().unwrap();
        assert!(
            fits(&format!("{}-unknown-linux-gnu", std::env::consts::ARCH), scratch.path()).unwrap()
        );
        assert!(!fits("no-such-target", scratch.path()).unwrap());
    }

    #[test]
    fn what_helps_names_the_target_and_the_version() {
        let told = what_to_do(ARM, "1.95.0");
        assert!(told.contains("`rustup target add aarch64-unknown-linux-gnu`"), "{told}");
        assert!(told.contains("the source of Rust 1.95.0"), "{told}");
    }
}
