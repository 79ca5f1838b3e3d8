use api::images::SavedImageView;
use leptos::prelude::*;
use protocol::image::ImageState;
use protocol::state::State;

use crate::address;
use crate::i18n::{said, text, text_of, told, tr};
use crate::number;
use crate::parts::about::{About, AskAbout};
use crate::parts::copy::Copy;
use crate::parts::form_errors::FormAnswer;
use crate::parts::relative_time::RelativeTime;
use crate::parts::state_chip::{glyph, modifier};
use crate::parts::table::DataTable;
use crate::sending::Sending;

/// Saved images, with how far each is and what can be done.
#[component]
pub(crate) fn ImageTable(
    images: Vec<SavedImageView>,
    removing: About<SavedImageView>,
) -> impl IntoView {
    let rows = images.into_iter().map(|image| view! { <Row image=image removing=removing/> });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.images.title
            kind="table--images"
            heads=&[
                (|t| t.images.image, None),
                (|t| t.jobs.state, None),
                (|t| t.images.from, None),
                (|t| t.job.when, None),
                (|t| t.admin.actions, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(image: SavedImageView, removing: About<SavedImageView>) -> impl IntoView {
    let note = image.problem.clone().or(image.progress.clone());
    let name = image.registry.clone().filter(|_| image.state == ImageState::Pushed);
    let name = name.unwrap_or_else(|| image.image.clone());
    let removed = image.clone();
    let place = place(image.state, image.registry, image.node.as_str());
    let about = image.bytes.map(number::bytes).into_iter().chain(place).collect::<Vec<_>>();
    let remove = (image.state != ImageState::Removing).then(|| {
        view! {
            <button
                type="button"
                class="button button--small"
                on:click=move |_| removing.ask(removed.clone())
            >
                {tr(|t| t.common.remove)}
            </button>
        }
    });
    view! {
        <tr>
            <th scope="row">
                <Copy text=name/>
                <span class="table__sub">{about.join(" · ")}</span>
            </th>
            <td>
                <ImageChip state=image.state/>
                {note.map(|note| view! { <span class="table__sub">{said(note)}</span> })}
            </td>
            <td>
                <a class="table__name" href=address::job(&image.job)>{image.job.to_string()}</a>
                <span class="table__sub">{image.task}</span>
            </td>
            <td><RelativeTime at=image.created_at/></td>
            <td>{remove}</td>
        </tr>
    }
    .into_any()
}

/// Where an image is or is to be: what was pushed is called by its whole name already.
fn place(state: ImageState, registry: Option<String>, node: &str) -> Option<String> {
    let is_called_by_it = state == ImageState::Pushed && registry.is_some();
    (!is_called_by_it).then(|| registry.unwrap_or_else(|| node.to_owned()))
}

/// How far an image is, in the colours of jobs.
#[component]
fn ImageChip(state: ImageState) -> impl IntoView {
    let like = match state {
        ImageState::Saving | ImageState::Pushing => State::Preparing,
        ImageState::Saved | ImageState::Pushed => State::Succeeded,
        ImageState::Failed => State::Failed,
        ImageState::Removing => State::Stopping,
    };
    view! {
        <span class=format!("chip chip--{}", modifier(like)) data-state=state.as_str()>
            {glyph(like)}
            <span class="chip__word">{told(move |t| (t.images.state)(state))}</span>
        </span>
    }
}

/// The question before an image is removed, and that it is. It stands beside the table.
#[component]
pub(crate) fn ImageRemoval(removing: About<SavedImageView>, remove: Sending) -> impl IntoView {
    let image = move || removing.what().map(|image| image.image).unwrap_or_default();
    view! {
        <AskAbout
            opener=removing.opener
            asked=removing.is_asked()
            to=remove
            title=text_of(move |t| (t.images.remove_title)(&image()))
            words=text(|t| t.images.remove_text)
            act=text(|t| t.common.remove)
        >
            <input type="hidden" name="id" value=move || removing.what().map(|image| image.id)/>
        </AskAbout>
        <FormAnswer answer=remove.done() done=text(|t| t.images.removed)/>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_where_the_name_does_not_say_it() {
        let registry = || Some("registry.example/team/prepared:v4".to_owned());
        assert_eq!(place(ImageState::Pushed, registry(), "gpu-1"), None);
        assert_eq!(place(ImageState::Pushing, registry(), "gpu-1"), registry());
        assert_eq!(place(ImageState::Saved, None, "gpu-1").as_deref(), Some("gpu-1"));
    }
}
