//! Images that only some may pull, on a node that has them already.

use api::jobs::{JobDetail, Submission};
use api::users::NewUser;
use api::{Actor, Backend};
use futures::StreamExt;
use protocol::exit::Cause;
use protocol::ids::JobKey;
use protocol::state::State;

use crate::house::{House, PATIENCE, admin, close, job};

const IMAGE: &str = "r.org:5000/private/model:1";
/// The same image by its digest.
const DIGEST: &str = "r.org:5000/private/model@sha256:\
                      0123456789012345678901234567890123456789012345678901234567890123";

fn user(name: &str) -> Actor {
    Actor { user: name.parse().unwrap(), admin: false }
}

async fn add(backend: &Backend, house: &House, name: &str) -> Actor {
    let actor = user(name);
    let new = NewUser {
        name: actor.user.clone(),
        password: "another long one".into(),
        admin: false,
        temporary: false,
    };
    backend.users.create(&admin(), new).await.unwrap();
    passwords(house, name);
    actor
}

/// Files with the right credentials and with wrong ones.
fn passwords(house: &House, name: &str) {
    let folder = house.path().join("storage").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, password) in [("right", "open sesame"), ("wrong", "open")] {
        std::fs::write(folder.join(file), format!("r.org:5000\n{name}\n{password}\n")).unwrap();
    }
}

/// Runs a job of an image with one of those files, or without.
async fn run(backend: &Backend, actor: &Actor, name: &str, image: &str, file: &str) -> JobDetail {
    let path = format!(r#""authFile": "$PAI_DEFAULT_FS_URI/{}/{file}","#, actor.user);
    let more = if file.is_empty() { String::new() } else { path };
    let text = job(name, 1, 0, "exit 0", &more).replace("berth/base", image);
    let submission = Submission { text, cloned_from: None, expected_name: None };
    backend.jobs.submit(actor, submission).await.unwrap();
    let key = JobKey { user: actor.user.clone(), name: name.parse().unwrap() };
    let mut changes = backend.changes.subscribe(&admin());
    let ended = async {
        loop {
            let detail = backend.jobs.get(&admin(), &key).await.unwrap();
            if detail.summary.state.is_final() {
                return detail;
            }
            changes.next().await;
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap()
}

fn assert_denied(detail: &JobDetail) {
    let cause = detail.summary.exit.as_ref().map(|exit| &exit.cause);
    assert!(matches!(cause, Some(Cause::RegistryDenied { .. })), "{detail:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_pulled_with_credentials_runs_for_who_has_some() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let (alice, bob) = (add(backend, &house, "alice").await, add(backend, &house, "bob").await);
    assert_denied(&run(backend, &bob, "before", IMAGE, "").await);
    let pulled = run(backend, &alice, "pulls", IMAGE, "right").await;
    assert_eq!(pulled.summary.state, State::Succeeded);
    for (name, image, file) in [
        ("same", IMAGE, ""),
        ("spelt", "R.ORG:5000/private/model:1", ""),
        ("digest", DIGEST, ""),
        ("wrong", IMAGE, "wrong"),
    ] {
        let starts = house.node(0).starts();
        assert_denied(&run(backend, &bob, name, image, file).await);
        assert_eq!(house.node(0).starts(), starts, "{name} was started");
    }
    // What was there before is everybody's, and so is what wants no credentials.
    let plain = run(backend, &bob, "plain", "r.org:5000/team/plain:1", "").await;
    assert_eq!(plain.summary.state, State::Succeeded);
    let own = run(backend, &bob, "own", IMAGE, "right").await;
    assert_eq!(own.summary.state, State::Succeeded);
    close(&control).await;
    drop(control);
    // The next server knows it as well.
    let control = house.start().await;
    let backend = &control.backend;
    let carol = add(backend, &house, "carol").await;
    assert_denied(&run(backend, &carol, "late", DIGEST, "").await);
    let known = run(backend, &bob, "again", IMAGE, "").await;
    assert_eq!(known.summary.state, State::Succeeded, "he has shown it today");
    house.node(0).until_empty().await;
    close(&control).await;
}
