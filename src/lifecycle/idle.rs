//! What is to be done about a job that holds GPUs and does not use them.

use protocol::cluster::IdleRule;
use protocol::time::Timestamp;

/// How a job has used its GPUs of late.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Idling {
    /// Since when none of them did anything.
    since: Option<Timestamp>,
    /// When its owner was warned.
    warned: Option<Timestamp>,
}

/// What is known of the job besides.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// How busy the busiest of its GPUs was since the last look, in percent; `None`: that was not told
    /// of all of them.
    pub peak: Option<f32>,
    /// When its attempt was placed.
    pub placed_at: Timestamp,
    /// Until when its owner keeps it.
    pub kept_until: Option<Timestamp>,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Nothing,
    /// Its owner is warned.
    Warn,
    /// It is stopped.
    Stop {
        /// Its GPUs have done nothing for so many minutes.
        minutes: u32,
    },
}

impl Idling {
    /// Takes in what is known now. What was not measured neither counts as work nor does it any harm.
    pub fn look(&mut self, rule: &IdleRule, known: Known, now: Timestamp) -> Step {
        let Some(peak) = known.peak else { return Step::Nothing };
        if peak >= rule.load as f32 || now.since(known.placed_at) < millis(rule.grace) {
            *self = Self::default();
            return Step::Nothing;
        }
        let since = *self.since.get_or_insert(now);
        if now.since(since) < millis(rule.minutes) {
            return Step::Nothing;
        }
        if known.kept_until.is_some_and(|until| now < until) {
            // It is warned anew after that, and not stopped at once.
            self.warned = None;
            return Step::Nothing;
        }
        let Some(warned) = self.warned else {
            self.warned = Some(now);
            return Step::Warn;
        };
        match rule.stop_after {
            Some(after) if now.since(warned) >= millis(after) => {
                let minutes = now.since(since) / 60_000;
                Step::Stop { minutes: u32::try_from(minutes).unwrap_or(u32::MAX) }
            }
            Some(_) | None => Step::Nothing,
        }
    }

    /// Since when none of its GPUs did anything, once that has lasted for as long as the rule says.
    #[must_use]
    pub fn since(&self, rule: &IdleRule, now: Timestamp) -> Option<Timestamp> {
        self.since.filter(|since| now.since(*since) >= millis(rule.minutes))
    }

    /// When it is stopped, unless it does something.
    #[must_use]
    pub fn stops_at(&self, rule: &IdleRule) -> Option<Timestamp> {
        Some(self.warned?.plus_millis(millis(rule.stop_after?)))
    }
}

fn millis(minutes: u32) -> i64 {
    i64::from(minutes) * 60_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: IdleRule = IdleRule { load: 5, minutes: 30, grace: 10, stop_after: Some(15) };

    fn at(minute: i64) -> Timestamp {
        Timestamp(minute * 60_000)
    }

    /// Looks at a job that was placed at 0, once a minute from one minute up to another; says when
    /// something was to be done.
    fn watch(
        idling: &mut Idling,
        rule: &IdleRule,
        (minutes, peak): (std::ops::Range<i64>, Option<f32>),
        kept_until: Option<i64>,
    ) -> Vec<(i64, Step)> {
        let kept_until = kept_until.map(at);
        let steps = minutes.map(|minute| {
            let known = Known { peak, placed_at: at(0), kept_until };
            (minute, idling.look(rule, known, at(minute)))
        });
        steps.filter(|(_, step)| *step != Step::Nothing).collect()
    }

    #[test]
    fn who_does_nothing_is_warned_and_then_stopped() {
        let mut idling = Idling::default();
        let steps = watch(&mut idling, &RULE, (0..56, Some(4.9)), None);
        assert_eq!(steps, [(40, Step::Warn), (55, Step::Stop { minutes: 45 })]);
        assert_eq!(idling.since(&RULE, at(55)), Some(at(10)), "its grace does not count");
        assert_eq!(idling.stops_at(&RULE), Some(at(55)));
    }

    #[test]
    fn a_rule_may_only_mark() {
        let rule = IdleRule { stop_after: None, ..RULE };
        let mut idling = Idling::default();
        assert_eq!(watch(&mut idling, &rule, (0..500, Some(0.0)), None), [(40, Step::Warn)]);
        assert_eq!(idling.stops_at(&rule), None);
    }

    #[test]
    fn work_begins_it_anew_and_what_is_not_measured_changes_nothing() {
        let mut idling = Idling::default();
        assert_eq!(watch(&mut idling, &RULE, (0..45, Some(0.0)), None).len(), 1);
        assert!(watch(&mut idling, &RULE, (45..90, None), None).is_empty());
        assert!(idling.since(&RULE, at(90)).is_some());
        assert!(watch(&mut idling, &RULE, (90..91, Some(5.0)), None).is_empty());
        assert_eq!(idling, Idling::default());
        let steps = watch(&mut idling, &RULE, (91..137, Some(0.0)), None);
        assert_eq!(steps, [(121, Step::Warn), (136, Step::Stop { minutes: 45 })]);
    }

    #[test]
    fn who_is_kept_is_left_alone_and_warned_anew_after_that() {
        let mut idling = Idling::default();
        assert_eq!(watch(&mut idling, &RULE, (0..45, Some(0.0)), None), [(40, Step::Warn)]);
        let steps = watch(&mut idling, &RULE, (45..140, Some(0.0)), Some(100));
        assert_eq!(steps[..2], [(100, Step::Warn), (115, Step::Stop { minutes: 105 })]);
    }
}
