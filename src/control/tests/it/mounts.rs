//! What nodes that have the storage are told to mount.

use std::os::unix::fs::symlink;

use api::ErrorCode;
use api::jobs::Submission;
use engine::Folder;
use protocol::exit::Cause;
use protocol::ids::UserName;
use protocol::state::State;

use crate::files::{MOUNT, Office, actor, at, code};
use crate::house::{admin, job, key, submit, until_state};

fn folder(place: &str, target: &str, read_only: bool) -> Folder {
    Folder { source: format!("{MOUNT}{place}"), target: target.to_owned(), read_only }
}

impl Office {
    async fn submit(&self, who: &str, name: &str, more: &str) -> Result<(), api::Error> {
        let text = job(name, 1, 0, "sleep 1000", &format!(r#"{more} "retryCount": 0,"#));
        let submission = Submission { text, cloned_from: None, expected_name: None };
        self.backend().jobs.submit(&actor(who), submission).await.map(drop)
    }

    /// The folders of a running job's only task, and what it is told of them.
    async fn given(&self, who: &str, name: &str) -> (Vec<Folder>, Vec<(String, String)>) {
        self.until(who, name, |state| state == State::Running).await;
        let label = ("berth.name".to_owned(), name.to_owned());
        let mut all = self.house.node(0).given().into_iter();
        let given = all.find(|given| given.labels.get(&label.0) == Some(&label.1)).unwrap();
        let told = given.env.into_iter().filter(|(name, _)| {
            ["BERTH_HOME", "BERTH_OUTPUT", "BERTH_DATA", "BERTH_CHECKPOINTS"]
                .contains(&name.as_str())
        });
        (given.folders, told.collect())
    }
}

/// Only tops: what has one owner, whose name neither he nor his tasks can change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_nobody_renames_is_mounted() {
    let office = Office::mounted().await;
    for (who, path) in [
        ("admin", "/shared/all/deep/set"),
        ("alice", "/alice/data/set"),
        ("alice", "/Output/alice/sets/set"),
        ("alice", "/path/claimed/sets/set"),
    ] {
        office.write(who, path, "x").await.unwrap();
    }
    let home = || folder("/alice", "/berth/home", false);
    for (name, more, folders, output, data) in [
        (
            "by-default",
            "",
            vec![folder("/Output/by-default", "/berth/output", false)],
            "/berth/output",
            None,
        ),
        ("in-home", r#""outputDir": "/alice/deep/out","#, vec![], "/berth/home/deep/out", None),
        ("is-home", r#""outputDir": "/alice","#, vec![], "/berth/home", None),
        (
            "named",
            r#""outputDir": "$PAI_DEFAULT_FS_URI/Output/alice/named","#,
            vec![folder("/Output/alice", "/berth/of-output", false)],
            "/berth/of-output/named",
            None,
        ),
        (
            "as-documented",
            r#""outputDir": "$PAI_DEFAULT_FS_URI/path/guid/output","#,
            vec![folder("/path/guid", "/berth/of-output", false)],
            "/berth/of-output/output",
            None,
        ),
        (
            "data-in-home",
            r#""outputDir": "/alice/out", "dataDir": "/alice/data","#,
            vec![folder("/alice", "/berth/of-data", true)],
            "/berth/home/out",
            Some("/berth/of-data/data"),
        ),
        (
            "data-of-all",
            r#""outputDir": "/alice/out", "dataDir": "/shared/all","#,
            vec![folder("/shared/all", "/berth/data", true)],
            "/berth/home/out",
            Some("/berth/data"),
        ),
        (
            "deep-data-of-all",
            r#""outputDir": "/alice/out", "dataDir": "/shared/all/deep/set","#,
            vec![folder("/shared/all", "/berth/of-data", true)],
            "/berth/home/out",
            Some("/berth/of-data/deep/set"),
        ),
        (
            "data-beside-output",
            r#""outputDir": "/path/claimed/out", "dataDir": "/path/claimed/sets","#,
            vec![
                folder("/path/claimed", "/berth/of-output", false),
                folder("/path/claimed", "/berth/of-data", true),
            ],
            "/berth/of-output/out",
            Some("/berth/of-data/sets"),
        ),
    ] {
        office.submit("alice", name, more).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        let (given, told) = office.given("alice", name).await;
        assert_eq!(given, [vec![home()], folders].concat(), "{name}");
        let mut expected = vec![("HOME", "/berth/home"), ("OUTPUT", output)];
        expected.extend(data.map(|data| ("DATA", data)));
        let mut expected: Vec<_> = expected
            .into_iter()
            .map(|(name, place)| (format!("BERTH_{name}"), place.to_owned()))
            .collect();
        expected.sort();
        assert_eq!(told, expected, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_shared_is_nobodys_output() {
    let office = Office::mounted().await;
    office.write("admin", "/shared/all/set", "x").await.unwrap();
    for path in ["/", "/Output", "/shared", "/path"] {
        for who in ["bob", "admin"] {
            let more = format!(r#""outputDir": "{path}","#);
            let refused = office.submit(who, "shared", &more).await;
            assert_eq!(code(refused), ErrorCode::ForbiddenUserError, "{who} {path}");
        }
    }
}

/// One folder for all attempts of a job, as long as there is the job.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_for_a_grace_has_a_folder_for_checkpoints_until_the_job_is_deleted() {
    let office = Office::mounted().await;
    let more = r#""outputDir": "/alice/out", "extras": {"berth": {"grace": {"seconds": 60}}},"#;
    office.submit("alice", "saves", more).await.unwrap();
    let (_, told) = office.given("alice", "saves").await;
    let place = told.iter().find(|(name, _)| name == "BERTH_CHECKPOINTS").map(|(_, place)| place);
    let below = place.and_then(|place| place.strip_prefix("/berth/home/")).unwrap();
    let folder = office.house.path().join("storage/alice").join(below);
    assert!(folder.is_dir(), "{}", folder.display());
    let (alice, key) = (actor("alice"), office.key("alice", "saves"));
    office.backend().jobs.stop(&alice, &key).await.unwrap();
    office.ended("alice", "saves").await;
    assert!(folder.is_dir(), "it is there as long as the job");
    office.backend().jobs.delete(&alice, &key).await.unwrap();
    assert!(!folder.exists());
}

/// The folder that a job had because it named none, to which nothing was written; but for tasks of others that may have it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_folder_for_output_goes_with_its_job() {
    let office = Office::mounted().await;
    let alice = actor("alice");
    for (name, more) in [
        ("empty", ""),
        ("written", ""),
        ("lent", ""),
        ("borrows", r#""outputDir": "$PAI_DEFAULT_FS_URI/Output/lent","#),
        ("named", r#""outputDir": "/alice/named","#),
    ] {
        office.submit("alice", name, more).await.unwrap();
        office.given("alice", name).await;
    }
    office.write("alice", "/Output/written/model", "x").await.unwrap();
    // Her own, and not that of the job of this name.
    office.write("alice", "/Output/named/x", "x").await.unwrap();
    office.backend().files.remove(&alice, &at("/Output/named/x"), false).await.unwrap();
    let storage = office.house.path().join("storage");
    for name in ["empty", "written", "lent", "named"] {
        let key = office.key("alice", name);
        office.backend().jobs.stop(&alice, &key).await.unwrap();
        office.ended("alice", name).await;
        office.backend().jobs.delete(&alice, &key).await.unwrap();
    }
    let there = |place: &str| storage.join(place).exists();
    assert!(!there("Output/empty"));
    assert!(there("Output/written/model") && there("Output/lent") && there("alice/named"));
    assert!(there("Output/named"));
    let owner = async |place: &str| {
        let place = office.place(place);
        office.storage().owner(&place).await.unwrap().map(|owner| owner.to_string())
    };
    assert_eq!(owner("/Output/empty").await, None, "its name is anybody's");
    assert_eq!(owner("/Output/lent").await.as_deref(), Some("alice"));
    office.write("bob", "/Output/empty/x", "x").await.unwrap();
}

/// Of those that are submitted at the same time under one name one is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_is_refused_leaves_no_folder_behind() {
    let office = Office::mounted().await;
    let storage = office.house.path().join("storage");
    let places: Vec<String> = (0..16).map(|number| format!("/path/guid-{number}/out")).collect();
    let submit = |place: &String| {
        let more = format!(r#""outputDir": "$PAI_DEFAULT_FS_URI{place}","#);
        let office = &office;
        async move { office.submit("alice", "once", &more).await }
    };
    let submitted = futures::future::join_all(places.iter().map(submit)).await;
    let stored = submitted.iter().filter(|submitted| submitted.is_ok()).count();
    assert_eq!(stored, 1, "{submitted:?}");
    for (place, submitted) in places.iter().zip(submitted) {
        let folder = place.trim_start_matches('/');
        assert_eq!(storage.join(folder).exists(), submitted.is_ok(), "{place}");
        let top = office.place(place.trim_end_matches("/out"));
        let owner = office.storage().owner(&top).await.unwrap();
        assert_eq!(owner.is_some(), submitted.is_ok(), "{place}: its name is anybody's");
    }
}

/// Those that are refused take back what they made, and not what the others have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_that_are_submitted_at_once_keep_the_folder_that_they_have_in_common() {
    let office = Office::mounted().await;
    for round in 0..8 {
        let more = format!(r#""outputDir": "$PAI_DEFAULT_FS_URI/path/guid-{round}/out","#);
        let submit = |number: usize| {
            let (office, more) = (&office, &more);
            async move { office.submit("alice", &format!("r{round}-{}", number / 2), more).await }
        };
        let submitted = futures::future::join_all((0..8).map(submit)).await;
        assert_eq!(submitted.iter().filter(|submitted| submitted.is_ok()).count(), 4);
        let folder = office.house.path().join(format!("storage/path/guid-{round}/out"));
        assert!(folder.is_dir(), "{round}");
        let top = office.place(&format!("/path/guid-{round}"));
        let owner = office.storage().owner(&top).await.unwrap();
        assert_eq!(owner.as_ref().map(UserName::as_str), Some("alice"), "{round}");
    }
}

/// Tasks make links; a job that finds one where its folder was is not started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_in_the_place_of_a_folder_starts_no_task() {
    let office = Office::mounted().await;
    let outside = tempfile::tempdir().unwrap();
    let storage = office.house.path().join("storage");
    office.write("alice", "/alice/data/set", "x").await.unwrap();
    symlink(outside.path(), storage.join("alice/link")).unwrap();
    for field in ["outputDir", "dataDir", "codeDir"] {
        for path in ["/alice/link", "/alice/link/deeper"] {
            let more = format!(r#""{field}": "{path}","#);
            let refused = office.submit("alice", "linked", &more).await;
            assert_eq!(code(refused), ErrorCode::InvalidParametersError, "{field} {path}");
        }
    }
    submit(office.backend(), job("holds", 1, 8, "sleep 1000", "")).await;
    until_state(office.backend(), "holds", State::Running).await;
    let cases = [
        ("output", r#""outputDir": "/alice/out","#, "alice/out"),
        ("data", r#""dataDir": "/alice/data","#, "alice/data"),
        ("top", "", "Output/top"),
    ];
    for (name, more, place) in cases {
        let text = job(name, 1, 8, "true", &format!(r#"{more} "retryCount": 0,"#));
        let submission = Submission { text, cloned_from: None, expected_name: None };
        office.backend().jobs.submit(&actor("alice"), submission).await.unwrap();
        std::fs::remove_dir_all(storage.join(place)).unwrap();
        symlink(outside.path(), storage.join(place)).unwrap();
    }
    office.backend().jobs.stop(&admin(), &key("holds")).await.unwrap();
    for (name, ..) in cases {
        let exit = office.ended("alice", name).await.summary.exit.unwrap();
        assert!(matches!(exit.cause, Cause::ContainerRefused { .. }), "{name}: {exit:?}");
    }
    assert_eq!(office.house.node(0).starts(), 1, "only what held the node was started");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

/// While a task of hers may be about to get the folder, its name is nobody else's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_a_job_may_be_given_is_not_given_up() {
    let office = Office::mounted().await;
    let files = &office.backend().files;
    office.submit("alice", "train", "").await.unwrap();
    office.given("alice", "train").await;
    assert!(files.remove(&actor("alice"), &at("/Output/train"), true).await.unwrap());
    let taken = office.write("bob", "/Output/train/x", "x").await;
    assert_eq!(code(taken), ErrorCode::ForbiddenUserError);
    office.write("alice", "/Output/train/x", "x").await.unwrap();
    office.backend().jobs.stop(&actor("alice"), &office.key("alice", "train")).await.unwrap();
    office.ended("alice", "train").await;
    assert!(files.remove(&actor("alice"), &at("/Output/train"), true).await.unwrap());
    office.write("bob", "/Output/train/x", "x").await.unwrap();
}

/// Nothing is left of what is refused, either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_is_taken_whatever_became_of_its_folder() {
    let office = Office::mounted().await;
    let alice = actor("alice");
    // A user's first folder is made in another way than all others.
    for name in ["first", "train"] {
        office.submit("alice", name, "").await.unwrap();
        office.given("alice", name).await;
    }
    // While a job of hers goes on, no place of hers is given up.
    for name in ["first", "train"] {
        office.backend().jobs.stop(&alice, &office.key("alice", name)).await.unwrap();
        office.ended("alice", name).await;
    }
    assert!(office.backend().files.remove(&alice, &at("/Output/train"), true).await.unwrap());
    for more in ["", r#""virtualCluster": "nowhere","#] {
        let refused = office.submit("alice", "train", more).await;
        assert_eq!(code(refused), ErrorCode::ConflictJobError, "{more}");
    }
    assert!(!office.house.path().join("storage/Output/train").exists());
    let owner = office.storage().owner(&office.place("/Output/train")).await.unwrap();
    assert_eq!(owner, None, "its place is anybody's");
}
