//! The logs of running tasks.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use api::logs::{
    JobMatches, LogPlace, LogText, LogWindow, SearchAsk, TaskRef, Together, TogetherAsk,
    TogetherPlace, WindowAsk,
};
use api::{Backend, ErrorCode};
use futures::StreamExt;
use protocol::state::State;
use protocol::time::Timestamp;

use crate::house::{House, PATIENCE, admin, close, job, key, submit, until_state};

/// Lines that a task has written, each with its number.
const LINES: u64 = 100_000;

fn worker(name: &str) -> TaskRef {
    TaskRef { job: key(name), attempt: None, role: "worker".parse().unwrap(), index: 0 }
}

fn line(number: u64) -> String {
    format!("line {number:06} of a program that says a lot")
}

/// Lines are told apart by the second in which they were written; these come after the first ones and after what
/// a container says of its end, however long a test takes until then.
fn later_by(seconds: u64) -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let moment = since + Duration::from_secs(3600 + seconds);
    Timestamp(i64::try_from(moment.as_millis()).unwrap())
}

/// A task that has written very much.
async fn that_says_a_lot(house: &House, backend: &Backend) -> String {
    submit(backend, job("loud", 1, 0, "sleep 1000", "")).await;
    until_state(backend, "loud", State::Running).await;
    let container = house.node(0).containers().remove(0);
    house.node(0).write_log(&container, later_by(10), (0..LINES).map(line));
    container
}

async fn tail(backend: &Backend, bytes: u64) -> LogText {
    backend.logs.tail(&admin(), &worker("loud"), bytes).await.unwrap()
}

