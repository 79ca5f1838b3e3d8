//! What the GPUs of nodes do at the moment.

use std::collections::HashMap;
use std::sync::Mutex;

use api::metrics::GpuNow;
use engine::exporter::GpuSample;
use protocol::ids::NodeName;
use protocol::time::Timestamp;

use crate::lock::lock;

/// What was told longer ago is not told any more, in milliseconds.
const STALE: i64 = 60_000;

/// Of each node what its GPUs did when they were measured last.
#[derive(Debug, Default)]
pub(crate) struct Loads(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    /// When it was last looked for what is old: with thousands of nodes not each time that one is measured.
    swept: Timestamp,
    all: HashMap<NodeName, Seen>,
}

#[derive(Debug)]
struct Seen {
    at: Timestamp,
    gpus: Box<[Does]>,
    /// Since when those of them are idle that tasks hold.
    idle: Box<[(u32, Timestamp)]>,
}

/// What a GPU does, in less room than where it is told: there may be very many.
#[derive(Debug)]
struct Does {
    index: u32,
    memory_mb: Option<u32>,
    all_memory_mb: Option<u32>,
    power: Option<u16>,
    load: Option<u8>,
    temperature: Option<u8>,
}

impl Seen {
    /// What each does, with its index.
    fn told(&self) -> impl Iterator<Item = (u32, GpuNow)> {
        self.gpus.iter().map(|does| {
            let Does { index, load, memory_mb, all_memory_mb, temperature, power } = *does;
            let (load, temperature) = (load.map(u32::from), temperature.map(u32::from));
            let (memory_mb, all_memory_mb) =
                (memory_mb.map(u64::from), all_memory_mb.map(u64::from));
            let idle_since = self.idle.iter().find(|(idle, _)| *idle == index).map(|(_, at)| *at);
            (
                index,
                GpuNow {
                    load,
                    memory_mb,
                    all_memory_mb,
                    temperature,
                    power: power.map(u32::from),
                    idle_since,
                },
            )
        })
    }
}

impl Loads {
    /// Notes what was measured, and since when GPUs of the node are idle that tasks hold.
    pub(crate) fn note(
        &self,
        node: &NodeName,
        at: Timestamp,
        samples: &[GpuSample],
        idle: &HashMap<u32, Timestamp>,
    ) {
        let gpus: Box<[Does]> = samples.iter().filter_map(does).collect();
        let indices = gpus.iter().map(|does| does.index);
        let idle = indices.filter_map(|index| Some((index, *idle.get(&index)?))).collect();
        let seen = Seen { at, gpus, idle };
        let mut held = lock(&self.0);
        if at.since(held.swept).abs() >= STALE {
            held.swept = at;
            held.all.retain(|_, seen| at.since(seen.at) < STALE);
        }
        if !seen.gpus.is_empty() {
            held.all.insert(node.clone(), seen);
        }
    }

    /// What a node's GPUs do, with their indices.
    pub(crate) fn on(&self, node: &NodeName, now: Timestamp) -> Box<[(u32, GpuNow)]> {
        let held = lock(&self.0);
        let seen = held.all.get(node).filter(|seen| now.since(seen.at) < STALE);
        seen.map(|seen| seen.told().collect()).unwrap_or_default()
    }

    /// The nodes with GPUs that tasks hold and that are idle, and which those are.
    pub(crate) fn idle(&self, now: Timestamp) -> HashMap<NodeName, Vec<u32>> {
        let held = lock(&self.0);
        let of = |(node, seen): (&NodeName, &Seen)| {
            let idle: Vec<u32> = seen.idle.iter().map(|(index, _)| *index).collect();
            (!idle.is_empty()).then(|| (node.clone(), idle))
        };
        let known = held.all.iter().filter(|(_, seen)| now.since(seen.at) < STALE);
        known.filter_map(of).collect()
    }
}

fn does(sample: &GpuSample) -> Option<Does> {
    let megabytes = |bytes: Option<f32>| bytes.map(|bytes| bytes / 1_048_576.0);
    Some(Does {
        index: sample.index?,
        memory_mb: whole(megabytes(sample.memory), f32::floor),
        all_memory_mb: whole(megabytes(sample.all_memory), f32::floor),
        power: whole(sample.power, f32::round),
        load: whole(sample.load, f32::round),
        temperature: whole(sample.temperature, f32::round),
    })
}

/// A whole number, if it is not too large to be believed.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is none below 0")]
fn whole<T: TryFrom<u64>>(value: Option<f32>, round: impl Fn(f32) -> f32) -> Option<T> {
    value.and_then(|value| T::try_from(round(value.max(0.0)) as u64).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_is_told_until_it_is_old() {
        let loads = Loads::default();
        let (one, other): (NodeName, NodeName) = ("a".parse().unwrap(), "b".parse().unwrap());
        let sample = |load| GpuSample {
            index: Some(3),
            load: Some(load),
            memory: Some(5_242_880.0),
            all_memory: Some(10_485_760.0),
            ..GpuSample::default()
        };
        let since = Timestamp(7);
        loads.note(&one, Timestamp(1_000), &[sample(12.0)], &HashMap::new());
        loads.note(&one, Timestamp(2_000), &[sample(0.4)], &HashMap::from([(3, since)]));
        let does = GpuNow {
            load: Some(0),
            memory_mb: Some(5),
            all_memory_mb: Some(10),
            idle_since: Some(since),
            ..GpuNow::default()
        };
        assert_eq!(*loads.on(&one, Timestamp(3_000)), [(3, does)]);
        assert_eq!(loads.idle(Timestamp(3_000)), HashMap::from([(one.clone(), vec![3])]));
        assert!(loads.on(&other, Timestamp(3_000)).is_empty());
        assert!(loads.on(&one, Timestamp(2_000 + STALE)).is_empty());
        assert!(loads.idle(Timestamp(2_000 + STALE)).is_empty());
        loads.note(&other, Timestamp(2_000 + STALE), &[], &HashMap::new());
        assert!(lock(&loads.0).all.is_empty(), "nothing is kept of nodes that are gone");
    }
}
