//! The Playwright tests: a real `berth`, a real Docker engine, Debian's Chromium.

use std::path::Path;

use anyhow::{Context, Result};

use crate::docker::PrivateEngine;
use crate::process::{find_program, run};
use crate::workspace::Workspace;
use crate::{guest, node};

/// Which of the tests to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// All of `end2end`.
    All,
    /// Each page at each width, in each theme and language: what is in anybody's way there.
    Barriers,
}

/// Starts an engine of our own, builds what is tested and runs the tests.
pub(super) fn run_tests(workspace: &Workspace, archive: &Path, which: Which) -> Result<()> {
    let folder = workspace.root.join("end2end");
    node::ensure_packages(&folder)?;
    let berth = super::compile_tests(workspace)?;
    let chromium = find_program("chromium")
        .or_else(|| find_program("chromium-browser"))
        .context("there is no `chromium` here (Debian: apt-get install chromium)")?;
    let engine = PrivateEngine::start(&PrivateEngine::folder())?;
    engine.engine().load(archive)?;
    let mut playwright = workspace.command("node");
    playwright
        .current_dir(&folder)
        .args(["node_modules/@playwright/test/cli.js", "test"])
        .env("BERTH_TEST_BINARY", berth)
        .env("BERTH_SITE", workspace.site())
        .env("BERTH_GUEST", guest::ensure(workspace)?)
        .env("BERTH_TEST_ENGINE", engine.engine().endpoint())
        .env("CHROMIUM", chromium);
    if which == Which::Barriers {
        playwright.arg("accessibility.spec.ts").env("BERTH_TEST_EVERY", "1");
    }
    run(&mut playwright)
}
