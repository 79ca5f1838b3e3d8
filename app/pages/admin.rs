mod audit;
mod clusters;
mod groups;
mod idle;
mod idle_fields;
mod limit_fields;
mod named_limits;
mod node_form;
mod node_search;
mod nodes;
mod nodes_many;
pub(crate) mod part;
mod remove;
mod storages;
mod users;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use crate::i18n::{Texts, text, tr};
use crate::pages::not_found::NotFoundPage;
use crate::part::opened;
use crate::parts::page_header::PageHeader;
use crate::session::Session;

/// The parts of the administration, each with an address of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Users,
    Groups,
    Nodes,
    Clusters,
    Storages,
    Audit,
}

impl Section {
    const ALL: [Section; 6] = [
        Section::Users,
        Section::Groups,
        Section::Nodes,
        Section::Clusters,
        Section::Storages,
        Section::Audit,
    ];

    /// Reads the address's word; without one it is the users.
    fn read(word: Option<&str>) -> Option<Self> {
        let Some(word) = word else { return Some(Self::Users) };
        Self::ALL.into_iter().find(|section| section.as_str() == word)
    }

    fn as_str(self) -> &'static str {
        match self {
            Section::Users => "users",
            Section::Groups => "groups",
            Section::Nodes => "nodes",
            Section::Clusters => "clusters",
            Section::Storages => "storages",
            Section::Audit => "audit",
        }
    }

    fn word(self) -> fn(&'static Texts) -> &'static str {
        match self {
            Section::Users => |t| t.admin.users,
            Section::Groups => |t| t.accounts.groups,
            Section::Nodes => |t| t.admin.nodes,
            Section::Clusters => |t| t.admin.clusters,
            Section::Storages => |t| t.storages.title,
            Section::Audit => |t| t.admin.audit,
        }
    }
}

/// Users, groups, nodes, virtual clusters and storages, for administrators.
#[component]
pub(crate) fn AdminPage() -> impl IntoView {
    let params = use_params_map();
    let section = Memo::new(move |_| Section::read(params.read().get("section").as_deref()));
    let is_known = Memo::new(move |_| section.read().is_some());
    move || match is_known.get() {
        true => view! { <Sections section=section/> }.into_any(),
        false => view! { <NotFoundPage/> }.into_any(),
    }
}

#[component]
fn Sections(section: Memo<Option<Section>>) -> impl IntoView {
    let allowed = Session::get().is_admin();
    let links = Section::ALL.map(|each| {
        let href = format!("/admin/{}", each.as_str());
        view! {
            <a
                class="tab"
                href=href
                aria-current=move || (section.get() == Some(each)).then_some("page")
            >
                {tr(each.word())}
            </a>
        }
    });
    let part = opened(Signal::derive(move || section.get().filter(|_| allowed)), part::part);
    let refused =
        (!allowed).then(|| view! { <p class="notice notice--warn">{tr(|t| t.admin.only)}</p> });
    view! {
        <PageHeader title=text(|t| t.admin.title)/>
        <nav class="tabs" aria-label=tr(|t| t.admin.sections)>{links}</nav>
        {refused}
        {move || part.get().map(|part| part())}
    }
}

#[cfg(test)]
mod tests {
    use super::Section;

    #[test]
    fn sections_are_read_from_addresses() {
        for section in Section::ALL {
            assert_eq!(Section::read(Some(section.as_str())), Some(section));
        }
        assert_eq!(Section::read(None), Some(Section::Users));
        assert_eq!(Section::read(Some("zzz")), None);
    }
}
