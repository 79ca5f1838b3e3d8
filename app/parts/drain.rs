use api::cluster::Drain as What;
use leptos::prelude::*;
use protocol::cluster::NodeCondition;
use protocol::ids::NodeName;

use crate::i18n::{Texts, text, told};
use crate::parts::ask::Asker;
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::nodes::{DrainNode, drain_node};
use crate::server_fns::queue::effect_of_drain;

/// Empties a node, now or as its tasks end, or lets it take tasks again.
#[component]
pub(crate) fn Drain(
    name: NodeName,
    condition: NodeCondition,
    /// Whether what runs there is already to go at once.
    emptied: bool,
) -> impl IntoView {
    let drain = Sending::to::<DrainNode>();
    let silent = condition == NodeCondition::Unreachable;
    let drained = condition == NodeCondition::Draining || emptied;
    let quietly = if drained { What::Off } else { What::Quietly };
    let now = (!emptied).then(|| {
        view! { <Button name=name.clone() what=What::Now silent=silent drain=drain/> }
    });
    view! {
        <Button name=name what=quietly silent=silent drain=drain/>
        {now}
        <FormAnswer answer=drain.value() done=text(|t| t.common.saved)/>
    }
}

/// Asks first, and says what it does. Without JavaScript it does it at once.
#[component]
fn Button(name: NodeName, what: What, silent: bool, drain: Sending) -> impl IntoView {
    let asker = Asker::get();
    let asked = name.clone();
    let words = move |t: &'static Texts| match what {
        What::Off => t.queue.undrain_text,
        What::Quietly => t.cluster.drain_text,
        What::Now if silent => t.cluster.give_up_text,
        What::Now => t.cluster.empty_text,
    };
    let ask = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        let (of_title, of_effect, of_act) = (asked.to_string(), asked.clone(), asked.clone());
        asker.of_loss(what == What::Now).ask(
            move |t| {
                let title = match what {
                    What::Off => t.queue.undrain_title,
                    What::Quietly => t.queue.drain_title,
                    What::Now => t.queue.empty_title,
                };
                title(&of_title)
            },
            words,
            move || effect_of_drain(of_effect.clone(), what),
            move || drain_node(of_act.clone(), what),
        );
    };
    let value = match what {
        What::Off => "off",
        What::Quietly => "quietly",
        What::Now => "now",
    };
    view! {
        <SendForm to=drain>
            <input type="hidden" name="name" value=name.to_string()/>
            <input type="hidden" name="drain" value=value/>
            <button class="button button--small" type="submit" title=told(words) on:click=ask>
                {told(move |t| match what {
                    What::Off => t.cluster.undrain,
                    What::Quietly => t.cluster.drain,
                    What::Now => t.cluster.empty_now,
                })}
            </button>
        </SendForm>
    }
}
