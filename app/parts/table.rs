use leptos::prelude::*;

use crate::i18n::{Reader, Texts, tr};
use crate::parts::glyph::{Drawn, Glyph};

type Words = fn(&'static Texts) -> &'static str;

/// The words of a column's head, and its class where it has one.
pub(crate) type Head = (Words, Option<&'static str>);

/// The head of a column that does more than say its name.
pub(crate) struct Column {
    words: Words,
    class: &'static str,
    /// Where the rows come ordered by it, and how they are ordered now: `Some(true)` is ascending.
    order: Option<(String, Option<bool>)>,
    /// What stands in place of the words.
    shown: Option<AnyView>,
}

impl Column {
    pub(crate) fn new(words: Words, class: &'static str) -> Self {
        Self { words, class, order: None, shown: None }
    }

    /// The same, ordered by at an address.
    pub(crate) fn ordered(self, address: String, now: Option<bool>) -> Self {
        Self { order: Some((address, now)), ..self }
    }

    /// The same with something else in place of its words.
    pub(crate) fn showing(self, shown: impl IntoView + 'static) -> Self {
        Self { shown: Some(shown.into_any()), ..self }
    }
}

/// A table with a name, which scrolls by itself where it is wider than the page.
#[component]
pub(crate) fn DataTable(
    label: Words,
    /// Of what, where a page has several of a name.
    #[prop(optional, into)]
    of: String,
    /// What sort of table it is, for its looks.
    #[prop(optional)]
    kind: &'static str,
    heads: &'static [Head],
    /// The rows.
    children: Children,
) -> impl IntoView {
    let columns =
        heads.iter().map(|(words, class)| Column::new(*words, class.unwrap_or_default())).collect();
    view! { <TableOf label=label of=of kind=kind columns=columns>{children()}</TableOf> }.into_any()
}

/// The one shape of all tables. Where there is no room for columns, each row is a card in which
/// every cell stands beside the name of its column; the style sheet finds the names in `--column-n`.
#[component]
pub(crate) fn TableOf(
    label: Words,
    #[prop(optional, into)] of: String,
    #[prop(optional)] kind: &'static str,
    columns: Vec<Column>,
    children: Children,
) -> impl IntoView {
    let reader = Reader::get();
    let words: Vec<Words> = columns.iter().map(|column| column.words).collect();
    let names = move || names(reader.texts(), &words);
    let label = move || match of.as_str() {
        "" => label(reader.texts()).to_owned(),
        of => {
            let texts = reader.texts();
            format!("{of}{}{}", texts.common.colon, label(texts))
        }
    };
    let heads = columns.into_iter().map(|column| view! { <ColumnHead column=column/> });
    let heads = heads.collect_view();
    view! {
        <div class="table-scroll" tabindex="0" role="group" aria-label=move || label()>
            <table class=format!("table {kind}").trim_end().to_owned() style=move || names()>
                <thead><tr>{heads}</tr></thead>
                <tbody>{children()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

#[component]
fn ColumnHead(column: Column) -> impl IntoView {
    let Column { words, class, order, shown } = column;
    let class = (!class.is_empty()).then_some(class);
    let (address, ascending) = match order {
        Some((address, ascending)) => (Some(address), ascending),
        None => (None, None),
    };
    let (sorted, glyph) = match ascending {
        None => (None, None),
        Some(true) => (Some("ascending"), Some(Glyph::Up)),
        Some(false) => (Some("descending"), Some(Glyph::Down)),
    };
    let inside = match (shown, address) {
        (Some(shown), _) => shown,
        (None, Some(address)) => view! {
            <a href=address data-noscroll="true">
                {tr(words)} {glyph.map(|glyph| view! { <Drawn glyph=glyph/> })}
            </a>
        }
        .into_any(),
        (None, None) => tr(words).into_any(),
    };
    view! { <th class=class aria-sort=sorted scope="col">{inside}</th> }.into_any()
}

/// The names of the columns as the style sheet's texts.
fn names(texts: &'static Texts, words: &[Words]) -> String {
    let name = |(at, words): (usize, &Words)| {
        let text = words(texts).replace('\\', "\\\\").replace('"', "\\\"");
        format!("--column-{}:\"{text}\"", at + 1)
    };
    words.iter().enumerate().map(name).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Language;

    #[test]
    fn columns_have_their_names_in_the_style() {
        let words: [Words; 2] = [|t| t.jobs.name, |_| "a \"b\""];
        let written = names(Language::English.texts(), &words);
        assert_eq!(written, "--column-1:\"Job\";--column-2:\"a \\\"b\\\"\"");
    }
}
