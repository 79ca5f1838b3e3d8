//! The users' files and the logs of what ran: in a local folder, or over OpenDAL behind a WebHDFS
//! server. In a local folder no link is followed: whatever tasks do there, and however fast, the
//! server reads and writes nothing outside of it, and nothing at another place than it is told. Users reach everything below the root but `/.berth`, which holds what Berth keeps for
//! itself; whose what is says [`rights`].

mod content;
mod entry;
mod error;
mod files;
mod folder;
mod log_blocks;
mod log_reader;
mod log_spool;
mod logs;
mod measure;
mod metrics;
mod old_logs;
mod open;
mod own;
mod owners;
mod path;
mod read;
pub mod rights;
mod short_logs;
pub mod stage;
mod storage;
mod upload;
mod web;
mod write;

pub use content::{Content, Range};
pub use entry::{Entry, EntryKind, Page};
pub use error::{Result, StorageError};
pub use log_blocks::{BlockText, LogBlock};
pub use log_reader::{LogLine, LogReader};
pub use log_spool::{LogLimits, LogSpool};
pub use measure::Size;
pub use open::StorageOptions;
pub use path::StoragePath;
pub use storage::Storage;
pub use upload::Arriving;
