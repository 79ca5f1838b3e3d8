use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::architecture::Architecture;
use protocol::gpus::Reading;
use protocol::ids::TaskKey;
use protocol::image::{canonical, explicit, repository};
use protocol::resources::Capacity;
use protocol::spec::GraceSignal;
use protocol::time::Timestamp;
use tokio::sync::watch;
use tokio::time::Instant;

use super::container::{Given, Kept, Phase, SimContainer, WRITTEN};
use super::faults::Faults;
use super::files::Saved;
use super::load;
use super::plan::Plan;
use super::volumes::Volumes;
use crate::docker::of_another_epoch;
use crate::exporter::GpuSample;
use crate::filling::Labels;
use crate::model::{Container, ContainerSpec, DiskRoom, EngineError, Result, Stranger};

static NODES: LazyLock<Mutex<HashMap<String, Arc<Node>>>> = LazyLock::new(Mutex::default);

/// A machine in memory. It has no tasks of its own: containers whose time is over are found so by
/// whoever looks, and who waits for changes sleeps until the next one's end.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    state: Mutex<State>,
    /// Held while a volume is being filled.
    filling: tokio::sync::Mutex<()>,
    /// Counts the changes.
    changed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// What it is told by, in place of its name.
    pub(super) id: Option<String>,
    pub(super) capacity: Capacity,
    pub(super) unreachable: bool,
    pub(super) pull_time: Option<Duration>,
    pub(super) next_create_error: Option<EngineError>,
    pub(super) next_start_error: Option<EngineError>,
    pub(super) start_error: Option<EngineError>,
    pub(super) inspect_error: Option<EngineError>,
    pub(super) clock_ahead: i64,
    /// Folders of its own that are not there.
    pub(super) absent_folders: BTreeSet<String>,
    pub(super) next_create_panics: bool,
    pub(super) next_list_panics: bool,
    pub(super) pulled: HashSet<String>,
    pub(super) faults: Faults,
    pub(super) volumes: Volumes,
    pub(super) images: Saved,
    pub(super) commit_time: Duration,
    pub(super) starts: u64,
    /// Starts with a volume that was not full.
    pub(super) bare_starts: u64,
    pub(super) stops: u64,
    /// How often containers were sent which signals.
    pub(super) signals: BTreeMap<GraceSignal, u64>,
    pub(super) list_time: Duration,
    pub(super) stats_time: Duration,
    /// How much room its disk has, where it tells.
    pub(super) disk: Option<DiskRoom>,
    pub(super) architecture: Option<Architecture>,
    /// Of images of which that is known, by their whole names.
    pub(super) image_architectures: BTreeMap<String, Architecture>,
    /// What its drivers say, in place of what it has.
    pub(super) gpus: Option<Reading>,
    /// How often they were asked.
    pub(super) probes: u64,
    /// What was read of logs.
    pub(super) log_bytes: u64,
    /// How often a container of each name was made.
    pub(super) made: HashMap<String, u32>,
    duration: Duration,
    /// Apart from their names: a tree has room for eleven where there is one.
    containers: BTreeMap<String, Box<SimContainer>>,
    ends: BTreeSet<(Instant, String)>,
    next_id: u64,
}

impl Node {
    /// The node of this name, made if there is none.
    pub(super) fn named(name: &str) -> Arc<Self> {
        let mut nodes = NODES.lock().unwrap_or_else(PoisonError::into_inner);
        let node = nodes.entry(name.to_owned()).or_insert_with(|| {
            Arc::new(Self {
                name: name.to_owned(),
                state: Mutex::default(),
                filling: tokio::sync::Mutex::default(),
                changed: watch::Sender::new(0),
            })
        });
        Arc::clone(node)
    }

    pub(super) fn configure(&self, capacity: Capacity, duration: Duration) {
        self.look(|state| {
            state.capacity = capacity;
            state.duration = duration;
        });
    }

