//! Passwords: hashed with Argon2id off the request threads, so many at once and no more.
//!
//! A hash takes 19 MiB and some tens of milliseconds by intent. So there are never more of them at
//! once than there are cores, few more may wait, and nobody has more than his part of these.

mod weak;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use api::{Error, ErrorCode, Result};
use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use protocol::ids::UserName;
use rand::Rng;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::internal;
use crate::secrets::sealing::random;

pub(crate) use weak::check_new;

/// Hashes that may wait for their turn.
const WAITING: usize = 64;
/// Hashes of one signed-in user, under way or waiting.
const PER_USER: usize = 2;
/// Wrong old passwords of one user before he has to wait.
const WRONG: u32 = 8;
/// How long they are remembered.
const WINDOW: Duration = Duration::from_secs(120);

/// All work with passwords of this server.
#[derive(Debug)]
pub(crate) struct Passwords {
    turns: Semaphore,
    waiting: AtomicUsize,
    users: Mutex<HashMap<UserName, Asked>>,
}

/// What a user has asked for.
#[derive(Debug, Default)]
struct Asked {
    under_way: usize,
    wrong: u32,
    since: Option<Instant>,
}

impl Default for Passwords {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::with(cores)
    }
}

impl Passwords {
    fn with(turns: usize) -> Self {
        Self {
            turns: Semaphore::new(turns),
            waiting: AtomicUsize::default(),
            users: Mutex::default(),
        }
    }

    /// Hashes a password that `by` has chosen.
    ///
    /// # Errors
    /// `TooManyRequestsError` when there is too much to do already.
    pub(crate) async fn hash(&self, by: &UserName, password: String) -> Result<String> {
        let _part = self.part_of(by)?;
        let _turn = self.turn().await?;
        hash(password).await
    }

    /// Whether `password` is the one of `hash`. Without a hash it takes as long and says no.
    ///
    /// # Errors
    /// `TooManyRequestsError` when there is too much to do already.
    pub(crate) async fn verify(&self, password: String, hash: Option<String>) -> Result<bool> {
        let _turn = self.turn().await?;
        verify(password, hash).await
    }

    /// Refuses a wrong old password, and after some of them every one for a while: whoever has
    /// got hold of a session does not find the password by it.
    ///
    /// # Errors
    /// `IncorrectPasswordError`; `TooManyRequestsError`.
    pub(crate) async fn require_old(
        &self,
        user: &UserName,
        old: String,
        hash: String,
    ) -> Result<()> {
        let _part = self.part_of(user)?;
        self.count_guess(user, Instant::now())?;
        if !self.verify(old, Some(hash)).await? {
            let message = "the old password is wrong";
            return Err(Error::new(ErrorCode::IncorrectPasswordError, message));
        }
        if let Some(asked) = self.users().get_mut(user) {
            asked.wrong = 0;
        }
        Ok(())
    }

    /// A guess counts from its beginning, so that many at once get no further than one after the
    /// other.
    fn count_guess(&self, user: &UserName, now: Instant) -> Result<()> {
        let mut users = self.users();
        let asked = users.entry(user.clone()).or_default();
        if asked.since.is_none_or(|since| now.duration_since(since) >= WINDOW) {
            asked.since = Some(now);
            asked.wrong = 0;
        }
        if asked.wrong >= WRONG {
            return Err(busy("the old password was wrong too often; try again in two minutes"));
        }
        asked.wrong += 1;
        Ok(())
    }

    fn users(&self) -> std::sync::MutexGuard<'_, HashMap<UserName, Asked>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of a user's places; it is free again when this is dropped.
    fn part_of(&self, user: &UserName) -> Result<Part<'_>> {
        let mut users = self.users();
        let now = Instant::now();
        // Those of whom nothing is to be remembered are forgotten.
        users.retain(|_, asked| {
            let recent = asked.since.is_some_and(|since| now.duration_since(since) < WINDOW);
            asked.under_way > 0 || recent
        });
        let asked = users.entry(user.clone()).or_default();
        if asked.under_way >= PER_USER {
            return Err(busy("a password of yours is being worked on; try again in a moment"));
        }
        asked.under_way += 1;
        Ok(Part { passwords: self, user: user.clone() })
    }

    async fn turn(&self) -> Result<SemaphorePermit<'_>> {
        if let Ok(turn) = self.turns.try_acquire() {
            return Ok(turn);
        }
        let waiting = Waiting(&self.waiting);
        if waiting.0.fetch_add(1, Ordering::AcqRel) >= WAITING {
            return Err(busy("too many passwords are being checked; try again in a moment"));
        }
        self.turns.acquire().await.map_err(internal)
    }
}

