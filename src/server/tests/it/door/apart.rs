//! Who looks and what is done, apart from each other.

use std::sync::Arc;

use axum::Router;
use axum::http::Method;
use server::listen::Limits;
use tokio::io::AsyncWriteExt;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{Bare, PATIENCE, rest};

/// Threads of their own for connections, by name.
fn looking() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("looking")
        .enable_all()
        .build()
        .unwrap()
}

async fn ask(bare: &Bare, method: Method) -> String {
    let mut stream = bare.connect().await;
    let head = format!("{method} / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    rest(&mut stream).await
}

#[tokio::test]
async fn who_only_looks_is_answered_where_connections_are() {
    let looking = looking();
    let is_looking = async || (std::thread::current().name() == Some("looking")).to_string();
    let router = Router::new().fallback(is_looking);
    let apart = |door: server::listen::Door| door.with_connections_in(looking.handle());
    let bare = Bare::with(router, Limits::default(), apart);
    for (method, looks) in [
        (Method::GET, "true"),
        (Method::POST, "false"),
        (Method::PUT, "false"),
        (Method::DELETE, "false"),
    ] {
        let answer = ask(&bare, method.clone()).await;
        assert!(answer.ends_with(&format!("\r\n\r\n{looks}")), "{method}: {answer}");
    }
    bare.stop.cancel();
    timeout(PATIENCE, bare.ended).await.expect("its connections have ended").unwrap();
    looking.shutdown_background();
}

#[tokio::test]
async fn nothing_is_done_for_who_has_gone() {
    struct Tells(Arc<Notify>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (begun, given_up) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begins, gives_up) = (Arc::clone(&begun), Arc::clone(&given_up));
    let router = Router::new().fallback(async move || {
        let _tells = Tells(gives_up);
        begins.notify_one();
        std::future::pending::<()>().await;
    });
    let looking = looking();
    let apart = |door: server::listen::Door| door.with_connections_in(looking.handle());
    let bare = Bare::with(router, Limits::default(), apart);
    let mut stream = bare.connect().await;
    stream.write_all(b"POST / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    timeout(PATIENCE, begun.notified()).await.expect("it is begun");
    drop(stream);
    timeout(PATIENCE, given_up.notified()).await.expect("it is given up");
    looking.shutdown_background();
}