    /// Held while a volume is being filled.
    pub(super) fn filling(&self) -> &tokio::sync::Mutex<()> {
        &self.filling
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// When the next container ends by itself.
    pub(super) fn next_end(&self) -> Option<Instant> {
        self.look(|state| state.ends.first().map(|(at, _)| *at))
    }

    /// Looks at the node from outside its engine.
    pub(super) fn look<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.settled();
        look(&mut state)
    }

    /// Changes the node from outside its engine.
    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.settled());
        self.wake();
    }

    /// Asks the engine, if it can be reached.
    pub(super) fn reach<T>(&self, call: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        let mut state = self.settled();
        if state.unreachable {
            return Err(EngineError::Unreachable(format!("{} is cut off", self.name)));
        }
        call(&mut state)
    }

    /// The same for a call that changes something.
    pub(super) fn reach_and_wake<T>(
        &self,
        call: impl FnOnce(&mut State) -> Result<T>,
    ) -> Result<T> {
        let outcome = self.reach(call);
        if outcome.is_ok() {
            self.wake();
        }
        outcome
    }

    fn wake(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    fn settled(&self) -> MutexGuard<'_, State> {
        // A state is whole between two statements below, whoever panicked.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.settle() {
            self.wake();
        }
        state
    }
}

impl State {
    /// Ends what is due; tells whether there was any.
    fn settle(&mut self) -> bool {
        if self.ends.is_empty() {
            return false;
        }
        let now = Instant::now();
        let mut any = false;
        while self.ends.first().is_some_and(|(at, _)| *at <= now) {
            let Some((_, name)) = self.ends.pop_first() else { break };
            if let Some(found) = self.containers.get_mut(&name) {
                found.finish();
                any = true;
            }
        }
        any
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.containers.keys().cloned().collect()
    }

    pub(super) fn given(&self) -> Vec<Given> {
        let given = self.containers.values().filter_map(|found| found.kept.given.as_deref());
        given.cloned().collect()
    }

    pub(super) fn list(&self, cluster: &str) -> Vec<Container> {
        let ours = self.containers.iter().filter(|(_, found)| found.kept.cluster == cluster);
        ours.map(|(name, found)| found.view(name)).collect()
    }

    pub(super) fn strangers(&self, cluster: &str) -> Vec<Stranger> {
        let others = self.containers.iter().filter(|(_, found)| found.kept.cluster != cluster);
        let others = others.map(|(name, found)| Stranger {
            name: name.clone(),
            cluster: found.kept.cluster.clone(),
            runs: matches!(found.phase, Phase::Running { .. }),
        });
        others.collect()
    }

    pub(super) fn written(&self, cluster: &str) -> HashMap<TaskKey, u64> {
        let ours = self.containers.values().filter(|found| found.kept.cluster == cluster);
        let running = ours.filter(|found| matches!(found.phase, Phase::Running { .. }));
        running.map(|found| (found.key, WRITTEN + found.files.bytes())).collect()
    }

    /// What those GPUs do that running containers have.
    pub(super) fn gpu_samples(&self) -> Vec<GpuSample> {
        let mut samples = Vec::new();
        for found in self.containers.values() {
            let Phase::Running { started_at, .. } = found.phase else { continue };
            let ran = self.now().since(started_at);
            let gpus = found.kept.gpus.iter().map(|index| (*index, self.gpu_memory_mb(*index)));
            samples.extend(gpus.map(|gpu| load::of_gpu(gpu, found.key.job, ran)));
        }
        samples
    }

    fn gpu_memory_mb(&self, index: u32) -> u64 {
        let gpu = self.capacity.gpus.iter().find(|gpu| gpu.index == index);
        load::memory_mb(gpu.map(|gpu| &gpu.gpu_type))
    }

    pub(super) fn find(&self, name: &str) -> Result<&SimContainer> {
        self.containers
            .get(name)
            .map(Box::as_ref)
            .ok_or_else(|| EngineError::NoContainer(name.to_owned()))
    }

    pub(super) fn find_mut(&mut self, name: &str) -> Result<&mut SimContainer> {
        self.containers
            .get_mut(name)
            .map(Box::as_mut)
            .ok_or_else(|| EngineError::NoContainer(name.to_owned()))
    }

