use api::saved_views::SavedView;
use leptos::prelude::*;

use crate::i18n::tr;
use crate::pages::jobs::filter::Filter;
use crate::pages::jobs::views_part::{Dialog, jobs_views};
use crate::pages::jobs::views_state::{Views, shown};
use crate::part::opened;
use crate::parts::confirm::Opener;
use crate::parts::loaded::Loaded;
use crate::reading::reading;
use crate::server_fns::saved_views::list_views;

/// The reader's named views of the list, and what saves and changes them.
#[component]
pub(crate) fn SavedViews(filter: Memo<Filter>) -> impl IntoView {
    let changes = RwSignal::new(0_usize);
    let saved = reading(move || changes.get(), |_| list_views());
    let opener = Opener::new();
    let views = Views { filter, saved, changes, opener };
    // The dialog's code comes when it is needed.
    let asked = RwSignal::new(false);
    let wanted = Signal::derive(move || asked.get().then_some(()));
    let dialog = opened(wanted, |()| jobs_views());
    let open = move |_| {
        asked.set(true);
        opener.open();
    };
    view! {
        <div class="views">
            <Loaded
                resource=saved
                lines=1
                content=move |saved| view! { <Chips saved=saved filter=filter/> }
            />
            <button type="button" class="button button--small button--quiet" on:click=open>
                {tr(|t| t.views.save)}
            </button>
        </div>
        {move || dialog.get().map(|dialog: Dialog| dialog(views))}
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
