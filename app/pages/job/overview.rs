use api::jobs::{AttemptView, JobDetail, RoleView};
use leptos::prelude::*;
use protocol::exit::Cause;
use protocol::ids::JobKey;
use protocol::spec::{Dialect, Grace, NodeSelector, RetryLimit, TimeLimit, TopologyLevel};
use protocol::time::Timestamp;
use protocol::wait::Waiting;

use crate::i18n::{Reader, Texts, told, tr};
use crate::number;
use crate::pages::job::due::DueBy;
use crate::pages::job::idle::Unused;
use crate::pages::job::longer::Longer;
use crate::pages::job::used::{MakeUsed, job_overview_used};
use crate::pages::job::why::{AttemptEnded, MakeWaiting, WhyEnded, job_overview_waiting};
use crate::part::opened;
use crate::parts::clock::Clock;
use crate::parts::command::command;
use crate::time::Span;

/// Why the job is as it is, its facts and its task roles.
#[component]
pub(crate) fn Overview(detail: JobDetail) -> impl IntoView {
    let job = detail.summary.clone();
    let waiting = job.waiting.clone().map(|waiting| why_waiting(detail.clone(), waiting));
    let ended = match job.state.is_final() {
        true => job
            .exit
            .clone()
            .filter(|exit| exit.cause != Cause::Succeeded)
            .map(|exit| view! { <WhyEnded key=job.key.clone() exit=exit/> }.into_any()),
        false => {
            let over = |attempt: &&AttemptView| attempt.completed_at.is_some();
            detail.attempts.iter().rev().find(over).map(|last| {
                view! { <AttemptEnded key=job.key.clone() attempt=last.clone()/> }.into_any()
            })
        }
    };
    let used = job.state.is_final().then(|| used(job.key.clone()));
    let roles = detail.roles.clone().into_iter().map(|role| view! { <Role role=role/> });
    let roles = roles.collect_view();
    view! {
        <div class="stack">
            {waiting}
            {ended}
            {used}
            <Unused detail=detail.clone()/>
            <Facts detail=detail/>
            <section class="stack" aria-labelledby="roles">
                <h2 id="roles">{tr(|t| t.job.roles)}</h2>
                {roles}
            </section>
        </div>
    }
    .into_any()
}

/// Why it waits. Other jobs' pages come without the code for that.
fn why_waiting(detail: JobDetail, waiting: Waiting) -> AnyView {
    let made = opened(Signal::derive(|| Some(())), |()| job_overview_waiting());
    let why = move || made.get().map(|made: MakeWaiting| made(detail.clone(), waiting.clone()));
    view! { {move || why()} }.into_any()
}

/// What is there where it is said what a job came to, also where that is nothing.
pub(super) const USED: &str = "job-use";

/// What it came to. Pages of jobs that go on come without the code for that.
fn used(key: JobKey) -> AnyView {
    let made = opened(Signal::derive(|| Some(())), |()| job_overview_used());
    let used = move || made.get().map(|made: MakeUsed| made(key.clone()));
    view! { <div id=USED class="part">{move || used()}</div> }.into_any()
}

#[component]
fn Facts(detail: JobDetail) -> impl IntoView {
    let job = detail.summary;
    let limit = detail.retry_limit;
    let retries = job.retries;
    let dialect = detail.dialect;
    let running = detail.attempts.last().filter(|attempt| attempt.completed_at.is_none());
    let since = running.and_then(|attempt| attempt.started_at);
    let limited = detail.time_limit.map(|limit| {
        let changes = since.filter(|_| detail.may_manage && !job.stop_requested);
        let key = changes.map(|_| job.key.clone());
        view! { <Limit limit=limit since=since key=key/> }
    });
    let grace = detail.grace.map(|Grace { signal, seconds }| {
        view! {
            <dt>{tr(|t| t.job.grace)}</dt>
            <dd>{told(move |t| (t.job.grace_of)(signal.name(), seconds))}</dd>
        }
    });
    let due = detail.deadline.map(|due| {
        let expected = job.expected.map(|expected| expected.earliest);
        let ended = job.completed_at.filter(|_| job.state.is_final());
        view! { <DueBy due=due expected=expected ended=ended/> }
    });
    let types = job.gpu_types.into_iter();
    let types = types.map(|kind| view! { " " <span class="badge">{kind.to_string()}</span> });
    let types = types.collect_view();
    let description = detail.description.map(|words| {
        view! { <dt>{tr(|t| t.job.description)}</dt> <dd>{words}</dd> }
    });
    view! {
        <section class="card" aria-labelledby="facts">
            <h2 id="facts" class="card__head">{tr(|t| t.job.facts)}</h2>
            <dl class="facts">
                {description}
                <dt>{tr(|t| t.job.owner)}</dt>
                <dd>{job.key.user.to_string()}</dd>
                <dt>{tr(|t| t.jobs.cluster)}</dt>
                <dd>{job.virtual_cluster.to_string()}</dd>
                <dt>{tr(|t| t.job.priority)}</dt>
                <dd>{told(move |t| (t.job.priority_of)(job.priority))}</dd>
                <dt>{tr(|t| t.jobs.gpus)}</dt>
                <dd>{number::amount(job.gpus)} {types}</dd>
                <dt>{tr(|t| t.job.retries)}</dt>
                <dd>
                    {told(move |t| (t.job.retries_of)(retries.user, retries.platform, &limit_word(t, limit)))}
                </dd>
                {grace}
                {due}
                <Nodes selector=detail.nodes/>
                <dt>{tr(|t| t.job.dialect)}</dt>
                <dd>{told(move |t| t.job.dialects[dialect_index(dialect)])}</dd>
                {limited}
            </dl>
        </section>
    }
    .into_any()
}

