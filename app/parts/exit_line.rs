use leptos::prelude::*;
use protocol::exit::Exit;

use crate::i18n::{told, tr};

/// Why something ended, in one sentence with the exit code.
#[component]
pub(crate) fn ExitLine(exit: Exit) -> impl IntoView {
    let code = exit.code.filter(|code| *code != 0).map(|code| {
        view! {
            <span class="exit-line__code">{tr(|t| t.job.exit_code)} " " <b>{code}</b></span>
        }
    });
    let cause = exit.cause;
    view! { <span class="exit-line"><span>{told(move |t| (t.cause)(&cause))}</span> {code}</span> }
}
