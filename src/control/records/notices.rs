//! What people are told of their jobs when they are not looking: put into the outbox in the transaction
//! that stores what it tells of, and so neither lost nor told of what was not stored.

use database::notifications::{NewEntry, Way};
use protocol::ids::{JobKey, UserName};
use protocol::notifications::{self, Notice, Occasion};
use protocol::time::Timestamp;
use serde_json::{Map, Value};

use crate::known::outbound::Outbound;
use crate::records::store::Store;
use crate::secrets::sealing::Seal;

/// What is to be told of a job, by what its owner wants and by what its `extras` say, if they are known.
/// `detail` is English.
pub(crate) fn of_job(
    outbound: &Outbound,
    (key, extras): (&JobKey, Option<&Map<String, Value>>),
    (occasion, detail): (Occasion, String),
    at: Timestamp,
) -> Vec<NewEntry> {
    let wishes = outbound.posted.wishes(&key.user);
    let wished = wishes.occasions.contains(&occasion);
    let by_job = extras.is_some_and(|extras| notifications::of_job(extras).contains(&occasion));
    let mail = outbound.notifying.post.has_mail() && (by_job || (wished && wishes.mail));
    let webhook = wished && wishes.webhook.is_some();
    let ways = [(Way::Mail, mail), (Way::Webhook, webhook)];
    let gathered = i64::try_from(outbound.notifying.gathered_for.as_millis()).unwrap_or(i64::MAX);
    let entry = |way| NewEntry {
        user: key.user.clone(),
        way,
        notice: Notice { job: key.clone(), occasion, detail: detail.clone() },
        at,
        due: at.plus_millis(gathered),
    };
    ways.into_iter().filter(|(_, wanted)| *wanted).map(|(way, _)| entry(way)).collect()
}

/// Where mail reaches a user: as his company says, or else as he does.
pub(crate) async fn address(
    store: &Store,
    user: &UserName,
) -> Result<Option<String>, database::Error> {
    let reader = store.database.read();
    let account = database::provider_accounts::get(reader, user).await?;
    if let Some(mail) = account.and_then(|account| account.mail) {
        return Ok(Some(mail));
    }
    Ok(database::profiles::get(reader, user).await?.mail)
}

/// What calls of a user's webhook are signed with: another one for another address.
pub(crate) fn signing_key(seal: &Seal, user: &UserName, webhook: &str) -> String {
    hex::encode(seal.derive(&format!("webhook of {user}: {webhook}")))
}
