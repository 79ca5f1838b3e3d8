use api::Actor;
use api::files::{FileKind, FileView};
use storage::{Entry, EntryKind};

use super::access::Standing;

pub(super) fn of(entry: Entry, standing: &Standing, actor: &Actor) -> FileView {
    FileView {
        kind: match entry.kind {
            EntryKind::File => FileKind::File,
            EntryKind::Folder => FileKind::Folder,
            EntryKind::Link => FileKind::Link,
        },
        name: entry.name,
        size: entry.size,
        modified: entry.modified,
        owner: standing.owner().cloned(),
        may_change: actor.admin || standing.owner() == Some(&actor.user),
    }
}

pub(super) fn is_folder(entry: &Entry) -> bool {
    match entry.kind {
        EntryKind::Folder => true,
        EntryKind::File | EntryKind::Link => false,
    }
}
