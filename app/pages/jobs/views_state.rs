//! What the list of named views and the dialog that changes it have in common.

use api::saved_views::SavedView;
use leptos::prelude::*;

use crate::pages::jobs::filter::Filter;
use crate::parts::confirm::Opener;
use crate::reading::{Reading, reading};
use crate::server_fns::saved_views::list_views;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Views {
    /// What the list of jobs shows now.
    pub(crate) filter: Memo<Filter>,
    pub(crate) saved: Reading<Vec<SavedView>>,
    /// Counts their changes.
    pub(crate) changes: RwSignal<usize>,
    pub(crate) opener: Opener,
    /// Whether the dialog was ever asked for: its code comes when it is needed.
    pub(crate) asked: RwSignal<bool>,
}

impl Views {
    pub(crate) fn of(filter: Memo<Filter>) -> Self {
        let changes = RwSignal::new(0_usize);
        let saved = reading(move || changes.get(), |_| list_views());
        Self { filter, saved, changes, opener: Opener::new(), asked: RwSignal::new(false) }
    }
}

/// The list that a view shows.
pub(crate) fn shown(view: &SavedView) -> Filter {
    Filter::read(|key| match key {
        "q" => Some(view.filter.clone()),
        "all" => view.all.then(|| "1".to_owned()),
        "sort" => Some(view.sort.clone()),
        _other => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_leads_to_its_list() {
        let view = |filter: &str, all, sort: &str| SavedView {
            name: "any".to_owned(),
            filter: filter.to_owned(),
            all,
            sort: sort.to_owned(),
        };
        for (view, address) in [
            (view("", false, ""), "/jobs"),
            (view("", false, "-submitted"), "/jobs"),
            (view("state:failed", true, "-gpus"), "/jobs?q=state:failed&all=1&sort=-gpus"),
            (view("a", false, "nonsense"), "/jobs?q=a"),
        ] {
            assert_eq!(shown(&view).address(), address);
        }
    }

    #[test]
    fn what_is_shown_is_saved_so_that_it_is_shown_again() {
        let shows =
            Filter { text: "state:failed a".into(), all: true, page: 1, ..Filter::default() };
        let view = SavedView {
            name: "any".to_owned(),
            filter: shows.text.clone(),
            all: shows.all,
            sort: shows.sort_word(),
        };
        assert!(view.check().is_ok());
        assert_eq!(shown(&view), shows);
    }
}
