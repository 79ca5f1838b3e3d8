use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::i18n::{text, text_of, tr};
use crate::parts::confirm::Opener;
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::jobs::StopJobs;

/// Makes the question before the job is stopped, or what deletes it.
pub(super) type End = fn(JobKey, Stopping) -> AnyView;

#[lazy]
pub(super) fn job_stop() -> End {
    |key, stopping| view! { <StopDialog key=key stopping=stopping/> }.into_any()
}

/// What asks before the job is stopped. It stays while the job is read anew.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopping {
    /// Whether its code is needed.
    pub(crate) asked: RwSignal<bool>,
    opener: Opener,
}

impl Stopping {
    pub(crate) fn new() -> Self {
        Self { asked: RwSignal::new(false), opener: Opener::new() }
    }

    /// Asks, as soon as there is something to ask with.
    pub(crate) fn ask(self) {
        self.asked.set(true);
        self.opener.open();
    }
}

/// The question. It is there from when it is asked for the first time.
#[component]
pub(crate) fn StopDialog(key: JobKey, stopping: Stopping) -> impl IntoView {
    let opener = stopping.opener;
    let stop = Sending::to::<StopJobs>();
    Effect::new(move |_| {
        if opener.0.get().is_some() {
            opener.open();
        }
    });
    Effect::new(move |_| {
        if stop.value().with(|answer| matches!(answer, Some(Ok(_)))) {
            opener.close();
        }
    });
    let name = key.name.to_string();
    let title = text_of(move |t| (t.job.stop_title)(&name));
    view! {
        <dialog class="dialog" node_ref=opener.0 aria-label=move || title.get()>
            <h2 class="dialog__title">{move || title.get()}</h2>
            <p class="dialog__text">{tr(|t| t.job.stop_text)}</p>
            <SendForm to=stop>
                <input type="hidden" name="keys[]" value=key.to_string()/>
                <FormAnswer answer=stop.value() done=text(|t| t.job.stop_requested)/>
                <div class="dialog__actions">
                    <button type="button" class="button" on:click=move |_| opener.close()>
                        {tr(|t| t.common.cancel)}
                    </button>
                    <button type="submit" class="button button--danger">
                        {tr(|t| t.job.stop_confirm)}
                    </button>
                </div>
            </SendForm>
        </dialog>
    }
}
