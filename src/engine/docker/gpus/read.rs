//! What NVIDIA's program says of a machine's GPUs, read. Nothing here talks to an engine.

use std::collections::BTreeMap;

use protocol::gpus::{GpuFault, GpuProblem, PartOf, Reading, Told};

mod links;

/// What the helper runs: each part of the answer stands under a heading.
pub(super) const SCRIPT: &str = "\
echo '== gpus'; nvidia-smi --query-gpu=index,uuid,memory.total,driver_version,name \
--format=csv,noheader,nounits 2>&1; \
echo '== errors'; nvidia-smi --query-gpu=index,ecc.errors.uncorrected.volatile.total \
--format=csv,noheader,nounits 2>&1; \
echo '== list'; nvidia-smi -L 2>&1; \
echo '== devices'; nvidia-smi 2>&1; \
echo '== links'; nvidia-smi topo -m 2>&1";

/// The answer of the helper; none: the image cannot run the program.
pub(super) fn read(answer: &str) -> Option<Reading> {
    let parts = parts(answer);
    let part = |name: &str| parts.get(name).map(Vec::as_slice).unwrap_or_default();
    let (listed, queried) = (listed(part("list")), part("gpus"));
    let mut driver = None;
    let mut gpus = Vec::new();
    for line in queried {
        if let Some((gpu, version)) = queried_gpu(line) {
            driver = driver.or(version);
            gpus.push(gpu);
        }
    }
    // Where one that is broken ends the one answer, the other goes further.
    if gpus.is_empty() {
        gpus.extend(listed.iter().map(|listed| listed.gpu.clone()));
    }
    if gpus.is_empty() {
        let said: Vec<&str> = queried.iter().chain(part("list")).copied().collect();
        return is_run(&said).then(|| Reading::failed(problem(&said.join("\n"))));
    }
    mark_errors(&mut gpus, part("errors"));
    let is_parted = listed.iter().any(|listed| !listed.instances.is_empty());
    let links = if is_parted { Vec::new() } else { links::groups(part("links")) };
    let gpus = if is_parted { parted(gpus, &listed, &numbers(part("devices"))) } else { gpus };
    Some(Reading { driver, gpus, links, problem: None })
}

/// The lines under each heading.
pub(super) fn parts(answer: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut parts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut heading = "";
    for line in answer.lines() {
        match line.strip_prefix("== ") {
            Some(name) => heading = name.trim(),
            None if line.trim().is_empty() => {}
            None => parts.entry(heading).or_default().push(line),
        }
    }
    parts
}

/// `0, GPU-5ae7…, 81920, 535.104.05, NVIDIA A100-SXM4-80GB`, and the driver's version in it. What the
/// driver cannot tell stands in brackets.
fn queried_gpu(line: &str) -> Option<(Told, Option<String>)> {
    let mut fields = line.splitn(5, ',').map(str::trim);
    let index = fields.next()?.parse().ok()?;
    let mut field = || fields.next().map(known);
    let (uuid, memory, driver, model) = (field()?, field()?, field()?, field()?);
    let memory_mb = memory.and_then(|memory| memory.parse().ok()).unwrap_or(0);
    let fault = uuid.is_none().then_some(GpuFault::Silent);
    let (uuid, model) = (uuid.map(str::to_owned), model.map(str::to_owned));
    let gpu =
        Told { index, uuid, model, profile: None, part_of: None, memory_mb, fault, gpu_type: None };
    Some((gpu, driver.map(str::to_owned)))
}

/// A field, unless it says why there is nothing in it.
pub(super) fn known(field: &str) -> Option<&str> {
    (!field.is_empty() && !field.starts_with('[')).then_some(field)
}

/// `0, 0` for each GPU, where its memory counts errors.
fn mark_errors(gpus: &mut [Told], lines: &[&str]) {
    for line in lines {
        let Some((index, errors)) = line.split_once(',') else { continue };
        let (index, errors) = (index.trim().parse::<u32>(), errors.trim().parse::<u64>());
        let (Ok(index), Ok(1..)) = (index, errors) else { continue };
        for gpu in gpus.iter_mut().filter(|gpu| gpu.index == index) {
            gpu.fault = gpu.fault.or(Some(GpuFault::Memory));
        }
    }
}

/// A GPU of the list, with its MIG instances.
#[derive(Debug)]
struct Listed {
    gpu: Told,
    instances: Vec<Instance>,
}

/// A MIG instance of the list.
#[derive(Debug)]
struct Instance {
    profile: String,
    /// As the driver counts those of a GPU.
    device: u32,
    uuid: String,
}

/// `GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89…)`, and beneath it
/// `  MIG 1g.5gb      Device  0: (UUID: MIG-…)`.
fn listed(lines: &[&str]) -> Vec<Listed> {
    let mut listed: Vec<Listed> = Vec::new();
    for line in lines {
        if let Some(gpu) = listed_gpu(line) {
            listed.push(Listed { gpu, instances: Vec::new() });
        } else if let (Some(instance), Some(last)) = (instance(line), listed.last_mut()) {
            last.instances.push(instance);
        }
    }
    listed
}

