//! The secrets of jobs' files, opened for what is launched.

use protocol::ids::{JobId, JobKey};
use protocol::secrets::Secrets;
use protocol::spec::JobSpec;

use crate::records::store::Store;
use crate::secrets::sealing;
use crate::secrets::sealing::Seal;

/// The secrets of a job; `None`: one of them was sealed with another key.
pub(crate) async fn of_job(
    seal: &Seal,
    store: &Store,
    spec: &JobSpec,
    (job, key): (JobId, &JobKey),
) -> Result<Option<Secrets>, database::Error> {
    if spec.secrets.is_empty() {
        return Ok(Some(Secrets::default()));
    }
    let sealed = database::secrets::of_job(store.database.read(), job).await?;
    let opened = sealed.into_iter().map(|(name, bytes)| {
        let text = seal.unseal(&sealing::context(key, &name), &bytes);
        text.map(|text| (name, text))
    });
    Ok(opened.collect())
}
