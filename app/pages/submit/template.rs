use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::address;
use crate::i18n::Language;
use crate::pages::submit::state::{Editing, Notice};
use crate::server_fns::submit::open_template;
use crate::session::Session;
use crate::template::{Template, TemplateWords};

/// An example in the menu. Choosing it replaces the text, which can be undone.
#[component]
pub(crate) fn Item(template: Template, close: Callback<()>) -> impl IntoView {
    let editing = Editing::get();
    let href = format!("/submit?template={}", address::encode(&template.name));
    let name = template.name.clone();
    let template = StoredValue::new(template);
    let choose = move |event: web_sys::MouseEvent| {
        if event.ctrl_key() || event.meta_key() || event.shift_key() {
            return;
        }
        event.prevent_default();
        close.run(());
        spawn_local(load(editing, name.clone()));
    };
    let language = Session::get().language;
    let title = move || template.with_value(|it| words(it, language.get()).title.clone());
    let description =
        move || template.with_value(|it| words(it, language.get()).description.clone());
    view! {
        <li>
            <a class="menu__item" href=href on:click=choose>
                <span class="menu__title">{move || title()}</span>
                <span class="hint">{move || description()}</span>
            </a>
        </li>
    }
}

async fn load(editing: Editing, name: String) {
    if let Ok(text) = open_template(name).await
        && let Some(before) = editing.text.try_get_untracked()
    {
        let untouched = editing.opened.with_value(|opened| *opened == before);
        editing.opened.set_value(text.clone());
        editing.cloned_from.set(None);
        editing.text.set(text);
        editing.notice.set((!untouched).then_some(Notice::TemplateLoaded { before }));
    }
}

fn words(template: &Template, language: Language) -> &TemplateWords {
    match language {
        Language::English => &template.en,
        Language::Chinese => &template.zh,
    }
}
