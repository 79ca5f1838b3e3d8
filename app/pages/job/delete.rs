use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::i18n::{text, text_of, tr};
use crate::pages::job::stop::End;
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::jobs::DeleteJob;

/// Only jobs that have ended can be deleted.
#[lazy]
pub(super) fn job_delete() -> End {
    |key, _| view! { <Delete key=key/> }.into_any()
}

/// Deletes a job that has ended, after a question; then the list is shown.
#[component]
pub(crate) fn Delete(key: JobKey) -> impl IntoView {
    let delete = Sending::to::<DeleteJob>();
    let opener = Opener::new();
    Effect::new(move |_| {
        if delete.value().with(Option::is_some) {
            opener.close();
        }
    });
    let name = key.name.to_string();
    view! {
        <button type="button" class="button" on:click=move |_| opener.open()>
            {tr(|t| t.job.delete)}
        </button>
        <FormAnswer answer=delete.value() done=text(|t| t.job.deleted)/>
        <Confirm
            opener=opener
            title=text_of(move |t| (t.job.delete_title)(&name))
            text=text(|t| t.job.delete_text)
        >
            <SendForm to=delete>
                <input type="hidden" name="key" value=key.to_string()/>
                <button type="submit" class="button button--danger">
                    {tr(|t| t.job.delete_confirm)}
                </button>
            </SendForm>
        </Confirm>
    }
    .into_any()
}
