//! Programs that a node's processors cannot execute.

use engine::Engine;
use lifecycle::explain;
use protocol::exit::{Cause, Exit};
use protocol::ids::NodeName;

use crate::known::capacity::architecture;
use crate::known::nodes::KnownNodes;

/// The same exit; where what it says is that a program could not be executed since it is made for other
/// processors, and the image is, both are named.
pub(crate) async fn explained(
    nodes: &KnownNodes,
    engine: &dyn Engine,
    (node, image): (&NodeName, &str),
    exit: Exit,
) -> Exit {
    if !explain::is_foreign(&exit) {
        return exit;
    }
    let of_node = nodes.cluster().node(node).and_then(architecture).cloned();
    // Who is not told stays with what the log says.
    let of_image = engine.image_architecture(image).await.unwrap_or_default();
    match (of_image, of_node) {
        (Some(of_image), Some(of_node)) if of_image != of_node => {
            let (node, image) = (node.clone(), image.to_owned());
            let (of_image, of_node) = (Some(of_image), Some(of_node));
            Exit { cause: Cause::OtherArchitecture { node, image, of_image, of_node }, ..exit }
        }
        _ => exit,
    }
}
