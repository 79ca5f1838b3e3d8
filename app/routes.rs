use futures::FutureExt;
use leptos::prelude::*;
use leptos_meta::{Html, Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{SsrMode, path};

use crate::edge;
use crate::live::Live;
use crate::opening::Theme;
use crate::pages::clusters::ClustersPage;
use crate::pages::compare::ComparePage;
use crate::pages::files::FilesPage;
use crate::pages::home::HomePage;
use crate::pages::jobs::JobsPage;
use crate::pages::node::NodePage;
use crate::pages::nodes::NodesPage;
use crate::pages::not_found::NotFoundPage;
use crate::pages::profile::ProfilePage;
use crate::pages::reference::ReferencePage;
use crate::pages::sign_in::SignInPage;
use crate::pages::usage::UsagePage;
use crate::pages::{admin, job, submit};
use crate::part::{MakeView, Page};
use crate::parts::clock::Clock;
use crate::parts::finder::Finder;
use crate::parts::frame::Frame;
use crate::parts::key_list::KeyList;
use crate::parts::keys;
use crate::parts::quarantine::fetch_quarantine;
use crate::scroll;
use crate::session::Session;

/// A page is sent with what it shows, not before: what is read takes milliseconds, and whoever has
/// no JavaScript sees all of it.
const READY: SsrMode = SsrMode::Async;

/// Pages whose code is one piece.
macro_rules! pages {
    ($($name:ident => $page:ident),+ $(,)?) => {
        $(
            #[lazy]
            fn $name() -> MakeView {
                || $page().into_any()
            }
        )+
    };
}

pages! {
    home => HomePage,
    sign_in => SignInPage,
    jobs => JobsPage,
    files => FilesPage,
    clusters => ClustersPage,
    compare => ComparePage,
    nodes => NodesPage,
    node => NodePage,
    usage => UsagePage,
    profile => ProfilePage,
    reference => ReferencePage,
}

/// The page of a node, with what it may show of containers in quarantine.
fn node_page() -> Page {
    Page::of_parts(|| node().boxed_local(), || fetch_quarantine().boxed_local())
}

/// All pages.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    let (session, opening) = Session::provide();
    Clock::provide(opening.now);
    Live::provide(session, opening.mark);
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
            let title = edge::title(title);
            if title.is_empty() { "Berth".to_owned() } else { format!("{title} · Berth") }
        }/>
        <Router>
            <Pages/>
        </Router>
    }
}

/// The page of the address, inside the frame.
#[component]
fn Pages() -> impl IntoView {
    keys::listen(Finder::provide(), KeyList::provide());
    scroll::keep();
    view! {
        <Frame>
            <Routes fallback=NotFoundPage>
                <Route path=path!("/") view=Page::whole(|| home().boxed_local()) ssr=READY/>
                <Route path=path!("/sign-in") view=Page::whole(|| sign_in().boxed_local()) ssr=READY/>
                <Route path=path!("/jobs") view=Page::whole(|| jobs().boxed_local()) ssr=READY/>
                <Route path=path!("/jobs/:user/:name/:tab?") view=job::part::page() ssr=READY/>
                <Route path=path!("/compare") view=Page::whole(|| compare().boxed_local()) ssr=READY/>
                <Route path=path!("/submit") view=submit::part::page() ssr=READY/>
                <Route path=path!("/files") view=Page::whole(|| files().boxed_local()) ssr=READY/>
                <Route path=path!("/clusters") view=Page::whole(|| clusters().boxed_local()) ssr=READY/>
                <Route path=path!("/nodes") view=Page::whole(|| nodes().boxed_local()) ssr=READY/>
                <Route path=path!("/nodes/:name") view=node_page() ssr=READY/>
                <Route path=path!("/usage") view=Page::whole(|| usage().boxed_local()) ssr=READY/>
                <Route path=path!("/admin/:section?") view=admin::part::page() ssr=READY/>
                <Route path=path!("/profile") view=Page::whole(|| profile().boxed_local()) ssr=READY/>
                <Route path=path!("/reference") view=Page::whole(|| reference().boxed_local()) ssr=READY/>
            </Routes>
        </Frame>
    }
}
