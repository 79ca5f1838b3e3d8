//! A job's key where the documents have it:
//! `/Container/<user>/<job>/ssh/<application id>/.ssh/<application id>`, and with `.pub` its public
//! half. Nothing lies there: both are worked out when they are asked for.

use api::audit::AuditAction;
use api::files::{FileContent, FileKind, FilePart, FileView};
use api::{Actor, Result};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use protocol::environment::application_id;
use protocol::ids::{JobKey, JobName, UserName};
use storage::StoragePath;

use crate::accounts::rights::owner_only;
use crate::records::audit;
use crate::records::store::Store;
use crate::secrets::keys::{self, Pair};
use crate::secrets::sealing::Seal;

/// One of a job's two files.
pub(crate) struct KeyFile {
    view: FileView,
    content: Bytes,
}

impl KeyFile {
    /// What the actor finds at a path, if it is that of a job's key.
    pub(crate) async fn find(
        seal: &Seal,
        store: &Store,
        actor: &Actor,
        path: &StoragePath,
    ) -> Result<Option<Self>> {
        let Some((key, application, half)) = parse(path) else { return Ok(None) };
        let found = database::jobs::by_key(store.database.read(), &key).await;
        let Some(job) = found?.map(|job| job.row) else { return Ok(None) };
        let mut attempts = 0..=job.attempt.unwrap_or(0);
        if !attempts.any(|attempt| application_id(job.id, attempt) == application) {
            return Ok(None);
        }
        owner_only(actor, &key.user, "read the key of this job")?;
        let about = (AuditAction::KeyRead, key.to_string(), String::new());
        audit::looked(store, actor, &key.user, about).await?;
        let pair = keys::private_key(seal, job.id, &key, Pair::Entry);
        let content = match half {
            Half::Private => keys::openssh(&pair),
            Half::Public => keys::public_line(&pair) + "\n",
        };
        let view = FileView {
            name: path.name().unwrap_or_default().to_owned(),
            kind: FileKind::File,
            size: content.len() as u64,
            modified: Some(job.submitted_at),
            owner: Some(key.user),
            may_change: false,
        };
        Ok(Some(Self { view, content: content.into() }))
    }

    pub(crate) fn view(self) -> FileView {
        self.view
    }

    pub(crate) fn read(self, part: FilePart) -> FileContent {
        let size = self.content.len() as u64;
        let start = part.offset.min(size);
        let end = part.length.map_or(size, |length| start.saturating_add(length).min(size));
        let within = |at: u64| usize::try_from(at).unwrap_or(self.content.len());
        let bytes = self.content.slice(within(start)..within(end));
        FileContent {
            file: self.view,
            range: start..end,
            content: stream::iter([Ok(bytes)]).boxed(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Private,
    Public,
}

/// The job, the application id and the half that a path names.
fn parse(path: &StoragePath) -> Option<(JobKey, &str, Half)> {
    let parts: Vec<&str> = path.parts().collect();
    let ["Container", user, job, "ssh", application, ".ssh", file] = parts[..] else {
        return None;
    };
    let key = JobKey { user: UserName::new(user).ok()?, name: JobName::new(job).ok()? };
    let (name, half) = match file.strip_suffix(".pub") {
        Some(name) => (name, Half::Public),
        None => (file, Half::Private),
    };
    // Under the name that `GET /api/v1/jobs/:name/ssh` gives it as well.
    let known = name == application || name == key.to_string();
    known.then_some((key, application, half))
}
