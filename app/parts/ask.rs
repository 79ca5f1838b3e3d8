mod dialog;

use std::pin::Pin;
use std::sync::Arc;

use api::queue::Effect;
use leptos::ev::MouseEvent;
use leptos::form::FromFormData;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use web_sys::{FormData, HtmlButtonElement};

use crate::Failed;
use crate::i18n::{Reader, Texts};
use crate::part::opened;
use crate::parts::confirm::Opener;
use crate::parts::sign_in_again::SignInAgain;
use dialog::AskDialog;

type Answering<T> = Pin<Box<dyn Future<Output = Result<T, Failed>> + Send>>;
type Act<T> = Arc<dyn Fn() -> Answering<T> + Send + Sync>;

/// Asks before a change, and says what it would do. There is one on the page, so that a question
/// stays while what it is about is shown anew.
#[derive(Clone, Copy)]
pub(crate) struct Asker {
    reader: Reader,
    again: SignInAgain,
    /// Whether its code is needed.
    asked: RwSignal<bool>,
    opener: Opener,
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
            asked: RwSignal::new(false),
            opener: Opener::new(),
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
        self.title.set(title(texts));
        self.lead.set(lead(texts));
        self.find.set_value(Some(Arc::new(move || Box::pin(effect()))));
        self.act.set_value(Some(Arc::new(move || Box::pin(act()))));
        self.asked.set(true);
        self.opener.open();
        self.find_out();
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
}

/// What the form around a clicked button would send, so that it can be asked about first. What the
/// browser itself would refuse, it refuses.
pub(crate) fn sent<T: FromFormData>(event: &MouseEvent) -> Option<T> {
    let button = event.current_target()?.dyn_into::<HtmlButtonElement>().ok()?;
    let form = button.form()?;
    event.prevent_default();
    let sent = FormData::new_with_form(&form).ok()?;
    form.report_validity().then(|| T::from_form_data(&sent).ok())?
}

/// Where the question is, from when one is asked for the first time.
#[component]
pub(crate) fn AskPlace(asker: Asker) -> impl IntoView {
    let asked = Signal::derive(move || asker.asked.get().then_some(()));
    let made = opened(asked, |()| ask_dialog());
    view! { {move || made.get().map(|made| made(asker))} }
}

/// Most pages never ask.
#[lazy]
fn ask_dialog() -> fn(Asker) -> AnyView {
    |asker| view! { <AskDialog asker=asker/> }.into_any()
}
