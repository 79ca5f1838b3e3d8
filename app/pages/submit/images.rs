use leptos::prelude::*;
use leptos::task::spawn_local;
use protocol::image::ImageState;

use crate::part::MakeView;
use crate::server_fns::images::list_images;

/// The images that its fields offer.
#[lazy]
pub(super) fn submit_form_images() -> MakeView {
    || view! { <ImageChoices/> }.into_any()
}

/// The list that fields of images offer.
pub(crate) const LIST: &str = "saved-images";

/// The reader's saved images, to choose from where a field asks for one. Nobody waits for them: the form
/// comes without.
#[component]
pub(crate) fn ImageChoices() -> impl IntoView {
    let saved = RwSignal::new(Vec::new());
    Effect::new(move |_| {
        spawn_local(async move {
            saved.try_set(saved_images().await);
        });
    });
    let option = |name: String| view! { <option value=name></option> };
    view! {
        <datalist id=LIST>{move || saved.get().into_iter().map(option).collect_view()}</datalist>
    }
}

/// Their names; none where they cannot be read.
async fn saved_images() -> Vec<String> {
    let listed = list_images().await.unwrap_or_default();
    let saved = listed.into_iter().filter_map(|image| match image.state {
        ImageState::Saved => Some(image.image),
        ImageState::Pushed => image.registry,
        ImageState::Saving | ImageState::Pushing | ImageState::Failed | ImageState::Removing => {
            None
        }
    });
    saved.collect()
}
