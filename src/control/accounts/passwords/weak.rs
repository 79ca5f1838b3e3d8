//! Which passwords are not taken: short ones, and those that are guessed first.

use std::collections::HashSet;
use std::sync::LazyLock;

use api::{Error, ErrorCode, Result};
use protocol::ids::UserName;

/// Shortest accepted password, in characters.
const SHORTEST: usize = 8;
/// Longest accepted password, in characters: hashing more is work for an attacker to give us.
const LONGEST: usize = 256;
/// The product's own name, which is guessed first here.
const OURS: &str = "berth";

static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!("common.txt").lines().filter(|line| !line.starts_with('#')).collect()
});

/// Checks a password that a user is to have.
pub(crate) fn check_new(user: &UserName, password: &str) -> Result<()> {
    let length = password.chars().count();
    let refused = |message: String| Err(Error::new(ErrorCode::InvalidParametersError, message));
    if !(SHORTEST..=LONGEST).contains(&length) {
        let allowed = format!("a password has {SHORTEST} to {LONGEST} characters");
        return refused(format!("{allowed}, this one {length}"));
    }
    match weakness(user, password) {
        Some(why) => refused(format!("the password {why}: choose one that is not guessed first")),
        None => Ok(()),
    }
}

fn weakness(user: &UserName, password: &str) -> Option<&'static str> {
    let lower = password.to_lowercase();
    let mut letters: Vec<char> = lower.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    let word = lower.trim_matches(|letter: char| !letter.is_alphabetic());
    if lower.trim().chars().count() < SHORTEST {
        return Some("is mostly spaces");
    }
    if letters.len() <= 2 {
        return Some("repeats one or two characters");
    }
    if COMMON.contains(lower.as_str()) {
        return Some("is one of the commonest there are");
    }
    let own = user.as_str().to_lowercase();
    if is_around(&lower, word, &own) {
        return Some("is the user's name with little around it");
    }
    if is_around(&lower, word, OURS) {
        return Some("is this product's name with little around it");
    }
    None
}

/// Whether a password is a name, once or again and again, between digits and signs.
fn is_around(lower: &str, word: &str, name: &str) -> bool {
    let again = |text: &str| !text.is_empty() && text.replace(name, "").is_empty();
    again(lower) || again(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_passwords_are_refused() {
        let alice: UserName = "Alice.B".parse().unwrap();
        let check = |password: &str| check_new(&alice, password);
        for weak in [
            "1234567",
            "password",
            "12345678",
            "        ",
            "  ab  cd   ",
            "PassWord1",
            "qwertyuiop",
            "aaaaaaaaaa",
            "abababab",
            "alice.balice.b",
            "Alice.B1",
            "alice.b2026!",
            "berth1234",
            "BerthBerth",
            &"x".repeat(257),
        ] {
            let error = check(weak).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidParametersError, "{weak:?}");
        }
        for good in ["correct horse", "correct-horse", "alice likes berths", "tr0ub4dor&3"] {
            check(good).unwrap_or_else(|error| panic!("{good}: {error}"));
        }
        assert_eq!(COMMON.len(), 3_000);
    }
}
