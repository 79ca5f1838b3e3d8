use leptos::prelude::*;
use leptos_meta::{Html, Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{Lazy, LazyRoute, SsrMode, lazy_route, path};

use crate::edge;
use crate::keys;
use crate::live::Live;
use crate::pages::admin::part::AdminRoute;
use crate::pages::clusters::ClustersPage;
use crate::pages::files::FilesPage;
use crate::pages::home::HomePage;
use crate::pages::job::part::JobRoute;
use crate::pages::jobs::JobsPage;
use crate::pages::node::NodePage;
use crate::pages::nodes::NodesPage;
use crate::pages::not_found::NotFoundPage;
use crate::pages::profile::ProfilePage;
use crate::pages::sign_in::SignInPage;
use crate::pages::submit::part::SubmitRoute;
use crate::parts::clock::Clock;
use crate::parts::frame::Frame;
use crate::scroll;
use crate::session::{Session, Theme};

/// A page is sent with what it shows, not before: what is read takes milliseconds, and whoever has
/// no JavaScript sees all of it.
const READY: SsrMode = SsrMode::Async;

/// Pages whose code the browser fetches when one of them is opened for the first time.
macro_rules! lazy {
    ($($route:ident => $page:ident),+ $(,)?) => {
        $(
            struct $route;

            #[lazy_route]
            impl LazyRoute for $route {
                fn data() -> Self {
                    Self
                }

                fn view(_route: Self) -> AnyView {
                    $page().into_any()
                }
            }
        )+
    };
}

lazy! {
    HomeRoute => HomePage,
    SignInRoute => SignInPage,
    JobsRoute => JobsPage,
    FilesRoute => FilesPage,
    ClustersRoute => ClustersPage,
    NodesRoute => NodesPage,
    NodeRoute => NodePage,
    ProfileRoute => ProfilePage,
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
    keys::listen();
    scroll::keep();
    view! {
        <Frame>
            <Routes fallback=NotFoundPage>
                <Route path=path!("/") view={Lazy::<HomeRoute>::new()} ssr=READY/>
                <Route path=path!("/sign-in") view={Lazy::<SignInRoute>::new()} ssr=READY/>
                <Route path=path!("/jobs") view={Lazy::<JobsRoute>::new()} ssr=READY/>
                <Route path=path!("/jobs/:user/:name/:tab?") view={Lazy::<JobRoute>::new()} ssr=READY/>
                <Route path=path!("/submit") view={Lazy::<SubmitRoute>::new()} ssr=READY/>
                <Route path=path!("/files") view={Lazy::<FilesRoute>::new()} ssr=READY/>
                <Route path=path!("/clusters") view={Lazy::<ClustersRoute>::new()} ssr=READY/>
                <Route path=path!("/nodes") view={Lazy::<NodesRoute>::new()} ssr=READY/>
                <Route path=path!("/nodes/:name") view={Lazy::<NodeRoute>::new()} ssr=READY/>
                <Route path=path!("/admin/:section?") view={Lazy::<AdminRoute>::new()} ssr=READY/>
                <Route path=path!("/profile") view={Lazy::<ProfileRoute>::new()} ssr=READY/>
            </Routes>
        </Frame>
    }
}
