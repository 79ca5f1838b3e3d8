use api::saved_views::SavedView;
use leptos::prelude::*;

use crate::i18n::tr;
use crate::pages::jobs::filter::Filter;
use crate::pages::jobs::views_part::{Dialog, jobs_views};
use crate::pages::jobs::views_state::{Views, shown};
use crate::part::opened;
use crate::parts::loaded::Loaded;

/// The reader's named views of the list, and the dialog that saves and changes them.
#[component]
pub(crate) fn SavedViews(views: Views) -> impl IntoView {
    let filter = views.filter;
    let wanted = Signal::derive(move || views.asked.get().then_some(()));
    let dialog = opened(wanted, |()| jobs_views());
    view! {
        <Loaded
            resource=views.saved
            lines=1
            content=move |saved| view! { <Chips saved=saved filter=filter/> }
        />
        {move || dialog.get().map(|dialog: Dialog| dialog(views))}
    }
    .into_any()
}

/// Opens the dialog for what the list shows.
#[component]
pub(crate) fn SaveView(views: Views) -> impl IntoView {
    let open = move |_| {
        views.asked.set(true);
        views.opener.open();
    };
    view! {
        <button type="button" class="button button--quiet" on:click=open>
            {tr(|t| t.views.save)}
        </button>
    }
    .into_any()
}

/// Each leads to its list; the one that is shown is marked.
#[component]
fn Chips(saved: Vec<SavedView>, filter: Memo<Filter>) -> impl IntoView {
    let chips = saved.into_iter().map(|view| {
        let address = shown(&view).address();
        let leads_to = address.clone();
        let current = move || (filter.read().on_page(1).address() == address).then_some("true");
        view! { <li><a class="segment" href=leads_to aria-current=current>{view.name}</a></li> }
    });
    let chips = chips.collect_view();
    view! { <ul class="views__list" aria-label=tr(|t| t.views.title)>{chips}</ul> }.into_any()
}
