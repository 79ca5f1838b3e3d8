//! Makes, pushes and removes the images that people save from containers. What is to be done is
//! recorded: after a restart it is done again from its beginning.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use api::changes::Change;
use database::images::{ImageRecord, ImageUpdate};
use protocol::ids::{NodeName, TaskKey, UserName};
use protocol::image::ImageState;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::container::held::Held;
use crate::known::live::Live;
use crate::known::passes::{Passes, Rhythm};
use crate::lock::lock;
use crate::loops::rests::Rests;
use crate::loops::supervised::caught;
use crate::records::happened;
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::now;

mod remove;
mod save;

/// They are looked at so often even when nothing wakes the loop.
const PATIENCE: Duration = Duration::from_secs(2);
/// So many are made and pushed on one node, and so many are removed from all: a node that does not
/// answer keeps those of others waiting no longer.
const AT_ONCE: usize = 4;
/// Only saved images wait for it.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(60));

/// Holds the containers that were being saved when the server ended, and reads which images are
/// private.
pub(crate) async fn hold(store: &Store, containers: &Held) -> Result<(), database::Error> {
    only_hold(containers, &database::images::under_way(store.database.read()).await?);
    *lock(&containers.images.private) =
        database::private_images::list(store.database.read()).await?;
    Ok(())
}

/// Holds the containers that are being saved, and no others.
fn only_hold(containers: &Held, images: &[ImageRecord]) {
    let saving = images.iter().filter(|image| image.state == ImageState::Saving);
    *containers.images.held() = saving.map(|image| image.container).collect();
}

/// Runs until shutdown; what is under way is given up, the next server does it again.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let (under_way, rests) = (Arc::default(), Arc::default());
    let works = Works { shared, under_way, rests, running: TaskTracker::new() };
    loop {
        let began = Instant::now();
        match works.pass(&shutdown).await {
            Ok(()) => passes.ended(began),
            Err(error) => {
                tracing::error!(%error, "saved images cannot be looked at; it is repeated");
            }
        }
        if !works.shared.live.wakeups.images.wait(PATIENCE, &shutdown).await {
            break;
        }
    }
    works.running.close();
    works.running.wait().await;
}

struct Works {
    shared: Arc<Shared>,
    /// Images that are worked at.
    under_way: Arc<Mutex<HashMap<i64, Work>>>,
    /// Those at which work has failed, each with what it was.
    rests: Arc<Rests<(i64, ImageState)>>,
    running: TaskTracker,
}

/// Work at an image.
struct Work {
    container: TaskKey,
    owner: UserName,
    /// Where it is made; `None`: it is removed from wherever it is.
    node: Option<NodeName>,
}

impl Work {
    fn at(image: &ImageRecord) -> Self {
        let node = (image.state != ImageState::Removing).then(|| image.node.clone());
        Self { container: image.container, owner: image.owner.clone(), node }
    }
}

impl Works {
    async fn pass(&self, shutdown: &CancellationToken) -> Result<(), database::Error> {
        let images = database::images::under_way(self.shared.store.database.read()).await?;
        let is_there = |id: &i64| images.iter().any(|image| image.id == *id);
        self.shared.containers.images.progress().retain(|id, _| is_there(id));
        self.rests.keep(|(id, _)| is_there(id));
        only_hold(&self.shared.containers, &images);
        for image in images {
            if self.begin(&image) {
                self.spawn(image, shutdown.clone());
            }
        }
        Ok(())
    }

    /// Whether it is its turn: one at a time of each container, and of each owner, so that what all
    /// of his take is known.
    fn begin(&self, image: &ImageRecord) -> bool {
        let mut under_way = lock(&self.under_way);
        let work = Work::at(image);
        let of_same = |other: &Work| other.container == work.container || other.owner == work.owner;
        let busy = under_way.contains_key(&image.id) || under_way.values().any(of_same);
        let there = under_way.values().filter(|other| other.node == work.node).count();
        let rests = self.rests.rests(&(image.id, image.state), Instant::now());
        if busy || there >= AT_ONCE || rests {
            return false;
        }
        under_way.insert(image.id, work);
        true
    }

