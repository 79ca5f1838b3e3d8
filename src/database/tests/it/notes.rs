use std::collections::BTreeMap;

use database::audit::{self, NewEntry};
use database::events::{self, NewEvent};
use database::images::{self, ImageRecord, ImageUpdate};
use database::jobs::JobUpdate;
use database::secrets::{self, Secret};
use database::templates::{self, Described, Template};
use database::{Error, jobs};
use protocol::ids::{JobId, TaskKey};
use protocol::image::ImageState;
use protocol::state::State;

use crate::stage::{a_job, at, on_both, user, write};

fn secret(job: JobId, name: &str, ciphertext: &[u8]) -> Secret {
    Secret { job, name: name.to_owned(), ciphertext: ciphertext.to_vec() }
}

fn event(job: Option<JobId>, millis: i64) -> NewEvent {
    NewEvent {
        job,
        at: at(millis),
        kind: "placed".to_owned(),
        message: format!("at {millis}"),
        attempt: job.map(|_| 2),
        warning: millis % 2 == 1,
        actor: job.map(|_| user("alice")),
    }
}

fn entry(millis: i64, address: Option<&str>) -> NewEntry {
    NewEntry {
        at: at(millis),
        actor: user("alice"),
        action: "terminal.opened".to_owned(),
        object: "alice~one/worker-0".to_owned(),
        detail: String::new(),
        address: address.map(str::to_owned),
    }
}

fn image(owner: &str, image: &str) -> ImageRecord {
    ImageRecord {
        id: 0,
        owner: user(owner),
        image: image.to_owned(),
        node: "node-1".parse().unwrap(),
        bytes: 0,
        job: format!("{owner}~one").parse().unwrap(),
        task: "worker-0".to_owned(),
        container: TaskKey { job: JobId(1), attempt: 0, role: 0, index: 0, retry: 0 },
        made_by: user(owner),
        created_at: at(5),
        state: ImageState::Saving,
        problem: None,
        registry: None,
        auth_file: None,
    }
}

