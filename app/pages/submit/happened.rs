use leptos::prelude::*;
use protocol::fields::JobField;

use crate::i18n::{Texts, told, tr};
use crate::pages::submit::draft::keep::discard;
use crate::pages::submit::state::{Editing, Notice};
use crate::part::MakeView;
use crate::parts::relative_time::RelativeTime;

/// What happened to the text.
#[lazy]
pub(super) fn submit_happened() -> MakeView {
    || view! { <Happened/> }.into_any()
}

/// What happened to the text, how to take it back, and the text that another tab keeps.
#[component]
pub(crate) fn Happened() -> impl IntoView {
    let editing = Editing::get();
    view! {
        {move || editing.notice.get().map(|notice| view! { <Here notice=notice/> }.into_any())}
        <Elsewhere/>
    }
}

#[component]
fn Here(notice: Notice) -> impl IntoView {
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
        let offer = view! {
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
        };
        Some(offer.into_any())
    };
    view! { {move || offered()} }
}

#[component]
fn WayBack(notice: Notice) -> impl IntoView {
    let editing = Editing::get();
    match notice {
        Notice::DraftRestored => Some(
            view! {
                <button type="button" class="button button--small" on:click=move |_| discard(editing)>
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