/// A job runs as soon as one of its tasks does: waits for all of them.
async fn until_all_run(backend: &Backend, name: &str) {
    let mut changes = backend.changes.subscribe(&admin());
    let waiting = async {
        loop {
            let detail = backend.jobs.get(&admin(), &key(name)).await.unwrap();
            let tasks = detail.attempts.last().map(|attempt| attempt.tasks.as_slice());
            if tasks.is_some_and(|tasks| tasks.iter().all(|task| task.state == State::Running)) {
                return;
            }
            changes.next().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_long_log_is_read_without_the_rest() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let container = that_says_a_lot(&house, backend).await;
    let later = later_by(20);
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
    close(&control).await;
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
    house.node(0).write_log(&container, later_by(10), last);
    backend.jobs.stop(&admin(), &key("loud")).await.unwrap();
    until_state(backend, "loud", State::Stopped).await;
    house.node(0).until_empty().await;
    let rest = backend.logs.follow(&admin(), &worker("loud"), end.end).await.unwrap();
    let rest: Vec<_> = rest.map(Result::unwrap).collect().await;
    let rest = String::from_utf8(rest.concat()).unwrap();
    assert!(rest.contains("the last word") && rest.len() < 100_000, "{} bytes", rest.len());
    close(&control).await;
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
    close(&control).await;
}

async fn window(backend: &Backend, place: LogPlace, after: Option<u64>) -> LogWindow {
    let ask = WindowAsk { place, count: 100, after };
    backend.logs.window(&admin(), &worker("loud"), &ask).await.unwrap()
}

/// Asks again and again, as a page does, until the log is as wanted.
async fn window_until(backend: &Backend, wanted: impl Fn(&LogWindow) -> bool) -> LogWindow {
    let waiting = async {
        let mut seen = window(backend, LogPlace::End, None).await;
        while !wanted(&seen) {
            seen = window(backend, LogPlace::End, Some(seen.bytes)).await;
        }
        seen
    };
    tokio::time::timeout(crate::house::PATIENCE, waiting).await.expect("it becomes so")
}

async fn found(backend: &Backend, text: &str) -> (u64, Vec<u64>) {
    let ask = SearchAsk { text: text.to_owned(), pattern: true, case: true, near: 1 };
    let found = backend.logs.search(&admin(), &worker("loud"), &ask).await.unwrap();
    assert!(found.all);
    (found.count, found.lines)
}

/// The two lines that a simulated container begins with.
const BEFORE: u64 = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_place_of_a_running_and_of_a_kept_log_is_read_alike() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let container = that_says_a_lot(&house, backend).await;
    let seen = window_until(backend, |seen| !seen.reading && seen.total >= LINES).await;
    assert_eq!((seen.total, seen.complete), (LINES + BEFORE, false), "more may come");
    let mut totals = vec![seen.total];
    for ended in [false, true] {
        if ended {
            let last = ["the last word".to_owned()].into_iter();
            house.node(0).write_log(&container, later_by(20), last);
            backend.jobs.stop(&admin(), &key("loud")).await.unwrap();
            until_state(backend, "loud", State::Stopped).await;
        }
        let middle = window(backend, LogPlace::From(50_000 + BEFORE + 1), None).await;
        assert_eq!(middle.lines[0].number, 50_000 + BEFORE + 1);
        assert_eq!((middle.lines[0].text.clone(), middle.lines.len()), (line(50_000), 100));
        let moment = middle.lines[0].at.expect("it is known when");
        let then = window(backend, LogPlace::Time(moment), None).await;
        assert_eq!(then.lines[0].text, line(0), "all were written at the same moment");
        let around = window(backend, LogPlace::Around(70_000), None).await;
        assert_eq!(around.lines[50].number, 70_000);
        assert_eq!(found(backend, "^line 0777(77|88) ").await, (2, vec![77_780, 77_791]));
        totals.push(middle.total);
    }
    let end = window_until(backend, |seen| seen.complete).await;
    let texts: Vec<&str> = end.lines.iter().rev().map(|line| line.text.as_str()).collect();
    // What the container says of its end is of now, before that: engines are asked from a second on.
    assert_eq!(texts[..2], ["the last word".to_owned(), line(LINES - 1)]);
    assert_eq!(end.total, LINES + BEFORE + 1, "{totals:?}");
    house.node(0).until_empty().await;
    let kept = window(backend, LogPlace::End, None).await;
    assert_eq!(kept, end, "kept as it was read");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_followed_by_windows_without_a_gap() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("loud", 1, 0, "sleep 1000", "")).await;
    until_state(backend, "loud", State::Running).await;
    let container = house.node(0).containers().remove(0);
    let mut seen: Vec<String> = Vec::new();
    let mut bytes = None;
    for step in 0..20_u64 {
        let news = (0..7).map(|nth| format!("step {step} line {nth}"));
        house.node(0).write_log(&container, later_by(10 + step / 4), news);
        let wanted = BEFORE + (step + 1) * 7;
        while (seen.len() as u64) < wanted {
            let from = LogPlace::From(seen.len() as u64 + 1);
            let more = window(backend, from, bytes).await;
            bytes = Some(more.bytes);
            seen.extend(more.lines.into_iter().map(|line| line.text));
        }
    }
    let wanted: Vec<String> =
        (0..20).flat_map(|step| (0..7).map(move |nth| format!("step {step} line {nth}"))).collect();
    assert_eq!(seen[BEFORE as usize..], wanted);
    let whole = backend.logs.whole(&admin(), &worker("loud")).await.unwrap();
    let whole: Vec<_> = whole.map(Result::unwrap).collect().await;
    assert_eq!(String::from_utf8(whole.concat()).unwrap(), seen.join("\n") + "\n");
    let other = api::Actor { user: "eve".parse().unwrap(), admin: false };
    let ask = WindowAsk { place: LogPlace::End, count: 1, after: None };
    let refused = backend.logs.window(&other, &worker("loud"), &ask).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_more_counts_among_those_who_follow() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    that_says_a_lot(&house, backend).await;
    let seen = window_until(backend, |seen| !seen.reading && seen.total >= LINES).await;
    let ask = WindowAsk { place: LogPlace::End, count: 1, after: Some(seen.bytes) };
    let (owner, task) = (admin(), worker("loud"));
    let waiting = (0..200).map(|_| backend.logs.window(&owner, &task, &ask));
    let mut waiting: futures::stream::FuturesUnordered<_> = waiting.collect();
    let first = waiting.next().await.unwrap().unwrap_err();
    assert_eq!(first.code, ErrorCode::TooManyRequestsError, "it does not wait for its turn");
    // Nobody goes on with them any more: what one of them holds would never be let go.
    drop(waiting);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_log_whose_end_is_lost_is_not_told_as_whole() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    that_says_a_lot(&house, backend).await;
    backend.jobs.stop(&admin(), &key("loud")).await.unwrap();
    until_state(backend, "loud", State::Stopped).await;
    house.node(0).until_empty().await;
    let before = window_until(backend, |window| window.complete).await;
    assert_eq!(before.torn, 0);
    let logs = std::fs::read_dir(house.path().join("storage/.berth/logs/0")).unwrap();
    let mut logs = logs.map(|entry| entry.unwrap().path());
    let kept = logs.find(|path| path.extension().is_some_and(|kind| kind == "log")).unwrap();
    let file = std::fs::File::options().write(true).open(&kept).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();

    let torn = window(backend, LogPlace::End, None).await;
    assert!(torn.complete && torn.torn > 0 && torn.total < LINES, "{} lines", torn.total);
    assert_eq!(torn.bytes + torn.torn, before.bytes);
    assert_eq!(torn.lines.last().unwrap().text, line(torn.total - 1 - BEFORE));
    let told = format!("\n[{} bytes of this log are lost]\n", torn.torn);
    assert!(tail(backend, 1_000).await.text.ends_with(&told));
    let whole = backend.logs.whole(&admin(), &worker("loud")).await.unwrap();
    let whole: Vec<_> = whole.map(Result::unwrap).collect().await;
    assert!(String::from_utf8(whole.concat()).unwrap().ends_with(&told));
    let ask = TogetherAsk { place: TogetherPlace::End, count: 7, after: None };
    let all = backend.logs.together(&admin(), &key("loud"), None, &ask).await.unwrap();
    assert_eq!((all.complete, all.lost, all.torn), (true, 0, 1));
    close(&control).await;
}

