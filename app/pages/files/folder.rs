use api::files::{FilePath, FileUsage, FolderPage};
use leptos::prelude::*;

use crate::address;
use crate::i18n::{Reader, text, tr};
use crate::number;
use crate::pages::files::new_folder::NewFolder;
use crate::pages::files::table::Table;
use crate::pages::files::upload::Upload;
use crate::parts::empty_state::EmptyState;
use crate::parts::meter::Meter;

/// A folder: what is in it, and what can be put there.
#[component]
pub(crate) fn Folder(path: FilePath, page: FolderPage, usage: Option<FileUsage>) -> impl IntoView {
    let FolderPage { folder, entries, next } = page;
    let may_change = folder.may_change;
    let more = next.map(|after| {
        let more = format!("{}&after={}", address::files(&path), address::encode(&after));
        view! { <a class="button" href=more>{tr(|t| t.files.more)}</a> }
    });
    let list = if entries.is_empty() && more.is_none() {
        view! { <EmptyState title=text(|t| t.files.empty) hint=text(|_| "")/> }.into_any()
    } else {
        view! { <Table folder=path.clone() entries=entries/> }.into_any()
    };
    let as_code = (may_change && !path.name().is_empty()).then(|| {
        view! {
            <a class="button" href=address::submit_code(&path) title=tr(|t| t.files.as_code_hint)>
                {tr(|t| t.files.as_code)}
            </a>
        }
    });
    let change = if may_change {
        view! { <Upload folder=path.clone()/> }.into_any()
    } else {
        view! { <p class="hint">{tr(|t| t.files.read_only)}</p> }.into_any()
    };
    view! {
        <div class="files__bar">
            {usage.map(|usage| view! { <Used usage=usage/> })}
            <div class="buttons">
                {as_code}
                {may_change.then(|| view! { <NewFolder folder=path.clone()/> })}
            </div>
        </div>
        {list}
        {more.map(|more| view! { <p class="buttons">{more}</p> })}
        {change}
    }
    .into_any()
}

/// How much of the reader's room is taken.
#[component]
fn Used(usage: FileUsage) -> impl IntoView {
    let reader = Reader::get();
    let FileUsage { bytes, quota } = usage;
    match quota {
        Some(quota) => view! {
            <Meter used=bytes total=quota amount=number::bytes label=text(|t| t.files.used_label)/>
        }
        .into_any(),
        None => view! {
            <p class="hint">{move || (reader.texts().files.used)(&number::bytes(bytes))}</p>
        }
        .into_any(),
    }
}
