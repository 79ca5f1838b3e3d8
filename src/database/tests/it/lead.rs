//! Several servers of one PostgreSQL, of which one leads.

use std::time::Duration;

use anyhow::Result;
use database::lead::{self, Candidate, FencingToken, Lead, Leader, Named, Turn};
use database::{ConnectionTrait as _, Database, Error, Limits, settings};
use sea_orm::{DbBackend, Statement};

use crate::stage::{Way, new_database};

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at what is waited for.
const LOOK: Duration = Duration::from_millis(50);

fn candidate(url: &str, name: &str) -> Result<Candidate> {
    let server = Named { name: name.to_owned(), address: Some(format!("{name}:8081")) };
    Ok(Candidate::new(url, server)?)
}

/// Asks until it leads.
async fn leads(candidate: &mut Candidate) -> Result<Lead> {
    let leads = async {
        loop {
            if let Ok(Turn::Leads(lead)) = candidate.stand().await {
                return lead;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    Ok(tokio::time::timeout(PATIENCE, leads).await?)
}

async fn follows(candidate: &mut Candidate) -> Result<Option<Leader>> {
    match candidate.stand().await? {
        Turn::Leads(lead) => anyhow::bail!("it leads: {lead:?}"),
        Turn::Follows(leader) => Ok(leader),
    }
}

async fn acts(lead: &Lead) -> Result<()> {
    Ok(tokio::time::timeout(PATIENCE, lead.fencing_token().acting()).await?)
}

fn term(lead: &Lead) -> i64 {
    lead.fencing_token().leader().unwrap().term
}

async fn open(url: &str, fencing_token: &FencingToken) -> Result<Database> {
    let moment = Duration::from_secs(5);
    let limits = Limits { connection: moment, answer: moment, ..Limits::default() };
    Ok(Database::open_by(url, limits, fencing_token.clone()).await?)
}

async fn store(db: &Database, name: &str) -> database::Result<()> {
    let tx = db.begin().await?;
    settings::set(&tx, name, "1").await?;
    tx.commit().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_server_leads_and_another_takes_over_when_that_is_gone() -> Result<()> {
    let url = new_database().await?;
    let (mut one, mut other) = (candidate(&url, "one")?, candidate(&url, "other")?);
    let first = leads(&mut one).await?;
    acts(&first).await?;
    assert_eq!(follows(&mut other).await?.as_ref(), first.fencing_token().leader());
    // It does not say whether anything has ended.
    let before = first.fencing_token().clone();
    drop(first);
    let second = leads(&mut other).await?;
    assert_eq!(term(&second), before.leader().unwrap().term + 1);
    acts(&second).await?;
    tokio::time::timeout(PATIENCE, before.lost()).await?;
    assert!(!before.acts());
    second.give_back(true).await;
    let third = leads(&mut one).await?;
    acts(&third).await?;
    assert_eq!(follows(&mut other).await?.unwrap().server.address.unwrap(), "one:8081");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_follow_or_have_led_are_heard_of() -> Result<()> {
    let url = new_database().await?;
    let (mut one, mut other) = (candidate(&url, "one")?, candidate(&url, "other")?);
    let first = leads(&mut one).await?;
    let db = Database::open(&url).await?;
    let names = async || {
        let heard = lead::heard(db.read()).await?.into_iter();
        anyhow::Ok(heard.map(|heard| heard.server.name).collect::<Vec<_>>())
    };
    assert_eq!(names().await?, ["one"]);
    follows(&mut other).await?;
    assert_eq!(names().await?, ["one", "other"]);
    first.give_back(true).await;
    let second = leads(&mut other).await?;
    let age = "UPDATE servers SET seen = seen - INTERVAL '1 hour' WHERE name = 'one'";
    db.read().execute_unprepared(age).await?;
    let heard = lead::heard(db.read()).await?;
    let hour = Duration::from_secs(3_600);
    assert!(heard[0].ago >= hour && heard[1].ago < hour, "{heard:?}");
    assert_eq!(heard[1].server.address.as_deref(), Some("other:8081"));
    second.give_back(true).await;
    let forget = "UPDATE servers SET seen = seen - INTERVAL '31 days' WHERE name = 'one'";
    db.read().execute_unprepared(forget).await?;
    let _third = leads(&mut other).await?;
    assert_eq!(names().await?, ["other"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_cut_off_is_followed_and_refused() -> Result<()> {
    let url = new_database().await?;
    let way = Way::to(&url).await?;
    let (mut one, mut other) = (candidate(&way.url, "one")?, candidate(&url, "other")?);
    let first = leads(&mut one).await?;
    let stale = open(&way.url, first.fencing_token()).await?;
    store(&stale, "before").await?;
    // It is cut off in the midst of something, which holds nobody up.
    let begun = stale.begin().await?;
    settings::set(&begun, "amid", "1").await?;
    way.stuck.send(true)?;
    let second = leads(&mut other).await?;
    assert!(!first.fencing_token().acts(), "it has ceased before it could know");
    let db = open(&url, second.fencing_token()).await?;
    store(&db, "after").await?;
    way.stuck.send(false)?;
    assert!(begun.commit().await.is_err(), "what it had begun is not stored");
    tokio::time::timeout(PATIENCE, first.fencing_token().lost()).await?;
    let refused = async {
        loop {
            let error = store(&stale, "stale").await.expect_err("it leads no more");
            assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
            if error.to_string().contains("another server leads") {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, refused).await?;
    for (name, stored) in [("before", true), ("amid", false), ("after", true), ("stale", false)] {
        assert_eq!(settings::get(db.read(), name).await?.is_some(), stored, "{name}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_goes_on_after_its_session_broke_off_if_nobody_has_led_since() -> Result<()> {
    let url = new_database().await?;
    let lead = leads(&mut candidate(&url, "one")?).await?;
    let db = open(&url, lead.fencing_token()).await?;
    let admin = Database::open(&url).await?;
    let session = holder(&admin).await?.unwrap();
    let end = format!("SELECT pg_terminate_backend({session})");
    admin.read().execute_unprepared(&end).await?;
    let again = async {
        while holder(&admin).await?.is_none_or(|holder| holder == session) {
            tokio::time::sleep(LOOK).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, again).await??;
    acts(&lead).await?;
    store(&db, "still").await?;
    let mut other = candidate(&url, "other")?;
    assert_eq!(follows(&mut other).await?.as_ref(), lead.fencing_token().leader());
    Ok(())
}

/// The session that has the lead.
async fn holder(db: &Database) -> Result<Option<i32>> {
    let sql = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = 4919 \
        AND objid = 1 AND granted \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let row = db.read().query_one_raw(Statement::from_string(DbBackend::Postgres, sql)).await?;
    Ok(row.map(|row| row.try_get_by_index(0)).transpose()?)
}

#[tokio::test]
async fn the_server_of_a_file_leads() -> Result<()> {
    let mut only = candidate("sqlite:///nowhere/berth.db", "only")?;
    let lead = leads(&mut only).await?;
    assert!(lead.fencing_token().acts() && lead.fencing_token().leader().is_none());
    acts(&lead).await?;
    lead.give_back(true).await;
    Ok(())
}
