//! A task's log as the pages that OpenPAI's nodes had before 1.0: its `opai` puts a file's name behind the
//! address that it is told, and reads what stands there as HTML.

use api::ErrorCode;
use api::logs::{LogText, TaskRef};
use axum::extract::{Path, State};
use axum::response::Html;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::rest::job_key;
use crate::state::AppState;

/// So much of a log's end is on a page.
const MOST_BYTES: u64 = 1024 * 1024;

/// What OpenPAI's nodes kept apart; here a task has one log.
const FILES: [&str; 5] = ["user.pai.stdout", "user.pai.stderr", "user.pai.all", "stdout", "stderr"];

/// Where the page begins.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PageParams {
    /// So many bytes after the log's beginning; below 0, before its end.
    start: i64,
}

pub(crate) async fn log(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((user, name, role, index)): Path<(String, String, String, u32)>,
    Params(params): Params<PageParams>,
) -> Result<Html<String>, Failure> {
    let job = job_key::of_user(&user, &name)?;
    let task = TaskRef { job, attempt: None, role: role.parse()?, index };
    let whole = whole(&task);
    let before_end = u64::try_from(params.start.saturating_neg()).unwrap_or(0);
    let most = if before_end == 0 { MOST_BYTES } else { before_end.min(MOST_BYTES) };
    let log = state.backend.logs.tail(&actor, &task, most).await?;
    Ok(Html(page(&log, u64::try_from(params.start).unwrap_or(0), &whole)))
}

pub(crate) async fn file(
    state: State<AppState>,
    actor: Signed,
    Path((user, name, role, index, file)): Path<(String, String, String, u32, String)>,
    params: Params<PageParams>,
) -> Result<Html<String>, Failure> {
    if !FILES.contains(&file.as_str()) {
        return Err(Failure::new(ErrorCode::NoTaskLogError, "Log of task is not found."));
    }
    log(state, actor, Path((user, name, role, index)), params).await
}

/// Where all of a log is.
fn whole(task: &TaskRef) -> String {
    let TaskRef { job, attempt: _, role, index } = task;
    let logs = format!("/api/v1/user/{}/jobs/{}/logs", job.user, job.name);
    format!("{logs}?role={role}&index={index}&download=true")
}

/// The log from a byte on, as it is: nothing in it is a tag. That this is not all of it is said above it, where
/// OpenPAI's nodes said so and its portal looks for the way to the rest.
fn page(log: &LogText, from: u64, whole: &str) -> String {
    let skip = usize::try_from(from.saturating_sub(log.offset)).unwrap_or(usize::MAX);
    let skip = log.text.ceil_char_boundary(skip.min(log.text.len()));
    let text = &log.text[skip..];
    let said = if log.offset == 0 && skip == 0 {
        String::new()
    } else {
        let link = format!("<a href=\"{}\">here</a>", escaped(whole));
        format!("<p>Showing the last {} bytes. Click {link} for the full log.</p>", text.len())
    };
    let text = escaped(text);
    let content = format!("<div class=\"content\">{said}<pre>{text}</pre></div>");
    format!("<!DOCTYPE html>\n<html><body>{content}</body></html>\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_where_it_is_wanted_and_has_no_tags_of_the_logs() {
        let log = |offset| LogText { text: "<b>é\n".to_owned(), offset, ..LogText::default() };
        let page = |offset, from| page(&log(offset), from, "/all");
        assert!(page(0, 0).contains("<pre>&lt;b&gt;é\n</pre>"));
        assert!(page(0, 4).contains("<pre>\n</pre>"), "not in the middle of a letter");
        assert!(page(7, 8).contains("<pre>b&gt;é\n</pre>"));
        assert!(page(0, u64::MAX).contains("<pre></pre>"));
    }

    #[test]
    fn a_page_without_all_of_the_log_says_so_and_where_that_is() {
        let log = |offset| LogText { text: "one\n".to_owned(), offset, ..LogText::default() };
        assert!(!page(&log(0), 0, "/all").contains("Showing"));
        for (offset, from, bytes) in [(7, 0, 4), (0, 1, 3), (7, 9, 2)] {
            let said = format!(
                "<div class=\"content\"><p>Showing the last {bytes} bytes. \
                 Click <a href=\"/all?a=1&amp;b=2\">here</a> for the full log.</p><pre>"
            );
            let page = page(&log(offset), from, "/all?a=1&b=2");
            assert!(page.contains(&said), "{page}");
        }
    }
}
