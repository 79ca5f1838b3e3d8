//! The parts of the page as pieces of code.

use leptos::prelude::*;

use crate::pages::jobs::many_act::Asking;
use crate::pages::jobs::many_question::ManyQuestion;

/// Makes the question before something is done with many jobs.
pub(super) type Question = fn(Asking) -> AnyView;

// By the name the build knows that it comes after the page.

#[lazy]
pub(super) fn jobs_many() -> Question {
    |asking| view! { <ManyQuestion asking=asking/> }.into_any()
}
