//! What AMD's program says of a machine's GPUs, and what their driver's files say (`Documentation/gpu/amdgpu` of
//! Linux), read. Nothing here talks to an engine.

use std::collections::BTreeMap;

use protocol::gpus::{GpuFault, Reading, Told};
use serde_json::{Map, Value};

use super::read::parts;
use crate::exporter::GpuSample;

/// What a container has that asks.
pub(super) const DEVICES: [&str; 2] = ["/dev/kfd", "/dev/dri"];

/// The kernel counts render devices from here.
const RENDER: u32 = 128;

/// What the helper runs, to find GPUs and to measure them: each part of the answer stands under a heading.
/// Few images have the program, and each shows the files.
pub(super) const SCRIPT: &str = "\
echo '== smi'; rocm-smi --showproductname --showmeminfo vram --showuse --showpower --showtemp --showclocks \
--showdriverversion --json 2>/dev/null; \
echo; echo '== driver'; cat /sys/module/amdgpu/version 2>/dev/null; \
echo '== files'; for d in /sys/class/drm/card[0-9]*/device; do \
[ \"$(cat $d/vendor 2>/dev/null)\" = 0x1002 ] || continue; c=${d%/device}; c=${c##*/}; \
for f in $d/drm/renderD* $d/device $d/product_name $d/gpu_busy_percent $d/mem_info_vram_total \
$d/mem_info_vram_used $d/ras/umc_err_count $d/hwmon/hwmon*/power1_average $d/hwmon/hwmon*/power1_input \
$d/hwmon/hwmon*/temp1_input $d/hwmon/hwmon*/temp2_input $d/hwmon/hwmon*/freq1_input; do \
if [ -e $f ]; then echo $c ${f##*/} $(cat $f 2>/dev/null); fi; done; done";

/// Models by the numbers under which PCI knows them: only some cards tell their names.
const MODELS: [(&str, &str); 6] = [
    ("0x738c", "AMD Instinct MI100"),
    ("0x7408", "AMD Instinct MI250X"),
    ("0x740f", "AMD Instinct MI210"),
    ("0x74a0", "AMD Instinct MI300A"),
    ("0x74a1", "AMD Instinct MI300X"),
    ("0x74a5", "AMD Instinct MI325X"),
];

/// A GPU.
#[derive(Debug, Clone, Default, PartialEq)]
struct Card {
    /// That of its render device, by which containers get it.
    index: u32,
    model: Option<String>,
    /// Bytes.
    all_memory: Option<u64>,
    memory: Option<u64>,
    load: Option<f32>,
    power: Option<f32>,
    temperature: Option<f32>,
    clock: Option<f32>,
    /// Errors of its memory that could not be corrected.
    errors: Option<u32>,
}

/// Which GPUs there are; none: neither the program nor the files tell of any. They have no UUID: a container gets
/// one by its place.
pub(super) fn read(answer: &str) -> Option<Reading> {
    let (driver, cards) = cards(answer);
    let told = |card: Card| Told {
        index: card.index,
        uuid: None,
        model: card.model,
        profile: None,
        part_of: None,
        memory_mb: card.all_memory.unwrap_or(0) >> 20,
        fault: card.errors.is_some_and(|errors| errors > 0).then_some(GpuFault::Memory),
        gpu_type: None,
    };
    let gpus: Vec<Told> = cards.into_iter().map(told).collect();
    (!gpus.is_empty()).then(|| Reading { driver, gpus, ..Reading::default() })
}

/// What they do.
pub(super) fn samples(answer: &str) -> Vec<GpuSample> {
    let sample = |card: Card| GpuSample {
        index: Some(card.index),
        load: card.load,
        memory: card.memory.map(|bytes| bytes as f32),
        all_memory: card.all_memory.map(|bytes| bytes as f32),
        power: card.power,
        temperature: card.temperature,
        clock: card.clock,
        ecc_errors: card.errors.map(|errors| errors as f32),
        ..GpuSample::default()
    };
    cards(answer).1.into_iter().map(sample).collect()
}

