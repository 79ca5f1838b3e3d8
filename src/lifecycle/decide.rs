use protocol::exit::{Blame, Cause, Exit};
use protocol::ids::{NodeName, TaskKey};
use protocol::spec::JobSpec;
use protocol::state::State;
use protocol::time::Timestamp;

use crate::completion::{self, Standing};
use crate::model::{Action, AttemptChange, Decision, Job, JobChange, Observed, Task, TaskChange};
use crate::retry::{self, Next};

/// Moves one job by what is certain now.
#[must_use]
pub fn decide(job: &Job<'_>, now: Timestamp) -> Decision {
    let mut decision = Decision::default();
    let mut tasks = job.tasks.clone();
    let ending = decided(job).or_else(|| {
        for task in &mut tasks {
            look(job, task, now, &mut decision);
        }
        let standings: Vec<Standing<'_>> = tasks.iter().map(standing).collect();
        let completed = completion::ending(job.spec, &standings).map(|ending| ending.exit);
        completed.or_else(|| over_time(job, &tasks, now))
    });
    if let Some(exit) = &ending {
        // What was to be launched, explained or run again is not, once the attempt ends.
        decision.again.clear();
        decision.actions.clear();
        for task in &mut tasks {
            end(job, task, exit, now, &mut decision);
        }
    }
    decision.attempt = attempt_change(job, &tasks, ending.as_ref(), now);
    decision.job = job_change(job, &tasks, ending.as_ref(), now);
    decision
}

/// How the attempt ends when that is settled already: as recorded, or as a person wants. From then
/// on the exit codes of its containers say nothing about the program.
fn decided(job: &Job<'_>) -> Option<Exit> {
    let stopped = |by: &str| exit_of(Cause::StopRequested { by: by.to_owned() });
    job.attempt.ending.clone().or_else(|| job.stop_requested_by.map(stopped))
}

/// Its time is over but for its grace, and it still runs.
fn over_time(job: &Job<'_>, tasks: &[Task], now: Timestamp) -> Option<Exit> {
    let limit = job.spec.told_after()?;
    let since = first_start(job, tasks)?;
    let runs = tasks.iter().any(|task| task.state == State::Running);
    (runs && now.since(since) >= limit).then(|| exit_of(Cause::TimeLimit))
}

fn standing(task: &Task) -> Standing<'_> {
    Standing {
        key: task.key,
        state: task.state,
        completed_at: task.completed_at,
        exit: task.exit.as_ref(),
    }
}

/// Brings one task up to what is seen of it.
fn look(job: &Job<'_>, task: &mut Task, now: Timestamp, decision: &mut Decision) {
    if task.state.is_final() {
        return;
    }
    match task.observed.clone() {
        Observed::Pending => {}
        Observed::Silent if task.launched => {
            record(task, State::Unknown, None, None, decision);
        }
        // Nothing was begun there, so no container can exist.
        Observed::Silent | Observed::Dead => {
            fail(task, Cause::NodeLost { node: task.node.clone() }, now, decision);
        }
        Observed::Absent if task.seen => {
            fail(task, Cause::ContainerLost { node: task.node.clone() }, now, decision);
        }
        // Only what was not begun waits: a container that is there is started.
        Observed::Absent if !task.launched && task.not_before.is_some_and(|at| now < at) => {}
        Observed::Absent | Observed::Created => decision.actions.push(Action::Launch(task.key)),
        Observed::Running { started_at } => {
            record(task, State::Running, Some(started_at), None, decision);
            if task.excess.is_some() {
                decision.actions.push(Action::Stop(task.key));
            }
        }
        Observed::Exited { started_at, finished_at, exit } => {
            let Some(exit) = exit_of_container(task, exit) else {
                return decision.actions.push(Action::Explain(task.key));
            };
            if started_at.is_some() {
                task.started_at = started_at;
            }
            finish(job, task, finished_at, exit, decision);
        }
        Observed::LaunchFailed { at, exit } => finish(job, task, at, exit, decision),
    }
}

/// How a container ended; `None` while nobody has explained it. One that was stopped for its excess
/// has that as its reason, unless its program was done just then.
fn exit_of_container(task: &Task, seen: Option<Exit>) -> Option<Exit> {
    match (seen, &task.excess) {
        (Some(exit), Some(excess)) if exit.cause != Cause::Succeeded => {
            Some(Exit { code: exit.code, ..excess.clone() })
        }
        (None, Some(excess)) => Some(excess.clone()),
        (seen, _) => seen,
    }
}

