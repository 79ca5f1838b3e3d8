//! What is laid over the plain text.

use leptos::prelude::*;

use crate::parts::editor::Overlay;
use crate::parts::editor::bar::Bar;
use crate::parts::editor::overlay::MonacoOverlay;

/// What is laid over the plain text.
#[lazy]
pub(super) fn submit_editor() -> &'static Overlay {
    &OVERLAY
}

static OVERLAY: Overlay = Overlay {
    above: |edited| view! { <Bar edited=edited/> }.into_any(),
    over: |edited| view! { <MonacoOverlay edited=edited/> }.into_any(),
};
