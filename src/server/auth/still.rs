//! Whether somebody may still hold what he was once given: a terminal, a stream, a tunnel.
//!
//! What has no end of its own is asked about again and again, whoever opened it and by what. All
//! that one session or token holds open shares one answer, so that it costs the same however much
//! that is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::users::Means;
use api::{Actor, Backend};
use axum::Extension;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tokio::time::interval;

use super::answers::Answer;
use super::caller::Caller;
use super::session_store::Store;
use crate::failure::Failure;
use crate::state::AppState;

/// How often it is asked.
const RECHECK: Duration = Duration::from_secs(4);
/// How long an answer holds for all who ask.
const FRESH: Duration = Duration::from_secs(1);

/// By whom and by what something is held open.
#[derive(Clone)]
pub(crate) struct Still {
    backend: Backend,
    store: Store,
    actor: Actor,
    means: Means,
    answer: Arc<Answer>,
}

impl FromRequestParts<AppState> for Still {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Failure> {
        let caller = parts.extensions.get::<Caller>().cloned().unwrap_or_default();
        let (Some(actor), Some(means)) = (caller.actor, caller.means) else {
            return Err(Failure::unauthorized());
        };
        let missing = |_| Failure::from(api::Error::internal());
        let Extension(store) =
            Extension::<Store>::from_request_parts(parts, state).await.map_err(missing)?;
        let answer = state.answers.about(&means);
        Ok(Self { backend: state.backend.clone(), store, actor, means, answer })
    }
}

impl Still {
    /// Whether he is still let in by what let him in, and still who he was. If the database is
    /// silent for a moment nobody is thrown out.
    pub(crate) async fn allowed(&self) -> bool {
        let mut last = self.answer.lock().await;
        if let Some((at, answer)) = *last
            && at.elapsed() < FRESH
        {
            return answer;
        }
        let answer = self.ask().await;
        *last = Some((Instant::now(), answer));
        answer
    }

    async fn ask(&self) -> bool {
        let users = &self.backend.users;
        let lasts = match &self.means {
            Means::Session(key) => self.store.holds(key).await.unwrap_or(true),
            Means::Token(id) => users.token_lasts(&self.actor.user, *id).await.unwrap_or(true),
            Means::Password => false,
        };
        let actor = users.actor(&self.actor.user).await;
        lasts && actor.map_or(true, |actor| actor.as_ref() == Some(&self.actor))
    }

    /// Returns when he may no more.
    pub(crate) async fn revoked(self) {
        let mut tick = interval(RECHECK);
        loop {
            tick.tick().await;
            if !self.allowed().await {
                return;
            }
        }
    }
}
