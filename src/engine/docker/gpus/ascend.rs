//! What Ascend's program says of a machine's NPUs, read. Nothing here talks to an engine.

use bollard::models::{ContainerCreateBody, Mount, MountType};
use protocol::gpus::{GpuFault, GpuProblem, Reading, Told};

use super::helper::asking;
use super::read;
use crate::exporter::GpuSample;

/// Bytes of a MiB.
const MIB: f32 = 1_048_576.0;

/// Ascend's runtime gives no more than what is asked for by number, so it is looked first which there are.
const LOOK: &str = "echo '== npus'; for d in /machine/davinci[0-9]*; do echo ${d##*davinci}; done";

/// What the helper runs, to find NPUs and to measure them. The runtime puts the program and its libraries in.
pub(super) const SCRIPT: &str = "PATH=$PATH:/usr/local/bin:/usr/local/sbin; d=/usr/local/Ascend/driver/lib64; \
export LD_LIBRARY_PATH=$d:$d/common:$d/driver:/usr/local/dcmi:$LD_LIBRARY_PATH; npu-smi info 2>&1";

/// A container that looks which there are.
pub(super) fn look(image: &str) -> ContainerCreateBody {
    let mut body = asking(image, LOOK);
    if let Some(host) = &mut body.host_config {
        host.mounts = Some(vec![Mount {
            typ: Some(MountType::BIND),
            source: Some("/dev".to_owned()),
            target: Some("/machine".to_owned()),
            read_only: Some(true),
            ..Default::default()
        }]);
    }
    body
}

/// Their numbers; none: the image could not look.
pub(super) fn devices(said: &str) -> Option<Vec<u32>> {
    let parts = read::parts(said);
    let mut numbers: Vec<u32> = parts
        .get("npus")
        .into_iter()
        .flatten()
        .filter_map(|line| line.trim().parse().ok())
        .collect();
    numbers.sort_unstable();
    said.contains("== npus").then_some(numbers)
}

/// A container that has these and asks what they are and do.
pub(super) fn helper(image: &str, devices: &[u32]) -> ContainerCreateBody {
    let mut body = asking(image, SCRIPT);
    let devices: Vec<String> = devices.iter().map(ToString::to_string).collect();
    body.env.get_or_insert_default().push(format!("ASCEND_VISIBLE_DEVICES={}", devices.join(",")));
    if let Some(host) = &mut body.host_config {
        host.runtime = Some("ascend".to_owned());
    }
    body
}

/// A chip, which is what containers get.
#[derive(Debug, Clone, PartialEq)]
struct Chip {
    index: u32,
    model: String,
    fault: Option<GpuFault>,
    load: Option<f32>,
    /// MiB.
    memory: Option<f32>,
    all_memory: Option<f32>,
    power: Option<f32>,
    temperature: Option<f32>,
}

/// Which there are; none: the image cannot run the program. They have no UUID: a container gets one by its number.
pub(super) fn read(answer: &str) -> Option<Reading> {
    let told = |chip: Chip| Told {
        index: chip.index,
        uuid: None,
        model: Some(chip.model),
        profile: None,
        part_of: None,
        memory_mb: chip.all_memory.unwrap_or(0.0) as u64,
        fault: chip.fault,
        gpu_type: None,
    };
    let gpus: Vec<Told> = chips(answer).into_iter().map(told).collect();
    if gpus.is_empty() {
        return problem(answer).map(Reading::failed);
    }
    Some(Reading { driver: version(answer), gpus, ..Reading::default() })
}

/// What they do.
pub(super) fn samples(answer: &str) -> Vec<GpuSample> {
    let sample = |chip: Chip| GpuSample {
        index: Some(chip.index),
        load: chip.load,
        memory: chip.memory.map(|mib| mib * MIB),
        all_memory: chip.all_memory.map(|mib| mib * MIB),
        power: chip.power,
        temperature: chip.temperature,
        ..GpuSample::default()
    };
    chips(answer).into_iter().map(sample).collect()
}

/// Why it tells of none.
fn problem(answer: &str) -> Option<GpuProblem> {
    let has = |parts: &[&str]| parts.iter().any(|part| answer.contains(part));
    if answer.trim().is_empty() || has(&["not found", "No such file", "cannot execute"]) {
        None
    } else if has(&["-8020", "-8005"]) {
        Some(GpuProblem::NpusTaken)
    } else {
        Some(GpuProblem::Failed(answer.chars().take(500).collect()))
    }
}

