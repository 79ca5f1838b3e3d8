//! Users' files: who may do what, and how much.

use api::files::{
    FileKind, FilePart, FilePath, FileStream, FolderQuery, Upload, WriteMode, Writing,
};
use api::jobs::{JobDetail, Submission};
use api::users::NewUser;
use api::{Actor, Backend, Error, ErrorCode};
use bytes::Bytes;
use control::{Control, Options};
use futures::{StreamExt, TryStreamExt};
use protocol::ids::JobKey;
use protocol::state::State;
use storage::{Storage, StorageOptions, StoragePath};

use crate::house::{House, PATIENCE, admin, job};

/// Where nodes have the storage.
pub(crate) const MOUNT: &str = "/mnt/berth";

/// A cluster with the users alice and bob.
pub(crate) struct Office {
    pub(crate) house: House,
    storage: Storage,
    control: Control,
}

impl Office {
    pub(crate) async fn open(quota: Option<u64>) -> Self {
        Self::open_with(quota, None).await
    }

    /// Its node has the storage as [`MOUNT`].
    pub(crate) async fn mounted() -> Self {
        Self::open_with(None, Some(MOUNT.to_owned())).await
    }

    async fn open_with(quota: Option<u64>, storage_mount: Option<String>) -> Self {
        let house = House::new(1);
        let root = house.path().join("storage").display().to_string();
        let storage = StorageOptions { root, quota, ..StorageOptions::default() };
        let storage = Storage::open_with(storage).unwrap();
        let options = Options {
            storage: storage.clone(),
            storage_mount,
            ..house.options(house.database().await)
        };
        let control = control::start(options).await.unwrap();
        let office = Self { house, storage, control };
        for name in ["alice", "bob"] {
            office.add_user(name).await;
        }
        office
    }

    async fn add_user(&self, name: &str) {
        let user = NewUser {
            name: name.parse().unwrap(),
            password: "correct horse".into(),
            admin: false,
            temporary: false,
        };
        self.backend().users.create(&admin(), user).await.unwrap();
    }

    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    pub(crate) fn place(&self, path: &str) -> StoragePath {
        self.storage.resolve(path).unwrap()
    }

    pub(crate) fn key(&self, who: &str, name: &str) -> JobKey {
        JobKey { user: actor(who).user, name: name.parse().unwrap() }
    }

    /// A user's job, when it has ended.
    pub(crate) async fn ended(&self, who: &str, name: &str) -> JobDetail {
        self.until(who, name, State::is_final).await
    }

