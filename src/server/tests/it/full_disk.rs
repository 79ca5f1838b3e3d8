//! A disk that is full for a while, under the program itself.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::operate::{Place, Program, agent};

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(120);
/// So many jobs do not find room beside what fills the disk.
const MOST: usize = 400;
/// Set where nothing can be mounted and nobody minds that this is not tried.
const EXCUSE: &str = "BERTH_TEST_NO_MOUNTS";

/// A disk of twelve MiB, in memory.
struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// Makes one at a folder; `None`: that cannot be done here, and somebody has said so.
    fn at(folder: &Path) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=12m,mode=700", "berth-test"]).arg(folder);
        let output = mount.output().unwrap();
        if output.status.success() {
            return Some(Self { folder: folder.to_owned() });
        }
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            std::env::var_os(EXCUSE).is_some(),
            "only who may mount something fills a disk: run this as root, or set {EXCUSE}=1: {said}"
        );
        None
    }

    fn ballast(&self) -> PathBuf {
        self.folder.join("ballast")
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let mut ballast = File::options().create(true).append(true).open(self.ballast()).unwrap();
        while ballast.write_all(&[0; 4_096]).is_ok() {}
    }

    fn free(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // What cannot be unmounted stays; there is nobody to tell.
        let _ = Command::new("umount").arg("-l").arg(&self.folder).output();
    }
}

#[test]
fn nothing_that_was_acknowledged_around_a_full_disk_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(folder.path(), "full");
    let Some(disk) = Disk::at(&place.data()) else { return };
    let (program, agent) = (Program::start(&place), agent());
    let token = program.token();
    let mut acknowledged = Vec::new();
    let mut submit = |program: &Program, name: String| {
        let status = program.submit_one(&agent, &token, &name);
        assert!([202, 503].contains(&status), "{name}: {status}");
        if status == 202 {
            acknowledged.push(name);
        }
        status
    };
    for number in 0..10 {
        assert_eq!(submit(&program, format!("before-{number}")), 202);
    }
    assert_eq!(program.submit_command(&agent, &token, ("runs", "sleep 100000")), 202);
    let until = |program: &Program, state: &str| {
        let begun = Instant::now();
        loop {
            let status = program.job_status(&agent, &token, "runs");
            if status["state"] == state {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "it is to be {state}: {status}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    until(&program, "RUNNING");
    disk.fill();
    let refused = (0..MOST).any(|number| submit(&program, format!("full-{number}")) == 503);
    assert!(refused, "there was room for all");
    let ready = |program: &Program| program.status(&agent, &token, "/readyz");
    let begun = Instant::now();
    // What was left of the room is taken by what is tried meanwhile.
    for number in 0.. {
        if ready(&program) == 503 {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "nobody is told that the disk is full");
        submit(&program, format!("more-{number}"));
    }
    assert_eq!(program.status(&agent, &token, "/healthz"), 200);
    until(&program, "RUNNING");

    disk.free();
    let begun = Instant::now();
    while ready(&program) != 200 {
        assert!(begun.elapsed() < PATIENCE, "it does not go on though there is room");
        std::thread::sleep(Duration::from_millis(50));
    }
    for number in 0..10 {
        assert_eq!(submit(&program, format!("after-{number}")), 202);
    }
    // What runs is none the worse for it, and goes on being looked after.
    let status = until(&program, "RUNNING");
    assert_eq!(status["retries"], 0, "{status}");
    program.stop(&agent, &token, "runs");
    until(&program, "STOPPED");
    // As a machine that loses its power.
    drop(program);
    let program = Program::start(&place);
    for name in &acknowledged {
        let status = program.status(&agent, &token, &format!("/api/v2/jobs/admin~{name}"));
        assert_eq!(status, 200, "{name} was acknowledged");
    }
}
