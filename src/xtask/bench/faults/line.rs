//! Lines between the server and what it needs, which can be cut and can fall silent.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use anyhow::Result;

/// Bytes that are carried at once.
const PIECE: usize = 16 * 1024;

/// Where a line leads.
#[derive(Debug, Clone)]
pub(in crate::bench) enum Target {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A port of this machine.
    Port(u16),
}

/// How a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bench) enum Way {
    /// All is carried.
    Open,
    /// Nothing moves, and nobody is told.
    Silent,
    /// Connections break, new ones at once.
    Cut,
}

/// A port of this machine by which something else is reached. It is there for as long as this program.
#[derive(Debug)]
pub(in crate::bench) struct Line {
    port: u16,
    state: Arc<State>,
}

impl Line {
    pub(in crate::bench) fn to(target: Target) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State::default());
        let carried = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (target, state) = (target.clone(), Arc::clone(&carried));
                thread::spawn(move || carry(client, &target, &state));
            }
        });
        Ok(Self { port, state })
    }

    pub(in crate::bench) fn port(&self) -> u16 {
        self.port
    }

    pub(in crate::bench) fn set(&self, way: Way) {
        let mut inner = self.state.inner();
        inner.way = way;
        if way == Way::Cut {
            for ends in inner.pairs.drain(..).filter_map(|ends| ends.upgrade()) {
                ends.iter().for_each(|end| end.shut(Shutdown::Both));
            }
        }
        self.state.changed.notify_all();
    }
}

/// What the threads of a line have in common.
#[derive(Debug)]
struct State {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug)]
struct Inner {
    way: Way,
    /// The connections, each with its two ends.
    pairs: Vec<Weak<[End; 2]>>,
}

impl Default for State {
    fn default() -> Self {
        let inner = Mutex::new(Inner { way: Way::Open, pairs: Vec::new() });
        Self { inner, changed: Condvar::new() }
    }
}

impl State {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while nothing moves; `None`: the line is cut. Nobody cuts it meanwhile.
    fn moving(&self) -> Option<MutexGuard<'_, Inner>> {
        let mut inner = self.inner();
        while inner.way == Way::Silent {
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        (inner.way == Way::Open).then_some(inner)
    }

    /// Waits while nothing moves, and says whether the line is open then.
    fn opens(&self) -> bool {
        self.moving().is_some()
    }
}

/// One end of a connection.
#[derive(Debug)]
enum End {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl End {
    fn at(target: &Target) -> io::Result<Self> {
        match target {
            Target::Unix(path) => UnixStream::connect(path).map(Self::Unix),
            Target::Port(port) => TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).map(Self::Tcp),
        }
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => Read::read(&mut &*stream, buffer),
            Self::Unix(stream) => Read::read(&mut &*stream, buffer),
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => Write::write_all(&mut &*stream, bytes),
            Self::Unix(stream) => Write::write_all(&mut &*stream, bytes),
        }
    }

    /// Ends it, as far as it goes on: what has ended by itself needs no end.
    fn shut(&self, how: Shutdown) {
        let _may_have_ended = match self {
            Self::Tcp(stream) => stream.shutdown(how),
            Self::Unix(stream) => stream.shutdown(how),
        };
    }
}

/// Carries one connection until it ends.
fn carry(client: TcpStream, target: &Target, state: &State) {
    // Who calls while nothing moves is heard when something does.
    if !state.opens() {
        return;
    }
    let Ok(server) = End::at(target) else { return };
    // Small pieces are not held back, as on a line of its own they would not be.
    let _slower_without = client.set_nodelay(true);
    let ends = Arc::new([End::Tcp(client), server]);
    {
        let Some(mut inner) = state.moving() else { return };
        inner.pairs.retain(|pair| pair.strong_count() > 0);
        inner.pairs.push(Arc::downgrade(&ends));
    }
    let [client, server] = &*ends;
    thread::scope(|scope| {
        scope.spawn(|| copy(client, server, state));
        copy(server, client, state);
    });
}

/// Carries what comes from one end to the other, and its end as well.
fn copy(from: &End, to: &End, state: &State) {
    let mut buffer = vec![0; PIECE];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => {
                if state.opens() {
                    return to.shut(Shutdown::Write);
                }
                break;
            }
            Ok(count) => {
                if !state.opens() || to.write(&buffer[..count]).is_err() {
                    break;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    from.shut(Shutdown::Both);
    to.shut(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::time::Duration;

    use super::*;

    /// A port that answers each line with the same.
    fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                thread::spawn(move || io::copy(&mut client.try_clone().unwrap(), &mut client));
            }
        });
        port
    }

    fn say(client: &mut TcpStream, line: &str) {
        client.write_all(line.as_bytes()).unwrap();
    }

    fn hear(client: &TcpStream) -> String {
        let mut line = String::new();
        let _none_where_it_broke = BufReader::new(client).read_line(&mut line);
        line
    }

    #[test]
    fn a_line_carries_holds_back_and_breaks() {
        let line = Line::to(Target::Port(echo())).unwrap();
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, line.port())).unwrap();
        let mut client = connect();
        say(&mut client, "one\n");
        assert_eq!(hear(&client), "one\n");
        line.set(Way::Silent);
        say(&mut client, "two\n");
        client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert_eq!(hear(&client), "", "it is held back");
        client.set_read_timeout(None).unwrap();
        line.set(Way::Open);
        assert_eq!(hear(&client), "two\n", "and comes later");
        line.set(Way::Cut);
        assert_eq!(hear(&client), "");
        assert_eq!(hear(&connect()), "");
        line.set(Way::Open);
        let mut client = connect();
        say(&mut client, "three\n");
        assert_eq!(hear(&client), "three\n");
    }
}
