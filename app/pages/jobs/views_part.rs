//! What changes the named views, as a piece of code.

use leptos::prelude::*;

use crate::pages::jobs::views_dialog::ViewsDialog;
use crate::pages::jobs::views_state::Views;

/// Makes the dialog that saves, renames and removes views.
pub(super) type Dialog = fn(Views) -> AnyView;

// By the name the build knows that it comes after the page.

#[lazy]
pub(super) fn jobs_views() -> Dialog {
    |views| view! { <ViewsDialog views=views/> }.into_any()
}
