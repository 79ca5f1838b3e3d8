//! What must never work.

use std::os::unix::fs::symlink;

use bytes::Bytes;
use storage::{EntryKind, Range, StorageError};

use crate::{at, open, pieces};

/// Paths that are refused before anything is looked at.
#[tokio::test]
async fn bad_paths_are_refused() {
    let (_folder, storage) = open();
    let long_name = format!("/{}", "x".repeat(256));
    let long_path = "/x".repeat(2_049);
    for (path, reason) in [
        ("/..", ".. is not allowed"),
        ("/../../etc/passwd", ".. is not allowed"),
        ("/alice/../bob/secret", ".. is not allowed"),
        ("/alice/./../../etc", ".. is not allowed"),
        ("/alice/..//..///etc", ".. is not allowed"),
        ("/alice\0/x", "control characters"),
        ("/alice/a\0.txt", "control characters"),
        ("/alice/a\nb", "control characters"),
        ("/alice/\u{7f}", "control characters"),
        ("/alice/\u{85}x", "control characters"),
        ("/.berth", "belongs to the system"),
        ("/.berth/owners/x", "belongs to the system"),
        ("//.//.berth/./logs", "belongs to the system"),
        ("/alice/x ", "end in white space"),
        ("/.berth /x", "end in white space"),
        ("/alice/x\u{3000}", "end in white space"),
        ("etc/passwd", "must begin"),
        ("", "must begin"),
        ("~/x", "must begin"),
        ("file:///etc/passwd", "another storage"),
        ("hdfs://elsewhere/x", "another storage"),
        ("http://127.0.0.1/x", "another storage"),
        (&long_name, "at most 255"),
        (&long_path, "longer than"),
    ] {
        let error = storage.resolve(path).unwrap_err().to_string();
        assert!(error.contains(reason), "{path:?}: {error}");
    }
}

/// Texts that look like something else are plain names.
#[tokio::test]
async fn odd_names_are_only_names() {
    let (folder, storage) = open();
    for name in ["...", "%2e%2e", "..%2f", "a\\..\\b", "~", "-rf", "$HOME", "a;b", " a", ".hidden"]
    {
        let path = at(&storage, &format!("/odd/{name}"));
        storage.write(&path, Bytes::from_static(b"x")).await.unwrap();
        assert!(folder.path().join("files/odd").join(name).is_file(), "{name}");
        assert_eq!(storage.read(&path).await.unwrap(), "x");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing beside the root");
}

/// Every operation refuses a way over a link that leads out.
#[tokio::test]
async fn links_that_lead_out_are_refused_by_every_operation() {
    let (folder, storage) = open();
    let inside = folder.path().join("files");
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    std::fs::create_dir(inside.join("ok")).unwrap();
    std::fs::write(inside.join("ok/mine"), "m").unwrap();
    symlink(folder.path(), inside.join("out")).unwrap();
    symlink("../secret", inside.join("file")).unwrap();
    symlink("out", inside.join("twice")).unwrap();
    symlink(".berth", inside.join("own")).unwrap();
    symlink("circle", inside.join("circle")).unwrap();
    let mine = at(&storage, "/ok/mine");
    for text in ["/out/secret", "/file", "/twice/secret", "/own/logs", "/circle", "/out/new/x"] {
        let path = at(&storage, text);
        let refused = |error: StorageError| {
            assert!(matches!(error, StorageError::Path { .. }), "{text}: {error:?}");
        };
        match storage.stat(&path).await {
            // The link itself is seen, not what it leads to.
            Ok(found) => assert_eq!((found.kind, found.size), (EntryKind::Link, 0), "{text}"),
            Err(error) => refused(error),
        }
        refused(storage.list(&path, None, 10).await.unwrap_err());
        refused(storage.read_range(&path, Range::default()).await.err().unwrap());
        refused(storage.create(&path, true, pieces(&["x"])).await.unwrap_err());
        refused(storage.append(&path, pieces(&["x"])).await.unwrap_err());
        refused(storage.create_folder(&path).await.unwrap_err());
        refused(storage.measure(&path, 10).await.unwrap_err());
        refused(storage.rename(&mine, &path.child("x").unwrap()).await.unwrap_err());
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("secret")).unwrap(), "s");
    let shown: Vec<_> = crate::names(&storage, "/").await;
    assert_eq!(shown, ["circle", "file", "ok", "out", "own", "twice"], "links are names");
}

/// Removing or renaming a link never touches what it leads to.
#[tokio::test]
async fn a_link_is_removed_not_what_it_leads_to() {
    let (folder, storage) = open();
    let inside = folder.path().join("files");
    std::fs::create_dir(folder.path().join("precious")).unwrap();
    std::fs::write(folder.path().join("precious/file"), "p").unwrap();
    symlink(folder.path().join("precious"), inside.join("link")).unwrap();
    storage.rename(&at(&storage, "/link"), &at(&storage, "/moved")).await.unwrap();
    assert!(!inside.join("link").is_symlink() && inside.join("moved").is_symlink());
    assert!(storage.remove(&at(&storage, "/moved"), true).await.unwrap());
    assert!(!inside.join("moved").is_symlink());
    assert_eq!(std::fs::read_to_string(folder.path().join("precious/file")).unwrap(), "p");
    symlink(folder.path().join("precious"), inside.join("link")).unwrap();
    std::fs::create_dir(inside.join("tree")).unwrap();
    symlink(folder.path().join("precious"), inside.join("tree/link")).unwrap();
    assert!(storage.remove(&at(&storage, "/tree"), true).await.unwrap());
    assert!(folder.path().join("precious/file").is_file());
}

/// What is no file is not read: a pipe would be waited for without end.
#[tokio::test]
async fn pipes_and_sockets_are_not_there() {
    let (folder, storage) = open();
    let inside = folder.path().join("files");
    let pipe = std::process::Command::new("mkfifo").arg(inside.join("pipe")).status().unwrap();
    assert!(pipe.success());
    let _socket = std::os::unix::net::UnixListener::bind(inside.join("socket")).unwrap();
    for name in ["/pipe", "/socket"] {
        let path = at(&storage, name);
        assert!(matches!(storage.read(&path).await, Err(StorageError::NotFound { .. })));
        assert!(matches!(
            storage.append(&path, pieces(&["x"])).await,
            Err(StorageError::NotFound { .. })
        ));
    }
    assert!(crate::names(&storage, "/").await.is_empty());
}
