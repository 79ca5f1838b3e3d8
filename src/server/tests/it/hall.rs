use std::path::Path;
use std::sync::Arc;

use api::Actor;
use api::files::{FilePart, FilePath, WriteMode, Writing};
use api::users::{Means, NewUser};
use bytes::Bytes;
use control::{Control, Options, SignInOptions};
use database::Database;
use futures::{StreamExt, TryStreamExt};
use server::state::StateOptions;
use storage::{Storage, StorageOptions};

use crate::server::{Answer, Client, Server};

pub(crate) const PASSWORD: &str = "correct horse";

/// A whole server over a real storage, with the users alice and bob and the administrator.
pub(crate) struct Hall {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) control: Arc<Control>,
    pub(crate) client: Client,
    alice: String,
    bob: String,
    admin: String,
}

impl Hall {
    pub(crate) async fn open() -> Self {
        Self::with(None, StateOptions::default()).await
    }

    pub(crate) async fn with(quota: Option<u64>, options: StateOptions) -> Self {
        Self::built(quota, |_| {}, options).await
    }

    /// One whose control is as this says.
    pub(crate) async fn controlled(set: impl FnOnce(&mut Options)) -> Self {
        Self::built(None, set, StateOptions::default()).await
    }

    /// One where people sign in as this says.
    pub(crate) async fn signing_in(sign_in: SignInOptions, options: StateOptions) -> Self {
        Self::built(None, |control| control.sign_in = sign_in, options).await
    }

    async fn built(
        quota: Option<u64>,
        set: impl FnOnce(&mut Options),
        options: StateOptions,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = settings(folder.path(), quota).await;
        set(&mut settings);
        let control = Arc::new(control::start(settings).await.unwrap());
        let users = &control.backend.users;
        let mut tokens = Vec::new();
        for name in ["alice", "bob", "admin"] {
            let actor = actor(name);
            if !actor.admin {
                let (name, password) = (actor.user.clone(), PASSWORD.to_owned());
                let user = NewUser { name, password, admin: false, temporary: false };
                users.create(&self::actor("admin"), user).await.unwrap();
            }
            tokens.push(
                users.create_token(&actor, &Means::Password, "test", None).await.unwrap().token,
            );
        }
        let server = Server::on(control.clone(), control.backend.clone(), options).await;
        let [alice, bob, admin] = tokens.try_into().unwrap();
        Self { folder, control, client: server.client(), alice, bob, admin }
    }

    pub(crate) fn token(&self, who: &str) -> &str {
        match who {
            "alice" => &self.alice,
            "bob" => &self.bob,
            "admin" => &self.admin,
            other => panic!("there is no {other}"),
        }
    }

    /// `PATH?op=…&delegation=…`.
    pub(crate) fn address(&self, who: &str, path: &str, operation: &str) -> String {
        format!("/webhdfs/v1{path}?op={operation}&delegation={}", self.token(who))
    }

    pub(crate) async fn ask(&self, method: &str, who: &str, path: &str, operation: &str) -> Answer {
        self.client.send(method, &self.address(who, path, operation), &[], "").await
    }

    /// The part of an absolute address of this server after its host.
    pub(crate) fn local<'a>(&self, address: &'a str) -> &'a str {
        address.strip_prefix(&self.client.base).unwrap_or_else(|| panic!("{address} is elsewhere"))
    }

    pub(crate) async fn write(&self, who: &str, path: &str, text: &str) {
        let content = futures::stream::iter([Ok(Bytes::copy_from_slice(text.as_bytes()))]);
        let writing = Writing { mode: WriteMode::Replace, length: None };
        let files = &self.control.backend.files;
        files.write(&actor(who), &FilePath::new(path), writing, content.boxed()).await.unwrap();
    }

    pub(crate) async fn text(&self, path: &str) -> String {
        let files = &self.control.backend.files;
        let read = files.read(&actor("admin"), &FilePath::new(path), FilePart::default()).await;
        let pieces: Vec<Bytes> = read.unwrap().content.try_collect().await.unwrap();
        String::from_utf8(pieces.concat()).unwrap()
    }
}

pub(crate) fn actor(name: &str) -> Actor {
    Actor { user: name.parse().unwrap(), admin: name == "admin" }
}

async fn settings(folder: &Path, quota: Option<u64>) -> Options {
    let at = |name: &str| folder.join(name).display().to_string();
    let storage = StorageOptions { root: at("storage"), quota, ..StorageOptions::default() };
    let database = Database::open(&format!("sqlite://{}", at("berth.db"))).await.unwrap();
    Options {
        admin_password: Some(PASSWORD.to_owned()),
        ..Options::new(database, Storage::open_with(storage).unwrap(), folder.to_owned())
    }
}

/// The most memory that this process has had, in kB.
pub(crate) fn peak_kilobytes() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
