use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What answers webhooks, always the same, and keeps what they said.
pub(crate) struct Receiver {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    /// Answers with this status, and headers after it.
    pub(crate) async fn start(answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let answer = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let kept = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let Ok(request) = read(&mut stream).await else { continue };
                kept.lock().unwrap().push(request);
                // Whoever does not wait for it has his reasons.
                let _sent = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { port, requests }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// A request with as much body as it says it has.
async fn read(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut request = Vec::new();
    loop {
        let mut part = [0; 4096];
        let length = stream.read(&mut part).await?;
        if length == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        request.extend_from_slice(&part[..length]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lengths = head.lines().filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())
        });
        if body.len() >= lengths.flatten().next().unwrap_or(0) {
            return Ok(text);
        }
    }
}
