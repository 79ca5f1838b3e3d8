use api::Actor;
use api::files::{FileKind, FileView};
use storage::{Entry, EntryKind};

use crate::files::access::Standing;

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
