//! By what a task is known when it is entered.

use russh::client;
use russh::keys::{PublicKey, PublicKeyOrCertificate};

/// Whether the server is the one that the task was given the key for.
pub(crate) struct HostCheck(pub(super) PublicKey);

impl client::Handler for HostCheck {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        shown: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        let PublicKeyOrCertificate::PublicKey { key, .. } = shown else { return Ok(false) };
        Ok(key.key_data() == self.0.key_data())
    }
}
