use leptos::prelude::*;
use protocol::cluster::NodeCondition;

use crate::i18n::tr;

/// Whether a node takes tasks, as colour, silhouette and word.
#[component]
pub(crate) fn ConditionChip(condition: NodeCondition) -> impl IntoView {
    let (modifier, ring, sign) = match condition {
        NodeCondition::Ready => (
            "succeeded",
            "M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8z",
            "m5 8.3 2.2 2.2L11.2 6",
        ),
        NodeCondition::Draining => ("waiting", "M8 2l6 11H2z", "M8 6.5v3M8 11.2v.1"),
        NodeCondition::Unreachable => (
            "failed",
            "M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4z",
            "m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8",
        ),
    };
    view! {
        <span class=format!("chip chip--{modifier}")>
            <svg class="chip__glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
                <path class="chip__ring" d=ring></path>
                <path class="chip__sign" d=sign></path>
            </svg>
            <span class="chip__word">
                {tr(move |t| match condition {
                    NodeCondition::Ready => t.cluster.ready,
                    NodeCondition::Draining => t.cluster.draining,
                    NodeCondition::Unreachable => t.cluster.unreachable,
                })}
            </span>
        </span>
    }
}
