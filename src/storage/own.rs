//! Folders of Berth's own, below the one that is kept from users.

/// The folder of files that are being written.
pub(crate) const UNFINISHED: &str = "unfinished";
/// The folder of what is between two places.
pub(crate) const MOVING: &str = "moving";
/// The folder of what is gone from its place and still to be emptied.
pub(crate) const REMOVED: &str = "removed";
