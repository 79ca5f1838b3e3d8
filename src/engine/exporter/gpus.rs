//! Which of an exporter's values say what of a GPU.

use super::GpuSample;
use super::text::{Line, lines};

/// Bytes of a MiB.
const MIB: f32 = 1_048_576.0;

/// Watts of a whole GPU.
const POWER: &str = "DCGM_FI_DEV_POWER_USAGE";

/// Where a value belongs.
type Place = fn(&mut GpuSample) -> &mut Option<f32>;

/// The GPUs of an exporter, in the order in which it names them.
pub(super) fn read(text: &str) -> Vec<GpuSample> {
    let mut gpus: Vec<GpuSample> = Vec::new();
    for line in lines(text) {
        let Some((place, factor, instead)) = meaning(&line) else { continue };
        let Some(named) = named(&line) else { continue };
        let same = |gpu: &GpuSample| {
            gpu.instance == named.instance
                && match (gpu.index, named.index) {
                    (Some(one), Some(other)) => one == other,
                    (_, _) => gpu.uuid == named.uuid,
                }
        };
        let at = gpus.iter().position(same).unwrap_or_else(|| {
            gpus.push(named);
            gpus.len() - 1
        });
        let value = place(&mut gpus[at]);
        if value.is_none() || !instead {
            *value = Some(line.value * factor);
        }
    }
    gpus
}

/// The GPU that a line is of, or the instance of MIG; none: it is of something else. What is told of an instance and is
/// that of its whole GPU is left out: it would be counted as often as there are instances.
fn named(line: &Line<'_>) -> Option<GpuSample> {
    let instance = match line.label("GPU_I_ID").filter(|number| !number.is_empty()) {
        Some(_) if line.name == POWER => return None,
        Some(number) => Some(number.parse().ok()?),
        None => None,
    };
    let index = ["gpu", "gpu_id", "id", "npuID"].iter().find_map(|label| line.label(label));
    // That of an instance is its GPU's, and says nothing of which one it is.
    let index = index.filter(|_| instance.is_none()).and_then(|index| index.parse().ok());
    let uuid = ["UUID", "gpu_uuid", "uuid", "vdie_id"].iter().find_map(|label| line.label(label));
    let uuid = uuid.map(str::to_owned);
    let is_named = index.is_some() || uuid.is_some();
    is_named.then(|| GpuSample { index, uuid, instance, ..GpuSample::default() })
}

/// Where a value belongs, by what it is multiplied for our unit, and whether it is only used where there is
/// no better one.
type Meaning = (Place, f32, bool);

fn meaning(line: &Line<'_>) -> Option<Meaning> {
    let name = line.name;
    if name.starts_with("DCGM_") {
        nvidia(name)
    } else if name.starts_with("npu_") {
        ascend(name)
    } else {
        amd(name.strip_prefix("amd_").unwrap_or(name), line)
    }
}

fn nvidia(name: &str) -> Option<Meaning> {
    let meaning: Meaning = match name {
        "DCGM_FI_DEV_GPU_UTIL" => (|gpu| &mut gpu.load, 1.0, false),
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE" => (|gpu| &mut gpu.load, 100.0, true),
        "DCGM_FI_DEV_FB_USED" => (|gpu| &mut gpu.memory, MIB, false),
        "DCGM_FI_DEV_FB_TOTAL" => (|gpu| &mut gpu.all_memory, MIB, false),
        POWER => (|gpu| &mut gpu.power, 1.0, false),
        "DCGM_FI_DEV_GPU_TEMP" => (|gpu| &mut gpu.temperature, 1.0, false),
        "DCGM_FI_DEV_SM_CLOCK" => (|gpu| &mut gpu.clock, 1.0, false),
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL" => (|gpu| &mut gpu.ecc_errors, 1.0, false),
        "DCGM_FI_DEV_XID_ERRORS" => (|gpu| &mut gpu.xid, 1.0, false),
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS" | "DCGM_FI_DEV_CLOCKS_EVENT_REASONS" => {
            (|gpu| &mut gpu.throttle, 1.0, false)
        }
        _ => return None,
    };
    Some(meaning)
}

