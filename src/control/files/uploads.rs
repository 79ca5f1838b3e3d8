//! Files that are sent in parts. A sender who lost his connection comes back with the next part
//! while the server may still listen to the old one: the newer takes the place of the older.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use api::files::{FileStream, Upload, WriteMode};
use api::{Actor, Error, ErrorCode, Result};
use futures::StreamExt;
use sha2::{Digest, Sha256};
use storage::{Arriving, StoragePath};
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use crate::lock::lock;

/// Bytes that an upload's id may have.
const LONGEST_ID: usize = 200;

/// Which file it is that arrives; another user's, path, length or id is another one.
pub(crate) fn arriving(actor: &Actor, path: &StoragePath, upload: &Upload) -> Result<Arriving> {
    if !(1..=LONGEST_ID).contains(&upload.id.len()) {
        let message = format!("upload: an id has 1 to {LONGEST_ID} bytes");
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    let content = format!("{path}\0{}\0{}", upload.length, upload.id);
    let hash = hex::encode(&Sha256::digest(content.as_bytes())[..16]);
    Ok(Arriving::new(&actor.user, &hash))
}

/// What happens to a file that is there.
pub(crate) fn mode(upload: &Upload) -> WriteMode {
    if upload.replace { WriteMode::Replace } else { WriteMode::New }
}

/// The part begins where it should not.
pub(crate) fn elsewhere(arrived: u64, offset: u64) -> Error {
    let message = format!("{arrived} bytes have arrived: go on there, not at {offset}");
    Error::new(ErrorCode::ConflictUploadError, message)
}

/// Whose part is being taken, of each file that arrives.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<Arriving, Sender>>);

#[derive(Debug, Default)]
struct Sender {
    /// A newer one has come.
    replaced: CancellationToken,
    writing: Arc<tokio::sync::Mutex<()>>,
}

/// One sender at a time writes.
pub(crate) struct Turn {
    replaced: CancellationToken,
    _writing: OwnedMutexGuard<()>,
}

impl Turns {
    /// Ends the turn of whoever writes, and waits until he has ended; not behind one who came later.
    pub(crate) async fn take(&self, arriving: &Arriving) -> Result<Turn> {
        let replaced = CancellationToken::new();
        let writing = {
            let mut turns = lock(&self.0);
            // Those who have ended are forgotten, but for one that just begins.
            turns.retain(|of, sender| of == arriving || Arc::strong_count(&sender.writing) > 1);
            let sender = turns.entry(arriving.clone()).or_default();
            std::mem::replace(&mut sender.replaced, replaced.clone()).cancel();
            Arc::clone(&sender.writing)
        };
        tokio::select! {
            biased;
            writing = writing.lock_owned() => Ok(Turn { replaced, _writing: writing }),
            () = replaced.cancelled() => Err(Error::new(
                ErrorCode::ConflictUploadError,
                "somebody who came later sends this file: ask how much has arrived and go on there",
            )),
        }
    }
}

impl Turn {
    /// What is sent, until a newer sender comes.
    pub(crate) fn listen(&self, content: FileStream) -> FileStream {
        content.take_until(self.replaced.clone().cancelled_owned()).boxed()
    }
}
