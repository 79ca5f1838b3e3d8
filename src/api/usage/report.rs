//! What was used, summed up for people and for spreadsheets.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::RangeInclusive;

use protocol::amount::Amount;
use serde::{Deserialize, Serialize};

use super::{Day, UsageOfDay};

/// The columns of a table.
const HEAD: &str = "day,username,virtual_cluster,gpu_type,jobs,gpu_seconds,used_gpu_seconds,\
    measured_gpu_seconds,preempted_gpu_seconds,wasted_gpu_seconds,queue_seconds,cost,groups,\
    asked_gpu_seconds\r\n";
/// Sums at most; more are only counted.
const MOST: usize = 366;

/// By what use is summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageBy {
    /// By who used it.
    #[default]
    User,
    /// By group: what a user of several has used is in each of them.
    Group,
    /// By virtual cluster.
    VirtualCluster,
    /// By type of GPU.
    GpuType,
    /// By day.
    Day,
    /// By month.
    Month,
}

impl UsageBy {
    /// The sums to which it belongs.
    fn names(self, usage: &UsageOfDay) -> Vec<String> {
        let name = match self {
            UsageBy::User => usage.username.to_string(),
            UsageBy::Group if usage.groups.is_empty() => String::new(),
            UsageBy::Group => return usage.groups.iter().map(ToString::to_string).collect(),
            UsageBy::VirtualCluster => usage.virtual_cluster.to_string(),
            UsageBy::GpuType => {
                usage.gpu_type.as_ref().map(ToString::to_string).unwrap_or_default()
            }
            UsageBy::Day => usage.day.to_string(),
            UsageBy::Month => {
                let day = usage.day.to_string();
                day.rsplit_once('-').map_or(day.clone(), |(month, _)| month.to_owned())
            }
        };
        vec![name]
    }

    fn is_time(self) -> bool {
        match self {
            UsageBy::Day | UsageBy::Month => true,
            UsageBy::User | UsageBy::Group | UsageBy::VirtualCluster | UsageBy::GpuType => false,
        }
    }
}

/// What was used on some days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageReport {
    /// The first day.
    pub from: Day,
    /// The last day.
    pub until: Day,
    /// All of it.
    pub whole: UsageSum,
    /// Seconds of one GPU on each of these days.
    pub days: Vec<u64>,
    /// Those who used most first; days and months as they came.
    pub sums: Vec<UsageSum>,
    /// How many sums are left out.
    pub further: u64,
}

/// A sum of what was used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UsageSum {
    /// Whose, where, on what or when; empty: on no GPU, on those of a node that is gone, or of nobody in a
    /// group.
    pub name: String,
    /// Jobs that ended.
    pub jobs: u64,
    /// Seconds of one GPU.
    pub gpu_seconds: u64,
    /// Those of them in which the GPU was busy, as far as that was measured.
    pub used_gpu_seconds: u64,
    /// Those in which it was measured.
    pub measured_gpu_seconds: u64,
    /// Those that attempts held which gave way to others.
    pub preempted_gpu_seconds: u64,
    /// Those that attempts held which failed.
    pub wasted_gpu_seconds: u64,
    /// For how many seconds the jobs that ended have waited.
    pub queue_seconds: u64,
    /// What the GPUs cost that have a price; none: none of them has.
    pub cost: Option<Amount>,
    /// Seconds of one GPU for which the jobs wanted it, those in which they waited among them.
    #[serde(default)]
    pub asked_gpu_seconds: u64,
}

