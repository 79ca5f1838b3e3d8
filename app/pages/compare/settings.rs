//! In what the job files differ.

use api::compare::{Run, Setting};
use leptos::prelude::*;

use crate::difference::{Difference, SHOWN};
use crate::i18n::{told, tr};
use crate::pages::compare::table::{Beside, row};
use crate::pages::compare::wanted::Wanted;
use crate::parts::changed_lines::ChangedLines;

/// What the files say: where they differ, or all of it.
#[component]
pub(super) fn Settings(
    runs: Vec<Run>,
    settings: Vec<Setting>,
    alike: u32,
    wanted: Wanted,
) -> impl IntoView {
    let differing = settings.iter().filter(|setting| setting.differs).count();
    let none =
        (differing == 0).then(|| view! { <p class="hint">{tr(|t| t.compare.no_differences)}</p> });
    let files: Vec<bool> = runs.iter().map(|run| run.file).collect();
    let rows = settings.into_iter().map(|setting| {
        let cells = (0..files.len()).map(|at| cell(&setting.values, at, files[at])).collect();
        row(path(&setting.path), setting.differs, cells)
    });
    let rows: Vec<AnyView> = rows.collect();
    let table = (!rows.is_empty()).then(
        || view! { <Beside label=|t| t.compare.files runs=runs>{rows.collect_view()}</Beside> },
    );
    let all = wanted.all;
    let switch = told(move |t| match all {
        true => t.compare.show_differing.to_owned(),
        false => (t.compare.show_all)(u64::from(alike)),
    });
    view! {
        <section class="stack" aria-labelledby="files">
            <div class="card__head">
                <h2 id="files">{tr(|t| t.compare.files)}</h2>
                <a class="button" href=wanted.showing(!all) data-noscroll="true">{switch}</a>
            </div>
            {none}
            {table}
        </section>
    }
    .into_any()
}

/// Where something stands in the file. Lines of it end after a dot.
fn path(path: &str) -> AnyView {
    let steps = path.split_inclusive('.').map(|step| view! { {step.to_owned()} <wbr/> });
    view! { <code class="compare__path">{steps.collect_view()}</code> }.into_any()
}

/// What stands in one line, in words that stay whole where they have room.
fn words(value: &str) -> AnyView {
    let words = value.split(' ').enumerate().map(|(at, word)| {
        let space = (at > 0).then_some(" ");
        view! { {space} <span class="compare__word">{word.to_owned()}</span> }
    });
    view! { <code class="compare__value">{words.collect_view()}</code> }.into_any()
}

/// What one says. Of several lines the first that has any is told whole, and of the others what is
/// different there.
fn cell(values: &[Option<String>], at: usize, file: bool) -> AnyView {
    if !file {
        return view! { <span class="hint">{tr(|t| t.compare.hidden)}</span> }.into_any();
    }
    let Some(value) = values[at].clone() else {
        return view! { <span class="hint">{tr(|t| t.compare.not_set)}</span> }.into_any();
    };
    let first = values.iter().flatten().next().filter(|_| values[..at].iter().any(Option::is_some));
    match first {
        Some(first) if has_lines(first) && *first == value => {
            view! { <span class="hint">{tr(|t| t.compare.same)}</span> }.into_any()
        }
        Some(first) if has_lines(first) || has_lines(&value) => lines(first, value),
        _ if has_lines(&value) => {
            view! { <pre class="command" tabindex="0">{value}</pre> }.into_any()
        }
        _ => words(&value),
    }
}

fn has_lines(text: &str) -> bool {
    text.trim_end().contains('\n')
}

fn lines(first: &str, value: String) -> AnyView {
    let difference = Difference::between(first, &value);
    if difference == Difference::Much {
        return view! {
            <div>
                <span class="hint">{tr(|t| t.compare.much)}</span>
                <pre class="command" tabindex="0">{value}</pre>
            </div>
        }
        .into_any();
    }
    let (changes, more) = difference.first(SHOWN);
    view! { <ol class="difference__changes"><ChangedLines changes=changes more=more/></ol> }
        .into_any()
}
