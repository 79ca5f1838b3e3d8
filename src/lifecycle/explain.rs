//! Exit code, engine words and log lines → cause, with the lines that show it.

use protocol::architecture::Architecture;
use protocol::exit::{Cause, Exit};
use protocol::guest::{BEGUN_BEFORE, CANNOT_BEGIN, NODE_MEMORY, PORT_TAKEN, UNUSABLE_CODE};
use protocol::ids::NodeName;

mod lines;
mod patterns;
#[cfg(test)]
mod tests;

use lines::{exception, readable};
use patterns::{Pattern, matches};

/// As many lines are shown.
const MOST_EVIDENCE: usize = 5;
/// How the guest begins its own lines.
const GUEST: &str = "berth: ";
/// The exit code of what was killed.
const KILLED_CODE: i32 = 137;

/// What an engine says of an ended container, and the end of its log.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// The exit code; a signal N is 128 + N.
    pub code: i32,
    /// The kernel killed a process of it for using more memory than its limit.
    pub oom_killed: bool,
    /// Its memory limit in MiB.
    pub memory_mb: u64,
    /// The size of its `/dev/shm` in MiB.
    pub shm_mb: u64,
    /// Where it was.
    pub node: &'a NodeName,
    /// The last lines of its log, oldest first.
    pub log_tail: &'a str,
}

/// Explains how a container ended.
///
/// What is certain comes first (exit code 0, that the guest has started nothing, the kernel's own word
/// on memory, a signal from outside), then what the log says, the most telling first, then the exit
/// code. A signal 9 is called out of memory only when the engine or the guest says so: people kill as
/// well.
#[must_use]
pub fn explain(ended: &Ended) -> Exit {
    let lines = readable(ended.log_tail);
    if let Some((cause, line)) = not_begun(ended, &lines) {
        return Exit { code: None, cause, evidence: vec![line.clone()] };
    }
    let (cause, evidence) = cause(ended, &lines);
    Exit { code: Some(ended.code), cause, evidence }
}

/// The guest's word that it has started nothing, since a port of the task is somebody else's or it
/// cannot work there. A program cannot say so in its place: where one was started and ends with that code,
/// the guest has the last word, which is another one.
fn not_begun<'a>(ended: &Ended, lines: &'a [String]) -> Option<(Cause, &'a String)> {
    let last = lines.last().filter(|_| ended.code == i32::from(UNUSABLE_CODE))?;
    let message = last.strip_prefix(GUEST)?;
    // What the run before said may stand there as well.
    if message != BEGUN_BEFORE && !lines.iter().all(|line| line.starts_with(GUEST)) {
        return None;
    }
    if last.ends_with(PORT_TAKEN) {
        return Some((Cause::PortTaken, last));
    }
    let (node, message) = (ended.node.clone(), message.to_owned());
    message.starts_with(CANNOT_BEGIN).then_some((Cause::EngineFailed { node, message }, last))
}

/// The guest's last word that its node's memory ran out, and not the container's own.
fn node_memory(ended: &Ended, lines: &[String]) -> Option<(Cause, Vec<String>)> {
    let of_guest = |line: &&String| line.strip_prefix(GUEST) == Some(NODE_MEMORY);
    let line = lines.last().filter(of_guest)?;
    let cause = Cause::NodeOutOfMemory { node: ended.node.clone() };
    (ended.code == KILLED_CODE).then(|| (cause, vec![line.clone()]))
}

/// What it means that an engine refuses to start a container, as what the job asks for: nothing ran.
#[must_use]
pub fn refusal(message: &str) -> Exit {
    let line = message.to_lowercase();
    let of = |patterns| matches(patterns, &line);
    let (code, cause) = if of(patterns::CUDA_VERSION) {
        (None, Cause::CudaVersion)
    } else if of(patterns::COMMAND_ABSENT) {
        (Some(127), Cause::CommandNotFound)
    } else if of(patterns::COMMAND_FORBIDDEN) {
        (Some(126), Cause::CommandNotExecutable)
    } else {
        (None, Cause::ContainerRefused { message: message.to_owned() })
    };
    let evidence = readable(message).into_iter().take(MOST_EVIDENCE).collect();
    Exit { code, cause, evidence }
}

/// Whether it says that a program is made for other processors, or is no program at all.
#[must_use]
pub fn is_foreign(exit: &Exit) -> bool {
    let says = |line: &String| matches(patterns::EXEC_FORMAT, &line.to_lowercase());
    exit.cause == Cause::CommandNotExecutable && exit.evidence.iter().any(says)
}

/// An image that a registry has for other processors alone, by an engine's words: what the node has, where
/// they say it.
#[must_use]
pub fn no_variant(message: &str) -> Option<Option<Architecture>> {
    let line = message.to_lowercase();
    let says = matches(patterns::NO_VARIANT, &line);
    let platform = line.split("manifest for ").nth(1).and_then(|rest| rest.split(' ').next());
    says.then(|| platform.and_then(Architecture::of_platform))
}

