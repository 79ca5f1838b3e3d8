//! Names that change between a look and a use: a task that has a part of the storage puts links in
//! the place of folders, and folders in the place of links, as fast as it can.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use bytes::Bytes;
use futures::TryStreamExt;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use storage::stage::{Staging, tar_of_folder};
use storage::{Arriving, Storage};

use crate::{at, open, pieces};

/// What nobody may see.
const SECRET: &str = "TOP-SECRET-OUTSIDE";
/// How often everything is tried.
const ROUNDS: u64 = 300;

/// More for whoever has time: `BERTH_CASES=100000`.
fn rounds() -> u64 {
    let asked = std::env::var("BERTH_CASES").ok().and_then(|cases| cases.parse().ok());
    asked.unwrap_or(ROUNDS)
}

/// Exchanges names until it is dropped.
struct Swapping {
    over: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Swapping {
    fn start(pairs: Vec<(PathBuf, PathBuf)>) -> Self {
        let (over, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (ended, count) = (Arc::clone(&over), Arc::clone(&swaps));
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                for (one, other) in &pairs {
                    // One of them may be away for a moment.
                    let swapped = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
                    count.fetch_add(u64::from(swapped.is_ok()), Ordering::Relaxed);
                }
            }
        });
        Self { over, swaps, thread: Some(thread) }
    }

    fn count(&self) -> u64 {
        self.swaps.load(Ordering::Relaxed)
    }
}

impl Drop for Swapping {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _its_panic_is_told = self.thread.take().map(JoinHandle::join);
    }
}

/// Everything below a folder, with contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Option<String>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(contents(&path));
            found.insert(path, None);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            found.insert(path, Some(text));
        }
    }
    found
}

/// A storage in which `/alice/out` is now a folder, now a link that leads out, and `/alice/file` now
/// a file, now a link to one outside.
struct Scene {
    folder: tempfile::TempDir,
    storage: Storage,
}

