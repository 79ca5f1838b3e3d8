//! Who may run an image that is on a node because somebody else showed a registry his credentials:
//! who can show his own, or none where the registry wants none.
//!
//! A name is noted before it is pulled, and looked for after a container was made and before it is
//! started: so nobody gets in between.

use database::private_images::{self, PrivateImage};
use engine::{Engine, EngineError};
use protocol::image::{canonical, repository};

use super::Launch;
use super::error::LaunchError;
use crate::lock::lock;
use crate::wake::now;

/// For so long a registry is not asked again about the same user and image, in milliseconds.
const TRUSTED: i64 = 24 * 60 * 60 * 1_000;

/// Notes that an image is about to be pulled with credentials.
pub(super) async fn begin(launch: &Launch, name: &str) -> Result<(), LaunchError> {
    let _room = launch.room().await;
    add(launch, PrivateImage { image: None, ..of(launch, name)? }).await
}

/// Notes what was pulled, and that the job's owner may have it.
pub(super) async fn end(
    launch: &Launch,
    engine: &dyn Engine,
    name: &str,
) -> Result<(), LaunchError> {
    let image = engine.image_id(name).await?;
    let _room = launch.room().await;
    add(launch, PrivateImage { image: Some(image.clone()), ..of(launch, name)? }).await?;
    remove(launch, &of(launch, name)?).await?;
    prove(launch, &image).await
}

/// Forgets what could not be pulled.
pub(super) async fn give_up(launch: &Launch, name: &str) -> Result<(), LaunchError> {
    let _room = launch.room().await;
    remove(launch, &of(launch, name)?).await
}

/// Refuses the image of a container that its job's owner may not have.
pub(super) async fn check(
    launch: &Launch,
    engine: &dyn Engine,
    name: &str,
) -> Result<(), LaunchError> {
    let node = &launch.place()?.node;
    let on_node: Vec<_> = {
        let known = lock(&launch.shared.containers.images.private);
        known.iter().filter(|image| image.node == *node).cloned().collect()
    };
    if on_node.is_empty() {
        return Ok(());
    }
    let id = engine.image_id(name).await?;
    let same: Vec<_> = on_node.into_iter().filter(|image| is_same(image, name, &id)).collect();
    if same.is_empty() || is_proved(launch, &id).await? {
        return Ok(());
    }
    let user = &launch.attempt.key.user;
    launch.say(format!("asking the registry of {name} whether {user} may have it"));
    let auth = launch.attempt.registry_auth(&launch.shared, launch.role()?).await?;
    match engine.may_pull(name, auth.as_ref()).await {
        Ok(()) if auth.is_none() => {
            // It is everybody's.
            for image in &same {
                remove(launch, image).await?;
            }
            Ok(())
        }
        Ok(()) => prove(launch, &id).await,
        Err(EngineError::NoImage { .. } | EngineError::Denied(_) | EngineError::Refused(_)) => {
            Err(EngineError::Denied(name.to_owned()).into())
        }
        Err(error) => Err(LaunchError::Image(error)),
    }
}

/// Whether an image of this name and id is that one. While its id is not known yet, whatever may turn
/// out to be it is taken for it.
fn is_same(private: &PrivateImage, name: &str, id: &str) -> bool {
    match &private.image {
        Some(image) => image == id,
        None if name.contains('@') => repository(&private.name) == repository(&canonical(name)),
        None => private.name == canonical(name),
    }
}

async fn is_proved(launch: &Launch, image: &str) -> Result<bool, LaunchError> {
    if launch.attempt.has_proved(image) {
        return Ok(true);
    }
    let database = launch.shared.store.database.read();
    let at = private_images::proved(database, &launch.attempt.key.user, image).await?;
    let proved = at.is_some_and(|at| now().since(at) < TRUSTED);
    if proved {
        launch.attempt.note_proved(image);
    }
    Ok(proved)
}

async fn prove(launch: &Launch, image: &str) -> Result<(), LaunchError> {
    let user = &launch.attempt.key.user;
    let moments = (now(), now().plus_millis(-TRUSTED));
    let stored = launch
        .shared
        .store
        .write(async |transaction| private_images::prove(transaction, user, image, moments).await);
    stored.await?;
    launch.attempt.note_proved(image);
    Ok(())
}

fn of(launch: &Launch, name: &str) -> Result<PrivateImage, LaunchError> {
    let node = launch.place()?.node.clone();
    Ok(PrivateImage { node, name: canonical(name), image: None })
}

async fn add(launch: &Launch, image: PrivateImage) -> Result<(), LaunchError> {
    let at = now();
    let stored = launch
        .shared
        .store
        .write(async |transaction| private_images::add(transaction, &image, at).await);
    stored.await?;
    let mut known = lock(&launch.shared.containers.images.private);
    if !known.contains(&image) {
        known.push(image);
    }
    Ok(())
}

async fn remove(launch: &Launch, image: &PrivateImage) -> Result<(), LaunchError> {
    let removed = launch
        .shared
        .store
        .write(async |transaction| private_images::remove(transaction, image).await);
    removed.await?;
    lock(&launch.shared.containers.images.private).retain(|known| known != image);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_image_is_known_in_every_spelling() {
        let private = |image: Option<&str>| PrivateImage {
            node: "node-1".parse().unwrap(),
            name: canonical("r.org:5000/secret/model:1"),
            image: image.map(str::to_owned),
        };
        let same = |image, name: &str| is_same(&private(image), name, "sha256:1");
        // Once its id is known, the name does not matter.
        assert!(same(Some("sha256:1"), "anything:2") && !same(Some("sha256:2"), "r.org:5000/x:1"));
        let digest = "@sha256:0123456789012345678901234567890123456789012345678901234567890123";
        for name in ["r.org:5000/secret/model:1", "R.ORG:5000/secret/model:1"] {
            assert!(same(None, name), "{name}");
        }
        assert!(same(None, &format!("r.org:5000/secret/model{digest}")));
        assert!(same(None, &format!("r.org:5000/secret/model:1{digest}")));
        for name in ["r.org:5000/secret/model:2", "r.org:5000/secret/other:1", "model:1"] {
            assert!(!same(None, name), "{name}");
        }
        assert!(!same(None, &format!("r.org:5000/secret/other{digest}")));
    }
}
