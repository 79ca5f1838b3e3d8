//! Forwarding: connections from here for a client, and connections to here handed to it.

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use russh::server::{ChannelOpenHandle, Handle, Msg};
use russh::{Channel, ChannelOpenFailure};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use super::{Server, own};
use crate::names::resolve;
use crate::pump::{Output, hand_on, receive_all, send_all};
use crate::spool::Spool;

/// Forwarded connections at the same time for one client.
const CHANNELS: usize = 256;

/// Ports that one client may have listened on.
const LISTENERS: usize = 32;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(20);

/// How long somebody may take to accept what a client sent before it closed.
const REST: Duration = Duration::from_secs(60);

/// Where a client wants to be connected to.
#[derive(Debug)]
pub(super) enum Target {
    /// A host and its port.
    Tcp(String, u32),
    /// A port that the task's own programs listen at.
    Own(u16),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// What a client wants to be listened on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Listen {
    /// As the client writes it. Whatever it is, only this machine can connect, as with OpenSSH.
    pub(super) address: String,
    /// Zero: any.
    pub(super) port: u32,
}

/// What is forwarded for one client. Listening ends with it.
#[derive(Debug)]
pub(super) struct Forwards {
    channels: Arc<Semaphore>,
    listeners: HashMap<Listen, AbortHandle>,
}

impl Default for Forwards {
    fn default() -> Self {
        Self { channels: Arc::new(Semaphore::new(CHANNELS)), listeners: HashMap::new() }
    }
}

impl Drop for Forwards {
    fn drop(&mut self) {
        self.listeners.values().for_each(AbortHandle::abort);
    }
}

impl Forwards {
    /// Connects in the background and answers when that has come about or not.
    pub(super) fn open(
        &self,
        server: &Server,
        target: Target,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
    ) {
        let place = Arc::clone(&self.channels).try_acquire_owned();
        let spool = Spool::new(server.folder.path());
        let own_network = server.own_network;
        tokio::spawn(async move {
            let Ok(place) = place else {
                return reply.reject(ChannelOpenFailure::ResourceShortage).await;
            };
            match tokio::time::timeout(CONNECT, connect(target, own_network)).await {
                Ok(Ok(stream)) => {
                    reply.accept().await;
                    match stream {
                        Stream::Tcp(stream) => carry(stream, channel, spool, place).await,
                        Stream::Unix(stream) => carry(stream, channel, spool, place).await,
                    }
                }
                Ok(Err(_)) | Err(_) => reply.reject(ChannelOpenFailure::ConnectFailed).await,
            }
        });
    }

    /// Listens and hands each connection to the client; gives the port.
    pub(super) async fn listen(
        &mut self,
        server: &Arc<Server>,
        asked: Listen,
        handle: Handle,
    ) -> io::Result<u16> {
        if self.listeners.len() >= LISTENERS {
            return Err(io::Error::other("too many ports"));
        }
        let port = u16::try_from(asked.port).map_err(io::Error::other)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let bound = listener.local_addr()?.port();
        let key = Listen { port: bound.into(), ..asked };
        let channels = Arc::clone(&self.channels);
        let accept = accept_all(Arc::clone(server), listener, key.clone(), handle, channels);
        self.listeners.insert(key, tokio::spawn(accept).abort_handle());
        Ok(bound)
    }

    /// Listens no more; `false`: it was not listened.
    pub(super) fn cancel(&mut self, address: &str, port: u32) -> bool {
        let asked = Listen { address: address.to_owned(), port };
        self.listeners.remove(&asked).inspect(AbortHandle::abort).is_some()
    }
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

async fn connect(target: Target, own_network: bool) -> io::Result<Stream> {
    match target {
        Target::Own(port) => own::connect(port, own_network).await.map(Stream::Tcp),
        Target::Unix(path) => Ok(Stream::Unix(UnixStream::connect(path).await?)),
        Target::Tcp(host, port) => {
            let port = u16::try_from(port).map_err(io::Error::other)?;
            let mut failure = io::Error::from(io::ErrorKind::NotFound);
            for address in resolve(&host) {
                match TcpStream::connect((address, port)).await {
                    Ok(stream) => {
                        stream.set_nodelay(true)?;
                        return Ok(Stream::Tcp(stream));
                    }
                    Err(error) => failure = error,
                }
            }
            Err(failure)
        }
    }
}

async fn accept_all(
    server: Arc<Server>,
    listener: TcpListener,
    listen: Listen,
    handle: Handle,
    channels: Arc<Semaphore>,
) {
    loop {
        let Ok(place) = Arc::clone(&channels).acquire_owned().await else { return };
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (handle, listen) = (handle.clone(), listen.clone());
        let spool = Spool::new(server.folder.path());
        tokio::spawn(async move {
            let (from, port) = (peer.ip().to_string(), u32::from(peer.port()));
            let opened =
                handle.channel_open_forwarded_tcpip(listen.address, listen.port, from, port);
            if let Ok(channel) = opened.await {
                carry(stream, channel, spool, place).await;
            }
        });
    }
}

/// Carries a connection until both sides have ended, or the client has closed the channel and what
/// it sent before has been handed on.
async fn carry(
    stream: impl AsyncRead + AsyncWrite,
    channel: Channel<Msg>,
    spool: Spool,
    _place: OwnedSemaphorePermit,
) {
    let (reader, writer) = tokio::io::split(stream);
    let (mut incoming, outgoing) = channel.split();
    let closed = Notify::new();
    let there = async {
        tokio::select! {
            () = send_all(reader, &outgoing, Output::Standard) => {
                let _ = outgoing.eof().await;
            }
            () = closed.notified() => {}
        }
    };
    let limit = async {
        receive_all(&mut incoming, &spool).await;
        spool.end();
        closed.notify_one();
        tokio::time::sleep(REST).await;
    };
    tokio::select! {
        _ = async { tokio::join!(there, hand_on(&spool, writer)) } => {}
        () = limit => {}
    }
    // The connection must not wait for us to take what still comes.
    drop(incoming);
    let _ = outgoing.close().await;
}