/// `| npu-smi 23.0.rc3                 Version: 23.0.rc3    |`.
fn version(answer: &str) -> Option<String> {
    let (_, version) = answer.split_once("Version:")?;
    version.split_whitespace().next().map(str::to_owned)
}

/// Each has two lines, the first of which is its NPU's:
///
/// ```text
/// | 0     910B3               | OK            | 93.6        40                0    / 0             |
/// | 0                         | 0000:C1:00.0  | 12          0    / 0          3161 / 65536         |
/// ```
fn chips(answer: &str) -> Vec<Chip> {
    let mut chips = Vec::new();
    let mut npu = None;
    for line in answer.lines() {
        let cells = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|'));
        let cells: Vec<&str> = cells.into_iter().flat_map(|line| line.split('|')).collect();
        let [who, health, values] = cells.as_slice() else { continue };
        let who: Vec<&str> = who.split_whitespace().collect();
        let values = numbers(values);
        match npu.take() {
            None => npu = first_line(&who, health, &values),
            Some(npu) => chips.extend(second_line(npu, &who, &values)),
        }
    }
    chips
}

/// Numbers, as far as they are known: `3161 / 65536` are two.
fn numbers(cell: &str) -> Vec<Option<f32>> {
    let words = cell.split(|c: char| c.is_whitespace() || c == '/');
    words.filter(|word| !word.is_empty()).map(|word| word.parse().ok()).collect()
}

/// `0 910B3`, its health, its power and its temperature.
fn first_line(who: &[&str], health: &str, values: &[Option<f32>]) -> Option<Chip> {
    let [number, name] = who else { return None };
    let is_numbered = name.starts_with(|c: char| c.is_ascii_digit());
    Some(Chip {
        index: number.parse().ok()?,
        model: if is_numbered { format!("Ascend{name}") } else { (*name).to_owned() },
        fault: match health.trim().to_ascii_lowercase().as_str() {
            "critical" => Some(GpuFault::Failed),
            "unknown" | "offline" => Some(GpuFault::Silent),
            _well_or_warned => None,
        },
        load: None,
        memory: None,
        all_memory: None,
        power: values.first().copied().flatten(),
        temperature: values.get(1).copied().flatten(),
    })
}

