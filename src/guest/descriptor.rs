//! One end of a pipe or a terminal, read and written without waiting.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The end; a clone is the same one.
#[derive(Debug, Clone)]
pub(crate) struct Descriptor(Arc<AsyncFd<OwnedFd>>);

impl Descriptor {
    /// Takes it over. Must be called within the runtime.
    pub(crate) fn new(end: OwnedFd) -> io::Result<Self> {
        fcntl_setfl(&end, fcntl_getfl(&end)? | OFlags::NONBLOCK)?;
        #[expect(unsafe_code, reason = "tokio has no safe way for a terminal")]
        // SAFETY: the end is open as long as it is owned, and it is never replaced in here.
        let registered = unsafe { AsyncFd::register(end) };
        Ok(Self(Arc::new(registered?)))
    }

    /// The end itself.
    pub(crate) fn get(&self) -> &OwnedFd {
        self.0.get_ref()
    }
}

impl AsyncRead for Descriptor {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(context))?;
            let read = guard.try_io(|end| {
                match rustix::io::read(end.get_ref(), buffer.initialize_unfilled()) {
                    // So a terminal tells that nobody has it open any more.
                    Err(Errno::IO) => Ok(0),
                    other => Ok(other?),
                }
            });
            if let Ok(result) = read {
                return Poll::Ready(result.map(|count| buffer.advance(count)));
            }
        }
    }
}

impl AsyncWrite for Descriptor {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_write_ready(context))?;
            let written = guard.try_io(|end| Ok(rustix::io::write(end.get_ref(), data)?));
            if let Ok(result) = written {
                return Poll::Ready(result);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Whoever holds the last clone closes it by dropping it.
        Poll::Ready(Ok(()))
    }
}
