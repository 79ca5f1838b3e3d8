//! The GPUs of a node: what a driver says of them, how their types are named, and which of them are
//! which from one look to the next. Jobs hold GPUs by index, so a GPU keeps its index for as long as
//! it is known, however its driver counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::GpuType;
use crate::resources::Gpu;

mod names;
mod weights;

pub use names::GpuNames;
pub use weights::{GpuWeights, NoGpuWeight};

/// What a driver says, as it says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// The driver's version.
    pub driver: Option<String>,
    /// In the driver's order.
    pub gpus: Vec<Told>,
    /// Groups of GPUs that are linked more closely than others, by the driver's indices.
    pub links: Vec<Vec<u32>>,
    /// Why there is no more.
    pub problem: Option<GpuProblem>,
}

impl Reading {
    /// One that says nothing but what is wrong.
    #[must_use]
    pub fn failed(problem: GpuProblem) -> Self {
        Self { problem: Some(problem), ..Self::default() }
    }
}

/// A GPU, or a part of one that stands for itself, as its driver tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// As the driver counts.
    pub index: u32,
    /// By which the driver knows it always.
    pub uuid: Option<String>,
    /// What the driver calls its model; none: it does not say.
    pub model: Option<String>,
    /// Of a MIG instance, its profile, as `1g.10gb`.
    pub profile: Option<String>,
    /// Of a MIG instance, of which GPU it is a part, where that is told.
    pub part_of: Option<PartOf>,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// What is wrong with it.
    pub fault: Option<GpuFault>,
    /// Its type, where nobody need name it: that of a simulated one.
    pub gpu_type: Option<GpuType>,
}

/// The part of a GPU that an instance is, by which whoever measures it tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartOf {
    /// The GPU.
    pub uuid: String,
    /// The number of the instance on it.
    pub instance: u32,
}

/// What is known of a node's GPUs since they were last looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GpuReport {
    /// The driver's version.
    #[serde(default)]
    pub driver: Option<String>,
    /// By index.
    #[serde(default)]
    pub gpus: Vec<FoundGpu>,
    /// Groups of indices that are linked more closely than others; empty: none are.
    #[serde(default)]
    pub links: Vec<Vec<u32>>,
    /// Why there is no more.
    #[serde(default)]
    pub problem: Option<GpuProblem>,
}

/// A GPU that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundGpu {
    /// As all others see it.
    pub gpu: Gpu,
    /// What its driver calls it.
    pub model: String,
    /// Memory in MiB; 0: the driver does not say.
    pub memory_mb: u64,
    /// What is wrong with it.
    #[serde(default)]
    pub fault: Option<GpuFault>,
    /// Of which GPU it is a part, if it is one.
    #[serde(default)]
    pub part_of: Option<PartOf>,
}

/// What is wrong with a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GpuFault {
    /// It was there and is not there any more.
    Gone,
    /// Its driver cannot talk to it.
    Silent,
    /// Its memory has errors that could not be corrected.
    Memory,
    /// Its driver says that it has failed.
    Failed,
}

/// In words.
impl fmt::Display for GpuFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "it is not there any more",
            Self::Silent => "it does not answer its driver any more",
            Self::Memory => "its memory has errors that cannot be corrected",
            Self::Failed => "its driver says that it has failed",
        })
    }
}

/// Why no GPUs were found, or not all that can be known of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", content = "words")]
pub enum GpuProblem {
    /// The engine has no runtime of the vendor: it is not registered, or there is no GPU.
    NoRuntime,
    /// The runtime is registered, and what it runs is not there.
    NoToolkit,
    /// The engine knows no devices of the Container Device Interface, or none of the vendor's.
    NoCdi,
    /// The engine is Podman, of this version, which leaves out without a word what is asked for by name.
    OldPodman(String),
    /// No driver is loaded.
    NoDriver,
    /// The driver that is loaded and its libraries are of different versions.
    Mismatch,
    /// The driver finds no GPU.
    NoDevices,
    /// The machine has no devices of AMD's: its driver is not loaded, or there is no GPU.
    NoAmd,
    /// The engine has no runtime of Ascend's.
    NoAscendRuntime,
    /// The machine has no devices of Ascend's.
    NoNpus,
    /// Ascend's driver tells a container nothing of devices that others have.
    NpusTaken,
    /// No image of the node can run the vendor's program, and this one cannot or could not be had.
    NoImage(String),
    /// This image could not be used, and they were found in one that nobody has named: it may be a user's,
    /// and is not believed about what is known already, nor about how well they are.
    Unproven(String),
    /// Anything else, in the words of whoever said it.
    Failed(String),
}

