//! Answers that have no end, and how many of them there may be: each holds memory and a connection
//! for as long as somebody likes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use api::ErrorCode;
use futures::{Stream, StreamExt};
use protocol::ids::UserName;

use crate::failure::Failure;
use crate::limits::Limits;

/// Seconds after which somebody may have gone.
const RETRY_AFTER: u64 = 10;

/// The open ones, by user.
#[derive(Debug)]
pub(crate) struct Streams {
    per_user: usize,
    in_all: usize,
    open: Mutex<HashMap<UserName, usize>>,
}

/// One that is open; it ends with this.
#[derive(Debug)]
pub(crate) struct Place {
    streams: Arc<Streams>,
    user: UserName,
}

impl Streams {
    pub(crate) fn new(limits: &Limits) -> Self {
        let most = |limit: u32| match limit {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        let (per_user, in_all) = (most(limits.streams_per_user), most(limits.streams));
        Self { per_user, in_all, open: Mutex::default() }
    }

    /// Takes a place for one more.
    ///
    /// # Errors
    /// 429: this user, or all together, have as many as there may be.
    pub(crate) fn enter(self: &Arc<Self>, user: &UserName) -> Result<Place, Failure> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.get(user).copied().unwrap_or_default();
        if own >= self.per_user {
            let most = self.per_user;
            return Err(too_many(format!("you follow {own} things at once, of {most} allowed")));
        }
        if open.values().sum::<usize>() >= self.in_all {
            return Err(too_many("the server follows as much as it can".to_owned()));
        }
        open.insert(user.clone(), own + 1);
        Ok(Place { streams: Arc::clone(self), user: user.clone() })
    }
}

impl Place {
    /// The stream, which holds the place for as long as it is there.
    pub(crate) fn hold<S: Stream>(self, stream: S) -> impl Stream<Item = S::Item> {
        stream.map(move |item| {
            let _held = &self;
            item
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.user) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.user);
            }
        }
    }
}

fn too_many(message: String) -> Failure {
    let mut failure = Failure::new(ErrorCode::TooManyRequestsError, message);
    failure.retry_after = Some(RETRY_AFTER);
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> UserName {
        name.parse().unwrap()
    }

    #[test]
    fn a_place_is_free_again_when_its_stream_is_gone() {
        let limits = Limits { streams_per_user: 2, streams: 3, ..Limits::default() };
        let streams = Arc::new(Streams::new(&limits));
        let first = streams.enter(&user("ada")).unwrap().hold(futures::stream::pending::<()>());
        let _second = streams.enter(&user("ada")).unwrap();
        let refused = streams.enter(&user("ada")).unwrap_err();
        assert_eq!(refused.error.code, ErrorCode::TooManyRequestsError);
        let third = streams.enter(&user("bob")).unwrap();
        assert!(streams.enter(&user("cleo")).is_err(), "all together");
        drop((first, third));
        assert!(streams.enter(&user("ada")).is_ok());
        assert_eq!(streams.open.lock().unwrap().len(), 1, "who has none is forgotten");
    }
}
