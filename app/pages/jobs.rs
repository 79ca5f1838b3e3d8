pub(crate) mod filter;
mod filter_bar;
mod many;
mod many_act;
mod many_question;
mod part;
mod suggest;
mod table;
mod views;
mod views_dialog;
mod views_part;
mod views_state;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::i18n::{text, tr};
use crate::live::Live;
use crate::pages::jobs::filter::{Filter, PAGE};
use crate::pages::jobs::filter_bar::{FilterBar, States};
use crate::pages::jobs::many::Many;
use crate::pages::jobs::table::JobTable;
use crate::pages::jobs::views::{SaveView, SavedViews};
use crate::pages::jobs::views_state::Views;
use crate::parts::loaded::Loaded;
use crate::parts::page_header::PageHeader;
use crate::parts::pagination::{Pagination, Window};
use crate::parts::selection::Selection;
use crate::reading::reading;
use crate::server_fns::jobs::{JobList, list_jobs};
use crate::session::Session;

/// The list of jobs: filter, order and page are in the address, changes come by themselves.
#[component]
pub(crate) fn JobsPage() -> impl IntoView {
    let query = use_query_map();
    let filter = Memo::new(move |_| Filter::read(|key| query.read().get(key)));
    let session = Session::get();
    let (changes, queue) = (Live::get().jobs(), Live::get().queue());
    let list = reading(
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
    let views = Views::of(filter);
    view! {
        <PageHeader title=text(|t| t.jobs.title)>
            <a class="button button--primary" href="/submit">{tr(|t| t.nav.submit)}</a>
        </PageHeader>
        <SavedViews views=views/>
        <FilterBar filter=filter>
            <SaveView views=views/>
        </FilterBar>
        <Loaded
            resource=list
            lines=10
            content=move |list| {
                view! { <Found list=list filter=filter.get_untracked() selection=selection/> }
            }
        />
        <Many selection=selection/>
    }
}

/// The jobs that the filter finds; nothing where it cannot be read.
#[component]
fn Found(list: JobList, filter: Filter, selection: Selection) -> impl IntoView {
    if !filter.is_good() {
        selection.show(Vec::new());
        return ().into_any();
    }
    let JobList { page, counts } = list;
    let window = Window { page: filter.page, size: PAGE, total: page.total };
    let here = filter.clone();
    view! {
        <States filter=filter.clone() counts=counts/>
        <JobTable jobs=page.jobs filter=filter selection=selection/>
        <Pagination window=window address=move |page| here.on_page(page).address()/>
    }
    .into_any()
}
