use leptos::prelude::*;
use protocol::ids::NodeName;

use crate::i18n::{text, tr};
use crate::parts::ask::Asker;
use crate::parts::form_errors::FormAnswer;
use crate::server_fns::nodes::{DrainNode, drain_node};
use crate::server_fns::queue::effect_of_drain;

/// Empties a node, or lets it take tasks again, after a question that says what that does. Without
/// JavaScript it does it at once.
#[component]
pub(crate) fn Drain(name: NodeName, drained: bool) -> impl IntoView {
    let drain = ServerAction::<DrainNode>::new();
    let asker = Asker::get();
    let asked = name.clone();
    let ask = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        let (of_title, of_effect, of_act) = (asked.to_string(), asked.clone(), asked.clone());
        asker.ask(
            move |t| {
                let title = if drained { t.queue.undrain_title } else { t.queue.drain_title };
                title(&of_title)
            },
            move |t| if drained { t.queue.undrain_text } else { t.cluster.drain_text },
            effect_of_drain(of_effect, !drained),
            move || drain_node(of_act, !drained),
        );
    };
    view! {
        <ActionForm action=drain>
            <input type="hidden" name="name" value=name.to_string()/>
            <input type="hidden" name="drain" value=(!drained).to_string()/>
            <button
                class="button button--small"
                type="submit"
                title=tr(|t| t.cluster.drain_text)
                on:click=ask
            >
                {tr(move |t| if drained { t.cluster.undrain } else { t.cluster.drain })}
            </button>
        </ActionForm>
        <FormAnswer answer=drain.value() done=text(|t| t.common.saved)/>
    }
}
