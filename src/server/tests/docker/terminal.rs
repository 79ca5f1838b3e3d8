//! A task on a real engine is entered from a page, and what it serves is opened through the proxy.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client as handshake};

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;

/// Keys that are typed to measure their echo.
const KEYS: usize = 50;

/// Long enough for anything that happens at all on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Serves a page, and waits.
const SERVE: &str = "mkdir /www && echo served by $PAI_JOB_NAME > /www/page && \
                     httpd -f -h /www -p 0.0.0.0:$PAI_PORT_LIST_worker_0_http";

#[test]
fn a_task_is_entered_by_its_page_and_its_page_by_ours() {
    let engine = Dockerd::start();
    let folder = tempfile::tempdir().unwrap();
    image::load(&engine);
    let config = format!(
        "[[nodes]]\nname = \"node\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\ncpus = 1\n\
         memory_mb = 1024\nports = \"34000-34999\"\n",
        engine.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    let berth = Berth::start(folder.path());
    let client = berth.client();
    let job = json!({
        "jobName": "entered", "image": image::PLAIN, "retryCount": 0,
        "taskRoles": [{ "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 200,
            "gpuNumber": 0, "command": SERVE }],
    });
    client.submit(&job.to_string());
    client.running("entered");
    serves(&client);
    is_entered(&berth, &client);
    takes_and_gives_files(&client);
}

fn serves(client: &Client) {
    let path = "/proxy/entered/worker/0/http/page";
    let deadline = Instant::now() + Duration::from_secs(30);
    while client.status(path) == 502 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(client.get(path), "served by entered\n");
    assert_eq!(client.status("/proxy/admin~entered/worker/0/http/nothing"), 404);
    for (path, status) in [("0/ssh/", 404), ("0/80/", 404), ("1/http/", 404)] {
        assert_eq!(client.status(&format!("/proxy/entered/worker/{path}")), status, "{path}");
    }
}

fn takes_and_gives_files(client: &Client) {
    let at = |path: &str| {
        format!("/api/v1/user/admin/jobs/entered/files?role=worker&index=0&path={path}")
    };
    let text: String = (0..400_000).map(|number| format!("{number}\n")).collect();
    let (status, answer) = client.put(&at("%2Fnumbers"), &text);
    assert_eq!(status, 200, "{answer}");
    assert!(client.get(&at("%2Fnumbers")) == text);
    assert!(client.get(&at("%2Fproc%2F1%2Fstatus")).contains("State:"), "of no size");
    for (path, status) in [("%2Fno%2Fsuch", 404), ("%2Fwww", 400), ("", 400)] {
        assert_eq!(client.status(&at(path)), status, "{path}");
    }
    assert_eq!(client.put(&at("%2Fno%2Ffolder%2Ffile"), "x").0, 404);
    let log = client.json("/api/v2/audit");
    let of = |action: &str| log.as_array().unwrap().iter().any(|entry| entry["action"] == action);
    assert!(of("file.read") && of("file.written"), "{log:#}");
}

fn is_entered(berth: &Berth, client: &Client) {
    let mut terminal = Terminal::open(berth, client, "&columns=90&rows=30");
    assert_eq!(terminal.opened["resumed"], false);
    // What is shown is told apart from what is typed by being worked out.
    terminal.types("echo $PAI_TASK_INDEX-$TERM-$((40+2)); stty size; test -t 1 && MARK=kept\n");
    terminal.until("0-xterm-256color-42");
    terminal.until("30 90");
    terminal.says(&json!({ "resize": { "columns": 120, "rows": 40 } }));
    terminal.types("stty size\n");
    terminal.until("40 120");
    echo_is_quick(&mut terminal);
    // The network is cut: no farewell.
    let Terminal { opened, received, socket, .. } = terminal;
    drop(socket);
    let back = format!("&session={}&received={received}", opened["session"].as_str().unwrap());
    let mut again = Terminal::open(berth, client, &back);
    assert_eq!(
        (&again.opened["resumed"], &again.opened["offset"]),
        (&true.into(), &received.into())
    );
    again.types("echo $MARK-$((1+1))\n");
    again.until("kept-2");
    floods(&mut again);
    again.types("exit 3\n");
    again.until("\"reason\":\"exited\",\"code\":3");
    let log = client.json("/api/v2/audit");
    let of_terminals = |entry: &&Value| entry["action"].as_str().unwrap().starts_with("terminal.");
    let entries: Vec<_> = log.as_array().unwrap().iter().filter(of_terminals).collect();
    let actions: Vec<_> = entries.iter().map(|entry| &entry["action"]).collect();
    assert_eq!(actions.last(), Some(&&json!("terminal.opened")));
    assert!(actions.contains(&&json!("terminal.resumed")), "{actions:?}");
    assert_eq!(entries[0]["object"], "admin~entered/worker-0");
}

/// From the key to what it shows, as a page would see it.
fn echo_is_quick(terminal: &mut Terminal) {
    // By then it is the terminal that echoes, and not the shell.
    terminal.types("echo ready-$((1+1)); cat > /dev/null\n");
    terminal.until("ready-2");
    let mut times: Vec<_> = (0..KEYS)
        .map(|_| {
            let began = Instant::now();
            terminal.types("x");
            terminal.until("x");
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    let median = times[KEYS / 2];
    eprintln!("key echo: median {median:?}, worst {:?}", times[KEYS - 1]);
    assert!(median < Duration::from_millis(50), "{median:?}");
    terminal.interrupts();
}

/// A program that writes without end is held up, and stopped by a key.
fn floods(terminal: &mut Terminal) {
    terminal.types("yes 0123456789abcdef\n");
    let before = terminal.received;
    while terminal.received < before + 3_000_000 {
        terminal.until("0123456789abcdef");
    }
    terminal.interrupts();
}

struct Terminal {
    socket: WebSocket<TcpStream>,
    opened: Value,
    /// What has come and was not looked for yet.
    seen: String,
    received: u64,
    acknowledged: u64,
}

impl Terminal {
    fn open(berth: &Berth, client: &Client, more: &str) -> Self {
        let address = berth.address();
        let path = format!("/api/v1/jobs/entered/terminal?role=worker&index=0{more}");
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        let token = format!("Bearer {}", client.token());
        request.headers_mut().insert("authorization", token.parse().unwrap());
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let (mut socket, _) = handshake(request, stream).unwrap();
        let opened = loop {
            if let Message::Text(text) = socket.read().unwrap() {
                break serde_json::from_str::<Value>(&text).unwrap();
            }
        };
        assert_eq!(opened["type"], "opened", "{opened}");
        let received = opened["offset"].as_u64().unwrap();
        Self { socket, opened, seen: String::new(), received, acknowledged: received }
    }

    fn types(&mut self, keys: &str) {
        self.socket.send(Message::binary(keys.as_bytes().to_vec())).unwrap();
    }

    fn says(&mut self, asking: &Value) {
        self.socket.send(Message::text(asking.to_string())).unwrap();
    }

    fn until(&mut self, wanted: &str) {
        assert!(self.comes(wanted, PATIENCE), "no {wanted} in {:?}", self.seen);
    }

    /// Whether this comes in time; what came before it is forgotten.
    fn comes(&mut self, wanted: &str, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if let Some(at) = self.seen.find(wanted) {
                self.seen.drain(..at + wanted.len());
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let left = left.max(Duration::from_millis(1));
            self.socket.get_mut().set_read_timeout(Some(left)).unwrap();
            match self.socket.read() {
                Ok(Message::Binary(bytes)) => self.takes(&bytes),
                Ok(Message::Text(text)) => self.seen.push_str(&text),
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}: no {wanted} in {:?}", self.seen),
            }
        }
        false
    }

    fn takes(&mut self, bytes: &[u8]) {
        self.received += bytes.len() as u64;
        self.seen.push_str(&String::from_utf8_lossy(bytes));
        if self.received - self.acknowledged > 32 * 1024 {
            self.acknowledged = self.received;
            self.says(&json!({ "received": self.received }));
        }
    }

    /// Ends the program and waits for the shell. What is typed before it listens is lost.
    fn interrupts(&mut self) {
        self.types("\u{3}");
        let asks = |terminal: &mut Self| {
            terminal.types("echo at-$((40+2))\n");
            terminal.comes("at-42", Duration::from_secs(3))
        };
        assert!((0..20).any(|_| asks(self)), "{:?}", self.seen);
    }
}
