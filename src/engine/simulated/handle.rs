//! The strings by which tests pull at a simulated node.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use protocol::architecture::Architecture;
use protocol::gpus::Reading;
use protocol::image::canonical;
use protocol::spec::GraceSignal;
use protocol::time::Timestamp;

use super::container::Given;
use super::faults::{Call, Fault};
use super::node::{Node, State};
use crate::model::{DiskRoom, EngineError};

/// Makes a simulated node fail.
#[derive(Debug, Clone)]
pub struct SimHandle {
    pub(super) node: Arc<Node>,
}

impl SimHandle {
    /// Cuts the node off, or joins it again; its containers run on meanwhile.
    pub fn set_unreachable(&self, unreachable: bool) {
        self.node.change(|state| state.unreachable = unreachable);
    }

    /// From now on it is told from other engines by this.
    pub fn set_id(&self, id: &str) {
        self.node.change(|state| state.id = Some(id.to_owned()));
    }

    /// From now on images must be pulled, and a pull takes so long; `None`: all are there.
    pub fn set_pull_time(&self, time: Option<Duration>) {
        self.node.change(|state| state.pull_time = time);
    }

    /// From now on a list of the containers takes so long.
    pub fn set_list_time(&self, time: Duration) {
        self.node.change(|state| state.list_time = time);
    }

    /// From now on a container's use is told after so long.
    pub fn set_stats_time(&self, time: Duration) {
        self.node.change(|state| state.stats_time = time);
    }

    /// From now on the saving of a container takes so long.
    pub fn set_commit_time(&self, time: Duration) {
        self.node.change(|state| state.commit_time = time);
    }

    /// What its drivers say from now on; `None`: that it has what its address says.
    pub fn set_gpus(&self, said: Option<Reading>) {
        self.node.change(|state| state.gpus = said);
    }

    /// How much room its disk has from now on; `None`: it does not tell.
    pub fn set_disk(&self, room: Option<DiskRoom>) {
        self.node.change(|state| state.disk = room);
    }

    /// How often its drivers were asked.
    #[must_use]
    pub fn probes(&self) -> u64 {
        self.node.look(|state| state.probes)
    }

    /// Names of all saved images.
    #[must_use]
    pub fn images(&self) -> Vec<String> {
        self.node.look(|state| state.images.keys().cloned().collect())
    }

    /// The next `create` fails so.
    pub fn fail_next_create(&self, error: EngineError) {
        self.node.change(|state| state.next_create_error = Some(error));
    }

    /// From now on a folder of the node is not there, or is again.
    pub fn set_absent_folder(&self, folder: &str, is_absent: bool) {
        self.node.change(|state| {
            if is_absent {
                state.absent_folders.insert(folder.to_owned());
            } else {
                state.absent_folders.remove(folder);
            }
        });
    }

    /// The next `create` panics, as whatever is not written for what it meets.
    pub fn panic_next_create(&self) {
        self.node.change(|state| state.next_create_panics = true);
    }

    /// The next list of the containers panics.
    pub fn panic_next_list(&self) {
        self.node.change(|state| state.next_list_panics = true);
    }

    /// The next `start` fails so.
    pub fn fail_next_start(&self, error: EngineError) {
        self.node.change(|state| state.next_start_error = Some(error));
    }

    /// From now on each `inspect` fails so; `None`: none does.
    pub fn set_inspect_error(&self, error: Option<EngineError>) {
        self.node.change(|state| state.inspect_error = error);
    }

    /// From now on each `start` fails so; `None`: none does.
    pub fn set_start_error(&self, error: Option<EngineError>) {
        self.node.change(|state| state.start_error = error);
    }

    /// From now on its clock is so many milliseconds ahead of the right one.
    pub fn set_clock_ahead(&self, millis: i64) {
        self.node.change(|state| state.clock_ahead = millis);
    }

    /// From now on its processors are said to be these.
    pub fn set_architecture(&self, architecture: Option<Architecture>) {
        self.node.change(|state| state.architecture = architecture);
    }

    /// From now on an image is said to be made for these processors.
    pub fn set_image_architecture(&self, image: &str, architecture: Architecture) {
        let image = canonical(image);
        self.node.change(|state| drop(state.image_architectures.insert(image, architecture)));
    }

    /// The machine goes down and is up again: what ran was asked to end.
    pub fn reboot(&self) {
        self.node.change(State::reboot);
    }

    /// What runs ends now, as it would have later.
    pub fn finish(&self) {
        self.node.change(State::finish);
    }

    /// The machine loses its power and is up again: what ran was killed.
    pub fn cut_power(&self) {
        self.node.change(State::cut_power);
    }

