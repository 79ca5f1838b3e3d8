use leptos::prelude::*;
use protocol::ids::NodeName;

use crate::i18n::{text, tr};
use crate::parts::form_errors::FormAnswer;
use crate::server_fns::nodes::DrainNode;

/// Empties a node, or lets it take tasks again.
#[component]
pub(crate) fn Drain(name: NodeName, drained: bool) -> impl IntoView {
    let drain = ServerAction::<DrainNode>::new();
    view! {
        <ActionForm action=drain>
            <input type="hidden" name="name" value=name.to_string()/>
            <input type="hidden" name="drain" value=(!drained).to_string()/>
            <button class="button button--small" type="submit" title=tr(|t| t.cluster.drain_text)>
                {tr(move |t| if drained { t.cluster.undrain } else { t.cluster.drain })}
            </button>
        </ActionForm>
        <FormAnswer answer=drain.value() done=text(|t| t.common.saved)/>
    }
}
