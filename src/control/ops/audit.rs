//! `api::audit`.

use std::sync::Arc;

use std::time::Instant;

use api::audit::{Audit, AuditAction, AuditEntry, AuditNote};
use api::{Actor, Result};
use async_trait::async_trait;
use database::audit::{Entry, NewEntry};

use crate::accounts::rights::administrators_only;
use crate::lock::lock;
use crate::records::audit::{self, Note};
use crate::records::bursts::Admitted;
use crate::shared::Shared;

/// Entries at once.
const MOST: u64 = 500;
/// Words at once.
const WORDS: usize = 8;
/// Characters of an object that somebody else chose.
const LONGEST: usize = 200;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Audit for Ops {
    async fn find(
        &self,
        actor: &Actor,
        words: &str,
        before: Option<i64>,
        limit: u64,
    ) -> Result<Vec<AuditEntry>> {
        administrators_only(actor)?;
        let (reader, limit) = (self.0.store.database.read(), limit.min(MOST));
        let words = words.to_lowercase();
        let words: Vec<&str> = words.split_whitespace().take(WORDS).collect();
        let entries = match words.is_empty() {
            true => database::audit::list(reader, before, limit).await,
            false => {
                database::audit::find(reader, before, limit, |entry| says(entry, &words)).await
            }
        };
        Ok(entries?.into_iter().filter_map(view).collect())
    }

    async fn note(&self, note: AuditNote) -> Result<()> {
        let AuditNote { actor, action, object, address } = note;
        let detail = match lock(&self.0.store.bursts).admit(action, actor.as_str(), Instant::now())
        {
            Admitted::Yes => "",
            Admitted::Last => "more of this within a minute is not written down",
            Admitted::No => return Ok(()),
        };
        let actor = Actor { user: actor, admin: false };
        let note = Note { action, object: short(object), detail: detail.to_owned(), address };
        Ok(audit::write(&self.0.store, &actor, note).await?)
    }
}

/// Whether an entry says all of some words, which are in lower case.
fn says(entry: &NewEntry, words: &[&str]) -> bool {
    let NewEntry { actor, action, object, detail, address, .. } = entry;
    let address = address.as_deref().unwrap_or_default();
    let said = [actor.as_str(), action.as_str(), object.as_str(), detail.as_str(), address];
    let said = said.join("\n").to_lowercase();
    words.iter().all(|word| said.contains(word))
}

fn short(object: String) -> String {
    object.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect()
}

/// What a later version wrote down in a word of its own is not shown by this one.
fn view(Entry { id, entry }: Entry) -> Option<AuditEntry> {
    let NewEntry { at, actor, action, object, detail, address } = entry;
    let action = AuditAction::read(&action)?;
    Some(AuditEntry { id, at, actor, action, object, detail, address })
}

#[cfg(test)]
mod tests {
    use protocol::time::Timestamp;

    use super::*;

    #[test]
    fn an_entry_says_who_what_to_what_and_from_where() {
        let entry = NewEntry {
            at: Timestamp(0),
            actor: "ada".parse().unwrap(),
            action: "job.stopped".to_owned(),
            object: "Bob~ResNet".to_owned(),
            detail: String::new(),
            address: Some("10.0.0.9".to_owned()),
        };
        for words in [&[][..], &["ada"], &["resnet", "stopped"], &["10.0.0.9", "bob"]] {
            assert!(says(&entry, words), "{words:?}");
        }
        assert!(!says(&entry, &["ada", "deleted"]), "each word is wanted");
    }
}
