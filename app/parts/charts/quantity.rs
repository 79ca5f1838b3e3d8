//! What a chart shows: one quantity, with a line for each direction or GPU.

use api::metrics::{GpuMetrics, Metric, Series};

use crate::i18n::Texts;
use crate::number;

type Words = fn(&'static Texts) -> &'static str;

/// Of which unit values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Cores,
    Bytes,
    BytesPerSecond,
    Percent,
    Watts,
    Degrees,
    Megahertz,
    /// Plain numbers.
    Count,
}

impl Unit {
    /// A value as people read it.
    pub(super) fn write(self, value: f32, texts: &Texts) -> String {
        let whole = value.max(0.0).round() as u64;
        match self {
            Unit::Cores => format!("{value:.2}"),
            Unit::Bytes => number::bytes(whole),
            Unit::BytesPerSecond => format!("{}/s", number::bytes(whole)),
            Unit::Percent => (texts.queue.percent)(u32::try_from(whole).unwrap_or(u32::MAX)),
            Unit::Watts => format!("{}\u{202f}W", number::count(whole)),
            Unit::Degrees => format!("{whole}\u{202f}°C"),
            Unit::Megahertz => format!("{}\u{202f}MHz", number::count(whole)),
            Unit::Count => number::count(whole),
        }
    }

    /// A value with those figures that are right: it is kept to one part in 500, and whole up to 512.
    fn kept(self, value: f32) -> f32 {
        let step = match self {
            Unit::Bytes | Unit::BytesPerSecond => {
                let mut unit = 1.0;
                while value / unit >= 1_024.0 {
                    unit *= 1_024.0;
                }
                match value / unit {
                    few if few < 10.0 => return value,
                    some if some <= 512.0 => unit,
                    _many => 10.0 * unit,
                }
            }
            Unit::Watts | Unit::Megahertz | Unit::Count if value > 512.0 => 10.0,
            Unit::Cores
            | Unit::Percent
            | Unit::Watts
            | Unit::Degrees
            | Unit::Megahertz
            | Unit::Count => return value,
        };
        (value / step).round() * step
    }

    /// The value at the top of a chart, which is whole, as people read it.
    pub(super) fn write_top(self, top: f32, texts: &Texts) -> String {
        match self {
            Unit::Cores => Unit::Count.write(top, texts),
            Unit::Bytes
            | Unit::BytesPerSecond
            | Unit::Percent
            | Unit::Watts
            | Unit::Degrees
            | Unit::Megahertz
            | Unit::Count => self.write(top, texts),
        }
    }

    /// The value at the top of a chart with this highest value.
    pub(super) fn top(self, highest: f32) -> f32 {
        match self {
            Unit::Percent => 100.0,
            Unit::Bytes | Unit::BytesPerSecond => steps(highest, [2.0, 2.0, 2.0]),
            Unit::Cores | Unit::Watts | Unit::Degrees | Unit::Megahertz | Unit::Count => {
                // 1, 2, 5, 10, and so on.
                steps(highest, [2.0, 2.5, 2.0])
            }
        }
    }
}

/// The first step from 1 upwards that a value does not exceed, each so many times the one before, in turn.
fn steps(highest: f32, times: [f32; 3]) -> f32 {
    let mut top = 1.0_f32;
    for times in times.into_iter().cycle() {
        // Another step might be none any more.
        if top >= highest || top > f32::MAX / 4.0 {
            break;
        }
        top *= times;
    }
    top
}

/// Whose a line is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name {
    /// The quantity's, which has no other line.
    Only,
    /// A direction's.
    Way(Words),
    /// A GPU's, by its index on the node.
    Gpu(u32),
}

impl Name {
    pub(super) fn write(self, texts: &'static Texts) -> String {
        match self {
            Name::Only => String::new(),
            Name::Way(words) => words(texts).to_owned(),
            Name::Gpu(index) => format!("GPU {index}"),
        }
    }
}

/// One line of a chart.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) name: Name,
    pub(super) values: Vec<Option<f32>>,
}

impl Line {
    fn known(&self) -> impl DoubleEndedIterator<Item = f32> {
        self.values.iter().copied().flatten()
    }

    pub(super) fn latest(&self) -> f32 {
        self.known().next_back().unwrap_or(0.0)
    }

    pub(super) fn highest(&self) -> f32 {
        self.known().fold(0.0, f32::max)
    }

    pub(super) fn mean(&self) -> f32 {
        let (sum, count) = self.known().fold((0.0, 0_u16), |(sum, count), value| {
            (sum + f64::from(value), count.saturating_add(1))
        });
        (sum / f64::from(count.max(1))) as f32
    }
}

/// A quantity over time.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pub(super) title: Words,
    pub(super) unit: Unit,
    pub(super) lines: Vec<Line>,
}

/// What measures a quantity, a line each.
type Lines = &'static [(Metric, Name)];

/// Quantities of a container, with what measures each.
static OF_TASK: [(Words, Unit, Lines); 4] = [
    (|t| t.metrics.cpu, Unit::Cores, &[(Metric::Cpus, Name::Only)]),
    (|t| t.metrics.memory, Unit::Bytes, &[(Metric::Memory, Name::Only)]),
    (
        |t| t.metrics.network,
        Unit::BytesPerSecond,
        &[
            (Metric::Received, Name::Way(|t| t.metrics.received)),
            (Metric::Sent, Name::Way(|t| t.metrics.sent)),
        ],
    ),
    (
        |t| t.metrics.disk,
        Unit::BytesPerSecond,
        &[
            (Metric::DiskRead, Name::Way(|t| t.metrics.read)),
            (Metric::DiskWritten, Name::Way(|t| t.metrics.written)),
        ],
    ),
];

