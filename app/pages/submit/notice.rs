use api::ErrorCode;
use leptos::prelude::*;
use protocol::fields::JobField;

use crate::i18n::{Texts, told, tr};
use crate::pages::submit::draft;
use crate::pages::submit::part::submit_cloned;
use crate::pages::submit::state::{Editing, Notice};
use crate::part::opened;
use crate::parts::relative_time::RelativeTime;

/// What happened to the text, and how to take it back.
#[component]
pub(crate) fn Notices() -> impl IntoView {
    let editing = Editing::get();
    let is_clone = Signal::derive(move || editing.cloned_from.read().is_some().then_some(()));
    let cloned = opened(is_clone, |()| submit_cloned());
    view! {
        {move || cloned.get().map(|cloned| cloned())}
        <div aria-live="polite" class="submit__notices">
            {move || editing.notice.get().map(|notice| view! { <Happened notice=notice/> })}
            <Elsewhere/>
        </div>
    }
}

#[component]
fn Happened(notice: Notice) -> impl IntoView {
    let said = notice.clone();
    view! {
        <div class="notice notice--good submit__notice">
            <p>{told(move |t| words(t, &said))}</p>
            <WayBack notice=notice/>
        </div>
    }
}

/// Another tab's text, to be taken or left.
#[component]
fn Elsewhere() -> impl IntoView {
    let editing = Editing::get();
    let drafts = editing.drafts;
    let offered = move || {
        let draft = drafts.offer.get()?.draft;
        let tree = editing.tree_of(&draft.text);
        let name = tree.map(|tree| tree.text(&tree.job_path(JobField::Name))).unwrap_or_default();
        Some(view! {
            <div class="notice notice--warn submit__notice">
                <p>
                    {told(move |t| (t.submit.draft_elsewhere)(&name))} " "
                    <RelativeTime at=draft.at/>
                </p>
                <div class="buttons">
                    <button type="button" class="button button--small" on:click=move |_| drafts.take(editing)>
                        {tr(|t| t.submit.draft_take)}
                    </button>
                    <button type="button" class="button button--small" on:click=move |_| drafts.decline()>
                        {tr(|t| t.submit.draft_leave)}
                    </button>
                </div>
            </div>
        })
    };
    view! { {move || offered()} }
}

#[component]
fn WayBack(notice: Notice) -> impl IntoView {
    let editing = Editing::get();
    match notice {
        Notice::DraftRestored => Some(
            view! {
                <button type="button" class="button button--small" on:click=move |_| draft::discard(editing)>
                    {tr(|t| t.submit.discard)}
                </button>
            }
            .into_any(),
        ),
        Notice::TemplateLoaded { before } | Notice::DraftTaken { before } => {
            let undo = move |_| {
                editing.text.set(before.clone());
                editing.notice.set(None);
            };
            Some(
                view! {
                    <button type="button" class="button button--small" on:click=undo>
                        {tr(|t| t.submit.undo)}
                    </button>
                }
                .into_any(),
            )
        }
        Notice::FileRead(_) | Notice::FileUnreadable => None,
    }
}

fn words(texts: &'static Texts, notice: &Notice) -> String {
    match notice {
        Notice::DraftRestored => texts.submit.draft_restored.to_owned(),
        Notice::TemplateLoaded { .. } => texts.submit.template_loaded.to_owned(),
        Notice::DraftTaken { .. } => texts.submit.draft_taken.to_owned(),
        Notice::FileRead(name) => (texts.submit.file_read)(name),
        Notice::FileUnreadable => texts.submit.file_unreadable.to_owned(),
    }
}

/// That the server refused what a browser without JavaScript posted; the check beside the text
/// says why.
#[component]
pub(crate) fn Refused(refused: Signal<String>) -> impl IntoView {
    // An address may say anything; only words of ours are shown.
    let code = Memo::new(move |_| {
        serde_json::from_value::<ErrorCode>(refused.get().into()).ok().map(|code| code.to_string())
    });
    view! {
        <Show when=move || code.read().is_some()>
            <p class="notice" role="alert">
                {tr(|t| t.submit.rail.refused)} " " <code>{move || code.get()}</code>
            </p>
        </Show>
    }
}
