//! Months of jobs that have ended, in all the ways that there are.

use protocol::cluster::GpuRuntime;
use protocol::exit::{Cause, Exit};
use protocol::jobs::Retries;
use protocol::placement::TaskPlacement;
use protocol::time::Timestamp;
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use crate::cast::{self, PEOPLE, RACKS, Rack};
use crate::desk::{self, Life, Run, Times};
use crate::job::{Draft, KINDS, Reader};

/// How many jobs have ended.
pub(crate) const JOBS: usize = 10_000;
/// Since when there are jobs, in days.
const DAYS: i64 = 120;
const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
/// So many of the last ones had all nodes to run on, those before them the old ones.
const NEW: usize = 2_500;
/// So many of the last ones have events; of others they are forgotten by now.
const REMEMBERED: usize = 1_500;

/// All that have ended, in the order of their submission.
pub(crate) fn lives(now: Timestamp, random: &mut StdRng, reader: &mut Reader) -> Vec<Life> {
    let mut moments: Vec<i64> =
        (0..JOBS).map(|_| random.random_range(2 * 60 * MINUTE..DAYS * DAY)).collect();
    moments.sort_unstable_by(|a, b| b.cmp(a));
    let numbered = moments.into_iter().enumerate();
    numbered
        .map(|(number, ago)| {
            let mut life = one(now, ago, number, random, reader);
            if number + REMEMBERED < JOBS {
                life.events.clear();
            }
            life
        })
        .collect()
}

/// One that was submitted so long ago.
fn one(now: Timestamp, ago: i64, number: usize, random: &mut StdRng, reader: &mut Reader) -> Life {
    let draft = draft(number, random);
    let mut life = Life::waiting(reader.job(&draft, now.plus_millis(-ago)));
    // All of it must have ended some minutes ago.
    let mut left = ago - 5 * MINUTE;
    let misfortunes = if random.random_ratio(1, 14) { random.random_range(1..=2) } else { 0 };
    for last in (0..=misfortunes).map(|attempt| attempt == misfortunes) {
        let waited = random.random_range(500..90 * MINUTE).min(left / 8);
        let ran = ran(random).min((left - waited) / 3).max(5_000);
        let placed = now.plus_millis(waited - left - 5 * MINUTE);
        let started = placed.plus_millis(random.random_range(800..20_000).min(ran / 2));
        let ended = placed.plus_millis(ran);
        let places = places(&draft, random);
        let first = places.first().map_or(cast::CUT_OFF, |place| place.node.as_str());
        let exit = if last {
            end(&draft, random)
        } else {
            misfortune(first, draft.rack.gpu_runtime, random)
        };
        let borrowed = draft.cluster == "default";
        let times = Times { placed, started, ended: Some(ended) };
        life.add(Run { places, times, exit: Some(exit), borrowed });
        left -= waited + ran;
    }
    if let Some(update) = &mut life.update {
        let platform = life.attempts.iter().rev().skip(1);
        let platform = platform.filter(|attempt| !gave_way(attempt.exit.as_deref())).count();
        let platform = u32::try_from(platform).unwrap_or(u32::MAX);
        update.retries = Some(Retries { user: 0, platform });
    }
    life
}

fn gave_way(exit: Option<&Exit>) -> bool {
    exit.is_some_and(|exit| exit.cause == Cause::Preempted)
}

fn draft(number: usize, random: &mut StdRng) -> Draft {
    let user = PEOPLE.choose(random).copied().unwrap_or(PEOPLE[0]);
    let clusters = ["default", "vision", "nlp", "nlp-pretraining", "speech", "detection"];
    let open: Vec<_> = clusters.into_iter().filter(|name| cast::admits(name, user)).collect();
    let kind = random.random_range(0..KINDS.len());
    let racks = if number + NEW < JOBS { &RACKS[..cast::OLD_RACKS] } else { &RACKS[..] };
    let rack = racks.choose(random).unwrap_or(&RACKS[0]);
    let gpus = [1, 1, 1, 1, 2, 2, 4, rack.gpus].choose(random).copied().unwrap_or(1);
    let part = rack.gpu_type == cast::SHARED && gpus == 1 && random.random_ratio(1, 5);
    Draft {
        user,
        name: format!("{}-{:05}", KINDS[kind].0, number + 1),
        kind,
        cluster: open.choose(random).copied().unwrap_or("default"),
        rack,
        tasks: [1, 1, 1, 1, 1, 2, 2, 4].choose(random).copied().unwrap_or(1),
        gpu_milli: if part { 250 } else { u64::from(gpus) * 1000 },
        priority: ["test", "test", "test", "prod", "oppo"]
            .choose(random)
            .copied()
            .unwrap_or("test"),
        limit: random
            .random_ratio(1, 5)
            .then(|| *["2h", "12h", "3d"].choose(random).unwrap_or(&"2h")),
    }
}

/// Many run some minutes, few some days.
fn ran(random: &mut StdRng) -> i64 {
    let scale =
        [MINUTE, 8 * MINUTE, 30 * MINUTE, 180 * MINUTE, 900 * MINUTE].choose(random).copied();
    random.random_range(MINUTE / 2..4 * scale.unwrap_or(MINUTE))
}

