//! The sections as pieces of code.

use futures::FutureExt;
use futures::future::join;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use crate::pages::admin::audit::AuditLog;
use crate::pages::admin::clusters::Clusters;
use crate::pages::admin::groups::AllGroups;
use crate::pages::admin::nodes::Nodes;
use crate::pages::admin::storages::Storages;
use crate::pages::admin::users::Users;
use crate::pages::admin::{AdminPage, Section};
use crate::part::{MakeView, Page};
use crate::parts::quarantine::fetch_quarantine;

/// The page of the administration.
pub(crate) fn page() -> Page {
    Page::of_parts(|| admin().boxed_local(), || first().boxed_local())
}

/// Fetches the section that the address names.
async fn first() {
    let section = use_params_map().read_untracked().get("section");
    if let Some(section) = Section::read(section.as_deref()) {
        join(part(section), fetch_quarantine()).await;
    }
}

/// The code of a section.
pub(super) async fn part(section: Section) -> MakeView {
    match section {
        Section::Users => admin_users().await,
        Section::Groups => admin_groups().await,
        Section::Nodes => admin_nodes().await,
        Section::Clusters => admin_clusters().await,
        Section::Storages => admin_storages().await,
        Section::Audit => admin_audit().await,
    }
}

// By the names the build knows that the sections come after the page, and packs nothing into them that
// the page has.

#[lazy]
fn admin() -> MakeView {
    || view! { <AdminPage/> }.into_any()
}

#[lazy]
fn admin_users() -> MakeView {
    || view! { <Users/> }.into_any()
}

#[lazy]
fn admin_groups() -> MakeView {
    || view! { <AllGroups/> }.into_any()
}

#[lazy]
fn admin_nodes() -> MakeView {
    || view! { <Nodes/> }.into_any()
}

#[lazy]
fn admin_clusters() -> MakeView {
    || view! { <Clusters/> }.into_any()
}

#[lazy]
fn admin_storages() -> MakeView {
    || view! { <Storages/> }.into_any()
}

#[lazy]
fn admin_audit() -> MakeView {
    || view! { <AuditLog/> }.into_any()
}
