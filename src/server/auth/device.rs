//! The cookie of a device with which somebody has signed in: it lets nobody in, but what strangers
//! do to a name does not hinder whoever has it.
//!
//! It holds the device's id and, of each of the last users who signed in with it, a mark that only
//! we can make.

use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use rand::RngCore;
use sha2::Sha256;

/// Users of one device.
const USERS: usize = 5;
/// Bytes of an id and of a mark.
const BYTES: usize = 16;
/// How long a device is known, in seconds.
const AGE: u32 = 180 * 86_400;

/// Makes and reads the cookies.
pub(crate) struct Devices([u8; 32]);

impl std::fmt::Debug for Devices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Devices")
    }
}

impl Devices {
    /// With the key that makes marks; without one, one of this process.
    pub(crate) fn new(key: Option<[u8; 32]>) -> Self {
        Self(key.unwrap_or_else(|| {
            let mut key = [0; 32];
            rand::rng().fill_bytes(&mut key);
            key
        }))
    }

    /// The device's id, if this user has signed in with it before.
    pub(crate) fn of(&self, headers: &HeaderMap, user: &str) -> Option<String> {
        let (id, marks) = read(headers)?;
        let known = marks.iter().any(|mark| self.is_mark(&id, user, mark));
        known.then_some(id)
    }

    /// The cookie of a device with which this user has signed in just now.
    pub(crate) fn cookie(&self, headers: &HeaderMap, user: &str, https: bool) -> HeaderValue {
        let (id, marks) = read(headers).unwrap_or_else(|| (fresh_id(), Vec::new()));
        let others: Vec<_> =
            marks.into_iter().filter(|mark| !self.is_mark(&id, user, mark)).collect();
        let own = URL_SAFE_NO_PAD.encode(&self.mac(&id, user).finalize().into_bytes()[..BYTES]);
        let parts: Vec<_> =
            [id, own].into_iter().chain(others.into_iter().take(USERS - 1)).collect();
        let (name, secure) = (name(https), if https { "; Secure" } else { "" });
        let text = format!(
            "{name}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age={AGE}{secure}",
            parts.join(".")
        );
        HeaderValue::from_str(&text).expect("letters and digits are a header's value")
    }

    fn is_mark(&self, id: &str, user: &str, mark: &str) -> bool {
        let Ok(mark) = URL_SAFE_NO_PAD.decode(mark) else { return false };
        mark.len() == BYTES && self.mac(id, user).verify_truncated_left(&mark).is_ok()
    }

    fn mac(&self, id: &str, user: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(&self.0).expect("any key will do");
        mac.update(format!("{id} {}", user.to_lowercase()).as_bytes());
        mac
    }
}

/// By its beginning browsers know that no other host may set it.
fn name(https: bool) -> &'static str {
    if https { "__Host-berth_device" } else { "berth_device" }
}

/// The id and the marks that a request has.
fn read(headers: &HeaderMap) -> Option<(String, Vec<String>)> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    let ours = |key: &str| [true, false].map(name).contains(&key.trim());
    let (_, value) = pairs.find(|(key, _)| ours(key))?;
    let mut parts = value.trim().split('.');
    let id = parts.next().filter(|id| URL_SAFE_NO_PAD.decode(id).is_ok_and(|id| id.len() == BYTES));
    Some((id?.to_owned(), parts.take(USERS).map(str::to_owned).collect()))
}

fn fresh_id() -> String {
    let mut id = [0; BYTES];
    rand::rng().fill_bytes(&mut id);
    URL_SAFE_NO_PAD.encode(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carrying(cookie: &HeaderValue) -> HeaderMap {
        let pair = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
        HeaderMap::from_iter([(header::COOKIE, format!("a=b; {pair}").parse().unwrap())])
    }

    #[test]
    fn a_device_is_known_for_those_who_signed_in_with_it() {
        let devices = Devices::new(None);
        let first = devices.cookie(&HeaderMap::new(), "Alice", true);
        assert!(first.to_str().unwrap().starts_with("__Host-berth_device="));
        let headers = carrying(&first);
        let id = devices.of(&headers, "alice").unwrap();
        assert_eq!(devices.of(&headers, "bob"), None);
        let both = carrying(&devices.cookie(&headers, "bob", false));
        assert_eq!(devices.of(&both, "bob"), Some(id.clone()));
        assert_eq!(devices.of(&both, "alice"), Some(id));
        assert_eq!(Devices::new(None).of(&both, "alice"), None, "another key's mark");
    }

    #[test]
    fn what_is_made_up_is_no_device() {
        let devices = Devices::new(Some([7; 32]));
        for value in ["", ".", "x.y", "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA.AAAA."] {
            let headers = HeaderMap::from_iter([(
                header::COOKIE,
                format!("berth_device={value}").parse().unwrap(),
            )]);
            assert_eq!(devices.of(&headers, "alice"), None, "{value}");
        }
        let mut cookie = HeaderMap::new();
        for n in 0..20 {
            cookie = carrying(&devices.cookie(&cookie, &format!("user{n}"), false));
        }
        assert!(cookie[header::COOKIE].len() < 300, "it does not grow for ever");
        assert_eq!(devices.of(&cookie, "user0"), None);
    }
}
