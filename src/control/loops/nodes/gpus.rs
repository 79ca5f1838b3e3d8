//! Who is told when GPUs of a node break.

use database::events::NewEvent;
use database::tasks::Task;
use protocol::gpus::{GpuFault, GpuReport, broken};
use protocol::ids::NodeName;
use protocol::resources::Gpu;
use protocol::time::Timestamp;

use crate::records::happened;
use crate::shared::Shared;
use crate::wake::now;

/// Tells the jobs that hold GPUs which were well before and are not any more.
pub(super) async fn tell_jobs(
    shared: &Shared,
    node: &NodeName,
    (before, after): (&GpuReport, &GpuReport),
) {
    if broken(&before.seen(), &after.seen()).is_empty() {
        return;
    }
    tracing::warn!(%node, "GPUs have failed or are gone");
    if let Err(error) = tell(shared, node, (before, after)).await {
        tracing::error!(%error, %node, "jobs cannot be told of GPUs that have failed");
    }
}

async fn tell(
    shared: &Shared,
    node: &NodeName,
    reports: (&GpuReport, &GpuReport),
) -> Result<(), database::Error> {
    let tasks = database::tasks::of_node(shared.store.database.read(), node).await?;
    let events = told(node, reports, &tasks, now());
    if events.is_empty() {
        return Ok(());
    }
    shared.store.write(async |t| database::events::insert_many(t, &events).await).await?;
    happened::show(
        &shared.live,
        &shared.jobs,
        events.iter().filter_map(|event| event.job).collect(),
    )
    .await;
    Ok(())
}

/// What the jobs are told that hold GPUs of a node which were well before.
fn told(
    node: &NodeName,
    (before, after): (&GpuReport, &GpuReport),
    tasks: &[Task],
    at: Timestamp,
) -> Vec<NewEvent> {
    let (was, is) = (before.seen(), after.seen());
    let broken = broken(&was, &is);
    let mut events = Vec::new();
    for task in tasks {
        let held = |gpu: &&&Gpu| task.placement.gpus.contains(&gpu.index);
        for gpu in broken.iter().filter(held) {
            let words = words(task, node, gpu, after);
            let event = happened::to_job(task.key.job, at, "gpu failed", words);
            events.push(NewEvent { attempt: Some(task.key.attempt), warning: true, ..event });
        }
    }
    events
}

fn words(task: &Task, node: &NodeName, gpu: &Gpu, after: &GpuReport) -> String {
    let found = after.gpus.iter().find(|found| found.gpu.index == gpu.index);
    let fault = match found.and_then(|found| found.fault) {
        Some(GpuFault::Gone) | None => "is not there any more",
        Some(GpuFault::Silent) => "does not answer its driver any more",
        Some(GpuFault::Memory) => "has memory errors that cannot be corrected",
        Some(GpuFault::Failed) => "has failed, as its driver says",
    };
    let Gpu { index, gpu_type, .. } = gpu;
    format!(
        "{}-{}: GPU {index} ({gpu_type}) of {node} {fault}",
        task.role_name, task.placement.index
    )
}

#[cfg(test)]
mod tests {
    use protocol::gpus::{GpuNames, Reading, Told};
    use protocol::ids::{JobId, TaskKey};
    use protocol::placement::TaskPlacement;
    use protocol::resources::Resources;
    use protocol::state::State;

    use super::*;

    fn task(job: i64, gpus: &[u32]) -> Task {
        let key = TaskKey { job: JobId(job), attempt: 2, role: 0, index: 1, retry: 0 };
        Task {
            key,
            epoch: protocol::epoch::Epoch::default(),
            role_name: "worker".parse().unwrap(),
            state: State::Running,
            placement: TaskPlacement {
                role: 0,
                index: 1,
                node: "n1".parse().unwrap(),
                address: String::new(),
                gpus: gpus.to_vec(),
                ports: protocol::placement::TaskPorts::default(),
            },
            resources: Resources::default(),
            container: None,
            progress: None,
            intent: None,
            started_at: None,
            completed_at: None,
            exit: None,
        }
    }

    fn report(before: &GpuReport, uuids: &[&str]) -> GpuReport {
        let told = |(index, uuid): (u32, &&str)| Told {
            index,
            uuid: Some((*uuid).to_owned()),
            model: Some("Tesla T4".to_owned()),
            profile: None,
            part_of: None,
            memory_mb: 0,
            fault: None,
            gpu_type: None,
        };
        let gpus = (0..).zip(uuids).map(told).collect();
        before.after(Reading { gpus, ..Reading::default() }, &GpuNames::default())
    }

    #[test]
    fn who_holds_a_gpu_that_breaks_is_told_once() {
        let before = report(&GpuReport::default(), &["a", "b", "c"]);
        let after = report(&before, &["a", "c"]);
        let tasks = [task(1, &[0]), task(2, &[1, 2]), task(3, &[2])];
        let node = "n1".parse().unwrap();
        let events = told(&node, (&before, &after), &tasks, Timestamp(5));
        let [event] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!((event.job, event.attempt, event.warning), (Some(JobId(2)), Some(2), true));
        assert_eq!(event.message, "worker-1: GPU 1 (T4) of n1 is not there any more");
        assert_eq!(told(&node, (&after, &after), &tasks, Timestamp(6)), []);
    }
}