async fn together(backend: &Backend, place: TogetherPlace) -> Together {
    let ask = TogetherAsk { place, count: 7, after: None };
    backend.logs.together(&admin(), &key("many"), None, &ask).await.unwrap()
}

fn texts(read: &Together) -> Vec<&str> {
    read.lines.iter().map(|line| line.line.text.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_of_all_tasks_come_in_the_order_of_time() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("many", 3, 0, "sleep 1000", "")).await;
    until_all_run(backend, "many").await;
    let containers = house.node(0).containers();
    assert_eq!(containers.len(), 3);
    // Each in turn, two seconds after the one before.
    for step in 0..30_u64 {
        let container = &containers[(step % 3) as usize];
        let news = [format!("word {step:02}")].into_iter();
        house.node(0).write_log(container, later_by(10 + step * 2), news);
    }
    let waiting = async {
        loop {
            let end = together(backend, TogetherPlace::End).await;
            if texts(&end).last() == Some(&"word 29") && !end.reading {
                return end;
            }
        }
    };
    let end = tokio::time::timeout(crate::house::PATIENCE, waiting).await.unwrap();
    assert_eq!(end.tasks, ["worker-0", "worker-1", "worker-2"]);
    assert!(!end.complete);
    let mut all: Vec<String> = Vec::new();
    let mut place = TogetherPlace::From(vec![0, 0, 0]);
    loop {
        let read = together(backend, place).await;
        if read.lines.is_empty() {
            break;
        }
        all.extend(read.lines.iter().map(|line| line.line.text.clone()));
        place = TogetherPlace::From(read.next);
    }
    let words: Vec<String> = (0..30).map(|step| format!("word {step:02}")).collect();
    assert_eq!(all[all.len() - 30..], words);
    let mut back: Vec<String> = Vec::new();
    let mut place = TogetherPlace::End;
    loop {
        let read = together(backend, place).await;
        if read.lines.is_empty() {
            break;
        }
        back.splice(0..0, read.lines.iter().map(|line| line.line.text.clone()));
        place = TogetherPlace::Before(read.first);
    }
    assert_eq!(back, all, "there and back");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_that_have_ended_are_complete_only_where_their_last_lines_are() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("many", 2, 0, "sleep 1000", "")).await;
    until_all_run(backend, "many").await;
    let container = house.node(0).containers().remove(0);
    house.node(0).write_log(&container, later_by(10), (0..100).map(line));
    backend.jobs.stop(&admin(), &key("many")).await.unwrap();
    until_state(backend, "many", State::Stopped).await;
    house.node(0).until_empty().await;
    // Whoever followed them has the first lines when they end.
    let mut read = together(backend, TogetherPlace::From(vec![0, 0])).await;
    let mut all: Vec<String> = Vec::new();
    while !read.complete {
        assert!(!read.lines.is_empty(), "the last lines do not come: {:?}", read.next);
        all.extend(texts(&read).into_iter().map(str::to_owned));
        assert_eq!(all.len() as u64 + read.behind, 106, "it is known how much comes");
        read = together(backend, TogetherPlace::From(read.next)).await;
    }
    all.extend(texts(&read).into_iter().map(str::to_owned));
    assert!(all.contains(&line(99)), "{:?}", all.last());
    // Two lines that each container begins with, and one with which it ends.
    assert_eq!((all.len(), read.behind), (100 + 2 * 3, 0));
    let end = together(backend, TogetherPlace::End).await;
    assert!(end.complete, "nothing comes after the end");
    assert!(!together(backend, TogetherPlace::Before(end.first)).await.complete);
    control.shutdown().await;
}

