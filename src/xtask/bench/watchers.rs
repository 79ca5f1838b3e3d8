//! What it costs that many look at a cluster of ten thousand GPUs in which something changes ten times a
//! second: a thousand only listen, and then two hundred do what open pages do.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::berth::{Berth, small_job};
use super::first_page::{fetch, sign_in};
use super::nodes::{part, processor_seconds};
use super::{Measured, pages};

/// Who only listens.
const LISTENERS: u32 = 1_000;
/// Changes that they wait for, as many jobs; each of these changes four times.
const JOBS: u32 = 50;
/// Ten changes a second.
const BETWEEN_JOBS: Duration = Duration::from_millis(400);
/// A change that nobody has heard of by then is lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// Browsers, and how long they look.
const BROWSERS: u32 = 200;
const LOOKING: Duration = Duration::from_secs(30);
/// A page asks once a second at most, whatever changes.
const BETWEEN_QUESTIONS: Duration = Duration::from_secs(1);
/// What pages ask: home, the newest jobs, a job, the map and the table of nodes.
const QUESTIONS: [&str; 5] = [
    "/fn/home",
    "/fn/jobs/list?query%5Blimit%5D=20",
    "/fn/jobs/get?key=admin~watched",
    "/fn/nodes/map?query%5Blimit%5D=40",
    "/fn/nodes/map?query%5Bface%5D=table&query%5Blimit%5D=40",
];

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let berth = Berth::start(binary, &pages::nodes())?;
    berth.submit(&small_job("watched", "any:latest", "sleep 7200"))?;
    let mut heard = listeners(&berth)?;
    let before = processor_seconds(&berth)?;
    let mut answers = browsers(&berth)?;
    let used = (processor_seconds(&berth)? - before) * 100.0 / LOOKING.as_secs_f64();
    Ok(vec![
        Measured { name: "watchers_heard_p50", value: part(&mut heard, 50), unit: "ms" },
        Measured { name: "watchers_heard_p99", value: part(&mut heard, 99), unit: "ms" },
        Measured { name: "browsers_cpu", value: used, unit: "% of a core" },
        Measured { name: "browsers_answer_p99", value: part(&mut answers, 99), unit: "ms" },
        Measured { name: "watchers_memory", value: berth.memory("VmHWM")?, unit: "MiB" },
    ])
}

/// How long it takes from a job's submission until each listener has heard of it, in milliseconds.
fn listeners(berth: &Berth) -> Result<Vec<f64>> {
    let (heard, hears) = mpsc::channel();
    for _ in 0..LISTENERS {
        let (stream, heard) = (listen(berth)?, heard.clone());
        // They end with their connections, when the server does.
        thread::spawn(move || report(stream, &heard));
    }
    let mut times = Vec::new();
    for number in 0..JOBS {
        let begun = Instant::now();
        let name = format!("heard-{number}");
        berth.submit(&small_job(&name, "any:latest", "sleep 1"))?;
        let mut missing = LISTENERS;
        while missing > 0 {
            let (job, at): (String, Instant) =
                hears.recv_timeout(PATIENCE).with_context(|| format!("{name} is not heard of"))?;
            if job == name {
                times.push(at.saturating_duration_since(begun).as_secs_f64() * 1e3);
                missing -= 1;
            }
        }
        thread::sleep(BETWEEN_JOBS.saturating_sub(begun.elapsed()));
    }
    Ok(times)
}

/// A connection on which changes are told.
fn listen(berth: &Berth) -> Result<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(berth.address())?;
    write!(
        stream,
        "GET /api/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Accept: text/event-stream\r\n\r\n",
        berth.address(),
        berth.token()
    )?;
    let mut lines = BufReader::new(stream);
    let mut status = String::new();
    lines.read_line(&mut status)?;
    if !status.contains(" 200 ") {
        bail!("a listener was answered {status}");
    }
    Ok(lines)
}

/// Says when each of the jobs is heard of for the first time.
fn report(stream: BufReader<TcpStream>, heard: &mpsc::Sender<(String, Instant)>) {
    let mut last = String::new();
    for line in stream.lines().map_while(Result::ok) {
        let Some(name) = job_of(&line).filter(|name| *name != last) else { continue };
        name.clone_into(&mut last);
        if heard.send((last.clone(), Instant::now())).is_err() {
            return;
        }
    }
}

/// The job of ours whose change a line tells.
fn job_of(line: &str) -> Option<&str> {
    let from = line.find("heard-")?;
    line[from..].split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').next()
}

/// Lets browsers look while jobs come and go; how long their questions take, in milliseconds.
fn browsers(berth: &Berth) -> Result<Vec<f64>> {
    let cookie = sign_in(berth)?;
    let (over, times, next) = (AtomicBool::new(false), Mutex::new(Vec::new()), AtomicU32::new(0));
    let look = || -> Result<()> {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let question = QUESTIONS[number as usize % QUESTIONS.len()];
        let _open = listen(berth)?;
        // They did not all begin at once.
        thread::sleep(BETWEEN_QUESTIONS * number / BROWSERS);
        while !over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            fetch(berth, question, &cookie, "br")?;
            let took = begun.elapsed();
            times.lock().unwrap_or_else(PoisonError::into_inner).push(took.as_secs_f64() * 1e3);
            thread::sleep(BETWEEN_QUESTIONS.saturating_sub(took));
        }
        Ok(())
    };
    thread::scope(|scope| {
        let looking: Vec<_> = (0..BROWSERS).map(|_| scope.spawn(look)).collect();
        let begun = Instant::now();
        for number in 0.. {
            if begun.elapsed() > LOOKING {
                break;
            }
            berth.submit(&small_job(&format!("short-{number}"), "any:latest", "sleep 1"))?;
            thread::sleep(BETWEEN_JOBS);
        }
        over.store(true, Ordering::Relaxed);
        looking.into_iter().try_for_each(|one| one.join().ok().context("a browser broke off")?)
    })?;
    Ok(times.into_inner().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::job_of;

    #[test]
    fn a_job_is_found_in_what_is_told_of_it() {
        let line = r#"data: {"kind":"job","id":7,"key":"admin~heard-12","state":"WAITING"}"#;
        assert_eq!(job_of(line), Some("heard-12"));
        assert_eq!(job_of("event: alive"), None);
    }
}
