//! How the kernel gives memory.

/// In small pages alone. mimalloc asks for huge ones and gives back what lies free in them by small ones, which the
/// kernel then fills up again for a huge page: a server in which jobs come and go took ever more than it used.
pub(super) fn in_small_pages() {
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(%error, "memory may be given in huge pages");
    }
}
