//! What a catalogue must say of the queue: why a job waits, its turn, what a change would do.

use api::cluster::GroupUse;
use api::queue::Alternative;
use protocol::amount::Amount;
use protocol::time::Timestamp;
use protocol::wait::{Expected, Ground, ResourceKind};

use crate::time::Span;

type Word = &'static str;
type Named = fn(&str) -> String;

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Heads the table of what is short.
    pub(crate) table: Word,
    pub(crate) resource: fn(ResourceKind) -> Word,
    pub(crate) needs: Word,
    /// So many tasks of so much each.
    pub(crate) needs_of: fn(u32, &str) -> String,
    /// What each task asks for.
    pub(crate) each_task: Named,
    pub(crate) free_now: Word,
    /// How much is free, and how much of it borrowed.
    pub(crate) free_of: fn(u32, u32) -> String,
    pub(crate) on_one_node: Word,
    /// Before the names of those that hold what is waited for.
    pub(crate) holders: Word,
    /// What somebody's jobs hold: how many, with how many GPUs.
    pub(crate) held: fn(u32, Amount) -> String,
    /// Before the name of the one that is expected to end first.
    pub(crate) ends_first: Word,
    /// Heads the table of what users have had of a virtual cluster, and what it is for.
    pub(crate) uses: Word,
    pub(crate) uses_text: Word,
    pub(crate) user: Word,
    /// The same of the groups that share it.
    pub(crate) uses_of_groups: Word,
    pub(crate) uses_of_groups_text: Word,
    pub(crate) group: Word,
    /// Heads what part of all is a group's by its weight.
    pub(crate) group_share: Word,
    /// What the group of a waiting job's owner has had, and what its share is.
    pub(crate) use_of_group: Word,
    pub(crate) group_use: fn(&GroupUse) -> String,
    pub(crate) mean_gpus: Word,
    pub(crate) part_of_use: Word,
    pub(crate) percent: fn(u32) -> String,
    /// So many percent are the owner's, so many GPUs in the mean.
    pub(crate) owner_use: fn(u32, Amount) -> String,
    /// Before types of GPUs with how much one of each counts in what users have had.
    pub(crate) weights: Word,
    pub(crate) ahead: Word,
    /// After the names of some: so many more.
    pub(crate) more: fn(u64) -> String,
    /// The same after the names of users.
    pub(crate) more_users: fn(u64) -> String,
    pub(crate) starts: Word,
    /// Before the changes with which it would start at once.
    pub(crate) starts_now: Word,
    pub(crate) instead: fn(&Alternative) -> String,
    /// A start, roughly: after this and before that.
    pub(crate) between: fn(Span, Span) -> String,
    pub(crate) about: fn(Span) -> String,
    pub(crate) not_before: fn(Span) -> String,
    pub(crate) soon: Word,
    /// That a job may start then.
    pub(crate) starts_then: fn(&str) -> String,
    /// What an expected start rests on, in whose queue.
    pub(crate) ground: fn(Ground, &str) -> String,
    pub(crate) turn: Word,
    pub(crate) hold: Word,
    pub(crate) hold_text: Word,
    pub(crate) release: Word,
    pub(crate) release_text: Word,
    pub(crate) first: Word,
    pub(crate) earlier: Word,
    pub(crate) later: Word,
    pub(crate) last: Word,
    pub(crate) move_own: Word,
    pub(crate) move_any: Word,
    pub(crate) set_priority: Word,
    pub(crate) priority_text: Word,
    pub(crate) done: Word,
    /// While the effect is thought through.
    pub(crate) thinking: Word,
    pub(crate) effect: Effects,
    pub(crate) save_named: fn(&str) -> String,
    /// When what is saved holds.
    pub(crate) save_text: Word,
    pub(crate) drain_title: fn(&str) -> String,
    pub(crate) empty_title: fn(&str) -> String,
    pub(crate) undrain_title: fn(&str) -> String,
    pub(crate) undrain_text: Word,
    pub(crate) was_held: Word,
    pub(crate) was_released: Word,
    pub(crate) was_prioritised: Word,
    pub(crate) was_limited: Word,
    pub(crate) was_moved: Word,
    pub(crate) was_drained: Word,
    pub(crate) node_was_saved: Word,
    pub(crate) node_was_removed: Word,
    pub(crate) node_was_tried: Word,
    pub(crate) cluster_was_saved: Word,
    pub(crate) cluster_was_removed: Word,
}

