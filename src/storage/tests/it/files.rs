use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use protocol::ids::UserName;
use storage::{Arriving, EntryKind, Page, Range, Storage, StorageError};

use crate::{at, broken, names, open, pieces, text};

#[tokio::test]
async fn a_file_appears_whole_or_not_at_all() {
    let (folder, storage) = open();
    let path = at(&storage, "/alice/a");
    let error = storage.create(&path, true, broken()).await.unwrap_err();
    assert!(matches!(&error, StorageError::Content { path, .. } if path == "/alice/a"), "{error}");
    assert!(!storage.exists(&path).await.unwrap());

    storage.create(&path, false, pieces(&["one ", "two"])).await.unwrap();
    let error = storage.create(&path, true, broken()).await.unwrap_err();
    assert!(matches!(error, StorageError::Content { .. }));
    let error = storage.create(&path, false, pieces(&["three"])).await.unwrap_err();
    assert!(matches!(error, StorageError::Exists { .. }));
    assert_eq!(text(&storage, "/alice/a").await, "one two");
    storage.create(&path, true, pieces(&["three"])).await.unwrap();
    assert_eq!(text(&storage, "/alice/a").await, "three");
    let aside = folder.path().join("files/.berth/unfinished");
    assert_eq!(std::fs::read_dir(aside).unwrap().count(), 0, "nothing is left of what failed");
}

#[tokio::test]
async fn of_many_who_write_a_new_file_one_does() {
    let (_folder, storage) = open();
    let path = at(&storage, "/race");
    let writers = (0..20).map(|_| storage.create(&path, false, pieces(&["x"])));
    let written = futures::future::join_all(writers).await;
    assert_eq!(written.iter().filter(|written| written.is_ok()).count(), 1);
    assert!(
        written
            .into_iter()
            .filter_map(Result::err)
            .all(|error| matches!(error, StorageError::Exists { .. }))
    );
}

#[tokio::test]
async fn a_dropped_writer_leaves_nothing() {
    let (folder, storage) = open();
    let path = at(&storage, "/never");
    let endless =
        futures::stream::iter([Ok(Bytes::from_static(b"x"))]).chain(futures::stream::pending());
    let write = storage.create(&path, true, endless.boxed());
    assert!(tokio::time::timeout(std::time::Duration::from_millis(200), write).await.is_err());
    let aside = folder.path().join("files/.berth/unfinished");
    assert_eq!(std::fs::read_dir(aside).unwrap().count(), 0);
    assert!(!storage.exists(&path).await.unwrap());
}

#[tokio::test]
async fn files_grow_at_their_end() {
    let (_folder, storage) = open();
    let path = at(&storage, "/a");
    assert!(matches!(
        storage.append(&path, pieces(&["x"])).await,
        Err(StorageError::NotFound { .. })
    ));
    storage.write(&path, Bytes::from_static(b"one")).await.unwrap();
    storage.append(&path, pieces(&[" two", " three"])).await.unwrap();
    storage.append(&path, pieces(&[])).await.unwrap();
    assert_eq!(text(&storage, "/a").await, "one two three");
    storage.create_folder(&at(&storage, "/f")).await.unwrap();
    let error = storage.append(&at(&storage, "/f"), pieces(&["x"])).await.unwrap_err();
    assert!(matches!(error, StorageError::IsFolder { .. }));
}

#[tokio::test]
async fn parts_of_files_are_read() {
    let (_folder, storage) = open();
    let path = at(&storage, "/a");
    storage.write(&path, Bytes::from_static(b"0123456789")).await.unwrap();
    for (offset, length, part, range) in [
        (0, None, "0123456789", 0..10),
        (3, Some(4), "3456", 3..7),
        (8, Some(100), "89", 8..10),
        (10, None, "", 10..10),
        (99, Some(1), "", 10..10),
        (2, Some(0), "", 2..2),
        (5, Some(u64::MAX), "56789", 5..10),
    ] {
        let (found, content) = storage.read_range(&path, Range { offset, length }).await.unwrap();
        let content: Vec<Bytes> = content.try_collect().await.unwrap();
        assert_eq!((content.concat().as_slice(), found), (part.as_bytes(), range));
    }
    let root = at(&storage, "/");
    assert!(matches!(storage.read(&root).await, Err(StorageError::IsFolder { .. })));
    let below = at(&storage, "/a/b");
    assert!(matches!(storage.read(&below).await, Err(StorageError::NotFound { .. })));
}

#[tokio::test]
async fn entries_say_what_they_are() {
    let (_folder, storage) = open();
    storage.write(&at(&storage, "/d/ü 作业.txt"), Bytes::from_static(b"four")).await.unwrap();
    let file = storage.stat(&at(&storage, "/d/ü 作业.txt")).await.unwrap();
    assert_eq!((file.name.as_str(), file.kind, file.size), ("ü 作业.txt", EntryKind::File, 4));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    assert!((now - file.modified.unwrap().0).abs() < 60_000);
    let folder = storage.stat(&at(&storage, "/d")).await.unwrap();
    assert_eq!((folder.name.as_str(), folder.kind, folder.size), ("d", EntryKind::Folder, 0));
    let root = storage.stat(&at(&storage, "/")).await.unwrap();
    assert_eq!((root.name.as_str(), root.kind), ("", EntryKind::Folder));
    assert_eq!(names(&storage, "/").await, ["d"], "Berth's own files are not listed");
}

