//! What the query of an address may ask. A key that its door does not know is refused: whoever asks
//! for less than everything, and then changes what comes, must not be given everything.

use api::ErrorCode;
use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::failure::Failure;
use crate::openapi;

/// What browsers' libraries add so that no cache answers; it asks for nothing.
const NO_CACHE: &str = "_";
/// Doors to which browsers are led from elsewhere, with words that are not ours.
const LED_TO: &str = "/authn/oidc/";
/// Characters of a key that are repeated to who sent it.
const SHOWN: usize = 100;

/// Refuses requests that ask in words which their door does not know.
pub(super) async fn known_only(request: Request, next: Next) -> Response {
    if let Some(failure) = refused(&request) {
        return failure.into_response();
    }
    next.run(request).await
}

fn refused(request: &Request) -> Option<Failure> {
    let query = request.uri().query().filter(|query| !query.is_empty())?;
    let route = request.extensions().get::<MatchedPath>()?;
    if route.as_str().contains(LED_TO) {
        return None;
    }
    let known = known(request.method(), route.as_str())?;
    let asked: Vec<(String, String)> = serde_urlencoded::from_str(query).ok()?;
    let is_known = |key: &str| key == NO_CACHE || known.contains(&key);
    let (key, _) = asked.iter().find(|(key, _)| !is_known(key))?;
    let key: String = key.chars().take(SHOWN).collect();
    let message = match known.as_slice() {
        [] => format!("{key:?}: nothing can be asked for in the query of this address"),
        known => {
            let known = known.join(", ");
            format!("{key:?} is not known in the query of this address: allowed are {known}")
        }
    };
    Some(Failure::new(ErrorCode::InvalidParametersError, message))
}

/// What can be asked of a door; `None`: it is none of those that are described.
fn known(method: &Method, route: &str) -> Option<Vec<&'static str>> {
    let methods = openapi::document()["paths"].get(route.replace("{*", "{"))?;
    let method = match method.as_str() {
        "HEAD" => "get".to_owned(),
        other => other.to_ascii_lowercase(),
    };
    // What answers every method is described by the one that is asked of it.
    let operation = methods.get(method).or(methods.get("get"))?;
    let parameters = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    let in_query = parameters.iter().filter(|parameter| parameter["in"] == "query");
    Some(in_query.filter_map(|parameter| parameter["name"].as_str()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_door_knows_what_it_is_asked() {
        let jobs = known(&Method::GET, "/api/v2/jobs").unwrap();
        assert!(jobs.contains(&"tagsContain") && !jobs.contains(&"clonedFrom"), "{jobs:?}");
        assert_eq!(known(&Method::HEAD, "/api/v2/jobs").unwrap(), jobs);
        assert_eq!(known(&Method::POST, "/api/v2/jobs").unwrap(), ["clonedFrom"]);
        assert_eq!(known(&Method::GET, "/api/v2/users").unwrap(), [""; 0]);
        assert_eq!(known(&Method::PATCH, "/api/v2").unwrap(), [""; 0]);
        let file = known(&Method::PUT, "/api/v2/files/{*path}").unwrap();
        assert!(file.contains(&"overwrite"), "{file:?}");
        assert!(known(&Method::GET, "/api/{*path}").is_none());
    }
}
