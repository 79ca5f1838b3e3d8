use api::ssh::PublicKeyView;
use leptos::prelude::*;

use crate::i18n::{text, text_of, tr};
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::parts::send_form::SendForm;
use crate::parts::table::DataTable;
use crate::parts::unsaved::Unsaved;
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::ssh::{AddPublicKey, RemovePublicKey, list_public_keys};

/// One's own public keys.
#[component]
pub(crate) fn PublicKeys() -> impl IntoView {
    let add = Sending::to::<AddPublicKey>();
    let remove = Sending::to::<RemovePublicKey>();
    let keys =
        reading(move || (add.version().get(), remove.version().get()), |_| list_public_keys());
    view! {
        <section class="card stack" aria-labelledby="public-keys">
            <div>
                <h2 id="public-keys">{tr(|t| t.public_keys.title)}</h2>
                <p class="hint">{tr(|t| t.public_keys.hint)}</p>
            </div>
            <Loaded resource=keys lines=2 content=move |keys| view! { <Table keys=keys remove=remove/> }/>
            <FormAnswer answer=remove.value() done=text(|t| t.common.saved)/>
            <Add add=add/>
        </section>
    }
    .into_any()
}

#[component]
fn Add(add: Sending<PublicKeyView>) -> impl IntoView {
    view! {
        <SendForm to=add attr:class="form">
            <Unsaved form="public-key" sent=add.sent()/>
            <Field
                name="label"
                label=text(|t| t.public_keys.name)
                hint=text(|t| t.public_keys.name_hint)
                scope="public-key"
            />
            <Field
                name="key"
                label=text(|t| t.public_keys.key)
                hint=text(|t| t.public_keys.key_hint)
                scope="public-key"
                required=true
            />
            <FormAnswer answer=add.value() done=text(|t| t.public_keys.added)/>
            <div class="buttons">
                <button class="button button--primary" type="submit">{tr(|t| t.public_keys.add)}</button>
            </div>
        </SendForm>
    }
    .into_any()
}

#[component]
fn Table(keys: Vec<PublicKeyView>, remove: Sending) -> impl IntoView {
    if keys.is_empty() {
        return view! { <p class="hint">{tr(|t| t.public_keys.none)}</p> }.into_any();
    }
    let rows = keys.into_iter().map(|key| view! { <Row key=key remove=remove/> }).collect_view();
    view! {
        <DataTable
            label=|t| t.public_keys.title
            heads=&[
                (|t| t.public_keys.name, None),
                (|t| t.public_keys.fingerprint, None),
                (|t| t.profile.created, None),
                (|t| t.admin.actions, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(key: PublicKeyView, remove: Sending) -> impl IntoView {
    let opener = Opener::new();
    let label = key.label.clone();
    view! {
        <tr>
            <th scope="row">{key.label}</th>
            <td>
                <code class="break">{key.fingerprint}</code>
                <span class="table__sub">{key.kind}</span>
            </td>
            <td><RelativeTime at=key.created_at/></td>
            <td>
                <button type="button" class="button button--small" on:click=move |_| opener.open()>
                    {tr(|t| t.common.remove)}
                </button>
                <Confirm
                    opener=opener
                    title=text_of(move |t| (t.public_keys.remove_title)(&label))
                    text=text(|t| t.public_keys.remove_text)
                >
                    <SendForm to=remove on:submit=move |_| opener.close()>
                        <input type="hidden" name="id" value=key.id/>
                        <button class="button button--danger" type="submit">
                            {tr(|t| t.common.remove)}
                        </button>
                    </SendForm>
                </Confirm>
            </td>
        </tr>
    }
    .into_any()
}
