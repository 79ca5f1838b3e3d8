//! Sessions in the database, so that they outlive the process and are shared by several.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use database::Database;
use database::sessions::{self, SessionRecord};
use protocol::time::Timestamp;
use serde_json::Value;
use time::OffsetDateTime;
use tower_sessions::SessionStore;
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::{Error, Result};

use super::session_keys::{SESSION_UNTIL, SESSION_USER};

/// Whoever has the database open.
pub trait SessionDatabase: Send + Sync + 'static {
    /// The database.
    fn database(&self) -> &Database;
}

impl SessionDatabase for Database {
    fn database(&self) -> &Database {
        self
    }
}

/// tower-sessions' store over the database.
#[derive(Clone)]
pub struct Store(Arc<dyn SessionDatabase>);

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}

impl Store {
    /// A store over `database`.
    #[must_use]
    pub fn new(database: Arc<dyn SessionDatabase>) -> Self {
        Self(database)
    }

    /// Whether there is a session of this [`key`].
    pub(crate) async fn holds(&self, key: &str) -> Result<bool> {
        let session = sessions::load(self.0.database().read(), key, this_moment()).await;
        Ok(session.map_err(backend)?.is_some())
    }

    /// Takes a session that holds this out of the store; of several who try, one gets it.
    pub(crate) async fn take(&self, id: &Id, holding: &str) -> Result<Option<Record>> {
        let found = self.load(id).await?.filter(|record| record.data.contains_key(holding));
        let Some(found) = found else { return Ok(None) };
        let transaction = self.0.database().begin().await.map_err(backend)?;
        let taken = sessions::delete(&transaction, &key(id)).await.map_err(backend)?;
        transaction.commit().await.map_err(backend)?;
        Ok(taken.then_some(found))
    }

    async fn write(&self, record: &Record, new: bool) -> Result<Written> {
        let transaction = self.0.database().begin().await.map_err(backend)?;
        let session = stored(record)?;
        let written = if new {
            match sessions::create(&transaction, &session).await {
                Ok(()) => Written::Yes,
                Err(database::Error::Conflict { .. }) => return Ok(Written::Taken),
                Err(error) => return Err(backend(error)),
            }
        } else if sessions::load(&transaction, &session.id, Timestamp(0))
            .await
            .map_err(backend)?
            .is_some()
        {
            sessions::save(&transaction, &session).await.map_err(backend)?;
            Written::Yes
        } else {
            // Signed out elsewhere in the meantime: what is gone stays gone.
            Written::Gone
        };
        transaction.commit().await.map_err(backend)?;
        Ok(written)
    }
}

/// What became of a session that was to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Yes,
    Taken,
    Gone,
}

fn backend(error: database::Error) -> Error {
    Error::Backend(error.to_string())
}

#[async_trait]
impl SessionStore for Store {
    async fn create(&self, record: &mut Record) -> Result<()> {
        while self.write(record, true).await? == Written::Taken {
            record.id = Id::default();
        }
        Ok(())
    }

    async fn save(&self, record: &Record) -> Result<()> {
        self.write(record, false).await.map(|_| ())
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let session = sessions::load(self.0.database().read(), &key(id), this_moment()).await;
        session.map_err(backend)?.map(|session| record(*id, &session)).transpose()
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        let transaction = self.0.database().begin().await.map_err(backend)?;
        sessions::delete(&transaction, &key(id)).await.map_err(backend)?;
        transaction.commit().await.map_err(backend)
    }
}

fn this_moment() -> Timestamp {
    Timestamp(OffsetDateTime::now_utc().unix_timestamp() * 1000)
}

/// The table's key: a hash, so that a stolen copy of the database opens no session.
pub(crate) fn key(id: &Id) -> String {
    use sha2::Digest;
    hex::encode(sha2::Sha256::digest(id.to_string()))
}

fn stored(record: &Record) -> Result<SessionRecord> {
    let user = record.data.get(SESSION_USER).and_then(Value::as_str);
    let data = serde_json::to_vec(&record.data).map_err(|e| Error::Encode(e.to_string()))?;
    let millis = record.expiry_date.unix_timestamp_nanos() / 1_000_000;
    // However often it is used and written anew: some sessions end in any case.
    let until = record.data.get(SESSION_UNTIL).and_then(Value::as_i64);
    let millis = until.map_or(millis, |until| millis.min(i128::from(until) * 1_000));
    Ok(SessionRecord {
        id: key(&record.id),
        user: user.and_then(|user| user.parse().ok()),
        data,
        expires_at: Timestamp(i64::try_from(millis).unwrap_or(i64::MAX)),
    })
}

fn record(id: Id, session: &SessionRecord) -> Result<Record> {
    let decode = |error: String| Error::Decode(error);
    let data: HashMap<String, Value> =
        serde_json::from_slice(&session.data).map_err(|e| decode(e.to_string()))?;
    let nanos = i128::from(session.expires_at.0) * 1_000_000;
    let expiry_date =
        OffsetDateTime::from_unix_timestamp_nanos(nanos).map_err(|e| decode(e.to_string()))?;
    Ok(Record { id, data, expiry_date })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_a_provider_ends_in_its_time() {
        let until = 1_700_000_000_i64;
        let data = HashMap::from([(SESSION_UNTIL.to_owned(), Value::from(until))]);
        let expiry_date = OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap();
        let stored = stored(&Record { id: Id(7), data, expiry_date }).unwrap();
        assert_eq!(stored.expires_at, Timestamp(until * 1_000));
    }

    #[test]
    fn a_session_survives_being_stored() {
        let id = Id(7);
        let data = HashMap::from([(SESSION_USER.to_owned(), Value::from("alice"))]);
        let expiry_date = OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap();
        let before = Record { id, data, expiry_date };
        let stored = stored(&before).unwrap();
        assert_eq!(stored.user.as_ref().map(protocol::ids::UserName::as_str), Some("alice"));
        assert!(!stored.id.contains(&id.to_string()), "only a hash of the id is stored");
        assert_eq!(record(id, &stored).unwrap(), before);
    }
}