impl GpuProblem {
    /// Whether it tells nothing of the GPUs: what was known of them still holds.
    #[must_use]
    pub fn is_doubt(&self) -> bool {
        match self {
            Self::NoImage(_) | Self::Unproven(_) | Self::NpusTaken | Self::Failed(_) => true,
            Self::NoRuntime
            | Self::NoToolkit
            | Self::NoCdi
            | Self::OldPodman(_)
            | Self::NoDriver
            | Self::Mismatch
            | Self::NoDevices
            | Self::NoAmd
            | Self::NoAscendRuntime
            | Self::NoNpus => false,
        }
    }
}

/// What is wrong, and what helps.
impl fmt::Display for GpuProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuntime => f.write_str(
                "its engine has no NVIDIA runtime; if it has GPUs, install the NVIDIA Container \
                 Toolkit there, run nvidia-ctk runtime configure --runtime=docker and restart Docker",
            ),
            Self::NoToolkit => f.write_str(
                "its NVIDIA runtime cannot be run: install the NVIDIA Container Toolkit there anew \
                 and restart Docker",
            ),
            Self::NoCdi => f.write_str(
                "its engine knows no GPUs by name: run nvidia-ctk cdi generate \
                 --output=/etc/cdi/nvidia.yaml there, and see that CDI is on in its engine",
            ),
            Self::OldPodman(version) => write!(
                f,
                "Podman {version} leaves out GPUs that are asked for by name: install Podman 5.4 or \
                 later there"
            ),
            Self::NoDriver => f.write_str(
                "no NVIDIA driver is loaded there: install it, or restart the node, until \
                 nvidia-smi works on it",
            ),
            Self::Mismatch => f.write_str(
                "its NVIDIA driver was updated and the old one is still loaded: restart the node",
            ),
            Self::NoDevices => f.write_str(
                "its NVIDIA driver finds no GPU: look for Xid or NVRM in the node's kernel log",
            ),
            Self::NoAmd => f.write_str(
                "there is no /dev/kfd and /dev/dri on it: install AMD's driver (amdgpu), until \
                 rocm-smi works on it",
            ),
            Self::NoAscendRuntime => f.write_str(
                "its engine has no runtime named ascend: install Ascend Docker Runtime there and \
                 restart Docker",
            ),
            Self::NoNpus => f.write_str(
                "there is no /dev/davinci0 on it: install Ascend's driver, until npu-smi info works \
                 on it",
            ),
            Self::NpusTaken => f.write_str(
                "npu-smi tells nothing of NPUs that tasks have: let containers share them \
                 (npu-smi set -t device-share), or name an npu-exporter as the node's metrics",
            ),
            Self::NoImage(image) => write!(
                f,
                "no image there can ask its driver for GPUs and {image} cannot be had or cannot \
                 either: pull an image with glibc and a shell there, or name one as gpu_image"
            ),
            Self::Unproven(image) => write!(
                f,
                "{image} cannot be used there: its GPUs were found in another image, which is not \
                 believed about how well they are and what they do; pull it there, or name one with \
                 glibc and a shell as gpu_image"
            ),
            Self::Failed(words) => write!(f, "its GPUs cannot be asked for: {words}"),
        }
    }
}

impl GpuReport {
    /// The GPUs, as all others see them.
    #[must_use]
    pub fn seen(&self) -> Vec<Gpu> {
        self.gpus.iter().map(|found| found.gpu.clone()).collect()
    }

    /// Without those that are gone.
    #[must_use]
    pub fn without_gone(&self) -> Self {
        let mut there = self.clone();
        there.gpus.retain(|found| found.fault != Some(GpuFault::Gone));
        there
    }

    /// What is known after another look. A GPU that is known keeps its index; one that is not found
    /// any more stays, unhealthy, unless another one has taken its place.
    #[must_use]
    pub fn after(&self, reading: Reading, names: &GpuNames) -> Self {
        let Reading { driver, gpus, links, problem } = reading;
        let is_first = self.gpus.is_empty() && !gpus.is_empty();
        let is_kept = match &problem {
            Some(GpuProblem::Unproven(_)) => !is_first,
            Some(problem) => problem.is_doubt(),
            None => false,
        };
        if is_kept {
            return Self { problem, ..self.clone() };
        }
        let places = self.places(&gpus);
        let mut found: BTreeMap<u32, FoundGpu> = BTreeMap::new();
        for told in gpus {
            let Some(index) = places.get(&told.index).copied() else { continue };
            if let Some(gpu) = self.found(index, told, names) {
                found.insert(index, gpu);
            }
        }
        for known in &self.gpus {
            let gone = || FoundGpu {
                gpu: Gpu { healthy: false, ..known.gpu.clone() },
                fault: Some(GpuFault::Gone),
                ..known.clone()
            };
            found.entry(known.gpu.index).or_insert_with(gone);
        }
        let links = links.iter().map(|group| placed(group, &places));
        let links = links.filter(|group| group.len() > 1).collect();
        let driver = driver.or_else(|| self.driver.clone());
        Self { driver, gpus: found.into_values().collect(), links, problem }
    }

