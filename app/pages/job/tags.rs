use leptos::html::Input;
use leptos::prelude::*;
use protocol::ids::{JobKey, Tag};

use crate::i18n::{text, told, tr};
use crate::pages::job::detail::Detail;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::send_form::SendForm;
use crate::parts::tag_list::chip;
use crate::sending::Sending;
use crate::server_fns::jobs::{AddTag, JobSeen, RemoveTag};
use crate::session::Session;

/// The job's tags; its owner adds some and takes them off. The form stays while the job changes.
#[component]
pub(crate) fn Tags(key: JobKey, detail: Detail) -> impl IntoView {
    let (add, remove) = (Sending::to::<AddTag>(), Sending::to::<RemoveTag>());
    let session = Session::get();
    let own = session.actor().is_some_and(|actor| actor.user == key.user);
    let manages = own || session.is_admin();
    let of_form = key.clone();
    let form = manages.then(|| view! { <Add key=of_form add=add remove=remove/> });
    let remove = manages.then_some(remove);
    view! {
        <div class="job-tags">
            <Loaded
                resource=detail
                lines=1
                content=move |detail: JobSeen| {
                    let tags = detail.summary.tags;
                    view! { <Chips key=key.clone() tags=tags all=!own remove=remove/> }
                }
            />
            {form}
        </div>
    }
    .into_any()
}

#[component]
fn Chips(key: JobKey, tags: Vec<Tag>, all: bool, remove: Option<Sending>) -> impl IntoView {
    if tags.is_empty() {
        return ().into_any();
    }
    let chips = tags.into_iter().map(|tag| {
        let shown = chip(&tag, all);
        let key = key.clone();
        let remove = remove.map(|remove| view! { <Remove key=key tag=tag remove=remove/> });
        view! { <li>{shown} {remove}</li> }
    });
    let chips = chips.collect_view();
    view! { <ul class="tags" aria-label=tr(|t| t.job.tags)>{chips}</ul> }.into_any()
}

#[component]
fn Remove(key: JobKey, tag: Tag, remove: Sending) -> impl IntoView {
    let words = tag.to_string();
    let label = told(move |t| (t.job.remove_tag)(&words));
    view! {
        <SendForm to=remove>
            <input type="hidden" name="key" value=key.to_string()/>
            <input type="hidden" name="tag" value=tag.to_string()/>
            <button type="submit" class="tag__remove" aria-label=label>"×"</button>
        </SendForm>
    }
    .into_any()
}

#[component]
fn Add(key: JobKey, add: Sending, remove: Sending) -> impl IntoView {
    let field = NodeRef::<Input>::new();
    let added = move || add.value().with_untracked(|answer| matches!(answer, Some(Ok(()))));
    let clear = move || {
        if let Some(field) = field.get_untracked().filter(|_| added()) {
            field.set_value("");
        }
    };
    Effect::watch(move || add.version().get(), move |_, _, _| clear(), false);
    view! {
        <SendForm to=add attr:class="job-tags__add">
            <input type="hidden" name="key" value=key.to_string()/>
            <input
                class="input"
                name="tag"
                required=true
                maxlength="256"
                pattern="[^,]+"
                autocomplete="off"
                node_ref=field
                placeholder=tr(|t| t.job.new_tag)
                aria-label=tr(|t| t.job.new_tag)
            />
            <button class="button button--small" type="submit">{tr(|t| t.job.add_tag)}</button>
            <FormAnswer answer=add.value() done=text(|t| t.common.saved)/>
        </SendForm>
        <FormAnswer answer=remove.value() done=text(|t| t.common.saved)/>
    }
    .into_any()
}
