//! Shells in tasks of simulated nodes, whose engine repeats what is typed.

use std::time::Duration;

use api::audit::AuditAction;
use api::terminals::{
    Terminal, TerminalEnd, TerminalEvent, TerminalRequest, TerminalSize, WINDOW_BYTES,
};
use api::{Actor, Backend, ErrorCode};
use bytes::Bytes;
use control::Control;
use futures::StreamExt;
use protocol::state::State;
use tokio::time::timeout;

use crate::house::{House, PATIENCE, admin, close, job, key, submit, until_state};

async fn stage() -> (House, Control) {
    let house = House::new(1);
    let control = house.start().await;
    submit(&control.backend, job("entered", 1, 0, "sleep 600", "")).await;
    until_state(&control.backend, "entered", State::Running).await;
    (house, control)
}

fn request() -> TerminalRequest {
    TerminalRequest {
        job: key("entered"),
        role: "worker".parse().unwrap(),
        index: 0,
        size: TerminalSize { columns: 80, rows: 24 },
        back_to: None,
        address: Some("10.0.0.9".into()),
    }
}

async fn open(backend: &Backend, request: TerminalRequest) -> Terminal {
    backend.terminals.open(&admin(), request).await.unwrap()
}

/// Reads until this comes; gives how many bytes came.
async fn until(terminal: &mut Terminal, wanted: &str) -> u64 {
    let mut seen = Vec::new();
    let reading = async {
        while !String::from_utf8_lossy(&seen).contains(wanted) {
            match terminal.output.next().await {
                Some(TerminalEvent::Output(bytes)) => seen.extend(bytes),
                other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&seen)),
            }
        }
    };
    timeout(PATIENCE, reading).await.expect(wanted);
    seen.len() as u64
}

async fn write(terminal: &Terminal, text: &'static str) {
    assert!(terminal.controls.write(Bytes::from_static(text.as_bytes())).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_goes_on_where_he_was() {
    let (_house, control) = stage().await;
    let mut first = open(&control.backend, request()).await;
    assert!(!first.resumed);
    write(&first, "one").await;
    let received = until(&mut first, "one").await;
    let id = first.id.clone();
    write(&first, "two").await;
    drop(first);
    let back = TerminalRequest { back_to: Some((id.clone(), received)), ..request() };
    let mut again = open(&control.backend, back.clone()).await;
    assert_eq!((again.resumed, again.offset, &again.id), (true, received, &id));
    assert_eq!(until(&mut again, "two").await, 3, "nothing twice, nothing lost");
    // A reader who comes to the same shell takes it over.
    let _third = open(&control.backend, back).await;
    assert_eq!(
        timeout(PATIENCE, again.output.next()).await.unwrap(),
        Some(TerminalEvent::Ended(TerminalEnd::TakenOver))
    );
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_is_its_users_alone() {
    let (_house, control) = stage().await;
    let terminal = open(&control.backend, request()).await;
    let stranger = Actor { user: "mallory".parse().unwrap(), admin: false };
    let refused = control.backend.terminals.open(&stranger, request()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    // Another administrator may enter, but finds a shell of his own.
    let other = Actor { user: "root".parse().unwrap(), admin: true };
    let back = TerminalRequest { back_to: Some((terminal.id.clone(), 0)), ..request() };
    let own = control.backend.terminals.open(&other, back).await.unwrap();
    assert!(!own.resumed && own.id != terminal.id);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_runs_is_entered() {
    let (_house, control) = stage().await;
    let missing = TerminalRequest { index: 7, ..request() };
    let refused = control.backend.terminals.open(&admin(), missing).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NoTaskError);
    control.backend.jobs.stop(&admin(), &key("entered")).await.unwrap();
    until_state(&control.backend, "entered", State::Stopped).await;
    let refused = control.backend.terminals.open(&admin(), request()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::UnavailableError);
    assert!(refused.message.contains("it is STOPPED"), "{}", refused.message);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_who_acknowledges_nothing_stops_the_shell() {
    let (_house, control) = stage().await;
    let mut terminal = open(&control.backend, request()).await;
    let typing = async {
        let keys = Bytes::from(vec![b'x'; 32 * 1024]);
        loop {
            assert!(terminal.controls.write(keys.clone()).await);
        }
    };
    // Nothing is read: so nothing can be typed for long.
    assert!(timeout(Duration::from_secs(1), typing).await.is_err());
    let mut received = 0;
    while let Ok(event) = timeout(Duration::from_millis(500), terminal.output.next()).await {
        let Some(TerminalEvent::Output(bytes)) = event else { panic!("{event:?}") };
        received += bytes.len() as u64;
    }
    assert!((WINDOW_BYTES..2 * WINDOW_BYTES).contains(&received), "{received}");
    terminal.controls.received(received).await;
    let more = timeout(PATIENCE, terminal.output.next()).await.unwrap();
    assert!(matches!(more, Some(TerminalEvent::Output(_))));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_only_so_many_and_every_entry_is_written_down() {
    let (_house, control) = stage().await;
    let mut terminals = Vec::new();
    let refused = loop {
        match control.backend.terminals.open(&admin(), request()).await {
            Ok(terminal) => terminals.push(terminal),
            Err(error) => break error,
        }
        assert!(terminals.len() < 100);
    };
    assert_eq!(refused.code, ErrorCode::TooManyRequestsError);
    let mut last = terminals.pop().unwrap();
    last.controls.close().await;
    let ended = async {
        while let Some(event) = last.output.next().await {
            if event == TerminalEvent::Ended(TerminalEnd::Closed) {
                return;
            }
        }
        panic!("it did not say why it ended");
    };
    timeout(PATIENCE, ended).await.unwrap();
    let written = async {
        loop {
            let log = control.backend.audit.list(&admin(), None, 500).await.unwrap();
            let of = |action| log.iter().filter(|entry| entry.action == action).count();
            let ended = of(AuditAction::TerminalEnded);
            if ended > 0 {
                return (of(AuditAction::TerminalOpened), ended, log);
            }
            tokio::task::yield_now().await;
        }
    };
    let (opened, ended, log) = timeout(PATIENCE, written).await.unwrap();
    assert_eq!((opened, ended), (terminals.len() + 1, 1));
    assert_eq!(log[0].object, "admin~entered/worker-0");
    assert_eq!(log[0].address.as_deref(), Some("10.0.0.9"));
    assert!(log[0].detail.ends_with("closed"), "{}", log[0].detail);
    let mallory = Actor { user: "mallory".parse().unwrap(), admin: false };
    let refused = control.backend.audit.list(&mallory, None, 1).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    drop(terminals);
    close(&control).await;
}
