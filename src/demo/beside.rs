//! What is there beside jobs: accounts, groups, saved images, kept logs, the audit log.

use api::audit::AuditAction;
use database::audit::NewEntry;
use database::images::ImageRecord;
use database::users::UserRecord;
use database::{Transaction, audit, groups, images, users};
use protocol::ids::{TaskKey, UserName};
use protocol::image::{ImageState, SavedImage};
use protocol::person::Source;
use protocol::time::Timestamp;
use storage::{LogLimits, LogSpool, Storage};

use crate::Error;
use crate::cast::{self, GROUPS, PEOPLE};
use crate::desk::Life;
use crate::job::KINDS;
use crate::log;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// The hash of no password: nobody signs in by it.
const NO_PASSWORD: &str = "$argon2id$v=19$m=19456,t=2,p=1$YmVydGhiZXJ0aGJlcnRo$\
                           3Zx0oX1qUeXlNYGy1MDOOpuTZ9PHJxlkcBeGwrL2M5E";
/// Of so many of the jobs that ended last the logs are there.
const LOGS: usize = 40;

/// The users and the groups that they are in.
pub(crate) async fn people(transaction: &Transaction, now: Timestamp) -> Result<(), Error> {
    for (name, months) in PEOPLE.into_iter().zip(4..) {
        let since = now.plus_millis(-months * 30 * DAY);
        let user = UserRecord {
            name: cast::user(name),
            password_hash: NO_PASSWORD.to_owned(),
            admin: false,
            created_at: since,
            password_changed_at: since,
            password_temporary: false,
        };
        users::insert(transaction, &user).await?;
        let of_user = GROUPS.iter().filter(|(_, members)| members.contains(&name));
        let of_user: Vec<_> = of_user.map(|(group, _)| cast::group(group)).collect();
        groups::set(transaction, &user.name, &Source::Local, &of_user).await?;
    }
    Ok(())
}

/// Images that were saved from jobs that have ended.
pub(crate) async fn saved(transaction: &Transaction, past: &[Life]) -> Result<(), Error> {
    let states = [ImageState::Saved, ImageState::Failed, ImageState::Saved, ImageState::Pushed];
    for (life, (state, number)) in past.iter().rev().step_by(7).zip(states.into_iter().zip(1..)) {
        let Some(task) = life.tasks.last() else { continue };
        let owner = life.job.key.user.clone();
        let failed = state == ImageState::Failed;
        let image = ImageRecord {
            id: 0,
            image: SavedImage::new(owner.clone(), "prepared", &format!("v{number}"))
                .expect("our own names are right")
                .to_string(),
            made_by: owner.clone(),
            owner,
            node: task.placement.node.clone(),
            bytes: if failed { 0 } else { 3_100_000_000 + number * 417_000_000 },
            job: life.job.key.clone(),
            task: format!("{}-{}", task.role_name, task.key.index),
            container: task.key,
            created_at: task.started_at.unwrap_or(life.job.submitted_at),
            state,
            problem: failed.then(|| "no space left on device".to_owned()),
            registry: (state == ImageState::Pushed)
                .then(|| "registry.demo/team/prepared:v4".to_owned()),
            auth_file: None,
        };
        images::insert(transaction, &image).await?;
    }
    Ok(())
}

/// Who did what: a few things a day over the last weeks.
pub(crate) async fn audited(
    transaction: &Transaction,
    now: Timestamp,
    past: &[Life],
) -> Result<(), Error> {
    let recent: Vec<&Life> = past.iter().rev().take(60).collect();
    for (number, life) in recent.into_iter().enumerate().rev() {
        let (actor, action, object, detail) = told(number, life);
        // Of other things nobody notes from where they were done.
        let is_noted = matches!(
            action,
            AuditAction::SignedIn | AuditAction::SignInFailed | AuditAction::TerminalOpened
        );
        let entry = NewEntry {
            at: now.plus_millis(-i64::try_from(number).unwrap_or(0) * 7 * HOUR - HOUR),
            actor,
            action: action.as_str().to_owned(),
            object,
            detail,
            address: is_noted.then(|| format!("10.9.0.{}", number % 40 + 2)),
        };
        audit::insert(transaction, &entry).await?;
    }
    Ok(())
}

fn told(number: usize, life: &Life) -> (UserName, AuditAction, String, String) {
    let person = PEOPLE[number % PEOPLE.len()];
    let of_person = |action| (cast::user(person), action, person.to_owned(), String::new());
    let of_admin = |action, object: &str, detail: &str| {
        (cast::user("admin"), action, object.to_owned(), detail.to_owned())
    };
    let job = life.job.key.to_string();
    match number % 10 {
        0 => of_admin(AuditAction::SignedIn, "admin", ""),
        1 => of_person(AuditAction::SignedIn),
        2 => of_admin(AuditAction::JobStopped, &job, ""),
        // In another's job nobody but an administrator opens one.
        3 => {
            let owner = life.job.key.user.clone();
            (owner, AuditAction::TerminalOpened, format!("{job}/worker-0"), String::new())
        }
        4 => of_admin(AuditAction::NodeDrained, cast::DRAINED, "takes nothing new"),
        5 => of_admin(AuditAction::UserGroups, person, "language"),
        6 => of_person(AuditAction::TokenMade),
        7 => of_admin(AuditAction::VirtualClusterSaved, "detection", "share"),
        8 => of_person(AuditAction::SignInFailed),
        _ => of_admin(AuditAction::JobHeld, &job, ""),
    }
}

/// The logs of the jobs that ended last.
pub(crate) async fn logs(storage: &Storage, past: &[Life]) -> Result<(), Error> {
    for (life, number) in past.iter().rev().take(LOGS).zip(0_u32..) {
        let kind = KINDS.iter().find(|(kind, ..)| life.job.key.name.as_str().starts_with(kind));
        let command = kind.map_or("", |(.., command)| command);
        for task in &life.tasks {
            let (Some(from), Some(to), Some(exit)) =
                (task.started_at, task.completed_at, &task.exit)
            else {
                continue;
            };
            let mut kept = LogSpool::new(LogLimits::default(), None);
            let text = log::whole(command, (from, to), 100 + number * 90, exit);
            for (line, at) in text.split_inclusive('\n').zip(moments(&text, from, to)) {
                kept.push(line.as_bytes(), Some(at))?;
            }
            let key: TaskKey = task.key;
            storage.keep_log(&key, &kept.reader()).await?;
        }
    }
    Ok(())
}

/// When each line of a log was written, from the start of its task to its end.
fn moments(text: &str, from: Timestamp, to: Timestamp) -> impl Iterator<Item = Timestamp> {
    let lines = i64::try_from(text.lines().count()).unwrap_or(i64::MAX).max(1);
    let each = to.since(from) / lines;
    (0..lines).map(move |line| from.plus_millis(each * line))
}