on_both! {
    async fn the_audit_log_is_read_backwards_page_by_page(stage) {
        let all = [entry(1, None), entry(2, Some("10.0.0.9")), entry(3, None)];
        for entry in &all {
            write!(stage, |tx| audit::insert(&tx, entry));
        }
        let conn = stage.db.read();
        let first = audit::list(conn, None, 2).await?;
        let entries = |page: &[audit::Entry]| page.iter().map(|e| e.entry.clone()).collect::<Vec<_>>();
        assert_eq!(entries(&first), [all[2].clone(), all[1].clone()]);
        let found = audit::find(conn, None, 2, |entry| entry.address.is_some()).await?;
        assert_eq!(entries(&found), [all[1].clone()]);
        let of_alice = |entry: &NewEntry| entry.actor == user("alice");
        let found = audit::find(conn, Some(first[0].id), 1, of_alice).await?;
        assert_eq!(entries(&found), [all[1].clone()]);
        let rest = audit::list(conn, Some(first[1].id), 2).await?;
        assert_eq!(entries(&rest), [all[0].clone()]);
    }

    async fn a_template_is_replaced_listed_and_forgotten(stage) {
        let template = |name: &str, text: &str| Template {
            described: Described {
                name: name.parse().unwrap(),
                author: user("alice"),
                description: "d".to_owned(),
                changed_at: at(1),
            },
            text: text.to_owned(),
        };
        let all = [template("b", "one"), template("B", "two"), template("b", "three")];
        for template in &all {
            write!(stage, |tx| templates::save(&tx, template));
        }
        let conn = stage.db.read();
        let listed = templates::list(conn).await?;
        assert_eq!(listed, [all[1].described.clone(), all[2].described.clone()]);
        let name = all[0].described.name.clone();
        assert_eq!(templates::get(conn, &name).await?.as_ref(), Some(&all[2]));
        assert_eq!(templates::count(conn, &user("alice")).await?, 2);
        // Who looked whether there is one before there was one.
        let mut others = all[2].clone();
        others.described.author = user("bob");
        let tx = stage.begin().await?;
        let error = templates::save(&tx, &others).await.unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
        tx.rollback().await?;
        assert_eq!(templates::get(conn, &name).await?.as_ref(), Some(&all[2]), "it is alice's");
        assert!(write!(stage, |tx| templates::remove(&tx, &name)));
        assert!(!write!(stage, |tx| templates::remove(&tx, &name)));
        assert_eq!(templates::get(conn, &name).await?, None);
    }

    async fn an_image_goes_from_state_to_state(stage) {
        let new = image("alice", "saved/alice/torch:1");
        let id = write!(stage, |tx| images::insert(&tx, &new));
        let stored = ImageRecord { id, ..new.clone() };
        let conn = stage.db.read();
        assert_eq!(images::find(conn, &new.image).await?, Some(stored.clone()));
        assert_eq!(images::get(conn, id).await?, Some(stored.clone()));
        assert_eq!(images::under_way(conn).await?, std::slice::from_ref(&stored));
        let tx = stage.begin().await?;
        assert!(matches!(images::insert(&tx, &new).await, Err(Error::Conflict { .. })));
        tx.rollback().await?;
        let saved =
            ImageUpdate { state: ImageState::Saved, bytes: Some(7), problem: None };
        assert!(write!(stage, |tx| images::update(&tx, id, ImageState::Saving, &saved)));
        assert!(!write!(stage, |tx| images::update(&tx, id, ImageState::Saving, &saved)));
        let saved = ImageRecord { state: ImageState::Saved, bytes: 7, ..stored };
        assert_eq!(images::list(conn, Some(&user("alice"))).await?, [saved]);
        assert_eq!(images::under_way(conn).await?, []);
        let other = write!(stage, |tx| images::insert(&tx, &image("bob", "saved/bob/torch:1")));
        write!(stage, |tx| images::remove_all_of(&tx, &user("alice")));
        let states = images::list(conn, None).await?;
        let states: Vec<_> = states.into_iter().map(|image| (image.id, image.state)).collect();
        assert_eq!(states, [(other, ImageState::Saving), (id, ImageState::Removing)]);
        write!(stage, |tx| images::forget(&tx, id));
        assert_eq!(images::get(conn, id).await?, None);
    }

    async fn secrets_belong_to_their_job(stage) {
        let a = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        let b = write!(stage, |tx| jobs::insert(&tx, &a_job("b", "two")));
        let all = [secret(a, "key", &[0, 255, 7]), secret(a, "id", &[]), secret(b, "key", &[1])];
        write!(stage, |tx| secrets::insert_many(&tx, &all));
        let expected =
            BTreeMap::from([("key".to_owned(), vec![0, 255, 7]), ("id".to_owned(), vec![])]);
        assert_eq!(secrets::of_job(stage.db.read(), a).await?, expected);
        let tx = stage.begin().await?;
        let error = secrets::insert_many(&tx, &all[2..]).await.unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
        tx.rollback().await?;
        write!(stage, |tx| secrets::remove_of_user(&tx, &user("a")));
        assert!(secrets::of_job(stage.db.read(), a).await?.is_empty());
        assert_eq!(secrets::of_job(stage.db.read(), b).await?.len(), 1);
    }

    async fn events_are_read_newest_first(stage) {
        let job = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        let other = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "two")));
        let all =
            [event(Some(job), 1), event(None, 2), event(Some(other), 3), event(Some(job), 4)];
        write!(stage, |tx| events::insert_many(&tx, &all));
        let conn = stage.db.read();
        let of_job: Vec<_> =
            events::of_job(conn, job, 10).await?.into_iter().map(|found| found.event).collect();
        assert_eq!(of_job, [all[3].clone(), all[0].clone()]);
        assert_eq!(events::of_job(conn, job, 1).await?.len(), 1);
        let recent = events::recent(conn, 3).await?;
        assert!(recent.is_sorted_by(|a, b| a.id > b.id));
        let recent: Vec<_> = recent.into_iter().map(|found| found.event).collect();
        assert_eq!(recent, [all[3].clone(), all[2].clone(), all[1].clone()]);
    }

    async fn events_go_oldest_first_but_those_of_jobs_that_go_on(stage) {
        let ended = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        let runs = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "two")));
        let end = JobUpdate { completed_at: Some(at(9)), ..JobUpdate::to(State::Failed) };
        assert!(write!(stage, |tx| jobs::update(&tx, ended, State::Waiting, end)));
        let all = [(Some(ended), 3), (Some(runs), 1), (None, 2), (None, 5), (Some(ended), 7)];
        let all = all.map(|(job, millis)| event(job, millis));
        write!(stage, |tx| events::insert_many(&tx, &all));
        let mut left = Vec::new();
        for gone in [1, 1, 1, 0] {
            assert_eq!(write!(stage, |tx| events::prune(&tx, at(6), 1)), gone);
            let events = events::recent(stage.db.read(), 9).await?;
            left.push(events.iter().rev().map(|found| found.event.at.0).collect::<Vec<_>>());
        }
        assert_eq!(left, [vec![3, 1, 5, 7], vec![1, 5, 7], vec![1, 7], vec![1, 7]]);
    }

    async fn the_oldest_entries_of_the_audit_log_go(stage) {
        for millis in [1, 2, 3, 9, 4] {
            write!(stage, |tx| audit::insert(&tx, &entry(millis, None)));
        }
        let mut gone = Vec::new();
        for _sweep in 0..4 {
            gone.push(write!(stage, |tx| audit::prune(&tx, at(5), 2)));
        }
        assert_eq!(gone, [2, 1, 1, 0], "one whose clock went wrong holds up none behind it");
        let left = audit::list(stage.db.read(), None, 9).await?;
        assert_eq!(left.iter().map(|entry| entry.entry.at).collect::<Vec<_>>(), [at(9)]);
    }
}
