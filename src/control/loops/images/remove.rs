use api::changes::Change;
use database::images::ImageRecord;

use super::{release, say};
use crate::container::images::answering;
use crate::shared::Shared;

/// Removes an image from all nodes, then forgets it. A node that is out of contact is waited for:
/// what it still had would come back under a name that is free. Says whether it is done.
pub(super) async fn remove(shared: &Shared, image: &ImageRecord) -> Result<bool, database::Error> {
    let nodes = answering(&shared.nodes);
    for (node, engine) in &nodes {
        if let Err(error) = engine.remove_image(&image.image).await {
            say(&shared.live, &shared.containers, image, format!("removing: {node}: {error}"));
            return Ok(false);
        }
    }
    let cluster = shared.nodes.cluster();
    let names = cluster.nodes.iter().map(|node| &node.settings.name);
    let silent = names.filter(|name| nodes.iter().all(|(node, _)| node != *name));
    if let Some(node) = silent.min() {
        say(
            &shared.live,
            &shared.containers,
            image,
            format!("removing: waiting for {node}, which is out of contact"),
        );
        return Ok(false);
    }
    release(&shared.live, &shared.containers, image);
    shared.store.write(async |t| database::images::forget(t, image.id).await).await?;
    shared.containers.images.progress().remove(&image.id);
    shared.live.tell(Change::Image { owner: image.owner.clone() });
    Ok(true)
}
