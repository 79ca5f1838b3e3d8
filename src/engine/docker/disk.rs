//! How much room there is beneath an engine's containers. Engines do not tell, and their machine's files are
//! not ours to look at; but a container of theirs sees the same file system.

use super::DockerEngine;
use super::gpus::{Answer, asking};
use crate::{DiskRoom, Result};

/// In words that every small system knows (POSIX): in KiB, a line for each file system.
const SCRIPT: &str = "df -Pk / 2>&1";

/// What the kernel says where there is no room.
const FULL: &str = "no space left on device";

impl DockerEngine {
    /// Asks in the first image that can.
    pub(super) async fn ask_for_room(&self) -> Result<Option<DiskRoom>> {
        self.tidy_helpers().await;
        for image in self.largest_images().await? {
            match self.answer_of(&image, asking(&image, SCRIPT)).await {
                Ok(Answer::Said(words)) => {
                    if let Some(room) = read(&words) {
                        return Ok(Some(room));
                    }
                }
                Ok(Answer::Refused(_)) => {}
                // There is no room even for the container that asks.
                Err(error) if error.to_string().to_lowercase().contains(FULL) => {
                    return Ok(Some(DiskRoom { free: 0, all: u64::MAX }));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
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
    fn what_is_no_answer_tells_nothing() {
        for said in ["", "/bin/sh: df: not found", "overlay - - - - /", "none 0 0 0 - /"] {
            assert_eq!(read(said), None, "{said}");
        }
    }
}
