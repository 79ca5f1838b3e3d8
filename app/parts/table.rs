use leptos::prelude::*;

use crate::i18n::{Texts, tr};

/// The words of a column's head, and its class where it has one.
pub(crate) type Head = (fn(&'static Texts) -> &'static str, Option<&'static str>);

/// A table with a name, which scrolls by itself where it is wider than the page.
#[component]
pub(crate) fn DataTable(
    label: fn(&'static Texts) -> &'static str,
    /// What sort of table it is, for its looks.
    #[prop(optional)]
    kind: &'static str,
    heads: &'static [Head],
    /// The rows.
    children: Children,
) -> impl IntoView {
    let heads = heads.iter().map(|(words, class)| {
        view! { <th scope="col" class=*class>{tr(words)}</th> }
    });
    view! {
        <div class="table-scroll" tabindex="0" role="group" aria-label=tr(label)>
            <table class=format!("table {kind}").trim_end().to_owned()>
                <thead><tr>{heads.collect_view()}</tr></thead>
                <tbody>{children()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
