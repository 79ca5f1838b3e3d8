use leptos::prelude::*;

use crate::i18n::{text, tr};
use crate::parts::empty_state::EmptyState;
use crate::parts::page_header::PageHeader;

/// An address that leads nowhere.
#[component]
pub(crate) fn NotFoundPage() -> impl IntoView {
    crate::edge::set_not_found();
    view! {
        <PageHeader title=text(|t| t.common.not_found)/>
        <EmptyState
            title=text(|t| t.common.not_found)
            hint=text(|t| t.common.not_found_hint)
        >
            <a class="button button--primary" href="/">{tr(|t| t.common.go_home)}</a>
        </EmptyState>
    }
}
