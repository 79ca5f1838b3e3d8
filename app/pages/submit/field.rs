use leptos::prelude::*;
use protocol::problem::Problem;

use crate::document::Edit;
use crate::i18n::words_submit::Fields;
use crate::i18n::{Texts, spacing, told, worded};
use crate::number;
use crate::pages::submit::state::{Editing, field_id};
use crate::parts::text_area::TextArea;

/// A label or a hint, from the catalogue.
pub(crate) type Word = fn(&'static Fields) -> &'static str;

/// What can be written into a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// One line of text.
    #[default]
    Line,
    /// A whole number.
    Number,
    /// A number.
    Decimal,
    /// Any number of lines.
    Lines,
}

impl Kind {
    /// The keyboard that suits a number.
    fn keyboard(self) -> Option<&'static str> {
        match self {
            Self::Number => Some("numeric"),
            Self::Decimal => Some("decimal"),
            Self::Line | Self::Lines => None,
        }
    }
}

/// A field that shows and changes what stands at a path of the text, with what is wrong there.
#[component]
pub(crate) fn TextField(
    #[prop(into)] path: Signal<String>,
    label: Word,
    #[prop(optional)] hint: Option<Word>,
    #[prop(optional)] kind: Kind,
    /// The file must have it: an empty field stays in the text as an empty value.
    #[prop(optional)]
    required: bool,
    /// The list of what it offers.
    #[prop(optional)]
    list: Option<&'static str>,
) -> impl IntoView {
    let editing = Editing::get();
    let value = Memo::new(move |_| editing.read(|tree| tree.text(&path.read())));
    let type_in = move |typed: String| {
        let number = kind.keyboard().is_some();
        let required = required && !number;
        editing.edit(&[Edit::typed(&path.get_untracked(), &typed, number, required)]);
    };
    let id = Signal::derive(move || field_id(&path.read()));
    let described = Signal::derive(move || format!("{}-about", id.get()));
    let input = match kind {
        Kind::Lines => view! { <Lines id=id described=described value=value path=path type_in=Callback::new(type_in)/> }.into_any(),
        Kind::Line | Kind::Number | Kind::Decimal => view! {
            <input
                class="input"
                class:input--number={kind.keyboard().is_some()}
                id=move || id.get()
                type="text"
                inputmode=kind.keyboard()
                autocomplete="off"
                list=list
                spellcheck="false"
                aria-invalid=move || is_wrong(editing, path)
                aria-describedby=move || described.get()
                value=value.get_untracked()
                prop:value=move || value.get()
                on:input:target=move |event| type_in(event.target().value())
            />
        }
        .into_any(),
    };
    view! {
        <div class="field">
            <label class="field__label" for=move || id.get()>{told(move |t| label(&t.submit.fields))}</label>
            {input}
            <div id=move || described.get()>
                {hint.map(|hint| view! { <p class="field__hint">{told(move |t| hint(&t.submit.fields))}</p> })}
                <FieldProblems path=path label=label/>
            </div>
        </div>
    }
}

#[component]
fn Lines(
    id: Signal<String>,
    described: Signal<String>,
    value: Memo<String>,
    path: Signal<String>,
    type_in: Callback<String>,
) -> impl IntoView {
    let editing = Editing::get();
    let rows = move || value.read().lines().count().clamp(3, 16).to_string();
    view! {
        <TextArea
            id=id
            class="textarea textarea--code"
            text=value
            on_input=type_in
            attr:rows=move || rows()
            attr:aria-invalid=move || is_wrong(editing, path)
            attr:aria-describedby=move || described.get()
        />
    }
}

/// What is wrong, as it is said beside a field with a label.
fn beside(texts: &'static Texts, problem: &Problem, label: Option<Word>) -> String {
    let called = label.and_then(|label| called(problem, label(&texts.submit.fields)));
    grouped(&whole(texts, &worded(called.as_ref().unwrap_or(problem), texts.said)))
}

/// The mistake with the field's label in place of the key under which the file has it.
fn called(problem: &Problem, label: &str) -> Option<Problem> {
    let key = problem.path.rsplit('.').next().filter(|key| !key.is_empty())?;
    let rest = problem.message.strip_prefix(key).filter(|rest| rest.starts_with(' '))?;
    Some(Problem { message: format!("“{label}”{rest}"), ..problem.clone() })
}

