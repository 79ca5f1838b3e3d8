//! Who is there: each task calls as it begins and holds the connection until its last process is gone.
//! The kernel closes it then, so that neither the server nor an engine has to be believed.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;

/// Who has called says who he is within so long, or was killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// The connections of all tasks, taken by a thread that lives as long as this program.
#[derive(Debug)]
pub(in crate::bench) struct Roll {
    port: u16,
    book: Arc<Mutex<Book>>,
}

impl Roll {
    pub(in crate::bench) fn open() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let book = Arc::<Mutex<Book>>::default();
        let kept = Arc::clone(&book);
        thread::spawn(move || {
            for caller in listener.incoming().flatten() {
                if let Some(task) = hear(&caller) {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).enter(task, caller);
                }
            }
        });
        Ok(Self { port, book })
    }

    /// What a task's command begins with.
    pub(in crate::bench) fn call(&self) -> String {
        format!(
            "exec 3<>/dev/tcp/127.0.0.1/{} || exit 90; echo \"$FC_FRAMEWORK_NAME \
             $FC_FRAMEWORK_ATTEMPT_ID $FC_TASK_INDEX $PAI_CONTAINER_HOST_IP \
             $NVIDIA_VISIBLE_DEVICES\" >&3; ",
            self.port
        )
    }

    /// How many tasks are there now.
    pub(in crate::bench) fn present(&self) -> usize {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.forget_who_has_gone();
        book.present.len()
    }

    /// What was seen twice since this was asked last.
    pub(in crate::bench) fn doubled(&self) -> Vec<String> {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut book.doubled)
    }
}

/// A task that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Task {
    job: String,
    attempt: u32,
    index: u32,
    node: String,
    gpus: Vec<u32>,
}

impl Task {
    /// Reads what [`Roll::call`] lets a task say.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_suffix('\n')?.split(' ');
        let task = Self {
            job: words.next()?.to_owned(),
            attempt: words.next()?.parse().ok()?,
            index: words.next()?.parse().ok()?,
            node: words.next()?.to_owned(),
            // `void` of a task without GPUs is no number.
            gpus: words.next()?.split(',').filter_map(|gpu| gpu.parse().ok()).collect(),
        };
        words.next().is_none().then_some(task)
    }

    /// Why the two cannot both be there.
    fn excludes(&self, other: &Self) -> Option<&'static str> {
        if self.job == other.job {
            return (self.attempt != other.attempt).then_some("of another attempt runs beside");
        }
        let shared = self.gpus.iter().any(|gpu| other.gpus.contains(gpu));
        (self.node == other.node && shared).then_some("has a GPU of")
    }
}

#[derive(Debug, Default)]
struct Book {
    begun: HashSet<(String, u32, u32)>,
    present: Vec<(Task, TcpStream)>,
    doubled: Vec<String>,
}

impl Book {
    fn enter(&mut self, task: Task, caller: TcpStream) {
        self.forget_who_has_gone();
        if !self.begun.insert((task.job.clone(), task.attempt, task.index)) {
            self.doubled.push(format!("{task:?} began twice"));
        }
        for (other, _) in &self.present {
            if let Some(how) = task.excludes(other) {
                self.doubled.push(format!("{task:?} {how} {other:?}"));
            }
        }
        self.present.push((task, caller));
    }

    fn forget_who_has_gone(&mut self) {
        self.present.retain(|(_, caller)| is_there(caller));
    }
}

/// Reads who calls; `None` where he was gone before he could say it.
fn hear(caller: &TcpStream) -> Option<Task> {
    caller.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut line = String::new();
    BufReader::new(caller).read_line(&mut line).ok()?;
    caller.set_nonblocking(true).ok()?;
    Task::read(&line)
}

/// Whether the other end is still held by somebody. What has ended before something else began is
/// known to have ended here: the kernel told us first.
fn is_there(caller: &TcpStream) -> bool {
    match caller.peek(&mut [0]) {
        Ok(count) => count > 0,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn task(line: &str) -> Task {
        Task::read(&format!("{line}\n")).unwrap()
    }

    #[test]
    fn who_cannot_be_there_together_is_told() {
        let one = task("admin~a 0 0 127.0.0.2 0,1");
        assert_eq!(one.gpus, [0, 1]);
        for (other, excluded) in [
            ("admin~a 0 1 127.0.0.2 2", false),
            ("admin~a 1 1 127.0.0.3 void", true),
            ("admin~b 0 0 127.0.0.2 1,2", true),
            ("admin~b 0 0 127.0.0.3 1,2", false),
            ("admin~b 0 0 127.0.0.2 void", false),
        ] {
            assert_eq!(one.excludes(&task(other)).is_some(), excluded, "{other}");
        }
        for half in ["", "admin~a", "admin~a 0 0 127.0.0.2 void", "a 0 0 n 0 more\n", "a b 0 n 0\n"]
        {
            assert_eq!(Task::read(half), None, "{half:?}");
        }
    }

    #[test]
    fn a_task_is_there_until_its_end_is_closed() {
        let roll = Roll::open().unwrap();
        let times = |wanted: &Task| {
            let book = roll.book.lock().unwrap();
            book.present.iter().filter(|(there, _)| there == wanted).count()
        };
        let begin = |line: &str, time: usize| {
            let mut caller = TcpStream::connect((Ipv4Addr::LOCALHOST, roll.port)).unwrap();
            writeln!(caller, "{line}").unwrap();
            while times(&task(line)) < time {
                thread::yield_now();
            }
            caller
        };
        drop(begin("admin~a 0 0 n 0", 1));
        let _second = begin("admin~a 1 0 n 0", 1);
        assert_eq!(roll.doubled(), Vec::<String>::new(), "one after the other");
        assert_eq!(roll.present(), 1);
        let _third = begin("admin~a 2 0 n void", 1);
        let _again = begin("admin~a 2 0 n void", 2);
        let said = roll.doubled().join("\n");
        assert!(said.contains("runs beside") && said.contains("began twice"), "{said}");
    }
}
