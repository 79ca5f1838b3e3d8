//! What was asked for and not used, and what GPUs took of energy.

use api::metrics::{GpuMetrics, JobUse, Metric, RoleUse, Series, TaskMetrics};
use leptos::prelude::*;
use protocol::resources::Resources;

use crate::i18n::{Texts, told, tr};
use crate::number;

/// Nothing is said before so much was measured, in milliseconds.
const LONG: i64 = 600_000;
/// What is used is little when it is less than one in so many.
const LITTLE: f32 = 4.0;
/// Whoever asks for no more than that may have it: cores, and MiB.
const SMALL: (u32, u64) = (3, 8_191);
/// A GPU that was busy for less than so many percent did nothing.
const IDLE: f32 = 1.0;

/// Something that a job need not have asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Advice {
    /// Cores, and how many of them were used at most.
    Cpus(u32, f32),
    /// MiB of memory, and how many bytes of it were used at most.
    Memory(u64, f32),
    /// A GPU by its index.
    Gpu(u32),
    /// So many GPUs, of so many.
    Gpus(u32, u32),
}

impl Advice {
    pub(super) fn write(&self, texts: &'static Texts) -> String {
        let words = &texts.metrics;
        match self {
            Advice::Cpus(asked, used) => (words.few_cpus)(u64::from(*asked), &format!("{used:.1}")),
            Advice::Memory(asked, used) => {
                (words.little_memory)(&number::memory(*asked), &number::bytes(*used as u64))
            }
            Advice::Gpu(index) => (words.idle_gpu)(*index),
            Advice::Gpus(idle, all) => (words.idle_gpus)(*idle, *all),
        }
    }
}

fn values(series: &[Series], metric: Metric) -> Vec<f32> {
    let found = series.iter().find(|series| series.metric == metric);
    found.into_iter().flat_map(|series| series.values.iter().copied().flatten()).collect()
}

/// The highest value; none where too little was measured.
fn highest(series: &[Series], metric: Metric, step_ms: i64) -> Option<f32> {
    let values = values(series, metric);
    let long = values.len() as i64 * step_ms >= LONG;
    long.then(|| values.into_iter().fold(0.0, f32::max))
}

/// What was used at most of what each task asked for, and is little.
fn little(
    asked: &Resources,
    cpus: Option<f32>,
    memory: Option<f32>,
) -> impl Iterator<Item = Advice> + use<> {
    let Resources { cpus: all_cpus, memory_mb, .. } = *asked;
    let few = cpus.filter(|used| all_cpus > SMALL.0 && used * LITTLE < all_cpus as f32);
    let all = (memory_mb << 20) as f32;
    let little = memory.filter(|used| memory_mb > SMALL.1 && used * LITTLE < all);
    let few = few.map(|used| Advice::Cpus(all_cpus, used));
    few.into_iter().chain(little.map(|used| Advice::Memory(memory_mb, used)))
}

/// What a task need not have asked for.
fn advice(task: &TaskMetrics, step_ms: i64) -> Vec<Advice> {
    let cpus = highest(&task.series, Metric::Cpus, step_ms);
    let memory = highest(&task.series, Metric::Memory, step_ms);
    let is_idle = |gpu: &&GpuMetrics| {
        highest(&gpu.series, Metric::GpuLoad, step_ms).is_some_and(|load| load < IDLE)
    };
    let idle = task.gpus.iter().filter(is_idle).map(|gpu| Advice::Gpu(gpu.index));
    little(&task.asked, cpus, memory).chain(idle).collect()
}

/// What the tasks of a role need not have asked for, in all that was measured of them.
fn of_role(role: &RoleUse) -> Vec<Advice> {
    let long = role.longest.saturating_mul(1_000) >= LONG.unsigned_abs();
    let most = |extent: Option<api::metrics::Extent>| extent.filter(|_| long).map(|e| e.most);
    let idle = (role.idle_gpus > 0).then_some(Advice::Gpus(role.idle_gpus, role.gpus));
    little(&role.asked, most(role.cpus), most(role.memory)).chain(idle).collect()
}

/// What each role of a job need not have asked for.
pub(super) fn of_job(used: &JobUse) -> Vec<(String, Advice)> {
    let of_each = used.roles.iter().flat_map(|role| {
        let name = role.role.to_string();
        of_role(role).into_iter().map(move |advice| (name.clone(), advice))
    });
    of_each.collect()
}