/// The driver's version, and the GPUs: what the program does not say of one, its files do. Both name them in the
/// order of their places in the machine; where one knows more of them than the other, the files are right.
fn cards(answer: &str) -> (Option<String>, Vec<Card>) {
    let parts = parts(answer);
    let part = |name: &str| parts.get(name).map(Vec::as_slice).unwrap_or_default();
    let (driver, said) = of_program(&part("smi").join("\n"));
    let driver = driver.or_else(|| part("driver").first().map(|version| version.trim().to_owned()));
    let mut cards = of_files(part("files"));
    if cards.is_empty() {
        return (driver, said);
    }
    if cards.len() == said.len() {
        for (card, said) in cards.iter_mut().zip(said) {
            *card = said.and(std::mem::take(card));
        }
    }
    (driver, cards)
}

impl Card {
    /// With what another one says beside it, which knows its place.
    fn and(self, other: Self) -> Self {
        Self {
            index: other.index,
            model: self.model.or(other.model),
            all_memory: self.all_memory.or(other.all_memory),
            memory: self.memory.or(other.memory),
            load: self.load.or(other.load),
            power: self.power.or(other.power),
            temperature: self.temperature.or(other.temperature),
            clock: self.clock.or(other.clock),
            errors: self.errors.or(other.errors),
        }
    }
}

/// `{"card0": {"Card Series": "AMD Instinct MI210", …}, "system": {"Driver version": "6.7.0"}}`, and words before it.
fn of_program(said: &str) -> (Option<String>, Vec<Card>) {
    let json = said.find('{').zip(said.rfind('}')).and_then(|(from, to)| said.get(from..=to));
    let read = json.and_then(|json| serde_json::from_str::<Map<String, Value>>(json).ok());
    let mut driver = None;
    let mut cards = BTreeMap::<u32, Card>::new();
    for (name, values) in read.unwrap_or_default() {
        let Value::Object(values) = values else { continue };
        if let Some(number) = name.strip_prefix("card").and_then(|number| number.parse().ok()) {
            cards.insert(number, said_of(&values));
        } else if name == "system" {
            driver = value(&values, &["driver version"]).map(str::to_owned);
        }
    }
    let cards = cards.into_values().zip(0..).map(|(card, index)| Card { index, ..card });
    (driver, cards.collect())
}

/// Versions of the program write some words otherwise.
fn said_of(values: &Map<String, Value>) -> Card {
    let number = |names: &[&str]| value(values, names).and_then(|text| text.parse::<f32>().ok());
    let bytes = |name: &str| value(values, &[name]).and_then(|text| text.parse::<u64>().ok());
    let model = ["card series", "card model"].iter().filter_map(|name| value(values, &[name]));
    let clock = value(values, &["sclk clock speed:"]);
    let clock = clock.map(|text| text.trim_matches(|c: char| !c.is_ascii_digit()));
    Card {
        index: 0,
        // A number is no name.
        model: model.into_iter().find(|name| !name.starts_with("0x")).map(str::to_owned),
        all_memory: bytes("vram total memory (b)"),
        memory: bytes("vram total used memory (b)"),
        load: number(&["gpu use (%)"]),
        power: number(&[
            "current socket graphics package power (w)",
            "average graphics package power (w)",
        ]),
        temperature: number(&[
            "temperature (sensor junction) (c)",
            "temperature (sensor edge) (c)",
        ]),
        clock: clock.and_then(|text| text.parse().ok()),
        errors: None,
    }
}

/// The first of these that is there, whatever its capital letters.
fn value<'a>(values: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| {
        let found = values.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        found.1.as_str().map(str::trim).filter(|text| !text.is_empty() && *text != "N/A")
    })
}

/// `card1 mem_info_vram_total 68702699520`, and `card1 renderD128`.
fn of_files(lines: &[&str]) -> Vec<Card> {
    let mut files = BTreeMap::<&str, BTreeMap<&str, &str>>::new();
    for line in lines {
        let Some((card, rest)) = line.trim().split_once(' ') else { continue };
        let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
        files.entry(card).or_default().insert(name, text.trim());
    }
    let mut cards: Vec<Card> = files.values().filter_map(written_of).collect();
    cards.sort_by_key(|card| card.index);
    cards
}

