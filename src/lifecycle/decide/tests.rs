//! Stories: a job, what is seen, what follows.

use protocol::ids::{JobId, JobName, RoleName, TaskKey};
use protocol::resources::Resources;
use protocol::spec::{Completion, Dialect, Grace, GraceSignal, JobSpec, RetryLimit, TaskRole};

use super::*;
use crate::model::Attempt;

const NOW: Timestamp = Timestamp(1_000_000);

fn role(name: &str, count: u32) -> TaskRole {
    TaskRole {
        name: RoleName::new(name).unwrap(),
        count,
        resources: Resources { cpus: 1, memory_mb: 100, gpus: 0.into(), disk_gb: 0 },
        gpu_types: vec![],
        shm_mb: 64,
        image: "berth/base".into(),
        registry: None,
        ports: vec![],
        command: "true".into(),
        completion: Completion { min_failed: Some(1), min_succeeded: None },
        task_retries: RetryLimit::Times(0),
        infiniband: false,
    }
}

fn spec(roles: Vec<TaskRole>) -> JobSpec {
    JobSpec::plain(JobName::new("story").unwrap(), Dialect::Pai, roles)
}

/// A placed job whose tasks all stand as `state` and are seen as given, by role and index.
fn job<'a>(spec: &'a JobSpec, state: State, seen: &[Observed]) -> Job<'a> {
    let keys = spec.roles.iter().enumerate().flat_map(|(role, r)| {
        (0..r.count).map(move |index| TaskKey {
            job: JobId(7),
            attempt: 0,
            role: role as u32,
            index,
            retry: 0,
        })
    });
    let ran = state == State::Running;
    let tasks = keys.zip(seen).map(|(key, observed)| Task {
        key,
        node: NodeName::new("node-1").unwrap(),
        state,
        launched: ran,
        seen: ran,
        started_at: ran.then_some(Timestamp(5)),
        completed_at: None,
        exit: None,
        not_before: None,
        observed: observed.clone(),
        excess: None,
    });
    Job {
        spec,
        state,
        stop_requested_by: None,
        user_retries: 0,
        platform_retries: 0,
        in_a_row: 0,
        started_at: ran.then_some(Timestamp(5)),
        attempt: Attempt { state, started_at: ran.then_some(Timestamp(5)), ending: None },
        tasks: tasks.collect(),
    }
}

fn running() -> Observed {
    Observed::Running { started_at: Timestamp(5) }
}

fn exited(code: i32) -> Observed {
    let cause = if code == 0 { Cause::Succeeded } else { Cause::CommandFailed };
    exited_by(code, cause)
}

fn exited_by(code: i32, cause: Cause) -> Observed {
    Observed::Exited {
        started_at: Some(Timestamp(5)),
        finished_at: Timestamp(900),
        exit: Some(Exit { code: Some(code), cause, evidence: vec![] }),
    }
}

fn changes(decision: &Decision) -> Vec<(u32, u32, State)> {
    let mut all: Vec<_> = decision.tasks.iter().map(|t| (t.key.role, t.key.index, t.to)).collect();
    all.sort_unstable();
    all
}

fn job_state(decision: &Decision) -> Option<State> {
    decision.job.as_ref().map(|job| job.to)
}

#[test]
fn a_placed_job_is_launched_and_then_runs() {
    let spec = spec(vec![role("worker", 2)]);
    let placed = job(&spec, State::Preparing, &[Observed::Absent, Observed::Created]);
    let launch = decide(&placed, NOW);
    assert_eq!(
        launch.actions,
        placed.tasks.iter().map(|t| Action::Launch(t.key)).collect::<Vec<_>>()
    );
    assert!(launch.tasks.is_empty() && launch.job.is_none());

    let one_runs = decide(&job(&spec, State::Preparing, &[running(), Observed::Pending]), NOW);
    assert_eq!(changes(&one_runs), [(0, 0, State::Running)]);
    let change = one_runs.job.unwrap();
    assert_eq!((change.to, change.started_at), (State::Running, Some(Timestamp(5))));
}

