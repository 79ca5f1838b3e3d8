use leptos::prelude::*;
use protocol::image::ImageState;

use crate::reading::reading;
use crate::server_fns::images::list_images;

/// The list that fields of images offer.
pub(crate) const LIST: &str = "saved-images";

/// The reader's saved images, to choose from where a field asks for one.
#[component]
pub(crate) fn ImageChoices() -> impl IntoView {
    let images = reading(|| (), |()| list_images());
    let options = move || {
        let listed = images.get().and_then(Result::ok).unwrap_or_default();
        let saved = listed.into_iter().filter_map(|image| match image.state {
            ImageState::Saved => Some(image.image),
            ImageState::Pushed => image.registry,
            ImageState::Saving
            | ImageState::Pushing
            | ImageState::Failed
            | ImageState::Removing => None,
        });
        saved.map(|name| view! { <option value=name></option> }).collect_view()
    };
    view! { <datalist id=LIST><Transition>{options}</Transition></datalist> }
}
