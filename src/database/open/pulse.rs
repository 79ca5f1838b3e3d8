use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::{Database, Error, Result, settings};

/// So long it is taken for granted that a database is well that was.
const FRESH: Duration = Duration::from_secs(1);
/// One that takes longer is not.
const PATIENCE: Duration = Duration::from_secs(2);
/// What is written: a number that grows.
const BEAT: &str = "pulse";

/// Whether what is written is kept. One asks at a time, and who comes meanwhile gets the same answer.
#[derive(Debug, Default)]
pub(crate) struct Pulse(Mutex<Option<Felt>>);

#[derive(Debug)]
struct Felt {
    at: Instant,
    /// What was wrong, if anything was.
    wrong: Option<String>,
}

impl Pulse {
    pub(crate) async fn feel(&self, database: &Database) -> Result<()> {
        let asked = Instant::now();
        let mut last = self.0.lock().await;
        let holds =
            |felt: &&Felt| felt.at >= asked || (felt.wrong.is_none() && felt.at.elapsed() < FRESH);
        if let Some(felt) = last.as_ref().filter(holds) {
            return felt.wrong.as_ref().map_or(Ok(()), |wrong| Err(Error::unavailable(wrong)));
        }
        let felt = tokio::time::timeout(PATIENCE, beat(database)).await;
        let felt = felt.unwrap_or_else(|_late| {
            Err(Error::unavailable(format!("nothing was stored within {} s", PATIENCE.as_secs())))
        });
        let wrong = felt.as_ref().err().map(ToString::to_string);
        *last = Some(Felt { at: Instant::now(), wrong });
        felt
    }
}

async fn beat(database: &Database) -> Result<()> {
    let number = |stored: Option<String>| stored.and_then(|number| number.parse::<u64>().ok());
    let transaction = database.begin().await?;
    let last = number(settings::get(&transaction, BEAT).await?).unwrap_or(0);
    let next = last.wrapping_add(1);
    settings::set(&transaction, BEAT, &next.to_string()).await?;
    transaction.commit().await?;
    // Another server on the same database may have been at it since then.
    match number(settings::get(database.read(), BEAT).await?) {
        Some(kept) if kept >= next => Ok(()),
        Some(_) | None => Err(Error::unavailable("what was stored last cannot be read")),
    }
}
