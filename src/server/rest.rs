//! The REST doors, in the shapes of OpenPAI's versions 1 and 2. Handlers take what was sent apart,
//! call one operation and put the answer into words; the words are in `wire` files, which the command
//! line reads as well.

mod accept;
mod asked;
mod audit;
pub(crate) mod body;
mod config_file;
pub(crate) mod doors;
mod exit;
mod form;
pub(crate) mod job_key;
mod job_logs;
mod job_query;
mod media;
pub(crate) mod message;
pub(crate) mod person;
pub(crate) mod ssh;
mod task_files;
pub(crate) mod token;
pub(crate) mod v1;
pub(crate) mod v2;

use axum::http::Uri;
use axum::response::Redirect;
use axum::routing::any;
use axum::{Router, middleware};

use crate::failure::{Failure, no_api};
use crate::state::AppState;
use crate::{live, openapi};
use doors::{Doors, get};

/// Everything under `/api`. What is under OpenPAI's other address and is not of these comes as it was
/// asked for, and is told so as programs are.
pub(crate) fn routes() -> Router<AppState> {
    described()
        .into_router()
        .layer(middleware::from_fn(asked::known_only))
        .route("/api", any(unknown))
        .route("/api/{*path}", any(unknown))
        .route("/rest-server", any(unknown))
        .route("/rest-server/", any(unknown))
        .route("/rest-server/{*path}", any(unknown))
}

/// The doors themselves, with what they are.
pub(crate) fn described() -> Doors {
    let live = get(live::events);
    let live = live.sends(200, "text/event-stream").sends(200, "application/json");
    Doors::new()
        .route("/api/openapi.json", get(openapi::get).sends(200, "application/json"))
        .route("/api/docs", get(docs))
        .route("/api/events", live)
        .nest("/api/v2", v2::routes())
        .nest("/api/v1", v1::routes())
}

/// Where OpenPAI had a page about all of this.
async fn docs() -> Redirect {
    Redirect::to("/reference")
}

async fn unknown(uri: Uri) -> Failure {
    no_api(uri.path()).into()
}
