use leptos::prelude::*;
use leptos_meta::{Html, Meta, Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::path;

use crate::edge;
use crate::i18n::tr;
use crate::keys;
use crate::live::Live;
use crate::pages::admin::AdminPage;
use crate::pages::clusters::ClustersPage;
use crate::pages::home::HomePage;
use crate::pages::job::JobPage;
use crate::pages::jobs::JobsPage;
use crate::pages::node::NodePage;
use crate::pages::nodes::NodesPage;
use crate::pages::not_found::NotFoundPage;
use crate::pages::profile::ProfilePage;
use crate::pages::sign_in::SignInPage;
use crate::pages::submit::SubmitPage;
use crate::parts::clock::Clock;
use crate::parts::frame::Frame;
use crate::session::{Session, Theme};

/// All pages.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    let (session, opening) = Session::provide();
    Clock::provide(opening.now);
    Live::provide(session);
    if opening.actor.is_none() && !opening.address.starts_with("/sign-in") {
        edge::go_to_sign_in(&opening.address);
    }
    let theme = move || match session.theme.get() {
        Theme::System => None,
        Theme::Light => Some("light"),
        Theme::Dark => Some("dark"),
    };
    view! {
        <Html attr:lang=move || session.language.get().tag() attr:data-theme=theme/>
        <Title formatter=|title: String| {
            if title.is_empty() { "Berth".to_owned() } else { format!("{title} · Berth") }
        }/>
        <Meta name="description" content=tr(|t| t.sign_in.lead)/>
        <Router>
            <Pages/>
        </Router>
    }
}

/// The page of the address, inside the frame.
#[component]
fn Pages() -> impl IntoView {
    keys::listen();
    view! {
        <Frame>
            <Routes fallback=NotFoundPage>
                <Route path=path!("/") view=HomePage/>
                <Route path=path!("/sign-in") view=SignInPage/>
                <Route path=path!("/jobs") view=JobsPage/>
                <Route path=path!("/jobs/:user/:name/:tab?") view=JobPage/>
                <Route path=path!("/submit") view=SubmitPage/>
                <Route path=path!("/clusters") view=ClustersPage/>
                <Route path=path!("/nodes") view=NodesPage/>
                <Route path=path!("/nodes/:name") view=NodePage/>
                <Route path=path!("/admin/:section?") view=AdminPage/>
                <Route path=path!("/profile") view=ProfilePage/>
            </Routes>
        </Frame>
    }
}
