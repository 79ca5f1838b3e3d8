//! What a job that has ended came to.

use api::metrics::{Extent, JobUse, RoleUse};
use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::i18n::{Texts, told, tr};
use crate::number;
use crate::pages::job::advice::of_job;
use crate::parts::loaded::Loaded;
use crate::parts::table::DataTable;
use crate::reading::reading;
use crate::server_fns::metrics::get_use;
use crate::time::Span;

/// Makes the view of what a job came to.
pub(super) type MakeUsed = fn(JobKey) -> AnyView;

/// What a job came to.
#[lazy]
pub(super) fn job_overview_used() -> MakeUsed {
    |key| view! { <Used key=key/> }.into_any()
}

/// It is read once: nothing of it changes any more.
#[component]
fn Used(key: JobKey) -> impl IntoView {
    let used = reading(|| (), move |()| get_use(key.clone()));
    view! { <Loaded resource=used lines=4 content=|used: JobUse| view! { <Whole used=used/> }/> }
        .into_any()
}

/// Nothing where nothing ran.
#[component]
fn Whole(used: JobUse) -> impl IntoView {
    if used.of_runs == 0 {
        return ().into_any();
    }
    let advice = of_job(&used);
    let advice = (!advice.is_empty()).then(|| {
        let items = advice.into_iter().map(|(role, advice)| {
            let said =
                move |t: &'static Texts| format!("{role}{}{}", t.common.colon, advice.write(t));
            view! { <li>{told(said)}</li> }
        });
        view! { <ul class="hint">{items.collect_view()}</ul> }
    });
    let few = (used.runs < used.of_runs).then(|| {
        let (runs, of_runs) = (used.runs, used.of_runs);
        view! { <p class="hint">{told(move |t| (t.metrics.only_last)(runs, of_runs))}</p> }
    });
    let facts = facts(&used).into_iter().map(|fact| {
        let Fact { of, value } = fact;
        view! { <dt>{tr(of)}</dt> <dd>{told(move |t| value(t))}</dd> }
    });
    let facts = facts.collect_view();
    let roles = (!used.roles.is_empty()).then(|| view! { <Roles roles=used.roles/> });
    view! {
        <section class="card stack" aria-labelledby="used">
            <h2 id="used" class="card__head">{tr(|t| t.metrics.used)}</h2>
            <dl class="facts">{facts}</dl>
            {roles}
            {few}
            {advice}
        </section>
    }
    .into_any()
}

