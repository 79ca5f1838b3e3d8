//! Shells that people have open in tasks. Each is one task of ours that holds the way into the
//! container, and stays for a while when its reader goes away.

mod replay;
mod session;
mod shell;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use api::audit::AuditAction;
use api::terminals::{Terminal, TerminalControls, TerminalEnd, TerminalId, TerminalRequest};
use api::{Actor, Error, ErrorCode, Result};
use database::tasks::Task;
use futures::FutureExt;
use protocol::ids::UserName;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::words;
use crate::known::own_failures::OwnFailures;
use crate::lock::lock;
use crate::records::audit::{self, Note};
use crate::records::store::Store;
use crate::secrets::sealing::random;
use crate::shared::Shared;
use session::SessionHandle;

/// Open shells of all users, and of one.
const OF_ALL: usize = 512;
const OF_USER: usize = 32;

/// All open shells of this server.
#[derive(Debug, Clone)]
pub(crate) struct Terminals {
    open: Arc<Mutex<HashMap<TerminalId, Open>>>,
    /// How many each user has, those that are just being opened among them.
    counts: Arc<Mutex<HashMap<UserName, usize>>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

#[derive(Debug, Clone)]
struct Open {
    user: UserName,
    object: String,
    handle: SessionHandle,
}

/// A shell's place among those that its user may have; given back when it is dropped.
#[derive(Debug)]
struct Place {
    counts: Arc<Mutex<HashMap<UserName, usize>>>,
    user: UserName,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        if let Some(count) = counts.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.user);
            }
        }
    }
}

impl Terminals {
    /// None are open yet; those that will be run in `tasks` and end with `stop`.
    pub(crate) fn new(tasks: TaskTracker, stop: CancellationToken) -> Self {
        Self { open: Arc::default(), counts: Arc::default(), tasks, stop }
    }

    /// Comes back to a shell; `None`: it is gone, or it is somebody else's.
    pub(crate) async fn resume(
        &self,
        store: &Store,
        actor: &Actor,
        request: &TerminalRequest,
    ) -> Result<Option<Terminal>> {
        let Some((id, received)) = &request.back_to else { return Ok(None) };
        let found = lock(&self.open).get(id).cloned();
        let object = object(request);
        let mine = found.filter(|open| open.user == actor.user && open.object == object);
        let Some(Open { handle, .. }) = mine else { return Ok(None) };
        let Some(attached) = handle.attach(*received).await else { return Ok(None) };
        let note = note(AuditAction::TerminalResumed, request, id.to_string());
        audit::write(store, actor, note).await?;
        handle.resize(request.size).await;
        Ok(Some(attached.terminal(id.clone(), true, handle)))
    }

    /// Opens a shell in a task that runs.
    pub(crate) async fn open(
        &self,
        shared: &Arc<Shared>,
        actor: &Actor,
        request: &TerminalRequest,
        task: &Task,
    ) -> Result<Terminal> {
        let place = self.place(actor)?;
        let shell = shell::open(shared, &request.job, task, request.size).await;
        let shell = shell.map_err(|failure| {
            let message = format!("{} cannot be entered: {failure}", object(request));
            Error::new(ErrorCode::UnavailableError, message)
        })?;
        let id = TerminalId(hex::encode(random::<16>()));
        let detail = format!("{id} by {}", shell.way);
        let opened = note(AuditAction::TerminalOpened, request, detail);
        // Nobody enters unseen.
        audit::write(&shared.store, actor, opened).await?;
        let (handle, session) = session::begin(shell);
        let open =
            Open { user: actor.user.clone(), object: object(request), handle: handle.clone() };
        lock(&self.open).insert(id.clone(), open);
        let attached = handle.attach(0);
        self.keep(shared, actor, request, id.clone(), session, place);
        let attached = attached.await.ok_or_else(Error::internal)?;
        Ok(attached.terminal(id, false, handle))
    }

    fn place(&self, actor: &Actor) -> Result<Place> {
        let mut counts = lock(&self.counts);
        let all: usize = counts.values().sum();
        let count = counts.entry(actor.user.clone()).or_default();
        if *count >= OF_USER || all >= OF_ALL {
            let message = format!("{count} terminals of yours are open: close one first");
            return Err(Error::new(ErrorCode::TooManyRequestsError, message));
        }
        *count += 1;
        Ok(Place { counts: Arc::clone(&self.counts), user: actor.user.clone() })
    }

    /// Runs a shell to its end.
    fn keep(
        &self,
        shared: &Arc<Shared>,
        actor: &Actor,
        request: &TerminalRequest,
        id: TerminalId,
        session: session::Session,
        place: Place,
    ) {
        let (open, stop, shared) = (Arc::clone(&self.open), self.stop.clone(), Arc::clone(shared));
        let (actor, request) = (actor.clone(), request.clone());
        self.tasks.spawn(async move {
            let end = end_of(session.run(stop), &shared.counts.own_failures).await;
            lock(&open).remove(&id);
            let detail = format!("{id} {}", word(end));
            let note = note(AuditAction::TerminalEnded, &request, detail);
            if let Err(error) = audit::write(&shared.store, &actor, note).await {
                tracing::error!(%error, %id, "the end of a terminal cannot be written down");
            }
            drop(place);
        });
    }
}

/// How a shell ends; one that panics is lost, and no less at its end than others.
async fn end_of(
    running: impl Future<Output = TerminalEnd>,
    own_failures: &OwnFailures,
) -> TerminalEnd {
    match AssertUnwindSafe(running).catch_unwind().await {
        Ok(end) => end,
        Err(panic) => {
            own_failures.note_panic();
            tracing::error!(panic = words(panic.as_ref()), "a terminal broke off");
            TerminalEnd::Lost
        }
    }
}

fn object(request: &TerminalRequest) -> String {
    format!("{}/{}-{}", request.job, request.role, request.index)
}

fn note(action: AuditAction, request: &TerminalRequest, detail: String) -> Note {
    Note { action, object: object(request), detail, address: request.address.clone() }
}

fn word(end: TerminalEnd) -> String {
    match end {
        TerminalEnd::Exited(Some(code)) => format!("exited with {code}"),
        TerminalEnd::Exited(None) => "exited".to_owned(),
        TerminalEnd::Closed => "closed".to_owned(),
        TerminalEnd::Left => "left".to_owned(),
        TerminalEnd::Idle => "idle".to_owned(),
        TerminalEnd::TakenOver => "taken over".to_owned(),
        TerminalEnd::Lost => "lost".to_owned(),
        TerminalEnd::Revoked => "revoked".to_owned(),
        TerminalEnd::Stopping => "the server stopped".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_shell_that_panics_has_ended_as_well() {
        let own_failures = OwnFailures::default();
        let left = end_of(async { TerminalEnd::Left }, &own_failures).await;
        assert_eq!((left, own_failures.counts().panics), (TerminalEnd::Left, 0));
        let lost = end_of(async { panic!("in the midst of it") }, &own_failures).await;
        assert_eq!((lost, own_failures.counts().panics), (TerminalEnd::Lost, 1));
    }
}
