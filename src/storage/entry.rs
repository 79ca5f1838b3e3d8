use std::collections::BTreeMap;

use protocol::time::Timestamp;

/// What is there under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The last name of its path; empty for the root.
    pub name: String,
    /// File, folder or link.
    pub kind: EntryKind,
    /// Bytes of a file; 0 for all else.
    pub size: u64,
    /// When it was last changed, where that is known.
    pub modified: Option<Timestamp>,
}

/// File, folder or link; everything else (sockets, devices, …) is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, which is nowhere followed: only its name can be changed or removed.
    Link,
}

/// A part of a folder, in the order of the names' bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What is in it.
    pub entries: Vec<Entry>,
    /// Whether there is more after the last one.
    pub more: bool,
}

/// Of all names that it is shown, keeps the first so many after a given one: a folder of any size
/// is listed page by page within the memory of a page.
pub(crate) struct Smallest<T> {
    after: String,
    limit: usize,
    kept: BTreeMap<String, T>,
    more: bool,
}

impl<T> Smallest<T> {
    pub(crate) fn new(after: Option<&str>, limit: usize) -> Self {
        let after = after.unwrap_or_default().to_owned();
        Self { after, limit: limit.max(1), kept: BTreeMap::new(), more: false }
    }

    pub(crate) fn offer(&mut self, name: String, value: T) {
        if name <= self.after {
            return;
        }
        self.kept.insert(name, value);
        if self.kept.len() > self.limit {
            self.kept.pop_last();
            self.more = true;
        }
    }

    /// What was kept, and whether something after it was not.
    pub(crate) fn into_parts(self) -> (BTreeMap<String, T>, bool) {
        (self.kept, self.more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(after: Option<&str>, limit: usize) -> (Vec<String>, bool) {
        let mut smallest = Smallest::new(after, limit);
        for name in ["d", "a", "c", "e", "b"] {
            smallest.offer(name.to_owned(), ());
        }
        let (kept, more) = smallest.into_parts();
        (kept.into_keys().collect(), more)
    }

    #[test]
    fn a_page_is_the_first_names_after_another() {
        assert_eq!(page(None, 2), (vec!["a".into(), "b".into()], true));
        assert_eq!(page(Some("b"), 2), (vec!["c".into(), "d".into()], true));
        assert_eq!(page(Some("d"), 2), (vec!["e".into()], false));
        assert_eq!(page(Some("bb"), 3), (vec!["c".into(), "d".into(), "e".into()], false));
        assert_eq!(page(Some("e"), 3), (vec![], false));
    }
}
