use leptos::prelude::*;

use crate::i18n::{Texts, tr};
use crate::parts::confirm::Opener;

type Word = fn(&'static Texts) -> &'static str;
/// Keys that are pressed together, or one after the other, and what they do.
type Key = (&'static str, Word);

/// Keys by where they do something.
const GROUPS: [(Word, &[Key]); 6] = [
    (
        |t| t.keys.anywhere,
        &[
            ("Ctrl K", |t| t.keys.find),
            ("/", |t| t.keys.filter),
            ("?", |t| t.keys.these),
            ("Esc", |t| t.keys.escape),
        ],
    ),
    (
        |t| t.keys.pages,
        &[
            ("g h", |t| t.nav.home),
            ("g j", |t| t.nav.jobs),
            ("g s", |t| t.nav.submit),
            ("g n", |t| t.nav.nodes),
            ("g v", |t| t.nav.clusters),
            ("g p", |t| t.profile.title),
        ],
    ),
    (
        |t| t.keys.jobs,
        &[
            ("j", |t| t.keys.down),
            ("k", |t| t.keys.up),
            ("x", |t| t.keys.choose),
            ("Enter", |t| t.keys.open),
            ("s", |t| t.keys.stop),
            ("c", |t| t.keys.clone),
            ("l", |t| t.keys.log),
            ("t", |t| t.keys.terminal),
            ("[", |t| t.keys.page_before),
            ("]", |t| t.keys.page_after),
        ],
    ),
    (
        |t| t.keys.job,
        &[("s", |t| t.keys.stop_this), ("[", |t| t.keys.task_before), ("]", |t| t.keys.task_after)],
    ),
    (
        |t| t.keys.logs,
        &[
            ("f", |t| t.keys.follow),
            ("w", |t| t.keys.wrap),
            ("n", |t| t.keys.match_after),
            ("N", |t| t.keys.match_before),
            ("g g", |t| t.keys.start),
            ("G", |t| t.keys.end),
        ],
    ),
    (|t| t.keys.form, &[("Ctrl Enter", |t| t.keys.submit)]),
];

/// All keys. Escape closes it, as it does any dialog.
#[component]
pub(super) fn KeyListDialog(opener: Opener) -> impl IntoView {
    Effect::new(move |_| {
        // It was asked for before it was there.
        if opener.0.get().is_some() {
            opener.open();
        }
    });
    view! {
        <dialog class="dialog key-list" node_ref=opener.0 aria-label=tr(|t| t.keys.title)>
            <h2 class="dialog__title">{tr(|t| t.keys.title)}</h2>
            <p class="hint">{tr(|t| t.keys.silent)}</p>
            <div class="key-list__groups">{GROUPS.into_iter().map(group).collect_view()}</div>
            <div class="dialog__actions">
                <button type="button" class="button" on:click=move |_| opener.close()>
                    {tr(|t| t.keys.close)}
                </button>
            </div>
        </dialog>
    }
    .into_any()
}

fn group((word, keys): (Word, &'static [Key])) -> AnyView {
    let lines = keys.iter().map(|(keys, word)| {
        let keys = keys.split(' ').map(|key| view! { <kbd class="keys">{key}</kbd> " " });
        view! { <div class="key-list__line"><dt>{keys.collect_view()}</dt><dd>{tr(*word)}</dd></div> }
    });
    let lines = lines.collect_view();
    view! {
        <section class="key-list__group">
            <h3>{tr(word)}</h3>
            <dl>{lines}</dl>
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_named_once_where_it_does_something() {
        for (_, keys) in GROUPS {
            let mut named: Vec<_> = keys.iter().map(|(keys, _)| *keys).collect();
            named.sort_unstable();
            named.dedup();
            assert_eq!(named.len(), keys.len(), "{named:?}");
        }
    }
}