/// Nodes that it may have been on.
fn places(draft: &Draft, random: &mut StdRng) -> Vec<TaskPlacement> {
    let Rack { prefix, nodes, gpus, .. } = draft.rack;
    let rack = RACKS.iter().position(|rack| rack.prefix == *prefix).unwrap_or(0) + 1;
    let each = u32::try_from(draft.gpu_milli.div_ceil(1000)).unwrap_or(*gpus).max(1);
    let (on_one, first) = ((gpus / each).max(1), random.random_range(0..*nodes));
    let place = |index: u32| {
        let at = (first + index / on_one) % nodes + 1;
        let gpu = index % on_one * each;
        TaskPlacement {
            role: 0,
            index,
            node: cast::node(&format!("{prefix}-{at:02}")),
            address: format!("10.{rack}.0.{at}"),
            gpus: (gpu..gpu + each).collect(),
            ports: desk::ports(10_000 + u16::try_from(index).unwrap_or(0) * 2),
        }
    };
    (0..draft.tasks).map(place).collect()
}

/// How a job ended for good: three of five did what they should.
fn end(draft: &Draft, random: &mut StdRng) -> Exit {
    let kind = random.random_range(0..100);
    match kind {
        0..62 => exit(Some(0), Cause::Succeeded, &[]),
        62..76 => {
            let by = if random.random_ratio(1, 6) { "admin" } else { draft.user };
            exit(Some(143), Cause::StopRequested { by: by.to_owned() }, &[])
        }
        76..78 => match draft.limit {
            Some(_) => exit(Some(143), Cause::TimeLimit, &[]),
            None => exit(Some(0), Cause::Succeeded, &[]),
        },
        _ => failure(draft, random),
    }
}

fn exit(code: Option<i32>, cause: Cause, evidence: &[&str]) -> Exit {
    Exit { code, cause, evidence: evidence.iter().map(|line| (*line).to_owned()).collect() }
}

/// The failures that are the user's, with the lines that show them.
fn failure(draft: &Draft, random: &mut StdRng) -> Exit {
    let limit_mb = draft.resources().memory_mb;
    let maker = draft.rack.gpu_runtime;
    let refused =
        "invalid mount config for type \"bind\": bind source path does not exist: /data/coco";
    match random.random_range(0..17) {
        0..3 => exit(Some(1), Cause::CommandFailed, &["RuntimeError: loss is nan at step 1200"]),
        3 => {
            exit(Some(127), Cause::CommandNotFound, &["bash: line 1: torchrun: command not found"])
        }
        4 => exit(Some(126), Cause::CommandNotExecutable, &["bash: ./run.sh: Permission denied"]),
        5 | 6 => exit(Some(137), Cause::OutOfMemory { limit_mb }, &[]),
        7 => exit(
            Some(135),
            Cause::SharedMemory { shm_mb: 64 },
            &["RuntimeError: DataLoader worker (pid 218) is killed by signal: Bus error."],
        ),
        8 | 9 => exit(Some(1), Cause::GpuOutOfMemory, &[gpu_out_of_memory(maker)]),
        10 if is_nvidias(maker) => exit(
            Some(1),
            Cause::CudaVersion,
            &["RuntimeError: The NVIDIA driver on your system is too old (found version 11040)."],
        ),
        11 if is_nvidias(maker) => {
            exit(Some(1), Cause::NcclError, &["NCCL WARN Connect to 10.2.0.7<34412> failed"])
        }
        12 => exit(Some(1), Cause::DiskFull, &["OSError: [Errno 28] No space left on device"]),
        13 => exit(
            Some(1),
            Cause::ModuleMissing,
            &["ModuleNotFoundError: No module named 'transformers'"],
        ),
        14 => exit(
            Some(2),
            Cause::FileMissing,
            &["FileNotFoundError: [Errno 2] No such file or directory: 'data/train.tfrecord'"],
        ),
        10 | 11 | 15 => {
            exit(Some(1), Cause::ProgramError, &["NameError: name 'lr_schedule' is not defined"])
        }
        _ => match random.random_range(0..4) {
            0 => {
                exit(Some(139), Cause::Signal { signal: 11 }, &["Segmentation fault (core dumped)"])
            }
            1 => exit(None, Cause::ContainerRefused { message: refused.to_owned() }, &[]),
            2 => exit(
                None,
                Cause::RegistryDenied { image: "registry.demo/team/private".into() },
                &[],
            ),
            _ => {
                let (image, message) =
                    ("demo/pytorch:2.77".to_owned(), "manifest unknown".to_owned());
                exit(None, Cause::ImageNotFound { image, message }, &[])
            }
        },
    }
}

/// What a program says whose GPU has no memory left.
fn gpu_out_of_memory(maker: GpuRuntime) -> &'static str {
    match maker {
        GpuRuntime::Amd => "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.50 GiB.",
        GpuRuntime::Ascend => "RuntimeError: NPU out of memory. Tried to allocate 2.50 GiB.",
        GpuRuntime::Nvidia | GpuRuntime::Cdi | GpuRuntime::None => {
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB."
        }
    }
}

/// Whether GPUs are NVIDIA's, of which nothing has to be asked for where they are simulated.
fn is_nvidias(maker: GpuRuntime) -> bool {
    match maker {
        GpuRuntime::Nvidia | GpuRuntime::Cdi | GpuRuntime::None => true,
        GpuRuntime::Amd | GpuRuntime::Ascend => false,
    }
}

/// What ends an attempt without being the user's fault; another one follows.
fn misfortune(node: &str, maker: GpuRuntime, random: &mut StdRng) -> Exit {
    let node = cast::node(node);
    match random.random_range(0..8) {
        0..4 => exit(None, Cause::Preempted, &[]),
        4 => exit(None, Cause::NodeLost { node }, &[]),
        5 => exit(Some(137), Cause::EngineRestarted { node }, &[]),
        6 if is_nvidias(maker) => exit(
            Some(1),
            Cause::GpuHardware,
            &["NVRM: Xid (PCI:0000:3b:00): 48, Double Bit ECC Error"],
        ),
        _ => exit(None, Cause::ContainerLost { node }, &[]),
    }
}
