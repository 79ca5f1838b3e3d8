//! The guest: the program that Berth puts into every container, static, so that it runs in any.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::packages::{self, Package};
use crate::process::{output, run};
use crate::progress::{note, step};
use crate::rust_target;
use crate::workspace::Workspace;

/// What it is built for: containers of nodes with these processors, and what links it elsewhere.
const TARGETS: [Target; 2] = [
    Target { processor: "x86_64", linker: "x86_64-linux-gnu-gcc", packages: &packages::FOR_INTEL },
    Target { processor: "aarch64", linker: "aarch64-linux-gnu-gcc", packages: &packages::FOR_ARM },
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
    packages: &'static [Package],
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

    /// Brings what builds for it on a machine with other processors.
    fn prepare(self, workspace: &Workspace) -> Result<()> {
        if !self.links() {
            packages::ensure(self.packages)?;
            ensure!(self.links(), "{} finds no libc.a", self.linker);
        }
        rust_target::ensure(workspace, &self.name())
    }

    /// Whether the compiler that links for it is there, and the library that it links.
    fn links(self) -> bool {
        let library = output(Command::new(self.linker).arg("-print-file-name=libc.a"));
        library.is_ok_and(|answer| names_a_file(&answer))
    }
}

/// Whether the compiler has found the file: of one that it does not find it says the bare name.
fn names_a_file(answer: &str) -> bool {
    Path::new(answer.trim()).is_absolute()
}

/// The program for this machine's processors, built anew if anything it is made of has changed.
pub(crate) fn ensure(workspace: &Workspace) -> Result<PathBuf> {
    let Some(target) = TARGETS.into_iter().find(|target| target.is_of_this_machine()) else {
        bail!("Berth is not built on machines of {}", std::env::consts::ARCH);
    };
    step("guest, static", || build(workspace, target))
}

/// The programs for nodes of all kinds, this machine's first; what this machine cannot be made ready to build
/// is left out.
pub(crate) fn all(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let mut programs = vec![ensure(workspace)?];
    for target in TARGETS.into_iter().filter(|target| !target.is_of_this_machine()) {
        match target.prepare(workspace) {
            Ok(()) => {
                let name = format!("guest for {}, static", target.processor);
                programs.push(step(&name, || build(workspace, target))?);
            }
            Err(problem) => note(&format!(
                "no guest for {}, so its nodes will take no tasks: {problem:#}",
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
    fn one_is_of_this_machine_and_what_links_the_other_is_named() {
        let [intel, arm] = TARGETS;
        assert_eq!(arm.name(), "aarch64-unknown-linux-gnu");
        assert_eq!(arm.linker_variable(), "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER");
        assert_ne!(intel.is_of_this_machine(), arm.is_of_this_machine());
    }

    #[test]
    fn a_compiler_links_that_is_there_and_knows_where_its_library_is() {
        assert!(names_a_file("/usr/lib/gcc-cross/aarch64-linux-gnu/12/../../libc.a\n"));
        assert!(!names_a_file("libc.a\n") && !names_a_file(""));
        let absent = Target { processor: "z80", linker: "z80-linux-gnu-gcc", packages: &[] };
        assert!(!absent.links());
    }
}
