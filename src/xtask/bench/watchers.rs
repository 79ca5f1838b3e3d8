//! What it costs that many look at a cluster of ten thousand GPUs in which something changes ten times a
//! second: a thousand only listen, and then two hundred do what open pages do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::berth::{Berth, small_job};
use super::figures::{Measured, Missed, part};
use super::first_page::{fetch, sign_in};
use super::nodes::until_all_answer;
use super::pages;
use crate::process::output;

/// Who only listens.
const LISTENERS: u32 = 1_000;
/// Changes that they wait for, as many jobs; each of these changes four times.
const JOBS: u32 = 50;
/// Ten changes a second.
const BETWEEN_JOBS: Duration = Duration::from_millis(400);
/// A change that nobody has heard of by then is lost.
const PATIENCE: Duration = Duration::from_secs(10);
/// Twice as long as a stream may say nothing: one that is silent for longer is broken.
const SILENCE: Duration = Duration::from_secs(30);
/// Files that this side has open: a connection for each who listens, two for each browser, and some more.
const FILES: u32 = 4_096;

/// Browsers, and how long they look.
const BROWSERS: u32 = 200;
const LOOKING: Duration = Duration::from_secs(30);
/// A page asks once a second at most, whatever changes.
const BETWEEN_QUESTIONS: Duration = Duration::from_secs(1);
/// What pages ask: home, the newest jobs, a job, the map and the table of nodes.
const QUESTIONS: [&str; 5] = [
    "/fn/home",
    "/fn/jobs/list?query%5Blimit%5D=20",
    "/fn/jobs/get?key%5Buser%5D=admin&key%5Bname%5D=watched",
    "/fn/nodes/map?query%5Blimit%5D=40",
    "/fn/nodes/map?query%5Bface%5D=table&query%5Blimit%5D=40",
];

/// 512 MB, in MiB.
const MEMORY: f64 = 488.0;

/// Measures and prints each figure, beside its limit where it has one.
pub(super) fn run(binary: &Path, missed: &mut Missed) -> Result<()> {
    allow_open_files()?;
    let berth = Berth::start(binary, &pages::nodes())?;
    let cookie = sign_in(&berth)?;
    until_all_answer(&berth, &cookie, pages::NODES)?;
    berth.submit(&small_job("watched", "any:latest", "sleep 7200"))?;
    let mut heard = listeners(&berth)?;
    let figure = |name, value, unit| Measured { name, value, unit };
    figure("watchers_heard_p50", part(&mut heard, 50), "ms").print();
    missed.at_most(&figure("watchers_heard_p99", part(&mut heard, 99), "ms"), 1e3);
    let mut looked = browsers(&berth, &cookie)?;
    let each = f64::from(BROWSERS) * looked.seconds;
    let asked = f64::from(u32::try_from(looked.times.len())?) / each;
    let had = f64::from(u32::try_from(looked.bytes / 1_000)?) / each;
    let used = looked.processor * 100.0 / looked.seconds;
    let answered = part(&mut looked.times, 99);
    figure("browsers_requests", asked, "1/s each").print();
    missed.at_most(&figure("browsers_transfer", had, "kB/s each"), 20.0);
    missed.at_most(&figure("browsers_answer_p99", answered, "ms"), 1e3);
    missed.at_most(&figure("browsers_cpu", used, "% of a core"), 100.0);
    let memory = berth.memory("VmHWM")?;
    missed.at_most(&figure("watchers_memory", memory, "MiB"), MEMORY);
    Ok(())
}

/// Lets this side have more connections than a shell allows without being asked. The server does so itself.
fn allow_open_files() -> Result<()> {
    let mut limit = Command::new("prlimit");
    limit.args(["--pid", &std::process::id().to_string(), &format!("--nofile={FILES}:")]);
    output(&mut limit).context("so many connections need as many open files: see `ulimit -Hn`")?;
    Ok(())
}

/// How long it takes from a job's submission until each listener has heard of it, in milliseconds.
fn listeners(berth: &Berth) -> Result<Vec<f64>> {
    let (streams, ends) = streams(berth, LISTENERS)?;
    let (heard, hears) = mpsc::channel();
    thread::scope(|scope| {
        for stream in streams {
            let heard = heard.clone();
            scope.spawn(move || report(stream, &heard));
        }
        let times = heard_of(berth, &hears);
        // Those who listen end with their streams, whatever came of it.
        end(&ends);
        times
    })
}

/// Submits jobs, and waits after each until all have heard of it.
fn heard_of(berth: &Berth, hears: &mpsc::Receiver<(u32, Instant)>) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for number in 0..JOBS {
        let begun = Instant::now();
        berth.submit(&small_job(&format!("heard-{number}"), "any:latest", "sleep 1"))?;
        let mut missing = LISTENERS;
        while missing > 0 {
            let (job, at) = hears.recv_timeout(PATIENCE).with_context(|| {
                format!("{missing} of {LISTENERS} have not heard of job {number}")
            })?;
            if job == number {
                times.push(at.saturating_duration_since(begun).as_secs_f64() * 1e3);
                missing -= 1;
            }
        }
        thread::sleep(BETWEEN_JOBS.saturating_sub(begun.elapsed()));
    }
    Ok(times)
}

/// Connections on which changes are told, and what ends each of them.
fn streams(berth: &Berth, count: u32) -> Result<(Vec<BufReader<TcpStream>>, Vec<TcpStream>)> {
    (0..count).map(|_| listen(berth)).collect()
}