#[test]
fn all_succeeded_is_success() {
    let spec = spec(vec![role("worker", 2)]);
    let done = decide(&job(&spec, State::Running, &[exited(0), exited(0)]), NOW);
    assert_eq!(changes(&done), [(0, 0, State::Succeeded), (0, 1, State::Succeeded)]);
    let change = done.job.unwrap();
    assert_eq!((change.to, change.completed_at), (State::Succeeded, Some(NOW)));
    assert_eq!(done.attempt.unwrap().to, State::Succeeded);
}

#[test]
fn a_failure_is_recorded_before_the_others_are_stopped() {
    let spec = spec(vec![role("worker", 2)]);
    let mut story = job(&spec, State::Running, &[exited(3), running()]);
    let first = decide(&story, NOW);
    assert_eq!(changes(&first), [(0, 0, State::Failed)]);
    assert_eq!(first.actions, [Action::Stop(story.tasks[1].key)]);
    let attempt = first.attempt.unwrap();
    assert_eq!(attempt.to, State::Stopping);
    assert_eq!(attempt.exit.as_ref().unwrap().code, Some(3));
    assert_eq!(first.job, None, "the job runs until its last container has ended");

    story.attempt.state = State::Stopping;
    story.attempt.ending = attempt.exit;
    story.tasks[0].state = State::Failed;
    story.tasks[1].observed = exited_by(143, Cause::Signal { signal: 15 });
    let last = decide(&story, NOW);
    assert_eq!(changes(&last), [(0, 1, State::Stopped)]);
    let change = last.job.unwrap();
    assert_eq!((change.to, change.exit.unwrap().code), (State::Failed, Some(3)));
    assert!(matches!(
        last.tasks[0].exit.as_ref().unwrap().cause,
        Cause::JobEnded { index: Some(0), .. }
    ));
}

#[test]
fn an_unexplained_exit_is_explained_first() {
    let spec = spec(vec![role("worker", 1)]);
    let seen = Observed::Exited { started_at: None, finished_at: Timestamp(9), exit: None };
    let story = job(&spec, State::Running, &[seen]);
    let decision = decide(&story, NOW);
    assert_eq!(decision.actions, [Action::Explain(story.tasks[0].key)]);
    assert!(decision.tasks.is_empty() && decision.job.is_none());
}

#[test]
fn kill_all_on_completed_ends_the_rest_with_success() {
    let mut spec = spec(vec![role("ps", 1), role("worker", 2)]);
    spec.kill_all_on_completed = Some(2);
    let decision = decide(&job(&spec, State::Running, &[running(), exited(0), exited(0)]), NOW);
    assert_eq!(decision.actions.len(), 1);
    assert_eq!(decision.attempt.unwrap().exit.unwrap().cause, Cause::Succeeded);
}

#[test]
fn disabled_rules_let_every_job_succeed() {
    let mut spec = spec(vec![role("worker", 2)]);
    spec.roles[0].completion.min_failed = None;
    let decision = decide(&job(&spec, State::Running, &[exited(1), exited(1)]), NOW);
    assert_eq!(job_state(&decision), Some(State::Succeeded));
    assert_eq!(changes(&decision), [(0, 0, State::Failed), (0, 1, State::Failed)]);
}

#[test]
fn enough_successes_of_one_role_end_the_job() {
    let mut spec = spec(vec![role("master", 1), role("worker", 1)]);
    spec.roles[0].completion.min_succeeded = Some(1);
    let decision = decide(&job(&spec, State::Running, &[exited(0), running()]), NOW);
    assert_eq!(decision.attempt.unwrap().exit.unwrap().cause, Cause::Succeeded);
    assert_eq!(decision.actions.len(), 1);
}

