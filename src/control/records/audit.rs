//! Writing the audit log.

use std::time::Instant;

use api::Actor;
use api::audit::AuditAction;
use database::audit::{self, NewEntry};
use serde::Serialize;
use serde_json::Value;

use protocol::ids::UserName;

use crate::lock::lock;
use crate::records::store::Store;
use crate::wake::now;

/// What is to be written.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    pub(crate) action: AuditAction,
    pub(crate) object: String,
    pub(crate) detail: String,
    pub(crate) address: Option<String>,
}

impl Note {
    /// As an entry of somebody, of now.
    pub(crate) fn by(self, actor: &Actor) -> NewEntry {
        let Self { action, object, detail, address } = self;
        let (at, actor, action) = (now(), actor.user.clone(), action.as_str().to_owned());
        NewEntry { at, actor, action, object, detail, address }
    }
}

/// Writes it.
pub(crate) async fn write(store: &Store, actor: &Actor, note: Note) -> Result<(), database::Error> {
    let entry = note.by(actor);
    store.write(async |t| audit::insert(t, &entry).await).await
}

/// Writes that an administrator reached what is somebody else's: once a minute for each object,
/// since pages ask again and again.
pub(crate) async fn looked(
    store: &Store,
    actor: &Actor,
    owner: &UserName,
    (action, object, detail): (AuditAction, String, String),
) -> Result<(), database::Error> {
    if actor.user == *owner {
        return Ok(());
    }
    let what = format!("{} {object}", actor.user);
    if !lock(&store.bursts).is_first(action, &what, Instant::now()) {
        return Ok(());
    }
    write(store, actor, Note { action, object, detail, address: None }).await
}

/// What of some settings became different: their names, or that all of them are new.
pub(crate) fn difference<T: Serialize>(before: Option<&T>, after: &T) -> String {
    let fields = |settings: &T| match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => serde_json::Map::new(),
    };
    let Some(before) = before.map(fields) else { return "added".to_owned() };
    let changed = fields(after).into_iter().filter(|(name, value)| before.get(name) != Some(value));
    let changed: Vec<_> = changed.map(|(name, _)| name).collect();
    if changed.is_empty() { "unchanged".to_owned() } else { changed.join(", ") }
}
