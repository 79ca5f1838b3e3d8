//! Terminals by WebSocket: Berth's own addition to both versions of the REST doors.
//!
//! `GET …/jobs/:name/terminal?role=&index=&columns=&rows=` with `session` and `received` to come
//! back to a shell within half a minute. Binary messages are what is typed and what is shown; texts
//! are JSON: see [`Telling`] and [`Asking`]. Whoever reads must say `received` every now and then:
//! the shell is held up when too much is on its way, and nothing piles up here.

mod conversation;

use api::terminals::{TerminalEnd, TerminalId, TerminalRequest, TerminalSize};
use api::{Actor, ErrorCode};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::header;
use axum::response::Response;
use protocol::ids::JobKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::{ClientAddress, Signed, Still};
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::rest::doors::{Input, Operation};
use crate::rest::job_key;
use crate::state::AppState;
use conversation::Conversation;

/// Bytes of one message from the reader.
const MESSAGE: usize = 64 * 1024;
/// Bytes of ours that wait to be sent.
const WAITING: usize = 128 * 1024;

/// Which shell.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct TerminalParams {
    role: String,
    index: u32,
    #[serde(default = "columns")]
    columns: u16,
    #[serde(default = "rows")]
    rows: u16,
    session: Option<String>,
    #[serde(default)]
    received: u64,
}

fn columns() -> u16 {
    80
}

fn rows() -> u16 {
    24
}

/// What we say, as JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "type")]
enum Telling {
    /// The first message.
    Opened {
        session: TerminalId,
        resumed: bool,
        /// Bytes of output before the first that is sent now.
        offset: u64,
    },
    /// The last one of a terminal that was open.
    Ended(TerminalEnd),
    /// The only one of a terminal that cannot be opened.
    Error { code: ErrorCode, message: String },
}

/// What the reader says, as JSON.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Asking {
    Resize(TerminalSize),
    /// Bytes of output that it has, from the shell's beginning.
    Received(u64),
    /// It goes for good.
    Close,
}

/// A request for a terminal, before it becomes one.
pub(crate) struct Asker {
    actor: Actor,
    address: String,
    still: Still,
    upgrade: Result<WebSocketUpgrade, Failure>,
}

impl Input for Asker {
    fn describe(operation: &mut Operation) {
        operation.signed = true;
    }
}

impl FromRequestParts<AppState> for Asker {
    type Rejection = Failure;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        state: &AppState,
    ) -> Result<Self, Failure> {
        let Signed(actor) = Signed::from_request_parts(parts, state).await?;
        let headers = parts.headers.clone();
        let by_token = headers.contains_key(header::AUTHORIZATION);
        // Other sites can open WebSockets to us with our cookie: only the origin tells them apart.
        match by_token {
            true => state.origin.refuse_foreign(&headers)?,
            false => state.origin.require_own(&headers)?,
        }
        let still = Still::from_request_parts(parts, state).await?;
        let ClientAddress(address) = match ClientAddress::from_request_parts(parts, state).await {
            Ok(address) => address,
            Err(never) => match never {},
        };
        let upgrade = WebSocketUpgrade::from_request_parts(parts, state).await.map_err(|_| {
            let message = "this is a WebSocket: connect to it as to one";
            Failure::new(ErrorCode::InvalidParametersError, message)
        });
        Ok(Self { actor, address: address.to_string(), still, upgrade })
    }
}

pub(crate) async fn of_name(
    State(state): State<AppState>,
    asker: Asker,
    Path(name): Path<String>,
    Params(params): Params<TerminalParams>,
) -> Result<Response, Failure> {
    let key = job_key::find(&state.backend, &asker.actor, &name).await?;
    open(state, key, params, asker).await
}

pub(crate) async fn of_user(
    State(state): State<AppState>,
    asker: Asker,
    Path((user, name)): Path<(String, String)>,
    Params(params): Params<TerminalParams>,
) -> Result<Response, Failure> {
    open(state, job_key::of_user(&user, &name)?, params, asker).await
}

pub(crate) async fn of_key(
    State(state): State<AppState>,
    asker: Asker,
    Path(key): Path<String>,
    Params(params): Params<TerminalParams>,
) -> Result<Response, Failure> {
    open(state, job_key::parse(&key)?, params, asker).await
}

/// Whoever may not is refused before there is a WebSocket. What hinders somebody who may is said
/// through it: scripts of pages are told nothing of a refused handshake.
async fn open(
    state: AppState,
    job: JobKey,
    params: TerminalParams,
    asker: Asker,
) -> Result<Response, Failure> {
    let Asker { actor, address, still, upgrade } = asker;
    let upgrade = upgrade?;
    let TerminalParams { role, index, columns, rows, session: back, received } = params;
    let request = TerminalRequest {
        job,
        role: role.parse()?,
        index,
        size: TerminalSize { columns, rows },
        back_to: back.map(|id| (TerminalId(id), received)),
        address: Some(address),
    };
    let opened = match state.backend.terminals.open(&actor, request).await {
        Ok(terminal) => Ok(terminal),
        Err(error) => match error.code {
            ErrorCode::UnavailableError
            | ErrorCode::TooManyRequestsError
            | ErrorCode::NoTaskError => Err(error),
            _ => return Err(error.into()),
        },
    };
    let upgrade = upgrade
        .max_message_size(MESSAGE)
        .max_frame_size(MESSAGE)
        .write_buffer_size(0)
        .max_write_buffer_size(WAITING);
    let tracker = state.tasks.token();
    Ok(upgrade.on_upgrade(async move |socket| {
        let conversation = Conversation::new(socket, state.shutdown.clone());
        match opened {
            Ok(terminal) => conversation.run(terminal, still).await,
            Err(api::Error { code, message, .. }) => {
                conversation.only(Telling::Error { code, message }).await;
            }
        }
        drop(tracker);
    }))
}
