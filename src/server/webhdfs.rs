//! WebHDFS: the users' files for whatever knows Hadoop's own door. Requests and answers are those
//! of Hadoop 3; as with its gateway HttpFS, the bytes go through this server.
//!
//! Who asks is said by `delegation=<token>`, an `Authorization` header or a session's cookie;
//! `user.name` says nothing. What is written comes in two steps: the first is answered by an
//! address of this server, `…&step=data`, to which the bytes are sent. Modes, times and replication
//! are taken and change nothing: rights are a matter of where a file is. Owners and access lists
//! cannot be set.

pub(crate) mod address;
mod ask;
mod change;
mod data;
pub(crate) mod exception;
mod look;
mod parameters;
mod wire;

use api::ErrorCode;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;

use crate::failure::Failure;
use crate::state::AppState;
use address::PREFIX;
use ask::Ask;

pub(crate) fn routes() -> Router<AppState> {
    let operations = get(look).put(put).post(post).delete(delete);
    Router::new()
        .route(PREFIX, operations.clone())
        .route("/webhdfs/v1/", operations.clone())
        .route("/webhdfs/v1/{*path}", operations)
}

async fn look(State(state): State<AppState>, ask: Ask) -> Result<Response, Failure> {
    match ask.operation().as_str() {
        "OPEN" => data::open(&state, ask).await,
        "GETFILESTATUS" => look::status(&state, ask).await,
        "LISTSTATUS" => look::list(&state, ask).await,
        "LISTSTATUS_BATCH" => look::list_batch(&state, ask).await,
        "GETCONTENTSUMMARY" => look::summary(&state, ask).await,
        "GETHOMEDIRECTORY" => look::home(&state, ask).await,
        "CHECKACCESS" => look::check_access(&state, ask).await,
        other => Err(unsupported(other)),
    }
}

async fn put(State(state): State<AppState>, ask: Ask, body: Body) -> Result<Response, Failure> {
    match ask.operation().as_str() {
        "CREATE" => data::create(&state, ask, body).await,
        "MKDIRS" => change::make_folder(&state, ask).await,
        "RENAME" => change::rename(&state, ask).await,
        "SETPERMISSION" | "SETTIMES" => change::overlook(&state, ask, change::Said::Nothing).await,
        "SETREPLICATION" => change::overlook(&state, ask, change::Said::Yes).await,
        "SETOWNER" => Err(Failure::new(
            ErrorCode::ForbiddenUserError,
            "a file belongs to the user in whose folder it is: move it there",
        )),
        other => Err(unsupported(other)),
    }
}

async fn post(State(state): State<AppState>, ask: Ask, body: Body) -> Result<Response, Failure> {
    match ask.operation().as_str() {
        "APPEND" => data::append(&state, ask, body).await,
        other => Err(unsupported(other)),
    }
}

async fn delete(State(state): State<AppState>, ask: Ask) -> Result<Response, Failure> {
    match ask.operation().as_str() {
        "DELETE" => change::remove(&state, ask).await,
        other => Err(unsupported(other)),
    }
}

fn unsupported(operation: &str) -> Failure {
    let operation = if operation.is_empty() { "null" } else { operation };
    Failure::new(ErrorCode::NoApiError, format!("op={operation} is not supported here"))
}