fn listed_gpu(line: &str) -> Option<Told> {
    let (index, rest) = line.strip_prefix("GPU ")?.split_once(':')?;
    let (model, uuid) = rest.split_once("(UUID:")?;
    Some(Told {
        index: index.trim().parse().ok()?,
        uuid: Some(uuid.trim_end().trim_end_matches(')').trim().to_owned()),
        model: Some(model.trim().to_owned()),
        profile: None,
        part_of: None,
        memory_mb: 0,
        fault: None,
        gpu_type: None,
    })
}

fn instance(line: &str) -> Option<Instance> {
    let (profile, rest) = line.trim_start().strip_prefix("MIG ")?.trim_start().split_once(' ')?;
    let (device, uuid) = rest.split_once("(UUID:")?;
    let device = device.trim().strip_prefix("Device")?.trim().trim_end_matches(':');
    let uuid = uuid.trim_end().trim_end_matches(')').trim();
    let (profile, uuid) = (profile.to_owned(), uuid.to_owned());
    Some(Instance { profile, device: device.parse().ok()?, uuid })
}

/// The numbers by which instances are told of, by GPU and device, of a table whose lines begin so:
/// `|  0    7   0   1  |     12MiB /  9728MiB  |`, GPU, instance, compute instance, device.
fn numbers(lines: &[&str]) -> BTreeMap<(u32, u32), u32> {
    let numbers = lines.iter().filter_map(|line| {
        let cell = line.trim_start().strip_prefix('|')?.split('|').next()?;
        let numbers: Option<Vec<u32>> =
            cell.split_whitespace().map(|number| number.parse().ok()).collect();
        match numbers?.as_slice() {
            [gpu, instance, _, device] => Some(((*gpu, *device), *instance)),
            _ => None,
        }
    });
    numbers.collect()
}

/// The instances in place of the GPUs that are parted: nobody can use such a one whole.
fn parted(gpus: Vec<Told>, listed: &[Listed], numbers: &BTreeMap<(u32, u32), u32>) -> Vec<Told> {
    let mut all = Vec::new();
    for gpu in gpus {
        let instances = listed.iter().find(|listed| listed.gpu.index == gpu.index);
        match instances.map(|listed| listed.instances.as_slice()) {
            None | Some([]) => all.push(gpu),
            Some(instances) => all.extend(instances.iter().map(|one| {
                let number = numbers.get(&(gpu.index, one.device)).copied();
                let of = |instance| Some(PartOf { uuid: gpu.uuid.clone()?, instance });
                Told {
                    uuid: Some(one.uuid.clone()),
                    profile: Some(one.profile.clone()),
                    part_of: number.and_then(of),
                    memory_mb: memory_of(&one.profile),
                    ..gpu.clone()
                }
            })),
        }
    }
    for (gpu, index) in all.iter_mut().zip(0..) {
        gpu.index = index;
    }
    all
}

/// The memory of a profile in MiB: `1g.10gb` has 10 GiB.
fn memory_of(profile: &str) -> u64 {
    let size = profile.rsplit('.').next().unwrap_or_default();
    let digits: String = size.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u64>().map_or(0, |size| size * 1024)
}

/// Whether the program was run at all: a shell that does not find it, or cannot load it, says so.
fn is_run(said: &[&str]) -> bool {
    let not_run = |line: &&str| {
        line.contains("nvidia-smi")
            && ["not found", "No such file", "cannot execute", "Permission denied"]
                .iter()
                .any(|words| line.contains(words))
    };
    !said.is_empty() && !said.iter().any(not_run)
}

/// What is wrong, by the words of the program, of the runtime, or of the engine.
pub(super) fn problem(said: &str) -> GpuProblem {
    let has = |parts: &[&str]| parts.iter().any(|part| said.contains(part));
    if has(&["\"/dev/kfd\"", "\"/dev/dri\"", "stat /dev/kfd", "stat /dev/dri"]) {
        GpuProblem::NoAmd
    } else if has(&["runtime name: ascend"]) {
        GpuProblem::NoAscendRuntime
    } else if has(&["version mismatch"]) {
        GpuProblem::Mismatch
    } else if has(&[
        "couldn't communicate with the NVIDIA driver",
        "driver not loaded",
        "Driver Not Loaded",
        "libnvidia-ml.so",
        "load library failed",
    ]) {
        GpuProblem::NoDriver
    } else if has(&["No devices were found", "no devices found"]) {
        GpuProblem::NoDevices
    } else if has(&["unresolvable CDI devices", "device driver \"cdi\""]) {
        GpuProblem::NoCdi
    } else if has(&[
        "could not select device driver",
        "unknown or invalid runtime name",
        "nvidia-container-runtime",
        "nvidia-container-cli: executable file not found",
    ]) {
        GpuProblem::NoToolkit
    } else {
        GpuProblem::Failed(said.chars().take(500).collect())
    }
}

#[cfg(test)]
mod tests;
