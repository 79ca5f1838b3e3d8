//! What changes nothing.

use api::ErrorCode;
use api::files::{FileKind, FilePath, FolderPage, FolderQuery};
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;

use super::ask::Ask;
use super::wire::{self, FileStatus};
use crate::failure::Failure;
use crate::state::AppState;

/// Entries of a folder that are read together.
const PAGE: u32 = 1_000;

pub(super) async fn status(state: &AppState, ask: Ask) -> Result<Response, Failure> {
    Ok(wire::status(state.backend.files.stat(&ask.actor, &ask.path).await?))
}

pub(super) async fn summary(state: &AppState, ask: Ask) -> Result<Response, Failure> {
    Ok(wire::summary(state.backend.files.measure(&ask.actor, &ask.path).await?))
}

pub(super) async fn home(state: &AppState, ask: Ask) -> Result<Response, Failure> {
    Ok(wire::path(state.backend.files.home(&ask.actor).await?.as_str()))
}

/// Whether something may be done: read, unless writing is asked for.
pub(super) async fn check_access(state: &AppState, ask: Ask) -> Result<Response, Failure> {
    let file = state.backend.files.stat(&ask.actor, &ask.path).await?;
    let action = ask.parameters.needed("fsaction")?;
    if action.contains('w') && !file.may_change {
        let message = format!("{} may not write {}", ask.actor.user, ask.path);
        return Err(Failure::new(ErrorCode::ForbiddenUserError, message));
    }
    Ok(StatusCode::OK.into_response())
}

/// All of a folder, of whatever size: it is sent while it is read. A file is listed as itself.
pub(super) async fn list(state: &AppState, ask: Ask) -> Result<Response, Failure> {
    let listing = Listing { state: state.clone(), ask };
    let Some(first) = listing.first().await? else {
        let file = listing.state.backend.files.stat(&listing.ask.actor, &listing.ask.path).await?;
        let file = FileStatus::new(file, String::new());
        return Ok(axum::Json(serde_json::json!({ "FileStatuses": { "FileStatus": [file] } }))
            .into_response());
    };
    let body = stream::try_unfold(Next::Begin(listing, first), Next::step);
    let json = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, json)], Body::from_stream(body)).into_response())
}

/// A part of a folder, and whether there is more.
pub(super) async fn list_batch(state: &AppState, ask: Ask) -> Result<Response, Failure> {
    let after = ask.parameters.text("startafter").map(str::to_owned);
    let listing = Listing { state: state.clone(), ask };
    let mut page = listing.page(after).await?;
    // A client goes on from the last entry that it was given: there must be one.
    while page.entries.is_empty() && page.next.is_some() {
        page = listing.page(page.next).await?;
    }
    let more = page.next.is_some();
    let entries: Vec<_> = page.entries.into_iter().map(FileStatus::child).collect();
    Ok(wire::listing(&entries, more))
}

struct Listing {
    state: AppState,
    ask: Ask,
}

impl Listing {
    /// The first part; `None`: it is a file.
    async fn first(&self) -> Result<Option<FolderPage>, Failure> {
        match self.page(None).await {
            Ok(page) => Ok(Some(page)),
            Err(failure) if failure.error.code == ErrorCode::ConflictFileError => {
                let file = self.state.backend.files.stat(&self.ask.actor, &self.ask.path).await?;
                if file.kind == FileKind::File { Ok(None) } else { Err(failure) }
            }
            Err(failure) => Err(failure),
        }
    }

    async fn page(&self, after: Option<String>) -> Result<FolderPage, Failure> {
        let query = FolderQuery { after, limit: PAGE };
        let (actor, path): (_, &FilePath) = (&self.ask.actor, &self.ask.path);
        Ok(self.state.backend.files.list(actor, path, &query).await?)
    }
}

/// What is still to be sent of a list.
enum Next {
    Begin(Listing, FolderPage),
    /// Whether a comma is needed, and after which name the rest begins.
    More(Listing, bool, Option<String>),
    End,
}

impl Next {
    async fn step(self) -> Result<Option<(Bytes, Self)>, api::Error> {
        match self {
            Self::End => Ok(None),
            Self::Begin(listing, page) => {
                let opening = "{\"FileStatuses\":{\"FileStatus\":[".to_owned();
                Ok(Some(Self::pieces(listing, page, opening, false)))
            }
            Self::More(_, _, None) => Ok(Some((Bytes::from_static(b"]}}"), Self::End))),
            Self::More(listing, comma, after) => {
                let page = listing.page(after).await.map_err(|failure| failure.error)?;
                Ok(Some(Self::pieces(listing, page, String::new(), comma)))
            }
        }
    }

    fn pieces(
        listing: Listing,
        page: FolderPage,
        mut text: String,
        mut comma: bool,
    ) -> (Bytes, Self) {
        for file in page.entries {
            let Ok(entry) = serde_json::to_string(&FileStatus::child(file)) else { continue };
            if comma {
                text.push(',');
            }
            comma = true;
            text.push_str(&entry);
        }
        (Bytes::from(text), Self::More(listing, comma, page.next))
    }
}
