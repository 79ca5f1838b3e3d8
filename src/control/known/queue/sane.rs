//! What is always so of what the scheduler knows.

use std::collections::HashMap;

use scheduler::model::{QosClass, WHOLE_GPU};

use super::holdings::Holdings;
use super::state::Queue;

impl Queue {
    /// Looks over all of it, and panics where it is not so.
    pub(super) fn sanity_check(&self) {
        for job in self.running.keys().chain(&self.stopping) {
            assert!(self.jobs.contains_key(job), "{job} holds a place or is to stop: it is known");
        }
        for (job, running) in &self.running {
            let borrows = running.qos_class == QosClass::Borrowed;
            assert!(!borrows || self.borrowing.contains(job), "{job} borrows: it is looked at");
        }
        for (job, known) in self.jobs.all() {
            assert_eq!(*job, known.row.id, "jobs are found by their ids");
            assert!(!known.row.state.is_final(), "{job} has ended: it is forgotten");
        }
        self.jobs.sanity_check();
        let held = self.running();
        let held = held.filter_map(|running| Some((self.jobs.get(&running.job)?, running)));
        assert_eq!(self.holdings, Holdings::of(held), "what is held is what the jobs hold");
        self.nothing_is_given_twice();
    }

    fn nothing_is_given_twice(&self) {
        let mut given = HashMap::new();
        for (place, demand) in self.running.values().flat_map(|running| &running.tasks) {
            for gpu in &place.gpus {
                let of_gpu = given.entry((&place.node, *gpu)).or_insert(0);
                *of_gpu += demand.each_gpu_milli();
                assert!(*of_gpu <= WHOLE_GPU, "GPU {gpu} of {} is given once", place.node);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::JobId;

    use super::*;

    #[test]
    #[should_panic(expected = "is to stop: it is known")]
    fn what_is_not_so_is_found() {
        let mut queue = Queue::default();
        queue.sanity_check();
        queue.stopping.insert(JobId(7));
        queue.sanity_check();
    }
}
