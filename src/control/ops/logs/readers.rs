//! How many read logs at the same time: each has a part of one in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use api::{Error, ErrorCode, Result};
use protocol::ids::UserName;

use crate::lock::lock;

/// Who reads.
#[derive(Debug)]
pub(super) struct Readers {
    of_user: usize,
    of_all: usize,
    reading: Mutex<HashMap<UserName, usize>>,
}

/// One who reads, until this goes.
#[derive(Debug)]
pub(super) struct Reader {
    readers: Arc<Readers>,
    user: UserName,
}

impl Readers {
    /// So many of one user, and so many of all.
    pub(super) fn new(of_user: usize, of_all: usize) -> Arc<Self> {
        Arc::new(Self { of_user, of_all, reading: Mutex::default() })
    }

    /// One more.
    pub(super) fn begin(self: &Arc<Self>, user: &UserName) -> Result<Reader> {
        let mut reading = lock(&self.reading);
        let mine = reading.get(user).copied().unwrap_or(0);
        if mine >= self.of_user {
            let message = format!("you read {mine} logs at the same time: that is the limit");
            return Err(Error::new(ErrorCode::TooManyRequestsError, message));
        }
        if reading.values().sum::<usize>() >= self.of_all {
            let message = "too many logs are being read: ask again in a moment";
            return Err(Error::new(ErrorCode::UnavailableError, message));
        }
        reading.insert(user.clone(), mine + 1);
        Ok(Reader { readers: Arc::clone(self), user: user.clone() })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut reading = lock(&self.readers.reading);
        match reading.get_mut(&self.user) {
            Some(mine) if *mine > 1 => *mine -= 1,
            Some(_) | None => drop(reading.remove(&self.user)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_logs_are_read_at_the_same_time() {
        let readers = Readers::new(2, 3);
        let [alice, bob] = ["alice", "bob"].map(|name| name.parse::<UserName>().unwrap());
        let code = |user: &UserName| readers.begin(user).err().map(|error| error.code);
        let first = readers.begin(&alice).unwrap();
        let _second = readers.begin(&alice).unwrap();
        assert_eq!(code(&alice), Some(ErrorCode::TooManyRequestsError));
        let third = readers.begin(&bob).unwrap();
        assert_eq!(code(&bob), Some(ErrorCode::UnavailableError));
        drop(first);
        assert!(readers.begin(&alice).is_ok(), "who has ended makes room");
        drop(third);
        assert!(!lock(&readers.reading).contains_key(&bob));
    }
}