    pub(super) fn has_image(&self, image: &str) -> bool {
        if let Some(there) = self.has_saved(image) {
            return there;
        }
        if image.contains("private") {
            // Whichever of its names it was pulled by.
            let named = canonical(image);
            return self.pulled.iter().any(|pulled| repository(pulled) == repository(&named));
        }
        let exists = !image.contains("missing") && !image.contains("denied");
        exists && (self.pull_time.is_none() || self.pulled.contains(&canonical(image)))
    }

    /// Makes a container, or takes the one that is there as it is, unless it never ran and has other
    /// volumes; one of another epoch stays what it is. Gives the id, and whether it has run.
    pub(super) fn create(&mut self, spec: &ContainerSpec) -> Result<(String, bool)> {
        if let Some(error) = self.next_create_error.take() {
            return Err(error);
        }
        let name = spec.name();
        if let Some(found) = self.containers.get(&name) {
            if found.kept.epoch != spec.epoch {
                return Err(of_another_epoch(&name));
            }
            let has_run = found.status().has_run();
            if has_run || found.kept.volumes.iter().map(String::as_str).eq(spec.volumes()) {
                return Ok((found.id.clone(), has_run));
            }
            self.remove(&name);
        }
        if !self.has_image(&spec.image) {
            return Err(EngineError::NoImage {
                image: spec.image.clone(),
                message: format!("No such image: {}", spec.image),
            });
        }
        if let Some(absent) =
            spec.folders.iter().find(|folder| self.absent_folders.contains(&folder.source))
        {
            let words = "invalid mount config for type \"bind\": bind source path does not exist";
            return Err(EngineError::Broken(format!("{words}: {}", absent.source)));
        }
        // As engines do it: whatever volume a container names is there then.
        spec.volumes().for_each(|volume| self.volumes.ensure(volume, Labels::new()));
        self.next_id += 1;
        *self.made.entry(name.clone()).or_default() += 1;
        let id = format!("{:016x}", self.next_id);
        let made = SimContainer {
            kept: Kept::of(spec),
            files: self.images.get(&explicit(&spec.image)).cloned().unwrap_or_default(),
            plan: Plan::of(&spec.command, self.duration),
            id: id.clone(),
            key: spec.key,
            phase: Phase::Created,
            execs: HashMap::new(),
            written: Vec::new(),
            words: 0,
            is_lost: false,
        };
        self.containers.insert(name, Box::new(made));
        Ok((id, false))
    }

    /// Whether a container has this volume.
    pub(super) fn has_volume(&self, volume: &str) -> bool {
        let mut volumes = self.containers.values().flat_map(|found| found.kept.volumes.iter());
        volumes.any(|has| has == volume)
    }

    /// Hears that a container is to be started, or will hear it later.
    pub(super) fn told_to_start(&mut self, name: &str) -> Result<()> {
        if let Some(late) = &mut self.faults.starts_on_their_way {
            late.push(name.to_owned());
            return Err(EngineError::Unreachable("the line is silent".to_owned()));
        }
        self.start(name)
    }

    pub(super) fn start(&mut self, name: &str) -> Result<()> {
        let now = self.now();
        let error = self.next_start_error.take().or_else(|| self.start_error.clone());
        let mut volumes = self.find(name)?.kept.volumes.iter();
        let is_bare = volumes.any(|volume| !self.volumes.is_full(volume));
        let found = self.find_mut(name)?;
        let unfit = || EngineError::Broken("the image does not fit".to_owned());
        let error = error.or_else(|| found.kept.image.contains("unfit").then(unfit));
        match found.phase {
            Phase::Running { .. } | Phase::Exited { .. } => return Ok(()),
            Phase::Created | Phase::NotStarted { .. } => {}
        }
        if let Some(error) = error {
            found.phase = Phase::NotStarted { since: now };
            return Err(error);
        }
        // A year is for ever here.
        let duration = found.plan.duration.min(Duration::from_secs(31_536_000));
        let ends = Instant::now() + duration;
        found.phase = Phase::Running { started_at: now, ends };
        if duration.is_zero() {
            found.finish();
        } else {
            self.ends.insert((ends, name.to_owned()));
        }
        self.starts += 1;
        self.bare_starts += u64::from(is_bare);
        Ok(())
    }

