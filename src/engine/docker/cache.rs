use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::ContainerStatus;

/// What was learnt by asking and cannot change: it makes a list cost one call.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// By container id: running since when, or ended how.
    statuses: HashMap<String, ContainerStatus>,
    /// By container id: the last sample.
    samples: HashMap<String, Sample>,
    /// The image that an administrator has named, if GPUs could be asked for in it.
    gpu_image: Option<String>,
    /// Images that have a shell.
    shells: HashSet<String>,
}

/// Processor time up to a moment, both in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) at: i128,
    pub(super) used: u64,
}

impl Cache {
    pub(super) fn status(&self, id: &str) -> Option<ContainerStatus> {
        self.lock().statuses.get(id).cloned()
    }

    pub(super) fn learn(&self, id: &str, status: &ContainerStatus) {
        match status {
            ContainerStatus::Running { .. }
            | ContainerStatus::Exited { started_at: Some(_), .. } => {
                self.lock().statuses.insert(id.to_owned(), status.clone());
            }
            // Both end with the next start.
            ContainerStatus::Created | ContainerStatus::Exited { started_at: None, .. } => {}
        }
    }

    /// Forgets how a container stands: the next list asks for it.
    pub(super) fn forget_status(&self, id: &str) {
        self.lock().statuses.remove(id);
    }

    /// Forgets all containers but these.
    pub(super) fn keep(&self, ids: &HashSet<String>) {
        let mut known = self.lock();
        known.statuses.retain(|id, _| ids.contains(id));
        known.samples.retain(|id, _| ids.contains(id));
    }

    /// Takes a new sample and gives the last one.
    pub(super) fn sample(&self, id: &str, sample: Sample) -> Option<Sample> {
        self.lock().samples.insert(id.to_owned(), sample)
    }

    pub(super) fn gpu_image(&self) -> Option<String> {
        self.lock().gpu_image.clone()
    }

    pub(super) fn set_gpu_image(&self, image: &str) {
        self.lock().gpu_image = Some(image.to_owned());
    }

    pub(super) fn has_shell(&self, image: &str) -> bool {
        self.lock().shells.contains(image)
    }

    pub(super) fn set_shell(&self, image: &str) {
        self.lock().shells.insert(image.to_owned());
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Every change above is one statement: a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
