mod attention;
mod free;
mod mine;

use leptos::prelude::*;

use crate::i18n::{text, tr};
use crate::pages::home::attention::Attention;
use crate::pages::home::free::WhereFree;
use crate::pages::home::mine::MyJobs;
use crate::parts::page_header::PageHeader;

/// What happens to my jobs, where I can run now, what needs my attention.
#[component]
pub(crate) fn HomePage() -> impl IntoView {
    view! {
        <PageHeader title=text(|t| t.nav.home)>
            <a class="button button--primary" href="/submit">{tr(|t| t.nav.submit)}</a>
        </PageHeader>
        <div class="home">
            <div class="stack home__main"><MyJobs/></div>
            <div class="stack"><Attention/> <WhereFree/></div>
        </div>
    }
}
