//! What was measured.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use protocol::ids::{NodeName, TaskKey};

use super::asked_gpus::AskedGpus;
use super::idling::IdleJobs;
use super::lately::ListLoads;
use super::loads::Loads;
use super::metrics::Measured;
use crate::lock::lock;

/// What tasks and nodes use.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    /// What running tasks use.
    pub(crate) measured: Measured,
    /// What nodes do with all that runs there.
    pub(crate) measured_nodes: Measured<NodeName>,
    /// What drivers have said that GPUs do.
    pub(crate) asked_gpus: AskedGpus,
    /// What GPUs do at the moment.
    pub(crate) loads: Loads,
    /// How busy the GPUs of jobs and nodes were in the last hour.
    pub(crate) lately: ListLoads,
    /// Jobs that hold GPUs and do not use them.
    pub(crate) idle: IdleJobs,
    /// What running tasks have written into their containers, in bytes.
    written: Mutex<HashMap<TaskKey, u64>>,
}

impl Readings {
    /// What a running task has written into its container when that was measured last.
    pub(crate) fn written(&self, task: &TaskKey) -> Option<u64> {
        lock(&self.written).get(task).copied()
    }

    /// Notes what was measured; what is not measured any more is kept until its task is forgotten.
    /// Says which tasks have written more than so much.
    pub(crate) fn note_written(&self, measured: HashMap<TaskKey, u64>, most: u64) -> Vec<TaskKey> {
        let too_much = measured.iter().filter(|(_, bytes)| **bytes > most).map(|(task, _)| *task);
        let too_much = too_much.collect();
        lock(&self.written).extend(measured);
        too_much
    }

    /// What running tasks have written.
    pub(crate) fn all_written(&self) -> MutexGuard<'_, HashMap<TaskKey, u64>> {
        lock(&self.written)
    }
}
