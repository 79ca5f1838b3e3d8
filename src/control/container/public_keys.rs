//! Users' own public keys: read, and told to the tasks that they open.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use api::{Error, ErrorCode, Result};
use database::public_keys::PublicKeyRecord;
use database::tasks::Task;
use engine::EngineError;
use futures::StreamExt;
use protocol::guest::{AUTHORIZED_KEYS, FOLDER};
use protocol::ids::{RoleName, UserName};
use protocol::plugins;
use protocol::secrets::{MASK, Secrets};
use protocol::spec::JobSpec;
use protocol::state::State;
use protocol::time::Timestamp;
use ssh_key::{Algorithm, HashAlg, PublicKey};
use tar::{Builder, Header};

use crate::container::secrets;
use crate::error;
use crate::known::cluster::Observation;
use crate::known::identity::Identity;
use crate::known::nodes::KnownNodes;
use crate::records::store::Store;
use crate::secrets::keys::{self, Pair};
use crate::shared::Shared;

/// The longest line; an RSA key of 16 384 bits has some 2 800.
const LONGEST: usize = 8_192;
/// Shorter RSA keys can be broken, and a user's open all his jobs.
const LEAST_RSA_BITS: u32 = 2_048;
/// What a job's file gives opens that job alone. OpenPAI's portal and its extension for editors make such
/// keys as short as OpenSSH takes them.
const LEAST_RSA_BITS_OF_JOB: u32 = 1_024;
/// Tasks that are told at the same time.
const AT_ONCE: usize = 8;
/// So long that takes at most: neither a user who changes his keys nor a launch waits for engines that
/// do not answer.
const TELLING: Duration = Duration::from_secs(10);

/// A key as a user gives it: one line of OpenSSH's, such as `id_ed25519.pub` has.
pub(crate) fn read(label: &str, text: &str, at: Timestamp) -> Result<PublicKeyRecord> {
    read_of(label, text, at, LEAST_RSA_BITS)
}

/// A key that a job's file gives.
fn read_of_job(text: &str) -> Result<PublicKeyRecord> {
    read_of("", text, Timestamp(0), LEAST_RSA_BITS_OF_JOB)
}

fn read_of(label: &str, text: &str, at: Timestamp, least: u32) -> Result<PublicKeyRecord> {
    let invalid = |message: &str| Error::new(ErrorCode::InvalidParametersError, message);
    let text = text.trim();
    if text.contains("PRIVATE KEY") {
        let message = "this is a private key, which is to stay where it is: give the public one, \
            from the file that ends in .pub";
        return Err(invalid(message));
    }
    if text.len() > LONGEST || text.lines().count() != 1 {
        return Err(invalid("a public key is one line, as `ssh-ed25519 AAAA… name`"));
    }
    let key = PublicKey::from_openssh(text).map_err(|_| {
        invalid("this is no public key of OpenSSH: one begins with ssh-ed25519, ssh-rsa or ecdsa-")
    })?;
    check_strength(&key, least)?;
    let label = if label.trim().is_empty() { key.comment().to_string() } else { label.to_owned() };
    let label: String = label.trim().chars().filter(|c| !c.is_control()).take(100).collect();
    Ok(PublicKeyRecord {
        id: 0,
        fingerprint: key.fingerprint(HashAlg::Sha256).to_string(),
        line: key.to_openssh().map_err(error::internal)?,
        label,
        created_at: at,
    })
}

