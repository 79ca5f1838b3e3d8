//! The application as it is compiled, before it is packed.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Parts by their names, each with the names of its pieces.
pub(super) type Parts = BTreeMap<String, Vec<String>>;

/// The files that make the application.
#[derive(Debug)]
pub(super) struct Application {
    /// The glue, an ES module.
    pub(super) glue: PathBuf,
    /// The code that every page needs.
    pub(super) wasm: PathBuf,
    /// An ES module that the glue imports: it fetches the parts, by their names.
    pub(super) loader: PathBuf,
    /// The code of parts, and what some of them share.
    pub(super) pieces: Vec<PathBuf>,
    /// Which of it each part needs.
    pub(super) parts: Parts,
}
