//! What is asked before something is done with many jobs, and what came of it. It is fetched when it is
//! asked for the first time.

use api::many::JobOutcome;
use leptos::prelude::*;
use protocol::ids::JobKey;
use protocol::spec::Priority;

use crate::address;
use crate::i18n::{Reader, Texts, text, told, tr};
use crate::pages::jobs::many_act::{Act, Asking};
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::jobs::ChangeMany;

/// How many jobs are named.
const NAMED: usize = 10;

/// What was done, and what became of each job.
type Done = Option<(Act, Vec<JobOutcome>)>;

/// Asks, naming the jobs, and does it.
#[component]
pub(crate) fn ManyQuestion(asking: Asking) -> impl IntoView {
    let (reader, opener) = (Reader::get(), asking.opener);
    let sending = Sending::to::<ChangeMany>();
    let done = RwSignal::new(None);
    Effect::new(move |_| {
        // It was asked for before it was there.
        if opener.0.get().is_some() {
            opener.open();
        }
    });
    Effect::new(move |_| take(asking, sending, done));
    // What was refused before says nothing of what is asked now.
    Effect::watch(move || asking.act.get(), move |_, _, _| sending.clear(), false);
    let act = move || asking.act.get().unwrap_or(Act::Stop);
    let title = move || act().title(reader.texts(), asking.keys(act()).len() as u64);
    let words =
        move || question(reader.texts(), effect(act(), reader.texts()), &asking.keys(act()));
    let keys = move || {
        let input = |key| view! { <input type="hidden" name="keys[]" value=key/> };
        asking.keys(act()).into_iter().map(input).collect_view()
    };
    view! {
        <Answer done=done/>
        <dialog class="dialog" node_ref=opener.0 aria-label=move || title()>
            <h2 class="dialog__title">{move || title()}</h2>
            <p class="dialog__text">{move || words()}</p>
            <SendForm to=sending>
                <input type="hidden" name="act" value=move || word(act())/>
                {move || keys()}
                {move || value(act())}
                <FormAnswer answer=sending.value() done=text(|_| "")/>
                <div class="dialog__actions">
                    <button type="button" class="button" on:click=move |_| opener.close()>
                        {tr(|t| t.common.cancel)}
                    </button>
                    <button type="submit" class=move || act().class(false)>
                        {move || title()}
                    </button>
                </div>
            </SendForm>
        </dialog>
    }
    .into_any()
}

/// Takes what was answered: what is done is no longer ticked, what was refused still is.
fn take(asking: Asking, sending: Sending<Vec<JobOutcome>>, done: RwSignal<Done>) {
    let answered = sending.value().with(|answer| answer.as_ref()?.as_ref().ok().cloned());
    let (Some(outcomes), Some(act)) = (answered, asking.act.get_untracked()) else { return };
    asking.opener.close();
    asking.selection.untick(outcomes.iter().filter(|each| each.done).map(|each| &each.job));
    done.set(Some((act, outcomes)));
    sending.clear();
}

/// As the form says it.
fn word(act: Act) -> &'static str {
    match act {
        Act::Stop => "stop",
        Act::Delete => "delete",
        Act::Again => "again",
        Act::Priority => "priority",
        Act::Tag => "tag",
        Act::Untag => "untag",
    }
}

