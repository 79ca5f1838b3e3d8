//! What answers at the doors: another router when the server takes the lead or loses it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use control::Steady;
use tokio::sync::watch;
use tokio::time::timeout;
use tower::ServiceExt as _;

use crate::follow;

/// How long a request waits for somebody to answer it while the lead changes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks whether the process is well.
const HEALTH: &str = "/healthz";

/// What answers in a role, at each door.
#[derive(Debug, Clone)]
pub(super) struct Routers {
    /// Everybody's.
    pub(super) portal: Router,
    /// Prometheus'.
    pub(super) metrics: Router,
    /// Other servers'.
    pub(super) servers: Router,
}

/// Knows what answers now; nobody does while the role changes.
#[derive(Debug, Clone)]
pub(super) struct ActiveRouter {
    now: watch::Sender<Option<Routers>>,
    /// How it goes on with the certificate, whoever answers.
    pub(super) certificate: Arc<Steady>,
}

impl Default for ActiveRouter {
    fn default() -> Self {
        Self { now: watch::Sender::new(None), certificate: Arc::default() }
    }
}

impl ActiveRouter {
    /// From now on these answer.
    pub(super) fn set(&self, routers: Option<Routers>) {
        self.now.send_replace(routers);
    }

    /// How it goes on with the certificate, for readiness.
    pub(super) fn of_certificate(&self) -> (&'static str, Arc<Steady>) {
        ("certificate", Arc::clone(&self.certificate))
    }

    /// Has whichever answers at one of the doors answer.
    pub(super) fn router(&self, which: fn(&Routers) -> &Router) -> Router {
        let active = self.clone();
        Router::new().fallback(move |request: Request| {
            let active = active.clone();
            async move { active.answer(which, request).await }
        })
    }

    async fn answer(&self, which: fn(&Routers) -> &Router, request: Request) -> Response {
        // The process is well, however long it takes to begin a role.
        if request.uri().path() == HEALTH && self.now.borrow().is_none() {
            return "ok".into_response();
        }
        match self.find(which).await {
            None => follow::nobody(request.uri()),
            Some(router) => match router.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
        }
    }

    async fn find(&self, which: fn(&Routers) -> &Router) -> Option<Router> {
        let mut now = self.now.subscribe();
        let found = timeout(PATIENCE, now.wait_for(Option::is_some)).await;
        found.ok()?.ok()?.as_ref().map(|routers| which(routers).clone())
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{StatusCode, Uri};

    use super::*;

    fn role(status: StatusCode) -> Routers {
        let router = Router::new().fallback(move || async move { status });
        Routers { portal: router.clone(), metrics: router.clone(), servers: router }
    }

    async fn ask(router: Router, path: &'static str) -> StatusCode {
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = Uri::from_static(path);
        router.oneshot(request).await.unwrap().status()
    }

    #[tokio::test]
    async fn whoever_has_the_lead_answers_and_who_asks_while_it_changes_waits() {
        let active = ActiveRouter::default();
        let router = active.router(|role| &role.portal);
        active.set(Some(role(StatusCode::IM_A_TEAPOT)));
        assert_eq!(ask(router.clone(), "/").await, StatusCode::IM_A_TEAPOT);
        active.set(None);
        assert_eq!(ask(router.clone(), HEALTH).await, StatusCode::OK, "at once");
        let (answered, ()) = tokio::join!(ask(router, "/"), async {
            tokio::task::yield_now().await;
            active.set(Some(role(StatusCode::ACCEPTED)));
        });
        assert_eq!(answered, StatusCode::ACCEPTED);
    }
}
