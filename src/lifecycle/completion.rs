//! When the tasks of an attempt end it (PRODUCT: `killAllOnCompletedTaskNumber`,
//! `minFailedTaskCount`, `minSucceededTaskCount`; version 2: `completion`).

use protocol::exit::{Blame, Cause, Exit};
use protocol::ids::TaskKey;
use protocol::spec::JobSpec;
use protocol::state::State;
use protocol::time::Timestamp;

/// A task as the rules see it.
#[derive(Debug, Clone)]
pub struct Standing<'a> {
    /// Its key.
    pub key: TaskKey,
    /// Its state.
    pub state: State,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How it ended.
    pub exit: Option<&'a Exit>,
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// How it ends.
    pub exit: Exit,
    /// The task that decided.
    pub trigger: Option<TaskKey>,
}

/// Whether the attempt ends now. Failures of the platform come first: they end it for another try
/// that is not counted. A failure rule beats a success rule. When all tasks are final and no rule
/// was met, the attempt has succeeded.
#[must_use]
pub fn ending(spec: &JobSpec, tasks: &[Standing<'_>]) -> Option<Ending> {
    platform_failure(tasks)
        .or_else(|| failure_rule(spec, tasks))
        .or_else(|| success_rule(spec, tasks))
        .or_else(|| tasks.iter().all(|task| task.state.is_final()).then(|| success(None)))
}

fn platform_failure(tasks: &[Standing<'_>]) -> Option<Ending> {
    earliest(tasks, |task| task.exit.is_some_and(|exit| exit.cause.blame() == Blame::Platform))
        .and_then(inherited)
}

fn failure_rule(spec: &JobSpec, tasks: &[Standing<'_>]) -> Option<Ending> {
    let broken = |role: u32| {
        let limit = spec.roles.get(role as usize)?.completion.min_failed?;
        let failed = of_role(tasks, role).filter(|task| task.state == State::Failed).count();
        (failed as u64 >= u64::from(limit)).then_some(role)
    };
    let roles: Vec<u32> = (0..spec.roles.len() as u32).filter_map(broken).collect();
    earliest(tasks, |task| task.state == State::Failed && roles.contains(&task.key.role))
        .and_then(inherited)
}

fn success_rule(spec: &JobSpec, tasks: &[Standing<'_>]) -> Option<Ending> {
    let enough = |role: u32| {
        let limit = spec.roles.get(role as usize)?.completion.min_succeeded?;
        let succeeded = of_role(tasks, role).filter(|task| task.state == State::Succeeded).count();
        (succeeded as u64 >= u64::from(limit)).then_some(role)
    };
    if let Some(role) = (0..spec.roles.len() as u32).find_map(enough) {
        let last = |task: &&Standing<'_>| task.key.role == role && task.state == State::Succeeded;
        return Some(success(latest(tasks.iter().filter(last))));
    }
    let limit = spec.kill_all_on_completed?;
    let completed = || tasks.iter().filter(|task| completed_by_itself(task.state));
    (completed().count() as u64 >= u64::from(limit)).then(|| success(latest(completed())))
}

fn completed_by_itself(state: State) -> bool {
    match state {
        State::Succeeded | State::Failed => true,
        State::Waiting
        | State::Preparing
        | State::Running
        | State::Stopping
        | State::Stopped
        | State::Unknown => false,
    }
}

fn of_role<'a>(
    tasks: &'a [Standing<'a>],
    role: u32,
) -> impl Iterator<Item = &'a Standing<'a>> + 'a {
    tasks.iter().filter(move |task| task.key.role == role)
}

fn earliest<'a>(
    tasks: &'a [Standing<'a>],
    which: impl Fn(&Standing<'_>) -> bool,
) -> Option<&'a Standing<'a>> {
    tasks.iter().filter(|task| which(task)).min_by_key(|task| (task.completed_at, task.key))
}

fn latest<'a>(tasks: impl Iterator<Item = &'a Standing<'a>>) -> Option<TaskKey> {
    tasks.max_by_key(|task| (task.completed_at, task.key)).map(|task| task.key)
}

fn inherited(task: &Standing<'_>) -> Option<Ending> {
    Some(Ending { exit: task.exit?.clone(), trigger: Some(task.key) })
}

fn success(trigger: Option<TaskKey>) -> Ending {
    let exit = Exit { code: Some(0), cause: Cause::Succeeded, evidence: Vec::new() };
    Ending { exit, trigger }
}
