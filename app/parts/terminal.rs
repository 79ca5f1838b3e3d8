//! A terminal in a task. xterm.js and the connection are JavaScript; what is said about them is ours.

mod files;
mod xterm;

use std::rc::Rc;

use api::terminals::TerminalEnd;
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use protocol::ids::{JobKey, RoleName};
use send_wrapper::SendWrapper;

use crate::address::encode;
use crate::i18n::{Reader, Texts, tr};
use crate::parts::terminal::files::Files;
use crate::parts::terminal::xterm::{Options, Xterm};
use crate::session::Session;

/// A shell that is open, or was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shell {
    pub(crate) job: JobKey,
    pub(crate) role: RoleName,
    pub(crate) index: u32,
    /// Tells shells of the same task apart, from 0.
    pub(crate) number: u32,
}

impl Shell {
    /// What people call it.
    pub(crate) fn name(&self) -> String {
        let Self { role, index, number, .. } = self;
        match number {
            0 => format!("{role}-{index}"),
            more => format!("{role}-{index} ({})", more + 1),
        }
    }

    fn address(&self) -> String {
        let Self { job, role, index, .. } = self;
        let role = encode(role.as_str());
        format!("/api/v1/user/{}/jobs/{}/terminal?role={role}&index={index}", job.user, job.name)
    }

    /// Where the container's files are asked for.
    fn files(&self) -> String {
        format!("/api/v1/user/{}/jobs/{}/files", self.job.user, self.job.name)
    }

    fn memory(&self) -> String {
        format!("terminal {}/{}", self.job, self.name())
    }
}

/// How a terminal is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    Opening,
    Open,
    Broken,
    /// Why; `None`: the server says more than this page knows.
    Ended(Option<TerminalEnd>),
    /// Why, in words.
    Refused(String),
    /// The script could not be loaded.
    Missing,
}

impl Condition {
    /// Reads what the script says.
    fn read(state: &str, detail: String) -> Self {
        match state {
            "open" => Self::Open,
            "broken" => Self::Broken,
            "refused" => Self::Refused(detail),
            "ended" => {
                let (reason, code) = detail.split_once(' ').unwrap_or((detail.as_str(), ""));
                Self::Ended(TerminalEnd::read(reason, code.parse().ok()))
            }
            _opening => Self::Opening,
        }
    }

    fn is_over(&self) -> bool {
        match self {
            Self::Ended(_) | Self::Refused(_) => true,
            Self::Opening | Self::Open | Self::Broken | Self::Missing => false,
        }
    }

    fn words(&self, texts: &'static Texts) -> String {
        let t = &texts.terminal;
        let word = match self {
            Self::Opening => t.opening,
            Self::Open => t.is_open,
            Self::Broken => t.broken,
            Self::Refused(words) => return (texts.said)(words),
            Self::Missing => t.missing,
            Self::Ended(Some(TerminalEnd::Exited(Some(code)))) => {
                return (t.exited_with)(&code.to_string());
            }
            Self::Ended(Some(TerminalEnd::Exited(None)) | None) => t.exited,
            Self::Ended(Some(TerminalEnd::Closed)) => t.closed,
            Self::Ended(Some(TerminalEnd::Left)) => t.left,
            Self::Ended(Some(TerminalEnd::Idle)) => t.idle,
            Self::Ended(Some(TerminalEnd::TakenOver)) => t.taken_over,
            Self::Ended(Some(TerminalEnd::Lost)) => t.lost,
            Self::Ended(Some(TerminalEnd::Revoked)) => t.revoked,
            Self::Ended(Some(TerminalEnd::Stopping)) => t.stopping,
        };
        word.to_owned()
    }
}

type Opened = RwSignal<Option<SendWrapper<Rc<Xterm>>>>;

