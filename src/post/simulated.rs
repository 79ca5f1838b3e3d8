//! Keeps what it is given, for tests and for looking.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use crate::{Call, Error, Letter, Post, Result};

/// A twin of the world: nothing leaves it.
#[derive(Debug, Default)]
pub struct Simulated {
    letters: Mutex<Vec<Letter>>,
    calls: Mutex<Vec<Call>>,
    fails: Mutex<Option<Error>>,
}

impl Simulated {
    /// What follows is answered with this, until that is taken back.
    pub fn fail(&self, error: Option<Error>) {
        *self.fails.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    /// All mails so far.
    #[must_use]
    pub fn letters(&self) -> Vec<Letter> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All calls of webhooks so far.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answer(&self) -> Result<()> {
        let fails = self.fails.lock().unwrap_or_else(PoisonError::into_inner);
        fails.clone().map_or(Ok(()), Err)
    }
}

#[async_trait]
impl Post for Simulated {
    fn has_mail(&self) -> bool {
        true
    }

    fn refusal(&self, url: &str) -> Option<String> {
        let wrong = !url.starts_with("https://");
        wrong.then(|| "the address of a webhook begins with https://".to_owned())
    }

    async fn mail(&self, letter: &Letter) -> Result<()> {
        self.answer()?;
        self.letters.lock().unwrap_or_else(PoisonError::into_inner).push(letter.clone());
        Ok(())
    }

    async fn call(&self, call: &Call) -> Result<()> {
        self.answer()?;
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call.clone());
        Ok(())
    }
}
