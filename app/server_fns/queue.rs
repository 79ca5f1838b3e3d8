use api::cluster::Drain;
use api::queue::{Effect, QueueChange, QueuePlace};
use leptos::prelude::*;
use protocol::ids::{JobKey, NodeName};
use protocol::spec::Priority;
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::forms::{ClusterForm, NodeForm};
use crate::json::Answer;
use crate::server_fns::jobs::JobKeyText;
use crate::server_fns::reads::Reads;

/// A change of a job's turn as one text, as forms send it: `hold`, `release`, a place in the queue,
/// or a priority's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Turn(pub(crate) QueueChange);

/// The places by their words.
const PLACES: [(QueuePlace, &str); 4] = [
    (QueuePlace::First, "first"),
    (QueuePlace::Earlier, "earlier"),
    (QueuePlace::Later, "later"),
    (QueuePlace::Last, "last"),
];

impl TryFrom<String> for Turn {
    type Error = String;
    fn try_from(word: String) -> Result<Self, String> {
        let place = PLACES.into_iter().find(|(_, known)| *known == word);
        Ok(Turn(match (word.as_str(), place) {
            ("hold", _) => QueueChange::Hold,
            ("release", _) => QueueChange::Release,
            (_, Some((place, _))) => QueueChange::Move { place },
            (number, None) => {
                let priority = number.parse().map_err(|_| format!("{number:?} is no turn"))?;
                QueueChange::Priority { priority: Priority(priority) }
            }
        }))
    }
}

impl From<Turn> for String {
    fn from(Turn(change): Turn) -> String {
        match change {
            QueueChange::Hold => "hold".to_owned(),
            QueueChange::Release => "release".to_owned(),
            QueueChange::Priority { priority } => priority.0.to_string(),
            QueueChange::Move { place } => {
                let word = PLACES.into_iter().find(|(known, _)| *known == place);
                word.map(|(_, word)| word.to_owned()).unwrap_or_default()
            }
        }
    }
}

/// Changes a waiting job's turn.
#[server(prefix = "/fn", endpoint = "queue/change", output = Answer)]
pub(crate) async fn change_turn(key: JobKeyText, turn: Turn) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.queue.change(&actor, &key.0, turn.0).await.map_err(failed)
}

/// What a change of a job's turn would do.
#[server(prefix = "/fn", endpoint = "queue/effect", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn effect_of_turn(key: JobKey, turn: Turn) -> Result<Effect, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.queue.effect(&actor, &key, turn.0).await.map_err(failed)
}

/// What draining a node, or ending that, would do.
#[server(prefix = "/fn", endpoint = "queue/drain", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn effect_of_drain(name: NodeName, drain: Drain) -> Result<Effect, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.nodes.drain_effect(&actor, &name, drain).await.map_err(failed)
}

/// What saving a node would do.
#[server(prefix = "/fn", endpoint = "queue/node", output = Answer)]
pub(crate) async fn effect_of_node(node: NodeForm) -> Result<Effect, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let settings = crate::settings::node(&node).map_err(failed)?;
    backend.nodes.save_effect(&actor, settings).await.map_err(failed)
}

/// What removing a node would do.
#[server(prefix = "/fn", endpoint = "queue/remove-node", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn effect_of_removal(name: NodeName) -> Result<Effect, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.nodes.remove_effect(&actor, &name).await.map_err(failed)
}

/// What saving a virtual cluster would do.
#[server(prefix = "/fn", endpoint = "queue/cluster", output = Answer)]
pub(crate) async fn effect_of_cluster(cluster: ClusterForm) -> Result<Effect, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let settings = crate::settings::cluster(&cluster).map_err(failed)?;
    backend.virtual_clusters.save_effect(&actor, settings).await.map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_read_as_it_is_written() {
        for word in ["hold", "release", "first", "earlier", "later", "last", "100", "-1"] {
            let turn = Turn::try_from(word.to_owned()).unwrap();
            assert_eq!(String::from(turn), word);
        }
        assert!(Turn::try_from("sell".to_owned()).is_err());
    }
}
