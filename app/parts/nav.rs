use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::i18n::{Texts, tr};
use crate::parts::glyph::{Drawn, Glyph};
use crate::parts::preferences::Preferences;
use crate::session::Session;

/// One of the main places.
#[derive(Debug, Clone, Copy)]
struct Place {
    address: &'static str,
    glyph: Glyph,
    word: fn(&'static Texts) -> &'static str,
}

const HOME: Place = Place { address: "/", glyph: Glyph::Home, word: |t| t.nav.home };
const JOBS: Place = Place { address: "/jobs", glyph: Glyph::Jobs, word: |t| t.nav.jobs };
const SUBMIT: Place = Place { address: "/submit", glyph: Glyph::Submit, word: |t| t.nav.submit };
const FILES: Place = Place { address: "/files", glyph: Glyph::Files, word: |t| t.nav.files };
const CLUSTERS: Place =
    Place { address: "/clusters", glyph: Glyph::Clusters, word: |t| t.nav.clusters };
const NODES: Place = Place { address: "/nodes", glyph: Glyph::Nodes, word: |t| t.nav.nodes };
const USAGE: Place = Place { address: "/usage", glyph: Glyph::Usage, word: |t| t.usage.title };
const ADMIN: Place = Place { address: "/admin", glyph: Glyph::Admin, word: |t| t.nav.admin };
const PROFILE: Place = Place { address: "/profile", glyph: Glyph::User, word: |t| t.profile.title };

/// The places that have no room at the bottom of a narrow window.
const OTHERS: [Place; 5] = [FILES, CLUSTERS, USAGE, ADMIN, PROFILE];

/// All places, at the left of a wide window.
#[component]
pub(crate) fn Sidebar() -> impl IntoView {
    let admin = Session::get().is_admin().then_some(ADMIN);
    let places = [HOME, JOBS, SUBMIT, FILES, CLUSTERS, NODES, USAGE].into_iter().chain(admin);
    view! {
        <nav class="sidebar" aria-label=tr(|t| t.nav.main)>
            {places.map(|place| view! { <To place=place/> }).collect_view()}
        </nav>
    }
}

/// The places one needs on a phone, at the bottom of a narrow window, and the way to all others.
#[component]
pub(crate) fn BottomBar() -> impl IntoView {
    let places = [HOME, JOBS, SUBMIT, NODES];
    view! {
        <nav class="bottom-bar" aria-label=tr(|t| t.nav.main)>
            {places.map(|place| view! { <To place=place/> }).collect_view()}
            <More/>
        </nav>
    }
}

/// What has no room in the bar: the other places, language and theme, the account. It opens
/// without a script; where there is one, it closes when a page was chosen.
#[component]
fn More() -> impl IntoView {
    let (is_admin, path) = (Session::get().is_admin(), use_location().pathname);
    let places = OTHERS.into_iter().filter(move |place| is_admin || place.address != ADMIN.address);
    view! {
        <details class="more">
            <summary
                class="place"
                aria-current=move || is_another(&path.read()).then_some("true")
            >
                <Drawn glyph=Glyph::More/>
                <span class="place__word">{tr(|t| t.nav.more)}</span>
            </summary>
            <div class="more__sheet" on:click=|event| close_after(&event)>
                {places.map(|place| view! { <To place=place/> }).collect_view()}
                <Preferences/>
                <form method="post" action="/auth/sign-out">
                    <button class="button" type="submit">{tr(|t| t.nav.sign_out)}</button>
                </form>
            </div>
        </details>
    }
}

/// Closes the sheet when a link in it was chosen.
fn close_after(event: &MouseEvent) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let link = target.and_then(|target| target.closest("a").ok().flatten());
    if let Some(sheet) = link.and_then(|link| link.closest("details").ok().flatten()) {
        // Nothing is lost where it stays open.
        let _ = sheet.remove_attribute("open");
    }
}

#[component]
fn To(place: Place) -> impl IntoView {
    let path = use_location().pathname;
    view! {
        <a
            href=place.address
            class="place"
            aria-current=move || holds(place.address, &path.read()).then_some("page")
        >
            <Drawn glyph=place.glyph/>
            <span class="place__word">{tr(place.word)}</span>
        </a>
    }
}

/// Whether a page is one of the places that the sheet leads to.
fn is_another(path: &str) -> bool {
    OTHERS.iter().any(|place| holds(place.address, path))
}

/// Whether a page is at an address or below it.
fn holds(address: &str, path: &str) -> bool {
    path.strip_prefix(address).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::{holds, is_another};

    #[test]
    fn a_place_holds_what_is_below_it() {
        assert!(holds("/jobs", "/jobs") && holds("/jobs", "/jobs/ada/a"));
        assert!(!holds("/jobs", "/jobsite") && !holds("/jobs", "/"));
        assert!(holds("/", "/") && !holds("/", "/jobs"));
    }

    #[test]
    fn the_sheet_holds_each_place_that_the_bar_does_not_show() {
        for path in ["/files", "/files/ada/data", "/clusters", "/usage", "/admin/nodes", "/profile"]
        {
            assert!(is_another(path), "{path}");
        }
        for path in ["/", "/jobs", "/jobs/ada/a", "/submit", "/nodes/pier-1"] {
            assert!(!is_another(path), "{path}");
        }
    }
}
