use api::jobs::JobDetail;
use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::i18n::said;
use crate::reading::Reading;
use crate::server_fns::jobs::JobSeen;

/// What the parts of the page read.
pub(super) type Detail = Reading<JobSeen>;

/// Makes the view of a part.
pub(super) type Part = fn(JobKey, Detail) -> AnyView;

/// Shows something of all that there is to know of the job.
pub(super) fn of_whole(seen: JobSeen, show: impl FnOnce(JobDetail) -> AnyView) -> AnyView {
    match seen.whole() {
        Ok(detail) => show(detail),
        Err(error) => {
            view! { <p class="notice" role="alert">{said(error.to_string())}</p> }.into_any()
        }
    }
}
