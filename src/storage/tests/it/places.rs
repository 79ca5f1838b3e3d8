use std::os::unix::fs::symlink;

use bytes::Bytes;
use storage::{Storage, StorageError, StorageOptions};

use crate::open;

#[test]
fn other_places_are_refused() {
    for (root, reason) in [
        ("s3://bucket/folder", "not supported"),
        ("webhdfs://n:70000/x", "host:port"),
        ("webhdfs:///x", "host:port"),
        ("webhdfs://n@m:1/x", "host:port"),
        ("hdfs://n:9000/a/../b", ".. is not allowed"),
        ("relative", "absolute"),
        ("file://relative", "absolute"),
        ("/proc/nowhere", ""),
    ] {
        let error = Storage::open(root).unwrap_err();
        assert!(matches!(&error, StorageError::Root { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn files_are_written_and_read() {
    let (_folder, storage) = open();
    let path = storage.resolve(&format!("{}/alice/data/a.txt", storage.uri())).unwrap();
    assert!(!storage.exists(&path).await.unwrap());
    assert!(matches!(storage.read(&path).await, Err(StorageError::NotFound { .. })));
    storage.write(&path, Bytes::from_static(b"one")).await.unwrap();
    storage.write(&path, Bytes::from_static(b"three")).await.unwrap();
    assert_eq!(storage.read(&path).await.unwrap(), "three");
    let folder = storage.resolve("/alice").unwrap();
    assert!(storage.exists(&folder).await.unwrap());
    assert!(storage.exists(&storage.resolve("/").unwrap()).await.unwrap());
}

#[tokio::test]
async fn folders_are_measured() {
    let (_folder, storage) = open();
    for (path, size) in [("/code/a", 100), ("/code/b/c", 50), ("/other", 1000)] {
        let path = storage.resolve(path).unwrap();
        storage.write(&path, Bytes::from(vec![b'x'; size])).await.unwrap();
    }
    let code = storage.resolve("/code").unwrap();
    assert_eq!(storage.folder_size(&code, 150).await.unwrap(), 150);
    let error = storage.folder_size(&code, 149).await.unwrap_err();
    assert!(matches!(error, StorageError::TooLarge { limit: 149, .. }), "{error}");
    let file = storage.resolve("/other").unwrap();
    assert_eq!(storage.folder_size(&file, 1000).await.unwrap(), 1000);
    assert!(matches!(storage.folder_size(&file, 10).await, Err(StorageError::TooLarge { .. })));
    let none = storage.resolve("/none").unwrap();
    assert!(matches!(storage.folder_size(&none, 10).await, Err(StorageError::NotFound { .. })));
    storage.create_folder(&none).await.unwrap();
    storage.create_folder(&none).await.unwrap();
    assert_eq!(storage.folder_size(&none, 10).await.unwrap(), 0);
}

#[tokio::test]
async fn links_do_not_lead_out() {
    let (folder, storage) = open();
    let inside = folder.path().join("files");
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    symlink(folder.path(), inside.join("out")).unwrap();
    symlink(folder.path().join("secret"), inside.join("file")).unwrap();
    symlink("nowhere", inside.join("dangling")).unwrap();
    symlink(inside.join(".berth"), inside.join("own")).unwrap();
    // Nor does one that stays inside: what it leads to may change while it is followed.
    std::fs::create_dir(inside.join("real")).unwrap();
    symlink("real", inside.join("alias")).unwrap();
    let refused = |error: StorageError| matches!(error, StorageError::Path { .. });
    for text in ["/out/secret", "/out", "/file", "/dangling", "/own/logs", "/out/new", "/alias/a"] {
        let path = storage.resolve(text).unwrap();
        assert!(refused(storage.read(&path).await.unwrap_err()), "{text}");
        assert!(refused(storage.write(&path, Bytes::new()).await.unwrap_err()), "{text}");
        assert!(refused(storage.create_folder(&path).await.unwrap_err()), "{text}");
        assert!(refused(storage.folder_size(&path, 10).await.unwrap_err()), "{text}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("secret")).unwrap(), "s");
    assert_eq!(std::fs::read_dir(inside.join("real")).unwrap().count(), 0);
}

#[test]
fn a_server_is_known_by_its_root() {
    for (root, path, uri) in [
        ("webhdfs://n:9870/berth/", "webhdfs://n:9870/berth/a/b", "webhdfs://n:9870/berth"),
        ("hdfs://n:9000", "hdfs://n:9000/a/b", "hdfs://n:9000"),
        ("hdfs://n", "/a/b", "hdfs://n"),
    ] {
        let storage = Storage::open(root).unwrap();
        assert_eq!((storage.uri(), storage.resolve(path).unwrap().as_str()), (uri, "/a/b"));
    }
    let options = |endpoint: &str| StorageOptions {
        root: "hdfs://n:9000".into(),
        endpoint: Some(endpoint.into()),
        delegation: Some("sesame".into()),
        ..StorageOptions::default()
    };
    assert!(Storage::open_with(options("http://m:50070/")).is_ok());
    let error = Storage::open_with(options("m:50070")).unwrap_err().to_string();
    assert!(error.contains("http://host:port"), "{error}");
    assert!(!format!("{:?}", options("x")).contains("sesame"));
}
