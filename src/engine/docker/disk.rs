//! How much room there is beneath an engine's containers. Engines do not tell, and their machine's files are
//! not ours to look at; but a container of theirs sees the same file system.

use std::time::Duration;

use super::DockerEngine;
use super::gpus::{Answer, asking};
use crate::model::{DiskRoom, Result};

/// In words that every small system knows (POSIX): in KiB, a line for each file system.
const SCRIPT: &str = "df -Pk / 2>&1";

/// It takes no time where disks are well; a program of an image's may take all there is.
const PATIENCE: Duration = Duration::from_secs(20);
/// What the kernel says where there is no room.
const FULL: &str = "no space left on device";

impl DockerEngine {
    /// Asks in the first image that can. That there is little is believed only if it is said in all of them:
    /// images are users', and a program of theirs would else close a node to everybody.
    pub(super) async fn ask_for_room(&self) -> Result<Option<DiskRoom>> {
        self.tidy_helpers().await;
        let (mut most, mut failed) = (None, None);
        let known = self.cache.gpu_image();
        for image in known.into_iter().chain(self.largest_images().await?) {
            match self.answer_of(&image, asking(&image, SCRIPT), PATIENCE).await {
                Ok(Answer::Said(words)) => most = larger(most, read(&words)),
                Ok(Answer::Refused(_)) => {}
                // There is no room even for the container that asks.
                Err(error) if error.to_string().to_lowercase().contains(FULL) => {
                    most = larger(most, Some(DiskRoom { free: 0, all: u64::MAX }));
                }
                Err(error) => failed = Some(error),
            }
            if most.as_ref().is_some_and(is_enough) {
                break;
            }
        }
        match (most, failed) {
            (None, Some(error)) => Err(error),
            (most, _) => Ok(most),
        }
    }
}

/// What is believed after another one has answered.
fn larger(known: Option<DiskRoom>, told: Option<DiskRoom>) -> Option<DiskRoom> {
    known.into_iter().chain(told).max_by_key(|room| room.free)
}

/// More than a tenth is nothing to ask others about.
fn is_enough(room: &DiskRoom) -> bool {
    room.free > room.all / 10
}

/// `overlay 102400000 81920000 20480000 80% /`; the name may have spaces.
fn read(answer: &str) -> Option<DiskRoom> {
    let line = answer.lines().rfind(|line| line.trim_end().ends_with(" /"))?;
    let mut fields = line.split_whitespace().rev().skip(2);
    let free: u64 = fields.next()?.parse().ok()?;
    let all: u64 = fields.nth(1)?.parse().ok()?;
    let bytes = |kib: u64| kib.saturating_mul(1_024);
    (all > 0).then(|| DiskRoom { free: bytes(free), all: bytes(all) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_read_from_the_last_line() {
        let head = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n";
        let room = Some(DiskRoom { free: 20_480 << 10, all: 102_400 << 10 });
        assert_eq!(read(&format!("{head}overlay 102400 81920 20480 80% /\n")), room);
        assert_eq!(read(&format!("{head}a disk 102400 81920 20480 80% /\n")), room);
    }

    #[test]
    fn no_image_alone_says_that_a_disk_is_full() {
        let room = |free, all| Some(DiskRoom { free, all });
        let full = larger(None, room(0, 1_000));
        assert!(!is_enough(&full.unwrap()), "others are asked");
        let both = larger(full, room(500, 1_000));
        assert_eq!(both, room(500, 1_000));
        assert!(is_enough(&both.unwrap()));
        assert_eq!(larger(both, None), both, "one that cannot tell changes nothing");
        assert_eq!(larger(full, room(0, u64::MAX)).map(|room| room.free), Some(0), "all say so");
    }

    #[test]
    fn what_is_no_answer_tells_nothing() {
        for said in ["", "/bin/sh: df: not found", "overlay - - - - /", "none 0 0 0 - /"] {
            assert_eq!(read(said), None, "{said}");
        }
    }
}
