//! A mail server and a receiver of webhooks, and what arrives there.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod receiver;
mod smtp;

use post::{Allowed, Call, Error, Letter, MailSettings, Post, Postman, SIGNATURE, Security};

use receiver::Receiver;
use smtp::MailServer;

fn settings(server: &MailServer) -> MailSettings {
    MailSettings {
        server: "127.0.0.1".to_owned(),
        port: Some(server.port),
        security: Security::None,
        user: None,
        password_file: None,
        from: "Berth <berth@example.org>".to_owned(),
    }
}

fn letter(to: &str) -> Letter {
    Letter {
        to: to.to_owned(),
        subject: "作业 train 已成功".to_owned(),
        text: "First line\n.\nA line after a lone point".to_owned(),
    }
}

fn call(url: String) -> Call {
    Call { url, body: r#"{"kind":"test"}"#.to_owned(), key: "secret".to_owned() }
}

fn local() -> Postman {
    Postman::new(None, Allowed::new(["127.0.0.1".to_owned()])).unwrap()
}

#[tokio::test]
async fn a_mail_arrives_whole() {
    let server = MailServer::start(&[]).await;
    let post = Postman::new(Some(&settings(&server)), Allowed::default()).unwrap();
    assert!(post.has_mail());
    post.mail(&letter("ada@example.org")).await.unwrap();
    let mails = server.mails();
    let [mail] = mails.as_slice() else { panic!("one mail: {mails:?}") };
    assert_eq!(mail.from, "<berth@example.org>");
    assert_eq!(mail.to, ["<ada@example.org>"]);
    assert!(mail.text.contains("\r\nTo: ada@example.org\r\n"), "{}", mail.text);
    assert!(mail.text.contains("A line after a lone point"), "{}", mail.text);
    let named = mail.text.lines().find(|line| line.starts_with("Message-ID: <"));
    assert!(named.is_some_and(|named| named.ends_with("@example.org>")), "{}", mail.text);
}

#[tokio::test]
async fn what_a_mail_server_does_not_take_is_tried_again_or_not() {
    let server = MailServer::start(&["nobody@example.org", "full@example.org"]).await;
    let post = Postman::new(Some(&settings(&server)), Allowed::default()).unwrap();
    let refused = post.mail(&letter("nobody@example.org")).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused}");
    let later = post.mail(&letter("full@example.org")).await.unwrap_err();
    assert!(matches!(later, Error::Unavailable(_)), "{later}");
    assert!(server.mails().is_empty());
}

#[tokio::test]
async fn a_mail_server_without_tls_is_told_nothing() {
    let server = MailServer::start(&[]).await;
    let settings = MailSettings { security: Security::StartTls, ..settings(&server) };
    let post = Postman::new(Some(&settings), Allowed::default()).unwrap();
    post.mail(&letter("ada@example.org")).await.unwrap_err();
    assert!(server.mails().is_empty());
}

#[tokio::test]
async fn a_webhook_is_called_with_a_signature() {
    let receiver = Receiver::start("200 OK").await;
    let call = call(receiver.url("/hook"));
    local().call(&call).await.unwrap();
    let requests = receiver.requests();
    let [request] = requests.as_slice() else { panic!("one request: {requests:?}") };
    assert!(request.starts_with("POST /hook HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with(&call.body), "{request}");
    let signed = format!("{}: {}", SIGNATURE, post::signature("secret", &call.body));
    let (request, signed) = (request.to_ascii_lowercase(), signed.to_ascii_lowercase());
    assert!(request.contains(&signed), "{request}");
}

#[tokio::test]
async fn a_webhook_leads_nowhere_else() {
    let elsewhere = Receiver::start("200 OK").await;
    let answer = format!("302 Found\r\nLocation: {}", elsewhere.url("/"));
    let receiver = Receiver::start(&answer).await;
    local().call(&call(receiver.url("/"))).await.unwrap_err();
    assert_eq!(receiver.requests().len(), 1);
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn a_webhook_reaches_no_private_network() {
    let receiver = Receiver::start("200 OK").await;
    let guarded = Postman::new(None, Allowed::default()).unwrap();
    let port = receiver.port;
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("https://127.1:{port}/"),
        format!("https://[::ffff:127.0.0.1]:{port}/"),
        // Only whoever looks it up knows where it leads.
        format!("https://localhost:{port}/"),
    ] {
        let refused = guarded.call(&call(url.clone())).await.unwrap_err();
        assert!(matches!(refused, Error::Refused(_)), "{url}: {refused}");
    }
    assert!(receiver.requests().is_empty());
}

#[tokio::test]
async fn what_a_webhook_answers_says_whether_it_is_tried_again() {
    for (answer, again) in [("503 Busy", true), ("429 Slow", true), ("404 Gone", false)] {
        let receiver = Receiver::start(answer).await;
        let error = local().call(&call(receiver.url("/"))).await.unwrap_err();
        assert_eq!(matches!(error, Error::Unavailable(_)), again, "{answer}: {error}");
    }
}