/// Quantities of GPUs.
static OF_GPU: [(Words, Unit, Metric); 7] = [
    (|t| t.metrics.gpu_load, Unit::Percent, Metric::GpuLoad),
    (|t| t.metrics.gpu_memory, Unit::Bytes, Metric::GpuMemory),
    (|t| t.metrics.gpu_power, Unit::Watts, Metric::GpuPower),
    (|t| t.metrics.gpu_temperature, Unit::Degrees, Metric::GpuTemperature),
    (|t| t.metrics.gpu_clock, Unit::Megahertz, Metric::GpuClock),
    (|t| t.metrics.gpu_ecc, Unit::Count, Metric::GpuEccErrors),
    (|t| t.metrics.gpu_xid, Unit::Count, Metric::GpuXid),
];

/// The charts of what containers used and GPUs did. Of errors there is one only where there were any.
pub(crate) fn charts(series: &[Series], gpus: &[GpuMetrics]) -> Vec<Chart> {
    let of_task = OF_TASK.iter().map(|(title, unit, metrics)| {
        let lines =
            metrics.iter().filter_map(|(metric, name)| line(series, *metric, (*name, *unit)));
        Chart { title: *title, unit: *unit, lines: lines.collect() }
    });
    let of_gpus = OF_GPU.iter().map(|(title, unit, metric)| {
        let of_gpu = |gpu: &GpuMetrics| line(&gpu.series, *metric, (Name::Gpu(gpu.index), *unit));
        let lines = gpus.iter().filter_map(of_gpu).collect();
        Chart { title: *title, unit: *unit, lines }
    });
    let tells = |chart: &Chart| match chart.unit {
        Unit::Count => chart.lines.iter().any(|line| line.highest() > 0.0),
        Unit::Cores
        | Unit::Bytes
        | Unit::BytesPerSecond
        | Unit::Percent
        | Unit::Watts
        | Unit::Degrees
        | Unit::Megahertz => !chart.lines.is_empty(),
    };
    of_task.chain(of_gpus).filter(tells).collect()
}

fn line(series: &[Series], metric: Metric, (name, unit): (Name, Unit)) -> Option<Line> {
    let found = series.iter().find(|series| series.metric == metric)?;
    let values = found.values.iter().map(|value| value.map(|value| unit.kept(value)));
    Some(Line { name, values: values.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Language;

    fn series(metric: Metric, values: &[Option<f32>]) -> Series {
        Series { metric, values: values.to_vec() }
    }

    #[test]
    fn values_have_the_unit_that_reads_best() {
        for (unit, value, written) in [
            (Unit::Cores, 0.9, "0.90"),
            (Unit::Bytes, 2_147_483_648.0, "2\u{202f}GiB"),
            (Unit::BytesPerSecond, 1_024.0, "1\u{202f}KiB/s"),
            (Unit::Percent, 97.4, "97\u{202f}%"),
            (Unit::Watts, 1_200.0, "1\u{202f}200\u{202f}W"),
            (Unit::Degrees, 61.0, "61\u{202f}°C"),
        ] {
            assert_eq!(unit.write(value, Language::English.texts()), written);
        }
        assert_eq!(Unit::Percent.write(97.4, Language::Chinese.texts()), "97%");
    }

    #[test]
    fn figures_are_shown_as_far_as_they_are_right() {
        let gib = |amount: f32| amount * 1_073_741_824.0;
        for (unit, value, written) in [
            (Unit::Bytes, gib(59.25), "59\u{202f}GiB"),
            (Unit::Bytes, gib(5.5), "5.5\u{202f}GiB"),
            (Unit::Bytes, gib(871.0), "870\u{202f}GiB"),
            (Unit::Megahertz, 1_412.0, "1\u{202f}410\u{202f}MHz"),
            (Unit::Watts, 391.0, "391\u{202f}W"),
        ] {
            assert_eq!(unit.write(unit.kept(value), Language::English.texts()), written);
        }
    }

    #[test]
    fn charts_reach_above_all_values() {
        for (unit, highest, top) in [
            (Unit::Percent, 3.0, 100.0),
            (Unit::Cores, 0.2, 1.0),
            (Unit::Cores, 12.0, 20.0),
            (Unit::Cores, 20.0, 20.0),
            (Unit::Degrees, 71.0, 100.0),
            (Unit::Watts, 390.0, 500.0),
            (Unit::Megahertz, 1_410.0, 2_000.0),
            (Unit::Count, 3.0, 5.0),
            (Unit::Bytes, 1_500.0, 2_048.0),
            (Unit::BytesPerSecond, 40_000.0, 65_536.0),
        ] {
            assert_eq!(unit.top(highest), top, "{unit:?} {highest}");
        }
        assert_eq!(Unit::Cores.write_top(16.0, Language::English.texts()), "16");
        for unit in [Unit::Bytes, Unit::Watts] {
            assert!(unit.top(f32::MAX).is_finite(), "{unit:?}");
        }
    }

    #[test]
    fn what_was_measured_has_a_chart() {
        let gpu = |index, load| GpuMetrics {
            index,
            series: vec![
                series(Metric::GpuLoad, &[Some(load)]),
                series(Metric::GpuXid, &[Some(0.0)]),
            ],
        };
        let of_task = [series(Metric::Cpus, &[Some(1.0), None, Some(3.0), Some(2.0)])];
        let charts = charts(&of_task, &[gpu(2, 10.0), gpu(3, 90.0)]);
        let units: Vec<_> = charts.iter().map(|chart| (chart.unit, chart.lines.len())).collect();
        assert_eq!(units, [(Unit::Cores, 1), (Unit::Percent, 2)], "no error, no chart of errors");
        let cores = &charts[0].lines[0];
        assert_eq!((cores.latest(), cores.highest(), cores.mean()), (2.0, 3.0, 2.0));
    }
}
