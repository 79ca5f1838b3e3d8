//! One client's connection: who it is, and what it asks for.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use protocol::guest::OWN_HOST;
use russh::server::{
    Auth, ChannelOpenHandle, Handler, Msg, PublicKeyOffer, Session, VerifiedPublicKey,
};
use russh::{Channel, ChannelId, ChannelOpenFailure, Pty, Sig};
use rustix::termios::Winsize;
use tokio::sync::oneshot;

use super::forward::{self, Forwards, Target};
use super::process::{Client, Order, What};
use super::session::{self, Control};
use super::{Server, keys};

/// Sessions at the same time on one connection.
const SESSIONS: usize = 64;

/// Variables that a client may set for a session, and their bytes.
const VARIABLES: (usize, usize) = (256, 128 << 10);

/// The connection.
pub(super) struct Connection {
    server: Arc<Server>,
    client: Client,
    admitted: Option<oneshot::Sender<()>>,
    /// Channels on which nothing runs yet.
    waiting: HashMap<ChannelId, (Channel<Msg>, Order)>,
    /// Channels on which something runs.
    running: HashMap<ChannelId, Control>,
    forwards: Forwards,
}

impl Connection {
    /// One from there; `admitted` is told when a key has been shown.
    pub(super) fn new(
        server: Arc<Server>,
        peer: SocketAddr,
        local: SocketAddr,
        admitted: oneshot::Sender<()>,
    ) -> Self {
        Self {
            server,
            client: Client { peer, local },
            admitted: Some(admitted),
            waiting: HashMap::new(),
            running: HashMap::new(),
            forwards: Forwards::default(),
        }
    }

    fn judge(&self, key: &russh::keys::PublicKey, algorithm: &russh::keys::Algorithm) -> Auth {
        if keys::is_known(&self.server.folder.authorized_keys(), key, algorithm) {
            Auth::Accept
        } else {
            Auth::reject()
        }
    }

    /// Starts what was ordered on a channel.
    fn begin(
        &mut self,
        id: ChannelId,
        what: What,
        session: &mut Session,
    ) -> Result<(), russh::Error> {
        let Some((channel, order)) = self.waiting.remove(&id) else {
            return session.channel_failure(id);
        };
        let control = session::begin(&self.server, channel, session.handle(), order, what);
        self.running.insert(id, control);
        session.channel_success(id)
    }

    fn order(&mut self, id: ChannelId) -> Option<&mut Order> {
        self.waiting.get_mut(&id).map(|(_, order)| order)
    }
}

impl Handler for Connection {
    type Error = russh::Error;

    async fn auth_publickey_offered(
        &mut self,
        _user: &str,
        offer: PublicKeyOffer<'_>,
    ) -> Result<Auth, Self::Error> {
        Ok(self.judge(offer.public_key, offer.algorithm))
    }

    async fn auth_publickey(
        &mut self,
        _user: &str,
        key: VerifiedPublicKey<'_>,
    ) -> Result<Auth, Self::Error> {
        Ok(self.judge(key.public_key, key.algorithm))
    }

    async fn auth_succeeded(&mut self, _session: &mut Session) -> Result<(), Self::Error> {
        if let Some(admitted) = self.admitted.take() {
            let _ = admitted.send(());
        }
        Ok(())
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Self::Error> {
        if self.waiting.len() + self.running.len() >= SESSIONS {
            reply.reject(ChannelOpenFailure::ResourceShortage).await;
            return Ok(());
        }
        let order = Order::new(self.client);
        self.waiting.insert(channel.id(), (channel, order));
        reply.accept().await;
        Ok(())
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        channel: Channel<Msg>,
        host: &str,
        port: u32,
        _origin: &str,
        _origin_port: u32,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Self::Error> {
        let target = match u16::try_from(port) {
            Ok(port) if host == OWN_HOST => Target::Own(port),
            Ok(_) | Err(_) => Target::Tcp(host.to_owned(), port),
        };
        self.forwards.open(&self.server, target, channel, reply);
        Ok(())
    }

    async fn channel_open_direct_streamlocal(
        &mut self,
        channel: Channel<Msg>,
        path: &str,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Self::Error> {
        self.forwards.open(&self.server, Target::Unix(path.into()), channel, reply);
        Ok(())
    }

    async fn tcpip_forward(
        &mut self,
        address: &str,
        port: &mut u32,
        session: &mut Session,
    ) -> Result<bool, Self::Error> {
        let asked = forward::Listen { address: address.to_owned(), port: *port };
        match self.forwards.listen(&self.server, asked, session.handle()).await {
            Ok(bound) => {
                *port = bound.into();
                Ok(true)
            }
            Err(_) => Ok(false),
        }
    }

    async fn cancel_tcpip_forward(
        &mut self,
        address: &str,
        port: u32,
        _session: &mut Session,
    ) -> Result<bool, Self::Error> {
        Ok(self.forwards.cancel(address, port))
    }

    async fn pty_request(
        &mut self,
        id: ChannelId,
        term: &str,
        columns: u32,
        rows: u32,
        width: u32,
        height: u32,
        _modes: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        let Some(order) = self.order(id) else { return session.channel_failure(id) };
        order.terminal = Some(size(columns, rows, width, height));
        if !term.is_empty() {
            order.variables.push(("TERM".into(), term.into()));
        }
        session.channel_success(id)
    }

    async fn env_request(
        &mut self,
        id: ChannelId,
        name: &str,
        value: &str,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        let Some(order) = self.order(id) else { return session.channel_failure(id) };
        let bytes: usize =
            order.variables.iter().map(|(name, value)| name.len() + value.len()).sum();
        let fits = order.variables.len() < VARIABLES.0
            && bytes + name.len() + value.len() <= VARIABLES.1
            && !name.is_empty()
            && !name.contains(['=', '\0'])
            && !value.contains('\0');
        if !fits {
            return session.channel_failure(id);
        }
        order.variables.push((name.into(), value.into()));
        session.channel_success(id)
    }

    async fn shell_request(
        &mut self,
        id: ChannelId,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        self.begin(id, What::Shell, session)
    }

    async fn exec_request(
        &mut self,
        id: ChannelId,
        command: &[u8],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        self.begin(id, What::Command(OsStr::from_bytes(command).to_owned()), session)
    }

    async fn subsystem_request(
        &mut self,
        id: ChannelId,
        name: &str,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        if name == "sftp" {
            self.begin(id, What::Files, session)
        } else {
            session.channel_failure(id)
        }
    }

    async fn window_change_request(
        &mut self,
        id: ChannelId,
        columns: u32,
        rows: u32,
        width: u32,
        height: u32,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        let size = size(columns, rows, width, height);
        if let Some(control) = self.running.get(&id) {
            control.resize(size);
        } else if let Some(order) = self.order(id)
            && order.terminal.is_some()
        {
            order.terminal = Some(size);
        }
        session.channel_success(id)
    }

    async fn signal(
        &mut self,
        id: ChannelId,
        signal: Sig,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        if let Some(control) = self.running.get(&id) {
            control.signal(&signal);
        }
        session.channel_success(id)
    }

    async fn channel_close(
        &mut self,
        id: ChannelId,
        _session: &mut Session,
    ) -> Result<(), Self::Error> {
        self.waiting.remove(&id);
        self.running.remove(&id);
        Ok(())
    }
}

fn size(columns: u32, rows: u32, width: u32, height: u32) -> Winsize {
    let short = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
    Winsize {
        ws_col: short(columns),
        ws_row: short(rows),
        ws_xpixel: short(width),
        ws_ypixel: short(height),
    }
}
