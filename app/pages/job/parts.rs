use crate::pages::job::config_tab::job_config;
use crate::pages::job::connect_tab::job_connect;
use crate::pages::job::detail::Part;
use crate::pages::job::events_tab::job_events;
use crate::pages::job::log_tab::job_logs;
use crate::pages::job::metrics_tab::job_metrics;
use crate::pages::job::overview_tab::job_overview;
use crate::pages::job::tab::Tab;
use crate::pages::job::tasks_tab::job_tasks;
use crate::pages::job::terminal_tab::job_terminal;

/// The code of a part.
pub(super) async fn part(tab: Tab) -> Part {
    match tab {
        Tab::Overview => job_overview().await,
        Tab::Tasks => job_tasks().await,
        Tab::Logs => job_logs().await,
        Tab::Metrics => job_metrics().await,
        Tab::Connect => job_connect().await,
        Tab::Terminal => job_terminal().await,
        Tab::Events => job_events().await,
        Tab::Config => job_config().await,
    }
}
