//! The ways to write a job as pieces of code.

use futures::FutureExt;
use futures::future::join4;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::edge;
use crate::pages::submit::SubmitPage;
use crate::pages::submit::cloned::ClonedFrom;
use crate::pages::submit::engine::{ENGINE, Engine};
use crate::pages::submit::file::FileWay;
use crate::pages::submit::happened::Happened;
use crate::pages::submit::images::ImageChoices;
use crate::pages::submit::job_form::JobForm;
use crate::pages::submit::later::Later;
use crate::pages::submit::problems::Problems;
use crate::pages::submit::state::Way;
use crate::pages::submit::template::Item;
use crate::pages::submit::templates::Items;
use crate::part::{MakeView, Page};
use crate::parts::editor::Overlay;
use crate::parts::editor::bar::Bar;
use crate::parts::editor::overlay::MonacoOverlay;

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
    join4(way, cloned, later, problems).await;
}

/// What the page that the server sent shows where the job would not start now.
const LATER: &str = ".verdict__line--wait, .verdict__line--bad";
/// What it shows where something is wrong, or worth knowing.
const PROBLEMS: &str = ".problems, .submit__verdict .notice";

// By the names the build knows that the parts come after the page, and packs nothing into them that the
// page has.

#[lazy]
fn submit() -> MakeView {
    || view! { <SubmitPage/> }.into_any()
}

/// The text as fields.
#[lazy]
pub(super) fn submit_form() -> MakeView {
    || view! { <JobForm/> }.into_any()
}

/// The images that its fields offer.
#[lazy]
pub(super) fn submit_form_images() -> MakeView {
    || view! { <ImageChoices/> }.into_any()
}

/// What reads and changes the text.
#[lazy]
pub(super) fn submit_engine() -> &'static Engine {
    &ENGINE
}

/// What is laid over the plain text.
#[lazy]
pub(super) fn submit_editor() -> &'static Overlay {
    &OVERLAY
}

static OVERLAY: Overlay = Overlay {
    above: |edited| view! { <Bar edited=edited/> }.into_any(),
    over: |edited| view! { <MonacoOverlay edited=edited/> }.into_any(),
};

/// What is in the menu of examples.
#[lazy]
pub(super) fn submit_templates() -> Items {
    |templates, close| {
        let item = |template| view! { <Item template=template close=close/> };
        templates.into_iter().map(item).collect_view().into_any()
    }
}

/// Why a job would not start now.
#[lazy]
pub(super) fn submit_later() -> MakeView {
    || view! { <Later/> }.into_any()
}

/// What is wrong.
#[lazy]
pub(super) fn submit_problems() -> MakeView {
    || view! { <Problems/> }.into_any()
}

/// What happened to the text.
#[lazy]
pub(super) fn submit_happened() -> MakeView {
    || view! { <Happened/> }.into_any()
}

/// A file as the text.
#[lazy]
pub(super) fn submit_file() -> MakeView {
    || view! { <FileWay/> }.into_any()
}

/// What a text was cloned from.
#[lazy]
pub(super) fn submit_cloned() -> MakeView {
    || view! { <ClonedFrom/> }.into_any()
}
