use api::files::FilePath;
use leptos::prelude::*;

use crate::address;
use crate::i18n::tr;

/// The folders on the way, each a link, and where this is at the end.
#[component]
pub(crate) fn Crumbs(path: FilePath) -> impl IntoView {
    let mut way = Vec::new();
    let mut folder = Some(path);
    while let Some(at) = folder.filter(|at| !at.name().is_empty()) {
        folder = at.parent();
        way.push(at);
    }
    let last = way.first().cloned();
    let steps = way.into_iter().rev().map(|step| {
        let here = (Some(&step) == last.as_ref()).then_some("page");
        let name = step.name().to_owned();
        view! { <li><a href=address::files(&step) aria-current=here>{name}</a></li> }
    });
    let steps = steps.collect_view();
    let at_root = last.is_none().then_some("page");
    view! {
        <nav class="crumbs" aria-label=tr(|t| t.files.way)>
            <ol>
                <li>
                    <a href=address::files(&FilePath::new("/")) aria-current=at_root>
                        {tr(|t| t.files.root)}
                    </a>
                </li>
                {steps}
            </ol>
        </nav>
    }
}
