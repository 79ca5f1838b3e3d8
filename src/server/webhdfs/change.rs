//! What changes files without sending any.

use api::ErrorCode;
use api::files::{FileKind, FilePath};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::ask::Ask;
use super::wire;
use crate::failure::Failure;
use crate::state::AppState;

pub(super) async fn make_folder(state: &AppState, ask: Ask) -> Result<Response, Failure> {
    state.backend.files.make_folder(&ask.actor, &ask.path).await?;
    Ok(wire::boolean(true))
}

/// As in Hadoop: into a folder that is there, and no reason is given where the name is taken or
/// there is nothing to rename.
pub(super) async fn rename(state: &AppState, ask: Ask) -> Result<Response, Failure> {
    let mut to = FilePath::new(ask.parameters.needed("destination")?);
    let files = &state.backend.files;
    let is_folder = |path: FilePath| {
        let actor = ask.actor.clone();
        async move { files.stat(&actor, &path).await.is_ok_and(|file| file.kind == FileKind::Folder) }
    };
    if is_folder(to.clone()).await {
        to = to.child(ask.path.name());
    }
    match files.rename(&ask.actor, &ask.path, &to).await {
        Ok(()) => Ok(wire::boolean(true)),
        Err(error)
            if matches!(error.code, ErrorCode::NoFileError | ErrorCode::ConflictFileError) =>
        {
            Ok(wire::boolean(false))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn remove(state: &AppState, ask: Ask) -> Result<Response, Failure> {
    let recursive = ask.parameters.flag("recursive")?;
    let removed = state.backend.files.remove(&ask.actor, &ask.path, recursive).await?;
    Ok(wire::boolean(removed))
}

/// What is answered to what has no effect.
#[derive(Debug, Clone, Copy)]
pub(super) enum Said {
    Nothing,
    Yes,
}

/// Takes what has no effect here, from those who may change the file.
pub(super) async fn overlook(state: &AppState, ask: Ask, said: Said) -> Result<Response, Failure> {
    let file = state.backend.files.stat(&ask.actor, &ask.path).await?;
    if !file.may_change {
        let message = format!("{} may not change {}", ask.actor.user, ask.path);
        return Err(Failure::new(ErrorCode::ForbiddenUserError, message));
    }
    Ok(match said {
        Said::Nothing => StatusCode::OK.into_response(),
        Said::Yes => wire::boolean(true),
    })
}
