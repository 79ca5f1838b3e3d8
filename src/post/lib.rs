//! What leaves the house for people who are not looking: mail by SMTP, and webhooks.
//!
//! [`Postman`] sends to the world, [`Simulated`] keeps what it is given. Both send once: what is tried
//! again, and when, is decided elsewhere.

mod addresses;
mod mail;
mod simulated;
mod webhook;

use std::fmt;

use async_trait::async_trait;

pub use addresses::Allowed;
pub use mail::{MailSettings, Security};
pub use simulated::Simulated;
pub use webhook::{SIGNATURE, signature};

use mail::Mail;
use webhook::Webhooks;

/// Something that sends.
#[async_trait]
pub trait Post: fmt::Debug + Send + Sync {
    /// Whether mail can be sent at all.
    fn has_mail(&self) -> bool;
    /// Why nothing is sent to this address of a webhook, as far as the address itself tells.
    fn refusal(&self, url: &str) -> Option<String>;
    /// Sends a mail, once.
    async fn mail(&self, letter: &Letter) -> Result<()>;
    /// Calls a webhook, once.
    async fn call(&self, call: &Call) -> Result<()>;
}

/// A mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The address of one reader.
    pub to: String,
    /// Its subject.
    pub subject: String,
    /// Its text.
    pub text: String,
}

/// A call of a webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    /// Where.
    pub url: String,
    /// JSON.
    pub body: String,
    /// What the body is signed with.
    pub key: String,
}

impl fmt::Debug for Call {
    /// Without the key, and without the address: who knows that of a chat's webhook may write there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("body", &self.body).finish_non_exhaustive()
    }
}

/// Why something was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(String),
    /// It will not be taken later either.
    #[error("{0}")]
    Refused(String),
    /// It may be taken later.
    #[error("{0}")]
    Unavailable(String),
}

/// What sending answers.
pub type Result<T> = std::result::Result<T, Error>;

/// Sends to the world.
#[derive(Debug)]
pub struct Postman {
    mail: Option<Mail>,
    webhooks: Webhooks,
}

impl Postman {
    /// Mail is sent only if a server is named; webhooks where the address is public or allowed.
    ///
    /// # Errors
    /// [`Error::Settings`].
    pub fn new(mail: Option<&MailSettings>, allowed: Allowed) -> Result<Self> {
        let mail = mail.map(Mail::new).transpose()?;
        Ok(Self { mail, webhooks: Webhooks::new(allowed) })
    }
}

#[async_trait]
impl Post for Postman {
    fn has_mail(&self) -> bool {
        self.mail.is_some()
    }

    fn refusal(&self, url: &str) -> Option<String> {
        self.webhooks.refusal(url)
    }

    async fn mail(&self, letter: &Letter) -> Result<()> {
        match &self.mail {
            Some(mail) => mail.send(letter).await,
            None => Err(Error::Refused("no mail is set up".to_owned())),
        }
    }

    async fn call(&self, call: &Call) -> Result<()> {
        self.webhooks.call(call).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_shown_without_its_address_and_key() {
        let (url, body, key) = ("https://chat.example.org/T0/secret", "{}", "hush");
        let call = Call { url: url.to_owned(), body: body.to_owned(), key: key.to_owned() };
        let shown = format!("{call:?}");
        assert!(!shown.contains("secret") && !shown.contains("hush"), "{shown}");
    }
}