/// None: containers cannot have it.
fn written_of(files: &BTreeMap<&str, &str>) -> Option<Card> {
    let render = files.keys().find_map(|name| name.strip_prefix("renderD")?.parse::<u32>().ok())?;
    let number = |names: &[&str]| {
        names.iter().find_map(|name| files.get(name).and_then(|text| text.parse::<f32>().ok()))
    };
    let bytes = |name: &str| files.get(name).and_then(|text| text.parse::<u64>().ok());
    let named = files.get("product_name").filter(|name| !name.is_empty());
    let model = named.map(|name| (*name).to_owned()).or_else(|| {
        let device = files.get("device")?;
        let known = MODELS.iter().find(|(id, _)| id == device);
        Some(known.map_or_else(|| format!("AMD {device}"), |(_, name)| (*name).to_owned()))
    });
    Some(Card {
        index: render.checked_sub(RENDER)?,
        model,
        all_memory: bytes("mem_info_vram_total"),
        memory: bytes("mem_info_vram_used"),
        load: number(&["gpu_busy_percent"]),
        // In microwatts, thousandths of degrees, and Hz.
        power: number(&["power1_average", "power1_input"]).map(|power| power / 1e6),
        temperature: number(&["temp2_input", "temp1_input"]).map(|degrees| degrees / 1e3),
        clock: number(&["freq1_input"]).map(|clock| clock / 1e6),
        errors: files.get("umc_err_count").and_then(|text| uncorrected(text)),
    })
}

