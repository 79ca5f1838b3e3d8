mod collect;
mod crumbs;
mod dialogs;
mod file;
mod folder;
mod new_folder;
mod send;
mod table;
mod upload;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::i18n::text;
use crate::pages::files::crumbs::Crumbs;
use crate::pages::files::dialogs::{Changes, Dialogs};
use crate::pages::files::file::FileContent;
use crate::pages::files::folder::Folder;
use crate::pages::files::upload::Progress;
use crate::parts::loaded::Loaded;
use crate::parts::page_header::PageHeader;
use crate::reading::reading;
use crate::server_fns::files::{OpenedPath, Shown, open_path};

/// The storage: the reader's own folder, or the folder or file that the address names.
#[component]
pub(crate) fn FilesPage() -> impl IntoView {
    let query = use_query_map();
    let part = move |name: &str| query.read().get(name).unwrap_or_default();
    let changes = Changes::provide();
    Progress::provide();
    let opened = reading(
        move || (part("path"), part("after"), changes.count()),
        |(path, after, _)| open_path(path, after),
    );
    view! {
        <noscript inner_html=WITHOUT_SCRIPT></noscript>
        <PageHeader title=text(|t| t.files.title)/>
        <Loaded resource=opened lines=10 content=move |opened| view! { <Opened opened=opened/> }/>
        <Dialogs changes=changes/>
    }
    .into_any()
}

/// Without JavaScript files are read; what changes them needs it.
const WITHOUT_SCRIPT: &str =
    "<style>.files__drop, .files__actions button { display: none !important }</style>";

#[component]
fn Opened(opened: OpenedPath) -> impl IntoView {
    let OpenedPath { path, shown, usage } = opened;
    let inside = match shown {
        Shown::Folder(page) => {
            view! { <Folder path=path.clone() page=page usage=usage/> }.into_any()
        }
        Shown::File { file, text } => {
            view! { <FileContent path=path.clone() file=file content=text/> }.into_any()
        }
    };
    view! {
        <div class="stack">
            <Crumbs path=path/>
            {inside}
        </div>
    }
}
