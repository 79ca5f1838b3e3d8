use leptos::prelude::*;

use crate::i18n::{Reader, Texts, tr};
use crate::pages::jobs::selection::Selection;
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::jobs::{DeleteJobs, StopJobs};

/// How many jobs a question names.
const NAMED: usize = 10;

/// What can be done with the ticked jobs, and the questions before it is done.
#[component]
pub(crate) fn Many(selection: Selection) -> impl IntoView {
    let reader = Reader::get();
    let acts = [
        Act::new(&STOP, Sending::to::<StopJobs>(), selection),
        Act::new(&DELETE, Sending::to::<DeleteJobs>(), selection),
    ];
    let hidden = move || {
        let count = selection.hidden();
        (count > 0).then(|| format!(" · {}", (reader.texts().finding.elsewhere)(count)))
    };
    view! {
        {acts.into_iter().map(|act| view! { <Answer act=act/> }).collect_view()}
        <div class="bulk-bar" class:bulk-bar--shown=move || { selection.count() > 0 }>
            <span role="status">
                {move || (reader.texts().jobs.selected)(selection.count())} {move || hidden()}
            </span>
            <button type="button" class="button" on:click=move |_| selection.clear()>
                {tr(|t| t.finding.unselect)}
            </button>
            {acts.into_iter().map(|act| view! { <Begin act=act/> }).collect_view()}
        </div>
        {acts.into_iter().map(|act| view! { <Question act=act/> }).collect_view()}
    }
}

/// The words of something that is done with many jobs.
struct Words {
    /// Whether it is done with those that have ended, or with those that have not.
    ended: bool,
    /// What it is, with so many.
    title: fn(&'static Texts) -> fn(u64) -> String,
    /// What becomes of them.
    text: fn(&'static Texts) -> &'static str,
    /// That it is done, with so many.
    done: fn(&'static Texts) -> fn(u64) -> String,
}

static STOP: Words = Words {
    ended: false,
    title: |t| t.jobs.stop_many,
    text: |t| t.jobs.stop_many_text,
    done: |t| t.jobs.stopped_many,
};

static DELETE: Words = Words {
    ended: true,
    title: |t| t.jobs.delete_many,
    text: |t| t.jobs.delete_many_text,
    done: |t| t.jobs.deleted_many,
};

/// Something that is done with many jobs.
#[derive(Clone, Copy)]
struct Act {
    words: &'static Words,
    sending: Sending<u64>,
    opener: Opener,
    selection: Selection,
    reader: Reader,
}

impl Act {
    fn new(words: &'static Words, sending: Sending<u64>, selection: Selection) -> Self {
        let (opener, reader) = (Opener::new(), Reader::get());
        Effect::new(move |_| {
            if sending.value().with(|answer| matches!(answer, Some(Ok(_)))) {
                opener.close();
                selection.clear_those(words.ended);
            }
        });
        Self { words, sending, opener, selection, reader }
    }

    /// The jobs with which it would be done.
    fn keys(self) -> Vec<String> {
        self.selection.keys(self.words.ended)
    }

    fn title(self) -> String {
        (self.words.title)(self.reader.texts())(self.keys().len() as u64)
    }
}

/// What was answered when it was done last.
#[component]
fn Answer(act: Act) -> impl IntoView {
    let done = Signal::derive(move || match act.sending.value().get() {
        Some(Ok(count)) => (act.words.done)(act.reader.texts())(count),
        Some(Err(_)) | None => String::new(),
    });
    view! { <FormAnswer answer=act.sending.value() done=done/> }
}

/// Opens the question, where there is anything to be done.
#[component]
fn Begin(act: Act) -> impl IntoView {
    move || {
        (!act.keys().is_empty()).then(|| {
            view! {
                <button
                    type="button"
                    class="button button--danger"
                    on:click=move |_| act.opener.open()
                >
                    {move || act.title()}
                </button>
            }
        })
    }
}

/// Asks, naming the jobs, and does it.
#[component]
fn Question(act: Act) -> impl IntoView {
    let text = Signal::derive(move || {
        let texts = act.reader.texts();
        question(texts, (act.words.text)(texts), &act.keys())
    });
    let inputs = move || {
        let input = |key| view! { <input type="hidden" name="keys[]" value=key/> };
        act.keys().into_iter().map(input).collect_view()
    };
    view! {
        <Confirm opener=act.opener title=Signal::derive(move || act.title()) text=text>
            <SendForm to=act.sending>
                {move || inputs()}
                <button type="submit" class="button button--danger">{move || act.title()}</button>
            </SendForm>
        </Confirm>
    }
}

/// What the question says: what becomes of the jobs, and which they are.
fn question(texts: &'static Texts, becomes: &str, keys: &[String]) -> String {
    let mut lines = vec![becomes.to_owned(), String::new()];
    lines.extend(keys.iter().take(NAMED).cloned());
    if keys.len() > NAMED {
        lines.push((texts.finding.and_more)((keys.len() - NAMED) as u64));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Language;

    #[test]
    fn the_question_names_the_jobs() {
        let texts = Language::English.texts();
        let few = ["ada~x", "bo~y"].map(str::to_owned);
        assert_eq!(question(texts, "They go.", &few), "They go.\n\nada~x\nbo~y");
        let many: Vec<String> = (0..12).map(|n| format!("ada~{n:02}")).collect();
        assert!(question(texts, "They go.", &many).ends_with("ada~09\nand 2 more"));
    }
}
