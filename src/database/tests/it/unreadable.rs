//! Rows of another version, or damaged ones: they are named, and keep nothing else from being read.

use std::collections::BTreeSet;

use anyhow::Result;
use database::attempts;
use database::damage::{self, Damaged};
use database::jobs::{self, JobUpdate};
use database::{ConnectionTrait as _, Error, nodes, tasks};
use protocol::ids::JobId;
use protocol::jobs::JobQuery;
use protocol::spec::JobSpec;
use protocol::state::State;

use crate::stage::{Stage, a_job, a_task, at, attempt_of, exit, node, on_both, write};

async fn waiting(stage: &Stage, name: &str) -> Result<JobId> {
    Ok(write!(stage, |tx| jobs::insert(&tx, &a_job("a", name))))
}

async fn placed(stage: &Stage, name: &str, on: &str) -> Result<JobId> {
    let id = waiting(stage, name).await?;
    write!(stage, |tx| attempts::insert_many(&tx, &[attempt_of(id, 0)]));
    write!(stage, |tx| tasks::insert_many(&tx, &[a_task(id, 0, 0, on)]));
    let to = JobUpdate { attempt: Some(0), ..JobUpdate::to(State::Preparing) };
    assert!(write!(stage, |tx| jobs::update(&tx, id, State::Waiting, to)));
    Ok(id)
}

async fn ended(stage: &Stage, name: &str) -> Result<JobId> {
    let id = placed(stage, name, "n1").await?;
    let to = JobUpdate {
        completed_at: Some(at(3000)),
        exit: Some(exit(1)),
        ..JobUpdate::to(State::Failed)
    };
    assert!(write!(stage, |tx| jobs::update(&tx, id, State::Preparing, to)));
    Ok(id)
}

async fn tamper(stage: &Stage, sql: String) -> Result<()> {
    write!(stage, |tx| tx.execute_unprepared(&sql));
    Ok(())
}

fn assert_names<T>(answer: Result<T, Error>, row: &str) {
    let error = answer.err().unwrap();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().starts_with(row), "{error}");
}

