use leptos::prelude::*;
use protocol::ids::{Tag, UserName};

use crate::address;
use crate::i18n::tr;
use crate::session::Session;

/// A job's tags, each of which leads to the jobs that have it: the reader's own or, from somebody
/// else's job, everybody's.
#[component]
pub(crate) fn TagList(tags: Vec<Tag>, owner: UserName) -> impl IntoView {
    let own = Session::get().actor().is_some_and(|actor| actor.user == owner);
    let chips = tags.iter().map(|tag| view! { <li>{chip(tag, !own)}</li> }).collect_view();
    view! { <ul class="tags" aria-label=tr(|t| t.job.tags)>{chips}</ul> }.into_any()
}

/// A tag that leads to the jobs that have it, of the reader or of all.
pub(crate) fn chip(tag: &Tag, all: bool) -> AnyView {
    let words = tag.to_string();
    match address::tagged(tag, all) {
        Some(address) => view! { <a class="badge tag" href=address>{words}</a> }.into_any(),
        None => view! { <span class="badge tag">{words}</span> }.into_any(),
    }
}