    /// A user's job, when its state is as wanted.
    pub(crate) async fn until(
        &self,
        who: &str,
        name: &str,
        wanted: impl Fn(State) -> bool,
    ) -> JobDetail {
        let (backend, key) = (self.backend(), self.key(who, name));
        let mut changes = backend.changes.subscribe(&admin());
        let waiting = async {
            loop {
                let detail = backend.jobs.get(&admin(), &key).await.unwrap();
                if wanted(detail.summary.state) {
                    return detail;
                }
                changes.next().await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.unwrap()
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.control.backend
    }

    pub(crate) async fn write(&self, who: &str, path: &str, text: &str) -> Result<(), Error> {
        let writing = Writing { mode: WriteMode::Replace, length: None };
        let content = content(&[text]);
        self.backend().files.write(&actor(who), &at(path), writing, content).await
    }

    pub(crate) async fn read(&self, who: &str, path: &str) -> Result<String, Error> {
        let read = self.backend().files.read(&actor(who), &at(path), FilePart::default()).await?;
        let pieces: Vec<Bytes> = read.content.try_collect().await?;
        Ok(String::from_utf8(pieces.concat()).unwrap())
    }

    pub(crate) async fn names(&self, who: &str, path: &str) -> Result<Vec<String>, Error> {
        let query = FolderQuery { after: None, limit: 1_000 };
        let page = self.backend().files.list(&actor(who), &at(path), &query).await?;
        Ok(page.entries.into_iter().map(|entry| entry.name).collect())
    }

    /// Tries everything that changes something.
    async fn try_all(&self, who: &str, path: &str) -> Vec<Error> {
        let (who, path) = (actor(who), at(path));
        let files = &self.backend().files;
        let elsewhere = at(&format!("/{}/elsewhere", who.user));
        let append = Writing { mode: WriteMode::Append, length: None };
        let replace = Writing { mode: WriteMode::Replace, length: None };
        let results = [
            files.write(&who, &path, replace, content(&["x"])).await,
            files.write(&who, &path, append, content(&["x"])).await,
            files.may_write(&who, &path, replace).await,
            files.rename(&who, &path, &elsewhere).await,
            files.remove(&who, &path, true).await.map(drop),
        ];
        results.into_iter().filter_map(Result::err).collect()
    }
}

pub(crate) fn actor(name: &str) -> Actor {
    Actor { user: name.parse().unwrap(), admin: name == "admin" }
}

pub(crate) fn at(path: &str) -> FilePath {
    FilePath::new(path)
}

pub(crate) fn content(pieces: &[&str]) -> FileStream {
    let pieces: Vec<_> =
        pieces.iter().map(|piece| Ok(Bytes::copy_from_slice(piece.as_bytes()))).collect();
    futures::stream::iter(pieces).boxed()
}

pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorCode {
    result.unwrap_err().code
}

#[tokio::test]
async fn what_is_a_users_is_nobody_elses() {
    let office = Office::open(None).await;
    for path in [
        "/alice/secret",
        "/Output/alice/model",
        "/Container/alice/train/ssh/1/.ssh/1",
        "/Users/alice/x",
        "/user/alice/x",
        "/Output/train/model",
        "/path/my-job/output/x",
    ] {
        office.write("alice", path, "mine").await.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(office.read("alice", path).await.unwrap(), "mine", "{path}");
        assert_eq!(office.read("admin", path).await.unwrap(), "mine", "{path}");
        assert_eq!(code(office.read("bob", path).await), ErrorCode::ForbiddenUserError, "{path}");
        let folder = at(path).parent().unwrap();
        let listed = office.names("bob", folder.as_str()).await;
        assert_eq!(code(listed), ErrorCode::ForbiddenUserError, "{path}");
        let refused = office.try_all("bob", path).await;
        assert_eq!(refused.len(), 5, "{path}");
        assert!(refused.iter().all(|error| error.code == ErrorCode::ForbiddenUserError), "{path}");
        let beside = format!("{folder}/planted");
        assert_eq!(code(office.write("bob", &beside, "x").await), ErrorCode::ForbiddenUserError);
        assert_eq!(office.read("alice", path).await.unwrap(), "mine", "{path}");
    }
    assert!(office.names("bob", "/").await.unwrap().iter().all(|name| name != "alice"));
    assert_eq!(office.names("bob", "/Output").await.unwrap(), Vec::<String>::new());
    assert_eq!(office.names("alice", "/Output").await.unwrap(), ["alice", "train"]);
    assert_eq!(office.names("admin", "/Output").await.unwrap(), ["alice", "train"]);
}

#[tokio::test]
async fn common_folders_are_read_by_all_and_changed_by_administrators() {
    let office = Office::open(None).await;
    office.write("admin", "/data/imagenet/1.jpg", "picture").await.unwrap();
    assert_eq!(office.read("bob", "/data/imagenet/1.jpg").await.unwrap(), "picture");
    assert_eq!(office.names("bob", "/data").await.unwrap(), ["imagenet"]);
    for path in ["/data/imagenet/1.jpg", "/data/imagenet/2.jpg", "/data/imagenet", "/data", "/"] {
        let refused = office.try_all("bob", path).await;
        assert_eq!(refused.len(), 5, "{path}: {refused:?}");
    }
    let files = &office.backend().files;
    for (from, to) in [("/bob/x", "/data/imagenet/x"), ("/bob/x", "/x")] {
        office.write("bob", from, "x").await.unwrap();
        let renamed = files.rename(&actor("bob"), &at(from), &at(to)).await;
        assert_eq!(code(renamed), ErrorCode::ForbiddenUserError, "{to}");
    }
    let made = files.make_folder(&actor("bob"), &at("/mine")).await;
    assert_eq!(code(made), ErrorCode::ForbiddenUserError, "right below the root");
    files.make_folder(&actor("bob"), &at("/data")).await.unwrap();
    files.make_folder(&actor("bob"), &at("/data/bobs")).await.unwrap();
    assert_eq!(code(office.names("alice", "/data/bobs").await), ErrorCode::ForbiddenUserError);
    let counted = files.measure(&actor("bob"), &at("/")).await;
    assert_eq!(code(counted), ErrorCode::ForbiddenUserError);
}

#[tokio::test]
async fn bad_paths_and_berths_own_files_are_refused() {
    let office = Office::open(None).await;
    for who in ["alice", "admin"] {
        for path in [
            "/.berth",
            "/.berth/owners",
            "/../etc/passwd",
            "/alice/../bob",
            "/a\0b",
            "a",
            "hdfs://x/y",
            "",
        ] {
            assert_eq!(
                code(office.read(who, path).await),
                ErrorCode::InvalidParametersError,
                "{path}"
            );
            let refused = office.try_all(who, path).await;
            assert_eq!(refused.len(), 5, "{path}");
            assert!(refused.iter().all(|error| error.code == ErrorCode::InvalidParametersError));
        }
    }
}

#[tokio::test]
async fn a_link_gives_no_rights() {
    let office = Office::open(None).await;
    office.write("alice", "/alice/secret", "s").await.unwrap();
    office.write("bob", "/bob/x", "x").await.unwrap();
    let storage = office.house.path().join("storage");
    std::os::unix::fs::symlink("../alice", storage.join("bob/door")).unwrap();
    std::os::unix::fs::symlink("../alice/secret", storage.join("bob/window")).unwrap();
    let refused = |error: Error| {
        [ErrorCode::InvalidParametersError, ErrorCode::ConflictFileError].contains(&error.code)
    };
    for who in ["bob", "admin"] {
        for path in ["/bob/door/secret", "/bob/window"] {
            assert!(refused(office.read(who, path).await.unwrap_err()), "{path}");
            assert!(refused(office.write(who, path, "x").await.unwrap_err()), "{path}");
        }
        assert!(refused(office.names(who, "/bob/door").await.unwrap_err()));
    }
    assert_eq!(office.read("alice", "/alice/secret").await.unwrap(), "s");
    // The links are names of his, to be seen, renamed and removed.
    let files = &office.backend().files;
    assert_eq!(office.names("bob", "/bob").await.unwrap(), ["door", "window", "x"]);
    let seen = files.stat(&actor("bob"), &at("/bob/door")).await.unwrap();
    assert_eq!(seen.kind, FileKind::Link);
    files.rename(&actor("bob"), &at("/bob/door"), &at("/bob/gate")).await.unwrap();
    assert!(files.remove(&actor("bob"), &at("/bob/gate"), true).await.unwrap());
    assert!(files.remove(&actor("bob"), &at("/bob/window"), false).await.unwrap());
    assert_eq!(office.names("alice", "/alice").await.unwrap(), ["secret"]);
}

/// The name may be that of a user to come, who would find there what others put there.
#[tokio::test]
async fn nobody_makes_the_home_of_a_user_to_come() {
    let office = Office::open(None).await;
    for path in ["/carol/x", "/carol", "/carol/x/y", "/ALICE/x/y", "/%2e%2e/x/y"] {
        let written = office.write("bob", path, "x").await;
        assert_eq!(code(written), ErrorCode::ForbiddenUserError, "{path}");
        let made = office.backend().files.make_folder(&actor("bob"), &at(path)).await;
        assert_eq!(code(made), ErrorCode::ForbiddenUserError, "{path}");
        let text = job("planted", 1, 0, "true", &format!(r#""outputDir": "{path}","#));
        let submission = Submission { text, cloned_from: None, expected_name: None };
        let submitted = office.backend().jobs.submit(&actor("bob"), submission).await;
        assert_eq!(code(submitted), ErrorCode::ForbiddenUserError, "{path}");
    }
    assert_eq!(office.names("admin", "/").await.unwrap(), Vec::<String>::new());
    // What a document names is there for all, and so is what an administrator made.
    office.write("bob", "/path/guid/output/x", "x").await.unwrap();
    office.write("bob", "/Output/carol/x", "bobs").await.unwrap();
    office.write("admin", "/group/readme", "x").await.unwrap();
    office.write("bob", "/group/bobs/x", "x").await.unwrap();
    // Who comes later neither takes nor sees what had its owner before.
    office.add_user("carol").await;
    assert_eq!(code(office.read("carol", "/Output/carol/x").await), ErrorCode::ForbiddenUserError);
    assert_eq!(office.read("bob", "/Output/carol/x").await.unwrap(), "bobs");
    assert_eq!(office.names("carol", "/carol").await.unwrap(), Vec::<String>::new());
    office.write("carol", "/path/carol/x", "x").await.unwrap();
}

/// What was added before a sender broke off stays, and so it counts.
#[tokio::test]
async fn what_was_appended_before_it_broke_off_counts() {
    let office = Office::open(Some(1_000)).await;
    let (files, alice) = (&office.backend().files, actor("alice"));
    office.write("alice", "/alice/a", "x").await.unwrap();
    let append = Writing { mode: WriteMode::Append, length: None };
    let mut refused = 0;
    for _ in 0..50 {
        let piece = Ok(Bytes::from(vec![b'x'; 100]));
        let broken = futures::stream::iter([piece, Err(Error::internal())]).boxed();
        let error = files.write(&alice, &at("/alice/a"), append, broken).await.unwrap_err();
        refused += u32::from(error.code == ErrorCode::NoEnoughQuotaError);
    }
    let size = files.stat(&alice, &at("/alice/a")).await.unwrap().size;
    assert!(size <= 1_000, "{size} bytes are there");
    assert!(refused >= 40, "{refused} were refused");
    // What never became a file does not count.
    files.remove(&alice, &at("/alice/a"), false).await.unwrap();
    for mode in [WriteMode::New, WriteMode::Replace] {
        for _ in 0..20 {
            let piece = Ok(Bytes::from(vec![b'x'; 100]));
            let broken = futures::stream::iter([piece, Err(Error::internal())]).boxed();
            let writing = Writing { mode, length: None };
            let error = files.write(&alice, &at("/alice/b"), writing, broken).await.unwrap_err();
            assert_eq!(error, Error::internal());
        }
    }
}

#[tokio::test]
async fn who_leaves_takes_his_secrets_along() {
    let office = Office::open(None).await;
    office.write("alice", "/alice/secret", "s").await.unwrap();
    office.write("alice", "/Output/alice/x", "s").await.unwrap();
    office.backend().users.remove(&admin(), &"alice".parse().unwrap()).await.unwrap();
    for path in ["/alice/secret", "/Output/alice/x"] {
        assert_eq!(code(office.read("bob", path).await), ErrorCode::ForbiddenUserError, "{path}");
        assert_eq!(office.read("admin", path).await.unwrap(), "s");
    }
    assert_eq!(office.names("bob", "/").await.unwrap(), ["Output"]);
}

#[tokio::test]
async fn what_is_moved_stays_its_owners() {
    let office = Office::open(None).await;
    let files = &office.backend().files;
    office.write("alice", "/Output/train/x", "s").await.unwrap();
    office.write("alice", "/alice/y", "y").await.unwrap();
    files.rename(&actor("admin"), &at("/Output/train"), &at("/Output/kept")).await.unwrap();
    assert_eq!(office.read("alice", "/Output/kept/x").await.unwrap(), "s");
    assert_eq!(code(office.read("bob", "/Output/kept/x").await), ErrorCode::ForbiddenUserError);
    files.rename(&actor("alice"), &at("/alice/y"), &at("/Output/y")).await.unwrap();
    assert_eq!(code(office.read("bob", "/Output/y").await), ErrorCode::ForbiddenUserError);
    office.write("bob", "/Output/train/x", "b").await.unwrap();
    let common = files.rename(&actor("admin"), &at("/Output"), &at("/Outputs")).await;
    assert_eq!(code(common), ErrorCode::ForbiddenUserError);
    assert!(files.remove(&actor("alice"), &at("/Output/kept"), true).await.unwrap());
    office.write("bob", "/Output/kept/x", "b").await.unwrap();
    assert!(files.remove(&actor("admin"), &at("/Output"), true).await.unwrap());
    office.write("alice", "/Output/train/x", "a").await.unwrap();
}

#[tokio::test]
async fn a_users_files_take_no_more_than_they_may() {
    let office = Office::open(Some(1_000)).await;
    let files = &office.backend().files;
    office.write("alice", "/alice/a", &"x".repeat(600)).await.unwrap();
    office.write("alice", "/Output/train/b", &"x".repeat(300)).await.unwrap();
    let usage = files.usage(&actor("alice")).await.unwrap();
    assert_eq!((usage.bytes, usage.quota), (900, Some(1_000)));
    let much = office.write("alice", "/alice/c", &"x".repeat(101)).await;
    assert_eq!(code(much), ErrorCode::NoEnoughQuotaError);
    assert_eq!(code(office.read("alice", "/alice/c").await), ErrorCode::NoFileError);
    let told = Writing { mode: WriteMode::New, length: Some(101) };
    let refused = files.may_write(&actor("alice"), &at("/alice/c"), told).await;
    assert_eq!(code(refused), ErrorCode::NoEnoughQuotaError, "before anything is sent");
    let append = Writing { mode: WriteMode::Append, length: None };
    let appended = files.write(&actor("alice"), &at("/alice/a"), append, content(&["x"; 2])).await;
    appended.unwrap();
    let two = office.write("alice", "/alice/d", &"x".repeat(99)).await;
    assert_eq!(code(two), ErrorCode::NoEnoughQuotaError);
    office.write("alice", "/alice/d", &"x".repeat(98)).await.unwrap();
    office.write("bob", "/bob/a", &"x".repeat(1_000)).await.unwrap();
    office.write("admin", "/alice/e", &"x".repeat(500)).await.unwrap();
    files.remove(&actor("alice"), &at("/alice/a"), false).await.unwrap();
    assert_eq!(files.usage(&actor("alice")).await.unwrap().bytes, 300 + 98 + 500);
    office.write("alice", "/alice/f", &"x".repeat(102)).await.unwrap();
}

#[tokio::test]
async fn a_sender_that_fails_is_told_why() {
    let office = Office::open(None).await;
    let gone = Error::new(ErrorCode::TooLargeError, "too much");
    let stream = futures::stream::iter([Ok(Bytes::from_static(b"x")), Err(gone.clone())]).boxed();
    let writing = Writing { mode: WriteMode::New, length: None };
    let files = &office.backend().files;
    let written = files.write(&actor("alice"), &at("/alice/x"), writing, stream).await;
    assert_eq!(written.unwrap_err(), gone);
    assert_eq!(code(office.read("alice", "/alice/x").await), ErrorCode::NoFileError);
}

#[tokio::test]
async fn a_home_is_there_when_it_is_looked_at() {
    let office = Office::open(None).await;
    assert_eq!(office.names("alice", "/alice").await.unwrap(), Vec::<String>::new());
    let home = office.backend().files.home(&actor("bob")).await.unwrap();
    assert_eq!(home.as_str(), "/bob");
    let view = office.backend().files.stat(&actor("bob"), &home).await.unwrap();
    assert_eq!((view.owner, view.may_change), (Some("bob".parse().unwrap()), true));
    assert_eq!(code(office.names("bob", "/alice/none").await), ErrorCode::ForbiddenUserError);
    assert_eq!(code(office.names("alice", "/alice/none").await), ErrorCode::NoFileError);
}

#[tokio::test]
async fn jobs_reach_what_their_owner_reaches() {
    let office = Office::open(None).await;
    office.write("alice", "/alice/code/a.py", "print()").await.unwrap();
    office.write("admin", "/data/set/1", "x").await.unwrap();
    let submit = async |who: &str, name: &str, more: &str| {
        let text = job(name, 1, 0, "true", more);
        let submission = Submission { text, cloned_from: None, expected_name: None };
        office.backend().jobs.submit(&actor(who), submission).await
    };
    let with_code = r#""codeDir": "$PAI_DEFAULT_FS_URI/alice/code","#;
    submit("alice", "mine", with_code).await.unwrap();
    assert_eq!(code(submit("bob", "theirs", with_code).await), ErrorCode::ForbiddenUserError);
    submit("bob", "with-data", r#""dataDir": "/data/set","#).await.unwrap();
    let output =
        r#""outputDir": "$QIZHI_DEFAULT_FS_URI/path/tensorflow-distributed-jobguid/output","#;
    submit("bob", "with-output", output).await.unwrap();
    let path = "/path/tensorflow-distributed-jobguid/output";
    assert_eq!(office.names("bob", path).await.unwrap(), Vec::<String>::new());
    assert_eq!(code(office.names("alice", path).await), ErrorCode::ForbiddenUserError);
    assert_eq!(code(submit("alice", "same", output).await), ErrorCode::ForbiddenUserError);
    assert_eq!(office.names("alice", "/Output").await.unwrap(), ["mine"], "the default output");
    submit("bob", "mine", "").await.unwrap();
    assert_eq!(office.names("bob", "/Output/bob").await.unwrap(), ["mine"], "its name was taken");
}

#[tokio::test]
async fn a_jobs_key_is_read_at_the_documents_path_by_its_owner() {
    let office = Office::open(None).await;
    let text = job("train", 1, 0, "true", "");
    let submission = Submission { text, cloned_from: None, expected_name: None };
    office.backend().jobs.submit(&actor("alice"), submission).await.unwrap();
    let folder = "/Container/alice/train/ssh/application_1_0001/.ssh";
    let private = format!("{folder}/application_1_0001");
    let key = office.read("alice", &private).await.unwrap();
    assert!(key.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n"), "{key}");
    assert_eq!(office.read("admin", &format!("{folder}/alice~train")).await.unwrap(), key);
    let public = office.read("alice", &format!("{private}.pub")).await.unwrap();
    assert!(public.starts_with("ssh-ed25519 ") && public.ends_with(" alice~train\n"), "{public}");
    let part = FilePart { offset: 5, length: Some(5) };
    let read = office.backend().files.read(&actor("alice"), &at(&private), part).await.unwrap();
    assert_eq!((read.file.size, read.range), (key.len() as u64, 5..10));
    let pieces: Vec<Bytes> = read.content.try_collect().await.unwrap();
    assert_eq!(pieces.concat(), b"BEGIN");

    assert_eq!(code(office.read("bob", &private).await), ErrorCode::ForbiddenUserError);
    for missing in [
        "/Container/alice/train/ssh/application_1_0002/.ssh/application_1_0002",
        "/Container/alice/train/ssh/application_1_0001/.ssh/application_1_0002",
        "/Container/alice/other/ssh/application_1_0001/.ssh/application_1_0001",
    ] {
        assert_eq!(code(office.read("alice", missing).await), ErrorCode::NoFileError, "{missing}");
    }
}

/// Parts that the test sends one by one; dropping the sender ends the content.
fn slow() -> (futures::channel::mpsc::UnboundedSender<Result<Bytes, Error>>, FileStream) {
    let (sender, receiver) = futures::channel::mpsc::unbounded();
    (sender, receiver.boxed())
}

fn upload(id: &str, length: u64) -> Upload {
    Upload { id: id.to_owned(), length, replace: true }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_arrived_before_an_interruption_stays() {
    let office = Office::open(None).await;
    let files = &office.backend().files;
    let (alice, path, whole) = (actor("alice"), at("/alice/model"), upload("a", 6));
    let (sender, broken) = slow();
    sender.unbounded_send(Ok(Bytes::from_static(b"012"))).unwrap();
    sender.unbounded_send(Err(Error::internal())).unwrap();
    assert!(files.upload(&alice, &path, &whole, 0, broken).await.is_err());
    assert_eq!(files.arrived(&alice, &path, &whole).await.unwrap(), 3);
    assert_eq!(files.arrived(&actor("admin"), &path, &whole).await.unwrap(), 0, "another sender");
    assert_eq!(code(office.read("alice", "/alice/model").await), ErrorCode::NoFileError);
    let arrived = files.upload(&alice, &path, &whole, 3, content(&["34", "5"])).await.unwrap();
    assert_eq!(arrived, 6);
    assert_eq!(office.read("alice", "/alice/model").await.unwrap(), "012345");
}

/// The server may not know yet that the connection of before is dead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_sender_takes_the_place_of_an_older() {
    let office = Office::open(None).await;
    let files = std::sync::Arc::clone(&office.backend().files);
    let (sender, dead) = slow();
    sender.unbounded_send(Ok(Bytes::from_static(b"012"))).unwrap();
    let older = tokio::spawn({
        let files = std::sync::Arc::clone(&files);
        async move { files.upload(&actor("alice"), &at("/alice/m"), &upload("a", 6), 0, dead).await }
    });
    let newer = async |offset| {
        let rest = content(&["345"]);
        files.upload(&actor("alice"), &at("/alice/m"), &upload("a", 6), offset, rest).await
    };
    // Nothing more comes from the older one, and nothing ends it but a newer one.
    while code_of(newer(5).await) != Some(ErrorCode::ConflictUploadError) || !older.is_finished() {
        tokio::task::yield_now().await;
    }
    // Who had not begun when a newer one came does not begin.
    let told = older.await.unwrap();
    let arrived = told.unwrap_or_else(|error| {
        assert_eq!(error.code, ErrorCode::ConflictUploadError);
        0
    });
    assert!([0, 3].contains(&arrived), "{arrived}");
    drop(sender);
    if arrived == 3 {
        assert_eq!(newer(3).await.unwrap(), 6);
        assert_eq!(office.read("alice", "/alice/m").await.unwrap(), "012345");
    }
}

fn code_of<T>(result: Result<T, Error>) -> Option<ErrorCode> {
    result.err().map(|error| error.code)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_not_arrived_completely_counts() {
    let office = Office::open(Some(1_000)).await;
    let (files, alice) = (&office.backend().files, actor("alice"));
    let much = "x".repeat(600);
    let first = upload("a", 900);
    files.upload(&alice, &at("/alice/a"), &first, 0, content(&[&much])).await.unwrap();
    assert_eq!(files.usage(&alice).await.unwrap().bytes, 600);
    let second = upload("b", 600);
    let refused = files.upload(&alice, &at("/alice/b"), &second, 0, content(&[&much])).await;
    assert_eq!(code(refused), ErrorCode::NoEnoughQuotaError);
    let rest = "x".repeat(300);
    files.upload(&alice, &at("/alice/a"), &first, 600, content(&[&rest])).await.unwrap();
    assert_eq!(files.usage(&alice).await.unwrap().bytes, 900);
}
