//! A machine with GPUs of NVIDIA's, as far as its engine can tell: the hook that puts the vendor's program into
//! containers is one of ours, and puts a recorded one into them. Other test suites include this file by its path.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What the engine runs before a container with GPUs begins: it is told on its standard input where the
/// container's description lies, and in that are its files and the GPUs that it is to see.
const HOOK: &str = r#"#!/bin/sh
here=$(dirname "$0")
config=$(sed -n 's/.*"bundle":"\([^"]*\)".*/\1/p')/config.json
root=$(sed -n 's/.*"root":{"path":"\([^"]*\)".*/\1/p' "$config")
seen=$(sed -n 's/.*"NVIDIA_VISIBLE_DEVICES=\([^"]*\)".*/\1/p' "$config")
while read -r index parent uuid rest; do
  case ",$seen," in
  ,all, | *",$uuid,"*) echo "$index $parent $uuid $rest" ;;
  esac
done <"$here/gpus" >"$root/gpus"
cp -p "$here/recorded" "$root/bin/nvidia-smi"
"#;

/// What a container has as `nvidia-smi`: it answers for the GPUs that the container sees, and for their instances.
const RECORDED: &str = r#"#!/bin/sh
last=
while read -r index parent uuid profile instance device load errors; do
  mig=Enabled
  if [ "$profile" = - ]; then mig=Disabled; fi
  lost=$parent
  if [ "$errors" = lost ]; then lost='[GPU is lost]'; fi
  case "$*,$mig" in
  ,Enabled)
    echo "|  $index    $instance   0   $device  |     12MiB /  9728MiB | 14      0 |  1   0    0    0    0 |"
    ;;
  esac
  if [ "$index" != "$last" ]; then
    case "$*" in
    -L) if [ "$errors" != lost ]; then echo "GPU $index: NVIDIA A100-SXM4-80GB (UUID: $parent)"; fi ;;
    *driver_version*) echo "$index, $lost, 81920, 535.104.05, NVIDIA A100-SXM4-80GB" ;;
    *utilization*) echo "$index, $lost, $load, 1024, 81920, 100.00, 40, 1410" ;;
    *ecc.errors*) echo "$index, $errors" ;;
    *throttle*) echo "$index, 0x0000000000000000" ;;
    *mig.mode*) echo "$index, $mig" ;;
    esac
  fi
  case "$*,$mig" in
  -L,Enabled) echo "  MIG $profile     Device  $device: (UUID: $uuid)" ;;
  esac
  last=$index
done </gpus
"#;

/// A folder with the hook and what it puts into containers.
#[derive(Debug)]
pub(crate) struct Machine(tempfile::TempDir);

impl Machine {
    pub(crate) fn new(gpus: &[(&str, u32)]) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        program(&machine.path().join("nvidia-container-runtime-hook"), HOOK);
        program(&machine.path().join("recorded"), RECORDED);
        machine.set(gpus);
        machine
    }

    /// Where its engine finds programs before all other places, started with `--add-runtime nvidia=runc`.
    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// UUIDs, and how busy each is.
    pub(crate) fn set(&self, gpus: &[(&str, u32)]) {
        let lines = gpus.iter().enumerate();
        let lines =
            lines.map(|(index, (uuid, load))| format!("{index} {uuid} {uuid} - 0 0 {load} 0"));
        self.record(&lines.collect::<Vec<_>>());
    }

    /// Each GPU or instance of one: index and UUID of the GPU, its own UUID, its profile or `-`, its numbers as instance
    /// and as device, how busy it is, and how many errors its memory has, or `lost`.
    pub(crate) fn record<L: AsRef<str>>(&self, lines: &[L]) {
        let lines = lines.iter().map(|line| format!("{}\n", line.as_ref()));
        fs::write(self.path().join("gpus"), lines.collect::<String>()).unwrap();
    }
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
