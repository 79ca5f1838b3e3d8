use api::notifications::{NotificationsView, TestResult, Tested};
use leptos::prelude::*;
use protocol::notifications::Occasion;

use crate::forms::WishesForm;
use crate::i18n::{Reader, text, told, tr};
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::send_form::SendForm;
use crate::parts::unsaved::Unsaved;
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::notifications::{SetNotifications, TestNotifications, get_notifications};
use crate::session::Session;

/// What sends a test. Its button stands beside the one that saves.
const TEST: &str = "notifications-test";

/// What one wants to be told of one's jobs, and how.
#[component]
pub(crate) fn Notifications() -> impl IntoView {
    let set = Sending::to::<SetNotifications>();
    let test = Sending::to::<TestNotifications>();
    let known = reading(move || set.version().get(), |_| get_notifications());
    view! {
        <section class="card stack" aria-labelledby="notifications">
            <div>
                <h2 id="notifications">{tr(|t| t.notifications.title)}</h2>
                <p class="hint">{tr(|t| t.notifications.hint)}</p>
            </div>
            <Loaded resource=known lines=8 content=move |known| view! { <Choice known=known set=set/> }/>
            <FormAnswer answer=set.value() done=text(|t| t.common.saved)/>
            <SendForm to=test attr:id=TEST attr:class="form--bare">
                <FormAnswer answer=test.value() done=text(|t| t.notifications.tested)/>
            </SendForm>
            {move || test.value().get().and_then(Result::ok).map(|done| view! { <Outcome tested=done/> })}
        </section>
    }
    .into_any()
}

#[component]
fn Choice(known: NotificationsView, set: Sending<NotificationsView>) -> impl IntoView {
    let NotificationsView { wishes, mail_set_up, address, signing_key } = known;
    let language = Session::get().language;
    let occasions = Occasion::ALL.into_iter().enumerate().map(|(at, occasion)| {
        let chosen = wishes.occasions.contains(&occasion);
        let words = told(move |t| t.notifications.occasions[at]);
        view! {
            <label class="check">
                <input type="checkbox" name=WishesForm::FIELDS[at] value="true" checked=chosen/>
                {words}
            </label>
        }
    });
    let occasions = occasions.collect_view();
    let by_mail = told(move |t| match &address {
        Some(address) => (t.notifications.by_mail_to)(address),
        None => t.notifications.by_mail.to_owned(),
    });
    let no_mail =
        (!mail_set_up).then(|| view! { <p class="hint">{tr(|t| t.notifications.no_mail)}</p> });
    // What was chosen while there was mail can be taken back.
    let useless = !mail_set_up && !wishes.mail;
    view! {
        <SendForm to=set attr:class="form">
            <Unsaved form="notifications" sent=set.sent()/>
            <input type="hidden" name="wishes[language]" value=move || language.get().as_str()/>
            {occasions}
            <p class="field__label">{tr(|t| t.notifications.how)}</p>
            <label class="check">
                <input
                    type="checkbox"
                    name="wishes[mail]"
                    value="true"
                    checked=wishes.mail
                    disabled=useless
                />
                {by_mail}
            </label>
            {no_mail}
            <Field
                name="wishes[webhook]"
                label=text(|t| t.notifications.webhook)
                hint=text(|t| t.notifications.webhook_hint)
                value=wishes.webhook.unwrap_or_default()
            />
            {signing_key.map(|key| view! { <SigningKey key=key/> })}
            <div class="buttons">
                <button class="button button--primary" type="submit">{tr(|t| t.common.save)}</button>
                <button class="button" type="submit" form=TEST>{tr(|t| t.notifications.test)}</button>
            </div>
        </SendForm>
    }
    .into_any()
}

#[component]
fn SigningKey(key: String) -> impl IntoView {
    view! {
        <p>
            {tr(|t| t.notifications.signing_key)}
            {tr(|t| t.common.colon)}
            <code class="break">{key}</code>
        </p>
        <p class="hint">{tr(|t| t.notifications.signing_hint)}</p>
    }
}

#[component]
fn Outcome(tested: Tested) -> impl IntoView {
    let Tested { mail, webhook } = tested;
    if mail.is_none() && webhook.is_none() {
        return view! { <p class="hint">{tr(|t| t.notifications.nothing_chosen)}</p> }.into_any();
    }
    let reader = Reader::get();
    let line = move |result: &TestResult| {
        let texts = reader.texts();
        match &result.problem {
            Some(problem) => (texts.said)(problem),
            None => texts.notifications.sent.to_owned(),
        }
    };
    let mail = mail.map(|result| {
        view! { <p>{tr(|t| t.notifications.by_mail)} {tr(|t| t.common.colon)} {move || line(&result)}</p> }
    });
    let webhook = webhook.map(|result| {
        view! { <p>{tr(|t| t.notifications.webhook)} {tr(|t| t.common.colon)} {move || line(&result)}</p> }
    });
    view! { <div role="status">{mail} {webhook}</div> }.into_any()
}