/// One shell's screen, with what is to be said about it above.
#[component]
pub(crate) fn TerminalView(
    shell: Shell,
    /// Whether it is the one in sight.
    #[prop(into)]
    shown: Signal<bool>,
    /// Takes it away.
    on_close: Callback<()>,
) -> impl IntoView {
    let place = NodeRef::<Div>::new();
    let (condition, large) = (RwSignal::new(Condition::Opening), RwSignal::new(false));
    let opened: Opened = RwSignal::new(None);
    open(&shell, place, condition, opened);
    follow(shown, large, opened);
    let reader = Reader::get();
    let (name, of_files) = (shell.name(), shell.clone());
    let label = move || (reader.texts().terminal.label)(&name);
    let with =
        move |act: fn(&Xterm)| opened.with_untracked(|opened| opened.iter().for_each(|it| act(it)));
    let close = move |_| {
        with(Xterm::close);
        on_close.run(());
    };
    view! {
        <section
            class="shell"
            class:shell--large=large
            class:shell--hidden=move || !shown.get()
            aria-label=move || label()
        >
            <div class="shell__bar">
                <span class="shell__status" role="status">
                    {move || condition.read().words(reader.texts())}
                </span>
                <span class="hint wide">{tr(|t| t.terminal.hint)}</span>
                <Show when=move || condition.read().is_over()>
                    <button type="button" class="button button--small" on:click=move |_| with(Xterm::reopen)>
                        {tr(|t| t.terminal.again)}
                    </button>
                </Show>
                <button
                    type="button"
                    class="button button--small"
                    aria-pressed=move || large.get().to_string()
                    on:click=move |_| large.update(|large| *large = !*large)
                >
                    {tr(|t| t.terminal.large)}
                </button>
                <button type="button" class="button button--small" on:click=close>
                    {tr(|t| t.terminal.close)}
                </button>
            </div>
            <Files shell=of_files/>
            <div class="shell__screen" node_ref=place></div>
        </section>
    }
}

/// Opens it as soon as its place is there, and leaves it with the page.
fn open(shell: &Shell, place: NodeRef<Div>, condition: RwSignal<Condition>, opened: Opened) {
    let (address, memory, name) = (shell.address(), shell.memory(), shell.name());
    let reader = Reader::get();
    Effect::new(move |begun: Option<bool>| {
        let Some(element) = place.get().filter(|_| begun != Some(true)) else {
            return begun.unwrap_or(false);
        };
        let label = (reader.texts().terminal.label)(&name);
        let options = Options { address: address.clone(), memory: memory.clone(), label };
        spawn_local(async move {
            let told = move |state: String, detail: String| {
                condition.try_set(Condition::read(&state, detail));
            };
            match Xterm::open(&element, &options, told).await {
                // Dropped at once when the page has been left meanwhile.
                Some(xterm) => drop(opened.try_set(Some(SendWrapper::new(Rc::new(xterm))))),
                None => drop(condition.try_set(Condition::Missing)),
            }
        });
        true
    });
}

/// Keeps it at what the page says: in sight, as large, in these colours.
fn follow(shown: Signal<bool>, large: RwSignal<bool>, opened: Opened) {
    let session = Session::get();
    Effect::new(move |_| {
        large.track();
        if let (true, Some(xterm)) = (shown.get(), opened.get()) {
            request_animation_frame(move || xterm.show());
        }
    });
    Effect::new(move |_| {
        session.theme.track();
        if let Some(xterm) = opened.get() {
            // After the page itself has changed its colours.
            request_animation_frame(move || xterm.paint());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Language;

    #[test]
    fn shells_of_one_task_have_names_of_their_own() {
        let shell = |number| Shell {
            job: "ada~a".parse().unwrap(),
            role: "worker".parse().unwrap(),
            index: 2,
            number,
        };
        assert_eq!((shell(0).name(), shell(1).name()), ("worker-2".into(), "worker-2 (2)".into()));
        assert_ne!(shell(0).memory(), shell(1).memory());
        let address = "/api/v1/user/ada/jobs/a/terminal?role=worker&index=2";
        assert_eq!(shell(0).address(), address);
    }

    #[test]
    fn every_end_is_explained() {
        let words = |detail: &str| {
            Condition::read("ended", detail.to_owned()).words(Language::English.texts())
        };
        assert_eq!(words("exited 7"), "The shell has ended with exit code 7.");
        assert_eq!(words("exited"), "The shell has ended.");
        for reason in ["closed", "left", "idle", "taken_over", "lost", "revoked", "stopping"] {
            assert_ne!(words(reason), words("exited"), "{reason}");
        }
        assert_eq!(Condition::read("ended", "in a way of tomorrow".into()), Condition::Ended(None));
        assert!(Condition::read("ended", "left".into()).is_over());
        assert_eq!(Condition::read("refused", "why".into()), Condition::Refused("why".into()));
    }
}
