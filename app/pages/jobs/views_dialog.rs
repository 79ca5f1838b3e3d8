//! Saves what the list shows under a name, renames and removes what was saved. It is fetched when it is
//! opened for the first time.

use api::saved_views::SavedView;
use leptos::prelude::*;

use crate::i18n::{text, told, tr};
use crate::pages::jobs::views_state::Views;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::saved_views::{RemoveView, RenameView, SaveView};

#[component]
pub(crate) fn ViewsDialog(views: Views) -> impl IntoView {
    let save = Sending::to::<SaveView>();
    let (rename, remove) = (Sending::to::<RenameView>(), Sending::to::<RemoveView>());
    let (opener, changes) = (views.opener, views.changes);
    Effect::new(move |_| {
        // It was asked for before it was there.
        if opener.0.get().is_some() {
            opener.open();
        }
    });
    let answers = move || [save.version().get(), rename.version().get(), remove.version().get()];
    Effect::watch(answers, move |_, _, _| changes.update(|changes| *changes += 1), false);
    view! {
        <dialog class="dialog" node_ref=opener.0 aria-label=tr(|t| t.views.title)>
            <h2 class="dialog__title">{tr(|t| t.views.title)}</h2>
            <Save views=views save=save/>
            <Loaded
                resource=views.saved
                lines=1
                content=move |saved| view! { <Saved saved=saved rename=rename remove=remove/> }
            />
            <FormAnswer answer=rename.value() done=text(|t| t.common.saved)/>
            <FormAnswer answer=remove.value() done=text(|t| t.views.removed)/>
            <div class="dialog__actions">
                <button type="button" class="button" on:click=move |_| opener.close()>
                    {tr(|t| t.views.close)}
                </button>
            </div>
        </dialog>
    }
    .into_any()
}

/// Saves what the list shows now.
#[component]
fn Save(views: Views, save: Sending) -> impl IntoView {
    let filter = views.filter;
    let all = move || if filter.read().all { "1" } else { "" };
    view! {
        <p class="dialog__text">{tr(|t| t.views.save_text)}</p>
        <SendForm to=save attr:class="views__form">
            <input type="hidden" name="filter" value=move || filter.read().text.clone()/>
            <input type="hidden" name="all" value=move || all()/>
            <input type="hidden" name="sort" value=move || filter.read().sort_word()/>
            <input
                class="input"
                name="name"
                required=true
                maxlength="64"
                autocomplete="off"
                placeholder=tr(|t| t.views.name)
                aria-label=tr(|t| t.views.name)
            />
            <button class="button button--primary" type="submit">{tr(|t| t.common.save)}</button>
            <FormAnswer answer=save.value() done=text(|t| t.common.saved)/>
        </SendForm>
    }
    .into_any()
}

/// Each with its name to be changed, and a way to remove it.
#[component]
fn Saved(saved: Vec<SavedView>, rename: Sending, remove: Sending) -> impl IntoView {
    let lines = saved.into_iter().map(|SavedView { name, .. }| {
        let (of_field, of_rename, of_remove) = (name.clone(), name.clone(), name.clone());
        let removed = name.clone();
        let name_of = told(move |t| (t.views.name_of)(&of_field));
        let rename_it = told(move |t| (t.views.rename)(&of_rename));
        let remove_it = told(move |t| (t.views.remove)(&of_remove));
        view! {
            <li class="views__line">
                <SendForm to=rename attr:class="views__form">
                    <input type="hidden" name="name" value=name.clone()/>
                    <input
                        class="input"
                        name="to"
                        required=true
                        maxlength="64"
                        autocomplete="off"
                        value=name.clone()
                        prop:value=name.clone()
                        aria-label=name_of
                    />
                    <button class="button button--small" type="submit" aria-label=rename_it>
                        {tr(|t| t.views.rename_short)}
                    </button>
                </SendForm>
                <SendForm to=remove>
                    <input type="hidden" name="name" value=removed/>
                    <button class="button button--small" type="submit" aria-label=remove_it>
                        {tr(|t| t.common.remove)}
                    </button>
                </SendForm>
            </li>
        }
    });
    let lines = lines.collect_view();
    view! { <ul class="views__saved">{lines}</ul> }.into_any()
}
