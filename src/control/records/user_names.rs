//! Which names are users', for who asks of very many: each new place is looked at for whether it is one.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use database::Database;
use protocol::ids::UserName;
use tokio::sync::Mutex;

/// What was read holds for so long.
const HOLDS: Duration = Duration::from_secs(1);
/// So many names are looked up one by one meanwhile; where there are more, all users' names are read once.
const FEW: u32 = 16;

/// The names of all users, as they were a moment ago.
#[derive(Debug, Default)]
pub(crate) struct UserNames(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Nothing of this is older.
    since: Option<Instant>,
    /// So many names were asked for since then.
    asked: u32,
    all: Option<HashSet<String>>,
}

impl UserNames {
    /// Whether a user has this name, or had it a moment ago: one who came just now may not be known yet.
    pub(crate) async fn have(
        &self,
        database: &Database,
        name: &UserName,
    ) -> Result<bool, database::Error> {
        let mut known = self.0.lock().await;
        if known.since.is_none_or(|since| since.elapsed() >= HOLDS) {
            *known = Known { since: Some(Instant::now()), asked: 0, all: None };
        }
        known.asked += 1;
        if known.asked > FEW && known.all.is_none() {
            known.all = Some(database::users::names(database.read()).await?);
        }
        if let Some(all) = &known.all {
            return Ok(all.contains(name.as_str()));
        }
        drop(known);
        Ok(database::users::get(database.read(), name).await?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use database::users::UserRecord;
    use protocol::time::Timestamp;

    use super::*;

    async fn add(database: &Database, name: &str) {
        let user = UserRecord {
            name: name.parse().unwrap(),
            password_hash: String::new(),
            admin: false,
            created_at: Timestamp(0),
            password_changed_at: Timestamp(0),
            password_temporary: false,
        };
        let transaction = database.begin().await.unwrap();
        database::users::insert(&transaction, &user).await.unwrap();
        transaction.commit().await.unwrap();
    }

    #[tokio::test]
    async fn of_many_names_all_are_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("berth.db");
        let database = Database::open(&format!("sqlite://{}", file.display())).await.unwrap();
        add(&database, "alice").await;
        let names = UserNames::default();
        let [alice, bob] = ["alice", "bob"].map(|name| name.parse::<UserName>().unwrap());
        for _ in 0..FEW {
            assert!(names.have(&database, &alice).await.unwrap());
            assert!(!names.have(&database, &bob).await.unwrap());
        }
        add(&database, "bob").await;
        // As if a moment had passed.
        *names.0.lock().await = Known::default();
        while names.0.lock().await.all.is_none() {
            assert!(names.have(&database, &bob).await.unwrap());
        }
        let known = names.0.lock().await;
        assert_eq!(known.all.as_ref().map(HashSet::len), Some(2), "{known:?}");
    }
}
