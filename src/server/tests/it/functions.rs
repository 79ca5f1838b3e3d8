//! The pages' server functions, called with what no page sends.

use axum::http::Method;
use leptos::server_fn::axum::server_fn_paths;
use server::limits::Limits;
use server::state::StateOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::fakes::World;
use crate::server::{ALICE, Answer, Client, FORM, Server};

const FORM_PATH: &str = "/fn/submit/form";
const MULTIPART: (&str, &str) = ("content-type", "multipart/form-data; boundary=xx");

async fn fresh() -> (tempfile::TempDir, World, Server, Client) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let limits =
        Limits { requests_per_second: 0, guest_requests_per_second: 0, ..Limits::default() };
    let options = StateOptions { limits, ..StateOptions::default() };
    let server = Server::with(folder.path(), world.backend(), options).await;
    let client = server.client();
    (folder, world, server, client)
}

/// All functions that there are, and how each is called.
fn functions() -> Vec<(&'static str, Method)> {
    let functions: Vec<_> = server_fn_paths().collect();
    assert!(functions.len() >= 40, "{} functions are known", functions.len());
    functions
}

fn code(answer: &Answer) -> String {
    answer.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn who_is_not_signed_in_calls_no_function() {
    let (_folder, _world, _server, client) = fresh().await;
    for (path, method) in functions() {
        let answer = client.send(method.as_str(), path, &[], "").await;
        if path.starts_with("/fn/preferences/") {
            assert_eq!(answer.status, 400, "{path}: {}", answer.text);
            continue;
        }
        assert_eq!(answer.status, 401, "{path}: {}", answer.text);
        assert_eq!(code(&answer), "UnauthorizedUserError", "{path}");
        assert_eq!(answer.json()["request_id"], answer.header("x-request-id"), "{path}");
        let page = [("accept", "text/html")];
        let answer = client.send(method.as_str(), path, &page, "").await;
        assert_eq!(answer.status, 303, "{path}");
        assert!(answer.header("location").starts_with("/sign-in"), "{path}");
    }
}

#[tokio::test]
async fn bad_arguments_are_told_and_not_ours_to_answer_for() {
    let (_folder, _world, _server, client) = fresh().await;
    let huge = format!("text={}", "%".repeat(1024 * 1024));
    let bodies: [(&str, &[u8]); 6] = [
        ("nothing", b""),
        ("no UTF-8", b"name=\xff\xfe&text=\xc0\x80&key=\xff"),
        ("no form", b"{\"name\": [}"),
        ("nested", b"a[b][c][d][e][f][g][h]=1&name[0]=x&node[name][x]=1&key[user]=1"),
        ("escapes", b"name=%ff&text=%zz&key=%&path=%00"),
        ("too much", huge.as_bytes()),
    ];
    let mut told = 0;
    for (path, method) in functions() {
        for (what, body) in &bodies {
            // A GET has its arguments in the address, which is text and shorter.
            let (path, body) = match method {
                Method::GET if body.len() > 10_000 => continue,
                Method::GET => (format!("{path}?{}", percent_lossy(body)), &b""[..]),
                _ => (path.to_owned(), *body),
            };
            for kind in [FORM, MULTIPART, ("content-type", "multipart/form-data"), ("x-none", "1")]
            {
                let headers = [ALICE, kind];
                let answer =
                    client.send_bytes(method.as_str(), &path, &headers, body.to_vec()).await;
                let about = format!("{method} {path} {what} {kind:?}: {}", answer.text);
                assert!(answer.status < 500, "{about}");
                if answer.status == 400 || answer.status == 413 {
                    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
                    assert!(message.len() > 5, "{about}");
                    told += 1;
                }
            }
        }
    }
    assert!(told > 200, "{told} mistakes were told");
}

/// An address as a careless program writes it.
fn percent_lossy(body: &[u8]) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"=&[]%".contains(&byte);
    body.iter()
        .map(|byte| match harmless(*byte) {
            true => char::from(*byte).to_string(),
            false => format!("%{byte:02x}"),
        })
        .collect()
}

#[tokio::test]
async fn a_form_without_a_boundary_is_a_mistake() {
    let (_folder, _world, _server, client) = fresh().await;
    for kind in ["multipart/form-data", "multipart/form-data; boundary=", "text/plain", ""] {
        let headers = [ALICE, ("content-type", kind)];
        let answer = client.send("POST", FORM_PATH, &headers, "text=x").await;
        assert_eq!(
            (answer.status, code(&answer)),
            (400, "InvalidParametersError".into()),
            "{kind}"
        );
    }
}

#[tokio::test]
async fn a_form_has_a_limit_of_bytes_and_parts() {
    let (_folder, world, server, client) = fresh().await;
    let part = |name: &str, value: &str| {
        format!("--xx\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let form = |parts: String| format!("{parts}--xx--\r\n");
    let good = form(part("text", "{}") + &part("cloned_from", ""));
    let headers = [ALICE, MULTIPART, ("accept", "text/html")];
    assert_eq!(client.send("POST", FORM_PATH, &headers, &good).await.status, 302);
    assert_eq!(world.submitted.lock().unwrap().len(), 1);

    let large = form(part("text", &"x".repeat(2 * 1024 * 1024)));
    let answer = client.send("POST", FORM_PATH, &[ALICE, MULTIPART], &large).await;
    assert_eq!((answer.status, code(&answer)), (413, "TooLargeError".into()));
    let many = form(part("text", "{}").repeat(1_000));
    let answer = client.send("POST", FORM_PATH, &[ALICE, MULTIPART], &many).await;
    assert_eq!((answer.status, code(&answer)), (400, "InvalidParametersError".into()));
    assert_eq!(chunked_without_end(&server).await, 413);
    assert_eq!(world.submitted.lock().unwrap().len(), 1);
}

/// Sends a part that says nowhere how long it is, for as long as somebody reads it.
async fn chunked_without_end(server: &Server) -> u16 {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let (token, (kind, multipart)) = (ALICE.1, MULTIPART);
    let head = format!(
        "POST {FORM_PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\n{kind}: {multipart}\r\n\
         transfer-encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let writer = tokio::spawn(async move {
        let field = "--xx\r\ncontent-disposition: form-data; name=text\r\n\r\n";
        let first = format!("{:x}\r\n{field}\r\n", field.len());
        let mut written = writing.write_all(first.as_bytes()).await;
        while written.is_ok() {
            written = writing.write_all(chunk.as_bytes()).await;
        }
    });
    let mut line = [0; 12];
    reading.read_exact(&mut line).await.unwrap();
    writer.abort();
    String::from_utf8_lossy(&line[9..]).parse().unwrap()
}
