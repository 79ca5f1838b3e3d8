//! Mail by SMTP.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use serde::Deserialize;
use url::Host;

use crate::{Error, Letter, Result};

/// The longest that a mail may take, from the first word to the last.
const PATIENCE: Duration = Duration::from_secs(30);

/// A mail server, and in whose name it is asked.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailSettings {
    /// Its name or address.
    pub server: String,
    /// Its port; not said: the usual one of its kind of security.
    pub port: Option<u16>,
    /// How what is sent to it is kept from others.
    #[serde(default)]
    pub security: Security,
    /// Who it is told that we are.
    pub user: Option<String>,
    /// The file whose first line is the password.
    pub password_file: Option<PathBuf>,
    /// The sender: `berth@example.org`, or `Berth <berth@example.org>`.
    pub from: String,
}

impl fmt::Debug for MailSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MailSettings").field("server", &self.server).finish_non_exhaustive()
    }
}

/// How what is sent to a mail server is kept from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// By TLS, which is asked for first; a server without it is told nothing.
    #[default]
    StartTls,
    /// By TLS from the beginning.
    Tls,
    /// Not at all.
    None,
}

impl Security {
    fn usual_port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

/// What sends mails.
pub(crate) struct Mail {
    from: Mailbox,
    transport: AsyncSmtpTransport<Tokio1Executor>,
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mail").field("from", &self.from).finish_non_exhaustive()
    }
}

impl Mail {
    pub(crate) fn new(settings: &MailSettings) -> Result<Self> {
        let wrong = |key: &str, why: String| Error::Settings(format!("mail.{key}: {why}"));
        let MailSettings { server, port, security, user, password_file, from } = settings;
        let from = from.parse::<Mailbox>();
        let from = from.map_err(|error| wrong("from", format!("{:?}: {error}", settings.from)))?;
        let tls = || TlsParameters::new(server.clone());
        let tls = match security {
            Security::StartTls => tls().map(Tls::Required),
            Security::Tls => tls().map(Tls::Wrapper),
            Security::None => Ok(Tls::None),
        };
        let tls = tls.map_err(|error| wrong("security", error.to_string()))?;
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(server.clone())
            .port(port.unwrap_or(security.usual_port()))
            .tls(tls)
            .timeout(Some(PATIENCE));
        match (user, password_file) {
            (Some(user), Some(file)) => {
                if *security == Security::None {
                    let why = "a password does not go over an open line: say tls or starttls";
                    return Err(wrong("security", why.to_owned()));
                }
                let password = std::fs::read_to_string(file).map_err(|error| {
                    wrong("password_file", format!("{}: {error}", file.display()))
                })?;
                let password = password.lines().next().unwrap_or_default().to_owned();
                transport = transport.credentials(Credentials::new(user.clone(), password));
            }
            (None, None) => {}
            (Some(_), None) => return Err(wrong("password_file", "it is missing".to_owned())),
            (None, Some(_)) => return Err(wrong("user", "it is missing".to_owned())),
        }
        Ok(Self { from, transport: transport.build() })
    }

    pub(crate) async fn send(&self, letter: &Letter) -> Result<()> {
        let message = self.message(letter)?;
        let sent = tokio::time::timeout(PATIENCE, self.transport.send(message)).await;
        match sent {
            Ok(Ok(_response)) => Ok(()),
            Ok(Err(error)) if error.is_permanent() => Err(Error::Refused(error.to_string())),
            Ok(Err(error)) => Err(Error::Unavailable(error.to_string())),
            Err(_late) => Err(Error::Unavailable("the mail server takes too long".to_owned())),
        }
    }

    fn message(&self, letter: &Letter) -> Result<Message> {
        let Letter { to, subject, text } = letter;
        // An address alone: what looks like a list of them is none.
        let address = to.parse::<Address>();
        let address = address.map_err(|error| Error::Refused(format!("{to:?}: {error}")))?;
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::from(address))
            .message_id(Some(self.message_id()))
            .subject(subject.replace(char::is_control, " "))
            .header(ContentType::TEXT_PLAIN)
            .body(text.clone())
            .map_err(|error| Error::Refused(error.to_string()))
    }

    /// A name that no other mail has: of the sender's domain, since mails of none are taken for spam.
    fn message_id(&self) -> String {
        let domain = self.from.email.domain();
        let written = Host::parse(domain).map(|host| host.to_string());
        let domain = written.unwrap_or_else(|_unusual| domain.to_owned());
        format!("<{:032x}@{domain}>", rand::random::<u128>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(security: Security) -> MailSettings {
        MailSettings {
            server: "mail.example.org".to_owned(),
            port: None,
            security,
            user: None,
            password_file: None,
            from: "Berth <berth@example.org>".to_owned(),
        }
    }

    #[tokio::test]
    async fn what_cannot_work_is_said_at_the_start() {
        assert!(Mail::new(&settings(Security::None)).is_ok());
        let nameless = MailSettings { from: "berth".to_owned(), ..settings(Security::None) };
        let half = MailSettings { user: Some("berth".to_owned()), ..settings(Security::Tls) };
        let password_file = Some(PathBuf::from("/nowhere"));
        let open = MailSettings {
            password_file: password_file.clone(),
            user: Some("berth".to_owned()),
            ..settings(Security::None)
        };
        let gone = MailSettings {
            password_file,
            user: Some("berth".to_owned()),
            ..settings(Security::StartTls)
        };
        for (wrong, key) in [
            (nameless, "mail.from"),
            (half, "mail.password_file"),
            (open, "mail.security"),
            (gone, "mail.password_file"),
        ] {
            let said = Mail::new(&wrong).unwrap_err().to_string();
            assert!(said.starts_with(key), "{said}");
        }
    }

    #[tokio::test]
    async fn nobody_writes_to_others_by_an_address_or_a_subject() {
        let mail = Mail::new(&settings(Security::None)).unwrap();
        let letter = |to: &str, subject: &str| Letter {
            to: to.to_owned(),
            subject: subject.to_owned(),
            text: "done".to_owned(),
        };
        for to in ["a@b.org, c@d.org", "a@b.org\r\nBcc: c@d.org", "A <a@b.org>", "", "a"] {
            let refused = mail.message(&letter(to, "x")).unwrap_err();
            assert!(matches!(refused, Error::Refused(_)), "{to:?}");
        }
        let sly = mail.message(&letter("ada@example.org", "x\r\nBcc: c@d.org")).unwrap();
        let text = String::from_utf8(sly.formatted()).unwrap();
        assert!(!text.lines().any(|line| line.starts_with("Bcc")), "{text}");
    }

    #[tokio::test]
    async fn each_mail_is_named_in_the_domain_of_its_sender() {
        for (from, domain) in [
            ("Berth <berth@gpu.example.org>", "@gpu.example.org>"),
            ("berth@例子.org", "@xn--fsqu00a.org>"),
        ] {
            let settings = MailSettings { from: from.to_owned(), ..settings(Security::None) };
            let mail = Mail::new(&settings).unwrap();
            let named = mail.message_id();
            assert!(named.starts_with('<') && named.ends_with(domain), "{named}");
            assert_ne!(named, mail.message_id());
        }
    }
}
