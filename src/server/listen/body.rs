//! Bodies of requests that keep coming, wanted or not, and bodies of answers that are attended to.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};

use super::pulse::Answering;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Bytes of a refused body that are still taken: who hears nothing before all is sent gets the answer
/// that says why, instead of a broken connection.
const FORGOTTEN: usize = 8 * 1024 * 1024;
/// How long they are taken.
const FORGETTING: Duration = Duration::from_secs(10);

/// A request's body that fails when it brings nothing for too long. Time counts only while somebody
/// waits for it: a slow disk is not the sender's fault. What nobody wants of it is read and forgotten.
pub(super) struct Patient {
    /// There until this is dropped.
    body: Option<Incoming>,
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
        Self { body: Some(body), limit, sleep: None, waiting: false, late }
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
        let late = self.late.is();
        let Some(body) = self.body.as_mut().filter(|_| !late) else { return Poll::Ready(None) };
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(cx) {
            self.waiting = false;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        ready!(self.poll_limit(cx));
        self.late.0.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err("the request's body stopped coming".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Incoming::size_hint)
    }
}

impl Drop for Patient {
    fn drop(&mut self) {
        let Some(body) = self.body.take() else { return };
        if self.late.is() || body.is_end_stream() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(tokio::time::timeout(FORGETTING, forget(body)));
        }
    }
}

async fn forget(mut body: Incoming) {
    let mut forgotten = 0;
    while let Some(Ok(frame)) = body.frame().await {
        forgotten += frame.data_ref().map_or(0, Bytes::len);
        if forgotten > FORGOTTEN {
            return;
        }
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
