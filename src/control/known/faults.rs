//! Nodes that fail to start what they are given: counted until so many different jobs have failed there in
//! a row that a node is suspected, and a try of ours is to tell whether it is the node or the jobs.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use protocol::cluster::StartFailure;
use protocol::ids::{JobId, NodeName};

use crate::lock::lock;

/// Failures of so many different jobs, none having started in between, make a node suspect.
const ENOUGH: usize = 3;
/// So many of the last failures are kept, each of another job.
const KEPT: usize = 5;
/// What failed longer ago says nothing together with what fails now.
const RECENT: Duration = Duration::from_secs(600);
/// So many images are tried.
const IMAGES: usize = 3;
/// The pauses between tries double so often.
const DOUBLED: u32 = 5;

/// What is known of the nodes of which anything is.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<HashMap<NodeName, OfNode>>);

#[derive(Debug, Default)]
struct OfNode {
    /// The last failure of each job since a start succeeded, oldest first.
    failures: Vec<Failed>,
    /// The image of the last container that was started.
    started: Option<String>,
    /// Tries of ours that have failed since then.
    tries: u32,
    /// No other try before this moment.
    not_before: Option<Instant>,
}

/// A job that failed to start on a node.
#[derive(Debug, Clone)]
pub(crate) struct Failed {
    pub(crate) job: JobId,
    pub(crate) failure: StartFailure,
    since: Instant,
}

impl Faults {
    /// A node has failed to start a task of a job. Says whether the node is suspected now.
    pub(crate) fn failed(
        &self,
        node: &NodeName,
        job: JobId,
        failure: StartFailure,
        now: Instant,
    ) -> bool {
        let mut all = lock(&self.0);
        let failures = &mut all.entry(node.clone()).or_default().failures;
        failures.retain(|other| other.job != job && now.duration_since(other.since) < RECENT);
        failures.push(Failed { job, failure, since: now });
        let more = failures.len().saturating_sub(KEPT);
        failures.drain(..more);
        failures.len() >= ENOUGH
    }

    /// A node has started a container of that image: whatever failed there before, it can.
    pub(crate) fn started(&self, node: &NodeName, image: &str) {
        let mut all = lock(&self.0);
        match all.get_mut(node) {
            Some(known) => {
                known.failures.clear();
                (known.tries, known.not_before) = (0, None);
                if known.started.as_deref() != Some(image) {
                    known.started = Some(image.to_owned());
                }
            }
            None => {
                let known = OfNode { started: Some(image.to_owned()), ..OfNode::default() };
                all.insert(node.clone(), known);
            }
        }
    }

    /// The nodes that are suspected.
    pub(crate) fn suspects(&self) -> Vec<NodeName> {
        let all = lock(&self.0);
        let suspects = all.iter().filter(|(_, of_node)| of_node.failures.len() >= ENOUGH);
        suspects.map(|(node, _)| node.clone()).collect()
    }

    /// Whether a node may be tried now.
    pub(crate) fn is_due(&self, node: &NodeName, now: Instant) -> bool {
        let all = lock(&self.0);
        all.get(node).and_then(|of_node| of_node.not_before).is_none_or(|at| at <= now)
    }

    /// What has failed there.
    pub(crate) fn failures(&self, node: &NodeName) -> Vec<Failed> {
        lock(&self.0).get(node).map(|of_node| of_node.failures.clone()).unwrap_or_default()
    }

    /// The images to try a node with, also of what failed there earlier: first one of which it could
    /// start a container.
    pub(crate) fn images(&self, node: &NodeName, earlier: &[StartFailure]) -> Vec<String> {
        let all = lock(&self.0);
        let known = all.get(node);
        let started = known.and_then(|of_node| of_node.started.as_deref());
        let failures = known.map(|of_node| of_node.failures.as_slice()).unwrap_or_default();
        let failed = failures.iter().rev().map(|failed| &failed.failure).chain(earlier);
        let mut images: Vec<String> = Vec::new();
        for image in started.into_iter().chain(failed.map(|failure| failure.image.as_str())) {
            if images.len() < IMAGES && !images.iter().any(|other| other == image) {
                images.push(image.to_owned());
            }
        }
        images
    }