/// Its number on the NPU, and in the machine where an NPU has several; how busy it is, and its memory: that beside
/// it, or that of the machine where there is none.
fn second_line(npu: Chip, who: &[&str], values: &[Option<f32>]) -> Option<Chip> {
    let index = match who {
        [_of_its_npu] => npu.index,
        [_of_its_npu, number] => number.parse().ok()?,
        _ => return None,
    };
    let value = |at: usize| values.get(at).copied().flatten();
    let own = value(4).filter(|mib| *mib > 0.0).map(|all| (value(3), Some(all)));
    let (memory, all_memory) = own.unwrap_or((value(1), value(2)));
    Some(Chip { index, load: value(0), memory, all_memory, ..npu })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAINING: &str = "\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.1                   Version: 24.1.1                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B4               | OK            | 88.2        30                0    / 0             |
| 0                         | 0000:C1:00.0  | 76          0    / 0          26838/ 32768         |
+===========================+===============+====================================================+
| 1     910B4               | Critical      | 87.0        31                0    / 0             |
| 0                         | 0000:C2:00.0  | 0           0    / 0          2935 / 32768         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 1240          | python                   | 23911                   |
+===========================+===============+====================================================+
| No running processes found in NPU 1                                                            |
+===========================+===============+====================================================+
";

    /// Two chips on each NPU, of which the first tells the power of both.
    const PAIRED: &str = "\
| npu-smi 26.0.rc2                            Version: 26.0.rc2                                                    |
| NPU   Name                | Health        | Power(W)             Temp(C)                 Hugepages-Usage(page)   |
| Chip  Phy-ID              | Bus-Id        | AICore(%)            Memory-Usage(MB)        HBM-Usage(MB)           |
| 0     Ascend910           | OK            | 162.6                34                      0    / 0                |
| 0     0                   | 0000:9D:00.0  | 0                    0    / 0                3419 / 65536            |
| 0     Ascend910           | OK            | -                    34                      0    / 0                |
| 1     1                   | 0000:9F:00.0  | 5                    0    / 0                2874 / 65536            |
| 1     Ascend910           | UNKNOWN       | 186.3                36                      0    / 0                |
| 0     2                   | 0000:99:00.0  | NA                   NA   / NA               NA   / NA               |
";

    /// Chips for inference, which have no memory beside them but their own.
    const INFERENCE: &str = "\
| npu-smi 23.0.0                                   Version: 23.0.0                                      |
| NPU     Name              | Health          | Power(W)     Temp(C)           Hugepages-Usage(page)    |
| Chip    Device            | Bus-Id          | AICore(%)    Memory-Usage(MB)                           |
| 2       310P3             | OK              | NA           41                0     / 0                |
| 0       0                 | 0000:01:00.0    | 9            1698  / 21534                              |
";

    fn shown(answer: &str) -> Vec<(u32, String, u64, Option<GpuFault>)> {
        let gpus = read(answer).unwrap().gpus.into_iter();
        gpus.map(|told| (told.index, told.model.unwrap(), told.memory_mb, told.fault)).collect()
    }

    #[test]
    fn npus_are_read_with_what_they_do() {
        let model = || "Ascend910B4".to_owned();
        let failed = Some(GpuFault::Failed);
        assert_eq!(shown(TRAINING), [(0, model(), 32_768, None), (1, model(), 32_768, failed)]);
        assert_eq!(read(TRAINING).unwrap().driver.as_deref(), Some("24.1.1"));
        let told = samples(TRAINING);
        let busy = GpuSample {
            index: Some(0),
            load: Some(76.0),
            memory: Some(26_838.0 * MIB),
            all_memory: Some(32_768.0 * MIB),
            power: Some(88.2),
            temperature: Some(30.0),
            ..GpuSample::default()
        };
        assert_eq!(told[0], busy);
        assert_eq!((told.len(), told[1].load), (2, Some(0.0)), "processes are no chips");
    }

    #[test]
    fn chips_are_counted_through_where_an_npu_has_two() {
        let model = || "Ascend910".to_owned();
        let silent = Some(GpuFault::Silent);
        let expected =
            [(0, model(), 65_536, None), (1, model(), 65_536, None), (2, model(), 0, silent)];
        assert_eq!(shown(PAIRED), expected);
        let powers: Vec<_> = samples(PAIRED).iter().map(|gpu| (gpu.power, gpu.load)).collect();
        assert_eq!(powers, [(Some(162.6), Some(0.0)), (None, Some(5.0)), (Some(186.3), None)]);
        assert_eq!(shown(INFERENCE), [(0, "Ascend310P3".to_owned(), 21_534, None)]);
        assert_eq!(samples(INFERENCE)[0].memory, Some(1_698.0 * MIB));
    }

    #[test]
    fn what_keeps_it_from_telling_is_known_by_its_words() {
        let taken = "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\n\
            dcmi model initialized failed, because the device is used. ret is -8020\n";
        assert_eq!(read(taken), Some(Reading::failed(GpuProblem::NpusTaken)));
        let other = "dcmi module initialize failed. ret is -8001";
        let failed = Reading::failed(GpuProblem::Failed(other.to_owned()));
        assert_eq!(read(other), Some(failed));
        for not_run in ["", "/bin/sh: 1: npu-smi: not found\n"] {
            assert_eq!(read(not_run), None, "{not_run}");
        }
        assert_eq!(samples(taken), []);
    }

    #[test]
    fn the_helper_has_the_chips_that_are_there() {
        assert_eq!(devices("== npus\n10\n2\n0\n"), Some(vec![0, 2, 10]));
        assert_eq!(devices("== npus\n*\n"), Some(Vec::new()), "the shell found none");
        assert_eq!(devices("sh: syntax error"), None);
        let made = serde_json::to_value(helper("i", &[0, 2])).unwrap();
        let host = &made["HostConfig"];
        assert_eq!((&host["Runtime"], &host["NetworkMode"]), (&"ascend".into(), &"none".into()));
        assert!(made["Env"].as_array().unwrap().contains(&"ASCEND_VISIBLE_DEVICES=0,2".into()));
        let looks = serde_json::to_value(look("i")).unwrap();
        let mount = &looks["HostConfig"]["Mounts"][0];
        assert_eq!((&mount["Source"], &mount["ReadOnly"]), (&"/dev".into(), &true.into()));
        assert_eq!(looks["HostConfig"]["Privileged"], serde_json::Value::Null);
    }
}