fn cause(ended: &Ended, lines: &[String]) -> (Cause, Vec<String>) {
    let code = ended.code;
    if code == 0 {
        return (Cause::Succeeded, Vec::new());
    }
    if let Some(of_node) = node_memory(ended, lines) {
        return of_node;
    }
    if ended.oom_killed {
        let evidence = evidence(lines, patterns::KILLED);
        return (Cause::OutOfMemory { limit_mb: ended.memory_mb }, evidence);
    }
    // Interrupted, killed or asked to end, from outside: the log does not know why.
    if matches!(code, 130 | 137 | 143) {
        return (Cause::Signal { signal: code - 128 }, evidence(lines, patterns::KILLED));
    }
    by_log(ended, lines)
        .or_else(|| by_code(code, lines))
        .or_else(|| (!is_signal(code)).then(|| by_exception(lines)).flatten())
        .or_else(|| first_of_cuda_and_nccl(lines))
        .or_else(|| file_missing(code, lines))
        .unwrap_or_else(|| unexplained(code, lines))
}

/// Whether a signal ended it. No exception does that: one in the log was caught before.
fn is_signal(code: i32) -> bool {
    (129..=192).contains(&code)
}

/// What only one cause writes.
fn by_log(ended: &Ended, lines: &[String]) -> Option<(Cause, Vec<String>)> {
    let causes = [
        (patterns::GPU_HARDWARE, Cause::GpuHardware),
        (patterns::GPU_MEMORY, Cause::GpuOutOfMemory),
        (patterns::SHARED_MEMORY, Cause::SharedMemory { shm_mb: ended.shm_mb }),
        (patterns::CUDA_VERSION, Cause::CudaVersion),
        (patterns::DISK_FULL, Cause::DiskFull),
    ];
    causes.into_iter().find_map(|(patterns, cause)| {
        let evidence = evidence(lines, patterns);
        (!evidence.is_empty()).then_some((cause, evidence))
    })
}

fn by_code(code: i32, lines: &[String]) -> Option<(Cause, Vec<String>)> {
    let of = |patterns| last(evidence(lines, patterns));
    match code {
        127 => Some((Cause::CommandNotFound, of(patterns::COMMAND_ABSENT))),
        126 => Some((Cause::CommandNotExecutable, of(patterns::COMMAND_FORBIDDEN))),
        _ => None,
    }
}

/// The exception that ended a Python program is the last one in its log.
fn by_exception(lines: &[String]) -> Option<(Cause, Vec<String>)> {
    let (line, name) = last_exception(lines)?;
    let cause = match name.as_str() {
        "modulenotfounderror" | "importerror" => Cause::ModuleMissing,
        "filenotfounderror" => Cause::FileMissing,
        "syntaxerror" | "indentationerror" | "taberror" | "nameerror" | "unboundlocalerror"
        | "attributeerror" => Cause::ProgramError,
        _ => return None,
    };
    // What follows a syntax error's place in the file is the error; before it stand file and line.
    let before = lines[..line].iter().rev().take(3).rev();
    let place = before.filter(|text| text.trim_start().starts_with("File \"")).cloned();
    Some((cause, place.chain([lines[line].clone()]).collect()))
}

/// Whichever comes first: a failure of the one makes lines of the other follow.
fn first_of_cuda_and_nccl(lines: &[String]) -> Option<(Cause, Vec<String>)> {
    lines.iter().find_map(|text| {
        let line = text.to_lowercase();
        if matches(patterns::NCCL, &line) {
            return Some((Cause::NcclError, evidence(lines, patterns::NCCL)));
        }
        let harmless = matches(patterns::NO_GPU_WANTED, &line);
        (!harmless && matches(patterns::CUDA, &line))
            .then(|| (Cause::CudaError, evidence(lines, patterns::CUDA)))
    })
}

/// Programs in other languages than Python; their last words count.
fn file_missing(code: i32, lines: &[String]) -> Option<(Cause, Vec<String>)> {
    if code > 128 {
        return None;
    }
    let end = &lines[lines.len().saturating_sub(MOST_EVIDENCE)..];
    [
        (patterns::MODULE_MISSING, Cause::ModuleMissing),
        (patterns::FILE_MISSING, Cause::FileMissing),
        (patterns::PROGRAM_ERROR, Cause::ProgramError),
    ]
    .into_iter()
    .find_map(|(patterns, cause)| {
        let evidence = evidence(end, patterns);
        (!evidence.is_empty()).then_some((cause, evidence))
    })
}

fn unexplained(code: i32, lines: &[String]) -> (Cause, Vec<String>) {
    if is_signal(code) {
        let evidence = last(evidence(lines, patterns::CRASHED));
        return (Cause::Signal { signal: code - 128 }, evidence);
    }
    let evidence = match last_exception(lines) {
        Some((line, _)) => vec![lines[line].clone()],
        None => lines[lines.len().saturating_sub(3)..].to_vec(),
    };
    (Cause::CommandFailed, evidence)
}

/// The last exception and its line, the wrappers of launchers left out.
fn last_exception(lines: &[String]) -> Option<(usize, String)> {
    let named = |(line, text): (usize, &String)| Some((line, exception(text)?));
    let own = |(_, name): &(usize, String)| {
        !matches!(name.as_str(), "childfailederror" | "calledprocesserror" | "systemexit")
    };
    lines.iter().enumerate().rev().filter_map(named).find(own)
}

/// The last lines that match, oldest first.
fn evidence(lines: &[String], patterns: &[Pattern]) -> Vec<String> {
    let matching = lines.iter().rev().filter(|line| matches(patterns, &line.to_lowercase()));
    let mut evidence: Vec<_> = matching.take(MOST_EVIDENCE).cloned().collect();
    evidence.reverse();
    evidence
}

fn last(mut lines: Vec<String>) -> Vec<String> {
    lines.split_off(lines.len().saturating_sub(1))
}
