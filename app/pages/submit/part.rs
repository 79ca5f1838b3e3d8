//! The ways to write a job as pieces of code.

use futures::FutureExt;
use futures::future::join5;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::edge;
use crate::pages::submit::SubmitPage;
use crate::pages::submit::cloned::submit_cloned;
use crate::pages::submit::declared::sections::submit_form_declared;
use crate::pages::submit::file::submit_file;
use crate::pages::submit::job_form::submit_form;
use crate::pages::submit::later::submit_later;
use crate::pages::submit::overlay::submit_editor;
use crate::pages::submit::problems::submit_problems;
use crate::pages::submit::state::Way;
use crate::part::{MakeView, Page};

/// The page that submits jobs.
pub(crate) fn page() -> Page {
    Page::of_parts(|| submit().boxed_local(), || first().boxed_local())
}

/// Fetches what the address names: the way, and that it begins with a job's clone.
async fn first() {
    let query = use_query_map();
    let said = |name: &str| query.read_untracked().get(name).unwrap_or_default();
    let (way, clone) = (Way::from_word(&said("way")), said("clone"));
    let way = async {
        match way {
            Way::Form => {
                submit_form().await;
            }
            Way::Editor => {
                submit_editor().await;
            }
            Way::File => {
                submit_file().await;
            }
        }
    };
    let cloned = async {
        if !clone.is_empty() {
            submit_cloned().await;
        }
    };
    let later = async {
        if edge::shows(LATER) {
            submit_later().await;
        }
    };
    let problems = async {
        if edge::shows(PROBLEMS) {
            submit_problems().await;
        }
    };
    let declared = async {
        if edge::shows(DECLARED) {
            submit_form_declared().await;
        }
    };
    join5(way, cloned, later, problems, declared).await;
}

/// What the page that the server sent shows where the job would not start now.
const LATER: &str = ".verdict__line--wait, .verdict__line--bad";
/// What it shows where something is wrong, or worth knowing.
const PROBLEMS: &str = ".problems, .submit__verdict .notice";
/// What it shows where the text declares what only these fields show.
const DECLARED: &str = ".declared__fields";

// Each part's entry stands beside what it opens, so that whoever opens it knows that alone. By the names
// the build knows that the parts come after the page, and packs nothing into them that the page has.

#[lazy]
fn submit() -> MakeView {
    || view! { <SubmitPage/> }.into_any()
}
