use leptos::prelude::*;

use crate::failed::Failed;
use crate::i18n::{told, tr};
use crate::parts::request_id::RequestId;
use crate::parts::sign_in_again::SignInAgain;
use crate::session::Session;

/// What failed, why, and how to go on.
#[component]
pub(crate) fn Failure(
    failed: Failed,
    /// Tries again.
    #[prop(into)]
    retry: Callback<()>,
) -> impl IntoView {
    let signed_out = failed.is_signed_out();
    let heading = told(move |t| if signed_out { t.common.no_actor } else { t.common.failed });
    let request = failed.request_id.clone();
    let words = told(move |t| failed.words(t));
    let way_out = if signed_out {
        view! { <SignIn retry=retry/> }.into_any()
    } else {
        view! {
            <button type="button" class="button" on:click=move |_| retry.run(())>
                {tr(|t| t.common.retry)}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="failure" role="alert">
            <h2 class="failure__title">{heading}</h2>
            <p>{words}</p>
            <RequestId id=request/>
            {way_out}
        </div>
    }
}

/// Signing in where one is; for whoever was never signed in, on the page for it.
#[component]
fn SignIn(retry: Callback<()>) -> impl IntoView {
    let (again, session) = (SignInAgain::get(), Session::get());
    let sign_in = move |event: web_sys::MouseEvent| {
        if session.actor().is_some() {
            event.prevent_default();
            again.then(move || retry.run(()));
        }
    };
    view! {
        <a class="button button--primary" href="/sign-in" rel="external" on:click=sign_in>
            {tr(|t| t.sign_in.title)}
        </a>
    }
}
