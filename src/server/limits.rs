use serde::Deserialize;

/// The most a request's body may have, in bytes: job files and forms are smaller. Files that are
/// sent have a limit of their own.
pub(crate) const BODY_LIMIT: usize = 1024 * 1024;

/// How much one may ask at a time. 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Requests a second of one user, in the long run.
    pub requests_per_second: u32,
    /// Requests of one user at once.
    pub request_burst: u32,
    /// Requests a second of one address (of one network of IPv6) that is not signed in.
    pub guest_requests_per_second: u32,
    /// Requests of one such address at once.
    pub guest_request_burst: u32,
    /// Answers without end (live changes, followed logs) of one user at a time.
    pub streams_per_user: u32,
    /// Answers without end of all users at a time.
    pub streams: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_second: 200,
            request_burst: 1_000,
            guest_requests_per_second: 50,
            guest_request_burst: 200,
            streams_per_user: 32,
            streams: 8_192,
        }
    }
}

/// A burst, and what follows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) per_second: u32,
    pub(crate) burst: u32,
}

impl Limits {
    pub(crate) fn user(&self) -> Rate {
        Rate { per_second: self.requests_per_second, burst: self.request_burst }
    }

    pub(crate) fn guest(&self) -> Rate {
        Rate { per_second: self.guest_requests_per_second, burst: self.guest_request_burst }
    }
}
