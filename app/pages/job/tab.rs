use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::address;
use crate::i18n::{Texts, tr};

/// The parts of the job's page, each with an address of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Overview,
    Tasks,
    Logs,
    Metrics,
    Connect,
    Terminal,
    Events,
    Config,
}

impl Tab {
    const ALL: [Tab; 8] = [
        Tab::Overview,
        Tab::Tasks,
        Tab::Logs,
        Tab::Metrics,
        Tab::Connect,
        Tab::Terminal,
        Tab::Events,
        Tab::Config,
    ];

    /// Reads the address's word; what is unknown is the overview.
    pub(crate) fn read(word: Option<&str>) -> Self {
        Self::ALL.into_iter().find(|tab| Some(tab.as_str()) == word).unwrap_or(Tab::Overview)
    }

    fn as_str(self) -> &'static str {
        match self {
            Tab::Overview => "overview",
            Tab::Tasks => "tasks",
            Tab::Logs => "logs",
            Tab::Metrics => "metrics",
            Tab::Connect => "connect",
            Tab::Terminal => "terminal",
            Tab::Events => "events",
            Tab::Config => "config",
        }
    }

    fn word(self) -> fn(&'static Texts) -> &'static str {
        match self {
            Tab::Overview => |t| t.job.overview,
            Tab::Tasks => |t| t.job.tasks,
            Tab::Logs => |t| t.job.logs,
            Tab::Metrics => |t| t.metrics.tab,
            Tab::Connect => |t| t.connect.tab,
            Tab::Terminal => |t| t.job.terminal,
            Tab::Events => |t| t.job.events,
            Tab::Config => |t| t.job.config,
        }
    }

    fn address(self, key: &JobKey) -> String {
        match self {
            Tab::Overview => address::job(key),
            Tab::Tasks
            | Tab::Logs
            | Tab::Metrics
            | Tab::Connect
            | Tab::Terminal
            | Tab::Events
            | Tab::Config => address::job_tab(key, self.as_str()),
        }
    }
}

/// The ways to the parts.
#[component]
pub(crate) fn Tabs(key: JobKey, tab: Memo<Tab>) -> impl IntoView {
    let links = Tab::ALL.map(|each| {
        view! {
            <a
                class="tab"
                href=each.address(&key)
                aria-current=move || (tab.get() == each).then_some("page")
                data-noscroll="true"
            >
                {tr(each.word())}
            </a>
        }
    });
    view! { <nav class="tabs" aria-label=tr(|t| t.job.tabs)>{links}</nav> }
}

#[cfg(test)]
mod tests {
    use super::Tab;

    #[test]
    fn tabs_are_read_from_addresses() {
        assert_eq!(Tab::read(Some("logs")), Tab::Logs);
        assert_eq!(Tab::read(Some("nothing")), Tab::Overview);
        assert_eq!(Tab::read(None), Tab::Overview);
    }
}
