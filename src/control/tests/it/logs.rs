//! The logs of running tasks.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use api::logs::{LogText, TaskRef};
use api::{Backend, ErrorCode};
use futures::StreamExt;
use protocol::state::State;
use protocol::time::Timestamp;

use crate::house::{House, admin, job, key, submit, until_state};

/// Lines that a task has written, each with its number.
const LINES: u64 = 100_000;

fn worker(name: &str) -> TaskRef {
    TaskRef { job: key(name), attempt: None, role: "worker".parse().unwrap(), index: 0 }
}

fn line(number: u64) -> String {
    format!("line {number:06} of a program that says a lot")
}

/// Lines are told apart by the second in which they were written; these come after the first ones.
fn seconds_from_now(seconds: u64) -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let moment = since + Duration::from_secs(seconds);
    Timestamp(i64::try_from(moment.as_millis()).unwrap())
}

/// A task that has written very much.
async fn that_says_a_lot(house: &House, backend: &Backend) -> String {
    submit(backend, job("loud", 1, 0, "sleep 1000", "")).await;
    until_state(backend, "loud", State::Running).await;
    let container = house.node(0).containers().remove(0);
    house.node(0).write_log(&container, seconds_from_now(10), (0..LINES).map(line));
    container
}

async fn tail(backend: &Backend, bytes: u64) -> LogText {
    backend.logs.tail(&admin(), &worker("loud"), bytes).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_long_log_is_read_without_the_rest() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let container = that_says_a_lot(&house, backend).await;
    let later = seconds_from_now(20);
    house.node(0).write_log(&container, later, (LINES..LINES + 1_000).map(line));
    let whole = LINES * line(0).len() as u64;
    let before = house.node(0).log_bytes();
    let last = line(LINES + 999);
    assert_eq!(tail(backend, 60).await.text, format!("{last}\n"));
    let some = tail(backend, 10_000).await;
    assert!(
        some.text.len() <= 10_000 && some.text.len() > 9_000 && some.text.ends_with(&(last + "\n"))
    );
    assert!(some.offset > 0 && !some.complete);
    let read = house.node(0).log_bytes() - before;
    assert!(read < whole / 10, "{read} bytes were read of {whole}");
    // Whoever read the end goes on from there.
    let mut follow = backend.logs.follow(&admin(), &worker("loud"), some.end).await.unwrap();
    house.node(0).write_log(&container, later, ["news".to_owned()].into_iter());
    assert_eq!(&*follow.next().await.unwrap().unwrap(), b"news\n");
    // And a second time after his connection was cut, so many bytes later.
    let mut follow = backend.logs.follow(&admin(), &worker("loud"), some.end + 5).await.unwrap();
    house.node(0).write_log(&container, later, ["more".to_owned()].into_iter());
    assert_eq!(&*follow.next().await.unwrap().unwrap(), b"more\n");
    control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_log_is_followed_into_what_is_kept_of_it() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let container = that_says_a_lot(&house, backend).await;
    let end = tail(backend, 1_000).await;
    assert!(end.text.ends_with(&(line(LINES - 1) + "\n")), "{end:?}");
    let last = ["the last word".to_owned()].into_iter();
    house.node(0).write_log(&container, seconds_from_now(10), last);
    backend.jobs.stop(&admin(), &key("loud")).await.unwrap();
    until_state(backend, "loud", State::Stopped).await;
    house.node(0).until_empty().await;
    let rest = backend.logs.follow(&admin(), &worker("loud"), end.end).await.unwrap();
    let rest: Vec<_> = rest.map(Result::unwrap).collect().await;
    let rest = String::from_utf8(rest.concat()).unwrap();
    assert!(rest.contains("the last word") && rest.len() < 100_000, "{} bytes", rest.len());
    control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_follows_only_so_many_logs() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    that_says_a_lot(&house, backend).await;
    let mut followed = Vec::new();
    let refused = loop {
        match backend.logs.follow(&admin(), &worker("loud"), 0).await {
            Ok(follow) => followed.push(follow),
            Err(error) => break error,
        }
        assert!(followed.len() < 1_000, "there is a limit");
    };
    assert_eq!(refused.code, ErrorCode::TooManyRequestsError);
    followed.pop();
    assert!(backend.logs.follow(&admin(), &worker("loud"), 0).await.is_ok());
    control.shutdown().await;
}
