use leptos::prelude::*;
use protocol::cluster::NodeCondition;

use crate::i18n::{Texts, tr};

type Words = fn(&'static Texts) -> &'static str;

/// Whether a node takes tasks, as colour, silhouette and word. The silhouettes are drawn by
/// [`ConditionShapes`].
#[component]
pub(crate) fn ConditionChip(condition: NodeCondition) -> impl IntoView {
    let (modifier, shape, word): (_, _, Words) = match condition {
        NodeCondition::Ready => ("succeeded", "#node-ready", |t| t.cluster.ready),
        NodeCondition::Draining => ("waiting", "#node-draining", |t| t.cluster.draining),
        NodeCondition::Unreachable => ("failed", "#node-unreachable", |t| t.cluster.unreachable),
    };
    view! {
        <span class=format!("chip chip--{modifier}")>
            <svg class="chip__glyph" aria-hidden="true"><use_ href=shape></use_></svg>
            <span class="chip__word">{tr(word)}</span>
        </span>
    }
}

/// The silhouettes of all conditions, once a page: a list of nodes shows one in each row.
#[component]
pub(crate) fn ConditionShapes() -> impl IntoView {
    view! {
        <svg width="0" height="0" aria-hidden="true" hidden="">
            <g id="node-ready">
                <path class="chip__full" d="M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8z"></path>
                <path class="chip__cut" d="m5 8.3 2.2 2.2L11.2 6"></path>
            </g>
            <g id="node-draining">
                <path d="M8 2l6 11H2z"></path>
                <path d="M8 6.5v3M8 11.2v.1"></path>
            </g>
            <g id="node-unreachable">
                <path class="chip__full" d="M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4z"></path>
                <path class="chip__cut" d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8"></path>
            </g>
        </svg>
    }
}
