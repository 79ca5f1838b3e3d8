use std::time::Duration;

/// Prepared statements kept by each connection: more than this crate makes again and again, each in a few
/// numbers of rows.
pub(super) const STATEMENTS: usize = 500;

/// What a database may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// PostgreSQL's time until there is a connection to it.
    pub connection: Duration,
    /// PostgreSQL's time for a statement; half of it may be spent waiting for others' locks.
    pub answer: Duration,
    /// SQLite's bytes: a file of at most so many is looked through before it is used. What is larger
    /// would keep the start waiting: see [`crate::Database::look_through`].
    pub looked_through: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connection: Duration::from_secs(10),
            answer: Duration::from_secs(20),
            looked_through: 512 << 20,
        }
    }
}
