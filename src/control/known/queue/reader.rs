//! The queue as operations have it: they ask, and nothing of it changes. What is known of it without a
//! question is [published](super::Published).

use std::collections::BTreeMap;
use std::ops::Deref;

use api::cluster::FreeGpus;
use protocol::ids::{GpuType, JobId, UserName, VirtualClusterName};
use protocol::time::Timestamp;
use scheduler::model::{Answer, AtOnce, Explanation, Request};

use super::state::Queue;

/// The scheduler tries what it is asked for, and takes back what it has tried: to ask is to have it alone.
#[derive(Debug)]
pub(crate) struct Reader<'q>(&'q mut Queue);

impl<'q> Reader<'q> {
    pub(crate) fn of(queue: &'q mut Queue) -> Self {
        Self(queue)
    }

    /// All that can be said of why a job waits; `None`: it does not.
    pub(crate) fn explain(&mut self, job: JobId, now: Timestamp) -> Option<Explanation> {
        self.0.state.explain(job, now)
    }

    /// What would become of a job that is not submitted.
    pub(crate) fn dry_run(&mut self, request: &Request, now: Timestamp) -> Answer {
        self.0.state.dry_run(request, now)
    }

    /// By what right such a job would start at once, if it would.
    pub(crate) fn starts_now(&mut self, request: &Request, now: Timestamp) -> Option<AtOnce> {
        self.0.state.starts_now(request, now)
    }

    /// What a user's job in a virtual cluster could start on now, by GPU type.
    pub(crate) fn free(
        &mut self,
        within: &VirtualClusterName,
        user: &UserName,
        now: Timestamp,
    ) -> BTreeMap<GpuType, FreeGpus> {
        self.0.free(within, user, now)
    }
}

impl Deref for Reader<'_> {
    type Target = Queue;

    fn deref(&self) -> &Queue {
        self.0
    }
}
