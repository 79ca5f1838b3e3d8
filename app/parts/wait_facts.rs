use api::cluster::{FreeGpus, UserUse};
use api::queue::{Explanation, HeldBy, Need};
use leptos::prelude::*;
use protocol::ids::{JobKey, VirtualClusterName};
use protocol::wait::{ResourceKind, Scarce};

use crate::address;
use crate::i18n::{Reader, told, tr};
use crate::number;
use crate::parts::clock::Clock;
use crate::time::Span;

/// Owners of what is held that are named.
const OWNERS: usize = 4;

/// What a waiting job needs and what there is, who holds it, who is ahead, and when it may start.
#[component]
pub(crate) fn WaitFacts(explanation: Explanation) -> impl IntoView {
    let needs = explanation.needs.clone();
    let scarce = explanation.scarce.filter(|scarce| scarce.resource != ResourceKind::Gpu);
    let table = (!needs.is_empty() || scarce.is_some())
        .then(|| view! { <Needs needs=needs scarce=scarce/> });
    let ahead = u64::from(explanation.position.saturating_sub(1));
    let ahead = (ahead > 0).then(|| {
        let jobs = explanation.ahead.clone();
        view! { <dt>{tr(|t| t.queue.ahead)}</dt> <dd><Ahead jobs=jobs count=ahead/></dd> }
    });
    let owner_use = explanation.owner_use.clone().map(|of| {
        let UserUse { user: _, mean, percent } = of;
        let said = told(move |t| (t.queue.owner_use)(percent, mean));
        view! { <dt>{tr(|t| t.queue.part_of_use)}</dt> <dd>{said}</dd> }
    });
    let group_use = explanation.group_use.clone().map(|of| {
        let said = told(move |t| (t.queue.group_use)(&of));
        view! { <dt>{tr(|t| t.queue.use_of_group)}</dt> <dd>{said}</dd> }
    });
    let weights = (!explanation.weights.is_empty()).then(|| {
        let listed = number::weights(&explanation.weights);
        view! { <dt>{tr(|t| t.queue.weights)}</dt> <dd>{listed}</dd> }
    });
    view! {
        <div class="wait-facts">
            {table}
            <dl class="facts">
                <Start explanation=explanation.clone()/>
                {ahead}
                {group_use}
                {owner_use}
                {weights}
                <Holders explanation=explanation/>
            </dl>
        </div>
    }
    .into_any()
}

/// A row for each GPU type that will do, and one for what else is short.
#[component]
fn Needs(needs: Vec<Need>, scarce: Option<Scarce>) -> impl IntoView {
    let gpus = needs.into_iter().map(|need| {
        let Need { gpu_type, tasks, each, free } = need;
        let FreeGpus { gpus, on_one_node, borrowed } = free;
        let each = number::amount(each);
        view! {
            <tr data-gpu-type=gpu_type.to_string()>
                <th scope="row">{gpu_type.to_string()}</th>
                <td class="num">{told(move |t| (t.queue.needs_of)(tasks, &each))}</td>
                <td class="num">{told(move |t| (t.queue.free_of)(gpus, borrowed))}</td>
                <td class="num">{on_one_node}</td>
            </tr>
        }
    });
    let gpus = gpus.collect_view();
    let other = scarce.map(|scarce| {
        let Scarce { resource, needs, free, best_node } = scarce;
        let [needs, free, best_node] = [needs, free, best_node].map(|of| match resource {
            ResourceKind::Cpu | ResourceKind::Gpu | ResourceKind::Port => number::amount(of),
            ResourceKind::Memory => number::memory(of.floor()),
            ResourceKind::Disk => number::disk(of.floor()),
        });
        view! {
            <tr>
                <th scope="row">{told(move |t| (t.queue.resource)(resource))}</th>
                <td class="num">{told(move |t| (t.queue.each_task)(&needs))}</td>
                <td class="num">{free}</td>
                <td class="num">{best_node}</td>
            </tr>
        }
    });
    view! {
        <table class="table table--plain" aria-label=tr(|t| t.queue.table)>
            <thead>
                <tr>
                    <th scope="col">{tr(|t| t.cluster.resource)}</th>
                    <th scope="col" class="num">{tr(|t| t.queue.needs)}</th>
                    <th scope="col" class="num">{tr(|t| t.queue.free_now)}</th>
                    <th scope="col" class="num">{tr(|t| t.queue.on_one_node)}</th>
                </tr>
            </thead>
            <tbody>{gpus} {other}</tbody>
        </table>
    }
    .into_any()
}

/// When it may start, and from what that is known.
#[component]
fn Start(explanation: Explanation) -> impl IntoView {
    let Explanation { reason, expected_start, virtual_cluster, expected, .. } = explanation;
    let (reader, clock) = (Reader::get(), Clock::get());
    if !reason.passes() {
        return ().into_any();
    }
    let when = move || {
        let (texts, now) = (reader.texts(), clock.now());
        match (expected, expected_start) {
            (Some(expected), _) => texts.queue.expected(&expected, virtual_cluster.as_str(), now),
            (None, Some(at)) => (texts.ahead)(Span::of_millis(at.since(now))),
            (None, None) => texts.job.expected_unknown.to_owned(),
        }
    };
    view! { <dt>{tr(|t| t.queue.starts)}</dt> <dd class="wait-facts__start">{move || when()}</dd> }
        .into_any()
}

