//! Keeps in touch with one node's engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::changes::Change;
use database::nodes::NodeObserved;
use engine::{EndpointOptions, Engine, EngineError, EngineInfo, Stranger};
use futures::StreamExt;
use futures::future::{BoxFuture, pending};
use futures::stream::BoxStream;
use protocol::cluster::NodeNetwork;
use protocol::gpus::{GpuProblem, GpuReport, Reading};
use protocol::ids::NodeName;
use protocol::resources::Taken;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::gpus::tell_jobs;
use super::leftovers::{self, Leftovers};
use super::sorting::{Sorted, Sorter, Unsorted};
use crate::container::probe;
use crate::known::cluster::{Contact, Observation, wanted};
use crate::known::engine_calls::OfNode;
use crate::known::heartbeats::says_the_same;
use crate::known::quarantine::Held;
use crate::known::turns::{self, Turn};
use crate::records::health;
use crate::shared::Shared;
use crate::wake::{now, rest_after};

mod clock;

use clock::NodeClock;

/// The engine is asked whether it is there so often: this and the next two where there are not thousands.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Its containers are looked at so often even when nothing calls for it, by the next heartbeat.
const LOOK: Duration = Duration::from_secs(30);
/// Containers of other clusters are looked for so often.
const MEET: Duration = Duration::from_secs(60);
/// Its GPUs are looked for so often.
const PROBE: Duration = Duration::from_secs(600);
/// A look takes so long at most, however many containers are to be asked for one by one.
const LONGEST_LOOK: Duration = Duration::from_secs(60);
/// So many changes are answered by one look.
const CHANGES_AT_ONCE: usize = 1_024;
/// So many containers of other clusters are told of.
const STRANGERS: usize = 100;
/// No job has an id beyond this: what says so is not raised to.
const LARGEST_ID: i64 = 1 << 40;
/// Pauses between attempts to reach an engine that does not answer.
const PAUSES: [u64; 5] = [1, 2, 3, 5, 10];
/// What an engine says of its clock is taken when it has answered so quickly.
const QUICK: Duration = Duration::from_secs(1);

/// What tells that containers have changed.
type Changes = BoxStream<'static, engine::Result<()>>;

/// One node's watcher.
#[derive(Debug)]
pub(super) struct Watcher {
    shared: Arc<Shared>,
    name: NodeName,
    options: EndpointOptions,
    stop: CancellationToken,
    look: Arc<Notify>,
    probe: Arc<Notify>,
    /// What is known of its GPUs.
    gpus: Option<GpuReport>,
    /// Whether it is known that the engine does not answer.
    is_lost: bool,
    /// Since its first look; none: nobody has looked since the engine answers.
    contact: Option<Arc<Contact>>,
    clock: NodeClock,
    sorter: Sorter,
    /// The containers could not be told apart: it is tried again.
    unsorted: bool,
    /// What the engine answered last, as it is shown.
    answer: Option<Arc<NodeObserved>>,
    /// What is taken by what is in quarantine, once somebody has looked.
    taken: Option<Taken>,
}

impl Watcher {
    pub(super) fn new(
        shared: Arc<Shared>,
        name: NodeName,
        options: EndpointOptions,
        gpus: Option<GpuReport>,
        stop: CancellationToken,
    ) -> Self {
        let (look, probe) = (Arc::default(), Arc::default());
        let gpus = gpus.filter(|_| options.gpu_runtime.finds_gpus());
        Self {
            shared,
            name,
            options,
            stop,
            look,
            probe,
            gpus,
            is_lost: false,
            contact: None,
            clock: NodeClock::default(),
            sorter: Sorter::default(),
            unsorted: false,
            answer: None,
            taken: None,
        }
    }

