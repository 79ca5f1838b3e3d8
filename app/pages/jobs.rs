pub(crate) mod filter;
mod filter_bar;
pub(crate) mod stop_many;
mod suggest;
mod table;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::i18n::{text, tr};
use crate::live::Live;
use crate::pages::jobs::filter::{Filter, PAGE};
use crate::pages::jobs::filter_bar::FilterBar;
use crate::pages::jobs::stop_many::{Selection, StopMany};
use crate::pages::jobs::table::JobTable;
use crate::parts::loaded::Loaded;
use crate::parts::page_header::PageHeader;
use crate::parts::pagination::{Pagination, Window};
use crate::server_fns::jobs::{JobList, list_jobs};
use crate::session::Session;

/// The list of jobs: filter, order and page are in the address, changes come by themselves.
#[component]
pub(crate) fn JobsPage() -> impl IntoView {
    let query = use_query_map();
    let filter = Memo::new(move |_| Filter::read(|key| query.read().get(key)));
    let session = Session::get();
    let (changes, queue) = (Live::get().jobs(), Live::get().queue());
    let list = Resource::new(
        move || (filter.get(), changes.get(), queue.get()),
        move |(filter, _, _)| {
            let me = session.actor().map(|actor| actor.user);
            let query = filter.query(me.as_ref());
            async move {
                match query {
                    Some(query) => list_jobs(query).await,
                    None => Ok(JobList::default()),
                }
            }
        },
    );
    let selection = Selection::new();
    view! {
        <PageHeader title=text(|t| t.jobs.title)>
            <a class="button button--primary" href="/submit">{tr(|t| t.nav.submit)}</a>
        </PageHeader>
        <Loaded
            resource=list
            lines=10
            content=move |JobList { page, counts }| {
                let filter = filter.get_untracked();
                let bar = view! { <FilterBar filter=filter.clone() counts=counts/> };
                if !filter.is_good() {
                    return bar.into_any();
                }
                let window = Window { page: filter.page, size: PAGE, total: page.total };
                let here = filter.clone();
                view! {
                    {bar}
                    <JobTable jobs=page.jobs filter=filter selection=selection/>
                    <Pagination window=window address=move |page| here.on_page(page).address()/>
                }
                .into_any()
            }
        />
        <StopMany selection=selection/>
    }
}