#[test]
fn a_stop_stops_what_runs_and_nothing_is_called_failed() {
    let spec = spec(vec![role("worker", 3)]);
    let mut story = job(
        &spec,
        State::Running,
        &[running(), exited_by(143, Cause::Signal { signal: 15 }), Observed::Absent],
    );
    story.stop_requested_by = Some("alice");
    let decision = decide(&story, NOW);
    assert_eq!(decision.actions, [Action::Stop(story.tasks[0].key)]);
    assert_eq!(changes(&decision), [(0, 1, State::Stopped), (0, 2, State::Stopped)]);
    assert_eq!(job_state(&decision), Some(State::Stopping));
    assert_eq!(decision.tasks[0].exit.as_ref().unwrap().code, Some(143));

    for task in &mut story.tasks {
        task.observed = Observed::Absent;
    }
    let done = decide(&story, NOW);
    assert_eq!(job_state(&done), Some(State::Stopped));
}

#[test]
fn what_was_made_and_not_started_is_gone_before_its_task_has_ended() {
    let spec = spec(vec![role("worker", 1)]);
    let mut story = job(&spec, State::Preparing, &[Observed::Created]);
    story.tasks[0].launched = true;
    story.stop_requested_by = Some("alice");
    let decision = decide(&story, NOW);
    assert_eq!(decision.actions, [Action::Discard(story.tasks[0].key)]);
    assert_eq!((changes(&decision), job_state(&decision)), (vec![], Some(State::Stopping)));
    // A start that was on its way came first.
    story.tasks[0].observed = running();
    assert_eq!(decide(&story, NOW).actions, [Action::Stop(story.tasks[0].key)]);
    story.tasks[0].observed = Observed::Absent;
    assert_eq!(job_state(&decide(&story, NOW)), Some(State::Stopped));
}

#[test]
fn a_failed_attempt_is_tried_again_while_the_limit_allows() {
    let mut spec = spec(vec![role("worker", 1)]);
    spec.retries = RetryLimit::Times(1);
    let mut story = job(&spec, State::Running, &[exited(1)]);
    let change = decide(&story, NOW).job.unwrap();
    let soon = Some(NOW.plus_millis(1_000));
    assert_eq!((change.to, change.user_retry, change.not_before), (State::Waiting, true, soon));
    story.user_retries = 1;
    assert_eq!(job_state(&decide(&story, NOW)), Some(State::Failed));
    story.user_retries = 0;
    story.stop_requested_by = Some("alice");
    assert_eq!(job_state(&decide(&story, NOW)), Some(State::Stopped));
}

#[test]
fn what_fails_again_and_again_is_tried_after_longer_and_longer_pauses() {
    let mut spec = spec(vec![role("worker", 1)]);
    spec.retries = RetryLimit::Always;
    for (code, in_a_row, began, pause) in [
        (1, 0, NOW, 1_000),
        (1, 4, NOW, 16_000),
        (0, 4, NOW, 16_000),
        (1, 100, NOW, 300_000),
        (1, 100, NOW.plus_millis(-299_999), 300_000),
        (1, 100, NOW.plus_millis(-300_000), 1_000),
    ] {
        let mut story = job(&spec, State::Running, &[exited(code)]);
        (story.in_a_row, story.attempt.started_at) = (in_a_row, Some(began));
        let change = decide(&story, NOW).job.unwrap();
        assert_eq!(change.to, State::Waiting);
        assert_eq!(change.not_before, Some(NOW.plus_millis(pause)), "{in_a_row} after {began:?}");
    }
}

#[test]
fn a_task_that_is_run_again_waits_for_its_moment() {
    let spec = spec(vec![role("worker", 1)]);
    let mut story = job(&spec, State::Preparing, &[Observed::Absent]);
    story.tasks[0].key.retry = 3;
    story.tasks[0].not_before = Some(NOW.plus_millis(1));
    assert_eq!(decide(&story, NOW), Decision::default());
    let launch = vec![Action::Launch(story.tasks[0].key)];
    assert_eq!(decide(&story, NOW.plus_millis(1)).actions, launch);
    // One that was begun is not left half done.
    story.tasks[0].launched = true;
    assert_eq!(decide(&story, NOW).actions, launch);
}