async fn page(storage: &Storage, after: Option<&str>, limit: usize) -> Page {
    storage.list(&at(storage, "/many"), after, limit).await.unwrap()
}

#[tokio::test]
async fn folders_are_listed_page_by_page() {
    let (_folder, storage) = open();
    for number in 0..25 {
        let path = at(&storage, &format!("/many/{number:02}"));
        storage.write(&path, Bytes::from_static(b"x")).await.unwrap();
    }
    let mut found = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = page(&storage, after.as_deref(), 10).await;
        found.extend(page.entries.into_iter().map(|entry| entry.name));
        after = found.last().cloned();
        if !page.more {
            break;
        }
    }
    let expected: Vec<String> = (0..25).map(|number| format!("{number:02}")).collect();
    assert_eq!(found, expected);
    let missing = storage.list(&at(&storage, "/none"), None, 10).await.unwrap_err();
    assert!(matches!(missing, StorageError::NotFound { .. }));
    let file = storage.list(&at(&storage, "/many/01"), None, 10).await.unwrap_err();
    assert!(matches!(file, StorageError::NotFolder { .. }));
}

#[tokio::test]
async fn files_and_folders_are_renamed() {
    let (_folder, storage) = open();
    storage.write(&at(&storage, "/a/x"), Bytes::from_static(b"x")).await.unwrap();
    storage.write(&at(&storage, "/b/y"), Bytes::from_static(b"y")).await.unwrap();
    storage.rename(&at(&storage, "/a"), &at(&storage, "/b/a")).await.unwrap();
    storage.rename(&at(&storage, "/b/a/x"), &at(&storage, "/z")).await.unwrap();
    assert_eq!(text(&storage, "/z").await, "x");
    let refused = async |from: &str, to: &str| {
        storage.rename(&at(&storage, from), &at(&storage, to)).await.unwrap_err()
    };
    assert!(matches!(refused("/z", "/b/y").await, StorageError::Exists { .. }));
    assert!(matches!(refused("/b/a", "/b").await, StorageError::Path { .. }));
    assert!(matches!(refused("/b", "/b/a/c").await, StorageError::Path { .. }));
    assert!(matches!(refused("/none", "/c").await, StorageError::NotFound { .. }));
    assert!(matches!(refused("/z", "/none/z").await, StorageError::NotFound { .. }));
    assert!(matches!(refused("/b", "/z/b").await, StorageError::NotFolder { .. }));
    assert!(matches!(refused("/", "/c").await, StorageError::Path { .. }));
    assert_eq!(text(&storage, "/b/y").await, "y");
}

#[tokio::test]
async fn files_and_folders_are_removed() {
    let (_folder, storage) = open();
    storage.write(&at(&storage, "/a/b/c"), Bytes::from_static(b"x")).await.unwrap();
    let full = storage.remove(&at(&storage, "/a"), false).await.unwrap_err();
    assert!(matches!(full, StorageError::NotEmpty { .. }), "{full:?}");
    assert!(storage.remove(&at(&storage, "/a/b/c"), false).await.unwrap());
    assert!(!storage.remove(&at(&storage, "/a/b/c"), true).await.unwrap());
    assert!(storage.remove(&at(&storage, "/a/b"), false).await.unwrap());
    storage.write(&at(&storage, "/a/d/e"), Bytes::from_static(b"x")).await.unwrap();
    assert!(storage.remove(&at(&storage, "/a"), true).await.unwrap());
    assert!(names(&storage, "/").await.is_empty());
    assert!(matches!(
        storage.remove(&at(&storage, "/"), true).await,
        Err(StorageError::Path { .. })
    ));
}

#[tokio::test]
async fn what_is_in_the_way_is_told() {
    let (_folder, storage) = open();
    storage.write(&at(&storage, "/file"), Bytes::from_static(b"x")).await.unwrap();
    storage.create_folder(&at(&storage, "/folder")).await.unwrap();
    let under = storage.write(&at(&storage, "/file/x"), Bytes::new()).await.unwrap_err();
    assert!(matches!(under, StorageError::NotFolder { .. }), "{under:?}");
    let over = storage.write(&at(&storage, "/folder"), Bytes::new()).await.unwrap_err();
    assert!(matches!(over, StorageError::IsFolder { .. }), "{over:?}");
    for path in ["/file", "/file/x"] {
        let made = storage.create_folder(&at(&storage, path)).await.unwrap_err();
        let expected = matches!(made, StorageError::Exists { .. } | StorageError::NotFolder { .. });
        assert!(expected, "{made:?}");
    }
}