/// What a change would do.
#[derive(Debug)]
pub(crate) struct Effects {
    pub(crate) nothing: Word,
    /// So many jobs of a virtual cluster.
    pub(crate) jobs_of: fn(u64, &str) -> String,
    pub(crate) and: Word,
    pub(crate) comma: Word,
    pub(crate) start: fn(&str) -> String,
    pub(crate) wait: fn(&str) -> String,
    pub(crate) preempted: fn(&str) -> String,
    pub(crate) loses_guarantee: fn(&str) -> String,
    pub(crate) displaced: fn(&str) -> String,
    pub(crate) moved: fn(&str) -> String,
    pub(crate) impossible: fn(&str) -> String,
    /// How much of a resource is guaranteed, of how much there is.
    pub(crate) promise: fn(&api::cluster::Promise) -> String,
    pub(crate) overpromised: fn(&str) -> String,
    /// A sentence and the names of the jobs it is about; how many more there are.
    pub(crate) named: fn(&str, &[String], u64) -> String,
}

impl Queue {
    /// When a job may start, as seen from `now`.
    pub(crate) fn start(&self, expected: &Expected, now: Timestamp) -> String {
        let span = |at: Timestamp| Span::roughly(at.since(now));
        let Expected { earliest, latest, ground: _ } = *expected;
        match latest {
            _ if earliest <= now && latest.is_none_or(|latest| latest <= now) => {
                self.soon.to_owned()
            }
            Some(latest) if span(latest) == span(earliest) => (self.about)(span(latest)),
            Some(latest) => (self.between)(span(earliest), span(latest)),
            None => (self.not_before)(span(earliest)),
        }
    }

    /// The same as a sentence, for where no label says of what.
    pub(crate) fn starts_when(&self, expected: &Expected, now: Timestamp) -> String {
        (self.starts_then)(&self.start(expected, now))
    }

    /// When a job of a virtual cluster may start, and from what that is known.
    pub(crate) fn expected(&self, expected: &Expected, cluster: &str, now: Timestamp) -> String {
        format!("{}{}", self.start(expected, now), (self.ground)(expected.ground, cluster))
    }

    /// What a change would do, a line each.
    pub(crate) fn effects(&self, effect: &api::queue::Effect) -> Vec<String> {
        let words = &self.effect;
        if effect.is_nothing() {
            return vec![words.nothing.to_owned()];
        }
        let overpromised = effect.overpromised.iter().map(words.promise).collect::<Vec<_>>();
        let overpromised = (!overpromised.is_empty())
            .then(|| (words.overpromised)(&overpromised.join(words.comma)));
        let affected = [
            (&effect.start, words.start),
            (&effect.wait, words.wait),
            (&effect.preempted, words.preempted),
            (&effect.loses_guarantee, words.loses_guarantee),
            (&effect.displaced, words.displaced),
            (&effect.moved, words.moved),
            (&effect.impossible, words.impossible),
        ]
        .into_iter()
        .filter(|(jobs, _)| jobs.count() > 0)
        .map(|(jobs, sentence)| {
            let counts = jobs.counts.iter().map(|(name, n)| (words.jobs_of)(*n, name.as_str()));
            let sentence = sentence(&counts.collect::<Vec<_>>().join(words.and));
            let names: Vec<_> = jobs.jobs.iter().map(ToString::to_string).collect();
            (words.named)(&sentence, &names, jobs.count() - jobs.jobs.len() as u64)
        });
        overpromised.into_iter().chain(affected).collect()
    }
}