/// What becomes of the jobs.
fn effect(act: Act, texts: &'static Texts) -> &'static str {
    match act {
        Act::Stop => texts.jobs.stop_many_text,
        Act::Delete => texts.jobs.delete_many_text,
        Act::Again => texts.many.again_text,
        Act::Priority => texts.many.priority_text,
        Act::Tag => texts.many.tag_text,
        Act::Untag => texts.many.untag_text,
    }
}

/// That it is done, with so many.
fn said(act: Act, texts: &'static Texts, count: u64) -> String {
    let words = match act {
        Act::Stop => texts.jobs.stopped_many,
        Act::Delete => texts.jobs.deleted_many,
        Act::Again => texts.many.again_done,
        Act::Priority | Act::Tag | Act::Untag => texts.many.changed,
    };
    words(count)
}

/// With what it is done: a priority, or a tag.
fn value(act: Act) -> AnyView {
    match act {
        Act::Stop | Act::Delete | Act::Again => ().into_any(),
        Act::Priority => {
            let option = |(_, priority): (&str, Priority)| {
                let words = told(move |t| (t.job.priority_of)(priority));
                let chosen = priority == Priority::TEST;
                view! { <option value=priority.0.to_string() selected=chosen>{words}</option> }
            };
            let options = Priority::CLASSES.into_iter().map(option).collect_view();
            view! {
                <select class="select" name="value" aria-label=tr(|t| t.job.priority)>
                    {options}
                </select>
            }
            .into_any()
        }
        Act::Tag | Act::Untag => view! {
            <input
                class="input"
                name="value"
                required=true
                maxlength="256"
                pattern="[^,]+"
                autocomplete="off"
                placeholder=tr(|t| t.many.which_tag)
                aria-label=tr(|t| t.many.which_tag)
            />
        }
        .into_any(),
    }
}

/// What came of it: how many were done, what was made of them, and which were refused, with the reasons.
#[component]
fn Answer(done: RwSignal<Done>) -> impl IntoView {
    let reader = Reader::get();
    let inside = move || {
        let (act, outcomes) = done.get()?;
        let (good, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(|each| each.done);
        let words = (!good.is_empty()).then(|| said(act, reader.texts(), good.len() as u64));
        let words = words.map(|words| view! { <p class="notice notice--good">{words}</p> });
        let made: Vec<_> = good.into_iter().filter_map(|each| each.made).collect();
        Some(view! {
            {words}
            {made_links(&made, reader.texts())}
            {refusals(refused, reader.texts())}
        })
    };
    view! { <div class="many-answer" aria-live="polite">{move || inside()}</div> }
}

/// The jobs that were made, the first of them.
fn made_links(made: &[String], texts: &'static Texts) -> Option<impl IntoView + use<>> {
    let link = |name: &String| {
        let address = name.parse::<JobKey>().ok().map(|key| address::job(&key));
        view! { <li><a href=address>{name.clone()}</a></li> }
    };
    let links = made.iter().take(NAMED).map(link).collect_view();
    let more = more(texts, made.len()).map(|words| view! { <li>{words}</li> });
    (!made.is_empty()).then(|| view! { <ul>{links} {more}</ul> })
}

/// What was refused, the first of it.
fn refusals(refused: Vec<JobOutcome>, texts: &'static Texts) -> Option<impl IntoView> {
    let count = refused.len();
    let line = |JobOutcome { job, message, .. }: JobOutcome| {
        let why = (texts.said)(&message.unwrap_or_default());
        view! { <li><code>{job}</code>{texts.common.colon}{why}</li> }
    };
    let lines = refused.into_iter().take(NAMED).map(line).collect_view();
    let more = more(texts, count).map(|words| view! { <li>{words}</li> });
    (count > 0).then(|| {
        view! {
            <div class="notice notice--warn" role="alert">
                <p class="notice__title">{(texts.many.refused)(count as u64)}</p>
                <ul>{lines} {more}</ul>
            </div>
        }
    })
}

/// What the question says: what becomes of the jobs, and which they are.
fn question(texts: &'static Texts, becomes: &str, keys: &[String]) -> String {
    let mut lines = vec![becomes.to_owned(), String::new()];
    lines.extend(keys.iter().take(NAMED).cloned());
    lines.extend(more(texts, keys.len()));
    lines.join("\n")
}

/// How many are not named.
fn more(texts: &'static Texts, count: usize) -> Option<String> {
    (count > NAMED).then(|| (texts.finding.and_more)((count - NAMED) as u64))
}

#[cfg(test)]
mod tests {
    use api::many::ManyAct;

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

    #[test]
    fn every_act_is_one_of_the_server() {
        for (act, value) in [
            (Act::Stop, ""),
            (Act::Delete, ""),
            (Act::Again, ""),
            (Act::Priority, "10"),
            (Act::Tag, "a"),
            (Act::Untag, "a"),
        ] {
            assert!(ManyAct::read(word(act), value).is_ok(), "{act:?}");
        }
    }
}
