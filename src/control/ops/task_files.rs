//! `api::task_files`: by SFTP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use api::audit::AuditAction;
use api::task_files::{Content, TaskFile, TaskFiles};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use russh::client::Handle;
use russh_sftp::client::SftpSession;
use russh_sftp::client::error::Error as SftpError;
use russh_sftp::client::fs::File;
use russh_sftp::protocol::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Take};
use tokio::time::timeout;

use super::tasks;
use crate::accounts::rights::owner_only;
use crate::container::entry;
use crate::container::entry::host_check::HostCheck;
use crate::records::audit::{self, Note};
use crate::shared::Shared;

/// Bytes of a file that are read at once.
const PIECE: usize = 64 * 1024;
/// How long either side may be silent in the middle of a file.
const SILENCE: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

/// SFTP in a task, and the connection that it needs.
struct Sftp {
    session: SftpSession,
    _connection: Handle<HostCheck>,
}

#[async_trait]
impl TaskFiles for Ops {
    async fn read(&self, actor: &Actor, file: &TaskFile) -> Result<Content> {
        let sftp = self.enter(actor, file, AuditAction::FileRead).await?;
        let path = file.path.as_str();
        let about = sftp.session.metadata(path).await.map_err(|error| refused(file, &error))?;
        if !about.is_regular() {
            let message = format!("{path} is not a file: only files can be read");
            return Err(Error::new(ErrorCode::InvalidParametersError, message));
        }
        let opened = sftp.session.open(path).await.map_err(|error| refused(file, &error))?;
        // What the kernel makes up as it is read has no size.
        let size = about.len();
        let most = if size == 0 { u64::MAX } else { size };
        Ok(Content { size, bytes: pieces(opened.take(most), sftp) })
    }

    async fn write(
        &self,
        actor: &Actor,
        file: &TaskFile,
        mut bytes: BoxStream<'static, Result<Bytes>>,
    ) -> Result<u64> {
        let sftp = self.enter(actor, file, AuditAction::FileWritten).await?;
        let opened = sftp.session.create(file.path.as_str()).await;
        let mut opened = opened.map_err(|error| refused(file, &error))?;
        let mut written = 0;
        while let Some(piece) = timeout(SILENCE, bytes.next()).await.map_err(|_| silent())? {
            let piece = piece?;
            let writing = timeout(SILENCE, opened.write_all(&piece)).await.map_err(|_| silent())?;
            writing.map_err(|error| broken(&error))?;
            written += piece.len() as u64;
        }
        timeout(SILENCE, opened.shutdown()).await.map_err(|_| silent())?.map_err(|e| broken(&e))?;
        Ok(written)
    }
}

impl Ops {
    async fn enter(&self, actor: &Actor, file: &TaskFile, action: AuditAction) -> Result<Sftp> {
        let TaskFile { job, role, index, path, address } = file;
        owner_only(actor, &job.user, "enter this job")?;
        let task = tasks::running(&self.0.store, job, role, *index).await?;
        let object = format!("{job}/{role}-{index}");
        let note = Note {
            action,
            object: object.clone(),
            detail: path.clone(),
            address: Some(address.clone()),
        };
        audit::write(&self.0.store, actor, note).await?;
        let unavailable = |reason: String| {
            let message = format!("{object} cannot be entered: {reason}");
            Error::new(ErrorCode::UnavailableError, message)
        };
        let entered = entry::enter(&self.0, job, &task).await;
        let connection = entered.map_err(|failure| unavailable(failure.to_string()))?;
        let opening = async {
            let channel = connection.channel_open_session().await?;
            channel.request_subsystem(true, "sftp").await?;
            Ok::<_, russh::Error>(channel.into_stream())
        };
        let stream = opening.await.map_err(|error| unavailable(error.to_string()))?;
        let session = SftpSession::new(stream).await;
        let session = session.map_err(|error| unavailable(error.to_string()))?;
        Ok(Sftp { session, _connection: connection })
    }
}

/// A file piece by piece, as fast as they are taken.
fn pieces(file: Take<File>, sftp: Sftp) -> BoxStream<'static, Result<Bytes>> {
    stream::unfold(Some((file, sftp)), async |state| {
        let (mut file, sftp) = state?;
        let mut piece = vec![0; PIECE];
        match timeout(SILENCE, file.read(&mut piece)).await {
            Ok(Ok(0)) => None,
            Ok(Ok(length)) => {
                piece.truncate(length);
                Some((Ok(piece.into()), Some((file, sftp))))
            }
            Ok(Err(error)) => Some((Err(broken(&error)), None)),
            Err(_) => Some((Err(silent()), None)),
        }
    })
    .boxed()
}

fn refused(file: &TaskFile, error: &SftpError) -> Error {
    let TaskFile { path, role, index, .. } = file;
    match error {
        SftpError::Status(status) if status.status_code == StatusCode::NoSuchFile => {
            let message = format!("there is no {path} in {role}-{index}, or no folder for it");
            Error::new(ErrorCode::NoFileError, message)
        }
        SftpError::Status(status) => {
            let message = format!("{path} in {role}-{index}: {}", status.error_message);
            Error::new(ErrorCode::InvalidParametersError, message)
        }
        other => broken(&io::Error::other(other.to_string())),
    }
}

fn broken(error: &io::Error) -> Error {
    Error::new(ErrorCode::UnavailableError, format!("the task broke off: {error}"))
}

fn silent() -> Error {
    Error::new(ErrorCode::UnavailableError, "nothing moved for two minutes: it was given up")
}
