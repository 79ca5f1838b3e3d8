//! What servers of one cluster know each other by: a key that follows from the one in their data folders.
//! Who passes a request on says for whom.

use std::fmt;
use std::net::SocketAddr;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use sha2::{Digest, Sha256};

const KEY: &str = "berth-server-key";
const CLIENT: &str = "berth-server-client";

/// The key.
#[derive(Clone)]
pub struct ServersKey(HeaderValue);

impl fmt::Debug for ServersKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServersKey")
    }
}

impl ServersKey {
    /// Of what was derived.
    #[must_use]
    pub fn new(derived: [u8; 32]) -> Self {
        let mut value = HeaderValue::from_str(&hex::encode(derived))
            .expect("digits and letters are allowed in a header");
        value.set_sensitive(true);
        Self(value)
    }

    /// Says that one of us asks, for a client at this address.
    pub(crate) fn mark(&self, headers: &mut HeaderMap, client: SocketAddr) {
        if let Ok(client) = HeaderValue::from_str(&client.to_string()) {
            headers.insert(CLIENT, client);
        }
        headers.insert(KEY, self.0.clone());
    }

    /// Whether this is what an answer says to who does not have the key.
    pub(crate) fn is_refused(headers: &HeaderMap) -> bool {
        headers.contains_key(KEY)
    }

    /// What is answered to who is none of us.
    pub(super) fn refusal() -> Response<Body> {
        (StatusCode::FORBIDDEN, [(KEY, "unknown")]).into_response()
    }

    /// For whom one of us asks, whose word is taken off; `None`: whoever asks is none of us.
    pub(super) fn client(&self, headers: &mut HeaderMap) -> Option<SocketAddr> {
        let (key, client) = (headers.remove(KEY)?, headers.remove(CLIENT)?);
        // Digests: how long it takes to compare them tells nothing of the key.
        let known = Sha256::digest(self.0.as_bytes()) == Sha256::digest(key.as_bytes());
        client.to_str().ok().filter(|_| known)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_has_the_key_speaks_for_others() {
        let (key, other) = (ServersKey::new([1; 32]), ServersKey::new([2; 32]));
        let client: SocketAddr = "[2001:db8::7]:4711".parse().unwrap();
        let mut headers = HeaderMap::new();
        assert_eq!(key.client(&mut headers), None);
        // What a client says of itself is not passed on.
        headers.insert(CLIENT, HeaderValue::from_static("10.0.0.1:1"));
        key.mark(&mut headers, client);
        assert_eq!(other.client(&mut headers.clone()), None);
        assert_eq!(key.client(&mut headers), Some(client));
        assert!(headers.is_empty(), "nobody behind the door sees it");
        assert!(!format!("{key:?}").contains("0101"));
    }
}
