//! HTTP as WebHDFS needs it: no answer is waited for without end, and nothing is kept in memory.

use std::time::Duration;

use ::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use bytes::Bytes;
use futures::StreamExt;
use http_body_util::{BodyExt, Empty, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::content::Content;
use crate::error::Source;

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// How long it may take to begin an answer, once it has all that was sent.
const ANSWER: Duration = Duration::from_secs(60);
/// How often an answer may lead to another address.
const REDIRECTS: usize = 5;

type Body = http_body_util::combinators::BoxBody<Bytes, Source>;

/// Connections are kept for the next request.
#[derive(Clone)]
pub(super) struct Client(hyper_util::client::legacy::Client<HttpConnector, Body>);

/// Why no answer came.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The address is none.
    #[error("the address {0} is not understood")]
    Address(String),
    /// What was to be sent did not arrive.
    #[error("what was to be sent did not arrive")]
    Content(#[source] Source),
    /// The server did not answer in time.
    #[error("the server did not answer within {} s", ANSWER.as_secs())]
    Late,
    /// The connection failed.
    #[error("the connection failed")]
    Connection(#[source] hyper_util::client::legacy::Error),
}

/// What goes with a request.
pub(super) enum Sent {
    Nothing,
    Bytes(Bytes),
    Stream(Content),
}

impl Client {
    pub(super) fn new() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT));
        connector.set_nodelay(true);
        Self(hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build(connector))
    }

    /// Sends a request and gives the answer, wherever it may lead.
    pub(super) async fn send(
        &self,
        method: Method,
        address: &str,
        sent: Sent,
    ) -> Result<Response<Incoming>, Error> {
        // How long a stream takes is its sender's matter, who has a limit of his own.
        let patient = matches!(sent, Sent::Stream(_));
        let request = Request::builder()
            .method(method)
            .uri(address)
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"))
            .body(body(sent))
            .map_err(|_| Error::Address(without_query(address)))?;
        let answer = self.0.request(request);
        let answer = if patient {
            answer.await
        } else {
            tokio::time::timeout(ANSWER, answer).await.map_err(|_| Error::Late)?
        };
        answer.map_err(connection)
    }

    /// Sends a request and follows where the answer leads.
    pub(super) async fn follow(
        &self,
        method: Method,
        address: &str,
        sent: Bytes,
    ) -> Result<Response<Incoming>, Error> {
        let mut address = address.to_owned();
        for _ in 0..REDIRECTS {
            let sent = Sent::Bytes(sent.clone());
            let answer = self.send(method.clone(), &address, sent).await?;
            let location = answer.headers().get(header::LOCATION);
            let next = location.and_then(|location| location.to_str().ok());
            match next.filter(|_| leads_on(answer.status())) {
                Some(next) => address = absolute(&address, next),
                None => return Ok(answer),
            }
        }
        Err(Error::Address(without_query(&address)))
    }
}

fn body(sent: Sent) -> Body {
    match sent {
        Sent::Nothing => Empty::new().map_err(|never| match never {}).boxed(),
        Sent::Bytes(bytes) => {
            http_body_util::Full::new(bytes).map_err(|never| match never {}).boxed()
        }
        Sent::Stream(content) => {
            let frames = super::transport::Shared::new(content.map(|piece| piece.map(Frame::data)));
            BodyExt::boxed(StreamBody::new(frames))
        }
    }
}

/// Tells a sender's failure from one of the connection.
fn connection(error: hyper_util::client::legacy::Error) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(found) = cause {
        if let Some(hyper) = found.downcast_ref::<hyper::Error>()
            && hyper.is_user()
        {
            return Error::Content(error.into());
        }
        cause = found.source();
    }
    Error::Connection(error)
}

fn leads_on(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// An address as seen from another one.
pub(super) fn absolute(from: &str, address: &str) -> String {
    if !address.starts_with('/') {
        return address.to_owned();
    }
    let (scheme, rest) = from.split_once("://").unwrap_or(("http", from));
    let host = rest.split('/').next().unwrap_or(rest);
    format!("{scheme}://{host}{address}")
}

/// Tokens are in the query: it is no part of what is told.
fn without_query(address: &str) -> String {
    address.split('?').next().unwrap_or_default().to_owned()
}
