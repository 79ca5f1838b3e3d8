use futures::StreamExt;
use protocol::ids::{JobId, TaskKey};

use super::*;

async fn storage() -> (tempfile::TempDir, Storage) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("storage");
    let storage = Storage::open(root.to_str().unwrap()).await.unwrap();
    (folder, storage)
}

#[tokio::test]
async fn paths_of_users_stay_inside() {
    let (folder, storage) = storage().await;
    let uri = storage.uri().to_owned();
    assert_eq!(storage.resolve(&format!("{uri}/a//./b")).unwrap().as_str(), "a/b");
    assert_eq!(storage.resolve("/a/b/").unwrap().as_str(), "a/b");
    for bad in ["a/b", "/a/../../b", "hdfs://other:9000/a", "/a\0b", "/.berth/logs", "//.berth/x"] {
        let error = storage.resolve(bad).unwrap_err();
        assert!(matches!(error, Error::Path { .. }), "{bad}: {error}");
    }
    let outside = folder.path().join("outside");
    std::fs::write(&outside, "secret").unwrap();
    let root = folder.path().join("storage");
    std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("nothing"), root.join("dangling")).unwrap();
    std::os::unix::fs::symlink(root.join(".berth"), root.join("own")).unwrap();
    for bad in ["/link", "/dangling", "/dangling/x", "/own/logs"] {
        let path = storage.resolve(bad).unwrap();
        assert!(storage.exists(&path).await.is_err(), "{bad}");
        assert!(storage.read(&path).await.is_err(), "{bad}");
        assert!(storage.create_folder(&path).await.is_err(), "{bad}");
    }
}

#[tokio::test]
async fn folders_are_made_measured_and_read() {
    let (folder, storage) = storage().await;
    let code = storage.resolve("/users/alice/code").unwrap();
    assert!(!storage.exists(&code).await.unwrap());
    storage.create_folder(&code).await.unwrap();
    storage.create_folder(&code).await.unwrap();
    assert!(storage.exists(&code).await.unwrap());
    let real = folder.path().join("storage/users/alice/code");
    std::fs::create_dir(real.join("deep")).unwrap();
    std::fs::write(real.join("train.py"), "x".repeat(1_000)).unwrap();
    std::fs::write(real.join("deep/more.py"), "x".repeat(500)).unwrap();
    assert_eq!(storage.folder_size(&code, u64::MAX).await.unwrap(), 1_500);
    assert!(storage.folder_size(&code, 100).await.unwrap() > 100);
    let file = storage.resolve("/users/alice/code/train.py").unwrap();
    assert_eq!(storage.read(&file).await.unwrap().len(), 1_000);
    assert_eq!(storage.folder_size(&file, u64::MAX).await.unwrap(), 1_000);
}

#[tokio::test]
async fn logs_are_kept() {
    let (_folder, storage) = storage().await;
    let task = TaskKey { job: JobId(3), attempt: 0, role: 1, index: 2, retry: 0 };
    assert_eq!(storage.kept_log(&task).await.unwrap(), None);
    let log = || futures::stream::iter([Ok("hello ".into()), Ok("world\n".into())]).boxed();
    storage.keep_log(&task, log()).await.unwrap();
    storage.keep_log(&task, log()).await.unwrap();
    assert_eq!(storage.kept_log(&task).await.unwrap().unwrap(), "hello world\n");
    let broken = futures::stream::iter([Ok("half".into()), Err("engine gone".into())]).boxed();
    let other = TaskKey { index: 3, ..task };
    assert!(storage.keep_log(&other, broken).await.is_err());
    assert_eq!(storage.kept_log(&other).await.unwrap(), None);
}

#[tokio::test]
async fn other_kinds_of_addresses_are_refused() {
    for bad in ["hdfs://nn:9000/", "file://relative", "s3://bucket"] {
        assert!(matches!(Storage::open(bad).await, Err(Error::Root { .. })), "{bad}");
    }
}
