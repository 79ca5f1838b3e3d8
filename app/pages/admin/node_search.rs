use leptos::prelude::*;
use protocol::ids::NodeName;

use crate::address::encode;
use crate::i18n::tr;
use crate::parts::search_form::{SearchField, SearchForm};

/// Nodes a page: each comes with all that can be done with it.
pub(super) const PAGE: u64 = 25;

/// No list is longer; an address may name any number.
const LAST_PAGE: u64 = 1_000_000;

/// Which nodes are listed, as the address says: `?q=a100&page=2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) text: String,
    /// The page, from 1.
    pub(super) page: u64,
}

impl Asked {
    /// Reads the values of an address; what cannot be read is as if it were not there.
    pub(super) fn read(value: impl Fn(&str) -> Option<String>) -> Self {
        let page = value("page").and_then(|page| page.parse().ok()).unwrap_or(1);
        Self {
            text: value("q").unwrap_or_default().trim().to_owned(),
            page: u64::clamp(page, 1, LAST_PAGE),
        }
    }

    /// How many nodes are on the pages before.
    pub(super) fn offset(&self) -> u64 {
        (self.page - 1) * PAGE
    }

    /// The address of another page of the same.
    pub(super) fn on_page(&self, page: u64) -> String {
        self.address(page, None)
    }

    /// The address at which a node of the page is changed.
    pub(super) fn editing(&self, name: &NodeName) -> String {
        self.address(self.page, Some(name))
    }

    fn address(&self, page: u64, edited: Option<&NodeName>) -> String {
        let text = (!self.text.is_empty()).then(|| format!("q={}", encode(&self.text)));
        let page = (page > 1).then(|| format!("page={page}"));
        let edited = edited.map(|name| format!("edit={name}"));
        let said: Vec<String> = [text, page, edited].into_iter().flatten().collect();
        if said.is_empty() {
            "/admin/nodes".to_owned()
        } else {
            format!("/admin/nodes?{}", said.join("&"))
        }
    }
}

/// Above the table: the field that searches all nodes, and the way to add one.
#[component]
pub(super) fn SearchBar(asked: Memo<Asked>) -> impl IntoView {
    let words = Memo::new(move |_| asked.read().text.clone());
    let clear = move || {
        (!words.read().is_empty()).then(|| {
            view! {
                <a class="button button--quiet" href="/admin/nodes">{tr(|t| t.jobs.clear)}</a>
            }
        })
    };
    view! {
        <div class="table-bar">
            <SearchForm action="/admin/nodes">
                <SearchField words=words label=|t| t.map.search hint=|t| t.map.search/>
                <button class="button" type="submit">{tr(|t| t.jobs.apply)}</button>
                {move || clear()}
            </SearchForm>
            <a class="button button--primary" href="#add-node">{tr(|t| t.admin.add_node)}</a>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Asked {
        Asked::read(|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn an_address_says_what_is_searched_and_which_page() {
        let asked = read(&[("q", " a100 sim "), ("page", "3")]);
        assert_eq!((asked.text.as_str(), asked.offset()), ("a100 sim", 2 * PAGE));
        assert_eq!(asked.on_page(2), "/admin/nodes?q=a100+sim&page=2");
        let node = "a100-7".parse().unwrap();
        assert_eq!(asked.editing(&node), "/admin/nodes?q=a100+sim&page=3&edit=a100-7");
        assert_eq!(read(&[("page", "0")]).on_page(1), "/admin/nodes");
        assert_eq!(read(&[("page", "many")]).offset(), 0);
    }
}
