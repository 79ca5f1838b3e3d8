//! Which requests are counted: see [`crate::rates`].

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::auth::{Caller, ClientAddress};
use crate::state::AppState;
use crate::webhdfs::address::names_its_caller;

/// Pages of tasks are the tasks' own affair.
const TASKS_PAGES: &str = "/proxy/";

/// Counts a request whose sender is known as far as he ever will be; it belongs right inside
/// [`crate::auth::authenticate`].
pub(crate) async fn limit(
    State(state): State<AppState>,
    ClientAddress(address): ClientAddress,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    if path.starts_with(TASKS_PAGES) || names_its_caller(request.uri()) {
        return counted(next.run(request).await);
    }
    let caller = request.extensions().get::<Caller>();
    let actor = caller.and_then(|caller| caller.actor.as_ref());
    counted(match state.rates.admit(actor, address) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    })
}

/// Counts what [`crate::auth::authenticate`] sent away: wrong tokens are tried no more often than
/// anything else that nobody in particular asks.
pub(crate) async fn limit_refused(
    State(state): State<AppState>,
    ClientAddress(address): ClientAddress,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    if response.extensions().get::<Counted>().is_some() {
        return response;
    }
    match state.rates.admit(None, address) {
        Ok(()) => response,
        Err(refusal) => refusal.into_response(),
    }
}

/// Marks the answer to a request that has been counted.
#[derive(Debug, Clone, Copy)]
struct Counted;

fn counted(mut response: Response) -> Response {
    response.extensions_mut().insert(Counted);
    response
}
