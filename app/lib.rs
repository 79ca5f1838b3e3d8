//! The pages of Berth: rendered by the server, then brought to life in the browser.
//!
//! The server provides by context an [`api::Backend`] and an `Option<api::Actor>` (who asks, if
//! anybody is signed in) and an `Arc<api::sign_ins::SignInWays>` (how one does that), and gives [`Assets`] (where the browser finds its part) to [`shell`].

// A view's type grows with its depth; the compiler's own limit is made for less.
#![recursion_limit = "512"]
#![expect(unreachable_pub, reason = "the component macro writes `pub` before what it generates")]
#![expect(
    clippy::redundant_closure,
    reason = "the view macro boxes a closure that is written in a view: no code for each type of it"
)]

#[cfg(not(erase_components))]
compile_error!(
    "`rustflags` of .cargo/config.toml are not in force: a RUSTFLAGS variable replaces them. Unset it, or \
     add `--cfg=erase_components` to it and, for the browser, `-Clink-arg=--emit-relocs`"
);

mod address;
mod connect;
mod difference;
mod document;
#[cfg(feature = "hydrate")]
mod early;
mod failed;
mod failed_lately;
#[cfg(feature = "ssr")]
mod first_lines;
mod forms;
mod given;
pub mod i18n;
mod json;
mod live;
mod looked;
mod markup;
mod number;
#[cfg(feature = "ssr")]
mod offered;
mod opening;
mod pages;
mod part;
mod parts;
mod reading;
mod routes;
mod scroll;
#[cfg(feature = "ssr")]
mod seen;
mod sending;
mod server_fns;
mod session;
#[cfg(feature = "ssr")]
mod settings;
mod shell;
mod template;
mod time;

#[cfg(not(feature = "ssr"))]
#[path = "browser.rs"]
mod edge;
#[cfg(feature = "ssr")]
#[path = "ssr.rs"]
mod edge;
#[cfg(feature = "ssr")]
mod posted;
#[cfg(feature = "ssr")]
mod preview;
#[cfg(feature = "ssr")]
#[path = "i18n/zh/schema.rs"]
mod schema;
#[cfg(feature = "ssr")]
mod templates;

#[cfg(feature = "ssr")]
pub use edge::language_of;
pub use failed::Failed;
pub use routes::App;
pub use shell::{Assets, shell};

/// Where the one form with files is posted to; all other server functions take texts.
pub const POSTED_FORM: &str = <server_fns::submit::SubmitForm as server_fn::ServerFn>::PATH;

/// Takes over the page that the server rendered; its code may come in parts.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    use leptos::prelude::{ArcRwSignal, Set, document, provide_context};

    console_error_panic_hook::set_once();
    let alive = ArcRwSignal::new(false);
    let app = {
        let alive = alive.clone();
        move || {
            provide_context(live::Alive(alive));
            App()
        }
    };
    wasm_bindgen_futures::spawn_local(async move {
        let Some(body) = document().body() else { return };
        let early = early::Early::keep();
        let tag = document().document_element().and_then(|page| page.get_attribute("lang"));
        let mut languages = i18n::Language::ALL.into_iter();
        let language = languages.find(|language| tag.as_deref() == Some(language.tag()));
        edge::fetch_texts(language.unwrap_or_default()).await;
        leptos::mount::hydrate_from_async(body.clone(), app).await.forget();
        early.give_back();
        // Whoever drives the page from outside sees by it that the page answers.
        let _only_a_sign = body.set_attribute("data-alive", "");
        alive.set(true);
    });
}
