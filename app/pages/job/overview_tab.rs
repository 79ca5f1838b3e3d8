use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::pages::job::detail::{Detail, Part, of_whole};
use crate::pages::job::overview::Overview;
use crate::pages::job::tags::Tags;
use crate::parts::loaded::Loaded;
use crate::server_fns::jobs::JobSeen;

#[lazy]
pub(super) fn job_overview() -> Part {
    |key, detail| view! { <OverviewTab key=key detail=detail/> }.into_any()
}

#[component]
fn OverviewTab(key: JobKey, detail: Detail) -> impl IntoView {
    view! {
        <div class="stack">
            <Tags key=key detail=detail/>
            <Loaded
                resource=detail
                content=move |seen: JobSeen| {
                    of_whole(seen, |detail| view! { <Overview detail=detail/> }.into_any())
                }
            />
        </div>
    }
}
