//! The parts of the page as pieces of code.

use futures::FutureExt;
use futures::future::join4;
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use crate::edge;
use crate::pages::job::JobPage;
use crate::pages::job::log_tab::log;
use crate::pages::job::log_wanted::ALL;
use crate::pages::job::overview::USED;
use crate::pages::job::parts::part;
use crate::pages::job::tab::Tab;
use crate::pages::job::used::job_overview_used;
use crate::pages::job::why::job_overview_waiting;
use crate::part::{MakeView, Page};

/// The page of a job.
pub(crate) fn page() -> Page {
    Page::of_parts(|| job().boxed_local(), || first().boxed_local())
}

/// What it shows where the job waits.
const WAITING: &str = "#why-waiting";

/// Fetches the part that the address names.
async fn first() {
    let tab = Tab::read(use_params_map().read_untracked().get("tab").as_deref());
    let all = use_query_map().read_untracked().get("task").as_deref() == Some(ALL);
    let log = async {
        if tab == Tab::Logs {
            log(all).await;
        }
    };
    let waiting = async {
        if edge::shows(WAITING) {
            job_overview_waiting().await;
        }
    };
    let used = async {
        if edge::shows(&format!("#{USED}")) {
            job_overview_used().await;
        }
    };
    // What comes with all before it is asked for first.
    join4(log, part(tab), waiting, used).await;
}

// Each part's entry stands beside what it opens, so that whoever opens it knows that alone. By the names
// the build knows that the parts come after the page, and packs nothing into them that the page has.

#[lazy]
fn job() -> MakeView {
    || view! { <JobPage/> }.into_any()
}