/// Records the end of a task, or has it run again inside the attempt.
fn finish(job: &Job<'_>, task: &mut Task, at: Timestamp, exit: Exit, decision: &mut Decision) {
    let to = match exit.cause.blame() {
        Blame::None => State::Succeeded,
        Blame::User | Blame::Platform => State::Failed,
        Blame::Stop => State::Stopped,
    };
    let again = to == State::Failed && may_run_again(job.spec, task, &exit);
    record(task, to, task.started_at, Some((at, exit)), decision);
    if again {
        task.key.retry += 1;
        task.state = State::Preparing;
        task.exit = None;
        task.completed_at = None;
        task.observed = Observed::Pending;
        decision.again.push(task.key);
    }
}

fn may_run_again(spec: &JobSpec, task: &Task, exit: &Exit) -> bool {
    let Some(role) = spec.roles.get(task.key.role as usize) else { return false };
    match retry::next(role.task_retries, task.key.retry, exit) {
        Next::CountedRetry => true,
        Next::Final | Next::FreeRetry => false,
    }
}

fn fail(task: &mut Task, cause: Cause, now: Timestamp, decision: &mut Decision) {
    record(task, State::Failed, task.started_at, Some((now, exit_of(cause))), decision);
}

/// Notes a change of a task in the decision, if it is one.
fn record(
    task: &mut Task,
    to: State,
    started_at: Option<Timestamp>,
    ended: Option<(Timestamp, Exit)>,
    decision: &mut Decision,
) {
    if task.state == to {
        return;
    }
    let (completed_at, exit) = ended.unzip();
    let change = TaskChange {
        key: task.key,
        from: task.state,
        to,
        started_at,
        completed_at,
        exit: exit.clone(),
    };
    // A second look in the same pass replaces the first: the database saw neither.
    let earlier = decision.tasks.iter().position(|noted| noted.key == task.key);
    match earlier.map(|at| decision.tasks.swap_remove(at)) {
        Some(noted) => decision.tasks.push(TaskChange { from: noted.from, ..change }),
        None => decision.tasks.push(change),
    }
    task.state = to;
    task.started_at = started_at.or(task.started_at);
    task.completed_at = completed_at;
    task.exit = exit;
}

/// Ends a task of an attempt that ends.
fn end(job: &Job<'_>, task: &mut Task, ending: &Exit, now: Timestamp, decision: &mut Decision) {
    if task.state.is_final() {
        return;
    }
    let (at, code) = match &task.observed {
        Observed::Pending | Observed::Running { .. } => {
            decision.actions.push(how_to_end(job, task.key, ending));
            return;
        }
        // A start of which nobody heard may still be on its way to it: its place is nobody else's before it
        // is gone.
        Observed::Created => {
            decision.actions.push(Action::Discard(task.key));
            return;
        }
        Observed::Silent if task.launched => {
            return record(task, State::Unknown, None, None, decision);
        }
        Observed::Exited { started_at, finished_at, exit } => {
            task.started_at = started_at.or(task.started_at);
            (*finished_at, exit.as_ref().and_then(|exit| exit.code))
        }
        // Nothing of it is there, or ever comes.
        Observed::Silent | Observed::Dead | Observed::Absent | Observed::LaunchFailed { .. } => {
            (now, None)
        }
    };
    let told =
        matches!(ending.cause, Cause::StopRequested { .. } | Cause::TimeLimit | Cause::Idle { .. });
    let cause = if told { ending.cause.clone() } else { job_ended(job) };
    let exit = Exit { code, ..exit_of(cause) };
    record(task, State::Stopped, task.started_at, Some((at, exit)), decision);
}

/// Somebody who wants it stopped does not wait for what it was given before.
fn how_to_end(job: &Job<'_>, task: TaskKey, ending: &Exit) -> Action {
    let grace = job.spec.grace_before(&ending.cause);
    match grace.filter(|_| job.stop_requested_by.is_none()) {
        Some(grace) => Action::LetFinish(task, grace),
        None => Action::Stop(task),
    }
}

/// The cause told to tasks that others' end takes with it.
fn job_ended(job: &Job<'_>) -> Cause {
    let decided = job
        .tasks
        .iter()
        .filter(|task| task.state.is_final())
        .max_by_key(|task| (task.completed_at, task.key));
    let role = decided.and_then(|task| job.spec.roles.get(task.key.role as usize));
    Cause::JobEnded {
        role: role.map(|role| role.name.clone()),
        index: decided.map(|task| task.key.index),
    }
}

