//! Addresses of pages, in one place.

use api::files::FilePath;
use api::jobs::TaskView;
use protocol::ids::{JobKey, NodeName, PortLabel, Tag};

/// A job's page.
pub(crate) fn job(key: &JobKey) -> String {
    format!("/jobs/{}/{}", key.user, key.name)
}

/// One tab of a job's page.
pub(crate) fn job_tab(key: &JobKey, tab: &str) -> String {
    format!("{}/{tab}", job(key))
}

/// The private key of a job, as a file.
pub(crate) fn job_key(key: &JobKey) -> String {
    format!("/api/v1/user/{}/jobs/{}/ssh/key", key.user, key.name)
}

/// What a task serves at a port.
pub(crate) fn proxy(key: &JobKey, task: &TaskView, label: &PortLabel) -> String {
    format!("/proxy/{key}/{}/{}/{label}/", task.role, task.index)
}

/// The list of the jobs that have a tag, of one's own or of all; `None`: no filter can say it.
pub(crate) fn tagged(tag: &Tag, all: bool) -> Option<String> {
    let word = encode(&api::job_filter::tag_word(tag)?);
    Some(format!("/jobs?q={word}{}", if all { "&all=1" } else { "" }))
}

/// The submit page, filled with a job that is there already.
pub(crate) fn clone_job(key: &JobKey) -> String {
    format!("/submit?clone={key}")
}

/// The page that compares jobs, each written `user~job`; with what their files have in common.
pub(crate) fn compare<'a>(jobs: impl Iterator<Item = &'a str>, all: bool) -> String {
    let jobs: Vec<_> = jobs.map(|job| format!("job={}", encode(job))).collect();
    let end = match (jobs.is_empty(), all) {
        (_, false) => "",
        (true, true) => "all=1",
        (false, true) => "&all=1",
    };
    format!("/compare?{}{end}", jobs.join("&"))
}

/// A node's page.
pub(crate) fn node(name: &NodeName) -> String {
    format!("/nodes/{name}")
}

/// The page of a folder or a file.
pub(crate) fn files(path: &FilePath) -> String {
    format!("/files?path={}", encode(path.as_str()))
}

/// A file's bytes.
pub(crate) fn content(path: &FilePath) -> String {
    format!("/api/v2/files{}", segments(path))
}

/// Where a file is sent in parts.
pub(crate) fn upload(path: &FilePath) -> String {
    format!("/api/v2/uploads{}", segments(path))
}

fn segments(path: &FilePath) -> String {
    let segments = path.as_str().split('/').map(|name| encode(name).replace('+', "%20"));
    segments.collect::<Vec<_>>().join("/")
}

/// The submit page, with a job whose code is in a folder.
pub(crate) fn submit_code(folder: &FilePath) -> String {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
    let name: String = folder.name().chars().map(|c| if good(c) { c } else { '-' }).collect();
    let job = serde_json::json!({
        "jobName": name,
        "image": "berth/base:latest",
        "codeDir": format!("$PAI_DEFAULT_FS_URI{folder}"),
        "taskRoles": [{
            "name": "main", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 1024, "gpuNumber": 0,
            "command": "ls",
        }],
    });
    let text = serde_json::to_string_pretty(&job).unwrap_or_default();
    format!("/submit?text={}", encode(&text))
}

/// Writes a text so that it can stand in a query.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_an_address() {
        let path = FilePath::new("/alice/a b#c?/作");
        assert_eq!(content(&path), "/api/v2/files/alice/a%20b%23c%3F/%E4%BD%9C");
        assert_eq!(files(&path), "/files?path=%2Falice%2Fa+b%23c%3F%2F%E4%BD%9C");
        let submit = submit_code(&FilePath::new("/alice/my code"));
        assert!(submit.contains("%22jobName%22:+%22my-code%22"), "{submit}");
        assert!(submit.contains("%24PAI_DEFAULT_FS_URI%2Falice%2Fmy+code"), "{submit}");
    }

    #[test]
    fn a_tag_leads_to_the_jobs_that_have_it() {
        let address = |tag: &str, all| tagged(&tag.parse().unwrap(), all);
        assert_eq!(address("best run", false).unwrap(), "/jobs?q=tag:%22best+run%22");
        assert_eq!(address("new", true).unwrap(), "/jobs?q=tag:new&all=1");
        assert_eq!(address("\"", true), None);
    }

    #[test]
    fn jobs_to_compare_are_each_in_the_address() {
        assert_eq!(compare(["ada~a", "bob~b"].into_iter(), false), "/compare?job=ada~a&job=bob~b");
        assert_eq!(compare(["ada~a"].into_iter(), true), "/compare?job=ada~a&all=1");
    }

    #[test]
    fn texts_survive_a_query() {
        assert_eq!(encode("user:me a&b=c/中"), "user:me+a%26b%3Dc%2F%E4%B8%AD");
    }
}
