//! The door of the pages' server functions: who may not come in is sent away before anything of the
//! request is read, and what is read has its limit and is text. What comes after it takes arguments
//! apart and can do neither.

pub(crate) mod address;

use api::ErrorCode;
use app::POSTED_FORM;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;
use http_body_util::{BodyExt, Collected, LengthLimitError, Limited};

use crate::auth::Caller;
use crate::failure::Failure;
use crate::limits::BODY_LIMIT;
use address::PREFIX;

/// Those that nobody has to sign in for.
const FOR_ALL: &str = "/fn/preferences/";

/// Lets calls of server functions through that may be answered; other requests as they are.
pub(crate) async fn guard(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if !path.starts_with(PREFIX) {
        return next.run(request).await;
    }
    if !path.starts_with(FOR_ALL) && !is_signed_in(&request) {
        return unauthorized(request.headers());
    }
    match read(request).await {
        Ok(request) => next.run(request).await,
        Err(failure) => failure.into_response(),
    }
}

fn is_signed_in(request: &Request) -> bool {
    request.extensions().get::<Caller>().is_some_and(|caller| caller.actor.is_some())
}

/// A form that was sent without JavaScript is answered with the page for signing in.
fn unauthorized(headers: &HeaderMap) -> Response {
    match wants_page(headers) {
        true => Redirect::to("/sign-in?error=UnauthorizedUserError").into_response(),
        false => Failure::unauthorized().into_response(),
    }
}

/// Whether a browser shows the answer itself.
fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// The request with its whole body.
async fn read(request: Request) -> Result<Request, Failure> {
    let (parts, body) = request.into_parts();
    let is_form = parts.uri.path() == POSTED_FORM;
    if is_form && !has_boundary(&parts.headers) {
        return Err(invalid("send the form as multipart/form-data with a boundary"));
    }
    let bytes = whole(body).await?;
    if !is_form && std::str::from_utf8(&bytes).is_err() {
        return Err(invalid("the request's body is not UTF-8"));
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

fn has_boundary(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| multer::parse_boundary(kind).is_ok())
}

async fn whole(body: Body) -> Result<Bytes, Failure> {
    let read = Limited::new(body, BODY_LIMIT).collect().await;
    read.map(Collected::to_bytes).map_err(|error| match error.is::<LengthLimitError>() {
        true => too_large(),
        false => invalid("the request's body did not arrive completely"),
    })
}

fn too_large() -> Failure {
    Failure::new(ErrorCode::TooLargeError, "the request is too large: at most 1 MiB")
}

fn invalid(message: &str) -> Failure {
    Failure::new(ErrorCode::InvalidParametersError, message)
}
