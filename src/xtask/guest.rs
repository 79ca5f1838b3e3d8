//! The guest: the program that Berth puts into every container, static, so that it runs in any.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::process::{find_program, output, run};
use crate::progress::{note, step};
use crate::workspace::Workspace;

/// What it is built for: containers of nodes with these processors, and the compiler that links it elsewhere.
const TARGETS: [Target; 2] = [
    Target { processor: "x86_64", linker: "x86_64-linux-gnu-gcc" },
    Target { processor: "aarch64", linker: "aarch64-linux-gnu-gcc" },
];

/// How it is built: small first.
const PROFILE: &str = "guest-release";

/// Static; and random numbers come from the kernel itself, because a static program looks in vain for
/// the library's function and would then need a file that an image may lack.
const FLAGS: &str = "-C target-feature=+crt-static --cfg getrandom_backend=\"linux_getrandom\"";

/// A kind of processor that it is built for.
#[derive(Debug, Clone, Copy)]
struct Target {
    processor: &'static str,
    linker: &'static str,
}

impl Target {
    /// As Rust names it.
    fn name(self) -> String {
        format!("{}-unknown-linux-gnu", self.processor)
    }

    fn is_of_this_machine(self) -> bool {
        self.processor == std::env::consts::ARCH
    }

    /// What Cargo takes the linker's name from.
    fn linker_variable(self) -> String {
        format!("CARGO_TARGET_{}_LINKER", self.name().to_uppercase().replace('-', "_"))
    }

    /// What of the toolchain is not there, and where it comes from.
    fn lacks(self) -> Result<Option<String>> {
        let name = self.name();
        let mut rustc = Command::new("rustc");
        let folder = output(rustc.args(["--print", "target-libdir", "--target", &name]))?;
        if !has_library(Path::new(folder.trim())) {
            return Ok(Some(format!("rustup target add {name}")));
        }
        let linker = find_program(self.linker);
        let package = format!("apt-get install gcc-{}-linux-gnu", self.processor.replace('_', "-"));
        Ok(linker.is_none().then_some(package))
    }
}

fn has_library(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
    })
}

/// The program for this machine's processors, built anew if anything it is made of has changed.
pub(crate) fn ensure(workspace: &Workspace) -> Result<PathBuf> {
    let Some(target) = TARGETS.into_iter().find(|target| target.is_of_this_machine()) else {
        bail!("Berth is not built on machines of {}", std::env::consts::ARCH);
    };
    step("guest, static", || build(workspace, target))
}

/// The programs for nodes of all kinds, this machine's first; what its toolchain cannot build is left out.
pub(crate) fn all(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let mut programs = vec![ensure(workspace)?];
    for target in TARGETS.into_iter().filter(|target| !target.is_of_this_machine()) {
        match target.lacks()? {
            None => {
                let name = format!("guest for {}, static", target.processor);
                programs.push(step(&name, || build(workspace, target))?);
            }
            Some(helps) => note(&format!(
                "no guest for {}, so its nodes will take no tasks; what helps: {helps}",
                target.processor
            )),
        }
    }
    Ok(programs)
}

/// Cargo knows within a second whether there is anything to do.
fn build(workspace: &Workspace, target: Target) -> Result<PathBuf> {
    let folder = workspace.target.join("guest");
    let program = folder.join(target.name()).join(PROFILE).join("berth-guest");
    run(&mut cargo(workspace, &folder, target))?;
    if !program.is_file() {
        bail!("the build left no {}", program.display());
    }
    Ok(program)
}

/// A folder of its own, because its flags are its own: with others in between, both would be built
/// over and over.
fn cargo(workspace: &Workspace, folder: &Path, target: Target) -> Command {
    let mut cargo = workspace.cargo();
    if !target.is_of_this_machine() {
        cargo.env(target.linker_variable(), target.linker);
    }
    cargo
        .env("RUSTFLAGS", FLAGS)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR")
        .args(["build", "--quiet", "--package", "guest", "--bin", "berth-guest"])
        .args(["--profile", PROFILE, "--target", &target.name(), "--target-dir"])
        .arg(folder);
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_what_helps() {
        let [intel, arm] = TARGETS;
        assert_eq!(arm.name(), "aarch64-unknown-linux-gnu");
        assert_eq!(arm.linker_variable(), "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER");
        assert_ne!(intel.is_of_this_machine(), arm.is_of_this_machine());
        let none = tempfile::tempdir().unwrap();
        assert!(!has_library(none.path()) && !has_library(&none.path().join("absent")));
        fs::write(none.path().join("libstd-1.rlib"), "").unwrap();
        assert!(has_library(none.path()));
    }
}
