use api::users::{NewToken, TokenView};
use leptos::prelude::*;

use crate::i18n::{text, text_of, told, tr};
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::copy::Copy;
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::parts::send_form::SendForm;
use crate::parts::table::DataTable;
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::users::{CreateToken, RevokeToken, list_tokens};

/// One's own tokens; a new one is shown once.
#[component]
pub(crate) fn Tokens() -> impl IntoView {
    let create = Sending::to::<CreateToken>();
    let revoke = Sending::to::<RevokeToken>();
    let tokens =
        reading(move || (create.version().get(), revoke.version().get()), |_| list_tokens());
    view! {
        <section class="card stack" aria-labelledby="tokens">
            <div>
                <h2 id="tokens">{tr(|t| t.profile.tokens)}</h2>
                <p class="hint">
                    {tr(|t| t.profile.tokens_hint)} " "
                    <a href="/reference">{tr(|t| t.reference.title)}</a>
                </p>
            </div>
            <Loaded resource=tokens lines=2 content=move |tokens| view! { <Table tokens=tokens revoke=revoke/> }/>
            <FormAnswer answer=revoke.value() done=text(|t| t.common.saved)/>
            <Create create=create/>
        </section>
    }
    .into_any()
}

#[component]
fn Create(create: Sending<NewToken>) -> impl IntoView {
    const DAYS: [u32; 4] = [1, 30, 90, 0];
    let options = [0, 1, 2, 3].map(|at: usize| {
        view! {
            <option value=DAYS[at] selected={at == 1}>{told(move |t| t.profile.lifetimes[at])}</option>
        }
    });
    let made = move || {
        let new = create.value().get()?.ok()?;
        Some(view! {
            <div class="notice notice--good">
                <p class="notice__title">{tr(|t| t.profile.once)}</p>
                <Copy text=new.token/>
            </div>
        })
    };
    view! {
        <SendForm to=create attr:class="form">
            <div class="form__row">
                <Field
                    name="label"
                    label=text(|t| t.profile.token_label)
                    hint=text(|t| t.profile.token_label_hint)
                    required=true
                />
                <div class="field">
                    <label class="field__label" for="token-days">{tr(|t| t.profile.lifetime)}</label>
                    <select class="select" id="token-days" name="days">{options}</select>
                </div>
            </div>
            <FormAnswer answer=create.value() done=text(|t| t.common.saved)/>
            <div aria-live="polite">{move || made()}</div>
            <div class="buttons">
                <button class="button button--primary" type="submit">{tr(|t| t.profile.create)}</button>
            </div>
        </SendForm>
    }
    .into_any()
}

#[component]
fn Table(tokens: Vec<TokenView>, revoke: Sending) -> impl IntoView {
    if tokens.is_empty() {
        return view! { <p class="hint">{tr(|t| t.profile.no_tokens)}</p> }.into_any();
    }
    let rows = tokens.into_iter().map(|token| view! { <Row token=token revoke=revoke/> });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.profile.tokens
            heads=&[
                (|t| t.profile.token_label, None),
                (|t| t.profile.created, None),
                (|t| t.profile.expires, None),
                (|t| t.admin.actions, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(token: TokenView, revoke: Sending) -> impl IntoView {
    let opener = Opener::new();
    let label = token.label.clone();
    let expires = match token.expires_at {
        Some(at) => view! { <RelativeTime at=at/> }.into_any(),
        None => tr(|t| t.profile.never).into_any(),
    };
    view! {
        <tr>
            <th scope="row">{token.label}</th>
            <td><RelativeTime at=token.created_at/></td>
            <td>{expires}</td>
            <td>
                <button type="button" class="button button--small" on:click=move |_| opener.open()>
                    {tr(|t| t.profile.revoke)}
                </button>
                <Confirm
                    opener=opener
                    title=text_of(move |t| (t.profile.revoke_title)(&label))
                    text=text(|t| t.profile.revoke_text)
                >
                    <SendForm to=revoke on:submit=move |_| opener.close()>
                        <input type="hidden" name="id" value=token.id/>
                        <button class="button button--danger" type="submit">
                            {tr(|t| t.profile.revoke)}
                        </button>
                    </SendForm>
                </Confirm>
            </td>
        </tr>
    }
    .into_any()
}
