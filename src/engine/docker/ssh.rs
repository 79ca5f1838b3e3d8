//! Engines of other machines, through the OpenSSH client: `docker system dial-stdio` over there is
//! the engine's socket here. OpenSSH's own settings and agent apply, and its known hosts where no
//! host keys are given.
//!
//! bollard's own way takes `host:port` for a host's name, and tells nothing of what `ssh` says.

use std::path::Path;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bollard::errors::Error;
use bollard::{API_DEFAULT_VERSION, BollardRequest, Docker};
use hyper::Response;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// How long `ssh` may still take to say why it ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A client over SSH; `address` is `[user@]host[:port]`, the files are private key and host keys.
pub(super) fn dial(
    address: &str,
    files: (Option<&Path>, Option<&Path>),
    seconds: u64,
) -> Result<Docker, Error> {
    let arguments: Arc<[String]> = arguments(address, files).into();
    let transport = move |request: BollardRequest| {
        let arguments = Arc::clone(&arguments);
        async move { send(&arguments, request).await }
    };
    Docker::connect_with_custom_transport(
        transport,
        Some("ssh://docker"),
        seconds,
        API_DEFAULT_VERSION,
    )
}

fn arguments(address: &str, (key, hosts): (Option<&Path>, Option<&Path>)) -> Vec<String> {
    let mut arguments = Vec::new();
    let settings = [
        "BatchMode=yes",
        "ConnectTimeout=5",
        "ServerAliveInterval=10",
        "ServerAliveCountMax=3",
        // One sign-in for the calls of a minute.
        "ControlMaster=auto",
        "ControlPersist=60",
        "ControlPath=~/.ssh/berth-%C",
    ];
    for setting in settings {
        arguments.extend(["-o".to_owned(), setting.to_owned()]);
    }
    let of_hosts = match hosts {
        Some(hosts) => vec![
            "StrictHostKeyChecking=yes".to_owned(),
            format!("UserKnownHostsFile=\"{}\"", hosts.display()),
            "GlobalKnownHostsFile=/dev/null".to_owned(),
        ],
        None => vec!["StrictHostKeyChecking=accept-new".to_owned()],
    };
    arguments.extend(of_hosts.into_iter().flat_map(|setting| ["-o".to_owned(), setting]));
    if let Some(key) = key {
        let only = "IdentitiesOnly=yes".to_owned();
        arguments.extend(["-o".to_owned(), only, "-i".to_owned(), key.display().to_string()]);
    }
    let (host, port) = match address.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (address, None),
    };
    if let Some(port) = port {
        arguments.extend(["-p".to_owned(), port.to_owned()]);
    }
    let host = host.replace(['[', ']'], "");
    arguments.extend(["-T".to_owned(), "--".to_owned(), host]);
    arguments.extend(["docker", "system", "dial-stdio"].map(str::to_owned));
    arguments
}

async fn send(arguments: &[String], request: BollardRequest) -> Result<Response<Incoming>, Error> {
    let mut child = Command::new("ssh")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| std::io::Error::other(format!("ssh cannot be run: {error}")))?;
    let words = child.stderr.take();
    match converse(child, request).await {
        Ok(response) => Ok(response),
        Err(error) => match last_words(words).await {
            Some(text) => Err(std::io::Error::other(text).into()),
            None => Err(error),
        },
    }
}

async fn converse(mut child: Child, request: BollardRequest) -> Result<Response<Incoming>, Error> {
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let output = output.ok_or_else(|| std::io::Error::other("ssh has no output"))?;
    let pipe = Pipe { input, output, _child: child };
    let (mut sender, connection) = http1::handshake(TokioIo::new(pipe)).await?;
    // It ends with the answer's last byte, or when nobody reads the answer any more; an upgraded
    // connection takes the pipe, and with it the process, along.
    tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a connection to an engine over SSH broke");
        }
    });
    Ok(sender.send_request(origin_form(request)).await?)
}

/// A process as a stream; it is killed when the stream is dropped.
struct Pipe {
    input: Option<ChildStdin>,
    output: ChildStdout,
    _child: Child,
}

impl AsyncRead for Pipe {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.output).poll_read(context, buffer)
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match &mut self.input {
            Some(input) => Pin::new(input).poll_write(context, bytes),
            None => Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        match &mut self.input {
            Some(input) => Pin::new(input).poll_flush(context),
            None => Poll::Ready(Ok(())),
        }
    }

    /// Only a closed pipe tells the other side that nothing more comes.
    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.input = None;
        Poll::Ready(Ok(()))
    }
}

/// Requests on a connection name the path only.
fn origin_form(mut request: BollardRequest) -> BollardRequest {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    if let Ok(path) = path.parse() {
        *request.uri_mut() = path;
    }
    request.headers_mut().insert(HOST, HeaderValue::from_static("docker"));
    request
}

async fn last_words(words: Option<ChildStderr>) -> Option<String> {
    let (mut words, mut text) = (words?, String::new());
    let reading = words.read_to_string(&mut text);
    // Cut short, it leaves what was read so far.
    let _ = tokio::time::timeout(LAST_WORDS, reading).await;
    let last = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(format!("ssh: {}", last.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_arguments() {
        let key = Path::new("/keys/key.pem");
        let none = (None, None);
        let with_port = arguments("root@node-1:2222", (Some(key), None)).join(" ");
        assert!(
            with_port.contains("IdentitiesOnly=yes -i /keys/key.pem -p 2222 -T -- root@node-1")
        );
        assert!(with_port.ends_with("-- root@node-1 docker system dial-stdio"));
        assert!(arguments("node-1", none).join(" ").contains(" -T -- node-1 docker"));
        assert!(arguments("[::1]:22", none).join(" ").contains("-p 22 -T -- ::1 docker"));
        assert!(arguments("a@[::1]", none).join(" ").contains(" -T -- a@::1 docker"));
    }

    #[test]
    fn a_machine_whose_keys_are_given_shows_one_of_them() {
        let hosts = Path::new("/keys/known_hosts");
        let given = arguments("node-1", (None, Some(hosts))).join(" ");
        let only = "-o StrictHostKeyChecking=yes -o UserKnownHostsFile=\"/keys/known_hosts\" \
                    -o GlobalKnownHostsFile=/dev/null";
        assert!(given.contains(only), "{given}");
        assert!(!given.contains("accept-new"), "{given}");
        let trusted = arguments("node-1", (None, None)).join(" ");
        assert!(trusted.contains("-o StrictHostKeyChecking=accept-new"), "{trusted}");
    }
}