    /// Which index each has, by the driver's.
    fn places(&self, gpus: &[Told]) -> BTreeMap<u32, u32> {
        let mut places = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for told in gpus {
            if let Some(known) = self.known(told, gpus)
                && taken.insert(known.gpu.index)
            {
                places.insert(told.index, known.gpu.index);
            }
        }
        for told in gpus {
            if places.contains_key(&told.index) {
                continue;
            }
            let is_new = |index: &u32| {
                !taken.contains(index) && self.gpus.iter().all(|known| known.gpu.index != *index)
            };
            let own = (!taken.contains(&told.index)).then_some(told.index);
            if let Some(index) = own.or_else(|| (0..).find(is_new)) {
                taken.insert(index);
                places.insert(told.index, index);
            }
        }
        places
    }

    /// The same GPU as it was known. One that does not tell its UUID any more is the one that was at
    /// its place, unless that one is elsewhere.
    fn known(&self, told: &Told, gpus: &[Told]) -> Option<&FoundGpu> {
        let elsewhere = |known: &FoundGpu| {
            known.gpu.uuid.is_some() && gpus.iter().any(|other| other.uuid == known.gpu.uuid)
        };
        self.gpus.iter().find(|known| match &told.uuid {
            Some(uuid) => known.gpu.uuid.as_ref() == Some(uuid),
            None => known.gpu.index == told.index && !elsewhere(known),
        })
    }

    /// A GPU at its index; what it does not say any more is what it said before. None: it never said
    /// what it is.
    fn found(&self, index: u32, told: Told, names: &GpuNames) -> Option<FoundGpu> {
        let same = |known: &&FoundGpu| {
            known.gpu.index == index && (told.uuid.is_none() || known.gpu.uuid == told.uuid)
        };
        let before = self.gpus.iter().find(same);
        let gpu_type = told.gpu_type.clone().or_else(|| {
            told.model.as_ref().and_then(|model| names.name(model, told.profile.as_deref()))
        });
        let gpu_type = gpu_type.or_else(|| before.map(|before| before.gpu.gpu_type.clone()))?;
        let uuid = told.uuid.or_else(|| before.and_then(|before| before.gpu.uuid.clone()));
        let model = told.model.or_else(|| before.map(|before| before.model.clone()));
        let memory_mb = match told.memory_mb {
            0 => before.map_or(0, |before| before.memory_mb),
            told => told,
        };
        let gpu = Gpu { index, gpu_type, uuid, healthy: told.fault.is_none() };
        let (fault, part_of) = (told.fault, told.part_of);
        Some(FoundGpu { gpu, model: model.unwrap_or_default(), memory_mb, fault, part_of })
    }
}

/// A group by the indices that its GPUs have.
fn placed(group: &[u32], places: &BTreeMap<u32, u32>) -> Vec<u32> {
    let mut placed: Vec<u32> = group.iter().filter_map(|gpu| places.get(gpu).copied()).collect();
    placed.sort_unstable();
    placed
}

/// How many of each type there are.
#[must_use]
pub fn counts<'a>(gpus: impl Iterator<Item = &'a Gpu>) -> BTreeMap<GpuType, u64> {
    let mut counts: BTreeMap<GpuType, u64> = BTreeMap::new();
    for gpu in gpus {
        *counts.entry(gpu.gpu_type.clone()).or_default() += 1;
    }
    counts
}

/// The GPUs that were healthy and are not, or not there, any more.
#[must_use]
pub fn broken<'a>(before: &'a [Gpu], after: &[Gpu]) -> Vec<&'a Gpu> {
    let is_well = |gpu: &Gpu| after.iter().any(|now| now.index == gpu.index && now.healthy);
    before.iter().filter(|gpu| gpu.healthy && !is_well(gpu)).collect()
}

#[cfg(test)]
mod tests;
