use api::files::{FileKind, FilePath, FileView};
use leptos::prelude::*;

use crate::address;
use crate::i18n::tr;
use crate::number;
use crate::pages::files::dialogs::{Ask, Changes};
use crate::parts::glyph::{Drawn, Glyph};
use crate::parts::relative_time::RelativeTime;
use crate::parts::table::DataTable;

/// What is in a folder.
#[component]
pub(crate) fn Table(folder: FilePath, entries: Vec<FileView>) -> impl IntoView {
    let rows = entries.into_iter().map(|file| {
        let path = folder.child(&file.name);
        view! { <Row path=path file=file/> }
    });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.files.table
            heads=&[
                (|t| t.files.name, None),
                (|t| t.files.size, Some("num")),
                (|t| t.files.modified, None),
                (|t| t.files.owner, None),
                (|t| t.files.actions, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(path: FilePath, file: FileView) -> impl IntoView {
    let (glyph, size) = match file.kind {
        FileKind::File => (Glyph::File, Some(number::bytes(file.size).into_any())),
        FileKind::Folder => (Glyph::Files, None),
        FileKind::Link => (Glyph::File, Some(tr(|t| t.files.link).into_any())),
    };
    let modified = file.modified.map(|at| view! { <RelativeTime at=at/> });
    let owner = match file.owner.clone() {
        Some(owner) => owner.to_string().into_any(),
        None => tr(|t| t.files.everybody).into_any(),
    };
    view! {
        <tr>
            <th scope="row">
                <a class="files__name" href=address::files(&path)>
                    <Drawn glyph=glyph/>
                    <span>{file.name.clone()}</span>
                </a>
            </th>
            <td class="num">{size}</td>
            <td>{modified}</td>
            <td>{owner}</td>
            <td><Actions path=path file=file/></td>
        </tr>
    }
}

#[component]
fn Actions(path: FilePath, file: FileView) -> impl IntoView {
    let changes = Changes::get();
    let download = (file.kind == FileKind::File).then(|| {
        let href = format!("{}?download=true", address::content(&path));
        view! {
            <a class="button button--small" href=href rel="external" download=file.name.clone()>
                {tr(|t| t.common.download)}
            </a>
        }
    });
    let change = file.may_change.then(|| {
        let ask = Ask { path, kind: file.kind };
        let (rename, remove) = (ask.clone(), ask);
        view! {
            <button
                type="button"
                class="button button--small"
                on:click=move |_| changes.ask_rename(rename.clone())
            >
                {tr(|t| t.files.rename)}
            </button>
            <button
                type="button"
                class="button button--small"
                on:click=move |_| changes.ask_remove(remove.clone())
            >
                {tr(|t| t.common.remove)}
            </button>
        }
    });
    view! { <div class="buttons files__actions">{download} {change}</div> }
}
