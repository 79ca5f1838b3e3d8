//! What only the server does: it reads the request and reaches the contract.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use api::changes::Mark;
use api::sign_ins::SignInWays;
use api::users::Means;
use api::{Actor, Backend, Error, ErrorCode};
use http::HeaderMap;
use http::header::{ACCEPT_LANGUAGE, COOKIE, HeaderValue, SET_COOKIE};
use http::request::Parts;
use leptos::prelude::*;
use leptos_axum::ResponseOptions;
use protocol::time::Timestamp;

use crate::failed::Failed;
use crate::i18n::language::Language;
use crate::i18n::words::Texts;
use crate::i18n::{en, zh};
use crate::opening::{Opening, Theme};

/// The contract and who asks.
pub(crate) fn call() -> Result<(Backend, Actor), Failed> {
    let actor = use_context::<Option<Actor>>().flatten().ok_or_else(|| {
        failed(Error::new(ErrorCode::UnauthorizedUserError, "sign in to see this"))
    })?;
    let backend = use_context::<Backend>().ok_or_else(|| failed(Error::internal()))?;
    Ok((backend, actor))
}

/// By what the actor of this request was let in.
pub(crate) fn means() -> Option<Means> {
    use_context::<Option<Means>>().flatten()
}

/// Here all catalogues are at hand.
pub(crate) fn texts(language: Language) -> &'static Texts {
    match language {
        Language::English => &en::TEXTS,
        Language::Chinese => &zh::TEXTS,
    }
}

/// Here none has to be fetched.
pub(crate) async fn fetch_texts(_language: Language) {}

/// A sentence of the server in Chinese.
pub(crate) fn said_in_chinese(sentence: &str) -> String {
    zh::said(sentence)
}

/// Here pages are rendered once, with what they wait for.
pub(crate) const RENDERS_ONCE: bool = true;

/// What goes before the text of a `<textarea>`: HTML drops a first line break, so that the text's own
/// would be lost.
pub(crate) const BEFORE_TEXT: &str = "\n";

/// A title as it stands in the document: the framework writes it as it is.
pub(crate) fn title(text: String) -> String {
    crate::markup::escaped(&text)
}

/// Gives an error its status and its request id. Pages that render an error keep their own status.
pub(crate) fn failed(error: Error) -> Failed {
    let parts = use_context::<Parts>();
    let is_call = parts.as_ref().is_some_and(|parts| parts.uri.path().starts_with("/fn/"));
    if let Some(response) = use_context::<ResponseOptions>()
        && let Ok(status) = http::StatusCode::from_u16(error.code.status())
        && (is_call || error.code.status() == 404)
        && !wants_html(parts.as_ref())
    {
        response.set_status(status);
    }
    let request_id = parts.as_ref().and_then(|parts| header(parts, "x-request-id"));
    Failed { request_id, ..error.into() }
}

/// A form sent without JavaScript: its answer is a redirect and must stay one.
fn wants_html(parts: Option<&Parts>) -> bool {
    parts.is_some_and(|parts| {
        parts.uri.path().starts_with("/fn/")
            && header(parts, "accept").is_some_and(|accept| accept.contains("text/html"))
    })
}

/// What the page is opened with.
pub(crate) fn opening() -> Opening {
    let parts = use_context::<Parts>();
    let headers = parts.as_ref().map(|parts| &parts.headers);
    let chosen = headers.and_then(|headers| cookie(headers, THEME_COOKIE));
    Opening {
        actor: use_context::<Option<Actor>>().flatten(),
        language: headers.map(language_of).unwrap_or_default(),
        theme: chosen.map(|word| theme(&word)).unwrap_or_default(),
        now: now(),
        address: parts
            .as_ref()
            .and_then(|parts| parts.uri.path_and_query())
            .map_or_else(|| "/".to_owned(), ToString::to_string),
        ways: use_context::<Arc<SignInWays>>().map(|ways| (*ways).clone()).unwrap_or_default(),
        mark: use_context::<Mark>(),
    }
}

/// The language of whoever asks: the one that was chosen on the pages, else the best of those that the
/// request accepts.
#[must_use]
pub fn language_of(headers: &HeaderMap) -> Language {
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    cookie(headers, LANGUAGE_COOKIE)
        .and_then(|word| Language::from_word(&word))
        .unwrap_or_else(|| Language::from_accept(accepted.unwrap_or_default()))
}

/// Where the language is remembered.
pub(crate) const LANGUAGE_COOKIE: &str = "berth_language";
/// Where the theme is remembered.
pub(crate) const THEME_COOKIE: &str = "berth_theme";

/// Reads a theme's word; the system's where it is none.
pub(crate) fn theme(word: &str) -> Theme {
    Theme::ALL.into_iter().find(|theme| theme.as_str() == word).unwrap_or_default()
}

/// Remembers a preference for a year.
pub(crate) fn remember(name: &str, value: &str) {
    let cookie = format!("{name}={value}; Path=/; Max-Age=31536000; SameSite=Lax");
    if let (Some(response), Ok(cookie)) =
        (use_context::<ResponseOptions>(), HeaderValue::from_str(&cookie))
    {
        response.append_header(SET_COOKIE, cookie);
    }
}

/// Lets the page load what is ours and run the scripts that carry its nonce, and nothing else.
pub(crate) fn guard_scripts() {
    let (Some(response), Some(nonce)) = (use_context::<ResponseOptions>(), nonce()) else { return };
    let policy = format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; \
         style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; \
         worker-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'self'; \
         object-src 'none'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.insert_header(http::header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// What lets the page's own scripts run.
pub(crate) fn nonce() -> Option<String> {
    leptos::nonce::use_nonce().map(|nonce| nonce.to_string())
}

/// Sends who is not signed in to the page for it.
pub(crate) fn go_to_sign_in(from: &str) {
    if use_context::<Parts>().is_some() {
        leptos_axum::redirect(&format!("/sign-in?next={}", crate::address::encode(from)));
    }
}

/// Tells the browser that the address leads nowhere.
pub(crate) fn set_not_found() {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.set_status(http::StatusCode::NOT_FOUND);
    }
}

/// The moment of this rendering.
pub(crate) fn now() -> Timestamp {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}

/// The server does not know the reader's time zone: the browser says it.
pub(crate) fn zone(_: Timestamp) -> Option<i32> {
    None
}

/// All code is here.
pub(crate) fn shows(_: &str) -> bool {
    false
}

fn header(parts: &Parts, name: &str) -> Option<String> {
    parts.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// What a browser was told to remember under a name.
pub(crate) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let cookies = headers.get_all(COOKIE);
    cookies
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then(|| value.to_owned()))
}