async fn search_all(backend: &Backend, text: &str, near: (u32, u64)) -> JobMatches {
    let ask = SearchAsk { text: text.to_owned(), pattern: true, case: true, near: near.1 };
    backend.logs.search_all(&admin(), &key("many"), None, near.0, &ask).await.unwrap()
}

/// The tasks and texts of what is named.
fn hits(found: &JobMatches) -> Vec<(u32, &str)> {
    found.hits.iter().map(|hit| (hit.task, hit.line.text.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_logs_of_all_tasks_are_searched_while_they_run_and_as_they_are_kept() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("many", 3, 0, "sleep 1000", "")).await;
    until_all_run(backend, "many").await;
    let containers = house.node(0).containers();
    for (task, container) in containers.iter().enumerate() {
        // Each says a number as often as its place among the containers.
        let news = (0..task * 100).map(|nth| format!("needle {nth} of {task}"));
        house.node(0).write_log(container, later_by(10), news);
    }
    let waiting = async { while search_all(backend, "^needle", (0, 1)).await.count < 300 {} };
    tokio::time::timeout(crate::house::PATIENCE, waiting).await.unwrap();
    for ended in [false, true] {
        if ended {
            backend.jobs.stop(&admin(), &key("many")).await.unwrap();
            until_state(backend, "many", State::Stopped).await;
            house.node(0).until_empty().await;
        }
        let found = search_all(backend, "^needle", (0, 1)).await;
        let names: Vec<&str> = found.tasks.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["worker-0", "worker-1", "worker-2"]);
        let mut counts: Vec<u64> = found.tasks.iter().map(|task| task.count).collect();
        let (first, hit) = (counts.iter().position(|count| *count > 0).unwrap(), &found.hits[0]);
        assert_eq!(hit.task as usize, first, "in the order of the tasks");
        assert!(hit.line.text.starts_with("needle 0 of "), "{hit:?}");
        counts.sort_unstable();
        assert_eq!(
            (counts, found.count, found.before, found.all),
            (vec![0, 100, 200], 300, 0, true)
        );
        assert_eq!(found.hits.len(), 50, "only so many are named");
        // From there on, with as many before it.
        let last = found.hits.last().unwrap();
        let next = search_all(backend, "^needle", (last.task, last.line.number + 1)).await;
        assert_eq!((next.before, next.hits.len()), (0, 100));
        assert_eq!(hits(&next)[..50], hits(&found)[..]);
        let none = search_all(backend, "nowhere", (0, 1)).await;
        assert_eq!((none.count, none.all, none.hits.len()), (0, true, 0));
    }
    let other = api::Actor { user: "eve".parse().unwrap(), admin: false };
    let ask = SearchAsk { text: "a".into(), pattern: false, case: false, near: 1 };
    let refused = backend.logs.search_all(&other, &key("many"), None, 0, &ask).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_through_all_tasks_leaves_room_for_others_logs() {
    let house = House::new(9);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("many", 132, 0, "sleep 1000", "")).await;
    until_all_run(backend, "many").await;
    let found = search_all(backend, "nowhere", (0, 1)).await;
    assert_eq!((found.tasks.len(), found.all), (132, false));
    assert!(found.tasks[0].all, "{:?}", found.tasks[0]);
    assert!(found.tasks[128..].iter().all(|task| !task.all && task.unread.is_none()));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_said_how_many_tasks_are_not_put_together_and_the_download_has_all() {
    let house = House::new(17);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("many", 270, 0, "sleep 1000", "")).await;
    until_all_run(backend, "many").await;
    let end = together(backend, TogetherPlace::End).await;
    assert_eq!((end.tasks.len(), end.of_tasks), (64, 270));
    // More than are held at the same time, whoever asks for them.
    let whole = backend.logs.whole_of_all(&admin(), &key("many"), None).await.unwrap();
    let whole: Vec<_> = whole.map(Result::unwrap).collect().await;
    let whole = String::from_utf8(whole.concat()).unwrap();
    let heads = whole.lines().filter(|line| line.starts_with("==> worker-")).count();
    let is_first = |line: &&str| line.starts_with("simulated: ") && line.contains(" on h");
    let logs = whole.lines().filter(is_first).count();
    assert_eq!((heads, logs), (270, 270));
    assert!(whole.contains("==> worker-269 <==\nsimulated: "), "{whole}");
    let other = api::Actor { user: "eve".parse().unwrap(), admin: false };
    let refused = backend.logs.whole_of_all(&other, &key("many"), None).await.err().unwrap();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    control.shutdown().await;
}
