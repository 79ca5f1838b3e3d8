use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A mail as it arrived.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrived {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) text: String,
}

/// A small mail server: it knows no TLS, and keeps what it is given.
pub(crate) struct MailServer {
    pub(crate) port: u16,
    mails: Arc<Mutex<Vec<Arrived>>>,
}

impl MailServer {
    /// Of those whom it does not take, `full…` may be tried again.
    pub(crate) async fn start(refused: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mails = Arc::<Mutex<Vec<Arrived>>>::default();
        let refused: Vec<String> = refused.iter().map(|to| format!("<{to}>")).collect();
        let kept = Arc::clone(&mails);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (refused, kept) = (refused.clone(), Arc::clone(&kept));
                tokio::spawn(async move {
                    // Whoever hangs up has said all.
                    let _ended = converse(stream, &refused, &kept).await;
                });
            }
        });
        Self { port, mails }
    }

    pub(crate) fn mails(&self) -> Vec<Arrived> {
        self.mails.lock().unwrap().clone()
    }
}

async fn converse(
    stream: TcpStream,
    refused: &[String],
    kept: &Mutex<Vec<Arrived>>,
) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader);
    writer.write_all(b"220 mail.example.org\r\n").await?;
    let mut mail = Arrived::default();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let line = line.trim_end();
        let after = line.split_once(':').map_or("", |(_, after)| after);
        let name = after.split(' ').next().unwrap_or_default().to_owned();
        let answer = match line.split([' ', ':']).next().unwrap_or_default() {
            "MAIL" => {
                mail = Arrived { from: name, ..Arrived::default() };
                "250 fine"
            }
            "RCPT" if refused.contains(&name) && name.starts_with("<full") => "452 later",
            "RCPT" if refused.contains(&name) => "550 unknown",
            "RCPT" => {
                mail.to.push(name);
                "250 fine"
            }
            "DATA" => {
                writer.write_all(b"354 go on\r\n").await?;
                mail.text = text(&mut lines).await?;
                kept.lock().unwrap().push(std::mem::take(&mut mail));
                "250 taken"
            }
            "QUIT" => {
                writer.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "250 mail.example.org",
        };
        writer.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
}

/// Until a lone point; of lines that begin with one, it is taken off.
async fn text(lines: &mut (impl AsyncBufReadExt + Unpin)) -> std::io::Result<String> {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).await? == 0 || line == ".\r\n" {
            return Ok(text);
        }
        text.push_str(line.strip_prefix('.').unwrap_or(&line));
    }
}
