use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::i18n::{text, text_of};
use crate::pages::job::stop::{End, key, name};
use crate::parts::about::{About, AskAbout};
use crate::sending::Sending;
use crate::server_fns::jobs::DeleteJob;

#[lazy]
pub(super) fn job_delete() -> End {
    |deleting| view! { <DeleteDialog deleting=deleting/> }.into_any()
}

/// Deletes a job that has ended, after a question; then the list is shown.
#[component]
fn DeleteDialog(deleting: About<JobKey>) -> impl IntoView {
    let delete = Sending::to::<DeleteJob>();
    view! {
        <AskAbout
            opener=deleting.opener
            asked=deleting.is_asked()
            to=delete
            title=text_of(move |t| (t.job.delete_title)(&name(deleting)))
            words=text(|t| t.job.delete_text)
            act=text(|t| t.job.delete_confirm)
        >
            <input type="hidden" name="key" value=move || key(deleting)/>
        </AskAbout>
    }
}