/// Figures from which on a whole number is hard to read in one piece; no port has so many.
const MANY_FIGURES: usize = 7;

/// A sentence with its large numbers in groups of three figures; what is part of a name is no number.
fn grouped(sentence: &str) -> String {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_-./:\"“”".contains(letter);
    let group = |word: &str| {
        let number = word.trim_end_matches(|letter| !is_word(letter)).trim_end_matches('.');
        let is_large = number.len() >= MANY_FIGURES;
        let grouped = number.parse().ok().filter(|_| is_large).map(number::count)?;
        Some(format!("{grouped}{}", &word[number.len()..]))
    };
    let words = sentence.split_inclusive(|letter| !is_word(letter));
    words.map(|word| group(word).unwrap_or_else(|| word.to_owned())).collect()
}

/// What is wrong, with its full stop, where a question has its own mark; then what is allowed.
fn whole(texts: &'static Texts, problem: &Problem) -> String {
    let Problem { message, allowed, .. } = problem;
    let stop = if message.ends_with(['?', '？']) { "" } else { texts.common.stop };
    let mut whole = format!("{message}{stop}");
    if !allowed.is_empty() {
        spacing::join(&mut whole, &format!(" {}", (texts.submit.rail.allowed)(allowed)));
    }
    whole
}

pub(crate) fn is_wrong(editing: Editing, path: Signal<String>) -> Option<&'static str> {
    (!editing.problems_at(&path.read()).is_empty()).then_some("true")
}

/// What is wrong at a path.
#[component]
pub(crate) fn FieldProblems(
    #[prop(into)] path: Signal<String>,
    /// What the field is called, in place of its key in the file.
    #[prop(optional)]
    label: Option<Word>,
) -> impl IntoView {
    let editing = Editing::get();
    let problem = move |problem: Problem| {
        view! { <p class="field__problem">{told(move |t| beside(t, &problem, label))}</p> }
    };
    view! { {move || editing.problems_at(&path.read()).into_iter().map(problem).collect_view()} }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Language;

    #[test]
    fn what_is_allowed_follows_what_is_wrong_as_each_language_has_it() {
        let problem = |message: &str, allowed: &str| Problem {
            path: String::new(),
            line: 1,
            column: 1,
            message: message.to_owned(),
            allowed: allowed.to_owned(),
        };
        let told = |language: Language, message, allowed| {
            whole(language.texts(), &problem(message, allowed))
        };
        let english = told(Language::English, "cpuNumber is missing", "a whole number");
        assert_eq!(english, "cpuNumber is missing. Allowed: a whole number");
        let chinese = told(Language::Chinese, "缺少 cpuNumber", "整数");
        assert_eq!(chinese, "缺少 cpuNumber。允许：整数");
        assert_eq!(told(Language::English, "Did you mean a?", ""), "Did you mean a?");
    }

    #[test]
    fn beside_a_field_a_mistake_has_its_label_and_large_numbers_have_groups() {
        let said = |language: Language, path: &str, message: &str, allowed: &str| {
            let problem = Problem::of_setting(path, message, allowed);
            beside(language.texts(), &problem, Some(|fields| fields.tasks))
        };
        let (english, chinese) = (Language::English, Language::Chinese);
        let path = "taskRoles[0].taskNumber";
        let missing = "taskNumber is missing";
        assert_eq!(said(english, path, missing, ""), "“Tasks” is missing.");
        assert_eq!(said(chinese, path, missing, ""), "缺少“任务数”。");
        let allowed = "a whole number from 1 to 1099511627776";
        let small = said(english, path, "taskNumber is 0, less than 1", allowed);
        let most = "1\u{202f}099\u{202f}511\u{202f}627\u{202f}776";
        let whole = format!("“Tasks” is 0, less than 1. Allowed: a whole number from 1 to {most}");
        assert_eq!(small, whole);
        let other = said(english, "name", "\"20261201\" is not a valid name", "1024 to 65535");
        assert_eq!(other, "\"20261201\" is not a valid name. Allowed: 1024 to 65535");
        assert_eq!(grouped("7654321x, 7654321."), "7654321x, 7\u{202f}654\u{202f}321.");
    }
}
