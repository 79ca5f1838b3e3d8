//! Our own standard input and outputs. Whoever starts us may have made them such that they do not
//! wait, as rsync does, or they may be files, for which nothing can wait: so threads do.

use std::io;
use std::os::fd::BorrowedFd;
use std::thread;

use bytes::{Bytes, BytesMut};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

use crate::pump::Output;
use crate::spool::Spool;

/// Bytes read at once.
const CHUNK: usize = 32 << 10;

/// Chunks read ahead.
const AHEAD: usize = 4;

/// What is read from standard input, up to its end. The thread that reads is never waited for:
/// there may be nothing to read ever again.
pub(super) fn input() -> mpsc::Receiver<BytesMut> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    thread::spawn(move || {
        let mut chunk = vec![0; CHUNK];
        while let Ok(count @ 1..) = read(&mut chunk) {
            if sender.blocking_send(chunk[..count].into()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Writes what was put aside, up to its end. Fails if nobody reads it any more.
pub(super) async fn write_all(output: Output, spool: &Spool) -> io::Result<()> {
    while let Some(data) = spool.take().await? {
        tokio::task::spawn_blocking(move || write(output, &data)).await??;
    }
    Ok(())
}

fn read(chunk: &mut [u8]) -> Result<usize, Errno> {
    let input = rustix::stdio::stdin();
    loop {
        match rustix::io::read(input, &mut *chunk) {
            Err(Errno::AGAIN) => wait(input, PollFlags::IN)?,
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

fn write(output: Output, data: &Bytes) -> Result<(), Errno> {
    let target = match output {
        Output::Standard => rustix::stdio::stdout(),
        Output::Errors => rustix::stdio::stderr(),
    };
    let mut rest = &data[..];
    while !rest.is_empty() {
        match rustix::io::write(target, rest) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::AGAIN) => wait(target, PollFlags::OUT)?,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wait(end: BorrowedFd<'_>, event: PollFlags) -> Result<(), Errno> {
    match poll(&mut [PollFd::new(&end, event)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}
