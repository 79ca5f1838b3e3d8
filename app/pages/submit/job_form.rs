use leptos::prelude::*;

use crate::i18n::{told, tr, worded};
use crate::pages::submit::basics::{Basics, More, Storage};
use crate::pages::submit::declared::fold::Declared;
use crate::pages::submit::environment::Environment;
use crate::pages::submit::images::submit_form_images;
use crate::pages::submit::roles::Roles;
use crate::pages::submit::state::Editing;
use crate::part::{MakeView, opened};

/// The text as fields.
#[lazy]
pub(super) fn submit_form() -> MakeView {
    || view! { <JobForm/> }.into_any()
}

/// The text as fields. A text that cannot be read says where instead. What changes it, and what can be chosen,
/// is fetched as soon as somebody comes near.
#[component]
pub(crate) fn JobForm() -> impl IntoView {
    let editing = Editing::get();
    let near = Signal::derive(move || editing.near.get().then_some(()));
    let choices = opened(near, |()| submit_form_images());
    view! {
        <Unreadable/>
        <fieldset
            class="job-form stack"
            disabled=move || !editing.is_readable()
            hidden=move || !editing.is_readable()
            on:focusin=move |_| editing.fetch_engine()
            on:pointermove=move |_| editing.fetch_engine()
        >
            {move || choices.get().map(|choices| choices())}
            <Basics/>
            <Roles/>
            <More/>
            <Environment/>
            <Declared/>
            <Storage/>
        </fieldset>
    }
}

#[component]
fn Unreadable() -> impl IntoView {
    let editing = Editing::get();
    let unreadable = move || {
        let problem = editing.tree.read().as_ref().err().cloned()?;
        let said = problem.clone();
        Some(view! {
            <div class="notice submit__notice" role="alert">
                <p>{told(move |t| (t.submit.unreadable)(&worded(&said, t.said)))}</p>
                <button
                    type="button"
                    class="button button--small"
                    on:click=move |_| editing.go_to(&problem)
                >
                    {tr(|t| t.submit.open_editor)}
                </button>
            </div>
        })
    };
    view! { {move || unreadable()} }
}
