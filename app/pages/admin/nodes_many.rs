use api::cluster::Drain;
use leptos::prelude::*;
use leptos::task::spawn_local;
use protocol::ids::NodeName;

use crate::failed::Failed;
use crate::i18n::{Reader, Texts, text_of, tr};
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::selection::Selection;
use crate::server_fns::nodes::drain_node;

/// How many nodes are named.
const NAMED: usize = 10;

/// Nodes that stay as they were, each with why.
type Refused = RwSignal<Vec<(String, Failed)>>;

/// Drains the ticked nodes one after the other, once a question that names them was answered.
#[component]
pub(super) fn DrainMany(selection: Selection) -> impl IntoView {
    let (reader, opener) = (Reader::get(), Opener::new());
    let refused = Refused::new(Vec::new());
    let busy = RwSignal::new(false);
    let title = text_of(move |t| (t.cluster.drain_many)(selection.count()));
    let words = text_of(move |t| question(t, &selection.keys(None)));
    let begin = move |_| {
        refused.set(Vec::new());
        opener.open();
    };
    let act = move |_| {
        if !busy.get_untracked() {
            busy.set(true);
            spawn_local(drain(selection, untrack(|| selection.keys(None)), refused, busy, opener));
        }
    };
    view! {
        <Confirm opener=opener title=title text=words>
            <Mistakes refused=refused/>
            <button type="button" class="button button--primary" disabled=move || busy.get() on:click=act>
                {move || title.get()}
            </button>
        </Confirm>
        <div class="bulk-bar" class:bulk-bar--shown=move || { selection.count() > 0 }>
            <span role="status">{move || (reader.texts().jobs.selected)(selection.count())}</span>
            <button type="button" class="button" on:click=move |_| selection.clear()>
                {tr(|t| t.finding.unselect)}
            </button>
            <button type="button" class="button" on:click=begin>{move || title.get()}</button>
        </div>
    }
    .into_any()
}

/// What was drained is ticked no more; the question stays where something was refused.
async fn drain(
    selection: Selection,
    names: Vec<String>,
    refused: Refused,
    busy: RwSignal<bool>,
    opener: Opener,
) {
    let mut failed = Vec::new();
    for name in names {
        let Ok(node) = name.parse::<NodeName>() else { continue };
        match drain_node(node, Drain::Quietly).await {
            Ok(()) => selection.untick(std::iter::once(&name)),
            Err(why) => failed.push((name, why)),
        }
    }
    busy.try_set(false);
    if failed.is_empty() {
        opener.close();
    }
    refused.try_set(failed);
}

#[component]
fn Mistakes(refused: Refused) -> impl IntoView {
    let reader = Reader::get();
    let line = move |(name, why): (String, Failed)| {
        let texts = reader.texts();
        let why = why.sentences(texts).join(" ");
        view! { <li>{[name.as_str(), texts.common.colon, why.as_str()].concat()}</li> }
    };
    let lines = move || {
        let refused = refused.get();
        let any = !refused.is_empty();
        any.then(|| view! { <ul>{refused.into_iter().map(line).collect_view()}</ul> }.into_any())
    };
    view! { <div class="form-answer" role="alert">{move || lines()}</div> }
}

/// What it does, and to which nodes.
fn question(texts: &'static Texts, names: &[String]) -> String {
    let named = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>();
    let further = names.len().saturating_sub(NAMED) as u64;
    let further = (further > 0).then(|| (texts.finding.and_more)(further));
    let mut lines = vec![texts.cluster.drain_many_text.to_owned(), named.join(texts.common.comma)];
    lines.extend(further);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Language;

    #[test]
    fn the_question_names_the_nodes_and_counts_the_rest() {
        let names: Vec<String> = (1..=12).map(|number| format!("n{number}")).collect();
        let texts = Language::English.texts();
        let few = question(texts, &names[..2]);
        assert!(few.ends_with("\nn1, n2"), "{few}");
        let many = question(texts, &names);
        assert!(many.ends_with("n9, n10\nand 2 more"), "{many}");
    }
}
