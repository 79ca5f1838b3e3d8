use api::compare::Run;
use leptos::prelude::*;

use crate::i18n::{Reader, Texts, tr};

/// A table with a column a job. Where there is no room for columns, each row is a card with the jobs below
/// each other, by the names in `--column-n`.
#[component]
pub(super) fn Beside(
    label: fn(&'static Texts) -> &'static str,
    runs: Vec<Run>,
    children: Children,
) -> impl IntoView {
    let reader = Reader::get();
    let names: Vec<String> = runs.iter().map(|run| run.key.to_string()).collect();
    let style: Vec<_> =
        names.iter().zip(2..).map(|(name, at)| format!("--column-{at}:\"{name}\"")).collect();
    let heads = names.into_iter().map(|name| view! { <th scope="col">{name}</th> });
    let heads = heads.collect_view();
    view! {
        <div class="table-scroll" tabindex="0" role="group" aria-label=move || label(reader.texts())>
            <table class="table table--compare" style=style.join(";")>
                <thead><tr><th scope="col">{tr(|t| t.compare.what)}</th> {heads}</tr></thead>
                <tbody>{children()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// A row of it. Where the jobs differ it has a sign and a word.
pub(super) fn row(head: AnyView, differs: bool, cells: Vec<AnyView>) -> AnyView {
    let word = differs
        .then(|| view! { <span class="visually-hidden">" " {tr(|t| t.compare.differs)}</span> });
    let cells = cells.into_iter().map(|cell| view! { <td>{cell}</td> });
    let cells = cells.collect_view();
    view! {
        <tr class:table__differs=differs>
            <th scope="row">{head} {word}</th>
            {cells}
        </tr>
    }
    .into_any()
}
