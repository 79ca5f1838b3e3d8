use leptos::prelude::*;
use protocol::problem::Problem;

use crate::document::Edit;
use crate::i18n::words_submit::Fields;
use crate::i18n::{Texts, spacing, told};
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

/// What is wrong, in which the field is called by its label rather than by its key in the file, with its full
/// stop, where a question has its own mark; then what is allowed.
fn whole(texts: &'static Texts, problem: &Problem, label: Option<&str>) -> String {
    let Problem { path, message, allowed, .. } = problem;
    let message = label.and_then(|label| labelled(message, path, label));
    let message = message.as_deref().unwrap_or(&problem.message);
    let stop = if message.ends_with(['?', '？']) { "" } else { texts.common.stop };
    let mut whole = format!("{message}{stop}");
    if !allowed.is_empty() {
        spacing::join(&mut whole, &format!(" {}", (texts.submit.rail.allowed)(allowed)));
    }
    whole
}

/// A message with the label in place of the key, where that is what it is about: no name stands before it.
fn labelled(message: &str, path: &str, label: &str) -> Option<String> {
    let key = path.rsplit('.').next().and_then(|last| last.split('[').next())?;
    let (before, after) = message.split_once(key).filter(|_| !key.is_empty())?;
    let in_name = |letter: char| letter.is_ascii_alphanumeric();
    if before.contains(|letter: char| in_name(letter) || letter == '"')
        || after.starts_with(in_name)
    {
        return None;
    }
    let mut labelled = before.to_owned();
    spacing::join(&mut labelled, &format!("“{label}”"));
    spacing::join(&mut labelled, after);
    Some(labelled)
}

pub(crate) fn is_wrong(editing: Editing, path: Signal<String>) -> Option<&'static str> {
    (!editing.problems_at(&path.read()).is_empty()).then_some("true")
}

/// What is wrong at a path.
#[component]
pub(crate) fn FieldProblems(
    #[prop(into)] path: Signal<String>,
    #[prop(optional)] label: Option<Word>,
) -> impl IntoView {
    let editing = Editing::get();
    let problem = move |problem: Problem| {
        let words =
            move |t: &'static Texts| whole(t, &problem, label.map(|label| label(&t.submit.fields)));
        view! { <p class="field__problem">{told(words)}</p> }
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
            whole(language.texts(), &problem(message, allowed), None)
        };
        let english = told(Language::English, "cpuNumber is missing", "a whole number");
        assert_eq!(english, "cpuNumber is missing. Allowed: a whole number");
        let chinese = told(Language::Chinese, "缺少 cpuNumber", "整数");
        assert_eq!(chinese, "缺少 cpuNumber。允许：整数");
        assert_eq!(told(Language::English, "Did you mean a?", ""), "Did you mean a?");
    }

    #[test]
    fn a_field_is_called_by_its_label_beside_it() {
        let path = "taskRoles[0].memoryMB";
        for (message, label, told) in [
            ("memoryMB is missing", "Memory, MB", Some("“Memory, MB” is missing")),
            (
                "memoryMB is 5, less than 100",
                "Memory, MB",
                Some("“Memory, MB” is 5, less than 100"),
            ),
            ("缺少 memoryMB", "内存（MB）", Some("缺少“内存（MB）”")),
            ("memoryMB 为 5，小于 100", "内存（MB）", Some("“内存（MB）”为 5，小于 100")),
            ("\"memoryMB\" is not a whole number", "Memory, MB", None),
            ("Did you mean memoryMB?", "Memory, MB", None),
        ] {
            assert_eq!(labelled(message, path, label).as_deref(), told);
        }
        assert_eq!(
            labelled("commands is empty", "a.commands[0]", "Command").as_deref(),
            Some("“Command” is empty")
        );
        assert_eq!(labelled("names are missing", "name", "Name"), None);
    }
}