/// Counts one who waits, until this is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A user's place among those whose passwords are worked on.
struct Part<'a> {
    passwords: &'a Passwords,
    user: UserName,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if let Some(asked) = self.passwords.users().get_mut(&self.user) {
            asked.under_way = asked.under_way.saturating_sub(1);
        }
    }
}

fn busy(message: &str) -> Error {
    Error::new(ErrorCode::TooManyRequestsError, message)
}

/// Hashes a password.
pub(crate) async fn hash(password: String) -> Result<String> {
    tokio::task::spawn_blocking(move || {
        let salt = SaltString::encode_b64(&random::<16>()).map_err(internal)?;
        let hash = Argon2::default().hash_password(password.as_bytes(), &salt).map_err(internal)?;
        Ok(hash.to_string())
    })
    .await
    .map_err(internal)?
}

async fn verify(password: String, hash: Option<String>) -> Result<bool> {
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

    fn user(name: &str) -> UserName {
        name.parse().unwrap()
    }

    #[tokio::test]
    async fn only_the_right_password_is_right() {
        let passwords = Passwords::default();
        let password = generate();
        let hash = passwords.hash(&user("alice"), password.clone()).await.unwrap();
        assert!(passwords.verify(password.clone(), Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify("wrong".into(), Some(hash)).await.unwrap());
        assert!(!passwords.verify(password, None).await.unwrap());
    }

    #[tokio::test]
    async fn for_nobody_there_is_as_much_work() {
        let made = hash("a password of somebody".into()).await.unwrap();
        let of_somebody = PasswordHash::new(&made).unwrap();
        let of_nobody = PasswordHash::new(NOBODYS).unwrap();
        assert_eq!(of_nobody.algorithm.as_str(), of_somebody.algorithm.as_str());
        assert_eq!(of_nobody.version, of_somebody.version);
        assert_eq!(of_nobody.params.as_str(), of_somebody.params.as_str());
        let length = |hash: &PasswordHash<'_>| hash.hash.map(|output| output.len());
        assert_eq!(length(&of_nobody), length(&of_somebody));
    }

    #[tokio::test]
    async fn password_work_waits_in_a_short_line() {
        let passwords = Passwords::with(1);
        let turn = passwords.turn().await.unwrap();
        let mut line: Vec<_> = (0..WAITING).map(|_| Box::pin(passwords.turn())).collect();
        for waiting in &mut line {
            assert!(futures::poll!(waiting.as_mut()).is_pending());
        }
        let refused = passwords.turn().await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::TooManyRequestsError);
        drop(line.pop());
        let mut last = Box::pin(passwords.turn());
        assert!(futures::poll!(last.as_mut()).is_pending(), "who leaves makes room");
        drop(turn);
        assert!(futures::poll!(line[0].as_mut()).is_ready());
    }

    #[test]
    fn a_user_has_a_part_of_the_password_work() {
        let passwords = Passwords::with(1);
        let parts: Vec<_> =
            (0..PER_USER).map(|_| passwords.part_of(&user("alice")).unwrap()).collect();
        assert!(passwords.part_of(&user("alice")).is_err());
        assert!(passwords.part_of(&user("bob")).is_ok());
        drop(parts);
        assert!(passwords.part_of(&user("alice")).is_ok());
        assert!(passwords.users().len() <= 2);
    }

    #[test]
    fn old_passwords_are_guessed_only_so_often() {
        let passwords = Passwords::with(1);
        let now = Instant::now();
        for _ in 0..WRONG {
            passwords.count_guess(&user("alice"), now).unwrap();
        }
        let refused = passwords.count_guess(&user("alice"), now).unwrap_err();
        assert_eq!(refused.code, ErrorCode::TooManyRequestsError);
        passwords.count_guess(&user("bob"), now).unwrap();
        passwords.count_guess(&user("alice"), now + WINDOW).unwrap();
    }
}
