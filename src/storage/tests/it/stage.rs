use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::symlink;

use bytes::Bytes;
use futures::TryStreamExt;
use storage::stage::{Staging, tar_of_folder};
use storage::{Storage, StorageError};

use crate::{at, open};

async fn archive(
    storage: &Storage,
    path: &str,
    below: &str,
    limit: u64,
) -> Result<Vec<u8>, StorageError> {
    let staging = Staging { below: below.to_owned(), limit };
    let stream = tar_of_folder(storage, &at(storage, path), staging).await?;
    let pieces: Vec<Bytes> = stream.try_collect().await?;
    Ok(pieces.concat())
}

/// Names with modes and contents.
fn unpacked(archive: &[u8]) -> BTreeMap<String, (u32, String)> {
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(archive).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        let mode = entry.header().mode().unwrap();
        let mut content = String::new();
        entry.read_to_string(&mut content).unwrap();
        assert!(found.insert(name, (mode, content)).is_none(), "each name once");
    }
    found
}

#[tokio::test]
async fn a_folder_becomes_an_archive_to_be_read() {
    let (folder, storage) = open();
    let long = format!("/code/{}/{}", "d".repeat(150), "f".repeat(200));
    for (path, content) in [
        ("/code/a.py", "print(1)\n".to_owned()),
        ("/code/sub/b", "x".repeat(512)),
        (&long, "long".into()),
    ] {
        storage.write(&at(&storage, path), Bytes::from(content)).await.unwrap();
    }
    storage.create_folder(&at(&storage, "/code/empty")).await.unwrap();
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    let code = folder.path().join("files/code");
    symlink("../../secret", code.join("out")).unwrap();
    symlink("a.py", code.join("alias")).unwrap();
    symlink("..", code.join("sub/circle")).unwrap();

    let found = unpacked(&archive(&storage, "/code", "code", 10_000).await.unwrap());
    let names: Vec<_> = found.keys().map(String::as_str).collect();
    let (long_folder, long_file) =
        (format!("code/{}/", "d".repeat(150)), format!("code{}", &long[5..]));
    let expected = [
        "code/",
        "code/a.py",
        long_folder.as_str(),
        &long_file,
        "code/empty/",
        "code/sub/",
        "code/sub/b",
    ];
    assert_eq!(names, expected, "links are left out");
    assert_eq!(found["code/a.py"], (0o444, "print(1)\n".into()));
    assert_eq!(found["code/sub/"].0, 0o555);
    assert_eq!(found[&long_file].1, "long");
    let bare = unpacked(&archive(&storage, "/code", "", 10_000).await.unwrap());
    assert!(bare.contains_key("a.py") && bare.contains_key("sub/b") && !bare.contains_key(""));
    let single = unpacked(&archive(&storage, "/code/a.py", "", 10_000).await.unwrap());
    assert_eq!(single.into_keys().collect::<Vec<_>>(), ["a.py"]);
}

#[tokio::test]
async fn more_than_the_limit_is_not_staged() {
    let (_folder, storage) = open();
    for name in ["a", "b", "c"] {
        let path = at(&storage, &format!("/code/{name}"));
        storage.write(&path, Bytes::from(vec![b'x'; 100])).await.unwrap();
    }
    assert!(archive(&storage, "/code", "code", 300).await.is_ok());
    let error = archive(&storage, "/code", "code", 299).await.unwrap_err();
    assert!(matches!(error, StorageError::TooLarge { limit: 299, .. }), "{error:?}");
    assert!(matches!(archive(&storage, "/none", "", 1).await, Err(StorageError::NotFound { .. })));
}

#[tokio::test]
async fn ten_thousand_files_pass_through_little_memory() {
    let (folder, storage) = open();
    let code = folder.path().join("files/code");
    for group in 0..10 {
        let group = code.join(format!("{group}"));
        std::fs::create_dir_all(&group).unwrap();
        for number in 0..1_000 {
            std::fs::write(group.join(format!("{number}.py")), format!("print({number})\n"))
                .unwrap();
        }
    }
    let staging = Staging { below: "code".into(), limit: 200_000_000 };
    let before = peak_kilobytes();
    let mut stream = tar_of_folder(&storage, &at(&storage, "/code"), staging).await.unwrap();
    let mut length = 0;
    while let Some(piece) = stream.try_next().await.unwrap() {
        assert!(piece.len() <= 8 * 1024 * 1024);
        length += piece.len();
    }
    // Ten thousand files of a header and a block each, eleven folders, the end.
    assert_eq!(length, 10_000 * 1_024 + 11 * 512 + 1_024);
    let grown = peak_kilobytes() - before;
    assert!(grown < 64 * 1_024, "{grown} kB more than before");
}

/// The most memory that this process has had.
pub(crate) fn peak_kilobytes() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
