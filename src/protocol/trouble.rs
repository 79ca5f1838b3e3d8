//! What goes wrong beneath the operations, in the words that all rooms know: what people may know of
//! it, and that whoever could do something about it finds the rest in the log.

use std::error::Error;

use crate::ids::InvalidName;

/// What people may know of a failure.
#[derive(Debug)]
pub enum Trouble {
    /// Something of ours failed. Nothing more is said of it.
    Ours,
    /// The database is out of reach or has no room: the same may succeed later.
    NoDatabase,
    /// What is stored cannot be read: this.
    Damaged(String),
    /// The storage does not answer as it should: the same may succeed later.
    NoStorage,
    /// What was given is not as it must be; why.
    Invalid(String),
    /// There is no such file or folder; which.
    NoFile(String),
    /// Something else is where a file or a folder is needed; what.
    InTheWay(String),
    /// The folder is not empty; which.
    NotEmpty(String),
    /// It is larger than it may be; what.
    TooLarge(String),
    /// What was to be stored did not come to its end.
    BrokenOff {
        /// Why whoever sent it broke off.
        source: Box<dyn Error + Send + Sync>,
        /// What did not arrive.
        message: String,
    },
}

/// A failure that ends in an answer to somebody.
pub trait OwnTrouble {
    /// Logs what the answer does not say, and says what it does.
    fn answer(self) -> Trouble;
}

/// A name that nothing can have; where one is looked up, it is missing instead.
impl OwnTrouble for InvalidName {
    fn answer(self) -> Trouble {
        Trouble::Invalid(self.to_string())
    }
}