#[test]
fn the_platforms_failures_are_tried_again_after_a_pause_and_not_counted() {
    let spec = spec(vec![role("worker", 1)]);
    let mut story = job(&spec, State::Running, &[Observed::Absent]);
    story.platform_retries = 2;
    let change = decide(&story, NOW).job.unwrap();
    assert_eq!(change.to, State::Waiting);
    assert!(change.platform_retry && !change.user_retry);
    assert_eq!(change.not_before, Some(NOW.plus_millis(4_000)));
    assert_eq!(change.avoid.unwrap().as_str(), "node-1");
}

#[test]
fn a_silent_node_makes_a_launched_task_unknown_and_nothing_is_started_elsewhere() {
    let spec = spec(vec![role("worker", 1)]);
    let mut story = job(&spec, State::Running, &[Observed::Silent]);
    let decision = decide(&story, NOW);
    assert_eq!(changes(&decision), [(0, 0, State::Unknown)]);
    assert_eq!(job_state(&decision), Some(State::Unknown));
    assert!(decision.actions.is_empty());

    story.state = State::Unknown;
    story.attempt.state = State::Unknown;
    story.tasks[0].state = State::Unknown;
    assert_eq!(decide(&story, NOW), Decision::default(), "and so it stays");
    story.tasks[0].observed = running();
    assert_eq!(job_state(&decide(&story, NOW)), Some(State::Running));
}

#[test]
fn a_task_never_launched_on_a_silent_node_is_placed_anew() {
    let spec = spec(vec![role("worker", 1)]);
    let decision = decide(&job(&spec, State::Preparing, &[Observed::Silent]), NOW);
    let change = decision.job.unwrap();
    assert_eq!((change.to, change.platform_retry), (State::Waiting, true));
}

#[test]
fn a_task_may_be_run_again_inside_its_attempt() {
    let mut spec = spec(vec![role("worker", 2)]);
    spec.roles[0].task_retries = RetryLimit::Times(1);
    let mut story = job(&spec, State::Running, &[exited(1), running()]);
    let decision = decide(&story, NOW);
    assert_eq!(changes(&decision), [(0, 0, State::Failed)]);
    assert_eq!(decision.again, [TaskKey { retry: 1, ..story.tasks[0].key }]);
    assert!(decision.actions.is_empty() && decision.attempt.is_none());
    story.tasks[0].key.retry = 1;
    assert_eq!(decide(&story, NOW).actions, [Action::Stop(story.tasks[1].key)]);
}

#[test]
fn an_image_that_cannot_be_had_fails_the_job() {
    let spec = spec(vec![role("worker", 1)]);
    let cause = Cause::ImageNotFound { image: "no/such".into(), message: "not found".into() };
    let exit = Exit { code: None, cause, evidence: vec![] };
    let seen = Observed::LaunchFailed { at: NOW, exit: exit.clone() };
    let change = decide(&job(&spec, State::Preparing, &[seen]), NOW).job.unwrap();
    assert_eq!((change.to, change.exit), (State::Failed, Some(exit)));
}

#[test]
fn an_image_that_does_not_come_is_tried_elsewhere_and_not_counted() {
    let spec = spec(vec![role("worker", 1)]);
    let (node, image) = (NodeName::new("node-1").unwrap(), "r.org/team/torch:1".to_owned());
    let cause = Cause::ImageUnavailable { node: node.clone(), image, message: "no answer".into() };
    let exit = Exit { code: None, cause, evidence: vec![] };
    let seen = Observed::LaunchFailed { at: NOW, exit };
    let change = decide(&job(&spec, State::Preparing, &[seen]), NOW).job.unwrap();
    assert_eq!((change.to, change.avoid), (State::Waiting, Some(node)));
    assert!(change.platform_retry && !change.user_retry);
}

