//! What sends files, in both directions.

use api::ErrorCode;
use api::files::{FilePart, WriteMode, Writing};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use super::ask::Ask;
use super::wire;
use crate::failure::Failure;
use crate::state::AppState;
use crate::transfer;

pub(super) async fn open(state: &AppState, ask: Ask) -> Result<Response, Failure> {
    if ask.parameters.flag("noredirect")? && !is_data(&ask)? {
        return Ok(wire::location(&taker(state, &ask)?));
    }
    let part = FilePart {
        offset: ask.parameters.number("offset")?.unwrap_or(0),
        length: ask.parameters.number("length")?,
    };
    let read = state.backend.files.read(&ask.actor, &ask.path, part).await;
    // Where a folder is, Hadoop has no file.
    let no_file = |error: api::Error| match error.code == ErrorCode::ConflictFileError {
        true => api::Error { code: ErrorCode::NoFileError, ..error },
        false => error,
    };
    let read = read.map_err(no_file)?;
    Ok(transfer::whole(read, transfer::Shown::Download))
}

pub(super) async fn create(state: &AppState, ask: Ask, body: Body) -> Result<Response, Failure> {
    let overwrite = ask.parameters.flag("overwrite")?;
    let mode = if overwrite { WriteMode::Replace } else { WriteMode::New };
    write(state, ask, body, mode, StatusCode::CREATED).await
}

pub(super) async fn append(state: &AppState, ask: Ask, body: Body) -> Result<Response, Failure> {
    write(state, ask, body, WriteMode::Append, StatusCode::OK).await
}

async fn write(
    state: &AppState,
    ask: Ask,
    body: Body,
    mode: WriteMode,
    done: StatusCode,
) -> Result<Response, Failure> {
    if !is_data(&ask)? {
        return name_taker(state, ask, body, mode).await;
    }
    let length = transfer::length(&ask.headers, state.upload_limit)?;
    let content = transfer::content(body, state.upload_limit);
    let writing = Writing { mode, length };
    state.backend.files.write(&ask.actor, &ask.path, writing, content).await?;
    let mut response = done.into_response();
    if done == StatusCode::CREATED {
        // The file is there, whether or not it can be said where.
        if let Ok(base) = base(state, &ask) {
            locate(&mut response, &without_query(&base, &ask.uri));
        }
    }
    Ok(response)
}

/// The first step: who gets the bytes is said, unless they would be refused.
async fn name_taker(
    state: &AppState,
    ask: Ask,
    body: Body,
    mode: WriteMode,
) -> Result<Response, Failure> {
    let address = taker(state, &ask);
    let writing = Writing { mode, length: None };
    let allowed = state.backend.files.may_write(&ask.actor, &ask.path, writing).await;
    // Clients that send the bytes at once read no answer before they have sent all of them.
    if !ask.headers.contains_key(header::EXPECT) {
        transfer::overlook(body, state.upload_limit).await;
    }
    allowed?;
    let address = address?;
    if ask.parameters.flag("noredirect")? {
        return Ok(wire::location(&address));
    }
    let mut response = StatusCode::TEMPORARY_REDIRECT.into_response();
    locate(&mut response, &address);
    Ok(response)
}

/// Whether this is the second step; HttpFS says it in words of its own.
fn is_data(ask: &Ask) -> Result<bool, Failure> {
    Ok(ask.parameters.text("step") == Some("data") || ask.parameters.flag("data")?)
}

/// The same address for the second step.
fn taker(state: &AppState, ask: &Ask) -> Result<String, Failure> {
    let base = base(state, ask)?;
    let query = ask.uri.query().unwrap_or_default();
    Ok(format!("{base}{}?{query}&step=data", ask.uri.path()))
}

fn base(state: &AppState, ask: &Ask) -> Result<String, Failure> {
    state.origin.link(ask.host.as_ref())
}

fn without_query(base: &str, uri: &Uri) -> String {
    format!("{base}{}", uri.path())
}

fn locate(response: &mut Response, address: &str) {
    if let Ok(value) = HeaderValue::from_str(address) {
        response.headers_mut().insert(header::LOCATION, value);
    }
}
