//! A directory by LDAP: search, then bind.

mod settings;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ldap3::{
    LdapConnAsync, LdapConnSettings, LdapError, Scope, SearchEntry, SearchOptions, ldap_escape,
};
use protocol::ids::ProviderName;
use protocol::person::{self, Person};
use rustls::ClientConfig;
use tokio::sync::Semaphore;

use crate::secret::{self, Secret};
use crate::{Directory, Error, Result, in_allowed_group, trust};

pub use settings::{Attributes, GroupSearch, LdapSettings};

/// How long the directory may take to be reached.
const CONNECT: Duration = Duration::from_secs(5);
/// How long it may take for one answer.
const ANSWER: Duration = Duration::from_secs(8);
/// How long all questions about one person may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most groups of one person.
const GROUPS: i32 = 2_000;
/// How many are asked about at the same time; the others wait.
const AT_ONCE: usize = 8;
/// The longest name and password that are asked about, in bytes.
const LONGEST: usize = 512;

/// The directory's word for a wrong password.
const INVALID_CREDENTIALS: u32 = 49;
/// There is more than was to be told.
const SIZE_LIMIT: u32 = 4;
/// There is nothing at the place that was searched.
const NO_SUCH_OBJECT: u32 = 32;

/// A directory.
pub struct Ldap {
    settings: LdapSettings,
    password: Option<Secret>,
    tls: Arc<ClientConfig>,
    turns: Semaphore,
}

impl fmt::Debug for Ldap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ldap").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// An entry, and what it says about a person.
struct Found {
    dn: String,
    subject: String,
    name: String,
    mail: Option<String>,
}

impl Ldap {
    /// A directory by its settings; it is not asked yet, so that one that is down stops nothing.
    ///
    /// # Errors
    /// [`Error::Settings`] when a file of the settings cannot be read.
    pub fn new(settings: LdapSettings) -> Result<Self> {
        let file = settings.bind_password_file.as_deref();
        let password = secret::read("bind_password", settings.bind_password.as_ref(), file)?;
        let tls = trust::client(settings.ca.as_deref())?;
        Ok(Self { settings, password, tls, turns: Semaphore::new(AT_ONCE) })
    }

    async fn checked(&self, user: &str, password: &str) -> Result<Option<Person>> {
        let mut service = self.service().await?;
        let user = ldap_escape(user);
        let Some(found) = self.entry(&mut service, &self.settings.filter_of(&user)).await? else {
            return Ok(None);
        };
        // A connection of its own: what is asked afterwards is asked by the service, not by whoever
        // has just given a password.
        if !self.opens(&found.dn, password).await? {
            return Ok(None);
        }
        let person = self.person(&mut service, found).await?;
        if in_allowed_group(&self.settings.allowed_groups, &person.groups) {
            return Ok(Some(person));
        }
        Err(Error::NotAllowed { provider: person.provider, name: person.name })
    }

    async fn found(&self, subject: &str) -> Result<Option<Person>> {
        let mut service = self.service().await?;
        let filter = self.settings.filter_of_subject(&literal(subject));
        let Some(found) = self.entry(&mut service, &filter).await? else { return Ok(None) };
        let person = self.person(&mut service, found).await?;
        Ok(in_allowed_group(&self.settings.allowed_groups, &person.groups).then_some(person))
    }

    /// A connection with the service's rights.
    async fn service(&self) -> Result<ldap3::Ldap> {
        let mut service = self.connect().await?;
        let Some(dn) = &self.settings.bind_dn else { return Ok(service) };
        let password = self.password.as_ref().map(Secret::text).unwrap_or_default();
        let bound = service.with_timeout(ANSWER).simple_bind(dn, password).await;
        let bound = bound.map_err(|error| self.unavailable(&error))?;
        match bound.rc {
            0 => Ok(service),
            rc => Err(self.odd(format!("it refuses bind_dn {dn:?} with code {rc}"))),
        }
    }

    async fn connect(&self) -> Result<ldap3::Ldap> {
        let options = LdapConnSettings::new()
            .set_conn_timeout(CONNECT)
            .set_config(Arc::clone(&self.tls))
            .set_starttls(self.settings.start_tls);
        let opening = LdapConnAsync::with_settings(options, &self.settings.url);
        let (connection, handle) = opening.await.map_err(|error| self.unavailable(&error))?;
        let name = self.settings.name.clone();
        // It ends by itself as soon as its last handle is dropped.
        tokio::spawn(async move {
            if let Err(error) = connection.drive().await {
                tracing::debug!(provider = %name, %error, "a connection to a directory broke");
            }
        });
        Ok(handle)
    }

    /// Whether a password is the one of an entry.
    async fn opens(&self, dn: &str, password: &str) -> Result<bool> {
        let mut connection = self.connect().await?;
        let bound = connection.with_timeout(ANSWER).simple_bind(dn, password).await;
        let bound = bound.map_err(|error| self.unavailable(&error))?;
        match bound.rc {
            0 => Ok(true),
            INVALID_CREDENTIALS => Ok(false),
            rc => {
                // Locked, expired, or whatever else a directory has against an account.
                tracing::info!(provider = %self.settings.name, dn, rc, why = bound.text, "refused");
                Ok(false)
            }
        }
    }

    /// The one entry that a filter finds. Several are nobody: which of them is meant?
    async fn entry(&self, service: &mut ldap3::Ldap, filter: &str) -> Result<Option<Found>> {
        let Attributes { name, mail, id } = &self.settings.attributes;
        let wanted = [name.as_str(), mail, id];
        let entries = self.search(service, &self.settings.base, filter, &wanted, 2).await?;
        let mut entries = entries.into_iter();
        let (Some(entry), None) = (entries.next(), entries.next()) else { return Ok(None) };
        let silent = |attribute: &str| Error::Silent {
            provider: self.settings.name.clone(),
            what: format!("the attribute {attribute:?} of {:?}", entry.dn),
        };
        Ok(Some(Found {
            subject: subject(&entry, id).ok_or_else(|| silent(id))?,
            name: first(&entry, name).ok_or_else(|| silent(name))?,
            mail: first(&entry, mail),
            dn: entry.dn.clone(),
        }))
    }

