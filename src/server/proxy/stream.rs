//! A connection to a task in the words of tokio.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use api::proxy::TaskStream;
use futures::io as io_traits;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The connection.
pub(super) struct Bytes(pub(super) Pin<Box<dyn TaskStream>>);

impl AsyncRead for Bytes {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(io_traits::AsyncRead::poll_read(
            self.0.as_mut(),
            cx,
            bytes.initialize_unfilled()
        ))?;
        bytes.advance(read);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Bytes {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        io_traits::AsyncWrite::poll_write(self.0.as_mut(), cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        io_traits::AsyncWrite::poll_flush(self.0.as_mut(), cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        io_traits::AsyncWrite::poll_close(self.0.as_mut(), cx)
    }
}
