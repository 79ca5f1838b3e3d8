//! An engine's own record of which tasks' containers were started, kept by somebody else than the
//! server. Those with which a server tries a node are nobody's task and have no name of ours.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::dockerd::Dockerd;

/// Who writes it down.
pub(crate) struct Starts {
    watcher: Child,
    file: PathBuf,
    _folder: TempDir,
}

impl Starts {
    pub(crate) fn watch(dockerd: &Dockerd) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("started");
        let watcher = Command::new("docker")
            .args(["-H", &dockerd.endpoint(), "events", "--filter", "event=start"])
            .args(["--filter", "label=berth.job", "--format", "{{.Actor.Attributes.name}}"])
            .stdin(Stdio::null())
            .stdout(File::create(&file).unwrap())
            .spawn()
            .unwrap();
        Self { watcher, file, _folder: folder }
    }

    /// How often each container was started until now.
    pub(crate) fn times(mut self) -> BTreeMap<String, u32> {
        self.watcher.kill().unwrap();
        self.watcher.wait().unwrap();
        let mut times = BTreeMap::new();
        for name in std::fs::read_to_string(&self.file).unwrap().lines() {
            *times.entry(name.to_owned()).or_default() += 1;
        }
        times
    }
}