/// Which nodes will do, where not any will.
#[component]
fn Nodes(selector: NodeSelector) -> impl IntoView {
    let NodeSelector { names, labels, topology } = selector;
    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
    let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let badges = |all: Vec<String>| {
        all.into_iter().map(|one| view! { <span class="badge">{one}</span> }).collect_view()
    };
    let names = (!names.is_empty())
        .then(|| view! { <dt>{tr(|t| t.job.nodes)}</dt> <dd class="buttons">{badges(names)}</dd> });
    let labels = (!labels.is_empty()).then(|| {
        view! { <dt>{tr(|t| t.job.node_labels)}</dt> <dd class="buttons">{badges(labels)}</dd> }
    });
    let required = level(|t| t.submit.fields.level_required, topology.required);
    let preferred = level(|t| t.submit.fields.level_preferred, topology.preferred);
    view! { {names} {labels} {required} {preferred} }
}

/// A level of topology, where one is asked for.
fn level(word: fn(&'static Texts) -> &'static str, level: Option<TopologyLevel>) -> impl IntoView {
    level.map(|level| {
        let of = move |t: &'static Texts| t.submit.fields.levels[level as usize];
        view! { <dt>{tr(word)}</dt> <dd>{told(of)}</dd> }
    })
}

/// The time limit; of an attempt that runs, what is left of it.
#[component]
fn Limit(
    limit: TimeLimit,
    since: Option<Timestamp>,
    /// The job, where the reader may give it another one.
    key: Option<JobKey>,
) -> impl IntoView {
    let (reader, clock) = (Reader::get(), Clock::get());
    let words = move || match since {
        Some(since) => {
            let left = since.plus_millis(limit.millis()).since(clock.now());
            let texts = reader.texts();
            let left = (texts.span)(Span::of_millis(left));
            (texts.job.time_left)(&(texts.limit)(limit), &left)
        }
        None => (reader.texts().limit)(limit),
    };
    let longer = key.zip(since);
    let longer = longer.map(|(key, since)| view! { <Longer key=key limit=limit since=since/> });
    view! {
        <dt>{tr(|t| t.job.time_limit)}</dt>
        <dd>{move || words()} {longer}</dd>
    }
}

#[component]
fn Role(role: RoleView) -> impl IntoView {
    let resources = role.resources;
    let disk = (resources.disk_gb > 0).then(|| {
        view! { <span class="badge">{tr(|t| t.common.disk)} " " {number::disk(resources.disk_gb)}</span> }
    });
    view! {
        <article class="card">
            <h3 class="card__head">{role.name.to_string()} " × " {number::count(u64::from(role.count))}</h3>
            <dl class="facts">
                <dt>{tr(|t| t.job.image)}</dt>
                <dd><code>{role.image}</code></dd>
                <dt>{tr(|t| t.job.each_task)}</dt>
                <dd class="buttons">
                    <span class="badge">{number::count(u64::from(resources.cpus))} " CPU"</span>
                    <span class="badge">{number::memory(resources.memory_mb)}</span>
                    <span class="badge">{number::amount(resources.gpus)} " GPU"</span>
                    {disk}
                </dd>
                <dt>{tr(|t| t.job.shared_memory)}</dt>
                <dd>{number::memory(role.shm_mb)}</dd>
                <dt>{tr(|t| t.job.command)}</dt>
                <dd><pre class="command" tabindex="0">{command(role.command)}</pre></dd>
            </dl>
        </article>
    }
    .into_any()
}

fn dialect_index(dialect: Dialect) -> usize {
    match dialect {
        Dialect::Earliest => 0,
        Dialect::Pai => 1,
        Dialect::Scm => 2,
        Dialect::V2 => 3,
    }
}

fn limit_word(texts: &'static Texts, limit: RetryLimit) -> String {
    match limit {
        RetryLimit::Times(times) => times.to_string(),
        RetryLimit::EveryFailure => texts.job.retry_every.to_owned(),
        RetryLimit::Always => texts.job.retry_always.to_owned(),
    }
}
