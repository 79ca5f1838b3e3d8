//! What the browser asks of the server about a log.

use api::logs::{
    JobMatches, LogMatches, LogPlace, LogWindow, SearchAsk, TaskRef, Together, TogetherAsk,
    TogetherPlace, WindowAsk,
};
use leptos::prelude::window;
use protocol::ids::JobKey;
use protocol::time::Timestamp;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, RequestInit, Response};

use crate::address::encode;
use crate::edge;
use crate::json::from_json;

/// The address of something about a task's log.
fn address(task: &TaskRef, what: &str, rest: &str) -> String {
    let attempt = task.attempt.map(|number| format!("&attempt={number}")).unwrap_or_default();
    format!(
        "/api/v2/jobs/{}/logs{what}?role={}&index={}{attempt}&{rest}",
        task.job,
        encode(task.role.as_str()),
        task.index
    )
}

/// The address that gives the whole log as a file.
pub(crate) fn download(task: &TaskRef) -> String {
    address(task, "", "download=true")
}

/// The address that gives the whole logs of all tasks as a file.
pub(crate) fn download_all(job: &JobKey, attempt: u32) -> String {
    format!("/api/v2/jobs/{job}/logs/together?attempt={attempt}&download=true")
}

/// Some lines.
pub(crate) async fn lines(
    task: &TaskRef,
    ask: WindowAsk,
    signal: &AbortSignal,
) -> Result<LogWindow, String> {
    let place = match ask.place {
        LogPlace::End => String::new(),
        LogPlace::From(line) => format!("&from={line}"),
        LogPlace::Around(line) => format!("&around={line}"),
        LogPlace::Time(moment) => format!("&time={}", moment.0),
    };
    let after = ask.after.map(|bytes| format!("&after={bytes}")).unwrap_or_default();
    get(&address(task, "/lines", &format!("count={}{place}{after}", ask.count)), signal).await
}

/// Where something is.
pub(crate) async fn search(
    task: &TaskRef,
    ask: &SearchAsk,
    signal: &AbortSignal,
) -> Result<LogMatches, String> {
    let SearchAsk { text, pattern, case, near } = ask;
    let rest = format!("text={}&pattern={pattern}&case={case}&from={near}", encode(text));
    get(&address(task, "/search", &rest), signal).await
}

/// Where something is in the logs of all tasks, near a line of one of them.
pub(crate) async fn search_all(
    job: &JobKey,
    attempt: u32,
    task: u32,
    ask: &SearchAsk,
    signal: &AbortSignal,
) -> Result<JobMatches, String> {
    let SearchAsk { text, pattern, case, near } = ask;
    let rest =
        format!("text={}&pattern={pattern}&case={case}&task={task}&from={near}", encode(text));
    let address = format!("/api/v2/jobs/{job}/logs/together/search?attempt={attempt}&{rest}");
    get(&address, signal).await
}

/// Some lines of all tasks.
pub(crate) async fn together(
    job: &JobKey,
    attempt: u32,
    ask: &TogetherAsk,
    signal: &AbortSignal,
) -> Result<Together, String> {
    let numbers =
        |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let place = match &ask.place {
        TogetherPlace::End => String::new(),
        TogetherPlace::From(place) => format!("&from={}", numbers(place)),
        TogetherPlace::Before(place) => format!("&before={}", numbers(place)),
        TogetherPlace::Time(moment) => format!("&time={}", moment.0),
    };
    let after = ask.after.map(|bytes| format!("&after={bytes}")).unwrap_or_default();
    let rest = format!("attempt={attempt}&count={}{place}{after}", ask.count);
    get(&format!("/api/v2/jobs/{job}/logs/together?{rest}"), signal).await
}

/// What an address answers, or what it says instead.
async fn get<T: DeserializeOwned>(address: &str, signal: &AbortSignal) -> Result<T, String> {
    let (ok, text) = text(address, signal).await.map_err(|_| String::new())?;
    if ok {
        return from_json(&text).map_err(|error| error.to_string());
    }
    let told = from_json::<serde_json::Value>(&text).ok();
    let message = told.and_then(|told| told.get("message")?.as_str().map(str::to_owned));
    Err(message.unwrap_or_default())
}

async fn text(address: &str, signal: &AbortSignal) -> Result<(bool, String), JsValue> {
    let options = RequestInit::new();
    options.set_signal(Some(signal));
    let answer = window().fetch_with_str_and_init(address, &options);
    let answer: Response = JsFuture::from(answer).await?.dyn_into()?;
    let text = JsFuture::from(answer.text()?).await?;
    Ok((answer.ok(), text.as_string().unwrap_or_default()))
}

/// Lets so many milliseconds go by.
pub(crate) async fn pause(millis: i32) {
    let promise = js_sys::Promise::new(&mut |done, _| {
        // Without a timer it is not waited at all.
        let _timer = window().set_timeout_with_callback_and_timeout_and_arguments_0(&done, millis);
    });
    let _done = JsFuture::from(promise).await;
}

/// Lets so many milliseconds have gone by since a moment.
pub(crate) async fn pause_from(begun: Timestamp, millis: i32) {
    let gone = i32::try_from(edge::now().since(begun)).unwrap_or(i32::MAX);
    pause(millis.saturating_sub(gone).clamp(0, millis)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_names_task_and_attempt() {
        let task = TaskRef {
            job: "ada~a".parse().unwrap(),
            attempt: Some(1),
            role: "worker".parse().unwrap(),
            index: 2,
        };
        assert_eq!(
            download(&task),
            "/api/v2/jobs/ada~a/logs?role=worker&index=2&attempt=1&download=true"
        );
        let all = download_all(&task.job, 1);
        assert_eq!(all, "/api/v2/jobs/ada~a/logs/together?attempt=1&download=true");
    }
}