/// Something that is told of the job as a whole.
struct Fact {
    of: fn(&'static Texts) -> &'static str,
    value: Box<dyn Fn(&'static Texts) -> String + Send + Sync>,
}

fn fact(of: fn(&'static Texts) -> &'static str, value: String) -> Fact {
    Fact { of, value: Box::new(move |_| value.clone()) }
}

/// What there is to tell of it; of GPUs only where it had any.
fn facts(used: &JobUse) -> Vec<Fact> {
    let waited = i64::try_from(used.queue_seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
    let waited: Box<dyn Fn(&'static Texts) -> String + Send + Sync> =
        Box::new(move |t| (t.span)(Span::of_millis(waited)));
    let mut facts = vec![Fact { of: |t| t.metrics.waited, value: waited }];
    if used.asked_gpu_seconds > 0 {
        facts.push(fact(|t| t.metrics.asked_hours, number::gpu_hours(used.asked_gpu_seconds)));
        facts.push(fact(|t| t.metrics.held_hours, number::gpu_hours(used.held_gpu_seconds)));
    }
    if used.lost_gpu_seconds > 0 {
        facts.push(fact(|t| t.metrics.lost_hours, number::gpu_hours(used.lost_gpu_seconds)));
    }
    if used.measured_gpu_seconds > 0 {
        let percent = number::percent(used.busy_gpu_seconds, used.measured_gpu_seconds);
        let percent = u32::try_from(percent).unwrap_or(100);
        let hours = number::gpu_hours(used.busy_gpu_seconds);
        let busy: Box<dyn Fn(&'static Texts) -> String + Send + Sync> =
            Box::new(move |t| (t.metrics.busy_of)(&hours, &(t.queue.percent)(percent)));
        facts.push(Fact { of: |t| t.metrics.busy_hours, value: busy });
    }
    if let Some(energy) = used.energy_wh {
        facts.push(fact(|t| t.metrics.energy, format!("{:.2}\u{202f}kWh", energy / 1_000.0)));
    }
    facts
}

#[component]
fn Roles(roles: Vec<RoleUse>) -> impl IntoView {
    let rows = roles.into_iter().map(|role| view! { <Row role=role/> }).collect_view();
    view! {
        <DataTable
            label=|t| t.metrics.used
            heads=&[
                (|t| t.job.roles, None),
                (|t| t.metrics.cpu, None),
                (|t| t.metrics.memory, None),
                (|t| t.metrics.gpu_load, None),
                (|t| t.metrics.gpu_memory, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(role: RoleUse) -> impl IntoView {
    let cores = |_: &'static Texts, cores: f32| format!("{cores:.1}");
    let bytes = |_: &'static Texts, bytes: f32| number::bytes(bytes as u64);
    let percent = |t: &'static Texts, load: f32| (t.queue.percent)(load.round() as u32);
    let asked = role.asked;
    let (cpus, memory) = (number::count(u64::from(asked.cpus)), number::memory(asked.memory_mb));
    view! {
        <tr>
            <th scope="row">{role.role.to_string()}</th>
            <td><Cell extent=role.cpus write=cores asked=cpus/></td>
            <td><Cell extent=role.memory write=bytes asked=memory/></td>
            <td><Cell extent=role.gpu_load write=percent/></td>
            <td><Cell extent=role.gpu_memory write=bytes/></td>
        </tr>
    }
    .into_any()
}

/// The mean, what was used at most, and what was asked for.
#[component]
fn Cell(
    extent: Option<Extent>,
    write: fn(&'static Texts, f32) -> String,
    #[prop(optional)] asked: Option<String>,
) -> impl IntoView {
    let Some(Extent { mean, most }) = extent else { return ().into_any() };
    let said = move |t: &'static Texts| {
        (t.metrics.extent)(&write(t, mean), &write(t, most), asked.as_deref())
    };
    view! { {told(said)} }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Language;

    fn said(used: &JobUse) -> Vec<(&'static str, String)> {
        said_in(Language::English, used)
    }

    fn said_in(language: Language, used: &JobUse) -> Vec<(&'static str, String)> {
        let facts = facts(used).into_iter();
        facts.map(|fact| ((fact.of)(language.texts()), (fact.value)(language.texts()))).collect()
    }

    #[test]
    fn what_a_job_came_to_is_told() {
        let used = JobUse {
            asked_gpu_seconds: 9_000,
            held_gpu_seconds: 7_200,
            lost_gpu_seconds: 1_800,
            measured_gpu_seconds: 7_000,
            busy_gpu_seconds: 3_500,
            queue_seconds: 90,
            energy_wh: Some(616.6),
            ..JobUse::default()
        };
        let expected = [
            ("Waited", "1m 30s"),
            ("GPU hours asked for", "2.50 h"),
            ("GPU hours held", "2.00 h"),
            ("GPU hours lost", "0.50 h"),
            ("GPU hours busy", "0.97 h (50 %)"),
            ("Energy of its GPUs", "0.62 kWh"),
        ];
        let chinese = said_in(Language::Chinese, &used);
        assert_eq!(chinese[4].1.replace('\u{202f}', " "), "0.97 h（50%）");
        let said = said(&used);
        let plain = said.iter().map(|(of, value)| (*of, value.replace('\u{202f}', " ")));
        assert_eq!(plain.collect::<Vec<_>>(), expected.map(|(of, said)| (of, said.to_owned())));
    }

    #[test]
    fn of_a_job_without_gpus_nothing_is_told_of_them() {
        let used = JobUse { queue_seconds: 5, ..JobUse::default() };
        assert_eq!(said(&used).len(), 1);
    }
}
