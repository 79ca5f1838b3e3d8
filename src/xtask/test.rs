//! `cargo xtask test`: all that CI checks, in the order in which it fails soonest.

mod browser;
mod report;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{panic, thread};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::process::{self, find_program, succeeds};
use crate::rust_target::WASM;
use crate::workspace::Workspace;
use crate::{guest, setup, web};
use browser::Which;
use report::{Check, Report};

/// All tests. Documents have none that run: finding that out anew takes a minute.
const TESTS: [&str; 3] = ["test", "--workspace", "--tests"];

/// How much to check.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Leaves the browser tests out.
    #[arg(long)]
    fast: bool,
    /// Looks for barriers on every page at each width, in each theme and language, and checks nothing else.
    #[arg(long, conflicts_with = "fast")]
    barriers: bool,
}

/// Runs every check, also after one has failed, and fails if any did. The front end is made beside the
/// lints, for its last steps leave processors idle; no test runs beside it.
pub(crate) fn run_all(workspace: &Workspace, options: &Options) -> Result<Report> {
    let archive = setup::for_testing(workspace)?;
    setup::for_building(workspace)?;
    let mut report = Report::default();
    report.add(Check::run("formatting", || format(workspace)));
    thread::scope(|scope| {
        let front_end = || Check::run("front end", || web::ensure(workspace, web::Form::Small));
        let front_end = (!options.fast).then(|| scope.spawn(front_end));
        report.add(Check::run("lints, native", || lint_native(workspace)));
        report.add(Check::run("lints, WASM", || lint_wasm(workspace)));
        if find_program("cargo-deny").is_some() {
            report.add(Check::run("licences and bans", || deny(workspace)));
        }
        report.add(Check::run("tests compile", || compile_tests(workspace).map(drop)));
        if let Some(front_end) = front_end {
            report.add(front_end.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        }
    });
    report.add(Check::run("unit and integration tests", || cargo_tests(workspace, &archive)));
    if !options.fast {
        let tests = || browser::run_tests(workspace, &archive, Which::All);
        report.add(Check::run("browser tests", tests));
    }
    Ok(report)
}

/// Looks for barriers everywhere.
fn find_barriers(workspace: &Workspace) -> Result<Report> {
    let archive = setup::for_testing(workspace)?;
    setup::for_building(workspace)?;
    let mut report = Report::default();
    report.add(Check::run("front end", || web::ensure(workspace, web::Form::Small)));
    let tests = || browser::run_tests(workspace, &archive, Which::Barriers);
    report.add(Check::run("barriers", tests));
    Ok(report)
}

/// Runs what is asked for, and prints the summary.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let report = match options.barriers {
        true => find_barriers(workspace)?,
        false => run_all(workspace, options)?,
    };
    report.print();
    if report.failed() > 0 {
        bail!("{} of the checks above failed", report.failed());
    }
    Ok(())
}

fn format(workspace: &Workspace) -> Result<()> {
    component(workspace, "fmt", "rustfmt")?;
    process::run(workspace.cargo().args(["fmt", "--all", "--check"]))
        .context("`cargo fmt --all` puts it right")
}

fn lint_native(workspace: &Workspace) -> Result<()> {
    component(workspace, "clippy", "clippy")?;
    let mut cargo = workspace.cargo();
    cargo.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    process::run(&mut cargo)
}

fn lint_wasm(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo
        .env_remove("CARGO_TARGET_DIR")
        .args(["clippy", "--package", "app", "--lib", "--target", WASM])
        .args(["--no-default-features", "--features", "hydrate", "--target-dir"])
        .arg(workspace.target.join("wasm"))
        .args(["--", "-D", "warnings"]);
    process::run(&mut cargo)
}

/// Advisories are left out: what they say of an old checkout changes from day to day.
fn deny(workspace: &Workspace) -> Result<()> {
    process::run(workspace.cargo().args(["deny", "check", "bans", "licenses", "sources"]))
}

/// A part of the Rust toolchain that some installations leave out.
fn component(workspace: &Workspace, subcommand: &str, name: &str) -> Result<()> {
    let there = succeeds(workspace.cargo().args([subcommand, "--version"]));
    if there || succeeds(Command::new("rustup").args(["component", "add", name])) {
        return Ok(());
    }
    bail!("`cargo {subcommand}` is missing and rustup cannot add it: install {name} for this Rust")
}

/// The tests of all crates, not run yet. Gives the program that they test, which the browser tests take
/// as well: built for itself it would have other features, and most of it be compiled once more.
fn compile_tests(workspace: &Workspace) -> Result<PathBuf> {
    process::run(workspace.cargo().args(TESTS).arg("--no-run"))?;
    Ok(workspace.berth("debug"))
}

/// By `cargo test`, which runs the tests of a suite in one process: those of the database share a
/// server and those of the engine an engine, which would else be started anew for each. The guest is
/// tested as it is put into containers.
fn cargo_tests(workspace: &Workspace, archive: &Path) -> Result<()> {
    let guest = guest::ensure(workspace)?;
    let mut cargo = with_surroundings(workspace, archive);
    cargo.env("BERTH_TEST_GUEST", guest);
    process::run(cargo.args(TESTS).arg("--no-fail-fast"))
}

/// Cargo, with what the tests of the engines and the database look for.
fn with_surroundings(workspace: &Workspace, archive: &Path) -> Command {
    let mut cargo = workspace.cargo();
    cargo.env("BERTH_BASE_IMAGE_TAR", archive);
    if let Some(programs) = postgres_programs() {
        cargo.env("BERTH_TEST_POSTGRES_BIN", programs);
    }
    cargo
}

/// The folder of the newest PostgreSQL server's programs, which Debian keeps off the `PATH`.
fn postgres_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.flatten().map(|version| version.path().join("bin"));
    folders.filter(|folder| folder.join("initdb").is_file()).max()
}
