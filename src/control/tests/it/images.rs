//! Containers saved as images.

use std::time::Duration;

use api::images::{SaveImage, SavedImageView, TaskOfJob};
use api::jobs::Submission;
use api::users::NewUser;
use api::{Actor, Backend, ErrorCode};
use engine::simulated::Call;
use futures::StreamExt;
use protocol::image::ImageState;
use protocol::state::State;

use crate::house::{House, PATIENCE, admin, close, job, key, submit, until_state};

fn request(job: &str, name: &str, registry: &str) -> SaveImage {
    SaveImage {
        task: TaskOfJob { job: key(job), role: "worker".parse().unwrap(), index: 0 },
        name: name.to_owned(),
        tag: "1".to_owned(),
        registry: registry.to_owned(),
        auth_file: String::new(),
        address: None,
    }
}

/// Waits until nothing is being done with any image.
async fn settled(backend: &Backend) -> Vec<SavedImageView> {
    let mut changes = backend.changes.subscribe(&admin());
    let waiting = async {
        loop {
            let images = backend.images.list(&admin()).await.unwrap();
            if images.iter().all(|image| !image.state.is_under_way()) {
                return images;
            }
            changes.next().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap()
}

fn with_image(name: &str, image: &str) -> String {
    job(name, 1, 0, "exit 0", "").replace("berth/base", image)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_save_outlives_its_task_and_the_server() {
    let house = House::new(1);
    house.node(0).set_commit_time(Duration::from_secs(4));
    let control = house.start().await;
    submit(&control.backend, job("short", 1, 0, "sleep 1", "")).await;
    until_state(&control.backend, "short", State::Running).await;
    let begun = control.backend.images.save(&admin(), &request("short", "made", "")).await.unwrap();
    assert_eq!((begun.state, begun.image.as_str()), (ImageState::Saving, "saved/admin/made:1"));
    until_state(&control.backend, "short", State::Succeeded).await;
    assert_eq!(house.node(0).containers().len(), 1, "it is being saved");
    close(&control).await;
    drop(control);
    let control = house.start().await;
    let images = settled(&control.backend).await;
    assert_eq!(images[0].state, ImageState::Saved, "{images:#?}");
    assert!(images[0].bytes.is_some());
    house.node(0).until_empty().await;
    let gone = control.backend.images.save(&admin(), &request("short", "late", "")).await;
    let gone = gone.unwrap_err();
    assert_eq!(gone.code, ErrorCode::ConflictImageError, "nothing of the server's has failed");
    assert!(gone.message.contains("has no container on"), "{gone}");
    let events = control.backend.jobs.events(&admin(), &key("short")).await.unwrap();
    assert!(events.iter().any(|event| event.message.contains("saved as saved/admin/made:1")));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_pushed_leaves_nothing_on_its_node() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("runs", 1, 0, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    let save = async |name: &str, registry: &str| {
        backend.images.save(&admin(), &request("runs", name, registry)).await.map(drop)
    };
    save("pushed", "r.org/team/torch:1").await.unwrap();
    save("refused", "r.org/denied/torch:1").await.unwrap();
    let images = settled(backend).await;
    let find = |name: &str| images.iter().find(|image| image.image.contains(name)).unwrap();
    assert_eq!(find("pushed").state, ImageState::Pushed, "{images:#?}");
    assert_eq!(find("refused").state, ImageState::Failed);
    let problem = find("refused").problem.clone().unwrap();
    assert!(problem.contains("give an authFile"), "{problem}");
    assert_eq!(house.node(0).images(), Vec::<String>::new());
    // What failed gives way, what was pushed does not.
    save("refused", "").await.unwrap();
    assert_eq!(save("pushed", "").await.unwrap_err().code, ErrorCode::ConflictImageError);
    settled(backend).await;
    assert_eq!(house.node(0).images(), ["saved/admin/refused:1"]);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_registries_that_are_named_are_asked() {
    let house = House::new(1);
    let options = house.options(house.database().await);
    let registries = vec!["docker.io".to_owned(), "r.example.org".to_owned()];
    let control = control::start(control::Options { registries, ..options }).await.unwrap();
    let backend = &control.backend;
    for image in ["127.0.0.1:18499/x:1", "localhost/x", "R.example.org:5000/x", "HOST/x"] {
        let text = with_image("elsewhere", image);
        let submission = Submission { text, cloned_from: None, expected_name: None };
        let refused = backend.jobs.submit(&admin(), submission).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ForbiddenUserError, "{image}: {refused}");
        assert!(refused.message.contains("docker.io, r.example.org"), "{refused}");
    }
    submit(backend, job("hub", 1, 0, "sleep 1000", "")).await;
    submit(backend, with_image("ours", "r.example.org/x")).await;
    until_state(backend, "hub", State::Running).await;
    let push = request("hub", "first", "elsewhere.example.org/x:1");
    let refused = backend.images.save(&admin(), &push).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError, "{refused}");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_users_images_take_no_more_than_they_may() {
    let house = House::new(1);
    let options = house.options(house.database().await);
    let control =
        control::start(control::Options { images_quota: 100_000_000, ..options }).await.unwrap();
    let backend = &control.backend;
    submit(backend, job("runs", 1, 0, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    for name in ["first", "second"] {
        backend.images.save(&admin(), &request("runs", name, "")).await.unwrap();
    }
    let images = settled(backend).await;
    let saved = images.iter().filter(|image| image.state == ImageState::Saved).count();
    let refused = images.iter().find_map(|image| image.problem.clone()).unwrap();
    assert_eq!(saved, 1, "{images:#?}");
    assert!(refused.contains("of 0.1 GB already: remove some first"), "{refused}");
    assert_eq!(house.node(0).images().len(), 1);
    let first = images.iter().find(|image| image.state == ImageState::Saved).unwrap();
    backend.images.remove(&admin(), first.id).await.unwrap();
    settled(backend).await;
    backend.images.save(&admin(), &request("runs", "third", "")).await.unwrap();
    assert!(settled(backend).await.iter().any(|image| image.state == ImageState::Saved));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_that_waits_for_a_silent_node_is_not_asked_for_without_pause() {
    let house = House::new(2);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("runs", 1, 8, "sleep 1000", "")).await;
    let runs = until_state(backend, "runs", State::Running).await;
    let at = house.index_of(&runs.attempts[0].tasks[0].node);
    let (here, silent) = (house.node(at), house.node(1 - at));
    let made = backend.images.save(&admin(), &request("runs", "made", "")).await.unwrap();
    assert_eq!(settled(backend).await[0].state, ImageState::Saved);
    silent.set_unreachable(true);
    backend.images.remove(&admin(), made.id).await.unwrap();
    let mut changes = backend.changes.subscribe(&admin());
    let waits = async {
        loop {
            let images = backend.images.list(&admin()).await.unwrap();
            let said = images[0].progress.as_deref().unwrap_or_default();
            if said.contains("out of contact") {
                return;
            }
            changes.next().await;
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.unwrap();
    for name in ["one", "two", "three"] {
        submit(backend, job(name, 1, 0, "exit 0", "")).await;
        until_state(backend, name, State::Succeeded).await;
    }
    // Pauses double: in the minute that this may take there are so many tries.
    let tries = here.calls(Call::RemoveImage);
    assert!(tries <= 8, "{tries} tries");
    silent.set_unreachable(false);
    assert_eq!(settled(backend).await, []);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_inherits_the_images_of_who_had_his_name() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let bob = Actor { user: "bob".parse().unwrap(), admin: false };
    let new = || NewUser {
        name: bob.user.clone(),
        password: "another long one".into(),
        admin: false,
        temporary: false,
    };
    backend.users.create(&admin(), new()).await.unwrap();
    let text = job("bobs", 1, 0, "sleep 3", "");
    let submission = Submission { text, cloned_from: None, expected_name: None };
    let submitted = backend.jobs.submit(&bob, submission).await.unwrap();
    let mut request = request("bobs", "private", "");
    request.task.job = submitted.key;
    let mut changes = backend.changes.subscribe(&admin());
    while backend.images.size(&bob, &request.task).await.is_err() {
        changes.next().await;
    }
    backend.images.save(&bob, &request).await.unwrap();
    assert_eq!(settled(backend).await[0].image, "saved/bob/private:1");
    house.node(0).until_empty().await;
    backend.users.remove(&admin(), &bob.user).await.unwrap();
    let again = backend.users.create(&admin(), new()).await.unwrap_err();
    assert_eq!(again.code, ErrorCode::ConflictUserError);
    let submission = Submission {
        text: with_image("heir", "saved/bob/private:1"),
        cloned_from: None,
        expected_name: None,
    };
    let refused = backend.jobs.submit(&bob, submission).await.unwrap_err();
    assert!(refused.message.contains("no saved image"), "{refused}");
    assert_eq!(settled(backend).await, []);
    assert_eq!(house.node(0).images(), Vec::<String>::new());
    close(&control).await;
}
