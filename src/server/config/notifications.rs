use std::sync::Arc;
use std::time::Duration;

use control::Notifying;
use post::{Allowed, Postman};
use serde::Deserialize;

use super::Config;

/// How people are told what they do not see; `[mail]` stands beside it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotificationsConfig {
    /// Hosts that users' webhooks reach though they are in a private network, also by http.
    pub webhook_hosts: Vec<String>,
    /// A job that waits longer has waited too long, in hours.
    pub waiting_hours: u32,
}

impl Default for NotificationsConfig {
    fn default() -> Self {
        Self { webhook_hosts: Vec::new(), waiting_hours: 24 }
    }
}

impl Config {
    /// What sends notifications, and when.
    ///
    /// # Errors
    /// When `[mail]` cannot be used.
    pub fn notifying(&self) -> Result<Notifying, post::Error> {
        let NotificationsConfig { webhook_hosts, waiting_hours } = &self.notifications;
        let allowed = Allowed::new(webhook_hosts.iter().cloned());
        Ok(Notifying {
            post: Arc::new(Postman::new(self.mail.as_ref(), allowed)?),
            portal: self.public_url.clone(),
            patience: Duration::from_secs(u64::from(*waiting_hours) * 3_600),
            ..Notifying::default()
        })
    }
}
