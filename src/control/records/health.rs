//! How well nodes are: stored whenever that changes, with a line in the audit log where a node closes or
//! opens by it, and told to the jobs that hold what has failed.

use api::Actor;
use api::audit::AuditAction;
use api::changes::Change;
use database::Transaction;
use database::audit::NewEntry;
use database::events::NewEvent;
use database::tasks::Task;
use protocol::health::{Ailment, Grade, Health};
use protocol::ids::{NodeName, UserName};
use protocol::time::Timestamp;

use crate::known::jobs::KnownJobs;
use crate::known::live::Live;
use crate::known::nodes::KnownNodes;
use crate::records::audit::Note;
use crate::records::happened;
use crate::records::store::Store;
use crate::wake::now;

/// Changes how well a node is known to be. Where that changes nothing, nothing is stored.
pub(crate) async fn change(
    store: &Store,
    live: &Live,
    jobs: &KnownJobs,
    nodes: &KnownNodes,
    name: &NodeName,
    change: impl Fn(&Health) -> Health,
) -> Result<(), database::Error> {
    let known = nodes.cluster().node(name).map(|node| node.health.clone());
    if known.is_none_or(|known| change(&known) == known) {
        return Ok(());
    }
    let write = async |t: &Transaction| {
        // Held until it is stored: nobody else changes it meanwhile.
        if !database::nodes::close(t, name).await? {
            return Ok(None);
        }
        let Some(node) = database::nodes::get(t, name).await? else { return Ok(None) };
        let (before, after) = (node.health.clone(), change(&node.health));
        database::nodes::set_health(t, name, &after).await?;
        if let Some(entry) = entry(name, &before, &after) {
            database::audit::insert(t, &entry).await?;
        }
        Ok(Some((before, after)))
    };
    let Some((before, after)) = store.write(write).await? else { return Ok(()) };
    let new = after.ailments.iter().filter(|new| !holds(&before, new));
    let new: Vec<Ailment> = new.cloned().collect();
    for ailment in &new {
        tracing::warn!(node = %name, %ailment, grade = ?ailment.grade, "something is wrong with it");
    }
    if new.iter().any(|ailment| ailment.grade == Grade::Failed) {
        nodes.checks.doubt(name);
    }
    tell_jobs(store, live, jobs, name, &new).await;
    nodes.cluster.read_node(&store.database, name).await?;
    live.tell(Change::Node { name: name.clone() });
    live.wakeups.schedule.wake();
    Ok(())
}

/// Whether it was known to be as bad before.
fn holds(before: &Health, new: &Ailment) -> bool {
    let same = |known: &&Ailment| known.gpu == new.gpu && known.since == new.since;
    before.ailments.iter().filter(same).any(|known| known.grade >= new.grade)
}

/// What the server does by itself is written down as the system's doing.
fn entry(name: &NodeName, before: &Health, after: &Health) -> Option<NewEntry> {
    // Who says that it is well is written down as who has done so.
    let by_somebody = after.history.last().is_some_and(|was| was.ended_by.is_some());
    let detail = match (before.has_failed(), after.failure(&[])) {
        (false, Some(ailment)) => format!("closed by itself: {ailment}"),
        (true, None) if !by_somebody => "opened again by itself".to_owned(),
        (false | true, None) | (true, Some(_)) => return None,
    };
    let user = UserName::new("system").expect("the word is a valid user name");
    let note =
        Note { action: AuditAction::NodeDrained, object: name.to_string(), detail, address: None };
    Some(note.by(&Actor { user, admin: true }))
}

/// Tells the jobs that hold GPUs which have failed.
async fn tell_jobs(store: &Store, live: &Live, jobs: &KnownJobs, name: &NodeName, new: &[Ailment]) {
    let failed = |ailment: &&Ailment| ailment.grade == Grade::Failed && ailment.gpu.is_some();
    let failed: Vec<&Ailment> = new.iter().filter(failed).collect();
    if failed.is_empty() {
        return;
    }
    if let Err(error) = tell(store, live, jobs, name, &failed).await {
        tracing::error!(%error, node = %name, "jobs cannot be told of GPUs that have failed");
    }
}

async fn tell(
    store: &Store,
    live: &Live,
    jobs: &KnownJobs,
    name: &NodeName,
    failed: &[&Ailment],
) -> Result<(), database::Error> {
    let tasks = database::tasks::of_node(store.database.read(), name).await?;
    let events = told(name, failed, &tasks, now());
    if events.is_empty() {
        return Ok(());
    }
    store.write(async |t| database::events::insert_many(t, &events).await).await?;
    happened::show(live, jobs, events.iter().filter_map(|event| event.job).collect()).await;
    Ok(())
}

fn told(name: &NodeName, failed: &[&Ailment], tasks: &[Task], at: Timestamp) -> Vec<NewEvent> {
    let mut events = Vec::new();
    for task in tasks {
        for ailment in failed {
            let Some(gpu) = ailment.gpu.filter(|gpu| task.placement.gpus.contains(gpu)) else {
                continue;
            };
            let (role, index, sign) = (&task.role_name, task.placement.index, &ailment.sign);
            let words = format!("{role}-{index}: GPU {gpu} of {name} has failed: {sign}");
            let event = happened::to_job(task.key.job, at, "gpu failed", words);
            events.push(NewEvent { attempt: Some(task.key.attempt), warning: true, ..event });
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use protocol::health::GpuSigns;

    use super::*;

    #[test]
    fn the_audit_log_says_that_a_node_closes_and_opens_and_nothing_of_its_gpus() {
        let name = "n1".parse().unwrap();
        let check = serde_json::json!({ "name": "disk", "image": "ubuntu", "command": "true" });
        let check = serde_json::from_value(check).unwrap();
        let well = Health::default();
        let signs = GpuSigns { index: 1, xid: Some(79), ..GpuSigns::default() };
        let gpu = well.measured(&[signs], Timestamp(1));
        assert_eq!(entry(&name, &well, &gpu), None);
        let closed = gpu.check_failed(&check, "full".to_owned(), Timestamp(2));
        let said = entry(&name, &gpu, &closed).unwrap();
        assert_eq!(said.detail, "closed by itself: the check disk fails: full");
        assert_eq!(entry(&name, &closed, &closed), None);
        let opened = closed.check_passed(&check, Timestamp(3));
        assert_eq!(entry(&name, &closed, &opened).unwrap().detail, "opened again by itself");
        let cleared = closed.cleared(&"ada".parse().unwrap(), Timestamp(3));
        assert_eq!(entry(&name, &closed, &cleared), None, "that is ada's doing");
    }

    #[test]
    fn what_gets_worse_is_new_and_what_stays_is_not() {
        let signs = |xid| GpuSigns { index: 1, xid: Some(xid), ..GpuSigns::default() };
        let warned = Health::default().measured(&[signs(63)], Timestamp(1));
        let failed = warned.measured(&[signs(79)], Timestamp(2));
        assert!(!holds(&Health::default(), &warned.ailments[0]));
        assert!(!holds(&warned, &failed.ailments[0]));
        assert!(holds(&failed, &failed.ailments[0]));
    }
}
