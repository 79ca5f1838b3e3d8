//! Log lines made fit to be matched and shown.

/// A longer line is cut there, in characters.
const LONGEST: usize = 500;

/// The lines with something in them, without colours and other terminal commands, each cut to 500
/// characters. A progress bar's carriage returns end lines too.
pub(super) fn readable(text: &str) -> Vec<String> {
    text.split(['\n', '\r'])
        .map(|line| plain(line).trim_end().chars().take(LONGEST).collect::<String>())
        .filter(|line| !line.trim().is_empty())
        .collect()
}

/// The line without `ESC [ … letter` and other control characters.
fn plain(line: &str) -> String {
    let mut result = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            if chars.next() == Some('[') {
                let _end = chars.find(|c| ('@'..='~').contains(c));
            }
        } else if !c.is_control() || c == '\t' {
            result.push(c);
        }
    }
    result
}

/// The exception that a line reports, in small letters and without its module:
/// `torch.cuda.OutOfMemoryError: …` → `outofmemoryerror`. A line that only mentions one has other
/// words before it; a launcher's `[rank0]: ` may stand there.
pub(super) fn exception(line: &str) -> Option<String> {
    let line = line.trim_start();
    let own = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((_, rest)) => rest.trim_start_matches(':').trim_start(),
        None => line,
    };
    let path = own.split(':').next()?.trim_end();
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let name = path.rsplit('.').next()?.to_lowercase();
    let raised = name.ends_with("error") || name.ends_with("exception") || name == "systemexit";
    (path.chars().all(named) && raised && name != "error").then_some(name)
}
