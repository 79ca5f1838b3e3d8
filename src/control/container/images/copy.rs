use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::{Engine, EngineError};
use futures::StreamExt;
use protocol::ids::NodeName;
use protocol::image::{ImageState, SavedImage};

use crate::known::cluster::Observation;
use crate::known::nodes::KnownNodes;
use crate::records::store::Store;
use crate::shared::Shared;

/// How far a copy is, is said so often.
const BETWEEN_LINES: Duration = Duration::from_secs(1);

/// Why a saved image did not come to a node.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    /// The database does not say where it is.
    #[error(transparent)]
    Records(#[from] database::Error),
    /// The engine that has it, or the one that is to have it, failed or refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Brings a saved image to a node that lacks it, from one that has it: piece by piece through this
/// server.
pub(crate) async fn copy(
    shared: &Shared,
    image: &SavedImage,
    to: (&NodeName, &dyn Engine),
    say: impl Fn(String),
) -> Result<(), CopyError> {
    let name = image.to_string();
    let (node, engine) = to;
    say(format!("copying {name}: waiting for other copies"));
    let on_node = shared.containers.images.on(node);
    let _alone = on_node.copying.lock().await;
    if engine.has_image(&name).await? {
        return Ok(());
    }
    let (from, source) = source(&shared.store, &shared.nodes, &name, node).await?;
    let whole = source.image_size(&name).await? / 1_000_000;
    let moved = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&moved);
    let tar = source.export(&name).await?.inspect(move |piece| {
        if let Ok(piece) = piece {
            counted.fetch_add(piece.len() as u64, Ordering::Relaxed);
        }
    });
    let importing = engine.import(tar.boxed());
    tokio::pin!(importing);
    loop {
        let done = moved.load(Ordering::Relaxed) / 1_000_000;
        say(format!("copying {name} from {from}: {done} of {whole} MB"));
        tokio::select! {
            biased;
            imported = &mut importing => return Ok(imported?),
            () = tokio::time::sleep(BETWEEN_LINES) => {}
        }
    }
}

/// A node that has the image: the one on which it was made, or any other.
async fn source(
    store: &Store,
    known_nodes: &KnownNodes,
    name: &str,
    but: &NodeName,
) -> Result<(NodeName, Arc<dyn Engine>), CopyError> {
    let found = database::images::find(store.database.read(), name).await?;
    let Some(found) = found.filter(|found| found.state == ImageState::Saved) else {
        let gone = format!(
            "the saved image {name} is there no more: choose another image, or save it again"
        );
        return Err(EngineError::Refused(gone).into());
    };
    let mut nodes = answering(known_nodes);
    nodes.retain(|(node, _)| node != but);
    nodes.sort_by_key(|(node, _)| (*node != found.node, node.clone()));
    for (node, engine) in nodes {
        if engine.has_image(name).await.unwrap_or(false) {
            return Ok((node, engine));
        }
    }
    let silent = matches!(known_nodes.observations().get(&found.node), Some(Observation::Silent));
    let why = if silent { "is out of contact" } else { "has it no more" };
    Err(EngineError::Failed(format!("{} {why}, where {name} was made", found.node)).into())
}

/// The nodes whose engines answer.
pub(crate) fn answering(nodes: &KnownNodes) -> Vec<(NodeName, Arc<dyn Engine>)> {
    let observations = nodes.observations();
    let engines = observations.iter().filter_map(|(node, observation)| match observation {
        Observation::Answers { engine, .. } => Some((node.clone(), Arc::clone(engine))),
        Observation::Silent => None,
    });
    engines.collect()
}