    /// A try of ours has shown that the node is well; it is not tried again for so long, since it is the
    /// jobs that fail.
    pub(crate) fn found_well(&self, node: &NodeName, pause: Duration, now: Instant) {
        let mut all = lock(&self.0);
        let of_node = all.entry(node.clone()).or_default();
        of_node.failures.clear();
        of_node.not_before = Some(now + pause);
    }

    /// It has failed as well: the next one follows after a pause, which doubles until a start succeeds.
    pub(crate) fn found_broken(&self, node: &NodeName, pause: Duration, now: Instant) {
        let mut all = lock(&self.0);
        let of_node = all.entry(node.clone()).or_default();
        let pause = pause.saturating_mul(1 << of_node.tries.min(DOUBLED));
        of_node.tries = of_node.tries.saturating_add(1);
        of_node.not_before = Some(now + pause);
    }

    /// Somebody has looked after the node, or it is gone.
    pub(crate) fn forget(&self, node: &NodeName) {
        lock(&self.0).remove(node);
    }
}

#[cfg(test)]
mod tests {
    use protocol::time::Timestamp;

    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    fn node() -> NodeName {
        "node-1".parse().unwrap()
    }

    fn failure(job: i64) -> StartFailure {
        StartFailure {
            at: Timestamp(0),
            job: format!("ada~job-{job}").parse().unwrap(),
            image: format!("image-{}", job % 4),
            message: "no driver".to_owned(),
        }
    }

    /// A job fails there, at that second.
    fn fails(faults: &Faults, began: Instant, (job, second): (i64, u64)) -> bool {
        let now = began + Duration::from_secs(second);
        faults.failed(&node(), JobId(job), failure(job), now)
    }

    #[test]
    fn several_jobs_that_fail_in_a_row_make_a_node_suspect_and_one_does_not() {
        let (faults, began) = (Faults::default(), Instant::now());
        assert!((0..100).all(|second| !fails(&faults, began, (1, second))), "it is one job");
        assert!(!fails(&faults, began, (2, 100)));
        assert!(faults.suspects().is_empty());
        assert!(fails(&faults, began, (3, 101)));
        assert_eq!(faults.suspects(), [node()]);
        faults.started(&node(), "well");
        assert!(faults.suspects().is_empty(), "it can");
        assert!(!fails(&faults, began, (4, 102)) && !fails(&faults, began, (5, 103)));
        assert!(!fails(&faults, began, (6, 1_000)), "the others failed long ago");
    }

    #[test]
    fn a_node_is_tried_with_what_it_could_start_and_what_it_could_not() {
        let (faults, began) = (Faults::default(), Instant::now());
        let earlier = [failure(1), failure(2), failure(5)];
        assert_eq!(faults.images(&node(), &earlier), ["image-1", "image-2"]);
        faults.started(&node(), "well");
        let suspected = (1..=9).map(|job| fails(&faults, began, (job, 0)));
        assert_eq!(suspected.filter(|suspected| *suspected).count(), 7);
        assert_eq!(faults.images(&node(), &earlier), ["well", "image-1", "image-0"]);
        let jobs: Vec<i64> = faults.failures(&node()).iter().map(|failed| failed.job.0).collect();
        assert_eq!(jobs, [5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_node_is_tried_again_after_longer_and_longer_pauses() {
        let (faults, mut now) = (Faults::default(), Instant::now());
        assert!(faults.is_due(&node(), now));
        for seconds in [30, 60, 120, 240, 480, 960, 960] {
            faults.found_broken(&node(), PAUSE, now);
            now += Duration::from_secs(seconds - 1);
            assert!(!faults.is_due(&node(), now), "{seconds}");
            now += Duration::from_secs(1);
            assert!(faults.is_due(&node(), now), "{seconds}");
        }
        faults.found_well(&node(), PAUSE, now);
        assert!(!faults.is_due(&node(), now), "jobs that fail everywhere do not wear it out");
        faults.started(&node(), "well");
        assert!(faults.is_due(&node(), now));
        faults.found_broken(&node(), PAUSE, now);
        assert!(faults.is_due(&node(), now + PAUSE), "the pauses begin anew");
        faults.forget(&node());
        assert!(faults.is_due(&node(), now));
    }
}
