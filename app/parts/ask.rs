use std::pin::Pin;
use std::sync::Arc;

use api::queue::Effect;
use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use server_fn::ServerFn;
use wasm_bindgen::JsCast;
use web_sys::{FormData, HtmlButtonElement};

use crate::failed::Failed;
use crate::i18n::{Reader, Texts, text_of};
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::send_form::encoded;
use crate::parts::sign_in_again::SignInAgain;
use crate::sending::{post, read};

type Answering<T> = Pin<Box<dyn Future<Output = Result<T, Failed>> + Send>>;
type Act<T> = Arc<dyn Fn() -> Answering<T> + Send + Sync>;

/// Asks before a change, and says what it would do. There is one on the page, so that a question
/// stays while what it is about is shown anew.
#[derive(Clone, Copy)]
pub(crate) struct Asker {
    reader: Reader,
    again: SignInAgain,
    opener: Opener,
    /// Whether what is asked about loses something, and whether that is so of the question on the page.
    is_loss: bool,
    loss: RwSignal<bool>,
    title: RwSignal<String>,
    lead: RwSignal<&'static str>,
    effect: RwSignal<Option<Result<Effect, Failed>>>,
    failed: RwSignal<Option<Failed>>,
    find: StoredValue<Option<Act<Effect>>>,
    act: StoredValue<Option<Act<()>>>,
    busy: StoredValue<bool>,
    /// An effect that is found out later than the next question is asked is nobody's.
    number: StoredValue<u32>,
}

impl Asker {
    pub(crate) fn provide() -> Self {
        let asker = Self {
            reader: Reader::get(),
            again: SignInAgain::get(),
            opener: Opener::new(),
            is_loss: false,
            loss: RwSignal::new(false),
            title: RwSignal::default(),
            lead: RwSignal::new(""),
            effect: RwSignal::new(None),
            failed: RwSignal::new(None),
            find: StoredValue::new(None),
            act: StoredValue::new(None),
            busy: StoredValue::new(false),
            number: StoredValue::new(0),
        };
        provide_context(asker);
        asker
    }

    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// The same about a loss, which the button that does it looks like.
    pub(crate) fn of_loss(self, is_loss: bool) -> Self {
        Self { is_loss, ..self }
    }

    /// Asks: `effect` finds out what it would do, `act` does it.
    pub(crate) fn ask<E, A>(
        self,
        title: impl FnOnce(&'static Texts) -> String,
        lead: impl FnOnce(&'static Texts) -> &'static str,
        effect: impl Fn() -> E + Send + Sync + 'static,
        act: impl Fn() -> A + Send + Sync + 'static,
    ) where
        E: Future<Output = Result<Effect, Failed>> + Send + 'static,
        A: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        let texts = self.reader.texts_untracked();
        self.loss.set(self.is_loss);
        self.title.set(title(texts));
        self.lead.set(lead(texts));
        self.find.set_value(Some(Arc::new(move || Box::pin(effect()))));
        self.act.set_value(Some(Arc::new(move || Box::pin(act()))));
        self.opener.open();
        self.find_out();
    }

    /// Asks before the form around a clicked button is sent to `S`; `E` finds out from the same form what
    /// that would do. The field `named` says what is saved.
    pub(crate) fn ask_to_save<E, S>(self, event: &MouseEvent, named: &str, saved: RwSignal<u32>)
    where
        E: ServerFn<Output = Effect>,
        S: ServerFn<Output = ()>,
    {
        self.ask_of_form(event, named, [E::PATH, S::PATH], saved);
    }

    fn ask_of_form(
        self,
        event: &MouseEvent,
        named: &str,
        [effect, save]: [&'static str; 2],
        saved: RwSignal<u32>,
    ) {
        let Some(filled_in) = filled_in(event) else { return };
        let Some(sent) = encoded(&filled_in) else { return };
        let name = filled_in.get(named).as_string().unwrap_or_default();
        let asked = sent.clone();
        self.ask(
            move |t| (t.queue.save_named)(&name),
            |t| t.queue.save_text,
            move || {
                let asked = asked.clone();
                async move { post(effect, asked).await.and_then(read) }
            },
            move || {
                let sent = sent.clone();
                async move {
                    post(save, sent).await.and_then(read::<()>)?;
                    saved.try_update(|saved| *saved += 1);
                    Ok(())
                }
            },
        );
    }

    fn find_out(self) {
        let Some(find) = self.find.try_get_value().flatten() else { return };
        self.effect.set(None);
        self.failed.set(None);
        self.number.update_value(|number| *number += 1);
        let mine = self.number.get_value();
        spawn_local(async move {
            let found = find().await;
            if self.number.try_get_value() != Some(mine) {
                return;
            }
            if found.as_ref().is_err_and(Failed::is_signed_out) {
                self.again.then(move || self.find_out());
            }
            self.effect.try_set(Some(found));
        });
    }

    /// Does what was asked about; the question stays where that fails.
    fn answer(self) {
        let Some(act) = self.act.try_get_value().flatten() else { return };
        if self.busy.try_update_value(|busy| std::mem::replace(busy, true)) != Some(false) {
            return;
        }
        spawn_local(async move {
            let answer = act().await;
            self.busy.try_set_value(false);
            match answer {
                Ok(()) => self.opener.close(),
                Err(failed) => {
                    if failed.is_signed_out() {
                        self.again.then(move || self.answer());
                    }
                    self.failed.try_set(Some(failed));
                }
            }
        });
    }

    /// What the question says: a line each.
    fn lines(self, texts: &'static Texts) -> Vec<String> {
        let mut lines = vec![self.lead.get().to_owned()];
        match self.effect.get() {
            None => lines.push(texts.queue.thinking.to_owned()),
            Some(Ok(effect)) => lines.extend(texts.queue.effects(&effect)),
            Some(Err(failed)) => lines.extend(failed.sentences(texts)),
        }
        lines.extend(self.failed.get().iter().flat_map(|failed| failed.sentences(texts)));
        lines
    }
}

/// What the form around a clicked button is filled with, so that it can be asked about before it is sent.
/// What the browser itself would refuse, it refuses.
fn filled_in(event: &MouseEvent) -> Option<FormData> {
    let button = event.current_target()?.dyn_into::<HtmlButtonElement>().ok()?;
    let form = button.form()?;
    event.prevent_default();
    form.report_validity().then(|| FormData::new_with_form(&form).ok())?
}

/// The question, when one is asked.
#[component]
pub(crate) fn AskDialog(asker: Asker) -> impl IntoView {
    let words = text_of(move |texts| asker.lines(texts).join("\n"));
    view! {
        <Confirm opener=asker.opener title=asker.title text=words>
            <button
                type="button"
                class="button"
                class:button--primary=move || !asker.loss.get()
                class:button--danger=move || asker.loss.get()
                on:click=move |_| asker.answer()
            >
                {move || asker.title.get()}
            </button>
        </Confirm>
    }
}
