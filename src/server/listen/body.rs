//! Bodies of requests that keep coming, and bodies of answers that are attended to.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};

use super::pulse::Answering;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A request's body that fails when it brings nothing for too long. Time counts only while somebody
/// waits for it: a slow disk is not the sender's fault.
pub(super) struct Patient {
    body: Incoming,
    limit: Duration,
    /// Made with the first wait, used for all.
    sleep: Option<Pin<Box<Sleep>>>,
    waiting: bool,
    late: Late,
}

/// Whether a body did not come.
#[derive(Debug, Clone, Default)]
pub(super) struct Late(Arc<AtomicBool>);

impl Late {
    pub(super) fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Patient {
    pub(super) fn new(body: Incoming, limit: Duration, late: Late) -> Self {
        Self { body, limit, sleep: None, waiting: false, late }
    }

    /// Ready when the sender has had his time.
    fn poll_limit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let limit = self.limit;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        if !std::mem::replace(&mut self.waiting, true) {
            sleep.as_mut().reset(Instant::now() + limit);
        }
        sleep.as_mut().poll(cx)
    }
}

impl hyper::body::Body for Patient {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if self.late.is() {
            return Poll::Ready(None);
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.waiting = false;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        ready!(self.poll_limit(cx));
        self.late.0.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err("the request's body stopped coming".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer's body: as long as it is there, the request is being answered.
pub(super) struct Attended {
    body: Body,
    _answering: Answering,
}

impl Attended {
    pub(super) fn new(body: Body, answering: Answering) -> Self {
        Self { body, _answering: answering }
    }
}

impl hyper::body::Body for Attended {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