    async fn person(&self, service: &mut ldap3::Ldap, found: Found) -> Result<Person> {
        let mut groups = Vec::new();
        if let Some(search) = &self.settings.groups {
            let filter = search.filter_of(&ldap_escape(&*found.dn), &ldap_escape(&*found.name));
            let wanted = [search.name.as_str()];
            let entries = self.search(service, &search.base, &filter, &wanted, GROUPS).await?;
            groups = entries.iter().filter_map(|entry| first(entry, &search.name)).collect();
        }
        Ok(Person {
            provider: self.settings.name.clone(),
            issuer: self.settings.issuer(),
            subject: found.subject,
            name: found.name,
            mail: found.mail,
            groups: person::groups_of(groups.iter().map(String::as_str)),
        })
    }

    /// What a filter finds. Referrals are not followed, since they lead to whom nobody has chosen.
    async fn search(
        &self,
        service: &mut ldap3::Ldap,
        base: &str,
        filter: &str,
        wanted: &[&str],
        limit: i32,
    ) -> Result<Vec<SearchEntry>> {
        let seconds = i32::try_from(ANSWER.as_secs()).unwrap_or(i32::MAX);
        let options = SearchOptions::new().sizelimit(limit).timelimit(seconds);
        let wanted: Vec<&str> = wanted.iter().copied().filter(|name| !name.is_empty()).collect();
        let asked = service.with_search_options(options).with_timeout(ANSWER).search(
            base,
            Scope::Subtree,
            filter,
            wanted,
        );
        let ldap3::SearchResult(entries, result) =
            asked.await.map_err(|error| self.unavailable(&error))?;
        match result.rc {
            0 | SIZE_LIMIT | NO_SUCH_OBJECT => {}
            rc => return Err(self.odd(format!("it answers a search with code {rc}"))),
        }
        let entries = entries.into_iter().filter(|e| !e.is_ref() && !e.is_intermediate());
        Ok(entries.map(SearchEntry::construct).collect())
    }

    fn unavailable(&self, error: &LdapError) -> Error {
        self.odd(error.to_string())
    }

    fn odd(&self, detail: String) -> Error {
        Error::Unavailable { provider: self.settings.name.clone(), detail }
    }

    async fn in_time<T>(&self, asked: impl Future<Output = Result<T>>) -> Result<T> {
        let too_long = |_| self.odd("it takes too long".to_owned());
        let turn = async {
            let turn = self.turns.acquire().await;
            let _turn = turn.map_err(|closed| self.odd(closed.to_string()))?;
            asked.await
        };
        tokio::time::timeout(PATIENCE, turn).await.map_err(too_long)?
    }
}

#[async_trait]
impl Directory for Ldap {
    fn name(&self) -> &ProviderName {
        &self.settings.name
    }

    async fn check(&self, user: &str, password: &str) -> Result<Option<Person>> {
        // A bind with a name and no password is one without a name: it succeeds, and proves nothing.
        let sound = |text: &str| {
            !text.is_empty() && text.len() <= LONGEST && !text.chars().any(char::is_control)
        };
        if !sound(user) || !sound(password) {
            return Ok(None);
        }
        self.in_time(self.checked(user, password)).await
    }

    async fn find(&self, subject: &str) -> Result<Option<Person>> {
        self.in_time(self.found(subject)).await
    }
}

/// Attribute names are the same in any case, and directories answer in theirs.
fn first(entry: &SearchEntry, attribute: &str) -> Option<String> {
    let named = entry.attrs.iter().find(|(name, _)| name.eq_ignore_ascii_case(attribute));
    named.and_then(|(_, values)| values.first()).filter(|value| !value.is_empty()).cloned()
}

/// What marks the bytes of an identifier that is no text.
const BYTES: &str = "bytes:";

fn subject(entry: &SearchEntry, attribute: &str) -> Option<String> {
    let named = entry.bin_attrs.iter().find(|(name, _)| name.eq_ignore_ascii_case(attribute));
    let bytes = named.and_then(|(_, values)| values.first()).filter(|value| !value.is_empty());
    match bytes {
        Some(bytes) => Some(format!("{BYTES}{}", hex::encode(bytes))),
        None => first(entry, attribute),
    }
}

/// A subject as filters write it.
fn literal(subject: &str) -> String {
    match subject.strip_prefix(BYTES).map(hex::decode) {
        Some(Ok(bytes)) => bytes.iter().map(|byte| format!("\\{byte:02x}")).collect(),
        _ => ldap_escape(subject).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_written_so_that_filters_find_them_again() {
        assert_eq!(literal("bytes:00ff2a"), "\\00\\ff\\2a");
        assert_eq!(literal("a*)(uid=*"), "a\\2a\\29\\28uid=\\2a");
        let bytes = vec![vec![0x00, 0xff]];
        let entry = SearchEntry {
            dn: "cn=ada".into(),
            attrs: [("entryUUID".to_owned(), vec!["1-2".to_owned()])].into(),
            bin_attrs: [("objectGUID".to_owned(), bytes)].into(),
        };
        assert_eq!(subject(&entry, "entryuuid"), Some("1-2".into()));
        assert_eq!(subject(&entry, "objectguid"), Some("bytes:00ff".into()));
        assert_eq!(subject(&entry, "mail"), None);
    }
}