impl UsageSum {
    fn add(&mut self, usage: &UsageOfDay) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.jobs, usage.jobs);
        add(&mut self.gpu_seconds, usage.gpu_seconds);
        add(&mut self.used_gpu_seconds, usage.used_gpu_seconds);
        add(&mut self.measured_gpu_seconds, usage.measured_gpu_seconds);
        add(&mut self.preempted_gpu_seconds, usage.preempted_gpu_seconds);
        add(&mut self.wasted_gpu_seconds, usage.wasted_gpu_seconds);
        add(&mut self.queue_seconds, usage.queue_seconds);
        add(&mut self.asked_gpu_seconds, usage.asked_gpu_seconds);
        self.cost = match (self.cost, usage.cost) {
            (Some(sum), Some(more)) => Some(sum + more),
            (known, None) | (None, known) => known,
        };
    }

    /// For how many seconds each of its jobs has waited in the middle.
    #[must_use]
    pub fn mean_wait(&self) -> u64 {
        self.queue_seconds / self.jobs.max(1)
    }

    /// Seconds of one GPU that came to nothing.
    #[must_use]
    pub fn lost_gpu_seconds(&self) -> u64 {
        self.preempted_gpu_seconds.saturating_add(self.wasted_gpu_seconds)
    }
}

impl UsageReport {
    /// Sums up what was used on these days.
    #[must_use]
    pub fn of(days: &RangeInclusive<Day>, used: &[UsageOfDay], by: UsageBy) -> Self {
        let (from, until) = (*days.start(), *days.end());
        let count = usize::try_from(until.0 - from.0 + 1).unwrap_or(0);
        let mut of_days = vec![0_u64; count];
        let mut whole = UsageSum::default();
        let mut sums: BTreeMap<String, UsageSum> = BTreeMap::new();
        for usage in used {
            whole.add(usage);
            let at = usize::try_from(usage.day.0 - from.0).ok();
            if let Some(day) = at.and_then(|at| of_days.get_mut(at)) {
                *day = day.saturating_add(usage.gpu_seconds);
            }
            for name in by.names(usage) {
                sums.entry(name.clone()).or_insert_with(|| named(name)).add(usage);
            }
        }
        let mut sums: Vec<UsageSum> = sums.into_values().collect();
        if !by.is_time() {
            sums.sort_by_key(|sum| Reverse((sum.gpu_seconds, sum.jobs)));
        }
        let further = sums.len().saturating_sub(MOST) as u64;
        sums.truncate(MOST);
        Self { from, until, whole, days: of_days, sums, further }
    }
}

fn named(name: String) -> UsageSum {
    UsageSum { name, ..UsageSum::default() }
}

/// What was used as a table with commas (RFC 4180), a line for each day, user, virtual cluster and type.
#[must_use]
pub fn csv(used: &[UsageOfDay]) -> String {
    let mut text = HEAD.to_owned();
    for usage in used {
        let UsageOfDay { day, username, virtual_cluster, gpu_type, jobs, gpu_seconds, .. } = usage;
        let UsageOfDay { used_gpu_seconds, measured_gpu_seconds, .. } = usage;
        let UsageOfDay { preempted_gpu_seconds, wasted_gpu_seconds, queue_seconds, cost, .. } =
            usage;
        let cost = cost.map(|cost| cost.to_string()).unwrap_or_default();
        let gpu_type = quoted(gpu_type.as_ref().map(ToString::to_string).unwrap_or_default());
        let groups: Vec<String> = usage.groups.iter().map(ToString::to_string).collect();
        let (groups, asked_gpu_seconds) = (quoted(groups.join(";")), usage.asked_gpu_seconds);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{day},{username},{virtual_cluster},{gpu_type},{jobs},{gpu_seconds},\
             {used_gpu_seconds},{measured_gpu_seconds},{preempted_gpu_seconds},\
             {wasted_gpu_seconds},{queue_seconds},{cost},{groups},{asked_gpu_seconds}\r\n"
        );
    }
    text
}

