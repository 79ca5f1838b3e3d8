use api::files::FilePath;
use api::{Actor, ErrorCode};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use percent_encoding::percent_decode_str;

use super::address::{PREFIX, names_its_caller};
use super::parameters::Parameters;
use crate::auth::{Caller, ClientAddress};
use crate::failure::Failure;
use crate::listen::LinkHost;
use crate::state::AppState;

/// A request, taken apart: who asks for what.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) actor: Actor,
    pub(super) path: FilePath,
    pub(super) parameters: Parameters,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    /// What absolute links may be made of.
    pub(super) host: Option<LinkHost>,
}

impl Ask {
    /// The operation in capital letters; empty when none is said.
    pub(super) fn operation(&self) -> String {
        self.parameters.text("op").unwrap_or_default().to_ascii_uppercase()
    }
}

impl FromRequestParts<AppState> for Ask {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Failure> {
        let parameters = Parameters::read(parts.uri.query().unwrap_or_default())?;
        let caller = parts.extensions.get::<Caller>().cloned().unwrap_or_default();
        let asked = actor(state, caller, &parameters).await;
        if names_its_caller(&parts.uri) {
            let ClientAddress(address) = ClientAddress::of(parts, state);
            state.rates.admit(asked.as_ref().ok(), address)?;
        }
        let actor = asked?;
        let path = path(&parts.uri)?;
        let host = parts.extensions.get::<LinkHost>().cloned();
        let (uri, headers) = (parts.uri.clone(), parts.headers.clone());
        Ok(Self { actor, path, parameters, uri, headers, host })
    }
}

/// A token wins over a session; a bad token is an error, never a guest.
async fn actor(
    state: &AppState,
    caller: Caller,
    parameters: &Parameters,
) -> Result<Actor, Failure> {
    if let Some(token) = parameters.text("delegation") {
        let bearer = state.backend.users.token_actor(token).await?;
        return bearer.map(|bearer| bearer.actor).ok_or_else(Failure::invalid_token);
    }
    caller.actor.ok_or_else(|| {
        Failure::new(
            ErrorCode::UnauthorizedUserError,
            "say who asks by delegation=<token> or an Authorization header; user.name is not enough",
        )
    })
}

fn path(uri: &Uri) -> Result<FilePath, Failure> {
    let path = uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let path = percent_decode_str(path)
        .decode_utf8()
        .map_err(|_| Failure::new(ErrorCode::InvalidParametersError, "the path is not UTF-8"))?;
    Ok(FilePath::new(if path.is_empty() { "/" } else { path.as_ref() }))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use storage::Storage;

    use super::*;

    static STORAGE: LazyLock<Storage> =
        LazyLock::new(|| Storage::open("webhdfs://nowhere:1/files").unwrap());

    /// More by the environment: `BERTH_CASES=10000000`.
    fn cases() -> ProptestConfig {
        let asked = std::env::var("BERTH_CASES").ok().and_then(|cases| cases.parse().ok());
        // A file of failures beside a flat crate would be taken for a crate of the workspace.
        let failure_persistence = None;
        ProptestConfig { cases: asked.unwrap_or(5_000), failure_persistence, ..Default::default() }
    }

    /// What has a meaning somewhere, encoded once, twice or not, and anything that an address takes.
    fn any_part() -> impl Strategy<Value = String> {
        let known = prop::sample::select(vec![
            "/",
            "//",
            "..",
            ".",
            "%2e",
            "%2E%2e",
            "%2f",
            "%5c",
            "%252e",
            "%00",
            "%0a",
            "%20",
            "%ff",
            "%c0%ae",
            "%e3%80%80",
            "%",
            "%%",
            "?op=OPEN",
            "&",
            "#",
            ".berth",
            "alice",
            "file:///files",
        ]);
        prop_oneof![4 => known.prop_map(str::to_owned), 1 => "[!-~]{0,6}", 1 => "(%[0-9a-f]{2}){1,4}"]
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn any_address_names_a_path_below_the_root_or_none(
            parts in prop::collection::vec(any_part(), 0..12),
        ) {
            let address = format!("{PREFIX}/{}", parts.concat());
            let Ok(uri) = address.parse::<Uri>() else { return Ok(()) };
            if let Ok(parameters) = Parameters::read(uri.query().unwrap_or_default()) {
                let _any_answer = (parameters.flag("recursive"), parameters.number("offset"));
            }
            let Ok(path) = path(&uri) else { return Ok(()) };
            let Ok(path) = STORAGE.resolve(path.as_str()) else { return Ok(()) };
            for name in path.parts() {
                prop_assert!(![".", ".."].contains(&name) && !name.contains('/'), "{name:?}");
                prop_assert!(!name.chars().any(char::is_control), "{name:?}");
            }
            prop_assert!(path.parts().next() != Some(".berth"), "{path}");
        }
    }
}