#[tokio::test]
async fn folders_are_measured_without_following_links() {
    let (folder, storage) = open();
    for (path, size) in [("/m/a", 100), ("/m/b/c", 50)] {
        storage.write(&at(&storage, path), Bytes::from(vec![b'x'; size])).await.unwrap();
    }
    let inside = folder.path().join("files/m");
    std::os::unix::fs::symlink("..", inside.join("b/up")).unwrap();
    std::os::unix::fs::symlink("a", inside.join("b/again")).unwrap();
    let size = storage.measure(&at(&storage, "/m"), 1_000).await.unwrap();
    assert_eq!((size.bytes, size.files, size.folders), (150, 2, 2));
}

#[tokio::test]
async fn forgotten_files_are_swept() {
    let (folder, storage) = open();
    let aside = folder.path().join("files/.berth/unfinished");
    for (name, age) in [("old", 8), ("new", 1)] {
        let file = std::fs::File::create(aside.join(name)).unwrap();
        let age = std::time::Duration::from_secs(age * 24 * 3_600);
        file.set_modified(SystemTime::now() - age).unwrap();
    }
    storage.sweep().await.unwrap();
    assert!(!aside.join("old").exists() && aside.join("new").exists());
}

/// A folder of which nothing can be removed as long as this is there.
struct Stuck(PathBuf);

impl Stuck {
    fn at(path: PathBuf) -> Self {
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("stays"), "").unwrap();
        let stuck = Self(path);
        stuck.set("+i", 0o500);
        let removed = std::fs::remove_file(stuck.0.join("stays"));
        assert!(removed.is_err(), "root needs chattr +i here to keep itself from removing a file");
        stuck
    }

    /// For who is not root its mode will do.
    fn set(&self, attribute: &str, mode: u32) {
        let change = || std::fs::set_permissions(&self.0, Permissions::from_mode(mode));
        let _only_while_it_may_be_changed = change();
        let _root_alone = Command::new("chattr").arg(attribute).arg(&self.0).output();
        let _once_more = change();
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        self.set("-i", 0o700);
    }
}

#[tokio::test]
async fn what_cannot_be_swept_holds_up_nothing_else() {
    let (folder, storage) = open();
    let own = folder.path().join("files/.berth");
    let old = SystemTime::now() - std::time::Duration::from_secs(8 * 24 * 3_600);
    // No file, and not empty.
    let unfinished = own.join("unfinished/a-stays");
    std::fs::create_dir_all(unfinished.join("something")).unwrap();
    std::fs::File::open(&unfinished).unwrap().set_modified(old).unwrap();
    let mut goes = Vec::new();
    for number in 0..20 {
        let file = own.join(format!("unfinished/b-{number}"));
        std::fs::File::create(&file).unwrap().set_modified(old).unwrap();
        let removed = own.join(format!("removed/b-{number}"));
        std::fs::create_dir_all(removed.join("something")).unwrap();
        goes.extend([file, removed]);
    }
    let stuck = Stuck::at(own.join("removed/a-stays"));
    storage.sweep().await.unwrap_err();
    assert!(unfinished.exists() && stuck.0.exists());
    let left: Vec<_> = goes.iter().filter(|path| path.exists()).collect();
    assert_eq!(left, Vec::<&PathBuf>::new());
    drop(stuck);
    std::fs::remove_dir_all(&unfinished).unwrap();
    storage.sweep().await.unwrap();
    assert_eq!(std::fs::read_dir(own.join("removed")).unwrap().count(), 0);
}

#[tokio::test]
async fn files_arrive_in_parts() {
    let (_folder, storage) = open();
    arrive_in_parts(&storage).await;
}

/// The same wherever the files are.
pub(crate) async fn arrive_in_parts(storage: &Storage) {
    let alice: UserName = "alice".parse().unwrap();
    let (arriving, path) = (Arriving::new(&alice, "0a"), at(storage, "/alice/m"));
    assert_eq!(storage.arrived(&arriving).await.unwrap(), 0);
    storage.add(&arriving, pieces(&["01", "2"])).await.unwrap();
    assert_eq!(storage.arrived(&arriving).await.unwrap(), 3);
    assert_eq!(storage.all_arrived(&alice).await.unwrap(), 3);
    assert_eq!(storage.all_arrived(&"ali".parse().unwrap()).await.unwrap(), 0);
    storage.add(&arriving, pieces(&["345"])).await.unwrap();
    assert!(!storage.exists(&path).await.unwrap());
    storage.complete(&arriving, &path, false).await.unwrap();
    assert_eq!(text(storage, "/alice/m").await, "012345");
    assert_eq!(storage.all_arrived(&alice).await.unwrap(), 0);
    storage.add(&arriving, pieces(&["x"])).await.unwrap();
    let taken = storage.complete(&arriving, &path, false).await.unwrap_err();
    assert!(matches!(taken, StorageError::Exists { .. }), "{taken}");
    storage.complete(&arriving, &path, true).await.unwrap();
    assert_eq!(text(storage, "/alice/m").await, "x");
}
