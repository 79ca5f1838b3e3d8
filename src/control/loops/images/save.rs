use std::sync::Arc;

use database::images::{ImageRecord, ImageUpdate};
use engine::{Engine, EngineError};
use futures::StreamExt;
use protocol::image::{ImageState, canonical};

use super::{release, say, step};
use crate::container::registry;
use crate::known::cluster::Observation;
use crate::known::settings::Settings;
use crate::records::store::Store;
use crate::shared::Shared;

/// Makes the image, and pushes it where that is wanted. What fails because the node is out of
/// contact is done again when it answers. Says whether something came of it.
pub(super) async fn save(shared: &Shared, image: &ImageRecord) -> Result<bool, database::Error> {
    let engine = match shared.nodes.observations().get(&image.node) {
        Some(Observation::Answers { engine, .. }) => Some(Arc::clone(engine)),
        Some(Observation::Silent) | None => None,
    };
    let Some(engine) = engine else {
        say(
            &shared.live,
            &shared.containers,
            image,
            format!("waiting for {}, which is out of contact", image.node),
        );
        return Ok(false);
    };
    let mut state = image.state;
    let done = work(shared, image, engine.as_ref(), &mut state).await;
    let update = match done {
        Ok(update) => update,
        Err(Failure::Database(error)) => return Err(error),
        Err(Failure::Engine(EngineError::Unreachable(_))) => return Ok(false),
        Err(Failure::Engine(error)) => {
            let problem = Some(explained(image, &error));
            ImageUpdate { state: ImageState::Failed, bytes: None, problem }
        }
    };
    shared.containers.images.progress().remove(&image.id);
    release(&shared.live, &shared.containers, image);
    step(&shared.store, &shared.live, image, state, update).await?;
    Ok(true)
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Database(#[from] database::Error),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// All steps; `state` says how far they got.
async fn work(
    shared: &Shared,
    image: &ImageRecord,
    engine: &dyn Engine,
    state: &mut ImageState,
) -> Result<ImageUpdate, Failure> {
    let name = &image.image;
    if *state == ImageState::Saving || !engine.has_image(name).await? {
        say(
            &shared.live,
            &shared.containers,
            image,
            "saving: the container is paused while its files are copied",
        );
        let container = image.container.container_name(&shared.identity.installation);
        refuse_too_much(
            &shared.settings,
            &shared.store,
            image,
            engine.container_size(&container).await?.whole,
        )
        .await?;
        engine.commit(&container, name).await?;
    }
    let bytes = Some(engine.image_size(name).await?);
    release(&shared.live, &shared.containers, image);
    let Some(target) = &image.registry else {
        return Ok(ImageUpdate { state: ImageState::Saved, bytes, problem: None });
    };
    if *state == ImageState::Saving {
        let update = ImageUpdate { state: ImageState::Pushing, bytes, problem: None };
        if !step(&shared.store, &shared.live, image, *state, update).await? {
            // Somebody wants it removed: that follows.
            return Ok(ImageUpdate { state: ImageState::Failed, bytes, problem: None });
        }
        *state = ImageState::Pushing;
    }
    let pushed = push(shared, image, engine, target).await;
    engine.remove_image(name).await?;
    pushed?;
    Ok(ImageUpdate { state: ImageState::Pushed, bytes, problem: None })
}

/// Refuses what would take more than one user's images may.
async fn refuse_too_much(
    settings: &Settings,
    store: &Store,
    image: &ImageRecord,
    bytes: u64,
) -> Result<(), Failure> {
    let all = database::images::list(store.database.read(), Some(&image.owner)).await?;
    let there = all.iter().filter(|other| other.id != image.id && is_on_nodes(other.state));
    let taken: u64 = there.map(|other| other.bytes).sum();
    let quota = settings.of_nodes.images_quota;
    if taken.saturating_add(bytes) <= quota {
        return Ok(());
    }
    let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    let refused = EngineError::Refused(format!(
        "it would take {}, and the saved images of {} take {} of {} already: remove some first",
        gigabytes(bytes),
        image.owner,
        gigabytes(taken),
        gigabytes(quota)
    ));
    Err(refused.into())
}

/// Whether an image of this state takes any of the nodes' disks.
fn is_on_nodes(state: ImageState) -> bool {
    match state {
        ImageState::Saving | ImageState::Pushing | ImageState::Saved | ImageState::Removing => true,
        ImageState::Pushed | ImageState::Failed => false,
    }
}

/// Pushes an image under a name that nobody's task is started from meanwhile.
async fn push(
    shared: &Shared,
    image: &ImageRecord,
    engine: &dyn Engine,
    target: &str,
) -> engine::Result<()> {
    say(&shared.live, &shared.containers, image, format!("pushing to {target}"));
    let auth = match &image.auth_file {
        Some(file) => {
            Some(registry::auth(&shared.store, &shared.people, &image.made_by, file).await?)
        }
        None => None,
    };
    let on_node = shared.containers.images.on(&image.node);
    let taken = canonical(target);
    on_node.pushing.write().await.insert(taken.clone());
    let pushed = async {
        let mut lines = engine.push(&image.image, target, auth.as_ref()).await?;
        while let Some(line) = lines.next().await {
            say(&shared.live, &shared.containers, image, format!("pushing to {target}: {}", line?));
        }
        Ok(())
    }
    .await;
    // A node that refused the name has another image of it, which stays.
    let untagged = match &pushed {
        Err(EngineError::Refused(_)) => Ok(()),
        Ok(()) | Err(_) => engine.remove_image(target).await,
    };
    on_node.pushing.write().await.remove(&taken);
    pushed.and(untagged)
}

/// Why it failed, and what to do about it.
fn explained(image: &ImageRecord, error: &EngineError) -> String {
    let ImageRecord { node, task, .. } = image;
    let words = error.to_string();
    if words.contains("no space left") || words.contains("disk quota exceeded") {
        return format!("the disk of {node} is full ({words}): tell an administrator");
    }
    match error {
        EngineError::NoContainer(_) => format!(
            "the container of {task} is gone from {node}: one can be saved while it is there, \
             that is, while its task runs"
        ),
        EngineError::Denied(target) => format!(
            "the registry refused access to {target}: give an authFile with a user who may push there"
        ),
        EngineError::NoImage { .. }
        | EngineError::Refused(_)
        | EngineError::PortTaken(_)
        | EngineError::Failed(_)
        | EngineError::Broken(_)
        | EngineError::Content(_)
        | EngineError::Unreachable(_)
        | EngineError::Endpoint { .. } => words,
    }
}
