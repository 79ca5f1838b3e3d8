//! Addresses of pages, in one place.

use protocol::ids::{JobKey, NodeName};

/// A job's page.
pub(crate) fn job(key: &JobKey) -> String {
    format!("/jobs/{}/{}", key.user, key.name)
}

/// One tab of a job's page.
pub(crate) fn job_tab(key: &JobKey, tab: &str) -> String {
    format!("{}/{tab}", job(key))
}

/// The submit page, filled with a job that is there already.
pub(crate) fn clone_job(key: &JobKey) -> String {
    format!("/submit?clone={key}")
}

/// A node's page.
pub(crate) fn node(name: &NodeName) -> String {
    format!("/nodes/{name}")
}

/// Writes a text so that it can stand in a query.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_survive_a_query() {
        assert_eq!(encode("user:me a&b=c/中"), "user:me+a%26b%3Dc%2F%E4%B8%AD");
    }
}
