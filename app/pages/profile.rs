pub(crate) mod account;
mod images;
mod notifications;
mod password;
mod public_keys;
mod tokens;

use leptos::prelude::*;

use crate::i18n::{text, tr};
use crate::pages::profile::account::Account;
use crate::pages::profile::images::Images;
use crate::pages::profile::notifications::Notifications;
use crate::pages::profile::public_keys::PublicKeys;
use crate::pages::profile::tokens::Tokens;
use crate::parts::page_header::PageHeader;
use crate::parts::preferences::Preferences;
use crate::parts::single_keys::SingleKeys;

/// One's own account: password, keys, tokens, language and theme.
#[component]
pub(crate) fn ProfilePage() -> impl IntoView {
    view! {
        <PageHeader title=text(|t| t.profile.title)/>
        <div class="stack profile">
            <section class="card" aria-labelledby="looks">
                <h2 id="looks" class="card__head">{tr(|t| t.profile.looks)}</h2>
                <Preferences/>
            </section>
            <SingleKeys/>
            <Account/>
            <Notifications/>
            <PublicKeys/>
            <Images/>
            <Tokens/>
        </div>
    }
}
