use leptos::prelude::*;

use crate::i18n::tr;
use crate::parts::ask::{AskDialog, Asker};
use crate::parts::condition_chip::ConditionShapes;
use crate::parts::finder::{FinderButton, FinderPlace};
use crate::parts::glyph::{Drawn, Glyph};
use crate::parts::key_list::KeyListPlace;
use crate::parts::nav::{BottomBar, Sidebar};
use crate::parts::outage::Outage;
use crate::parts::preferences::Preferences;
use crate::parts::sign_in_again::{SignInAgain, SignInDialog};
use crate::session::Session;

/// What is around every page: the way to the other pages, who is signed in, language and theme.
#[component]
pub(crate) fn Frame(children: Children) -> impl IntoView {
    let signed_in = Session::get().actor().is_some();
    let again = SignInAgain::provide();
    let asker = Asker::provide();
    view! {
        <a class="skip" href="#content">{tr(|t| t.common.skip)}</a>
        <div class="frame" class:frame--bare=!signed_in>
            <Header/>
            {signed_in.then(|| view! { <Sidebar/> })}
            <main class="frame__main" id="content" tabindex="-1"><Outage/> {children()}</main>
            {signed_in.then(|| view! { <BottomBar/> })}
        </div>
        <ConditionShapes/>
        <AskDialog asker=asker/>
        {signed_in.then(|| view! { <FinderPlace/> })}
        {signed_in.then(|| view! { <KeyListPlace/> })}
        {signed_in.then(|| view! { <SignInDialog again=again/> })}
    }
}

#[component]
fn Header() -> impl IntoView {
    let session = Session::get();
    view! {
        <header class="top">
            <a class="top__brand" href="/"><Drawn glyph=Glyph::Logo/> "Berth"</a>
            <span class="top__gap"></span>
            {session.actor().is_some().then(|| view! { <FinderButton/> })}
            <Preferences/>
            {session.actor().map(|actor| view! { <Account name=actor.user.to_string()/> })}
        </header>
    }
}

/// The signed-in user and the way out.
#[component]
fn Account(name: String) -> impl IntoView {
    view! {
        <div class="top__account">
            <a class="top__user" href="/profile"><Drawn glyph=Glyph::User/> <span>{name}</span></a>
            <form method="post" action="/auth/sign-out">
                <button class="button button--quiet" type="submit">{tr(|t| t.nav.sign_out)}</button>
            </form>
        </div>
    }
}
