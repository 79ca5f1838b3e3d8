//! Sends what lies in the outbox: what is due of one user in one mail, and in one call of his webhook. What
//! was sent is taken out afterwards: after a crash in between it is sent once more, a while later, and nothing
//! is lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use database::notifications::{Entry, Way};
use futures::StreamExt;
use post::Call;
use protocol::ids::UserName;
use protocol::jobs::{JobOrder, JobQuery};
use protocol::notifications::{Notice, Occasion};
use protocol::state::State;
use protocol::time::{Moment, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::known::outbound::Outbound;
use crate::known::passes::{Passes, Rhythm};
use crate::known::posted::next_hour;
use crate::records::store::Store;
use crate::records::{letters, notices};
use crate::shared::Shared;
use crate::wake::now;

/// It is looked for so often at least,
const EVERY: Duration = Duration::from_secs(5);
/// and no more often than that.
const LEAST: Duration = Duration::from_millis(50);
/// So much is read at once.
const READ: u64 = 1_000;
/// So many mails are under way at the same time,
const MAILS: usize = 8;
/// and so many calls: of a user one, which may be as slow as he likes.
const CALLS: usize = 64;
/// The first pause after a try that failed, or of which nobody knows what came, which doubles,
const PAUSE: i64 = 60_000;
/// and the longest one.
const LONGEST_PAUSE: i64 = 3_600_000;
/// So many waiting jobs are looked at in a pass, those that have waited longest first.
const WAITING: usize = 1_000;
/// The setting that says which jobs have been told of that waited too long: those that began before.
const TOLD: &str = "told of waiting";

/// People are told a little later without it.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(3_600));

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let pause = EVERY.min(shared.outbound.notifying.gathered_for).max(LEAST);
    // Mail waits for nobody's webhook.
    tokio::join!(
        passes.repeat(pause, &shutdown, || pass(&shared, Way::Mail)),
        passes.repeat(pause, &shutdown, || pass(&shared, Way::Webhook)),
    );
}

async fn pass(shared: &Shared, way: Way) -> bool {
    let noted = match way {
        Way::Mail => note_waiting(&shared.store, &shared.outbound).await,
        Way::Webhook => Ok(()),
    };
    let mut well = true;
    for done in [noted, send_due(shared, way).await] {
        if let Err(error) = done {
            well = false;
            tracing::warn!(%error, "who is to be told is told later");
        }
    }
    well
}

/// Puts into the outbox that jobs have waited too long, once for each of them.
async fn note_waiting(store: &Store, outbound: &Outbound) -> Result<(), database::Error> {
    if !outbound.posted.anybody_wants(Occasion::Waiting) {
        return Ok(());
    }
    let at = now();
    let until = at.plus_millis(-millis(outbound.notifying.patience));
    let told = database::settings::get(store.database.read(), TOLD).await?;
    let Some(told) = told.and_then(|told| told.parse::<i64>().ok()).map(Timestamp) else {
        // The first time: those that wait already are no news.
        let since = until.to_string();
        return store.write(async |t| database::settings::set(t, TOLD, &since).await).await;
    };
    let query = JobQuery {
        states: vec![State::Waiting],
        order: JobOrder::Submitted,
        ascending: true,
        since: Some(Moment::At(told)),
        until: Some(Moment::At(until)),
        limit: WAITING as u64,
        ..JobQuery::default()
    };
    let (rows, _) = database::jobs::list(&store.database, &query, at).await?;
    let read: Vec<Timestamp> = rows.iter().map(|row| row.submitted_at).collect();
    let Some(until) = reached(&read, told, until) else { return Ok(()) };
    let long = rows.iter().filter(|row| row.attempt.is_none());
    let long = long.filter(|row| row.submitted_at > told && row.submitted_at <= until);
    let entries: Vec<_> = long
        .flat_map(|row| {
            let told = (Occasion::Waiting, "it has waited too long".to_owned());
            notices::of_job(outbound, (&row.key, None), told, at)
        })
        .collect();
    // Also where nobody is told: what was looked at is not in the way of what comes after it.
    let since = until.to_string();
    let write = async |t: &database::Transaction| {
        database::notifications::put(t, &entries).await?;
        database::settings::set(t, TOLD, &since).await
    };
    store.write(write).await
}

/// Up to when nobody is left to be told of, after these were read; nothing: there are none.
fn reached(read: &[Timestamp], told: Timestamp, until: Timestamp) -> Option<Timestamp> {
    let last = *read.last()?;
    if read.len() < WAITING {
        return Some(until);
    }
    // More may have been submitted in the moment of the last one.
    let before = last.plus_millis(-1);
    Some(if before > told { before } else { last })
}

/// What became of what is due of one user in one way.
struct Outcome {
    user: UserName,
    entries: Vec<Entry>,
    sent: Result<(), post::Error>,
}