    pub(super) fn ignores_term(&self, name: &str) -> bool {
        self.containers.get(name).is_some_and(|found| {
            matches!(found.phase, Phase::Running { .. }) && found.plan.ignores_term
        })
    }

    pub(super) fn kill(&mut self, name: &str, signal: i32) {
        let now = self.now();
        let Some(found) = self.containers.get_mut(name) else { return };
        match found.phase {
            Phase::Running { started_at, ends } => {
                found.phase = Phase::Exited {
                    started_at,
                    finished_at: now,
                    code: 128 + signal,
                    oom_killed: false,
                };
                self.ends.remove(&(ends, name.to_owned()));
            }
            Phase::Created | Phase::NotStarted { .. } | Phase::Exited { .. } => {}
        }
    }

    pub(super) fn reboot(&mut self) {
        self.names().iter().for_each(|name| self.kill(name, 15));
    }

    pub(super) fn finish(&mut self) {
        let now = self.now();
        for found in self.containers.values_mut() {
            if let Phase::Running { started_at, .. } = found.phase {
                found.plan.duration = Duration::from_millis(now.since(started_at).unsigned_abs());
                found.finish();
            }
        }
        self.ends.clear();
    }

    pub(super) fn cut_power(&mut self) {
        self.names().iter().for_each(|name| self.kill(name, 9));
    }

    pub(super) fn lose_exits(&mut self) {
        let ended = |found: &&mut Box<SimContainer>| matches!(found.phase, Phase::Exited { .. });
        self.containers.values_mut().filter(ended).for_each(|found| found.is_lost = true);
    }

    /// What its clock says.
    pub(super) fn now(&self) -> Timestamp {
        now().plus_millis(self.clock_ahead)
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.kill(name, 9);
        self.containers.remove(name);
    }

    /// Has a container run since a time in the past; it ends when it would have ended.
    pub(super) fn backdate(&mut self, name: &str, since: Timestamp) {
        let Some(found) = self.containers.get_mut(name) else { return };
        match &mut found.phase {
            Phase::Running { started_at, .. } => {
                let longer = u64::try_from(started_at.since(since)).unwrap_or(0);
                found.plan.duration += Duration::from_millis(longer);
                *started_at = since;
            }
            Phase::Created | Phase::NotStarted { .. } | Phase::Exited { .. } => {}
        }
    }

    /// Has a container write lines into its log.
    pub(super) fn write(&mut self, name: &str, lines: impl Iterator<Item = (Timestamp, String)>) {
        if let Some(found) = self.containers.get_mut(name) {
            found.written.extend(lines);
        }
    }

    pub(super) fn lose(&mut self) {
        self.containers.clear();
        self.ends.clear();
    }

    pub(super) fn begin_exec(&mut self, name: &str) -> Result<String> {
        self.next_id += 1;
        let id = format!("exec-{:x}", self.next_id);
        let found = self.find_mut(name)?;
        match found.phase {
            Phase::Running { .. } => {
                found.execs.insert(id.clone(), None);
                Ok(id)
            }
            Phase::Created | Phase::NotStarted { .. } | Phase::Exited { .. } => {
                Err(EngineError::Refused(format!("container {name} is not running")))
            }
        }
    }

    pub(super) fn end_exec(&mut self, name: &str, id: &str) {
        if let Some(code) = self.containers.get_mut(name).and_then(|found| found.execs.get_mut(id))
        {
            *code = Some(0);
        }
    }

    pub(super) fn exec_code(&self, id: &str) -> Result<Option<i32>> {
        let codes = self.containers.values().filter_map(|found| found.execs.get(id)).next();
        codes.copied().ok_or_else(|| EngineError::Refused(format!("no exec {id}")))
    }
}

fn now() -> Timestamp {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |span| span.as_millis());
    Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
}
