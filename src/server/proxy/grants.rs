//! What lets a browser in at a task's host. Kept beside the sessions, by the hash of a secret.
//!
//! A *ticket* goes through an address and is good for one use within seconds; a *grant* is what it
//! is turned into, a cookie. Neither is a session of the portal, and no session of the portal is one
//! of them. Both end with the session that they came from.

use api::proxy::TaskPort;
use axum::http::{HeaderMap, HeaderValue};
use protocol::ids::UserName;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::{Duration, OffsetDateTime};
use tower_sessions::SessionStore;
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::Result;

use crate::auth::cookies;
use crate::auth::session_store::{self, Store};

/// How long a redirect may take.
const TICKET: Duration = Duration::seconds(30);
/// How long a task's pages may stay open without being opened again from the portal.
const GRANT: Duration = Duration::days(7);

/// The kinds, as the store's records name them.
const TICKETS: &str = "ticket";
const GRANTS: &str = "grant";

/// What is granted: one user, one port, at one host, for as long as one session lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grant {
    pub(super) user: UserName,
    pub(super) port: TaskPort,
    /// The host's first label.
    pub(super) label: String,
    /// The portal's session, as the store names it.
    pub(super) session: String,
}

/// Gives and finds them.
#[derive(Debug, Clone)]
pub(super) struct Grants(Store);

impl Grants {
    pub(super) fn new(sessions: Store) -> Self {
        Self(sessions)
    }

    /// The secret of a new ticket.
    pub(super) async fn ticket(&self, grant: &Grant) -> Result<String> {
        self.keep(TICKETS, grant, TICKET).await
    }

    /// Turns a ticket for this host into a grant, once; gives the grant's secret.
    pub(super) async fn redeem(&self, ticket: &str, label: &str) -> Result<Option<String>> {
        let Ok(id) = ticket.parse::<Id>() else { return Ok(None) };
        let Some(record) = self.0.take(&id, TICKETS).await? else { return Ok(None) };
        match read(&record, TICKETS).filter(|grant| grant.label == label) {
            Some(grant) => self.keep(GRANTS, &grant, GRANT).await.map(Some),
            None => Ok(None),
        }
    }

    /// The grant that a request's cookies hold for this host.
    pub(super) async fn find(
        &self,
        headers: &HeaderMap,
        label: &str,
        https: bool,
    ) -> Result<Option<Grant>> {
        for secret in secrets(headers, https) {
            let Some(record) = self.0.load(&secret).await? else { continue };
            let grant = read(&record, GRANTS).filter(|grant| grant.label == label);
            if let Some(grant) = grant
                && self.lasts(&grant).await?
            {
                return Ok(Some(grant));
            }
        }
        Ok(None)
    }

    /// Whether the session that it came from is still there.
    pub(super) async fn lasts(&self, grant: &Grant) -> Result<bool> {
        self.0.holds(&grant.session).await
    }

    async fn keep(&self, kind: &str, grant: &Grant, lifetime: Duration) -> Result<String> {
        let value = serde_json::to_value(grant)
            .map_err(|e| tower_sessions::session_store::Error::Encode(e.to_string()))?;
        let mut record = Record {
            id: Id::default(),
            data: [(kind.to_owned(), value)].into(),
            expiry_date: OffsetDateTime::now_utc() + lifetime,
        };
        self.0.create(&mut record).await?;
        Ok(record.id.to_string())
    }
}

/// How the store names the portal's session.
pub(super) fn session_name(id: &Id) -> String {
    session_store::key(id)
}

fn read(record: &Record, kind: &str) -> Option<Grant> {
    record.data.get(kind).cloned().and_then(|value: Value| serde_json::from_value(value).ok())
}

/// The cookie's name; by its beginning browsers know that no other host may set it.
fn cookie_name(https: bool) -> &'static str {
    if https { "__Host-berth_task" } else { "berth_task" }
}

/// The cookie that carries a grant.
pub(super) fn cookie(secret: &str, https: bool) -> HeaderValue {
    let name = cookie_name(https);
    let secure = if https { "; Secure" } else { "" };
    let age = GRANT.whole_seconds();
    let text = format!("{name}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}");
    HeaderValue::from_str(&text).expect("letters and digits are a header's value")
}

/// All that could be a grant. Under https that is one, which no other host can have set; else other
/// hosts may have planted as many beside ours as a browser keeps.
fn secrets(headers: &HeaderMap, https: bool) -> Vec<Id> {
    let mut secrets = Vec::new();
    for secret in cookies::named(headers, cookie_name(https)).filter_map(|text| text.parse().ok()) {
        if !secrets.contains(&secret) {
            secrets.push(secret);
        }
    }
    secrets.truncate(cookies::OF_ONE_SITE);
    secrets
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    #[test]
    fn under_https_only_the_name_that_no_other_host_can_set_is_read() {
        let [planted, own] = [Id(1), Id(2)];
        let text = format!("berth_task={planted}; __Host-berth_task={own}; berth_task=x");
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, text.parse().unwrap());
        assert_eq!(secrets(&headers, true), [own]);
        assert_eq!(secrets(&headers, false), [planted]);
    }
}
