use api::jobs::JobDetail;
use api::queue::{QueueChange, QueuePlace};
use leptos::ev::MouseEvent;
use leptos::html::Select;
use leptos::prelude::*;
use protocol::ids::JobKey;
use protocol::spec::Priority;

use crate::i18n::{Texts, text, told, tr};
use crate::parts::ask::Asker;
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::jobs::JobKeyText;
use crate::server_fns::queue::{ChangeTurn, Turn as Word, change_turn, effect_of_turn};
use crate::session::Session;

type Words = fn(&'static Texts) -> &'static str;

/// What can be done about a waiting job's turn.
#[component]
pub(crate) fn Turn(detail: JobDetail) -> impl IntoView {
    let job = detail.summary;
    let change = Sending::to::<ChangeTurn>();
    let held: (QueueChange, Words) = match &job.held {
        Some(_) => (QueueChange::Release, |t| t.queue.release),
        None => (QueueChange::Hold, |t| t.queue.hold),
    };
    let releasable = Session::get().is_admin() || !job.held.is_some_and(|held| held.administrator);
    let to = |place| QueueChange::Move { place };
    let moves: [(QueueChange, Words); 4] = [
        (to(QueuePlace::First), |t| t.queue.first),
        (to(QueuePlace::Earlier), |t| t.queue.earlier),
        (to(QueuePlace::Later), |t| t.queue.later),
        (to(QueuePlace::Last), |t| t.queue.last),
    ];
    let key = job.key;
    let buttons = releasable.then_some(held).into_iter().chain(moves).map(|(turn, words)| {
        view! { <Button key=key.clone() turn=turn words=words change=change/> }
    });
    let buttons = buttons.collect_view();
    view! {
        <section class="stack" aria-labelledby="turn">
            <h3 id="turn">{tr(|t| t.queue.turn)}</h3>
            <div class="buttons">
                {buttons}
                <SetPriority key=key.clone() now=job.priority most=detail.most_priority change=change/>
            </div>
            <FormAnswer answer=change.value() done=text(|t| t.queue.done)/>
        </section>
    }
    .into_any()
}

/// One change. Without JavaScript it is made at once, else after a question.
#[component]
fn Button(key: JobKey, turn: QueueChange, words: Words, change: Sending) -> impl IntoView {
    let (asker, admin) = (Asker::get(), Session::get().is_admin());
    let asked = key.clone();
    let ask = move |event: MouseEvent| {
        event.prevent_default();
        ask(asker, admin, &asked, turn, words);
    };
    view! {
        <SendForm to=change>
            <input type="hidden" name="key" value=key.to_string()/>
            <input type="hidden" name="turn" value=String::from(Word(turn))/>
            <button type="submit" class="button button--small" on:click=ask>
                {tr(words)}
            </button>
        </SendForm>
    }
}

fn ask(asker: Asker, admin: bool, key: &JobKey, turn: QueueChange, words: Words) {
    let lead: Words = match turn {
        QueueChange::Hold => |t| t.queue.hold_text,
        QueueChange::Release => |t| t.queue.release_text,
        QueueChange::Priority { .. } => |t| t.queue.priority_text,
        QueueChange::Move { .. } if admin => |t| t.queue.move_any,
        QueueChange::Move { .. } => |t| t.queue.move_own,
    };
    let (of_effect, of_act) = (key.clone(), JobKeyText(key.clone()));
    let name = key.name.to_string();
    asker.ask(
        move |t| format!("{}{}{name}", words(t), t.common.colon),
        lead,
        move || effect_of_turn(of_effect.clone(), Word(turn)),
        move || change_turn(of_act.clone(), Word(turn)),
    );
}

/// The priorities that the actor may give it.
#[component]
fn SetPriority(
    key: JobKey,
    now: Priority,
    most: Option<Priority>,
    change: Sending,
) -> impl IntoView {
    let (asker, admin) = (Asker::get(), Session::get().is_admin());
    let chosen = NodeRef::<Select>::new();
    let asked = key.clone();
    let ask = move |event: MouseEvent| {
        event.prevent_default();
        let value = chosen.get_untracked().map(|select| select.value());
        if let Some(Ok(Word(turn))) = value.map(Word::try_from) {
            ask(asker, admin, &asked, turn, |t| t.queue.set_priority);
        }
    };
    let mut choices: Vec<Priority> = Priority::CLASSES.map(|(_, priority)| priority).to_vec();
    choices.extend([now].into_iter().chain(most));
    choices.sort_unstable();
    choices.dedup();
    choices.retain(|priority| *priority == now || most.is_none_or(|most| *priority <= most));
    let options = choices.into_iter().map(|priority| {
        view! {
            <option value=priority.0.to_string() selected=priority == now>
                {told(move |t| (t.job.priority_of)(priority))}
            </option>
        }
    });
    let options = options.collect_view();
    view! {
        <SendForm to=change attr:class="turn__priority">
            <input type="hidden" name="key" value=key.to_string()/>
            <select class="select" name="turn" node_ref=chosen aria-label=tr(|t| t.job.priority)>
                {options}
            </select>
            <button type="submit" class="button button--small" on:click=ask>
                {tr(|t| t.queue.set_priority)}
            </button>
        </SendForm>
    }
    .into_any()
}
