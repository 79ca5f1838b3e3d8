use leptos::prelude::*;
use leptos_meta::Title;

/// The title of a page, in the document and in the browser's tab, with the page's main actions.
#[component]
pub(crate) fn PageHeader(
    #[prop(into)] title: Signal<String>,
    /// The main actions.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <Title text=lasting(title)/>
        <header class="page-header">
            <h1 class="page-header__title">{move || title.get()}</h1>
            {children.map(|children| view! { <div class="page-header__actions">{children()}</div> })}
        </header>
    }
}

/// A title that can be asked for when the page is gone: the server writes the document's head after
/// the page is rendered, and by then what belongs to the page may have been disposed of.
fn lasting(title: Signal<String>) -> impl Fn() -> String + Send + Sync + 'static {
    let last = title.get_untracked();
    move || title.try_get().unwrap_or_else(|| last.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_said_though_its_page_is_gone() {
        let owner = Owner::new();
        let signal = owner.with(|| Signal::derive(|| "Submit a job".to_owned()));
        let title = lasting(signal);
        assert_eq!(title(), "Submit a job");
        owner.cleanup();
        assert_eq!(signal.try_get(), None, "it is gone");
        assert_eq!(title(), "Submit a job");
    }
}
