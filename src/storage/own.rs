//! Folders of Berth's own: the one that is kept from users, and those below it.

/// The folder of Berth's own files, below the root.
pub(crate) const OWN: &str = ".berth";
/// The folder of files that are being written.
pub(crate) const UNFINISHED: &str = "unfinished";
/// The folder of what is between two places.
pub(crate) const MOVING: &str = "moving";
/// The folder of what is gone from its place and still to be emptied.
pub(crate) const REMOVED: &str = "removed";
