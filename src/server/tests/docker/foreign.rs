//! An image for other processors: its job is told what it is made for and what the node has, in both languages,
//! and that it is nobody's fault but its own.

use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::berth::Berth;
use crate::dockerd::Dockerd;
use crate::image;

const IMAGE: &str = "berth-test:foreign";

/// Processors that this machine does not have: their number in programs, and what engines and Berth call them.
const OTHER: (u16, &str, &str) = match cfg!(target_arch = "aarch64") {
    true => (62, "amd64", "x86_64"),
    false => (183, "arm64", "aarch64"),
};

#[test]
fn a_program_for_other_processors_is_explained() {
    let dockerd = Dockerd::start();
    let folder = tempfile::tempdir().unwrap();
    load(&dockerd, folder.path());
    let (made, has) = (OTHER.2, std::env::consts::ARCH);
    let config = format!(
        "[[nodes]]\nname = \"node-0\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\n\
         cpus = 1\nmemory_mb = 1024\nports = \"34000-34099\"\n",
        dockerd.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    let berth = Berth::start(folder.path());
    let client = berth.client();
    let job = json!({
        "jobName": "foreign", "image": IMAGE, "retryCount": 0,
        "taskRoles": [{ "name": "only", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 200,
            "gpuNumber": 0, "command": "echo never" }],
    });
    client.submit(&job.to_string());
    let status = &client.ended("foreign")["jobStatus"];
    assert_eq!(status["state"], "FAILED", "{status:#}");
    let how = status["appExitDiagnostics"].as_str().unwrap();
    let sentence = format!("The image {IMAGE} is made for {made}, and node-0 has {has}.");
    assert_eq!(how.lines().next(), Some(sentence.as_str()), "{how}");
    assert!(how.contains("Exec format error"), "the log shows it: {how}");
    assert_eq!(status["appExitSpec"]["type"], "USER_FAILURE", "{status:#}");
    let said = client
        .command(&berth, folder.path())
        .args(["job", "foreign", "--language", "zh"])
        .output()
        .unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let chinese = format!("镜像 {IMAGE} 是为 {made} 制作的，而 node-0 为 {has}");
    assert!(said.contains(&chinese), "{said}");
}

/// Puts the image into an engine, as `docker save` writes one.
fn load(dockerd: &Dockerd, folder: &Path) {
    let mut layer = tar::Builder::new(Vec::new());
    image::file(&mut layer, "bin/sh", 0o755, &program());
    let layer = layer.into_inner().unwrap();
    let digest = hex::encode(Sha256::digest(&layer));
    let config = json!({
        "architecture": OTHER.1, "os": "linux", "config": {},
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{digest}")] },
    });
    let manifest =
        json!([{ "Config": "config.json", "RepoTags": [IMAGE], "Layers": ["layer.tar"] }]);
    let path = folder.join("image.tar");
    let mut whole = tar::Builder::new(std::fs::File::create(&path).unwrap());
    image::file(&mut whole, "manifest.json", 0o644, manifest.to_string().as_bytes());
    image::file(&mut whole, "config.json", 0o644, config.to_string().as_bytes());
    image::file(&mut whole, "layer.tar", 0o644, &layer);
    whole.finish().unwrap();
    dockerd.docker(&["load", "--input", path.to_str().unwrap()]);
}

/// The smallest program that a kernel for those processors would start: a head, one segment, and nothing to do.
fn program() -> Vec<u8> {
    const HEAD: u64 = 64;
    const SEGMENT: u64 = 56;
    const BASE: u64 = 0x0040_0000;
    let whole = HEAD + SEGMENT + 4;
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    let mut put = |number: u64, width: usize| bytes.extend(&number.to_le_bytes()[..width]);
    // An executable file, its machine, version, entry, where segments are described, and the sizes of all this.
    for (number, width) in [(2, 2), (u64::from(OTHER.0), 2), (1, 4), (BASE + HEAD + SEGMENT, 8)] {
        put(number, width);
    }
    for (number, width) in [(HEAD, 8), (0, 8), (0, 4), (HEAD, 2), (SEGMENT, 2), (1, 2), (0, 6)] {
        put(number, width);
    }
    // To be loaded, to be read and executed, from where, to where, how much, and how it is aligned.
    for (number, width) in [(1, 4), (5, 4), (0, 8), (BASE, 8), (BASE, 8), (whole, 8), (whole, 8)] {
        put(number, width);
    }
    put(0x1000, 8);
    bytes.resize(whole as usize, 0);
    bytes
}
