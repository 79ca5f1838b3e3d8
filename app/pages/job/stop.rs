use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::i18n::{text, text_of};
use crate::parts::about::{About, AskAbout};
use crate::sending::Sending;
use crate::server_fns::jobs::StopJobs;

/// Makes the question before the job is stopped, or deleted.
pub(super) type End = fn(About<JobKey>) -> AnyView;

#[lazy]
pub(super) fn job_stop() -> End {
    |stopping| view! { <StopDialog stopping=stopping/> }.into_any()
}

/// The question. It is there from when it is asked for the first time.
#[component]
fn StopDialog(stopping: About<JobKey>) -> impl IntoView {
    let stop = Sending::to::<StopJobs>();
    view! {
        <AskAbout
            opener=stopping.opener
            asked=stopping.is_asked()
            to=stop
            title=text_of(move |t| (t.job.stop_title)(&name(stopping)))
            words=text(|t| t.job.stop_text)
            act=text(|t| t.job.stop_confirm)
        >
            <input type="hidden" name="keys[]" value=move || key(stopping)/>
        </AskAbout>
    }
}

/// The name of the job that is asked about.
pub(super) fn name(about: About<JobKey>) -> String {
    about.what().map(|key| key.name.to_string()).unwrap_or_default()
}

/// All that tells it from others.
pub(super) fn key(about: About<JobKey>) -> String {
    about.what().map(|key| key.to_string()).unwrap_or_default()
}
