use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlFormElement;

use crate::failed::Failed;
use crate::i18n::{Reader, tr};
use crate::parts::request_id::RequestId;
use crate::parts::sign_in_again::SignInAgain;

/// What a form's action answered: its mistakes as one list, or that it is done.
#[component]
pub(crate) fn FormAnswer<T>(
    /// The answer; nothing while there was none.
    #[prop(into)]
    answer: Signal<Option<Result<T, Failed>>>,
    /// What to say when it is done.
    #[prop(into)]
    done: Signal<String>,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
{
    let place = NodeRef::<Div>::new();
    let again = SignInAgain::get();
    Effect::new(move |_| {
        let is_over =
            |answer: &Result<T, Failed>| answer.as_ref().is_err_and(Failed::is_signed_out);
        if answer.read().as_ref().is_some_and(is_over) {
            again.then(move || send_again(place));
        }
    });
    let inside = move || {
        Some(match answer.get()? {
            Ok(_) => view! { <p class="notice notice--good">{move || done.get()}</p> }.into_any(),
            Err(failed) => view! { <Mistakes failed=failed/> }.into_any(),
        })
    };
    view! { <div class="form-answer" aria-live="polite" node_ref=place>{move || inside()}</div> }
}

/// Sends the form around it once more.
fn send_again(place: NodeRef<Div>) {
    let form = place.get_untracked().and_then(|place| place.closest("form").ok().flatten());
    if let Some(form) = form.and_then(|form| form.dyn_into::<HtmlFormElement>().ok()) {
        // What the browser refuses to send it explains itself.
        let _ = form.request_submit();
    }
}

#[component]
fn Mistakes(failed: Failed) -> impl IntoView {
    let (reader, request) = (Reader::get(), failed.request_id.clone());
    let lines = move || {
        let sentences = failed.sentences(reader.texts()).into_iter();
        sentences.map(|line| view! { <li>{line}</li> }).collect_view()
    };
    view! {
        <div class="notice notice--bad" role="alert">
            <p class="notice__title">{tr(|t| t.common.problems)}</p>
            <ul>{move || lines()}</ul>
            <RequestId id=request/>
        </div>
    }
}