fn check_strength(key: &PublicKey, least: u32) -> Result<()> {
    let weak = match key.algorithm() {
        Algorithm::Dsa => true,
        Algorithm::Rsa { .. } => key.key_data().rsa().is_none_or(|key| {
            let bits = key.n().as_positive_bytes().map_or(0, |bytes| bytes.len() * 8);
            u32::try_from(bits).unwrap_or(u32::MAX) < least
        }),
        _ => false,
    };
    if weak {
        let message = "this key is too weak: make one by `ssh-keygen -t ed25519`";
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    Ok(())
}

/// The lines that let a user enter.
pub(crate) async fn lines(
    store: &Store,
    user: &UserName,
) -> std::result::Result<Vec<String>, database::Error> {
    let keys = database::public_keys::list_of(store.database.read(), user).await?;
    Ok(keys.into_iter().map(|key| key.line).collect())
}

/// The lines that let enter who is named in the job's file; what is no key lets nobody in.
pub(crate) fn of_job(spec: &JobSpec, role: &RoleName, secrets: &Secrets) -> Vec<String> {
    let given = plugins::user_keys(spec, Some(role), secrets).into_iter();
    given.filter_map(|text| read_of_job(&text).ok()).map(|key| key.line).collect()
}

/// Refuses a job file with a key that is none; of a masked secret nothing is known.
pub(crate) fn check(spec: &JobSpec, secrets: &Secrets) -> Result<()> {
    let given = plugins::user_keys(spec, None, secrets).into_iter();
    for text in given.filter(|text| !text.contains(MASK)) {
        read_of_job(&text).map_err(|error| Error {
            message: format!("extras: plugin ssh: userssh.value: {}", error.message),
            ..error
        })?;
    }
    Ok(())
}

/// Tells the user's tasks when his keys are other ones than `known`, with which one of them was made.
/// Who changes them tells what has a container by then, so that none is left out.
pub(crate) async fn tell_if_changed(shared: &Shared, user: &UserName, known: &[String]) {
    let told = match lines(&shared.store, user).await {
        Ok(lines) if lines == known => return,
        Ok(lines) => tell_all(shared, user, lines).await,
        Err(error) => Err(error.into()),
    };
    if let Err(error) = told {
        tracing::warn!(%user, %error, "a new task may not know its user's latest keys");
    }
}

/// Tells the user's tasks which keys open them, now that these have changed. One that cannot be told
/// keeps those that it has.
pub(crate) async fn tell_tasks(shared: &Shared, user: &UserName) -> Result<()> {
    // Counted before anybody is told: what is being launched looks whether it was while it was made.
    shared.containers.key_changes.next();
    let lines = lines(&shared.store, user).await?;
    tell_all(shared, user, lines).await
}

async fn tell_all(shared: &Shared, user: &UserName, lines: Vec<String>) -> Result<()> {
    let jobs = shared.jobs.active.placed(&shared.store.database).await?;
    let mine = jobs.into_iter().filter(|job| job.row.key.user == *user);
    let mine: HashMap<_, _> = mine.map(|job| (job.row.id, job)).collect();
    if mine.is_empty() {
        return Ok(());
    }
    let others = shared.jobs.active.damage().jobs().clone();
    let tasks = database::tasks::active_but(shared.store.database.read(), &others).await;
    let entered = [State::Preparing, State::Running];
    let mut secrets = HashMap::new();
    let asked: Vec<_> = mine.values().filter(|job| plugins::keys_have_secrets(&job.spec)).collect();
    for job in asked {
        let of_job =
            secrets::of_job(&shared.seal, &shared.store, &job.spec, (job.row.id, &job.row.key))
                .await;
        secrets.insert(job.row.id, of_job?);
    }
    let none = Secrets::default();
    let told: Vec<_> = tasks?
        .into_iter()
        .filter(|task| entered.contains(&task.state))
        .filter_map(|task| {
            let job = mine.get(&task.key.job)?;
            // Whose secrets do not open keeps the keys that it has.
            let secrets = secrets.get(&task.key.job).map_or(Some(&none), Option::as_ref)?;
            let entry = keys::private_key(&shared.seal, task.key.job, &job.row.key, Pair::Entry);
            let of_job = of_job(&job.spec, &task.role_name, secrets);
            let lines = [&[keys::public_line(&entry)], lines.as_slice(), &of_job].concat();
            Some(tell(&shared.identity, &shared.nodes, task, lines.join("\n") + "\n"))
        })
        .collect();
    futures::stream::iter(told).buffer_unordered(AT_ONCE).collect::<()>().await;
    Ok(())
}

async fn tell(identity: &Identity, nodes: &KnownNodes, task: Task, lines: String) {
    let engine = match nodes.observations().get(&task.placement.node) {
        Some(Observation::Answers { engine, .. }) => Arc::clone(engine),
        Some(Observation::Silent) | None => return,
    };
    let name = task.key.container_name(&identity.installation);
    let archive = match archive(&lines) {
        Ok(archive) => archive,
        Err(error) => return tracing::error!(%error, "keys cannot be packed"),
    };
    let told = tokio::time::timeout(TELLING, engine.put_archive(&name, FOLDER, archive.into()));
    let silent = |_| Err(EngineError::Unreachable("it takes too long".to_owned()));
    match told.await.unwrap_or_else(silent) {
        // One that is about to be made is made with them.
        Ok(()) | Err(EngineError::NoContainer(_)) => {}
        Err(error) => {
            tracing::warn!(container = name, %error, "a task was not told of its user's keys");
        }
    }
}

fn archive(lines: &str) -> std::io::Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_mode(0o600);
    header.set_size(lines.len() as u64);
    archive.append_data(&mut header, AUTHORIZED_KEYS, lines.as_bytes())?;
    archive.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED25519: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";

    #[test]
    fn a_key_has_its_comment_as_its_name_unless_it_is_given_one() {
        let text = format!(" {ED25519} alice@laptop\n");
        let key = read("", &text, Timestamp(1)).unwrap();
        assert_eq!((key.label.as_str(), key.line.as_str()), ("alice@laptop", text.trim()));
        assert!(key.fingerprint.starts_with("SHA256:"), "{}", key.fingerprint);
        assert_eq!(read("work", &text, Timestamp(1)).unwrap().label, "work");
    }

    /// As OpenPAI's extension for editors makes them, and one that is shorter.
    const RSA_1024: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDQ0tBoxrEoK/nCorzo1TyZ36VmqIbtSJgBkEk\
        whp570rxlOJpK4sAY1mKaFOOLAq6/vtFsh732aPbVvd/FFl4rz2H9YPiaPzrC90Q18J9L9a8JPEN78CTtrk3jcZLd8MykSq\
        zhWMWoDVkSBc/lDIiLORV2cTlIc0h+L+WPBJ4RDw== pai-job-ssh";
    const RSA_768: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAYQDpa/idBYAsDnv6hHMJKD/dnD4t0PG5ropU/aFd\
        VwOuUhSeXLXmXj80NxMSeKTreec1PK2WJMrRMM8XKON3TqnTMACHy3niBw1naebWwvVO/1LbkhJlbWW6K7mUlUOjfeM= a";

    #[test]
    fn a_key_of_one_job_may_be_shorter_than_one_of_all() {
        let weak = |read: Result<PublicKeyRecord>| read.unwrap_err().message.contains("too weak");
        assert_eq!(read_of_job(RSA_1024).unwrap().line, RSA_1024);
        assert!(weak(read("", RSA_1024, Timestamp(1))) && weak(read_of_job(RSA_768)));
    }

    #[test]
    fn what_is_no_public_key_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "one line"),
            ("hello", "no public key"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", "to stay where it is"),
            (&format!("{ED25519}\n{ED25519}"), "one line"),
            (&format!("command=\"id\" {ED25519}"), "no public key"),
            (&"x".repeat(9_000), "one line"),
        ] {
            let error = read("", text, Timestamp(1)).unwrap_err();
            assert!(error.message.contains(reason), "{text}: {}", error.message);
        }
    }
}
