//! What was found in the logs of all tasks, as a piece of code.

use leptos::prelude::*;

use crate::pages::job::log_all_found::LogAllFound;
use crate::pages::job::log_all_state::AllSearch;

/// Makes the view of what was found.
pub(super) type AllFound = fn(AllSearch) -> AnyView;

// By the name the build knows that it comes after the log of all tasks.

#[lazy]
pub(super) fn job_logs_together_search() -> AllFound {
    |search| view! { <LogAllFound search=search/> }.into_any()
}
