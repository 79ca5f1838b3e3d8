//! Folders of job files that are taken with all that is in them: as code and as data.

use api::jobs::Submission;
use api::{Error, ErrorCode};
use protocol::exit::Cause;
use protocol::state::State;

use crate::files::{Office, actor, at, code};
use crate::house::{admin, job, key, submit, until_state};

/// What several users have files in, and what is called so.
const SHARED: [&str; 6] = ["/", "/Output", "/Container", "/shared", "//./", "$PAI_DEFAULT_FS_URI"];

async fn shared_office() -> Office {
    let office = Office::open(None).await;
    for (who, path) in [
        ("admin", "/shared/all/set"),
        ("alice", "/alice/secret"),
        ("alice", "/Output/train/model"),
        ("alice", "/Container/alice/x"),
        ("alice", "/shared/hers/secret"),
        ("bob", "/bob/code/a.py"),
        ("bob", "/Output/mine/a.py"),
    ] {
        office.write(who, path, "x").await.unwrap();
    }
    office
}

async fn try_with(office: &Office, who: &str, field: &str, path: &str) -> Result<(), Error> {
    let mut digits = path.bytes().map(|byte| format!("{byte:x}"));
    let name = format!("{who}-{field}-{}", digits.by_ref().collect::<String>());
    let text = job(&name[..name.len().min(60)], 1, 0, "true", &format!(r#""{field}": "{path}","#));
    let submission = Submission { text, cloned_from: None, expected_name: None };
    office.backend().jobs.submit(&actor(who), submission).await.map(drop)
}

async fn only_what_is_ones_own(field: &str) {
    let office = shared_office().await;
    for path in SHARED {
        let refused = try_with(&office, "bob", field, path).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ForbiddenUserError, "{path}: {refused}");
        assert!(refused.message.contains("name a folder of your own"), "{path}: {refused}");
    }
    for path in ["/alice", "/Output/train", "/Container/alice", "/shared/hers"] {
        let refused = try_with(&office, "bob", field, path).await;
        assert_eq!(code(refused), ErrorCode::ForbiddenUserError, "{path}");
    }
    for path in ["/bob", "/bob/code", "/Output/mine", "/shared/all"] {
        try_with(&office, "bob", field, path)
            .await
            .unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    // Administrators read whatever is there, but the root has more than files of users.
    try_with(&office, "admin", field, "/shared").await.unwrap();
    for path in ["/", "//./", "$PAI_DEFAULT_FS_URI/"] {
        let refused = try_with(&office, "admin", field, path).await;
        assert_eq!(code(refused), ErrorCode::ForbiddenUserError, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_common_folder_is_no_code() {
    only_what_is_ones_own("codeDir").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_common_folder_is_no_data() {
    only_what_is_ones_own("dataDir").await;
}

/// A job that waits is looked at again when its turn comes: what was its owner's may have come to
/// be another's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_ones_own_at_submission_is_looked_at_again_at_the_start() {
    let office = Office::mounted().await;
    let backend = office.backend();
    submit(backend, job("holds", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "holds", State::Running).await;
    for field in ["codeDir", "dataDir"] {
        let place = format!("/Output/{field}");
        office.write("bob", &format!("{place}/a"), "x").await.unwrap();
        let text = job(field, 1, 8, "true", &format!(r#""{field}": "{place}", "retryCount": 0,"#));
        let submission = Submission { text, cloned_from: None, expected_name: None };
        backend.jobs.submit(&actor("bob"), submission).await.unwrap();
        assert!(backend.files.remove(&admin(), &at(&place), true).await.unwrap());
        office.storage().release(&office.place(&place)).await.unwrap();
        office.write("alice", &format!("{place}/secret"), "x").await.unwrap();
    }
    backend.jobs.stop(&admin(), &key("holds")).await.unwrap();
    for field in ["codeDir", "dataDir"] {
        let ended = office.ended("bob", field).await;
        let Some(Cause::ContainerRefused { message }) = ended.summary.exit.map(|exit| exit.cause)
        else {
            panic!("{field} ran")
        };
        assert!(message.contains("belongs to alice"), "{message}");
    }
    assert_eq!(office.house.node(0).starts(), 1, "only what held the node was started");
}
