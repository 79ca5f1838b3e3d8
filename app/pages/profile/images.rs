use leptos::prelude::*;

use crate::i18n::tr;
use crate::live::Live;
use crate::parts::about::About;
use crate::parts::image_table::{ImageRemoval, ImageTable};
use crate::parts::loaded::Loaded;
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::images::{RemoveImage, list_images};

/// One's own saved images; everybody's, for administrators.
#[component]
pub(crate) fn Images() -> impl IntoView {
    let (remove, removing) = (Sending::to::<RemoveImage>(), About::new());
    let topic = Live::get().images();
    let images = reading(move || (topic.get(), remove.version().get()), |_| list_images());
    view! {
        <section class="card stack" aria-labelledby="images">
            <div>
                <h2 id="images">{tr(|t| t.images.title)}</h2>
                <p class="hint">{tr(|t| t.images.hint)}</p>
            </div>
            <Loaded
                resource=images
                lines=2
                content=move |images| {
                    if images.is_empty() {
                        return view! { <p class="hint">{tr(|t| t.images.none)}</p> }.into_any();
                    }
                    view! { <ImageTable images=images removing=removing/> }.into_any()
                }
            />
            <ImageRemoval removing=removing remove=remove/>
        </section>
    }
    .into_any()
}
