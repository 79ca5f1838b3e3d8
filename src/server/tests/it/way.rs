//! What a test serves, in the place of what a task does.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use api::proxy::{NoWay, TaskStream, Way};
use async_trait::async_trait;
use futures::io::{AsyncRead, AsyncWrite};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;

/// What listens at a port of this machine.
#[derive(Debug)]
pub(crate) struct Local(pub(crate) u16);

#[async_trait]
impl Way for Local {
    async fn connect(&self) -> std::result::Result<Pin<Box<dyn TaskStream>>, NoWay> {
        let stream = TcpStream::connect(("127.0.0.1", self.0)).await;
        Ok(Box::pin(Tcp(stream.map_err(|_| NoWay::NotListening)?)))
    }
}

/// A connection of tokio's in the words of the contract.
struct Tcp(TcpStream);

impl AsyncRead for Tcp {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut read = ReadBuf::new(bytes);
        ready!(Pin::new(&mut self.0).poll_read(cx, &mut read))?;
        Poll::Ready(Ok(read.filled().len()))
    }
}

impl AsyncWrite for Tcp {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }
    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
