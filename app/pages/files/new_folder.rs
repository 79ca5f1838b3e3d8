use api::files::FilePath;
use leptos::html::Details;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::i18n::{text, tr};
use crate::pages::files::dialogs::Changes;
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;

/// Makes a folder in the one that is shown.
#[component]
pub(crate) fn NewFolder(folder: FilePath) -> impl IntoView {
    let make = Changes::get().make;
    let menu = NodeRef::<Details>::new();
    Effect::new(move |_| {
        if let Some(Ok(())) = make.value().get() {
            // The list shows the folder; the next one begins with an empty field.
            make.clear();
            if let Some(menu) = menu.get_untracked() {
                empty(&menu);
            }
        }
    });
    view! {
        <details class="menu" node_ref=menu>
            <summary class="button">{tr(|t| t.files.new_folder)}</summary>
            <div class="menu__items files__new">
                <SendForm to=make attr:class="stack">
                    <input type="hidden" name="folder" value=folder.to_string()/>
                    <Field name="name" label=text(|t| t.files.folder_name) required=true/>
                    <FormAnswer answer=make.value() done=text(|t| t.files.made)/>
                    <div class="buttons">
                        <button class="button button--primary" type="submit">
                            {tr(|t| t.files.create)}
                        </button>
                    </div>
                </SendForm>
            </div>
        </details>
    }
}

/// Closes the menu and empties its form.
fn empty(menu: &web_sys::HtmlDetailsElement) {
    menu.set_open(false);
    if let Ok(Some(form)) = menu.query_selector("form") {
        form.unchecked_into::<web_sys::HtmlFormElement>().reset();
    }
}
