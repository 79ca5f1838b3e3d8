use api::images::{SavedImageView, TaskOfJob};
use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::i18n::{Reader, text, text_of, tr};
use crate::live::Live;
use crate::number;
use crate::parts::about::About;
use crate::parts::confirm::Opener;
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::image_table::{ImageRemoval, ImageTable};
use crate::parts::loaded::Loaded;
use crate::parts::send_form::SendForm;
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::images::{RemoveImage, SaveImage, list_images, measure_image};

/// The task whose container is to be saved, and the dialog that asks how. It stands beside the table
/// of tasks, which is drawn anew when one of them changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Saving {
    task: RwSignal<Option<TaskOfJob>>,
    opener: Opener,
}

impl Saving {
    /// Provides it to the tasks below.
    pub(crate) fn provide() -> Self {
        let saving = Self { task: RwSignal::new(None), opener: Opener::new() };
        provide_context(saving);
        saving
    }

    /// Asks how a container is to be saved.
    pub(crate) fn ask(self, task: TaskOfJob) {
        self.task.set(Some(task));
        self.opener.open();
    }
}

/// The button of a task.
#[component]
pub(crate) fn SaveButton(task: TaskOfJob) -> impl IntoView {
    let saving = expect_context::<Saving>();
    view! {
        <button
            type="button"
            class="button button--small"
            on:click=move |_| saving.ask(task.clone())
        >
            {tr(|t| t.images.save)}
        </button>
    }
}

/// The dialog, and under it the images that were made of this job.
#[component]
pub(crate) fn SavedImages(key: JobKey, saving: Saving) -> impl IntoView {
    let save = Sending::to::<SaveImage>();
    let (remove, removing) = (Sending::to::<RemoveImage>(), About::new());
    let topic = Live::get().images();
    let images = reading(
        move || (topic.get(), save.version().get(), remove.version().get()),
        |_| list_images(),
    );
    Effect::new(move |_| {
        if save.value().with(|answer| answer.as_ref().is_some_and(Result::is_ok)) {
            saving.opener.close();
        }
    });
    view! {
        <Dialog saving=saving save=save/>
        <FormAnswer answer=save.done() done=text(|t| t.images.begun)/>
        <Loaded
            resource=images
            lines=1
            content=move |images| {
                let of_job = images.into_iter().filter(|image| image.job == key);
                view! { <OfJob images=of_job.collect() removing=removing/> }
            }
        />
        <ImageRemoval removing=removing remove=remove/>
    }
    .into_any()
}

#[component]
fn OfJob(images: Vec<SavedImageView>, removing: About<SavedImageView>) -> impl IntoView {
    (!images.is_empty()).then(|| {
        view! {
            <h2>{tr(|t| t.images.title)}</h2>
            <ImageTable images=images removing=removing/>
        }
    })
}

#[component]
fn Dialog(saving: Saving, save: Sending<SavedImageView>) -> impl IntoView {
    let task = saving.task;
    let name = Signal::derive(move || {
        task.with(|task| task.as_ref().map(|task| format!("{}-{}", task.role, task.index)))
            .unwrap_or_default()
    });
    let title = text_of(move |t| (t.images.dialog_title)(&name.read()));
    let part = move |part: fn(&TaskOfJob) -> String| {
        move || task.with(|task| task.as_ref().map(part).unwrap_or_default())
    };
    view! {
        <dialog class="dialog" node_ref=saving.opener.0 aria-label=move || title.get()>
            <h2 class="dialog__title">{move || title.get()}</h2>
            <div class="stack">
                <p class="dialog__text">{tr(|t| t.images.dialog_text)}</p>
                <Size task=task/>
                <SendForm to=save attr:class="form">
                    <input type="hidden" name="job" value=part(|task| task.job.to_string())/>
                    <input type="hidden" name="role" value=part(|task| task.role.to_string())/>
                    <input type="hidden" name="index" value=part(|task| task.index.to_string())/>
                    <Fields/>
                    <FormAnswer answer=save.value() done=text(|t| t.images.begun)/>
                    <div class="dialog__actions">
                        <button type="button" class="button" on:click=move |_| saving.opener.close()>
                            {tr(|t| t.common.cancel)}
                        </button>
                        <button type="submit" class="button button--primary">
                            {tr(|t| t.images.begin)}
                        </button>
                    </div>
                </SendForm>
            </div>
        </dialog>
    }
    .into_any()
}

#[component]
fn Fields() -> impl IntoView {
    view! {
        <Field
            name="name"
            label=text(|t| t.images.name)
            hint=text(|t| t.images.name_hint)
            scope="image"
            required=true
        />
        <Field name="tag" label=text(|t| t.images.tag) hint=text(|t| t.images.tag_hint) scope="image"/>
        <Field
            name="registry"
            label=text(|t| t.images.registry)
            hint=text(|t| t.images.registry_hint)
            scope="image"
        />
        <Field
            name="auth_file"
            label=text(|t| t.images.auth_file)
            hint=text(|t| t.images.auth_file_hint)
            scope="image"
        />
    }
}

/// What it would take, as soon as that is known.
#[component]
fn Size(task: RwSignal<Option<TaskOfJob>>) -> impl IntoView {
    let reader = Reader::get();
    let size = reading(move || task.get(), measure_image);
    let line = move || {
        let texts = reader.texts();
        match size.get() {
            Some(Ok(Some(size))) => {
                (texts.images.size)(&number::bytes(size.own), &number::bytes(size.whole))
            }
            Some(Err(failed)) => (texts.said)(&failed.error.message),
            Some(Ok(None)) | None => texts.images.measuring.to_owned(),
        }
    };
    view! {
        <p class="hint" aria-live="polite">
            <Transition>{move || line()}</Transition>
        </p>
    }
}
