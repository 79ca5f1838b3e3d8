//! The `berth` binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use brotli::enc::BrotliEncoderParams;

use crate::process::{output, run};
use crate::progress::{note, step};
use crate::web;
use crate::workspace::Workspace;
use crate::{guest, packages};

/// The binary has so many bytes at most: what is in it, everybody who installs it stores and loads.
const LARGEST: u64 = 55_000_000;

/// The program is linked, with all that is in it, as it is itself built: what was built to be small stays so, and the
/// rest is quick. The library beside it, of the same crate, is to be small.
const QUICK: &str = "opt-level=3";

/// Functions that came to be the same are there once. That is `lld`'s, by which Rust links here where it comes with it.
const ONCE: &str = "link-arg=-Wl,--icf=all";

/// The optimised, self-contained binary: the front end is in it.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf> {
    web::ensure(workspace, web::Form::Small)?;
    let (guests, packed) = (guest::all(workspace)?, workspace.target.join("guests.br"));
    step("guest, packed", || pack(&guests, &packed))?;
    step("berth, optimised", || {
        let mut cargo = workspace.cargo();
        cargo.args(["rustc", "--release", "--package", "server", "--bin", "berth"]);
        cargo.args(["--features", "embed", "--", "-C", QUICK]);
        if links_by_lld()? {
            cargo.args(["-C", ONCE]);
        }
        run(cargo.env("BERTH_SITE", workspace.site()).env("BERTH_GUEST_PACKED", &packed))
    })?;
    let binary = workspace.berth("release");
    // Cargo lays the whole one there at each build, also when nothing has changed.
    step("line tables and names apart", || split(&binary))?;
    let bytes = fs::metadata(&binary)?.len();
    note(&format!("{}, {} MB", binary.display(), bytes.div_ceil(1_000_000)));
    ensure!(bytes <= LARGEST, "it has {bytes} bytes, and is to have {LARGEST} at most");
    Ok(binary)
}

/// Whether Rust links the machine's own programs by the `lld` that comes with it.
fn links_by_lld() -> Result<bool> {
    let by_itself = cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"));
    let root = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let lld = Path::new(root.trim()).join("lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld/ld.lld");
    Ok(by_itself && lld.exists())
}

/// Makes the programs small, as they lie in the binary: the length of each and itself. What is there already
/// stays as it is, so that Cargo has nothing to do.
fn pack(programs: &[PathBuf], packed: &Path) -> Result<()> {
    let (mut content, mut small) = (Vec::new(), Vec::new());
    for program in programs {
        let program = fs::read(program)?;
        content.extend((program.len() as u64).to_le_bytes());
        content.extend(program);
    }
    let parameters = BrotliEncoderParams::default();
    brotli::BrotliCompress(&mut content.as_slice(), &mut small, &parameters)?;
    if fs::read(packed).is_ok_and(|before| before == small) {
        return Ok(());
    }
    Ok(fs::write(packed, small)?)
}

/// Moves what only debuggers and the traces of panics read to a file beside the binary, `berth.debug`.
/// There they find it by themselves; a binary alone runs as well.
fn split(binary: &Path) -> Result<()> {
    packages::ensure(&packages::SYMBOLS)?;
    let (symbols, slim) = (binary.with_extension("debug"), binary.with_extension("slim"));
    let objcopy = || Command::new("objcopy");
    output(objcopy().arg("--only-keep-debug").arg(binary).arg(&symbols))?;
    let link = format!("--add-gnu-debuglink={}", symbols.display());
    output(objcopy().args(["--strip-all", link.as_str()]).arg(binary).arg(&slim))?;
    // A file of its own: the one that Cargo has kept for its next build stays whole.
    Ok(fs::rename(&slim, binary)?)
}

/// The binary for trying things out; it reads the front end from the folder `BERTH_SITE`.
pub(crate) fn build_quick(workspace: &Workspace) -> Result<PathBuf> {
    step("berth", || run(workspace.cargo().args(["build", "--package", "server"])))?;
    Ok(workspace.berth("debug"))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use crate::process::succeeds;

    use super::*;

    #[test]
    fn what_is_packed_is_small_and_left_alone_while_it_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let [program, packed] = ["program", "packed"].map(|name| folder.path().join(name));
        let programs = [program.clone(), program.clone()];
        let written = || fs::metadata(&packed).unwrap().modified().unwrap();
        fs::write(&program, [7_u8; 10_000]).unwrap();
        pack(&programs, &packed).unwrap();
        let (small, mut whole) = (fs::read(&packed).unwrap(), Vec::new());
        assert!(small.len() < 1_000, "{}", small.len());
        brotli::BrotliDecompress(&mut small.as_slice(), &mut whole).unwrap();
        let one = [10_000_u64.to_le_bytes().as_slice(), &[7; 10_000]].concat();
        assert_eq!(whole, one.repeat(2));
        let long_ago = SystemTime::UNIX_EPOCH;
        fs::File::options().append(true).open(&packed).unwrap().set_modified(long_ago).unwrap();
        pack(&programs, &packed).unwrap();
        assert_eq!(written(), long_ago);
        fs::write(&program, [8_u8; 10_000]).unwrap();
        pack(&programs, &packed).unwrap();
        assert_ne!(written(), long_ago);
    }

    #[test]
    fn what_was_split_still_runs_and_is_small() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("program");
        fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
        let whole = fs::metadata(&binary).unwrap().len();
        split(&binary).unwrap();
        let slim = fs::metadata(&binary).unwrap().len();
        let symbols = fs::metadata(folder.path().join("program.debug")).unwrap().len();
        assert!(slim < whole / 4 * 3 && symbols > whole / 8, "{whole} became {slim} and {symbols}");
        assert!(succeeds(Command::new(&binary).arg("--list")), "it runs");
        assert!(!folder.path().join("program.slim").exists());
    }
}