/// A field that may have a quotation mark; no name has a comma.
fn quoted(field: String) -> String {
    match field.contains('"') {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(day: i64, who: &str, gpu_type: Option<&str>, jobs: u64, hours: u64) -> UsageOfDay {
        UsageOfDay {
            day: Day(day),
            username: who.parse().unwrap(),
            virtual_cluster: "default".parse().unwrap(),
            gpu_type: gpu_type.map(|gpu_type| gpu_type.parse().unwrap()),
            jobs,
            gpu_seconds: hours * 3_600,
            used_gpu_seconds: hours * 900,
            measured_gpu_seconds: hours * 1_800,
            preempted_gpu_seconds: hours * 60,
            wasted_gpu_seconds: hours,
            queue_seconds: jobs * 40,
            cost: gpu_type.map(|_| Amount::from_milli(hours * 1_250)),
            groups: match who {
                "ada" => vec!["nlp".parse().unwrap(), "vision \"A\"".parse().unwrap()],
                _ => Vec::new(),
            },
            asked_gpu_seconds: hours * 7_200,
        }
    }

    /// 2026-11-30, the day after, and then one.
    fn some() -> Vec<UsageOfDay> {
        vec![
            used(20_787, "ada", Some("A100"), 0, 24),
            used(20_787, "bo", Some("V100"), 1, 3),
            used(20_788, "ada", Some("A100"), 2, 5),
            used(20_789, "bo", None, 4, 0),
        ]
    }

    fn sums(by: UsageBy) -> Vec<(String, u64, u64)> {
        let report = UsageReport::of(&(Day(20_786)..=Day(20_789)), &some(), by);
        assert_eq!((report.whole.jobs, report.whole.gpu_seconds), (7, 32 * 3_600));
        assert_eq!(report.days, [0, 27, 5, 0].map(|hours| hours * 3_600));
        let sums = report.sums.into_iter();
        sums.map(|sum| (sum.name, sum.jobs, sum.gpu_seconds / 3_600)).collect()
    }

    fn said(sums: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
        sums.iter().map(|(name, jobs, hours)| ((*name).to_owned(), *jobs, *hours)).collect()
    }

    #[test]
    fn use_is_summed_up_by_whatever_is_asked_for() {
        assert_eq!(sums(UsageBy::User), said(&[("ada", 2, 29), ("bo", 5, 3)]));
        let groups = [("", 5, 3), ("nlp", 2, 29), ("vision \"A\"", 2, 29)];
        let mut by_group = sums(UsageBy::Group);
        by_group.sort();
        assert_eq!(by_group, said(&groups), "what a user of two has used is in both");
        assert_eq!(sums(UsageBy::VirtualCluster), said(&[("default", 7, 32)]));
        assert_eq!(sums(UsageBy::GpuType), said(&[("A100", 2, 29), ("V100", 1, 3), ("", 4, 0)]));
        let days = [("2026-11-30", 1, 27), ("2026-12-01", 2, 5), ("2026-12-02", 4, 0)];
        assert_eq!(sums(UsageBy::Day), said(&days));
        assert_eq!(sums(UsageBy::Month), said(&[("2026-11", 1, 27), ("2026-12", 6, 5)]));
    }

    #[test]
    fn what_came_to_nothing_and_what_it_costs_is_summed_up() {
        let UsageReport { whole, .. } =
            UsageReport::of(&(Day(20_786)..=Day(20_789)), &some(), UsageBy::User);
        assert_eq!((whole.used_gpu_seconds, whole.measured_gpu_seconds), (28_800, 57_600));
        assert_eq!((whole.lost_gpu_seconds(), whole.mean_wait()), (32 * 61, 40));
        assert_eq!(whole.cost, Some(Amount::whole(40)));
        assert_eq!(whole.asked_gpu_seconds, 32 * 7_200);
        assert_eq!(UsageSum::default().mean_wait(), 0);
    }

    #[test]
    fn a_spreadsheet_reads_it() {
        let odd = used(20_787, "ada", Some("\"A\""), 1, 1);
        let rows = "2026-11-30,ada,default,\"\"\"A\"\"\",1,3600,900,1800,60,1,40,1.25,\
                    \"nlp;vision \"\"A\"\"\",7200\r\n\
                    2026-12-02,bo,default,,4,0,0,0,0,0,160,,,0\r\n";
        let table = csv(&[odd, some().remove(3)]);
        assert_eq!(table.strip_prefix(HEAD), Some(rows));
    }
}