fn attempt_change(
    job: &Job<'_>,
    tasks: &[Task],
    ending: Option<&Exit>,
    now: Timestamp,
) -> Option<AttemptChange> {
    let started_at = first_start(job, tasks);
    let done = tasks.iter().all(|task| task.state.is_final());
    let (to, exit, completed_at) = match ending {
        Some(exit) if done => (final_state(exit), Some(exit.clone()), Some(now)),
        Some(exit) => (State::Stopping, Some(exit.clone()), None),
        None => (together(tasks), None, None),
    };
    let news = to != job.attempt.state || started_at != job.attempt.started_at;
    news.then_some(AttemptChange { to, started_at, exit, completed_at })
}

fn first_start(job: &Job<'_>, tasks: &[Task]) -> Option<Timestamp> {
    job.attempt.started_at.or_else(|| tasks.iter().filter_map(|task| task.started_at).min())
}

fn final_state(exit: &Exit) -> State {
    match exit.cause.blame() {
        Blame::None => State::Succeeded,
        Blame::User | Blame::Platform => State::Failed,
        Blame::Stop => State::Stopped,
    }
}

/// The state of an attempt that goes on: unknown if any task is, else running if any runs.
fn together(tasks: &[Task]) -> State {
    let any = |state| tasks.iter().any(|task| task.state == state);
    if any(State::Unknown) {
        State::Unknown
    } else if any(State::Running) || tasks.iter().any(|task| task.started_at.is_some()) {
        State::Running
    } else {
        State::Preparing
    }
}

fn job_change(
    job: &Job<'_>,
    tasks: &[Task],
    ending: Option<&Exit>,
    now: Timestamp,
) -> Option<JobChange> {
    let started_at = job.started_at.or_else(|| first_start(job, tasks));
    let change = JobChange {
        to: job.state,
        started_at,
        completed_at: None,
        exit: None,
        user_retry: false,
        platform_retry: false,
        not_before: None,
        avoid: None,
    };
    let done = tasks.iter().all(|task| task.state.is_final());
    let change = match ending {
        Some(exit) if done => finished(job, exit, change, now),
        Some(_) if job.stop_requested_by.is_some() => JobChange { to: State::Stopping, ..change },
        Some(_) => change,
        None => JobChange { to: together(tasks), ..change },
    };
    (change.to != job.state || started_at != job.started_at).then_some(change)
}

/// What follows an attempt whose last container has ended.
fn finished(job: &Job<'_>, exit: &Exit, change: JobChange, now: Timestamp) -> JobChange {
    let change = JobChange { exit: Some(exit.clone()), ..change };
    let last = |to| JobChange { to, completed_at: Some(now), ..change.clone() };
    match retry::next(job.spec.retries, job.user_retries, exit) {
        Next::Final => last(final_state(exit)),
        // Asked to stop while it failed: there is no other attempt.
        Next::CountedRetry if job.stop_requested_by.is_some() => last(final_state(exit)),
        Next::FreeRetry if job.stop_requested_by.is_some() => last(State::Stopped),
        Next::CountedRetry => {
            let ran = job.attempt.started_at.map_or(0, |started_at| now.since(started_at));
            let pause = retry::pause_after(ran, job.in_a_row);
            let not_before = Some(now.plus_millis(pause));
            JobChange { to: State::Waiting, user_retry: true, not_before, ..change }
        }
        // It gave way, and nothing has failed: it waits in its old place, without a pause.
        Next::FreeRetry if matches!(exit.cause, Cause::Preempted | Cause::NodeDrained { .. }) => {
            JobChange { to: State::Waiting, ..change }
        }
        Next::FreeRetry => JobChange {
            to: State::Waiting,
            platform_retry: true,
            not_before: Some(now.plus_millis(retry::pause(job.platform_retries))),
            avoid: place_of(exit),
            ..change
        },
    }
}

fn place_of(exit: &Exit) -> Option<NodeName> {
    if let Cause::ContainerLost { node }
    | Cause::NodeLost { node }
    | Cause::EngineRestarted { node }
    | Cause::NodeOutOfMemory { node }
    | Cause::NodeUnwell { node, .. }
    | Cause::StorageAbsent { node, .. }
    | Cause::EngineFailed { node, .. }
    | Cause::ImageUnavailable { node, .. } = &exit.cause
    {
        return Some(node.clone());
    }
    None
}

fn exit_of(cause: Cause) -> Exit {
    Exit { code: None, cause, evidence: Vec::new() }
}

#[cfg(test)]
mod tests;
