//! The sections as pieces of code.

use futures::future::join;
use leptos::prelude::*;
use leptos_router::LazyRoute;
use leptos_router::hooks::use_params_map;

use crate::pages::admin::audit::AuditLog;
use crate::pages::admin::clusters::Clusters;
use crate::pages::admin::nodes::Nodes;
use crate::pages::admin::users::Users;
use crate::pages::admin::{AdminPage, Section};

/// Makes the view of a section.
type Part = fn() -> AnyView;

/// The page, and the section that the address names.
#[derive(Debug)]
pub(crate) struct AdminRoute;

impl LazyRoute for AdminRoute {
    fn data() -> Self {
        Self
    }

    async fn view(_route: Self) -> AnyView {
        (admin().await)()
    }

    async fn preload() {
        let section = use_params_map().read_untracked().get("section");
        join(admin(), part(Section::read(section.as_deref()))).await;
    }
}

/// The code of a section.
pub(super) async fn part(section: Section) -> Part {
    match section {
        Section::Users => admin_users().await,
        Section::Nodes => admin_nodes().await,
        Section::Clusters => admin_clusters().await,
        Section::Audit => admin_audit().await,
    }
}

// By the names the build knows that the sections come after the page, and packs nothing into them that
// the page has.

#[lazy]
fn admin() -> Part {
    || view! { <AdminPage/> }.into_any()
}

#[lazy]
fn admin_users() -> Part {
    || view! { <Users/> }.into_any()
}

#[lazy]
fn admin_nodes() -> Part {
    || view! { <Nodes/> }.into_any()
}

#[lazy]
fn admin_clusters() -> Part {
    || view! { <Clusters/> }.into_any()
}

#[lazy]
fn admin_audit() -> Part {
    || view! { <AuditLog/> }.into_any()
}