async fn send_due(shared: &Shared, way: Way) -> Result<(), database::Error> {
    let at_once = match way {
        Way::Mail => MAILS,
        Way::Webhook => CALLS,
    };
    loop {
        let at = now();
        let due = database::notifications::due(shared.store.database.read(), way, at, READ).await?;
        if due.is_empty() {
            return Ok(());
        }
        let mut bundles = BTreeMap::<UserName, Vec<Entry>>::new();
        for entry in due {
            bundles.entry(entry.new.user.clone()).or_default().push(entry);
        }
        let mut sending = Vec::new();
        for (user, entries) in bundles {
            if shared.outbound.posted.may(&user, at, shared.outbound.notifying.hourly) {
                // Said before it is done: while nothing can be stored, nothing is sent again and again.
                put_off(&shared.store, &entries, at.plus_millis(PAUSE), tries(&entries)).await?;
                sending.push(send(shared, user, way, entries));
            } else {
                let error = post::Error::Unavailable("so much was sent in this hour".to_owned());
                let young =
                    give_up(&shared.store, &shared.outbound, &user, entries, (&error, at)).await?;
                put_off(&shared.store, &young, next_hour(at), tries(&young)).await?;
            }
        }
        let mut sent = futures::stream::iter(sending).buffer_unordered(at_once);
        while let Some(outcome) = sent.next().await {
            settle(&shared.store, &shared.outbound, outcome?).await?;
        }
    }
}

async fn send(
    shared: &Shared,
    user: UserName,
    way: Way,
    entries: Vec<Entry>,
) -> Result<Outcome, database::Error> {
    let wishes = shared.outbound.posted.wishes(&user);
    let portal = shared.outbound.notifying.portal.as_deref();
    let nowhere = |why: &str| Err(post::Error::Refused(why.to_owned()));
    let sent = match way {
        Way::Mail => match notices::address(&shared.store, &user).await? {
            Some(to) => {
                let told: Vec<&Notice> = entries.iter().map(|entry| &entry.new.notice).collect();
                let letter = letters::letter(wishes.language, to, &told, portal);
                shared.outbound.notifying.post.mail(&letter).await
            }
            None => nowhere("the account has no mail address"),
        },
        Way::Webhook => match wishes.webhook {
            Some(url) => {
                let key = notices::signing_key(&shared.seal, &user, &url);
                let body = letters::body(&entries, portal).to_string();
                shared.outbound.notifying.post.call(&Call { url, body, key }).await
            }
            None => nowhere("there is no webhook any more"),
        },
    };
    Ok(Outcome { user, entries, sent })
}

/// Takes it out of the outbox, or has it tried again.
async fn settle(
    store: &Store,
    outbound: &Outbound,
    outcome: Outcome,
) -> Result<(), database::Error> {
    let Outcome { user, entries, sent } = outcome;
    let error = match sent {
        Ok(()) => {
            remove(store, &entries).await?;
            outbound.posted.note_sent();
            return Ok(());
        }
        Err(error) => error,
    };
    let at = now();
    let young = give_up(store, outbound, &user, entries, (&error, at)).await?;
    let tries = tries(&young).saturating_add(1);
    put_off(store, &young, at.plus_millis(pause(tries)), tries).await?;
    outbound.posted.note_failed();
    Ok(())
}

/// Gives up what was kept for long enough, or all of it where it will not be taken later either. What is
/// left may be tried again.
async fn give_up(
    store: &Store,
    outbound: &Outbound,
    user: &UserName,
    entries: Vec<Entry>,
    (error, at): (&post::Error, Timestamp),
) -> Result<Vec<Entry>, database::Error> {
    let last = at.plus_millis(-millis(outbound.notifying.kept_for));
    let for_good = !matches!(error, post::Error::Unavailable(_));
    let (old, young): (Vec<Entry>, Vec<Entry>) =
        entries.into_iter().partition(|entry| for_good || entry.new.at < last);
    if !old.is_empty() {
        tracing::warn!(%user, %error, notices = old.len(), "what could not be sent is given up");
        remove(store, &old).await?;
        outbound.posted.note_dropped(old.len() as u64);
    }
    Ok(young)
}

fn tries(entries: &[Entry]) -> u32 {
    entries.iter().map(|entry| entry.tries).max().unwrap_or(0)
}

/// How long is waited after so many tries in vain.
fn pause(tries: u32) -> i64 {
    let doubled = PAUSE.saturating_mul(1 << tries.saturating_sub(1).min(20));
    doubled.min(LONGEST_PAUSE)
}

async fn remove(store: &Store, entries: &[Entry]) -> Result<(), database::Error> {
    let ids: Vec<i64> = entries.iter().map(|entry| entry.id).collect();
    store.write(async |t| database::notifications::remove(t, &ids).await).await
}

async fn put_off(
    store: &Store,
    entries: &[Entry],
    due: Timestamp,
    tries: u32,
) -> Result<(), database::Error> {
    if entries.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = entries.iter().map(|entry| entry.id).collect();
    store.write(async |t| database::notifications::put_off(t, &ids, due, tries).await).await
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_waiting_jobs_than_are_read_at_once_none_is_left_out() {
        let at = |from: i64, count: i64| (from..from + count).map(Timestamp).collect::<Vec<_>>();
        let (told, until) = (Timestamp(10), Timestamp(1_000_000));
        assert_eq!(reached(&[], told, until), None);
        assert_eq!(reached(&at(11, 999), told, until), Some(until), "these are all");
        assert_eq!(reached(&at(11, 1_000), told, until), Some(Timestamp(1_009)));
        let together = vec![Timestamp(11); WAITING];
        assert_eq!(reached(&together, told, until), Some(Timestamp(11)), "it goes on");
    }

    #[test]
    fn pauses_double_up_to_an_hour() {
        assert_eq!([1, 2, 3, 6].map(pause), [60_000, 120_000, 240_000, 1_920_000]);
        for tries in [7, 8, 100, u32::MAX] {
            assert_eq!(pause(tries), LONGEST_PAUSE);
        }
    }
}
