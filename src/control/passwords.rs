//! Passwords: hashed with Argon2id, checked off the request threads.

use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use rand::Rng;

use crate::error::internal;
use crate::sealing::random;

/// Shortest accepted password, in characters.
pub(crate) const SHORTEST: usize = 8;
/// Longest accepted password, in characters: hashing more is work for an attacker to give us.
pub(crate) const LONGEST: usize = 256;

/// Checks the length of a new password.
pub(crate) fn check_new(password: &str) -> api::Result<()> {
    let length = password.chars().count();
    if (SHORTEST..=LONGEST).contains(&length) {
        return Ok(());
    }
    let message = format!("a password has {SHORTEST} to {LONGEST} characters, this one {length}");
    Err(api::Error::new(api::ErrorCode::InvalidParametersError, message))
}

/// Hashes a password.
pub(crate) async fn hash(password: String) -> api::Result<String> {
    tokio::task::spawn_blocking(move || {
        let salt = SaltString::encode_b64(&random::<16>()).map_err(internal)?;
        let hash = Argon2::default().hash_password(password.as_bytes(), &salt).map_err(internal)?;
        Ok(hash.to_string())
    })
    .await
    .map_err(internal)?
}

/// Whether `password` is the one of `hash`. Without a hash it takes as long and says no.
pub(crate) async fn verify(password: String, hash: Option<String>) -> api::Result<bool> {
    tokio::task::spawn_blocking(move || {
        let known = hash.is_some();
        let hash = hash.unwrap_or_else(|| NOBODYS.to_owned());
        let parsed = PasswordHash::new(&hash).map_err(internal)?;
        let right = Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok();
        Ok(known && right)
    })
    .await
    .map_err(internal)?
}

/// The hash of a password that nobody has, with the default cost.
const NOBODYS: &str = "$argon2id$v=19$m=19456,t=2,p=1$YmVydGhiZXJ0aGJlcnRo$\
                       3Zx0oX1qUeXlNYGy1MDOOpuTZ9PHJxlkcBeGwrL2M5E";

/// A password to be told once: 20 letters and digits without those that look alike.
pub(crate) fn generate() -> String {
    const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    let mut random = rand::rng();
    (0..20).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_is_right() {
        let password = generate();
        let hash = hash(password.clone()).await.unwrap();
        assert!(verify(password.clone(), Some(hash.clone())).await.unwrap());
        assert!(!verify("wrong".into(), Some(hash)).await.unwrap());
        assert!(!verify(password, None).await.unwrap());
    }

    #[test]
    fn short_and_endless_passwords_are_refused() {
        assert!(check_new("1234567").is_err());
        assert!(check_new("12345678").is_ok());
        assert!(check_new(&"x".repeat(257)).is_err());
    }
}