on_both! {
    async fn what_cannot_be_read_of_what_has_ended_is_left_out(stage) {
        let (whole, other) = (ended(&stage, "whole").await?, ended(&stage, "other").await?);
        let to_come = r#"{"code":null,"cause":{"code":"to_come"},"evidence":[]}"#;
        tamper(&stage, format!("UPDATE jobs SET exit = '{to_come}' WHERE id = {other}")).await?;
        tamper(&stage, format!("UPDATE attempts SET exit = 'no' WHERE job = {other}")).await?;
        let conn = stage.db.read();
        assert_names(jobs::by_id(conn, other).await, &format!("row {other} of table jobs"));
        let all = JobQuery { limit: 10, ..JobQuery::default() };
        let (listed, total) = jobs::list(&stage.db, &all, at(4000)).await?;
        assert_eq!((listed.iter().map(|job| job.id).collect::<Vec<_>>(), total), (vec![whole], 2));
        let last = jobs::ended_last(conn, 10).await?;
        assert_eq!(last.iter().map(|job| job.id).collect::<Vec<_>>(), [whole]);
        let both = [whole, other];
        tamper(&stage, format!("UPDATE job_files SET spec = 'no' WHERE job = {other}")).await?;
        let images = jobs::first_images(conn, &both).await?;
        let image = jobs::by_id(conn, whole).await?.unwrap().spec.roles[0].image.clone();
        assert_eq!(images, std::collections::HashMap::from([(whole, image)]));
        let row = format!("row {other}/0 of table attempts");
        assert_names(attempts::of_jobs(conn, &both).await, &row);
        assert_eq!(attempts::readable_of_jobs(conn, &both).await?, [attempt_of(whole, 0)]);
        assert_eq!(damage::look(conn, |_, _| {}).await?, []);
    }

    async fn what_cannot_be_read_of_jobs_that_go_on_is_named(stage) {
        let fine = placed(&stage, "fine", "n1").await?;
        let waits = waiting(&stage, "waits").await?;
        let paused = placed(&stage, "paused", "n1").await?;
        let holds = placed(&stage, "holds", "n2").await?;
        let lost = waiting(&stage, "lost").await?;
        for change in [
            format!("UPDATE jobs SET avoid = 'x' WHERE id = {waits}"),
            format!("UPDATE jobs SET state = 'PAUSED' WHERE id = {paused}"),
            format!("UPDATE tasks SET ports = 'x' WHERE job = {holds}"),
            format!("DELETE FROM job_files WHERE job = {lost}"),
        ] {
            tamper(&stage, change).await?;
        }
        let conn = stage.db.read();
        let mut learned = Vec::new();
        let damaged = damage::look(conn, |job, _| learned.push(job.id)).await?;
        let said = |Damaged { job, rows, nodes }: &Damaged| {
            let rows: Vec<_> = rows.iter().map(|unreadable| unreadable.row.clone()).collect();
            (*job, rows.join(", "), nodes.iter().cloned().collect::<Vec<_>>())
        };
        let expected = [
            (waits, format!("row {waits} of table jobs"), vec![]),
            (paused, format!("row {paused} of table jobs"), vec![node("n1")]),
            (holds, format!("row {holds}/0/0/0/0 of table tasks"), vec![node("n2")]),
            (lost, format!("job {lost}"), vec![]),
        ];
        assert_eq!(damaged.iter().map(said).collect::<Vec<_>>(), expected);
        learned.sort_unstable();
        assert_eq!(learned, [fine, holds], "what of their rows and specs can be read");
        let others: BTreeSet<JobId> = damaged.iter().map(|damaged| damaged.job).collect();
        assert_names(jobs::active(conn).await, &format!("row {waits} of table jobs"));
        let active = jobs::active_but(conn, &others).await?;
        assert_eq!(active.iter().map(|job| job.id).collect::<Vec<_>>(), [fine]);
        let active = jobs::placed_but(conn, &others).await?;
        assert_eq!(active.iter().map(|job| job.id).collect::<Vec<_>>(), [fine]);
        assert_names(tasks::active(conn).await, &format!("row {holds}/0/0/0/0 of table tasks"));
        assert_eq!(tasks::active_but(conn, &others).await?, [a_task(fine, 0, 0, "n1")]);
    }

    async fn each_of_very_many_jobs_is_read_once(stage) {
        // Some came in the same moment, and more of them than a statement reads.
        let news: Vec<_> = (0..600).map(|number| a_job("a", &format!("j{number}"))).collect();
        let stored = write!(stage, |tx| jobs::insert_many(&tx, &news));
        let mut stored = stored.into_iter().collect::<Result<Vec<JobId>, Error>>()?;
        stored.push(placed(&stage, "placed", "n1").await?);
        let mut learned = Vec::new();
        let learn = |row: jobs::JobRow, spec: JobSpec| {
            assert_eq!(row.key.name, spec.name, "each with its own spec");
            learned.push(row.id);
        };
        assert_eq!(damage::look(stage.db.read(), learn).await?, []);
        learned.sort_unstable();
        assert_eq!(learned, stored);
    }

    async fn a_node_is_left_out_for_its_settings_alone(stage) {
        let row = "INSERT INTO nodes (name, settings, from_file, draining, emptied, reachable, \
            capacity) VALUES";
        let settings = r#"{"name":"n1","address":"10.0.0.1","endpoint":"sim://"}"#;
        let seen = format!("{row} ('n1', '{settings}', FALSE, TRUE, FALSE, TRUE, 'x')");
        tamper(&stage, seen).await?;
        tamper(&stage, format!("{row} ('n2', 'x', FALSE, FALSE, FALSE, NULL, NULL)")).await?;
        let found = nodes::list(stage.db.read()).await?;
        let found: Vec<_> = found.into_iter().map(|node| (node.settings.name, node.draining, node.observed)).collect();
        assert_eq!(found, [(node("n1"), true, None)]);
    }
}