fn amd(name: &str, line: &Line<'_>) -> Option<Meaning> {
    let meaning: Meaning = match name {
        "gpu_gfx_activity" => (|gpu| &mut gpu.load, 1.0, false),
        "gpu_used_vram" => (|gpu| &mut gpu.memory, MIB, false),
        "gpu_total_vram" => (|gpu| &mut gpu.all_memory, MIB, false),
        "gpu_package_power" => (|gpu| &mut gpu.power, 1.0, false),
        "gpu_average_package_power" | "gpu_power_usage" => (|gpu| &mut gpu.power, 1.0, true),
        "gpu_junction_temperature" => (|gpu| &mut gpu.temperature, 1.0, false),
        "gpu_edge_temperature" => (|gpu| &mut gpu.temperature, 1.0, true),
        "gpu_ecc_uncorrect_total" => (|gpu| &mut gpu.ecc_errors, 1.0, false),
        "gpu_clock" if line.label("clock_type") == Some("GPU_CLOCK_TYPE_SYSTEM") => {
            (|gpu| &mut gpu.clock, 1.0, true)
        }
        _ => return None,
    };
    Some(meaning)
}

fn ascend(name: &str) -> Option<Meaning> {
    let meaning: Meaning = match name {
        "npu_chip_info_utilization" => (|gpu| &mut gpu.load, 1.0, false),
        "npu_chip_info_overall_utilization" => (|gpu| &mut gpu.load, 1.0, true),
        "npu_chip_info_hbm_used_memory" => (|gpu| &mut gpu.memory, MIB, false),
        "npu_chip_info_used_memory" => (|gpu| &mut gpu.memory, MIB, true),
        "npu_chip_info_hbm_total_memory" => (|gpu| &mut gpu.all_memory, MIB, false),
        "npu_chip_info_total_memory" => (|gpu| &mut gpu.all_memory, MIB, true),
        "npu_chip_info_power" => (|gpu| &mut gpu.power, 1.0, false),
        "npu_chip_info_temperature" => (|gpu| &mut gpu.temperature, 1.0, false),
        "npu_chip_info_aicore_current_freq" => (|gpu| &mut gpu.clock, 1.0, false),
        "npu_chip_info_error_code" => (|gpu| &mut gpu.xid, 1.0, false),
        _ => return None,
    };
    Some(meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NVIDIA: &str = r#"
# HELP DCGM_FI_DEV_SM_CLOCK SM clock frequency (in MHz).
# TYPE DCGM_FI_DEV_SM_CLOCK gauge
DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52",pci_bus_id="00000000:07:00.0",device="nvidia0",modelName="NVIDIA A100-SXM4-80GB",Hostname="gpu-1"} 1410
DCGM_FI_DEV_SM_CLOCK{gpu="1",UUID="GPU-9c5b7f2e-1111-2222-3333-444455556666",pci_bus_id="00000000:0F:00.0",device="nvidia1",modelName="NVIDIA A100-SXM4-80GB",Hostname="gpu-1"} 210
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52",device="nvidia0"} 61
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52",device="nvidia0"} 388.25
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52",device="nvidia0"} 0.5
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",UUID="GPU-9c5b7f2e-1111-2222-3333-444455556666",device="nvidia1"} 0.25
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52",device="nvidia0"} 97
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52",device="nvidia0"} 40960
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-9c5b7f2e-1111-2222-3333-444455556666",device="nvidia1",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"} 512
DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-9c5b7f2e-1111-2222-3333-444455556666",device="nvidia1",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"} 251.5
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",UUID="GPU-9c5b7f2e-1111-2222-3333-444455556666",device="nvidia1",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"} 0.875
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",UUID="GPU-9c5b7f2e-1111-2222-3333-444455556666",device="nvidia1",GPU_I_PROFILE="1g.10gb",GPU_I_ID="8"} 0
DCGM_FI_DEV_FB_TOTAL{gpu="0",UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52",device="nvidia0"} 81920
DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{gpu="0",UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52",device="nvidia0"} 2
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52",device="nvidia0",err_code="79"} 79
DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu="0",UUID="GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52",device="nvidia0"} 64
"#;

    const AMD: &str = r#"
# TYPE gpu_gfx_activity gauge
gpu_nodes_total 1
gpu_gfx_activity{card_model="102-G30211-0C",gpu_id="0",hostname="mi-1",serial_number="692251001124"} 88
gpu_used_vram{gpu_id="0",hostname="mi-1",serial_number="692251001124"} 2048
gpu_edge_temperature{gpu_id="0",hostname="mi-1"} 40
gpu_junction_temperature{gpu_id="0",hostname="mi-1"} 55
gpu_package_power{gpu_id="0",hostname="mi-1"} 512
gpu_average_package_power{gpu_id="0",hostname="mi-1"} 500
gpu_clock{clock_index="0",clock_type="GPU_CLOCK_TYPE_SYSTEM",gpu_id="0",hostname="mi-1"} 2100
gpu_clock{clock_index="1",clock_type="GPU_CLOCK_TYPE_SYSTEM",gpu_id="0",hostname="mi-1"} 132
gpu_clock{clock_index="8",clock_type="GPU_CLOCK_TYPE_MEMORY",gpu_id="0",hostname="mi-1"} 900
gpu_ecc_uncorrect_total{gpu_id="0",hostname="mi-1"} 0
amd_gpu_gfx_activity{gpu_id="1",hostname="mi-1"} 3
"#;

    const ASCEND: &str = r#"
machine_npu_nums 1
npu_chip_info_utilization{id="3",model_name="Ascend910B3",vdie_id="18D3"} 76 1767225600000
npu_chip_info_hbm_used_memory{id="3",model_name="Ascend910B3",vdie_id="18D3"} 8192 1767225600000
npu_chip_info_power{id="3",model_name="Ascend910B3",vdie_id="18D3"} 188.5 1767225600000
npu_chip_info_temperature{id="3",model_name="Ascend910B3",vdie_id="18D3"} 47 1767225600000
npu_chip_info_aicore_current_freq{id="3",model_name="Ascend910B3",vdie_id="18D3"} 1800 1767225600000
npu_chip_info_error_code{id="3",model_name="Ascend910B3",vdie_id="18D3"} 0 1767225600000
"#;

    #[test]
    fn dcgm_exporter_is_understood() {
        let busy = GpuSample {
            index: Some(0),
            uuid: Some("GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52".into()),
            instance: None,
            load: Some(97.0),
            memory: Some(40_960.0 * MIB),
            all_memory: Some(81_920.0 * MIB),
            power: Some(388.25),
            temperature: Some(61.0),
            clock: Some(1_410.0),
            ecc_errors: Some(2.0),
            xid: Some(79.0),
            throttle: Some(64.0),
        };
        let idle = GpuSample {
            index: Some(1),
            uuid: Some("GPU-9c5b7f2e-1111-2222-3333-444455556666".into()),
            load: Some(25.0),
            clock: Some(210.0),
            ..GpuSample::default()
        };
        let seventh = GpuSample {
            uuid: idle.uuid.clone(),
            instance: Some(7),
            load: Some(87.5),
            memory: Some(512.0 * MIB),
            ..GpuSample::default()
        };
        let eighth =
            GpuSample { instance: Some(8), load: Some(0.0), memory: None, ..seventh.clone() };
        let expected = [busy, idle, seventh, eighth];
        assert_eq!(read(NVIDIA), expected, "what a part of a GPU uses is not all of it");
    }

    #[test]
    fn the_exporter_of_amd_is_understood() {
        let busy = GpuSample {
            index: Some(0),
            load: Some(88.0),
            memory: Some(2_048.0 * MIB),
            power: Some(512.0),
            temperature: Some(55.0),
            clock: Some(2_100.0),
            ecc_errors: Some(0.0),
            ..GpuSample::default()
        };
        let idle = GpuSample { index: Some(1), load: Some(3.0), ..GpuSample::default() };
        assert_eq!(read(AMD), [busy, idle]);
    }

    #[test]
    fn npu_exporter_is_understood() {
        let busy = GpuSample {
            index: Some(3),
            uuid: Some("18D3".into()),
            load: Some(76.0),
            memory: Some(8_192.0 * MIB),
            power: Some(188.5),
            temperature: Some(47.0),
            clock: Some(1_800.0),
            xid: Some(0.0),
            ..GpuSample::default()
        };
        assert_eq!(read(ASCEND), [busy]);
    }
}