impl Scene {
    fn new() -> Self {
        let (folder, storage) = open();
        let (outside, alice) = (folder.path().join("outside"), folder.path().join("files/alice"));
        for folder in [outside.join("tree/deep"), alice.join("out"), alice.join("kept")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        for name in ["secret", "only-outside", "tree/precious", "tree/deep/precious"] {
            std::fs::write(outside.join(name), SECRET).unwrap();
        }
        for name in ["out/secret", "file"] {
            std::fs::write(alice.join(name), "mine").unwrap();
        }
        symlink(&outside, alice.join("link")).unwrap();
        symlink(outside.join("secret"), alice.join("file-link")).unwrap();
        Self { folder, storage }
    }

    fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    fn swap(&self) -> Swapping {
        let alice = self.folder.path().join("files/alice");
        Swapping::start(vec![
            (alice.join("out"), alice.join("link")),
            (alice.join("file"), alice.join("file-link")),
        ])
    }

    /// Whatever a read says, it is not the secret.
    async fn look(&self) -> (bool, bool) {
        let storage = &self.storage;
        let mut seen = (false, false);
        for path in ["/alice/out/secret", "/alice/file", "/alice/link/secret", "/alice/file-link"] {
            match storage.read(&at(storage, path)).await {
                Ok(read) => {
                    assert!(!read.starts_with(SECRET.as_bytes()), "{path} was read outside");
                    seen.0 = true;
                }
                Err(_) => seen.1 = true,
            }
        }
        let none = storage.exists(&at(storage, "/alice/out/only-outside")).await;
        assert!(!none.unwrap_or(false), "what is outside was seen");
        if let Ok(page) = storage.list(&at(storage, "/alice/out"), None, 1_000).await {
            assert!(page.entries.iter().all(|entry| entry.name != "only-outside"), "it was listed");
        }
        let staging = Staging { below: String::new(), limit: u64::MAX };
        if let Ok(tar) = tar_of_folder(storage, &at(storage, "/alice/out"), staging).await {
            let tar: Vec<Bytes> = tar.try_collect().await.unwrap_or_default();
            let text = String::from_utf8_lossy(&tar.concat()).into_owned();
            assert!(!text.contains(SECRET) && !text.contains("only-outside"), "it was staged");
        }
        let _refused_or_of_the_folder = storage.measure(&at(storage, "/alice"), u64::MAX).await;
        seen
    }

    /// Everything that changes something; each may be refused.
    async fn change(&self, round: u64) {
        let storage = &self.storage;
        let path = |name: &str| at(storage, &format!("/alice/{name}"));
        let _refused = storage.create(&path("out/written"), true, pieces(&["x"])).await;
        let _refused = storage.write(&path("out/made/written"), Bytes::from_static(b"x")).await;
        let _refused = storage.append(&path("out/secret"), pieces(&["+"])).await;
        let _refused = storage.append(&path("out/only-outside"), pieces(&["+"])).await;
        let _refused = storage.append(&path("file"), pieces(&["+"])).await;
        let _refused = storage.create_folder(&path(&format!("out/folder-{}", round % 8))).await;
        let _refused = storage.write(&path("out/tree/x/y"), Bytes::from_static(b"x")).await;
        let _refused = storage.remove(&path("out/tree"), true).await;
        let _refused = storage.remove(&path("out/only-outside"), false).await;
        let _refused = storage.rename(&path("out/only-outside"), &path("kept/stolen")).await;
        let _refused = storage.rename(&path("out/tree/deep"), &path("kept/stolen-tree")).await;
        let _refused = storage.rename(&path("out/written"), &path("out/renamed")).await;
        let _refused = storage.remove(&path("out/renamed"), false).await;
        let _refused = storage.write(&path("kept/a"), Bytes::from_static(b"x")).await;
        let _refused = storage.rename(&path("kept/a"), &path(&format!("out/a-{round}"))).await;
        let _refused = storage.remove(&path(&format!("out/a-{round}")), false).await;
        let arriving = Arriving::new(&"alice".parse().unwrap(), "0a");
        let _refused = storage.add(&arriving, pieces(&["part"])).await;
        let _refused = storage.complete(&arriving, &path("out/arrived"), true).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swapped_names_lead_nowhere() {
    let scene = Scene::new();
    let before = contents(&scene.outside());
    let swapping = scene.swap();
    let mut seen = (false, false);
    let mut round = 0;
    while round < rounds() || swapping.count() < 1_000 || seen != (true, true) {
        let looked = scene.look().await;
        seen = (seen.0 || looked.0, seen.1 || looked.1);
        scene.change(round).await;
        assert_eq!(contents(&scene.outside()), before, "what is outside was changed");
        round += 1;
    }
    drop(swapping);
    let kept = scene.folder.path().join("files/alice/kept");
    let stolen: Vec<_> = contents(&kept).into_values().flatten().collect();
    assert!(!stolen.iter().any(|text| text.contains(SECRET)), "{stolen:?}");
}

/// Names right below the root, or right below that, are mounted on nodes: whatever is renamed to one,
/// at whichever moment, no link comes to stand there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_link_comes_to_stand_where_it_may_be_mounted() {
    let scene = Scene::new();
    let (storage, files) = (&scene.storage, scene.folder.path().join("files"));
    std::fs::create_dir(files.join("Output")).unwrap();
    let (top, swapping) = (files.join("Output/top"), scene.swap());
    // Whoever looks as fast as he can sees none either.
    let over = Arc::new(AtomicBool::new(false));
    let watching = std::thread::spawn({
        let (top, over) = (top.clone(), Arc::clone(&over));
        move || {
            while !over.load(Ordering::Relaxed) {
                let found = std::fs::symlink_metadata(&top);
                assert!(!found.is_ok_and(|found| found.is_symlink()), "a link stood there");
            }
        }
    });
    let mut seen = (false, false);
    let mut round = 0;
    while round < rounds() || seen != (true, true) {
        match storage.rename(&at(storage, "/alice/out"), &at(storage, "/Output/top")).await {
            Ok(()) => {
                assert!(top.join("secret").is_file() && !top.is_symlink());
                seen.0 = true;
                // Back to where it is swapped.
                storage
                    .rename(&at(storage, "/Output/top"), &at(storage, "/alice/out"))
                    .await
                    .unwrap();
            }
            Err(_) => seen.1 = true,
        }
        round += 1;
    }
    drop(swapping);
    over.store(true, Ordering::Relaxed);
    watching.join().unwrap();
}

/// A tree that is removed while others swap what is in it, and add to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_that_changes_is_removed_and_nothing_else() {
    for _ in 0..rounds().div_ceil(10) {
        let (folder, storage) = open();
        let (outside, tree) =
            (folder.path().join("outside"), folder.path().join("files/alice/tree"));
        for folder in [outside.join("a/b/c"), tree.join("a/b/c"), tree.join("d/e")] {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("file"), "x").unwrap();
        }
        symlink(outside.join("a"), tree.join("link")).unwrap();
        let before = contents(&outside);
        // From within, as a task does whose working folder it is.
        let inside = std::fs::File::open(&tree).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let swapping = std::thread::spawn({
            let over = Arc::clone(&over);
            move || {
                while !over.load(Ordering::Relaxed) {
                    let swapped =
                        renameat_with(&inside, "a", &inside, "link", RenameFlags::EXCHANGE);
                    if swapped.is_err() {
                        return;
                    }
                }
            }
        });
        assert!(storage.remove(&at(&storage, "/alice/tree"), true).await.unwrap());
        over.store(true, Ordering::Relaxed);
        swapping.join().unwrap();
        assert!(!tree.exists());
        assert_eq!(contents(&outside), before);
    }
}

/// Deeper than any path is long, and wider than is removed in one go of reading.
#[tokio::test]
async fn trees_of_any_depth_are_removed() {
    let (folder, storage) = open();
    let top = folder.path().join("files/alice/deep");
    std::fs::create_dir_all(&top).unwrap();
    let mut at_bottom = rustix::fd::OwnedFd::from(std::fs::File::open(&top).unwrap());
    for depth in 0..3_000 {
        use rustix::fs::{Mode, OFlags, mkdirat, openat};
        let name = format!("a-rather-long-name-{depth}");
        mkdirat(&at_bottom, &name, Mode::RWXU).unwrap();
        let next = openat(&at_bottom, &name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty());
        at_bottom = next.unwrap();
    }
    drop(at_bottom);
    let measured = storage.measure(&at(&storage, "/alice"), u64::MAX).await.unwrap();
    assert!(measured.folders > 100, "as far as paths go");
    assert!(storage.remove(&at(&storage, "/alice/deep"), true).await.unwrap());
    assert!(!top.exists());
    let left = std::fs::read_dir(folder.path().join("files/.berth/removed")).unwrap();
    assert_eq!(left.count(), 0, "nothing is left of it");
}
