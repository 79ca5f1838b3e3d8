use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::i18n::{Texts, text, tr};
use crate::parts::field::Field;
use crate::parts::page_header::PageHeader;
use crate::session::Session;

/// Signing in: a plain form, so that it works without JavaScript.
#[component]
pub(crate) fn SignInPage() -> impl IntoView {
    let query = use_query_map();
    let next = move || own_path(&query.read().get("next").unwrap_or_default()).to_owned();
    let user = query.read_untracked().get("username").unwrap_or_default();
    let error = move || {
        query.read().get("error").map(|code| {
            view! { <p class="notice" role="alert">{move || tr(|t| words(t, &code))()}</p> }
        })
    };
    view! {
        <div class="sign-in">
            <PageHeader title=text(|t| t.sign_in.title)/>
            <p class="sign-in__lead">{tr(|t| t.sign_in.lead)}</p>
            <Already/>
            {error}
            <form class="form card" method="post" action="/auth/sign-in">
                <input type="hidden" name="next" value=next/>
                <Field
                    name="username"
                    label=text(|t| t.sign_in.user)
                    value=user
                    required=true
                    autocomplete="username"
                />
                <Field
                    name="password"
                    label=text(|t| t.sign_in.password)
                    kind="password"
                    required=true
                    autocomplete="current-password"
                />
                <button class="button button--primary" type="submit">
                    {tr(|t| t.sign_in.submit)}
                </button>
            </form>
        </div>
    }
}

#[component]
fn Already() -> impl IntoView {
    let name = Session::get().actor().map(|actor| actor.user.to_string());
    name.map(|name| {
        view! { <p class="notice notice--good">{tr(move |t| (t.sign_in.already)(&name))}</p> }
    })
}

/// What went wrong, by the server's word for it.
fn words(texts: &'static Texts, code: &str) -> &'static str {
    match code {
        "IncorrectPasswordError" | "InvalidParametersError" => texts.sign_in.wrong,
        "TooManyRequestsError" => texts.sign_in.limited,
        "UnauthorizedUserError" => texts.sign_in.ended,
        _unforeseen => texts.sign_in.unavailable,
    }
}

/// A path of this site, or the home page: a link must not lead elsewhere after signing in.
fn own_path(next: &str) -> &str {
    let own = next.starts_with('/') && !next.starts_with("//") && !next.contains('\\');
    if own { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::own_path;

    #[test]
    fn signing_in_leads_to_pages_of_ours_only() {
        assert_eq!(own_path("/jobs?q=a"), "/jobs?q=a");
        for elsewhere in ["https://example.org/", "//example.org", "/\\example.org", ""] {
            assert_eq!(own_path(elsewhere), "/");
        }
    }
}