#[cfg(test)]
mod tests {
    use api::queue::{Affected, Effect, Instead};
    use protocol::spec::TimeLimit;
    use protocol::wait::Likeness;

    use super::*;
    use crate::i18n::Language;

    #[test]
    fn an_effect_says_how_many_jobs_of_which_virtual_cluster() {
        let jobs = |counts: &[(&str, u64)], names: &[&str]| Affected {
            counts: counts.iter().map(|(name, n)| (name.parse().unwrap(), *n)).collect(),
            jobs: names.iter().map(|name| name.parse().unwrap()).collect(),
        };
        let effect = Effect {
            wait: jobs(&[("vision", 3)], &["ada~a", "ada~b"]),
            displaced: jobs(&[("speech", 1), ("vision", 2)], &["bob~c", "bob~d", "bob~e"]),
            ..Effect::default()
        };
        let lines = |language: Language| language.texts().queue.effects(&effect);
        assert_eq!(
            lines(Language::English),
            [
                "Would wait: 3 jobs of vision (ada~a, ada~b and 1 more)",
                "Goes on there until its end: 1 job of speech and 2 jobs of vision \
                 (bob~c, bob~d, bob~e)",
            ]
        );
        assert_eq!(lines(Language::Chinese)[0], "vision 的 3 个作业将等待（ada~a、ada~b 等 3 个）");
        let nothing = Language::English.texts().queue.effects(&Effect::default());
        assert_eq!(nothing.len(), 1);
    }

    #[test]
    fn a_limit_says_before_whom_it_fits() {
        let instead = Instead::TimeLimit { time_limit: TimeLimit::of_hours(2) };
        let before = Some("ada~train-1".parse().unwrap());
        let alternative = Alternative { instead, borrowed: true, before };
        let say = |language: Language| (language.texts().queue.instead)(&alternative);
        let english = "with a limit of 2h, before ada~train-1 starts, borrowed";
        assert_eq!(say(Language::English), english);
        let chinese = "将运行时长上限设为 2\u{202f}小时，赶在 ada~train-1 启动之前（借用）";
        assert_eq!(say(Language::Chinese), chinese);
    }

    #[test]
    fn an_expected_start_is_a_range_with_its_ground() {
        let expected = |latest: Option<i64>, ground| Expected {
            earliest: Timestamp(60_000),
            latest: latest.map(Timestamp),
            ground,
        };
        let say = |language: Language, expected: Expected| {
            language.texts().queue.expected(&expected, "nlp", Timestamp(0))
        };
        let english = |expected| say(Language::English, expected);
        let limits = english(expected(Some(7_200_000), Ground::Limits));
        assert_eq!(limits, "in 1m to 2h, from time limits");
        let past = english(expected(None, Ground::PastRuns));
        assert_eq!(past, "in 1m or later, from how long like jobs have run");
        let like = Ground::PastWaits { like: Likeness::VirtualCluster, runs: 1214 };
        let waits = expected(Some(25 * 60_000), like);
        assert_eq!(english(waits), "in 1m to 25m, from 1\u{202f}214 past runs in nlp");
        assert_eq!(
            english(expected(Some(61_000), Ground::Limits)),
            "in 1m to 2m, from time limits"
        );
        assert_eq!(
            english(expected(Some(60_000), Ground::Limits)),
            "in about 1m, from time limits"
        );
        let chinese = say(Language::Chinese, waits);
        let range = "1\u{202f}分钟至 25\u{202f}分钟后";
        assert_eq!(chinese, format!("{range}，依据 nlp 中 1\u{202f}214 次历史记录"));
        let starts = |language: Language, expected: Expected| {
            language.texts().queue.starts_when(&expected, Timestamp(0))
        };
        assert_eq!(starts(Language::English, waits), "starts in 1m to 25m");
        assert_eq!(starts(Language::Chinese, waits), format!("预计 {range}启动"));
        let open = expected(None, Ground::PastRuns);
        assert_eq!(starts(Language::Chinese, open), "预计最早 1\u{202f}分钟后启动");
    }
}
