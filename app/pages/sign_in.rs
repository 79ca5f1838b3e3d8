use api::sign_ins::Way;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::address::encode;
use crate::i18n::{Texts, text, told, tr};
use crate::parts::field::Field;
use crate::parts::page_header::PageHeader;
use crate::parts::sign_in_words::words;
use crate::session::Session;

/// Signing in: a plain form, so that it works without JavaScript.
#[component]
pub(crate) fn SignInPage() -> impl IntoView {
    let query = use_query_map();
    let next = move || own_path(&query.read().get("next").unwrap_or_default()).to_owned();
    let user = query.read_untracked().get("username").unwrap_or_default();
    // The server has sent the form back, for a new password beside the old one.
    let chooses = query.read_untracked().get("choose").is_some();
    let error = move || {
        let by_provider = query.read().get("provider").is_some();
        query.read().get("error").map(|code| {
            let worded = move |t| match (by_provider, chooses) {
                (true, _) => provider_words(t, &code),
                (false, true) => choice_words(t, &code),
                (false, false) => words(t, &code),
            };
            view! { <p class="notice" role="alert">{told(worded)}</p> }
        })
    };
    // Whoever has just sent the form finds it again.
    let asked = ["local", "username"].iter().any(|key| query.read_untracked().get(key).is_some());
    let form = Session::get().ways().form || asked;
    view! {
        <div class="sign-in">
            <PageHeader title=text(|t| t.sign_in.title)/>
            <p class="sign-in__lead">{tr(|t| t.sign_in.lead)}</p>
            <Already/>
            <SignedOut/>
            {move || error()}
            <Providers next=next with_form=form/>
            {form.then(|| view! { <PasswordForm next=next user=user chooses=chooses/> })}
        </div>
    }
}

#[component]
fn PasswordForm(
    next: impl Fn() -> String + Copy + Send + Sync + 'static,
    user: String,
    chooses: bool,
) -> impl IntoView {
    view! {
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
            {chooses.then(|| view! { <NewPassword/> })}
            <button class="button button--primary" type="submit">{tr(|t| t.sign_in.submit)}</button>
        </form>
    }
    .into_any()
}

/// What takes the place of a password that somebody else has set.
#[component]
fn NewPassword() -> impl IntoView {
    view! {
        <Field
            name="newPassword"
            label=text(|t| t.profile.new)
            hint=text(|t| t.admin.password_hint)
            kind="password"
            min_length=8
            required=true
            autocomplete="new-password"
        />
    }
}

/// Providers with pages of their own: links, so that they work without JavaScript.
#[component]
fn Providers(
    next: impl Fn() -> String + Copy + Send + Sync + 'static,
    with_form: bool,
) -> impl IntoView {
    let ways = Session::get().ways();
    if ways.providers.is_empty() {
        return ().into_any();
    }
    let button = move |way: Way| {
        let address = move || format!("/sign-in/oidc/{}?next={}", way.name, encode(&next()));
        view! {
            // The router of the pages must leave it to the server.
            <a class="button button--primary" href=address rel="external">
                {told(move |t| (t.accounts.sign_in_by)(&way.title))}
            </a>
        }
    };
    let after = if with_form {
        view! { <p class="sign-in__lead">{tr(|t| t.accounts.or_password)}</p> }.into_any()
    } else {
        view! { <p><a href="/sign-in?local=1">{tr(|t| t.accounts.administrators)}</a></p> }
            .into_any()
    };
    view! {
        <div class="sign-in__ways">{ways.providers.into_iter().map(button).collect_view()}</div>
        {after}
    }
    .into_any()
}

/// After signing out: the provider still knows the browser.
#[component]
fn SignedOut() -> impl IntoView {
    let session = Session::get();
    let out = use_query_map().read_untracked().get("out");
    let known = out.filter(|name| session.ways().providers.iter().any(|w| w.name.as_str() == name));
    known.map(|name| {
        let title = session.title_of(&name);
        let of_link = title.clone();
        let address = format!("/sign-in/oidc/{name}/sign-out");
        view! {
            <p class="notice notice--good">
                {told(move |t| (t.accounts.signed_out)(&title))} " "
                <a href=address rel="external">{told(move |t| (t.accounts.sign_out_of)(&of_link))}</a>
            </p>
        }
    })
}

#[component]
fn Already() -> impl IntoView {
    let name = Session::get().actor().map(|actor| actor.user.to_string());
    name.map(|name| {
        view! { <p class="notice notice--good">{told(move |t| (t.sign_in.already)(&name))}</p> }
    })
}

/// What went wrong where a new password is asked for, too.
fn choice_words(texts: &'static Texts, code: &str) -> &'static str {
    match code {
        "TemporaryPasswordError" => texts.sign_in.choose,
        "InvalidParametersError" => texts.sign_in.not_chosen,
        other => words(texts, other),
    }
}

/// What went wrong at a provider's, by the server's word for it.
fn provider_words(texts: &'static Texts, code: &str) -> &'static str {
    match code {
        "SignInLost" => texts.accounts.lost,
        "ProviderUnavailable" => texts.accounts.unavailable,
        "ProviderRefused" => texts.accounts.refused,
        "NotAllowed" => texts.accounts.not_allowed,
        "ProviderSettings" => texts.accounts.unsaid,
        "ConflictUserError" => texts.accounts.taken,
        "InvalidParametersError" => texts.accounts.bad_name,
        "ForbiddenUserError" => texts.accounts.for_administrators,
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
