//! Which of his failed jobs somebody has seen.

use api::jobs::{JobOrder, JobQuery};
use api::{Actor, Backend, Error};
use http::request::Parts;
use leptos::prelude::*;
use protocol::ids::UserName;
use protocol::state::State;
use protocol::time::{Moment, Timestamp};

use crate::edge;
use crate::failed_lately::FailedLately;

/// Where it is remembered up to which of his failed jobs somebody has seen.
const SEEN_COOKIE: &str = "berth_seen";

/// When the last of the failed jobs ended that a user has dismissed in this browser.
fn dismissed(user: &UserName) -> Option<Timestamp> {
    let seen = edge::cookie(&use_context::<Parts>()?.headers, SEEN_COOKIE)?;
    let (name, at) = seen.split_once('~')?;
    if name == user.as_str() { at.parse().ok().map(Timestamp) } else { None }
}

/// Remembers it.
pub(crate) fn dismiss(user: &UserName, last: Timestamp) {
    edge::remember(SEEN_COOKIE, &format!("{user}~{last}"));
}

/// The jobs of the actor that failed in the last seven days and that he has not dismissed.
pub(crate) async fn failed_lately(backend: &Backend, actor: &Actor) -> Result<FailedLately, Error> {
    const DAYS: i64 = 7 * 86_400_000;
    let week = edge::now().plus_millis(-DAYS);
    let since = dismissed(&actor.user).map(|last| last.plus_millis(1)).filter(|at| *at > week);
    let query = JobQuery {
        users: vec![actor.user.clone()],
        states: vec![State::Failed],
        ended_since: Some(Moment::At(since.unwrap_or(week))),
        order: JobOrder::Completed,
        limit: 1,
        ..JobQuery::default()
    };
    let page = backend.jobs.list(actor, &query).await?;
    let last = page.jobs.first().and_then(|job| job.completed_at);
    Ok(FailedLately { count: page.total, since, last })
}