    /// The engine has lost how all containers ended that have ended, and says that they ended well.
    pub fn lose_exits(&self) {
        self.node.change(State::lose_exits);
    }

    /// All containers are gone, as after a disk was changed.
    pub fn lose_containers(&self) {
        self.node.change(State::lose);
    }

    /// A container writes these lines into its log at some moment.
    pub fn write_log(&self, container: &str, at: Timestamp, lines: impl Iterator<Item = String>) {
        self.node.change(|state| state.write(container, lines.map(|line| (at, line))));
    }

    /// A container that runs has run since then already.
    pub fn backdate(&self, container: &str, since: Timestamp) {
        self.node.change(|state| state.backdate(container, since));
    }

    /// How many bytes of logs were read on this node.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        self.node.look(|state| state.log_bytes)
    }

    /// Names of all containers, of whatever cluster.
    #[must_use]
    pub fn containers(&self) -> Vec<String> {
        self.node.look(|state| state.names())
    }

    /// What containers have of the node's folders.
    #[must_use]
    pub fn given(&self) -> Vec<Given> {
        self.node.look(|state| state.given())
    }

    /// Waits until there is no container, of whatever cluster.
    pub async fn until_empty(&self) {
        let mut changes = self.node.watch();
        while !self.containers().is_empty() {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// How often the container was made that was made most often: more than once means that a
    /// task ran twice in one attempt.
    #[must_use]
    pub fn most_made(&self) -> u32 {
        self.node.look(|state| state.made.values().copied().max().unwrap_or(0))
    }

    /// How many containers this node ever started.
    #[must_use]
    pub fn starts(&self) -> u64 {
        self.node.look(|state| state.starts)
    }

    /// How often containers of this node were sent which signals.
    #[must_use]
    pub fn signals(&self) -> BTreeMap<GraceSignal, u64> {
        self.node.look(|state| state.signals.clone())
    }

    /// How often this node was asked to stop a container.
    #[must_use]
    pub fn stops(&self) -> u64 {
        self.node.look(|state| state.stops)
    }

    /// Of the calls that launches consist of, one goes wrong: those that fill volumes, make
    /// containers and start them. 1 is the next one.
    pub fn fail_launch(&self, call: u64, fault: Fault) {
        self.node.change(|state| {
            state.faults.next = Some((state.faults.of_launches() + call, fault));
        });
    }

    /// How many such calls were made.
    #[must_use]
    pub fn launch_calls(&self) -> u64 {
        self.node.look(|state| state.faults.of_launches())
    }

    /// Calls of this kind do not answer, until they may again.
    pub fn hang(&self, call: Call, hangs: bool) {
        self.node.change(|state| put(&mut state.faults.hanging, call, hangs));
    }

    /// Calls of this kind are refused, until they may be made again.
    pub fn refuse(&self, call: Call, is_refused: bool) {
        self.node.change(|state| put(&mut state.faults.refused, call, is_refused));
    }

    /// From now on no start is answered, and each comes to the engine when the line is mended.
    pub fn hold_starts(&self) {
        self.node.change(|state| state.faults.starts_on_their_way = Some(Vec::new()));
    }

    /// The line is mended: what was on its way comes, to what is there now.
    pub fn mend_starts(&self) {
        self.node.change(|state| {
            let late = state.faults.starts_on_their_way.take().unwrap_or_default();
            for name in late {
                let _of_what_is_gone = state.start(&name);
            }
        });
    }

    /// How many calls of this kind were made; those that still wait for an answer do not count.
    #[must_use]
    pub fn calls(&self, call: Call) -> u64 {
        self.node.look(|state| state.faults.made.get(&call).copied().unwrap_or(0))
    }

    /// Waits until so many calls were made that did not answer at once.
    pub async fn until_hung(&self, calls: u64) {
        let mut changes = self.node.watch();
        while self.node.look(|state| state.faults.hung) < calls {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Names of all volumes, of whatever cluster.
    #[must_use]
    pub fn volumes(&self) -> Vec<String> {
        self.node.look(|state| state.volumes.names())
    }

    /// Somebody removes all volumes that no container has.
    pub fn prune_volumes(&self) {
        self.node.change(State::prune);
    }

    /// How many containers were started with a volume that was not full.
    #[must_use]
    pub fn bare_starts(&self) -> u64 {
        self.node.look(|state| state.bare_starts)
    }
}

/// Puts a kind of call among others, or takes it from there.
fn put(calls: &mut HashSet<Call>, call: Call, is_there: bool) {
    if is_there {
        calls.insert(call);
    } else {
        calls.remove(&call);
    }
}