    fn spawn(&self, image: ImageRecord, shutdown: CancellationToken) {
        let (shared, under_way) = (Arc::clone(&self.shared), Arc::clone(&self.under_way));
        let rests = Arc::clone(&self.rests);
        self.running.spawn(async move {
            let id = image.id;
            let work = async {
                match image.state {
                    ImageState::Saving | ImageState::Pushing => save::save(&shared, &image).await,
                    ImageState::Removing => remove::remove(&shared, &image).await,
                    ImageState::Saved | ImageState::Pushed | ImageState::Failed => Ok(true),
                }
            };
            let done = tokio::select! {
                biased;
                done = caught(work) => done,
                () = shutdown.cancelled() => return,
            };
            lock(&under_way).remove(&id);
            let is_done = match done {
                Ok(Ok(is_done)) => is_done,
                Ok(Err(error)) => {
                    tracing::error!(%error, id, "a saved image cannot be recorded");
                    false
                }
                Err(panic) => {
                    shared.counts.own_failures.note_panic();
                    tracing::error!(%panic, id, "work at a saved image panicked; it is repeated");
                    false
                }
            };
            if is_done {
                rests.succeeded(&(id, image.state));
                // Another one of his may be waiting for that.
                shared.live.wakeups.images.wake();
            } else {
                rests.failed((id, image.state), Instant::now());
            }
        });
    }
}

/// Says what is being done with an image.
fn say(live: &Live, containers: &Held, image: &ImageRecord, progress: impl Into<String>) {
    containers.images.progress().insert(image.id, progress.into());
    live.tell(Change::Image { owner: image.owner.clone() });
}

/// Takes an image a step further, unless somebody wants it removed meanwhile.
async fn step(
    store: &Store,
    live: &Live,
    image: &ImageRecord,
    from: ImageState,
    update: ImageUpdate,
) -> Result<bool, database::Error> {
    let (state, problem) = (update.state, update.problem.clone());
    // By its number: a job of that name may be another one by now.
    let job = database::jobs::by_id(store.database.read(), image.container.job).await?;
    let taken = store.write(async |transaction| {
        let taken = database::images::update(transaction, image.id, from, &update).await?;
        if let Some(job) = job.filter(|_| taken && !state.is_under_way()) {
            let (kind, message) = words(image, state, problem.as_deref());
            let event = happened::to_job(job.row.id, now(), kind, message);
            let event = database::events::NewEvent {
                attempt: Some(image.container.attempt),
                warning: state == ImageState::Failed,
                ..happened::by_person(event, &image.made_by)
            };
            database::events::insert_many(transaction, &[event]).await?;
        }
        Ok(taken)
    });
    let taken = taken.await?;
    live.tell(Change::Image { owner: image.owner.clone() });
    Ok(taken)
}

fn words(image: &ImageRecord, state: ImageState, problem: Option<&str>) -> (&'static str, String) {
    let ImageRecord { image: name, task, registry, .. } = image;
    match state {
        ImageState::Failed => {
            let why = problem.unwrap_or_default();
            ("image not saved", format!("{task} was not saved as {name}: {why}"))
        }
        ImageState::Pushed => {
            let place = registry.as_deref().unwrap_or_default();
            ("image saved", format!("{task} was saved and pushed as {place}"))
        }
        ImageState::Saved | ImageState::Saving | ImageState::Pushing | ImageState::Removing => {
            ("image saved", format!("{task} was saved as {name}"))
        }
    }
}

/// Lets the container go that the image was made of.
fn release(live: &Live, containers: &Held, image: &ImageRecord) {
    containers.images.held().remove(&image.container);
    live.wakeups.jobs.wake();
}
