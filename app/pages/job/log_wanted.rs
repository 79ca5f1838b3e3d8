//! Which log the address names.

use std::sync::Arc;

use api::logs::TaskRef;
use leptos::prelude::*;
use protocol::ids::{JobKey, RoleName};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::address;
use crate::edge;
use crate::failed::Failed;
use crate::pages::job::detail::Detail;
use crate::reading::{Reading, reading};
use crate::server_fns::jobs::JobSeen;

/// Makes the view of a log, at a line of it.
pub(super) type Log = fn(JobKey, Wanted, Memo<Option<u64>>) -> AnyView;

/// Stands for all tasks in an address.
pub(crate) const ALL: &str = "*";

/// Chooses a task of a job as it is now, where so far that one was chosen.
pub(super) type Choose = Callback<(JobSeen, Option<TaskRef>), Option<TaskRef>>;

/// So many lines come with a page: more than any window shows at once.
pub(super) const FIRST: u32 = 120;

/// Whose log is read.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// As far as it is known now.
    pub(super) task: Option<TaskRef>,
    pub(super) choose: Choose,
    pub(super) detail: Detail,
}

impl Wanted {
    /// Reads what is seen of it first. The server waits for the job, so that the log comes with the
    /// page; in the browser the choice is made anew as soon as the job is known.
    pub(crate) fn read<T, F>(
        self,
        read: impl Fn(TaskRef) -> F + Send + Sync + 'static,
    ) -> Reading<First<T>>
    where
        T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
        F: Future<Output = Result<T, Failed>> + Send + 'static,
    {
        let read = Arc::new(read);
        reading(
            || (),
            move |()| {
                let (wanted, read) = (self.clone(), Arc::clone(&read));
                async move {
                    let Some(task) = wanted.settled().await else { return Ok(None) };
                    let first = read(task.clone()).await?;
                    Ok(Some((task, first)))
                }
            },
        )
    }

    async fn settled(self) -> Option<TaskRef> {
        if !edge::RENDERS_ONCE {
            return self.task;
        }
        // What follows from the job elsewhere may not have heard of it yet.
        match self.detail.await {
            Ok(known) => untrack(|| self.choose.run((known, None))),
            Err(_) => self.task,
        }
    }
}

/// A task and what is seen of its log first; there is nothing where there is no task to read.
pub(crate) type First<T> = Option<(TaskRef, T)>;

/// The address of a task's log.
pub(crate) fn log_address(key: &JobKey, attempt: u32, role: &RoleName, index: u32) -> String {
    let base = address::job_tab(key, "logs");
    format!("{base}?task={}&attempt={attempt}", address::encode(&format!("{role}-{index}")))
}

/// The task of `role-index`.
pub(crate) fn task_from_word(word: &str) -> Option<(RoleName, u32)> {
    let (role, index) = word.rsplit_once('-')?;
    Some((role.parse().ok()?, index.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_from_its_name() {
        let (role, index) = task_from_word("worker-12").unwrap();
        assert_eq!((role.as_str(), index), ("worker", 12));
        assert_eq!(task_from_word("worker"), None);
    }

    #[test]
    fn a_log_has_an_address() {
        let key = "ada~a".parse().unwrap();
        let address = log_address(&key, 0, &"worker".parse().unwrap(), 1);
        assert_eq!(address, "/jobs/ada/a/logs?task=worker-1&attempt=0");
    }
}