/// The first of those that are ahead, and how many more there are.
#[component]
fn Ahead(jobs: Vec<JobKey>, count: u64) -> impl IntoView {
    let more = count.saturating_sub(jobs.len() as u64);
    let more = (more > 0).then(|| view! { <span>{told(move |t| (t.queue.more)(more))}</span> });
    let links = jobs.into_iter().map(|key| view! { <JobLink key=key/> });
    view! { <span class="wait-facts__list">{links.collect_view()} {more}</span> }
}

/// Who holds what it waits for, by owner, and which job ends first.
#[component]
fn Holders(explanation: Explanation) -> impl IntoView {
    let Explanation { virtual_cluster, holders, held_by, further_owners, .. } = explanation;
    let Some(first) = holders.into_iter().next() else { return ().into_any() };
    let (named, others) = first_owners(held_by, further_owners);
    let others =
        (others > 0).then(|| view! { <span>{told(move |t| (t.queue.more_users)(others))}</span> });
    let owners =
        named.into_iter().map(|held| view! { <Held held=held cluster=virtual_cluster.clone()/> });
    view! {
        <dt>{tr(|t| t.queue.holders)}</dt>
        <dd><span class="wait-facts__list">{owners.collect_view()} {others}</span></dd>
        <dt>{tr(|t| t.queue.ends_first)}</dt>
        <dd><JobLink key=first/></dd>
    }
    .into_any()
}

/// The owners that are named, and how many more there are, those of whom nothing is told among them.
fn first_owners(mut held_by: Vec<HeldBy>, further: u64) -> (Vec<HeldBy>, u64) {
    let others = held_by.split_off(held_by.len().min(OWNERS));
    (held_by, others.len() as u64 + further)
}

/// What one user's jobs hold, with the way to them.
#[component]
fn Held(held: HeldBy, cluster: VirtualClusterName) -> impl IntoView {
    let HeldBy { user, jobs, gpus } = held;
    let filter = format!("user:{user} vc:{cluster} state:running");
    let href = format!("/jobs?q={}&all=1", address::encode(&filter));
    view! {
        <span>
            <a href=href>{user.to_string()}</a> " "
            <span class="hint">{told(move |t| (t.queue.held)(jobs, gpus))}</span>
        </span>
    }
}

#[component]
fn JobLink(key: JobKey) -> impl IntoView {
    view! { <a href=address::job(&key)>{key.to_string()}</a> }
}

#[cfg(test)]
mod tests {
    use api::cluster::GroupUse;

    use super::*;
    use crate::i18n::Language;

    #[test]
    fn owners_that_are_not_named_are_counted_not_their_jobs() {
        let held = |user: &str| HeldBy { user: user.parse().unwrap(), jobs: 3, gpus: 24.into() };
        let users = ["ada", "bob", "cara", "dan", "eve", "finn"].map(held);
        for (owners, further, others, english, chinese) in [
            (6, 300, 302, "and 302 more users", "另有 302 个用户"),
            (6, 0, 2, "and 2 more users", "另有 2 个用户"),
            (5, 0, 1, "and 1 more user", "另有 1 个用户"),
        ] {
            let (named, more) = first_owners(users[..owners].to_vec(), further);
            assert_eq!((named.as_slice(), more), (&users[..OWNERS], others));
            let say = |language: Language| (language.texts().queue.more_users)(more);
            assert_eq!(say(Language::English), english);
            assert_eq!(say(Language::Chinese), chinese);
        }
        assert_eq!(first_owners(users[..2].to_vec(), 0), (users[..2].to_vec(), 0));
    }

    #[test]
    fn whose_group_has_had_more_than_its_share_is_told_so() {
        let group = "vision".parse().unwrap();
        let of = GroupUse { group, mean: 5.into(), percent: 62, share: 50 };
        let say = |of: &GroupUse, language: Language| (language.texts().queue.group_use)(of);
        assert_eq!(
            say(&of, Language::English),
            "vision has had more than its share of 50\u{202f}%: 62\u{202f}% lately (5 GPUs on average)"
        );
        assert_eq!(
            say(&of, Language::Chinese),
            "用户组 vision 已超出应占的 50%：近期占 62%（平均 5 张 GPU）"
        );
        let of = GroupUse { mean: 1.into(), percent: 50, ..of };
        assert_eq!(
            say(&of, Language::English),
            "vision has had 50\u{202f}% lately (1 GPU on average), its share is 50\u{202f}%"
        );
        assert_eq!(
            say(&of, Language::Chinese),
            "用户组 vision 近期占 50%（平均 1 张 GPU），应占 50%"
        );
    }
}
