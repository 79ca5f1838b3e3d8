//! Keys of a list of jobs: `j` and `k` go along its rows. Of the row that has the focus `x` chooses the job, and
//! `l`, `t` and `c` open its log, its terminals and a clone of it; Enter opens the job, as it does any link.
//! `s` asks whether to stop it with those that are chosen, or the job whose page it is.

use leptos::prelude::{document, request_animation_frame};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement};

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Down,
    Up,
    Choose,
    /// Opens a part of the job's page.
    Open(&'static str),
    Clone,
    Stop,
}

fn act(key: &str) -> Option<Act> {
    match key {
        "j" => Some(Act::Down),
        "k" => Some(Act::Up),
        "x" => Some(Act::Choose),
        "l" => Some(Act::Open("logs")),
        "t" => Some(Act::Open("terminal")),
        "c" => Some(Act::Clone),
        "s" => Some(Act::Stop),
        _other => None,
    }
}

/// Does what a key means on a page with jobs; `go` leads to an address.
pub(crate) fn press(key: &str, go: impl FnOnce(&str)) {
    let Some(act) = act(key) else { return };
    match (act, current()) {
        (Act::Down, now) => step(now.as_ref(), after),
        (Act::Up, now) => step(now.as_ref(), before),
        (Act::Choose, Some(link)) => choose(&link),
        (Act::Open(part), Some(link)) => {
            if let Some(job) = link.get_attribute("href") {
                go(&format!("{job}/{part}"));
            }
        }
        (Act::Clone, Some(link)) => {
            if let Some(address) = link.get_attribute("href").as_deref().and_then(clone_of) {
                go(&address);
            }
        }
        (Act::Stop, row) => {
            if row.is_none_or(|link| choose_to_stop(&link)) {
                // The button comes, or counts one more, once it is known that the job is chosen.
                request_animation_frame(ask_to_stop);
            }
        }
        (Act::Choose | Act::Open(_) | Act::Clone, None) => {}
    }
}

/// The form with a clone of the job whose page is at an address.
fn clone_of(job: &str) -> Option<String> {
    let (user, name) = job.strip_prefix("/jobs/")?.split_once('/')?;
    Some(format!("/submit?clone={user}~{name}"))
}

/// The jobs of the page, as the links to them.
fn links() -> Vec<HtmlElement> {
    let Ok(found) = document().query_selector_all("tbody .job-name") else { return Vec::new() };
    (0..found.length()).filter_map(|at| found.get(at)?.dyn_into::<HtmlElement>().ok()).collect()
}

/// That of the row which has the focus.
fn current() -> Option<HtmlElement> {
    let row = document().active_element()?.closest("tbody tr").ok()??;
    row.query_selector(".job-name").ok()??.dyn_into().ok()
}

fn step(now: Option<&HtmlElement>, next: fn(Option<usize>) -> usize) {
    let links = links();
    let at = links.iter().position(|link| Some(link) == now);
    // Beyond the last there is none, and the focus stays.
    if let Some(link) = links.get(next(at)) {
        // An element that cannot take the focus leaves it where it is.
        let _ = link.focus();
    }
}

fn after(at: Option<usize>) -> usize {
    at.map_or(0, |at| at + 1)
}

fn before(at: Option<usize>) -> usize {
    at.unwrap_or(0).saturating_sub(1)
}

fn choose(link: &HtmlElement) {
    if let Some(pick) = pick_of(link) {
        pick.click();
    }
}

/// Chooses a job where it is not chosen; `false` where it has ended, or the reader may not stop it.
fn choose_to_stop(link: &HtmlElement) -> bool {
    let Some(pick) = pick_of(link).filter(|pick| pick.has_attribute("data-stoppable")) else {
        return false;
    };
    if !pick.checked() {
        pick.click();
    }
    true
}

fn ask_to_stop() {
    let button = document().query_selector("button[data-stop]").ok().flatten();
    if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
        button.click();
    }
}

/// What chooses a job.
fn pick_of(link: &HtmlElement) -> Option<HtmlInputElement> {
    link.closest("tr").ok()??.query_selector(".pick input").ok()??.dyn_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gone_along_from_the_first_on() {
        assert_eq!((after(None), after(Some(0))), (0, 1));
        assert_eq!((before(None), before(Some(0)), before(Some(2))), (0, 0, 1));
        assert_eq!(act("l"), Some(Act::Open("logs")));
        assert_eq!((act("s"), act("S"), act("g")), (Some(Act::Stop), None, None));
    }

    #[test]
    fn a_clone_is_of_the_job_at_the_address() {
        assert_eq!(clone_of("/jobs/ada/train").as_deref(), Some("/submit?clone=ada~train"));
        assert_eq!(clone_of("/nodes/quay"), None);
    }
}