#[test]
fn a_task_that_takes_more_than_it_may_is_stopped_and_fails_for_that() {
    let spec = spec(vec![role("worker", 1)]);
    let excess = Exit { code: None, cause: Cause::DiskFull, evidence: vec!["much".into()] };
    let with = |seen| {
        let mut story = job(&spec, State::Running, &[seen]);
        story.tasks[0].excess = Some(excess.clone());
        story
    };
    let story = with(running());
    assert_eq!(decide(&story, NOW).actions, [Action::Stop(story.tasks[0].key)]);
    let ended = |seen| decide(&with(seen), NOW).job.unwrap();
    let stopped = ended(exited_by(143, Cause::Signal { signal: 15 }));
    assert_eq!(stopped.exit, Some(Exit { code: Some(143), ..excess.clone() }));
    let unexplained = Observed::Exited { started_at: None, finished_at: Timestamp(9), exit: None };
    assert_eq!(ended(unexplained).exit, Some(excess.clone()));
    assert_eq!(ended(exited(0)).to, State::Succeeded, "it was done just then");
}

#[test]
fn a_job_is_stopped_when_its_time_is_over() {
    let spec = JobSpec {
        time_limit: Some("1s".parse().unwrap()),
        retries: RetryLimit::Times(3),
        ..spec(vec![role("worker", 2)])
    };
    let job = job(&spec, State::Running, &[running(), running()]);
    assert_eq!(decide(&job, Timestamp(1_004)), Decision::default());
    let decision = decide(&job, Timestamp(1_005));
    assert_eq!(decision.attempt.unwrap().exit.unwrap().cause, Cause::TimeLimit);
    assert_eq!(decision.actions.len(), 2, "both are told to stop");
    let ended = Job {
        attempt: Attempt {
            ending: Some(Exit { code: None, cause: Cause::TimeLimit, evidence: vec![] }),
            ..job.attempt.clone()
        },
        tasks: job
            .tasks
            .iter()
            .map(|task| Task { observed: exited(137), ..task.clone() })
            .collect(),
        ..job
    };
    let decision = decide(&ended, Timestamp(1_100));
    assert_eq!(job_state(&decision), Some(State::Stopped), "and is not tried again");
    let causes = decision.tasks.iter().map(|task| task.exit.as_ref().unwrap().cause.clone());
    assert_eq!(causes.collect::<Vec<_>>(), [Cause::TimeLimit, Cause::TimeLimit]);
}

#[test]
fn what_ended_in_time_has_succeeded_however_late_it_is_seen() {
    let spec = JobSpec { time_limit: Some("1s".parse().unwrap()), ..spec(vec![role("worker", 1)]) };
    let job = job(&spec, State::Running, &[exited(0)]);
    assert_eq!(job_state(&decide(&job, Timestamp(90_000))), Some(State::Succeeded));
}

#[test]
fn a_job_with_a_grace_is_told_before_it_has_to_go() {
    let grace = Grace { signal: GraceSignal::Usr1, seconds: 2 };
    let spec = JobSpec {
        time_limit: Some("3s".parse().unwrap()),
        grace: Some(grace),
        ..spec(vec![role("worker", 2)])
    };
    let all = job(&spec, State::Running, &[running(), Observed::Pending]);
    let [one, other] = [0, 1].map(|at: usize| all.tasks[at].key);
    assert_eq!(decide(&all, Timestamp(1_004)), Decision::default());
    let told = decide(&all, Timestamp(1_005));
    assert_eq!(told.attempt.unwrap().exit.unwrap().cause, Cause::TimeLimit);
    assert_eq!(told.actions, [Action::LetFinish(one, grace), Action::LetFinish(other, grace)]);

    let node = NodeName::new("node-1").unwrap();
    for (cause, waits) in [
        (Cause::Preempted, true),
        (Cause::NodeDrained { node }, true),
        (Cause::Idle { minutes: 30 }, true),
        (Cause::CommandFailed, false),
    ] {
        let ending = Exit { code: None, cause, evidence: vec![] };
        let attempt = Attempt { ending: Some(ending), ..all.attempt.clone() };
        let leaves = Job { attempt, ..all.clone() };
        let expected = if waits { Action::LetFinish(one, grace) } else { Action::Stop(one) };
        assert_eq!(decide(&leaves, NOW).actions[0], expected);
        let hurried = Job { stop_requested_by: Some("alice"), ..leaves };
        assert_eq!(decide(&hurried, NOW).actions, [Action::Stop(one), Action::Stop(other)]);
    }
}
