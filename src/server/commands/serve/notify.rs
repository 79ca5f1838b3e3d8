//! Tells systemd how the server is, where it was started by that with `Type=notify` (`sd_notify(3)`).

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It serves.
    Ready,
    /// It takes no more requests, and ends those under way.
    Stopping,
}

/// Who is told, if anybody wants to know.
#[derive(Debug)]
pub(super) struct Notify(Option<OsString>);

impl Notify {
    /// Whoever has started this process.
    pub(super) fn starter() -> Self {
        Self(std::env::var_os("NOTIFY_SOCKET"))
    }

    /// Who cannot be told is not: it serves nevertheless.
    pub(super) fn tell(&self, state: State) {
        let Some(socket) = &self.0 else { return };
        if let Err(error) = send(socket, state) {
            tracing::warn!(%error, ?state, "systemd cannot be told");
        }
    }
}

fn send(socket: &OsStr, state: State) -> io::Result<()> {
    let address = match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    let text = match state {
        State::Ready => "READY=1",
        State::Stopping => "STOPPING=1",
    };
    UnixDatagram::unbound()?.send_to_addr(text.as_bytes(), &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(listener: &UnixDatagram) -> String {
        let mut text = [0; 64];
        let length = listener.recv(&mut text).unwrap();
        String::from_utf8(text[..length].to_vec()).unwrap()
    }

    #[test]
    fn who_listens_at_a_path_or_a_name_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixDatagram::bind(&path).unwrap();
        Notify(Some(path.into())).tell(State::Ready);
        assert_eq!(heard(&listener), "READY=1");

        let name = format!("berth-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let listener = UnixDatagram::bind_addr(&address).unwrap();
        Notify(Some(format!("@{name}").into())).tell(State::Stopping);
        assert_eq!(heard(&listener), "STOPPING=1");

        Notify(None).tell(State::Ready);
        Notify(Some("/nowhere/at/all".into())).tell(State::Ready);
    }
}
