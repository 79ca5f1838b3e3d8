use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use ::http::{Request, Response, header};
use futures::{Stream, TryStreamExt};
use http_body_util::BodyDataStream;
use opendal::{Buffer, Error, ErrorKind, HttpBody, HttpTransport};

use super::http::Client;

/// OpenDAL's requests over our client.
pub(super) struct Transport(pub(super) Client);

impl HttpTransport for Transport {
    async fn fetch(&self, request: Request<Buffer>) -> opendal::Result<Response<HttpBody>> {
        let (parts, body) = request.into_parts();
        let address = parts.uri.to_string();
        let answer = self.0.follow(parts.method, &address, body.to_bytes()).await;
        let answer = answer.map_err(|error| {
            Error::new(ErrorKind::Unexpected, "the request failed").set_source(error)
        })?;
        let (parts, body) = answer.into_parts();
        let length = parts.headers.get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        let pieces = BodyDataStream::new(body).map_ok(Buffer::from).map_err(|error| {
            Error::new(ErrorKind::Unexpected, "the answer broke off").set_source(error)
        });
        Ok(Response::from_parts(parts, HttpBody::new(Shared::new(pieces), length)))
    }
}

/// A stream that says it can be shared between threads. It never is: whoever polls it holds it
/// alone, so the lock is never waited for.
pub(super) struct Shared<S>(Mutex<Pin<Box<S>>>);

impl<S> Shared<S> {
    pub(super) fn new(stream: S) -> Self {
        Self(Mutex::new(Box::pin(stream)))
    }
}

impl<S: Stream> Stream for Shared<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let stream = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        stream.as_mut().poll_next(context)
    }
}
