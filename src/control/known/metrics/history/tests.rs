use proptest::prelude::*;

use super::*;

/// 2026-01-01, at a full step of each level.
const START: i64 = 1_767_225_600_000;
const LOAD: usize = Metric::OF_TASK.len();

/// Cores in use: so many tens of seconds after the start, as told.
fn measured(samples: i64, cores: impl Fn(i64) -> f32) -> History {
    let mut history = History::new(START, Vec::new());
    for sample in 0..samples {
        history.push(START + sample * FINEST, &[Some(cores(sample)), Some(cores(sample))]);
    }
    history
}

fn axis(from: i64, step: i64, points: usize) -> Axis {
    Axis { from, step, points }
}

#[test]
fn what_is_recent_is_as_it_was_measured() {
    let history = measured(20, |sample| sample as f32);
    let seen = history.on(axis(START + 15 * FINEST, FINEST, 6), 0);
    assert_eq!(seen, [Some(15.0), Some(16.0), Some(17.0), Some(18.0), Some(19.0), None]);
    assert_eq!(history.on(axis(START - 2 * FINEST, FINEST, 3), 0), [None, None, Some(0.0)]);
}

#[test]
fn means_and_peaks_stand_for_several() {
    let history = measured(6, |sample| sample as f32);
    assert_eq!(history.on(axis(START, MINUTE, 1), 0), [Some(2.5)], "the mean of the cores");
    assert_eq!(history.on(axis(START, MINUTE, 1), 1), [Some(5.0)], "the peak of the memory");
}

#[test]
fn after_an_hour_minutes_are_left_and_after_a_day_tens_of_minutes() {
    let history = measured(2 * 8_640, |sample| (sample / 6 % 10) as f32);
    // Two days: the first minutes of the second one are there, those of the first one only together.
    let day = START + 86_400_000;
    let minutes = history.on(axis(day + 60 * MINUTE, MINUTE, 3), 0);
    assert_eq!(minutes, [Some(0.0), Some(1.0), Some(2.0)]);
    let early = history.on(axis(START, MINUTE, 2), 0);
    assert_eq!(early, [Some(4.5), Some(4.5)], "a mean of ten minutes");
    assert_eq!(history.on(axis(START, 10 * MINUTE, 1), 1), [Some(9.0)]);
}

#[test]
fn what_was_not_measured_is_a_gap() {
    let mut history = History::new(START, Vec::new());
    history.push(START, &[Some(1.0)]);
    history.push(START + 3 * FINEST, &[Some(2.0)]);
    assert_eq!(history.on(axis(START, FINEST, 4), 0), [Some(1.0), None, None, Some(2.0)]);
    assert_eq!(history.on(axis(START, FINEST, 4), 1), [None; 4]);
    // The clock was set back.
    history.push(START + FINEST, &[Some(9.0)]);
    assert_eq!(history.on(axis(START, FINEST, 2), 0), [Some(1.0), None]);
}

#[test]
fn gpus_have_columns_of_their_own() {
    let mut history = History::new(START, vec![3, 5]);
    let mut row = vec![None; LOAD + 2 * Metric::OF_GPU.len()];
    (row[LOAD], row[LOAD + Metric::OF_GPU.len()]) = (Some(97.0), Some(3.0));
    history.push(START, &row);
    assert_eq!(history.gpus(), [3, 5]);
    assert_eq!(history.on(axis(START, FINEST, 1), LOAD), [Some(97.0)]);
    assert_eq!(history.on(axis(START, FINEST, 1), LOAD + Metric::OF_GPU.len()), [Some(3.0)]);
}

#[test]
fn a_year_is_there_from_its_first_day() {
    let mut history = History::new(START, Vec::new());
    for hour in 0..365 * 24 {
        history.push(START + hour * 60 * MINUTE, &[Some(2.0)]);
    }
    let year = history.on(Axis::new(START, START + 365 * 86_400_000 - 1, 100), 0);
    let known = year.iter().flatten().count();
    assert!(known + 2 >= year.len(), "{known} of {}", year.len());
    assert!(year.iter().flatten().all(|cores| *cores == 2.0));
}

#[test]
fn axes_have_as_many_points_as_were_asked_for() {
    for (span, points, step) in [
        (MINUTE, 300, FINEST),
        (60 * MINUTE, 360, FINEST),
        (60 * MINUTE, 100, MINUTE),
        (86_400_000, 300, 5 * MINUTE),
        (365 * 86_400_000, 100, 4 * 86_400_000),
    ] {
        let axis = Axis::new(START + 1, START + span, points);
        assert_eq!((axis.step, axis.points <= points + 2), (step, true), "{span}: {axis:?}");
        assert!(axis.from <= START + 1 && axis.from + axis.step > START + 1);
    }
}

