use api::Actor;
use api::files::{FileKind, FileView};
use storage::{Entry, EntryKind};

use super::access::Standing;

pub(super) fn of(entry: Entry, standing: &Standing, actor: &Actor) -> FileView {
    FileView {
        kind: if is_folder(&entry) { FileKind::Folder } else { FileKind::File },
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
        EntryKind::File => false,
    }
}
