use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::pages::job::detail::{Detail, Part};
use crate::pages::job::overview::Overview;
use crate::pages::job::tags::Tags;
use crate::parts::loaded::Loaded;

#[lazy]
pub(super) fn job_overview() -> Part {
    |key, detail| view! { <OverviewTab key=key detail=detail/> }.into_any()
}

#[component]
fn OverviewTab(key: JobKey, detail: Detail) -> impl IntoView {
    view! {
        <div class="stack">
            <Tags key=key detail=detail/>
            <Loaded resource=detail content=move |detail| view! { <Overview detail=detail/> }/>
        </div>
    }
}
