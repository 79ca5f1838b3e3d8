use api::files::{FilePath, FileView};
use leptos::prelude::*;

use crate::address;
use crate::i18n::{Reader, tr};
use crate::number;
use crate::parts::relative_time::RelativeTime;

/// A file: what is known of it, its content if it can be shown, and the way to have it.
#[component]
pub(crate) fn FileContent(
    path: FilePath,
    file: FileView,
    /// The file's text, if it is one.
    content: Option<String>,
) -> impl IntoView {
    let href = address::content(&path);
    let download = format!("{href}?download=true");
    let modified = file.modified.map(|at| {
        view! {
            <dt>{tr(|t| t.files.modified)}</dt>
            <dd><RelativeTime at=at/></dd>
        }
    });
    let name = file.name.clone();
    let inside = match content {
        _ if is_picture(&name) => view! { <Picture href=href name=name.clone()/> }.into_any(),
        Some(content) => view! { <Text content=content name=name.clone()/> }.into_any(),
        None => view! { <p class="hint">{tr(|t| t.files.no_preview)}</p> }.into_any(),
    };
    view! {
        <section class="card stack">
            <div class="card__head">
                <h2>{name}</h2>
                <a class="button" href=download rel="external" download=file.name>
                    {tr(|t| t.common.download)}
                </a>
            </div>
            <dl class="facts">
                <dt>{tr(|t| t.files.size)}</dt>
                <dd>{number::bytes(file.size)}</dd>
                {modified}
            </dl>
            {inside}
        </section>
    }
    .into_any()
}

#[component]
fn Picture(href: String, name: String) -> impl IntoView {
    let reader = Reader::get();
    let alt = move || (reader.texts().files.preview)(&name);
    view! { <img class="files__picture" src=href alt=move || alt()/> }
}

#[component]
fn Text(content: String, name: String) -> impl IntoView {
    let reader = Reader::get();
    let label = move || (reader.texts().files.preview)(&name);
    view! {
        <pre class="files__text" tabindex="0" role="region" aria-label=move || label()>{content}</pre>
    }
}

/// Whether a browser shows it as a picture: the kinds that the server serves as such.
fn is_picture(name: &str) -> bool {
    let kind = name.rsplit_once('.').map(|(_, kind)| kind.to_ascii_lowercase());
    let kinds = ["png", "jpg", "jpeg", "gif", "webp", "bmp"];
    kind.is_some_and(|kind| kinds.contains(&kind.as_str()))
}
