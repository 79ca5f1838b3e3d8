//! Images made here, from the machine's static busybox: none can be pulled in a test.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dockerd::Dockerd;

/// An image with `sh` and the usual small programs, without `bash`; it starts in `/start/here`.
pub(crate) const PLAIN: &str = "berth-test:plain";
/// The same with a `bash` that says so.
pub(crate) const WITH_BASH: &str = "berth-test:bash";
/// An image with one file that is not a program.
pub(crate) const EMPTY: &str = "berth-test:empty";

/// Puts the images into an engine. `BERTH_TEST_IMAGE_TAR`, where it is set, is a root file system
/// as a tar and takes the place of busybox.
pub(crate) fn load(dockerd: &Dockerd) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let plain = match std::env::var_os("BERTH_TEST_IMAGE_TAR") {
        Some(tar) => PathBuf::from(tar),
        None => {
            write(&path("plain.tar"), busybox);
            path("plain.tar")
        }
    };
    import(dockerd, &plain, PLAIN);
    write(&path("bash.tar"), |tar| {
        busybox(tar);
        let script = b"#!/bin/sh\necho this is bash\nshift\nexec /bin/sh -c \"$@\"\n";
        file(tar, "bin/bash", 0o755, script);
    });
    import(dockerd, &path("bash.tar"), WITH_BASH);
    write(&path("empty.tar"), |tar| file(tar, "nothing", 0o644, b"no program"));
    import(dockerd, &path("empty.tar"), EMPTY);
}

fn import(dockerd: &Dockerd, tar: &Path, name: &str) {
    let tar = tar.display().to_string();
    dockerd.docker(&["import", "--change", "WORKDIR /start/here", &tar, name]);
}

type Tar = tar::Builder<std::fs::File>;

fn write(path: &Path, fill: impl FnOnce(&mut Tar)) {
    let mut tar = tar::Builder::new(std::fs::File::create(path).unwrap());
    fill(&mut tar);
    tar.finish().unwrap();
}

fn busybox(tar: &mut Tar) {
    let found = ["/bin/busybox", "/usr/bin/busybox"].iter().find(|path| Path::new(path).exists());
    let program = found.expect("no busybox here: apt-get install busybox-static");
    file(tar, "bin/busybox", 0o755, &std::fs::read(program).unwrap());
    let list = Command::new(program).arg("--list").output().unwrap().stdout;
    for applet in String::from_utf8(list).unwrap().lines().filter(|name| *name != "busybox") {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        tar.append_link(&mut header, format!("bin/{applet}"), "busybox").unwrap();
    }
    file(tar, "etc/passwd", 0o644, b"root:x:0:0:root:/root:/bin/sh\n");
}

pub(crate) fn file<W: std::io::Write>(
    tar: &mut tar::Builder<W>,
    path: &str,
    mode: u32,
    content: &[u8],
) {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(mode);
    tar.append_data(&mut header, path, content).unwrap();
}
