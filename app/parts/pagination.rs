use leptos::prelude::*;

use crate::i18n::{Reader, tr};

/// Where a list is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// The page, from 1.
    pub(crate) page: u64,
    /// Rows a page.
    pub(crate) size: u64,
    /// Rows in all.
    pub(crate) total: u64,
}

impl Window {
    pub(crate) fn pages(self) -> u64 {
        self.total.div_ceil(self.size).max(1)
    }

    /// The first and the last row shown; an empty list, or one shorter than the page asked for, has
    /// none.
    fn rows(self) -> Option<(u64, u64)> {
        let first = (self.page - 1) * self.size + 1;
        (first <= self.total).then_some((first, (self.page * self.size).min(self.total)))
    }
}

/// The foot of a list: which rows are shown, and the ways to the others.
#[component]
pub(crate) fn Pagination(
    window: Window,
    /// The address of a page.
    #[prop(into)]
    address: Callback<u64, String>,
) -> impl IntoView {
    let reader = Reader::get();
    let range = window
        .rows()
        .map(|(first, last)| move || (reader.texts().common.range)(first, last, window.total));
    let previous = (window.page > 1).then(|| {
        view! {
            <a class="button" rel="prev" href=address.run((window.page - 1).min(window.pages()))>
                {tr(|t| t.common.previous)}
            </a>
        }
    });
    let next = (window.page < window.pages()).then(|| {
        view! {
            <a class="button" rel="next" href=address.run(window.page + 1)>
                {tr(|t| t.common.next)}
            </a>
        }
    });
    view! {
        <nav class="pagination" aria-label=tr(|t| t.common.pages)>
            <span class="pagination__range">{range}</span>
            {previous}
            {next}
        </nav>
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

    #[test]
    fn the_last_page_may_be_short() {
        let window = Window { page: 3, size: 50, total: 101 };
        assert_eq!((window.rows(), window.pages()), (Some((101, 101)), 3));
    }

    #[test]
    fn an_empty_list_has_one_page_without_rows() {
        let window = Window { page: 1, size: 50, total: 0 };
        assert_eq!((window.rows(), window.pages()), (None, 1));
        assert_eq!(Window { page: 4, total: 101, ..window }.rows(), None);
    }
}
