//! How a volume comes to be whole, though the server may be killed and the engine may fail between
//! any two calls.
//!
//! It is filled under a name that none had before, through a container of that name which is never
//! started. When it is full that container goes. Last of all comes the proof: another volume, an
//! empty one, whose label says which one is whole. What has no proof is removed and made anew; where
//! a container still has some of it that is in nobody's way, since the new one has another name. A
//! volume that an engine makes by itself, for a container that names one which is gone, has none of
//! our labels.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::epoch::Epoch;
use protocol::ids::JobId;
use tokio::sync::Mutex;

use crate::model::{EngineError, Result};
use crate::volume::{Content, Volume};

/// The label that says which installation something belongs to.
pub(crate) const CLUSTER_LABEL: &str = "berth.cluster";
/// The label that says in which life of its database it was given.
pub(crate) const EPOCH_LABEL: &str = "berth.epoch";
/// The labels of a volume for one attempt of a job.
const ATTEMPT_LABELS: [&str; 2] = ["berth.job", "berth.attempt"];
/// The label with the name by which a volume is asked for.
const KNOWN_AS: &str = "berth.volume";
/// The label of a proof: the name of the volume that is whole.
const WHOLE: &str = "berth.whole";

/// What a volume is filled with begins to come within so long: others wait meanwhile.
const BEGINS: Duration = Duration::from_secs(60);

/// The labels of a volume.
pub(crate) type Labels = BTreeMap<String, String>;