#[test]
fn all_of_time_is_told_as_quickly_as_an_hour_of_it() {
    let history = measured(6, |_| 2.0);
    for (from, until) in [(0, i64::MAX), (i64::MIN, START + MINUTE), (i64::MIN, i64::MAX)] {
        for points in [1, 100] {
            let axis = Axis::new(from, until, points);
            assert!(axis.step > 0 && axis.points <= points + 2, "{axis:?}");
            assert_eq!(history.on(axis, 0).len(), axis.points);
        }
    }
    let seen = history.on(Axis::new(START, i64::MAX, 100), 0);
    assert_eq!((seen[0], seen.iter().flatten().count()), (Some(2.0), 1));
    assert_eq!(history.on(Axis::new(i64::MAX - 1, i64::MAX, 100), 0), [None]);
}

#[test]
fn each_moment_counts_once_however_coarsely_it_is_known() {
    let mut history = History::new(START, Vec::new());
    // Two days and an hour, of which only the last hour is known by its tens of seconds: as many
    // cores as it is the hour, with one moment of much in the last one.
    let samples = 49 * 360;
    for sample in 0..samples {
        let cores = if sample == samples - 5 { 200.0 } else { (sample / 360) as f32 };
        history.push(START + sample * FINEST, &[Some(cores)]);
    }
    let sum = history.sum(0);
    assert_eq!(sum.known_ms, samples * FINEST);
    let expected = (0..49).map(f64::from).sum::<f64>() / 49.0 + (200.0 - 48.0) / samples as f64;
    let mean = f64::from(sum.mean().unwrap());
    assert!((mean - expected).abs() < 0.1, "{mean} and not {expected}");
    assert!((sum.most - 200.0).abs() < 1.0, "{sum:?}");
    assert_eq!((history.sum(1), history.sum(1).mean()), (Sum::default(), None));
}

#[test]
fn what_was_not_measured_is_not_counted() {
    let mut history = History::new(START + 4_000, Vec::new());
    history.push(START + 4_000, &[Some(2.0)]);
    history.push(START + 30 * MINUTE, &[Some(4.0)]);
    let sum = history.sum(0);
    assert_eq!(sum.known_ms, 6_000 + FINEST, "six seconds of its first step");
    let mut both = sum;
    both.add(Sum { known_ms: 16_000, most: 1.0, whole: 16_000.0 });
    assert_eq!((both.known_ms, both.most), (32_000, 4.0));
    assert_eq!(both.mean(), Some((6.0 * 2.0 + 10.0 * 4.0 + 16.0) as f32 / 32.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever was measured whenever takes no more than it may, and is the same when it was kept.
    #[test]
    fn it_is_bounded_and_survives_a_file(
        gpus in 0..70_u32,
        samples in proptest::collection::vec((0..200_000_i64, 0.0..1.0e12_f32), 1..200),
        pauses in proptest::collection::vec(0..40_000_000_000_i64, 0..4),
        run in 0..500_i64,
        pace in 1..60_i64,
    ) {
        let mut history = History::new(START, (0..gpus).collect());
        let mut at = START;
        for (pause, value) in samples {
            at += pause;
            history.push(at, &[Some(value), None, Some(value / 3.0)]);
        }
        for pause in pauses {
            at += pause;
            for _ in 0..run {
                at += pace * FINEST;
                history.push(at, &[Some(1.0)]);
            }
        }
        let bytes = history.to_bytes();
        prop_assert!(bytes.len() <= MOST_BYTES, "{} bytes with {gpus} GPUs", bytes.len());
        let mut read = History::from_bytes(&bytes).unwrap();
        prop_assert_eq!(read.to_bytes(), bytes);
        let last = axis(at.div_euclid(FINEST) * FINEST, FINEST, 1);
        prop_assert_eq!(read.on(last, 0), history.on(last, 0));
        history.push(at + 3_600_000, &[Some(7.0)]);
        read.push(at + 3_600_000, &[Some(7.0)]);
        let next = axis((at + 3_600_000).div_euclid(FINEST) * FINEST, FINEST, 1);
        prop_assert_eq!(read.on(next, 0), history.on(next, 0));
    }

    /// A damaged file is none; it never makes a panic.
    #[test]
    fn whatever_is_in_a_file_is_read_or_not(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
        marked in any::<bool>(),
    ) {
        if marked {
            bytes = [MARK.as_slice(), &bytes].concat();
        }
        if let Some(mut read) = History::from_bytes(&bytes) {
            read.push(START, &[Some(1.0)]);
        }
    }
}
