use api::compare::MOST;
use leptos::prelude::*;

use crate::address;
use crate::i18n::{Reader, tr};
use crate::pages::jobs::many_act::{Act, Asking};
use crate::pages::jobs::part::{Question, jobs_many};
use crate::part::opened;
use crate::parts::confirm::Opener;
use crate::parts::selection::Selection;

/// What can be done with the ticked jobs. The question before it is done is fetched when it is asked for
/// the first time.
#[component]
pub(crate) fn Many(selection: Selection) -> impl IntoView {
    let reader = Reader::get();
    let asking = Asking { selection, act: RwSignal::new(None), opener: Opener::new() };
    let asked = Signal::derive(move || asking.act.get().map(|_| ()));
    let question = opened(asked, |()| jobs_many());
    let hidden = move || {
        let count = selection.hidden();
        (count > 0).then(|| format!(" · {}", (reader.texts().finding.elsewhere)(count)))
    };
    view! {
        {move || question.get().map(|question: Question| question(asking))}
        <div class="bulk-bar" class:bulk-bar--shown=move || { selection.count() > 0 }>
            <span role="status">
                {move || (reader.texts().jobs.selected)(selection.count())} {move || hidden()}
            </span>
            <button type="button" class="button" on:click=move |_| selection.clear()>
                {tr(|t| t.finding.unselect)}
            </button>
            <Compare selection=selection/>
            {Act::ALL.into_iter().map(|act| begin(asking, act)).collect_view()}
        </div>
    }
}

/// Leads to the ticked jobs beside each other, where they are neither too few nor too many for that.
#[component]
fn Compare(selection: Selection) -> impl IntoView {
    let reader = Reader::get();
    move || match selection.count() {
        0 | 1 => ().into_any(),
        count if count > MOST as u64 => {
            view! { <span class="hint">{(reader.texts().compare.most)(MOST as u64)}</span> }
                .into_any()
        }
        count => {
            let keys = selection.keys(None);
            let href = address::compare(keys.iter().map(String::as_str), false);
            view! { <a class="button" href=href>{(reader.texts().compare.many)(count)}</a> }
                .into_any()
        }
    }
}

/// Opens the question, where there is anything to be done.
fn begin(asking: Asking, act: Act) -> impl IntoView {
    let reader = Reader::get();
    let count = move || asking.keys(act).len() as u64;
    // What a key looks for.
    let stops = (act == Act::Stop).then_some("");
    move || {
        (count() > 0).then(|| {
            view! {
                <button
                    type="button"
                    class=act.class(true)
                    data-stop=stops
                    on:click=move |_| asking.ask(act)
                >
                    {move || act.title(reader.texts(), count())}
                </button>
            }
        })
    }
}
