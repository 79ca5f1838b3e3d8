//! The variables that the paths of a job file may hold.

use super::JobFacts;
use crate::ids::JobName;

/// `<file system>/Output/<job name>`: where a job's output goes if it names no other place.
#[must_use]
pub fn default_output_dir(file_system_uri: &str, job: &JobName) -> String {
    format!("{file_system_uri}/Output/{job}")
}

/// `outputDir` with its variables replaced; [`default_output_dir`] when the job names none.
#[must_use]
pub fn output_dir(facts: &JobFacts) -> String {
    match facts.spec.output_dir.as_deref() {
        Some(text) if !text.is_empty() => substitute(text, facts),
        Some(_) | None => default_output_dir(facts.file_system_uri, &facts.key.name),
    }
}

/// Replaces `$PAI_DEFAULT_FS_URI`, `$PAI_JOB_NAME`, `$PAI_USER_NAME` and `$PAI_USERNAME`, with the
/// prefix `QIZHI_` as well and in braces as well, in a path of a job file. Whole names only:
/// `$PAI_JOB_NAMES` stays as it is. What is put in is not looked at again.
#[must_use]
pub fn substitute(text: &str, facts: &JobFacts) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        result.push_str(&rest[..dollar]);
        let after = &rest[dollar + 1..];
        let (name, end) = variable(after);
        match known(name, facts) {
            Some(value) => {
                result.push_str(&value);
                rest = &after[end..];
            }
            None => {
                result.push('$');
                rest = after;
            }
        }
    }
    result.push_str(rest);
    result
}

/// The variable's name at the start of `after`, which follows a `$`, and where it ends.
fn variable(after: &str) -> (&str, usize) {
    let word = |text: &str| {
        text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
    };
    match after.strip_prefix('{') {
        Some(inner) if inner[word(inner)..].starts_with('}') => {
            (&inner[..word(inner)], word(inner) + 2)
        }
        Some(_) | None => (&after[..word(after)], word(after)),
    }
}

fn known(name: &str, facts: &JobFacts) -> Option<String> {
    match name.strip_prefix("PAI_").or_else(|| name.strip_prefix("QIZHI_"))? {
        "DEFAULT_FS_URI" => Some(facts.file_system_uri.to_owned()),
        "JOB_NAME" => Some(facts.key.name.to_string()),
        "USER_NAME" | "USERNAME" => Some(facts.key.user.to_string()),
        _ => None,
    }
}
