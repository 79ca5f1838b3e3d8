//! Whose values a request reads. The framework keeps what a page is made of in an owner of its own, and
//! finds that owner in its thread. A thread renders other requests between two steps of one, and some of
//! the framework's steps (the document's head is written in one) do not look whose turn it is: they would
//! read what another request has in the same place.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
use futures::future::BoxFuture;
use leptos::prelude::Owner;
use tower::{Layer, Service};

/// Gives each request back, before each of its steps, the owner that it had after the one before.
#[derive(Clone, Copy)]
pub(crate) struct KeepOwner;

impl<S> Layer<S> for KeepOwner {
    type Service = KeptOwner<S>;

    fn layer(&self, service: S) -> KeptOwner<S> {
        KeptOwner { service }
    }
}

#[derive(Clone)]
pub(crate) struct KeptOwner<S> {
    service: S,
}

impl<S> Service<Request> for KeptOwner<S>
where
    S: Service<Request, Response = Response>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Steps<BoxFuture<'static, Result<Response, S::Error>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        Steps { owner: None, work: Box::pin(self.service.call(request)) }
    }
}

/// The steps of a request.
pub(crate) struct Steps<F> {
    owner: Option<Owner>,
    work: F,
}

impl<F: Future + Unpin> Future for Steps<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        if let Some(owner) = &self.owner {
            owner.set();
        }
        let polled = Pin::new(&mut self.work).poll(context);
        self.owner = Owner::current();
        polled
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures::future::{join, pending};
    use leptos::prelude::*;

    use super::*;

    /// As the framework does: an owner is made, something is waited for, and what is the owner's is read.
    async fn rendered(whose: &'static str) -> (Option<&'static str>, Option<&'static str>) {
        let owner = Owner::new_root(None);
        let value = owner.with(|| {
            provide_context(whose);
            StoredValue::new(whose)
        });
        tokio::task::yield_now().await;
        (use_context::<&'static str>(), value.try_get_value())
    }

    fn steps<F: Future + Send + 'static>(work: F) -> Steps<BoxFuture<'static, F::Output>>
    where
        F::Output: Send,
    {
        Steps { owner: None, work: Box::pin(work) }
    }

    #[test]
    fn requests_of_one_thread_read_what_is_their_own() {
        let (first, second) = block_on(join(steps(rendered("ada")), steps(rendered("bob"))));
        assert_eq!(first, (Some("ada"), Some("ada")));
        assert_eq!(second, (Some("bob"), Some("bob")));
        // The attack: without it, the first reads what the second has in the same place.
        let (first, _) = block_on(join(rendered("ada"), rendered("bob")));
        assert_eq!(first, (Some("bob"), Some("bob")));
    }

    #[test]
    fn an_abandoned_request_leaves_nothing() {
        let mut request = steps(async {
            let _owner = Owner::new_root(None);
            pending::<()>().await;
        });
        let waker = futures::task::noop_waker();
        assert!(Pin::new(&mut request).poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(Owner::current().is_some());
        drop(request);
        assert!(Owner::current().is_none());
    }
}