/// Watt hours of all its GPUs.
fn energy(task: &TaskMetrics, step_ms: i64) -> f64 {
    let powers = task.gpus.iter().flat_map(|gpu| values(&gpu.series, Metric::GpuPower));
    let hours = step_ms as f64 / 3_600_000.0;
    powers.map(|watts| f64::from(watts) * hours).sum()
}

/// What is to be learnt from what was measured.
#[component]
pub(super) fn Learnt(task: TaskMetrics, step_ms: i64) -> impl IntoView {
    let (advice, energy) = (advice(&task, step_ms), energy(&task, step_ms));
    if advice.is_empty() && energy <= 0.0 {
        return ().into_any();
    }
    let items = advice.into_iter().map(|advice| {
        view! { <li>{told(move |t| advice.write(t))}</li> }
    });
    let items = items.collect_view();
    let energy = (energy > 0.0).then(|| {
        let written = format!("{:.2}\u{202f}kWh", energy / 1000.0);
        view! { <li>{tr(|t| t.metrics.energy)} " " {written}</li> }
    });
    view! { <ul class="hint">{items} {energy}</ul> }.into_any()
}

#[cfg(test)]
mod tests {
    use api::metrics::Extent;

    use super::*;

    fn series(metric: Metric, value: f32) -> Series {
        Series { metric, values: vec![Some(value); 10] }
    }

    fn task(cores: f32, gibibytes: f32, loads: &[f32]) -> TaskMetrics {
        let gpu = |(index, load): (u32, &f32)| GpuMetrics {
            index,
            series: vec![series(Metric::GpuLoad, *load), series(Metric::GpuPower, 300.0)],
        };
        TaskMetrics {
            role: "worker".parse().unwrap(),
            index: 0,
            node: "a".parse().unwrap(),
            asked: Resources { cpus: 16, memory_mb: 65_536, ..Resources::default() },
            series: vec![
                series(Metric::Cpus, cores),
                series(Metric::Memory, gibibytes * 1_073_741_824.0),
            ],
            gpus: (0..).zip(loads).map(gpu).collect(),
        }
    }

    #[test]
    fn what_was_asked_for_and_not_used_is_said() {
        let minute = 60_000;
        let wasted = advice(&task(1.5, 3.0, &[97.0, 0.0]), minute);
        let english = crate::i18n::Language::English.texts();
        let said: Vec<_> = wasted.iter().map(|advice| advice.write(english)).collect();
        assert_eq!(said[0], "Asked for 16 CPU cores, used 1.5 at most.");
        assert_eq!(said[1], "Asked for 64\u{202f}GiB of memory, used 3\u{202f}GiB at most.");
        assert!(said[2].starts_with("GPU 1 was idle all the time"), "{said:?}");
        assert_eq!(advice(&task(9.0, 40.0, &[3.0]), minute), []);
        assert_eq!(advice(&task(1.0, 3.0, &[0.0]), minute / 2), [], "it is too early to tell");
    }

    #[test]
    fn energy_is_power_over_time() {
        // Two GPUs of 300 W for ten minutes.
        let used = energy(&task(1.0, 1.0, &[1.0, 1.0]), 60_000);
        assert!((used - 100.0).abs() < 0.01, "{used}");
    }

    #[test]
    fn roles_are_told_apart_by_what_they_left() {
        let extent = |most| Some(Extent { mean: most, most });
        let role = |name: &str, longest, cores, idle_gpus| RoleUse {
            role: name.parse().unwrap(),
            asked: Resources { cpus: 16, memory_mb: 65_536, ..Resources::default() },
            longest,
            cpus: extent(cores),
            memory: extent(40e9),
            gpu_load: None,
            gpu_memory: None,
            gpus: 8,
            idle_gpus,
        };
        let roles = vec![
            role("wide", 600, 1.5, 2),
            role("short", 599, 1.5, 0),
            role("well", 9_000, 9.0, 0),
        ];
        let told = of_job(&JobUse { roles, ..JobUse::default() });
        let expected = [Advice::Cpus(16, 1.5), Advice::Gpus(2, 8)];
        assert_eq!(told, expected.map(|advice| ("wide".to_owned(), advice)));
        let said = told[1].1.write(crate::i18n::Language::English.texts());
        assert!(said.starts_with("2 of 8 GPUs"), "{said}");
    }
}