fn listen(berth: &Berth) -> Result<(BufReader<TcpStream>, TcpStream)> {
    let mut stream = TcpStream::connect(berth.address())?;
    stream.set_read_timeout(Some(SILENCE))?;
    write!(
        stream,
        "GET /api/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Accept: text/event-stream\r\n\r\n",
        berth.address(),
        berth.token()
    )?;
    let end = stream.try_clone()?;
    let mut lines = BufReader::new(stream);
    let mut status = String::new();
    lines.read_line(&mut status)?;
    if !status.contains(" 200 ") {
        bail!("a listener was answered {status}");
    }
    Ok((lines, end))
}

fn end(streams: &[TcpStream]) {
    for stream in streams {
        // One that the server has ended is over already.
        let _either_way = stream.shutdown(Shutdown::Both);
    }
}

/// Says when each of the jobs is heard of for the first time. The changes of several come between each
/// other: one that has a later job's number is the first of that job.
fn report(stream: BufReader<TcpStream>, heard: &mpsc::Sender<(u32, Instant)>) {
    let mut last = None;
    for line in stream.lines().map_while(Result::ok) {
        let Some(number) = job_of(&line).filter(|number| Some(*number) > last) else { continue };
        last = Some(number);
        if heard.send((number, Instant::now())).is_err() {
            return;
        }
    }
}

/// The number of the job of ours whose change a line tells.
fn job_of(line: &str) -> Option<u32> {
    let (_, rest) = line.split_once("heard-")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// What browsers have had.
#[derive(Debug)]
struct Looked {
    /// How long each question took, in milliseconds.
    times: Vec<f64>,
    /// Bodies of answers, as they are transferred, and what the streams said.
    bytes: u64,
    /// What the server used of processors meanwhile, in seconds.
    processor: f64,
    seconds: f64,
}

/// Lets browsers look while jobs come and go.
fn browsers(berth: &Berth, cookie: &str) -> Result<Looked> {
    let (streams, ends) = streams(berth, BROWSERS)?;
    let looking = Looking {
        berth,
        cookie,
        over: AtomicBool::new(false),
        bytes: AtomicU64::new(0),
        times: Mutex::new(Vec::new()),
    };
    let all = &looking;
    let (begun, before) = (Instant::now(), berth.processor_seconds()?);
    thread::scope(|scope| {
        for stream in streams {
            scope.spawn(move || all.hear(stream));
        }
        let open: Vec<_> =
            (0..BROWSERS).map(|number| scope.spawn(move || all.look(number))).collect();
        let changed = change(berth);
        // Nobody goes on looking, whatever came of it.
        all.over.store(true, Ordering::Relaxed);
        end(&ends);
        let mut open = open.into_iter();
        let looked = open.try_for_each(|one| one.join().ok().context("a browser broke off")?);
        changed.and(looked)
    })?;
    Ok(Looked {
        seconds: begun.elapsed().as_secs_f64(),
        processor: berth.processor_seconds()? - before,
        bytes: looking.bytes.into_inner(),
        times: looking.times.into_inner().unwrap_or_else(PoisonError::into_inner),
    })
}

/// Lets short jobs come and go for as long as it is looked.
fn change(berth: &Berth) -> Result<()> {
    let begun = Instant::now();
    for number in 0.. {
        if begun.elapsed() > LOOKING {
            break;
        }
        berth.submit(&small_job(&format!("short-{number}"), "any:latest", "sleep 1"))?;
        thread::sleep(BETWEEN_JOBS);
    }
    Ok(())
}

/// Browsers that look.
#[derive(Debug)]
struct Looking<'b> {
    berth: &'b Berth,
    cookie: &'b str,
    over: AtomicBool,
    bytes: AtomicU64,
    times: Mutex<Vec<f64>>,
}

impl Looking<'_> {
    /// Asks what an open page asks.
    fn look(&self, number: u32) -> Result<()> {
        let question = QUESTIONS[number as usize % QUESTIONS.len()];
        // They did not all begin at once.
        thread::sleep(BETWEEN_QUESTIONS * number / BROWSERS);
        while !self.over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            let answer = fetch(self.berth, question, self.cookie, "br")?;
            let took = begun.elapsed();
            self.bytes.fetch_add(answer.len() as u64, Ordering::Relaxed);
            let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
            times.push(took.as_secs_f64() * 1e3);
            drop(times);
            thread::sleep(BETWEEN_QUESTIONS.saturating_sub(took));
        }
        Ok(())
    }

    /// Takes what a stream says, as a browser does.
    fn hear(&self, mut stream: BufReader<TcpStream>) {
        let mut said = [0; 4096];
        while let Ok(bytes) = stream.read(&mut said)
            && bytes > 0
        {
            self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_job_is_found_in_what_is_told_of_it() {
        let line = r#"data: {"kind":"job","id":7,"key":{"user":"admin","name":"heard-12"},"state":"WAITING"}"#;
        assert_eq!(job_of(line), Some(12));
        assert_eq!(job_of("data: {\"name\":\"heard-\"}"), None);
        assert_eq!(job_of("event: alive"), None);
    }

    #[test]
    fn each_job_is_reported_once_though_changes_of_several_come_between() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(server.local_addr().unwrap()).unwrap();
        let (mut told, _) = server.accept().unwrap();
        for job in [0, 0, 1, 0, 1, 2, 1] {
            writeln!(told, "data: {{\"name\":\"heard-{job}\"}}\n").unwrap();
        }
        drop(told);
        let (heard, hears) = mpsc::channel();
        report(BufReader::new(stream), &heard);
        drop(heard);
        let jobs: Vec<_> = hears.iter().map(|(job, _)| job).collect();
        assert_eq!(jobs, [0, 1, 2]);
    }
}