/// `ue: 0 ce: 12`.
fn uncorrected(text: &str) -> Option<u32> {
    text.strip_prefix("ue:")?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use protocol::gpus::GpuNames;

    use super::*;

    /// A machine with two MI210, as ROCm 6.1 writes it.
    const SMI: &str = r#"== smi
WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status

{"card0": {"Temperature (Sensor edge) (C)": "43.0", "Temperature (Sensor junction) (C)": "61.0", "Temperature (Sensor memory) (C)": "54.0", "mclk clock speed:": "(1600Mhz)", "mclk clock level:": "3", "sclk clock speed:": "(1700Mhz)", "sclk clock level:": "1", "Average Graphics Package Power (W)": "274.0", "GPU use (%)": "97", "VRAM Total Memory (B)": "68702699520", "VRAM Total Used Memory (B)": "51539607552", "Card Series": "AMD Instinct MI210", "Card Model": "0x740f", "Card Vendor": "Advanced Micro Devices, Inc. [AMD/ATI]", "Card SKU": "D67301", "GFX Version": "gfx90a"}, "card1": {"Temperature (Sensor edge) (C)": "32.0", "Temperature (Sensor junction) (C)": "N/A", "sclk clock speed:": "(800Mhz)", "Average Graphics Package Power (W)": "41.0", "GPU use (%)": "0", "VRAM Total Memory (B)": "68702699520", "VRAM Total Used Memory (B)": "10960896", "Card Series": "AMD Instinct MI210", "Card Model": "0x740f"}, "system": {"Driver version": "6.7.0"}}
"#;

    /// The same machine's files. Its first card is what draws its console.
    const FILES: &str = "\
== driver
6.7.0
== files
card1 renderD128
card1 device 0x740f
card1 gpu_busy_percent 97
card1 mem_info_vram_total 68702699520
card1 mem_info_vram_used 51539607552
card1 umc_err_count ue: 0 ce: 3
card1 power1_average 274000000
card1 temp1_input 43000
card1 temp2_input 61000
card1 freq1_input 1700000000
card2 renderD129
card2 device 0x740f
card2 product_name
card2 gpu_busy_percent 0
card2 mem_info_vram_total 68702699520
card2 mem_info_vram_used 10960896
card2 umc_err_count ue: 2 ce: 0
card2 power1_input 41000000
card2 temp1_input 32000
card2 freq1_input 800000000
";

    fn shown(reading: &Reading) -> Vec<(u32, &str, u64, Option<GpuFault>)> {
        assert!(reading.gpus.iter().all(|told| told.uuid.is_none()));
        let gpus = reading.gpus.iter().map(|told| {
            (told.index, told.model.as_deref().unwrap_or_default(), told.memory_mb, told.fault)
        });
        gpus.collect()
    }

    #[test]
    fn its_program_tells_which_there_are_and_what_they_do() {
        let reading = read(SMI).unwrap();
        let model = "AMD Instinct MI210";
        assert_eq!(shown(&reading), [(0, model, 65_520, None), (1, model, 65_520, None)]);
        assert_eq!(reading.driver.as_deref(), Some("6.7.0"));
        let named = GpuNames::default().name(model, None).unwrap();
        assert_eq!(named.as_str(), "MI210");
        let told = samples(SMI);
        let busy = GpuSample {
            index: Some(0),
            load: Some(97.0),
            memory: Some(51_539_607_552.0),
            all_memory: Some(68_702_699_520.0),
            power: Some(274.0),
            temperature: Some(61.0),
            clock: Some(1_700.0),
            ..GpuSample::default()
        };
        assert_eq!(told[0], busy);
        assert_eq!((told[1].load, told[1].temperature), (Some(0.0), Some(32.0)));
    }

    #[test]
    fn an_image_without_its_program_tells_by_its_drivers_files() {
        let none = format!("== smi\n/bin/sh: rocm-smi: not found\n\n{FILES}");
        let reading = read(&none).unwrap();
        let model = "AMD Instinct MI210";
        let broken = Some(GpuFault::Memory);
        assert_eq!(shown(&reading), [(0, model, 65_520, None), (1, model, 65_520, broken)]);
        assert_eq!(reading.driver.as_deref(), Some("6.7.0"));
        let (by_files, by_program) = (samples(&none), samples(SMI));
        for (files, program) in by_files.iter().zip(by_program) {
            let errors = files.ecc_errors;
            assert!(errors.is_some());
            assert_eq!(*files, GpuSample { ecc_errors: errors, ..program });
        }
    }

    /// What the helper's script writes where the machine's files are these.
    fn run(files: &[(&str, &str)]) -> String {
        let machine = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = machine.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let script = SCRIPT.replace("/sys/", &format!("{}/", machine.path().display()));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn the_script_finds_the_files_of_amds_cards_and_of_no_others() {
        let said = run(&[
            ("module/amdgpu/version", "6.7.0\n"),
            ("class/drm/card0/device/vendor", "0x1a03\n"),
            ("class/drm/card0/device/device", "0x2000\n"),
            ("class/drm/card1/device/vendor", "0x1002\n"),
            ("class/drm/card1/device/device", "0x74a1\n"),
            ("class/drm/card1/device/drm/renderD128/uevent", "\n"),
            ("class/drm/card1/device/gpu_busy_percent", "55\n"),
            ("class/drm/card1/device/mem_info_vram_total", "206141652992\n"),
            ("class/drm/card1/device/ras/umc_err_count", "ue: 1\nce: 4\n"),
            ("class/drm/card1/device/hwmon/hwmon7/temp2_input", "47000\n"),
            ("class/drm/card1-DP-1/status", "disconnected\n"),
        ]);
        let reading = read(&said).unwrap();
        let broken = Some(GpuFault::Memory);
        assert_eq!(shown(&reading), [(0, "AMD Instinct MI300X", 196_592, broken)]);
        assert_eq!(reading.driver.as_deref(), Some("6.7.0"));
        let told = samples(&said);
        assert_eq!((told[0].load, told[0].temperature), (Some(55.0), Some(47.0)));
        assert_eq!(read(&run(&[])), None);
    }

    #[test]
    fn the_files_know_places_and_errors_that_the_program_does_not() {
        let third = FILES.replace("renderD128", "renderD130");
        let together = format!("{SMI}{third}");
        let indices: Vec<_> = samples(&together).iter().map(|gpu| gpu.index).collect();
        assert_eq!(indices, [Some(1), Some(2)]);
        let one: Vec<&str> = FILES.lines().filter(|line| !line.starts_with("card2")).collect();
        let one = format!("{SMI}{}", one.join("\n"));
        assert_eq!(read(&one).unwrap().gpus.len(), 1, "nobody knows which of the two it is");
    }

    #[test]
    fn other_versions_and_cards_are_read() {
        let newer = r#"== smi
{"card0": {"Current Socket Graphics Package Power (W)": "139.0", "GPU use (%)": "12", "VRAM Total Memory (B)": "206141652992", "Card series": "AMD Instinct MI300X", "Temperature (Sensor junction) (C)": "41.0"}}
"#;
        let told = samples(newer);
        assert_eq!((told[0].power, told[0].temperature), (Some(139.0), Some(41.0)));
        assert_eq!(shown(&read(newer).unwrap()), [(0, "AMD Instinct MI300X", 196_592, None)]);
        let unknown = "== files\ncard0 renderD128\ncard0 device 0x9999\n";
        assert_eq!(shown(&read(unknown).unwrap()), [(0, "AMD 0x9999", 0, None)]);
        for nothing in ["", "== smi\n/bin/sh: rocm-smi: not found\n== files\n", "== smi\n{}\n"] {
            assert_eq!(read(nothing), None, "{nothing}");
            assert_eq!(samples(nothing), [], "{nothing}");
        }
    }
}
