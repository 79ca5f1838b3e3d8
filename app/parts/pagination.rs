use leptos::prelude::*;

use crate::i18n::{Reader, tr};
use crate::number::count;

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

    /// The numbers to offer: the first, the last and those around this page; `None` for a gap.
    fn numbers(self) -> Vec<Option<u64>> {
        let (here, last) = (self.page.min(self.pages()), self.pages());
        let mut pages = vec![1, here.saturating_sub(1), here, here + 1, last];
        pages.retain(|page| (1..=last).contains(page));
        pages.sort_unstable();
        pages.dedup();
        let mut numbers = Vec::new();
        let mut before = 0;
        for page in pages {
            // A gap of one page is no shorter than its number.
            if page == before + 2 {
                numbers.push(Some(before + 1));
            } else if page > before + 2 {
                numbers.push(None);
            }
            numbers.push(Some(page));
            before = page;
        }
        numbers
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
    let number = |page: Option<u64>| {
        let Some(page) = page else {
            return view! { <li aria-hidden="true">"…"</li> }.into_any();
        };
        let here = (page == window.page).then_some("page");
        let label = move || (reader.texts().common.page)(page);
        view! {
            <li>
                <a class="page" href=address.run(page) aria-current=here aria-label=move || label()>
                    {count(page)}
                </a>
            </li>
        }
        .into_any()
    };
    let numbers =
        (window.pages() > 1).then(|| window.numbers().into_iter().map(number).collect_view());
    view! {
        <nav class="pagination" aria-label=tr(|t| t.common.pages)>
            <span class="pagination__range">{range}</span>
            {previous}
            {numbers.map(|numbers| view! { <ol class="pagination__pages">{numbers}</ol> })}
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
    fn the_first_the_last_and_the_near_pages_are_offered() {
        let shown = |page, total| {
            let numbers = Window { page, size: 1, total }.numbers();
            let text = numbers.into_iter().map(|n| n.map_or("…".to_owned(), |n| n.to_string()));
            text.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(1, 1), "1");
        assert_eq!(shown(1, 205), "1 2 … 205");
        assert_eq!(shown(3, 205), "1 2 3 4 … 205");
        assert_eq!(shown(4, 205), "1 2 3 4 5 … 205");
        assert_eq!(shown(100, 205), "1 … 99 100 101 … 205");
        assert_eq!(shown(205, 205), "1 … 204 205");
        assert_eq!(shown(900, 5), "1 … 4 5");
    }

    #[test]
    fn an_empty_list_has_one_page_without_rows() {
        let window = Window { page: 1, size: 50, total: 0 };
        assert_eq!((window.rows(), window.pages()), (None, 1));
        assert_eq!(Window { page: 4, total: 101, ..window }.rows(), None);
    }
}
