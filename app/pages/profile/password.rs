use leptos::prelude::*;

use crate::i18n::{text, tr};
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::users::ChangePassword;

/// Changes one's own password.
#[component]
pub(crate) fn Password() -> impl IntoView {
    let change = Sending::to::<ChangePassword>();
    view! {
        <section class="card" aria-labelledby="password">
            <h2 id="password" class="card__head">{tr(|t| t.profile.password)}</h2>
            <SendForm to=change attr:class="form">
                <div class="form__row">
                    <Field
                        name="old"
                        kind="password"
                        label=text(|t| t.profile.old)
                        required=true
                        autocomplete="current-password"
                    />
                    <Field
                        name="new"
                        kind="password"
                        label=text(|t| t.profile.new)
                        hint=text(|t| t.profile.new_hint)
                        min_length=8
                        required=true
                        autocomplete="new-password"
                    />
                </div>
                <label class="check">
                    <input type="checkbox" name="keep" value="true" checked=true/>
                    {tr(|t| t.profile.keep)}
                </label>
                <FormAnswer answer=change.value() done=text(|t| t.profile.changed)/>
                <div class="buttons">
                    <button class="button button--primary" type="submit">
                        {tr(|t| t.profile.change)}
                    </button>
                </div>
            </SendForm>
        </section>
    }
}
