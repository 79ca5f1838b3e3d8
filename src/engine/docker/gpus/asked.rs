//! What is asked of which vendor's program, and who reads the answer.

use protocol::cluster::GpuRuntime;
use protocol::gpus::Reading;

use super::{amd, ascend, load, read};
use crate::exporter::GpuSample;

/// What is asked of a vendor's program.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked {
    /// Which GPUs there are.
    Which,
    /// What they do.
    Load,
}

impl Asked {
    /// What asks it where containers get GPUs so. All but NVIDIA's say everything at once.
    pub(super) fn script(self, runtime: GpuRuntime) -> &'static str {
        match (runtime, self) {
            (GpuRuntime::Amd, _) => amd::SCRIPT,
            (GpuRuntime::Ascend, _) => ascend::SCRIPT,
            (GpuRuntime::Nvidia | GpuRuntime::Cdi | GpuRuntime::None, Self::Which) => read::SCRIPT,
            (GpuRuntime::Nvidia | GpuRuntime::Cdi | GpuRuntime::None, Self::Load) => load::SCRIPT,
        }
    }

    /// The answer to which there are; none: the image cannot run the program.
    pub(super) fn reading(runtime: GpuRuntime, words: &str) -> Option<Reading> {
        match runtime {
            GpuRuntime::Amd => amd::read(words),
            GpuRuntime::Ascend => ascend::read(words),
            GpuRuntime::Nvidia | GpuRuntime::Cdi | GpuRuntime::None => read::read(words),
        }
    }

    /// The answer to what they do.
    pub(super) fn samples(runtime: GpuRuntime, words: &str) -> Vec<GpuSample> {
        match runtime {
            GpuRuntime::Amd => amd::samples(words),
            GpuRuntime::Ascend => ascend::samples(words),
            GpuRuntime::Nvidia | GpuRuntime::Cdi | GpuRuntime::None => load::read(words),
        }
    }
}