    /// Runs until stopped: connects, watches, and when the engine is lost, connects again.
    pub(super) async fn run(&mut self) {
        let mut failures = 0;
        while !self.stop.is_cancelled() {
            let stop = self.stop.clone();
            let watched = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                watched = self.watch(&mut failures) => watched,
            };
            if let Err(error) = watched {
                self.lost(&error);
                let pause = PAUSES[failures.min(PAUSES.len() - 1)];
                failures += 1;
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return,
                    () = tokio::time::sleep(Duration::from_secs(pause)) => {}
                }
            }
        }
    }

    /// Connects and watches until the engine is lost.
    async fn watch(&mut self, failures: &mut usize) -> engine::Result<()> {
        let calls = Arc::clone(&self.shared.counts.engine_calls);
        let fencing_token = self.shared.store.database.fencing_token().clone();
        let calls = OfNode { node: self.name.clone(), calls, fencing_token };
        let engine = engine::measured(engine::connect(&self.options)?, Arc::new(calls));
        let info = self.ask(engine.as_ref()).await?;
        // Subscribing comes before the first look, so that nothing falls between the two.
        let changes = engine.changes(&self.shared.identity.installation).await?;
        self.found(info);
        self.look_at(&engine, true).await?;
        Box::pin(self.meet_strangers(engine.as_ref())).await?;
        *failures = 0;
        let leftovers = Leftovers {
            shared: Arc::clone(&self.shared),
            node: self.name.clone(),
            engine: Arc::clone(&engine),
            part: turns::part(&self.name, leftovers::EVERY),
        };
        tokio::select! {
            lost = self.keep_in_touch(&engine, changes) => lost,
            () = leftovers.remove() => Ok(()),
        }
    }

    /// Looks at the containers whenever something calls for it, and asks whether the engine is there,
    /// until it is not.
    async fn keep_in_touch(
        &mut self,
        engine: &Arc<dyn Engine>,
        changes: Changes,
    ) -> engine::Result<()> {
        let mut changes = changes.ready_chunks(CHANGES_AT_ONCE);
        let seldom = turns::seldom(self.shared.nodes.cluster().nodes.len());
        let mut heartbeat = turns::every(&self.name, HEARTBEAT * seldom);
        let mut look = Turn::of(&self.name, LOOK * seldom);
        let mut strangers = Turn::of(&self.name, MEET * seldom);
        let mut is_told = true;
        let mut probe = Turn::of(&self.name, PROBE);
        let finds_gpus = self.options.gpu_runtime.finds_gpus();
        let mut probing = finds_gpus.then(|| self.ask_for_gpus(engine));
        loop {
            tokio::select! {
                changes = changes.next() => match changes {
                    Some(changes) => {
                        is_told = true;
                        changes.into_iter().collect::<engine::Result<()>>()?;
                        self.look_at(engine, true).await?;
                    }
                    None => return Err(EngineError::Unreachable("its events ended".into())),
                },
                () = self.look.notified() => { self.look_at(engine, true).await?; }
                reading = answer(&mut probing) => {
                    probing = None;
                    Box::pin(self.read(reading)).await;
                    let info = self.ask(engine.as_ref()).await?;
                    self.found(info);
                    self.shared.nodes.heartbeats.probed(&self.name);
                }
                // Who asks wants to see what there is now: what is gone is forgotten.
                () = self.probe.notified(), if finds_gpus && probing.is_none() => {
                    self.gpus = self.gpus.as_ref().map(GpuReport::without_gone);
                    probing = Some(self.ask_for_gpus(engine));
                }
                at = heartbeat.tick() => {
                    let info = self.ask(engine.as_ref()).await?;
                    self.found(info);
                    if self.unsorted {
                        self.look_at(engine, true).await?;
                    }
                    if look.has_come(at) {
                        let was_told = std::mem::take(&mut is_told);
                        if self.look_at(engine, false).await? && !was_told {
                            // Nothing was told for so long, though there was something: the line is dead.
                            let anew = engine.changes(&self.shared.identity.installation).await?;
                            changes = anew.ready_chunks(CHANGES_AT_ONCE);
                            self.look_at(engine, true).await?;
                        }
                    }
                    if strangers.has_come(at) {
                        Box::pin(self.meet_strangers(engine.as_ref())).await?;
                    }
                    if finds_gpus && probing.is_none() && probe.has_come(at) {
                        probing = Some(self.ask_for_gpus(engine));
                    }
                }
            }
        }
    }

    /// Asks for the GPUs beside all else: it may take minutes.
    fn ask_for_gpus(&self, engine: &Arc<dyn Engine>) -> Asking {
        let (engine, image) =
            (Arc::clone(engine), self.shared.settings.of_nodes.gpus.image.clone());
        Box::pin(async move { engine.probe_gpus(&image).await })
    }

    /// Takes in what the drivers say, and tells the jobs that hold what has failed.
    async fn read(&mut self, reading: engine::Result<Reading>) {
        let reading =
            reading.unwrap_or_else(|error| Reading::failed(GpuProblem::Failed(error.to_string())));
        let before = self.gpus.take().unwrap_or_default();
        let after = before.after(reading, &self.shared.settings.of_nodes.gpus.names);
        tell_jobs(&self.shared, &self.name, (&before, &after)).await;
        self.look_for_links((&before, &after)).await;
        // Of a node where nothing is found and nothing is wrong there is nothing to remember.
        self.gpus = (after != GpuReport::default()).then_some(after);
    }

    /// Notes whether GPUs are still linked that were.
    async fn look_for_links(&self, reports: (&GpuReport, &GpuReport)) {
        let at = now();
        let noted = health::change(
            &self.shared.store,
            &self.shared.live,
            &self.shared.jobs,
            &self.shared.nodes,
            &self.name,
            |known| known.looked_for(reports, at),
        );
        if let Err(error) = noted.await {
            tracing::error!(node = %self.name, %error, "how well its GPUs are cannot be stored");
        }
    }

    /// Asks what the engine is, and so whether it is there, and what its clock says.
    async fn ask(&mut self, engine: &dyn Engine) -> engine::Result<EngineInfo> {
        let asked = Instant::now();
        let info = engine.info().await?;
        let said = info.clock.filter(|_| asked.elapsed() < QUICK);
        if let Some(ahead) = said.and_then(|said| self.clock.set(said, now())) {
            tracing::warn!(node = %self.name, seconds = ahead / 1_000, "its clock is ahead or behind");
        }
        Ok(info)
    }

    /// Looks at the containers and shows what is there: says whether that is other than before. Where
    /// nobody called for it (`called`), whoever carries jobs on is only woken then.
    /// What it takes is taken only meanwhile: ten thousand watchers wait for most of the time.
    fn look_at<'w>(
        &'w mut self,
        engine: &'w Arc<dyn Engine>,
        called: bool,
    ) -> BoxFuture<'w, engine::Result<bool>> {
        Box::pin(self.look_now(engine, called))
    }

    async fn look_now(&mut self, engine: &Arc<dyn Engine>, called: bool) -> engine::Result<bool> {
        let began = Instant::now();
        let looked = self.shared.live.clock.next();
        // What is not known to be ours is not acted on: nothing new is seen until that is.
        let Some(Sorted { ours: containers, held }) = self.sorted(engine.as_ref()).await? else {
            return Ok(false);
        };
        // Before anything is done on what is seen here.
        self.hold(held).await;
        let contact = self.contact.get_or_insert_with(|| Contact::new(&containers).into());
        let contact = Arc::clone(contact);
        let last = |known: &Observation| known.containers_since(&contact);
        let known = self.shared.nodes.observations().get(&self.name).and_then(last);
        let count = |known: &Arc<_>| containers.count_other(known);
        let differ = known.as_ref().map_or(containers.len(), count);
        let is_new = differ > 0 || known.is_none();
        let observation = Observation::Answers {
            engine: Arc::clone(engine),
            looked,
            // Who has compared them with what comes next need not do so again.
            containers: known.filter(|_| !is_new).unwrap_or_else(|| Arc::new(containers)),
            look: Arc::clone(&self.look),
            probe: Arc::clone(&self.probe),
            contact,
        };
        self.shared.nodes.observations().insert(self.name.clone(), observation);
        if called || is_new {
            self.shared.live.wakeups.jobs.wake();
        }
        // Each look goes through all of them: where much happens, it is looked less often and at more of it.
        rest_after(began, differ).await;
        Ok(is_new)
    }

    /// The containers, told apart; `None`: that cannot be told for now.
    async fn sorted(&mut self, engine: &dyn Engine) -> engine::Result<Option<Sorted>> {
        let listed =
            tokio::time::timeout(LONGEST_LOOK, engine.list(&self.shared.identity.installation));
        let silent = |_| EngineError::Unreachable("its containers cannot be listed in time".into());
        let listed = listed.await.map_err(silent)??.into_iter();
        let clock = self.clock;
        let listed = listed.map(|container| clock.corrected(container)).collect();
        let sorted =
            self.sorter.sort(&self.shared.identity, &self.shared.store, engine, listed).await;
        self.unsorted = matches!(sorted, Err(Unsorted::Records(_)));
        match sorted {
            Ok(sorted) => Ok(Some(sorted)),
            Err(Unsorted::Engine(error)) => Err(error),
            Err(Unsorted::Records(error)) => {
                tracing::error!(node = %self.name, %error, "cannot tell whose its containers are");
                Ok(None)
            }
        }
    }

    /// Puts these into quarantine, in place of those that were there before: what they have is nobody
    /// else's from now on.
    async fn hold(&mut self, held: Vec<Held>) {
        let before = self.shared.nodes.quarantine.on(&self.name).held;
        let known = |id: &str| before.iter().any(|known| known.container.id == id);
        let new: Vec<&Held> = held.iter().filter(|held| !known(&held.container.id)).collect();
        self.give_no_id_of(&new).await;
        let changed = before != held;
        self.shared.nodes.quarantine.set_held(&self.name, held);
        let taken = self.shared.nodes.quarantine.on(&self.name).taken();
        if self.taken.as_ref() != Some(&taken) {
            self.taken = Some(taken);
            if let Some(answer) = self.answer.clone() {
                self.show(Arc::unwrap_or_clone(answer));
            }
        }
        if changed {
            self.shared.live.tell(Change::Node { name: self.name.clone() });
        }
    }

    /// Sees to it that no job gets an id of what is new in quarantine. Who gets one all the same is
    /// kept from the container by its epoch.
    async fn give_no_id_of(&self, new: &[&Held]) {
        for Held { container, says } in new {
            tracing::warn!(
                node = %self.name,
                container = container.name,
                epoch = %container.epoch,
                job = format!("{}~{}", says.user, says.name),
                "not given by this database: in quarantine until an administrator decides"
            );
        }
        let jobs = new.iter().map(|held| held.container.key.job);
        let Some(last) = jobs.filter(|job| job.0 <= LARGEST_ID).max() else { return };
        let raised =
            self.shared.store.write(async |t| database::jobs::give_beyond(t, last).await).await;
        if let Err(error) = raised {
            tracing::error!(%error, "ids of what is in quarantine may be given to jobs");
        }
    }

    /// Notes which containers of other clusters are there, for administrators to know.
    async fn meet_strangers(&self, engine: &dyn Engine) -> engine::Result<()> {
        let mut strangers: Vec<Stranger> =
            engine.strangers(&self.shared.identity.installation).await?;
        let own = probe::cluster(&self.shared.identity);
        strangers.retain(|stranger| stranger.cluster != own);
        strangers.sort_by(|one, other| one.name.cmp(&other.name));
        strangers.truncate(STRANGERS);
        if self.shared.nodes.quarantine.set_strangers(&self.name, strangers) {
            self.shared.live.tell(Change::Node { name: self.name.clone() });
        }
        Ok(())
    }

    /// The engine answers.
    fn found(&mut self, info: EngineInfo) {
        let at = now();
        self.is_lost = false;
        self.shared.nodes.heartbeats.answered(&self.name, at);
        let (engine_id, is_anothers) =
            self.shared.nodes.engines.told(info.id.as_deref(), &self.name);
        let no_guest = || self.shared.containers.guests.problem(info.architecture.as_ref());
        let problem = is_anothers.or_else(no_guest);
        let tasks_address = info.tasks_address;
        let (engine, mut capacity) = info.into_parts();
        if let Some(known) = &self.gpus {
            capacity.gpus = known.seen();
        }
        self.show(NodeObserved {
            reachable: true,
            problem,
            last_seen: Some(at),
            engine: Some(engine),
            engine_id,
            capacity: Some(capacity),
            tasks_address,
            gpus: self.gpus.clone(),
            taken: Taken::default(),
        });
    }

    /// Shows what the engine answered last, with what is taken there.
    fn show(&mut self, answer: NodeObserved) {
        self.answer = self.saw(NodeObserved { taken: self.taken(), ..answer });
    }

    /// What is taken by what is in quarantine. Before somebody has looked, what was when somebody
    /// looked last.
    fn taken(&self) -> Taken {
        let known = || {
            let cluster = self.shared.nodes.cluster();
            let observed = cluster.node(&self.name).and_then(|node| node.observed.as_ref());
            observed.map(|observed| observed.taken.clone()).unwrap_or_default()
        };
        self.taken.clone().unwrap_or_else(known)
    }

    /// The engine does not answer.
    fn lost(&mut self, error: &EngineError) {
        if !self.is_lost {
            tracing::warn!(node = %self.name, %error, "node is out of contact");
        }
        (self.is_lost, self.contact, self.answer) = (true, None, None);
        self.shared.nodes.observations().insert(self.name.clone(), Observation::Silent);
        let last =
            self.shared.nodes.cluster().node(&self.name).and_then(|node| node.observed.clone());
        let answered = self.shared.nodes.heartbeats.last_answer(&self.name);
        let is_own = |id: &String| self.shared.nodes.engines.is(id, &self.name);
        self.saw(NodeObserved {
            reachable: false,
            problem: Some(error.to_string()),
            last_seen: answered.or(last.as_ref().and_then(|last| last.last_seen)),
            engine: last.as_ref().and_then(|last| last.engine.clone()),
            engine_id: last.as_ref().and_then(|last| last.engine_id.clone()).filter(is_own),
            tasks_address: last.as_ref().and_then(|last| last.tasks_address),
            gpus: self.gpus.clone(),
            taken: self.taken(),
            capacity: last.and_then(|last| last.capacity.clone()),
        });
        self.shared.live.wakeups.jobs.wake();
    }

    /// Reports what differs from what was reported last, or else from what is known. Gives it back as it is known;
    /// nothing of a node that is gone: its watcher is about to be stopped.
    fn saw(&self, observed: NodeObserved) -> Option<Arc<NodeObserved>> {
        // In this order: what was reported is known before it counts as stored.
        let reported = self.shared.nodes.heartbeats.reported(&self.name);
        let cluster = self.shared.nodes.cluster();
        let node = cluster.node(&self.name)?;
        let network = match self.options.network {
            Some(_) => NodeNetwork::Bridge,
            None => NodeNetwork::Host,
        };
        let observed = wanted(network, observed);
        let known = reported.or_else(|| node.observed.clone());
        if let Some(known) = known.filter(|known| says_the_same(known, &observed)) {
            return Some(known);
        }
        let observed = Arc::new(observed);
        self.shared.nodes.heartbeats.report(&self.name, Arc::clone(&observed));
        self.shared.live.wakeups.heartbeats.wake();
        Some(observed)
    }
}

/// What the drivers will say.
type Asking = BoxFuture<'static, engine::Result<Reading>>;

/// Waits for what they say; for ever where nobody has asked.
async fn answer(asking: &mut Option<Asking>) -> engine::Result<Reading> {
    match asking {
        Some(asking) => asking.await,
        None => pending().await,
    }
}
