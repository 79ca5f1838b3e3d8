//! Signing in where one is. When a session has ended, what was begun waits until its reader is back, and
//! then goes on; what was written stays.

use std::time::Duration;

use api::sign_ins::Way;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlInputElement, RequestInit, Response};

use crate::i18n::{text, told, tr};
use crate::json::from_json;
use crate::part::opened;
use crate::parts::confirm::Opener;
use crate::parts::field::Field;
use crate::parts::sign_in_words::words;
use crate::session::Session;

/// The field of the password.
const PASSWORD: &str = "field-again-password";

/// What goes on.
type Begun = Box<dyn FnOnce() + Send + Sync>;

/// Asks for the password again, and remembers what goes on then. There is one on the page.
#[derive(Clone, Copy)]
pub(crate) struct SignInAgain {
    opener: Opener,
    /// Whether it is needed: before, there are no fields of it on the page.
    asked: RwSignal<bool>,
    waiting: StoredValue<Vec<Begun>>,
    /// The server's word for why it was refused.
    refused: RwSignal<Option<String>>,
    busy: RwSignal<bool>,
}

impl SignInAgain {
    pub(crate) fn provide() -> Self {
        let again = Self {
            opener: Opener::new(),
            asked: RwSignal::new(false),
            waiting: StoredValue::new(Vec::new()),
            refused: RwSignal::new(None),
            busy: RwSignal::new(false),
        };
        provide_context(again);
        again
    }

    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// Asks the reader to sign in; then goes on.
    pub(crate) fn then(self, go_on: impl FnOnce() + Send + Sync + 'static) {
        self.waiting.update_value(|waiting| waiting.push(Box::new(go_on)));
        self.refused.set(None);
        self.asked.set(true);
        // Its fields are there by then, or take the focus when they come.
        set_timeout(move || self.open(), Duration::ZERO);
    }

    fn open(self) {
        self.opener.open();
        focus();
    }

    fn enter(self, user: String) {
        let Some(field) = password().filter(|_| !self.busy.get_untracked()) else { return };
        self.busy.set(true);
        spawn_local(async move {
            let answer = sign_in(&user, &field.value()).await;
            self.busy.set(false);
            match answer {
                Ok(()) => {
                    field.set_value("");
                    self.go_on();
                }
                Err(code) => self.refused.set(Some(code)),
            }
        });
    }

    fn go_on(self) {
        let waiting = self.waiting.try_update_value(std::mem::take).unwrap_or_default();
        self.opener.close();
        for each in waiting {
            each();
        }
    }

    /// Whoever closes the question does not want to go on.
    fn leave(self) {
        self.waiting.update_value(Vec::clear);
    }
}

fn focus() {
    if let Some(field) = password() {
        // A field that cannot take the focus is found without.
        let _ = field.focus();
    }
}

fn password() -> Option<HtmlInputElement> {
    document().get_element_by_id(PASSWORD)?.dyn_into().ok()
}

/// Signs in; the server's word for what is wrong where it refuses.
async fn sign_in(user: &str, password: &str) -> Result<(), String> {
    let answer = ask(user, password).await.map_err(|_| String::new())?;
    if answer.ok() {
        return Ok(());
    }
    let text = answer.text().map(JsFuture::from).map_err(|_| String::new())?;
    let text = text.await.ok().and_then(|text| text.as_string()).unwrap_or_default();
    let error = from_json::<api::Error>(&text).ok();
    Err(error.map(|error| error.code.to_string()).unwrap_or_default())
}

async fn ask(user: &str, password: &str) -> Result<Response, JsValue> {
    let content = serde_json::json!({ "username": user, "password": password });
    let headers = js_sys::Object::new();
    js_sys::Reflect::set(&headers, &"content-type".into(), &"application/json".into())?;
    let options = RequestInit::new();
    options.set_method("POST");
    options.set_headers(&headers);
    options.set_body_opt_str(Some(&content.to_string()));
    let answer = window().fetch_with_str_and_init("/auth/sign-in", &options);
    let answer: Response = JsFuture::from(answer).await?.dyn_into()?;
    Ok(answer)
}

/// The question, when it is asked.
#[component]
pub(crate) fn SignInDialog(again: SignInAgain) -> impl IntoView {
    let asked = Signal::derive(move || again.asked.get().then_some(()));
    let question = opened(asked, |()| question());
    view! {
        <dialog
            class="dialog"
            node_ref=again.opener.0
            aria-label=tr(|t| t.sign_in.title)
            on:close=move |_| again.leave()
        >
            {move || question.get().map(|question| question(again))}
        </dialog>
    }
}

/// Most pages never ask it.
#[lazy]
fn question() -> fn(SignInAgain) -> AnyView {
    |again| view! { <Question again=again/> }.into_any()
}

#[component]
fn Question(again: SignInAgain) -> impl IntoView {
    Effect::new(move |_| focus());
    let ways = Session::get().ways();
    let elsewhere = !ways.providers.is_empty();
    let form = ways.form || !elsewhere;
    let providers = ways.providers.into_iter().map(|way| view! { <Provider way=way/> });
    let providers = providers.collect_view();
    view! {
        <h2 class="dialog__title">{tr(|t| t.sign_in.title)}</h2>
        <p class="dialog__text">{tr(|t| t.sign_in.again)}</p>
        {elsewhere.then(|| view! { <div class="sign-in__ways">{providers}</div> })}
        {form.then(|| view! { <PasswordForm again=again/> })}
        <div class="dialog__actions">
            <button type="button" class="button" on:click=move |_| again.opener.close()>
                {tr(|t| t.common.cancel)}
            </button>
            {elsewhere.then(|| view! { <GoOn again=again/> })}
            {form.then(|| view! { <Submit again=again/> })}
        </div>
    }
}

/// For whoever has signed in elsewhere.
#[component]
fn GoOn(again: SignInAgain) -> impl IntoView {
    view! {
        <button type="button" class="button" on:click=move |_| again.go_on()>
            {tr(|t| t.sign_in.go_on)}
        </button>
    }
}

#[component]
fn Submit(again: SignInAgain) -> impl IntoView {
    view! {
        <button
            type="submit"
            form="sign-in-again"
            class="button button--primary"
            disabled=move || again.busy.get()
        >
            {tr(|t| t.sign_in.submit)}
        </button>
    }
}

/// Its pages open beside this one, which stays as it is.
#[component]
fn Provider(way: Way) -> impl IntoView {
    let address = format!("/sign-in/oidc/{}", way.name);
    view! {
        <a class="button button--primary" href=address rel="external" target="_blank">
            {told(move |t| (t.accounts.sign_in_by)(&way.title))}
        </a>
    }
}

#[component]
fn PasswordForm(again: SignInAgain) -> impl IntoView {
    let user = Session::get().user_name();
    let of_field = user.clone();
    let refused = move || {
        again.refused.get().map(|code| {
            view! { <p class="notice" role="alert">{told(move |t| words(t, &code))}</p> }
        })
    };
    view! {
        <form
            id="sign-in-again"
            class="form"
            on:submit=move |event| {
                event.prevent_default();
                again.enter(user.clone());
            }
        >
            {move || refused()}
            <Field
                name="username"
                scope="again"
                label=text(|t| t.sign_in.user)
                value=of_field
                required=true
                fixed=true
                autocomplete="username"
            />
            <Field
                name="password"
                scope="again"
                label=text(|t| t.sign_in.password)
                kind="password"
                required=true
                autocomplete="current-password"
            />
        </form>
    }
}