/// What an engine does with volumes, one call each. Every one of them may be the last.
#[async_trait]
pub(crate) trait Shelf: Send + Sync {
    /// The labels of a volume; `None`: there is none of that name.
    async fn labels(&self, volume: &str) -> Result<Option<Labels>>;
    /// All volumes that have a label of that value.
    async fn labelled(&self, label: &str, value: &str) -> Result<Vec<(String, Labels)>>;
    /// Makes an empty volume; one of that name is taken as it is.
    async fn make_volume(&self, volume: &str, labels: Labels) -> Result<()>;
    /// Removes a volume; one that a container has stays.
    async fn remove_volume(&self, volume: &str) -> Result<()>;
    /// Makes a container that has a volume to be written to, and has its name. The volume is made
    /// with it, with these labels.
    async fn make_filler(&self, volume: &str, labels: Labels, image: &str) -> Result<()>;
    /// Unpacks a tar in a filler's volume.
    async fn pour(&self, volume: &str, tar: BoxStream<'static, Result<Bytes>>) -> Result<()>;
    /// Removes a filler, whatever it is doing.
    async fn remove_filler(&self, volume: &str) -> Result<()>;
}

/// Gives the name of a volume that is whole, which is filled if there is none. `filling` is held
/// meanwhile: other tasks of the job want the same.
pub(crate) async fn provide(
    shelf: &dyn Shelf,
    filling: &Mutex<()>,
    volume: &Volume,
    image: &str,
    content: &dyn Content,
) -> Result<String> {
    if let Some(whole) = whole(shelf, &volume.name).await? {
        return Ok(whole);
    }
    let _filling = filling.lock().await;
    if let Some(whole) = whole(shelf, &volume.name).await? {
        return Ok(whole);
    }
    discard(shelf, &volume.name).await?;
    fill(shelf, volume, image, content).await?;
    let gone = || EngineError::Failed(format!("the volume {} is gone again", volume.name));
    whole(shelf, &volume.name).await?.ok_or_else(gone)
}

async fn fill(
    shelf: &dyn Shelf,
    volume: &Volume,
    image: &str,
    content: &dyn Content,
) -> Result<()> {
    let name = format!("{}-{:08x}", volume.name, rand::random::<u32>());
    let labels = labels(volume);
    shelf.make_filler(&name, labels.clone(), image).await?;
    let silent = |_| EngineError::Content("what is to be put there does not come".to_owned());
    let tar = tokio::time::timeout(BEGINS, content.tar()).await.map_err(silent)??;
    shelf.pour(&name, tar).await?;
    shelf.remove_filler(&name).await?;
    let mut proof = labels;
    proof.insert(WHOLE.to_owned(), name);
    shelf.make_volume(&proof_of(&volume.name), proof).await
}

/// The volume that is proved to be whole, if it is there still.
async fn whole(shelf: &dyn Shelf, known_as: &str) -> Result<Option<String>> {
    let proof = shelf.labels(&proof_of(known_as)).await?;
    let Some(whole) = proof.and_then(|mut labels| labels.remove(WHOLE)) else { return Ok(None) };
    Ok(stands(shelf, &whole).await?.then_some(whole))
}

/// Whether a volume is one that was filled. Asked after a container has it, which keeps it from
/// then on: whoever removed it just before has left the container an empty one.
pub(crate) async fn stands(shelf: &dyn Shelf, volume: &str) -> Result<bool> {
    let labels = shelf.labels(volume).await?;
    Ok(labels.is_some_and(|labels| labels.contains_key(KNOWN_AS)))
}

/// Why a container is not kept of which a volume does not stand.
pub(crate) fn removed(volume: &str) -> EngineError {
    EngineError::Failed(format!("the volume {volume} was removed when a container was to have it"))
}

/// Removes all that is there of a volume, whole or not, its proof first; what a container has stays.
pub(crate) async fn discard(shelf: &dyn Shelf, known_as: &str) -> Result<()> {
    shelf.remove_volume(&proof_of(known_as)).await?;
    let found = shelf.labelled(KNOWN_AS, known_as).await?.into_iter().map(|(name, _)| name);
    // Earlier versions filled it under the name by which it is asked for.
    for name in found.chain([known_as.to_owned()]) {
        shelf.remove_filler(&name).await?;
        shelf.remove_volume(&name).await?;
    }
    Ok(())
}

/// Has a volume filled anew by the next who asks for it: this one is not what it should be.
pub(crate) async fn doubt(shelf: &dyn Shelf, volume: &str) -> Result<()> {
    let labels = shelf.labels(volume).await?;
    match labels.and_then(|mut labels| labels.remove(KNOWN_AS)) {
        Some(known_as) => shelf.remove_volume(&proof_of(&known_as)).await,
        None => Ok(()),
    }
}

/// The volumes of a cluster, each once, by the names by which they are asked for.
pub(crate) fn known(cluster: &str, found: Vec<(String, Labels)>) -> Vec<Volume> {
    let known = found.into_iter().map(|(name, labels)| {
        let [job, attempt] = ATTEMPT_LABELS.map(|label| labels.get(label));
        let attempt = job
            .zip(attempt)
            .and_then(|(job, attempt)| Some((JobId(job.parse().ok()?), attempt.parse().ok()?)));
        let epoch = Epoch::of_label(labels.get(EPOCH_LABEL).map(String::as_str));
        let name = labels.get(KNOWN_AS).cloned().unwrap_or(name);
        (name.clone(), Volume { name, cluster: cluster.to_owned(), attempt, epoch })
    });
    known.collect::<BTreeMap<_, _>>().into_values().collect()
}

fn labels(volume: &Volume) -> Labels {
    let mut labels = Labels::from([
        (CLUSTER_LABEL.to_owned(), volume.cluster.clone()),
        (KNOWN_AS.to_owned(), volume.name.clone()),
    ]);
    labels.extend(volume.epoch.label().map(|epoch| (EPOCH_LABEL.to_owned(), epoch)));
    if let Some((job, attempt)) = volume.attempt {
        let values = [job.to_string(), attempt.to_string()];
        labels.extend(ATTEMPT_LABELS.map(str::to_owned).into_iter().zip(values));
    }
    labels
}

fn proof_of(known_as: &str) -> String {
    format!("{known_as}-whole")
}
