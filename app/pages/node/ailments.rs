use leptos::prelude::*;
use protocol::health::{Ailment, Grade};
use protocol::ids::NodeName;

use crate::i18n::{said, text, tr};
use crate::parts::form_errors::FormAnswer;
use crate::parts::relative_time::RelativeTime;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::nodes::DrainNode;
use crate::session::Session;

/// What is wrong with a node and its GPUs, and what becomes of that.
#[component]
pub(super) fn Ailments(name: NodeName, ailments: Vec<Ailment>) -> impl IntoView {
    let failed = ailments.iter().any(|known| known.grade == Grade::Failed);
    let class = if failed { "notice" } else { "notice notice--warn" };
    let title = tr(match failed {
        true => |t| t.cluster.node_failed,
        false => |t| t.cluster.node_doubtful,
    });
    let points = ailments.into_iter().map(|known| {
        view! { <li>{said(known.to_string())} " · " <RelativeTime at=known.since/></li> }
    });
    let points = points.collect_view();
    let well = Session::get().is_admin().then(|| view! { <IsWell name=name/> });
    view! {
        <div class=class role="alert">
            <p class="notice__title">{title}</p>
            <ul>{points}</ul>
            <p class="hint">{tr(|t| t.cluster.ailments_text)}</p>
            {well}
        </div>
    }
    .into_any()
}

/// An administrator says that it is mended.
#[component]
fn IsWell(name: NodeName) -> impl IntoView {
    let drain = Sending::to::<DrainNode>();
    view! {
        <SendForm to=drain>
            <input type="hidden" name="name" value=name.to_string()/>
            <input type="hidden" name="drain" value="off"/>
            <button class="button button--small" type="submit">{tr(|t| t.cluster.is_well)}</button>
        </SendForm>
        <FormAnswer answer=drain.value() done=text(|t| t.common.saved)/>
    }
}
