use api::{Actor, Error, ErrorCode, Result};
use protocol::image::{ImageState, SavedImage, is_id, registry};

use crate::known::settings::Settings;
use crate::records::store::Store;

/// Whether an actor's job may run from this image: a saved one is its owner's, and no image is told
/// by its id, which would be a way round that.
pub(crate) async fn admit(
    settings: &Settings,
    store: &Store,
    actor: &Actor,
    image: &str,
) -> Result<()> {
    let invalid = |message: String| Error::new(ErrorCode::InvalidParametersError, message);
    if is_id(image) {
        return Err(invalid(format!("image: {image} is an id: give the image's name")));
    }
    let Some(saved) = SavedImage::read(image) else { return known_registry(settings, image) };
    let saved = saved.map_err(|error| invalid(format!("image: {error}")))?;
    if !actor.admin && actor.user != *saved.owner() {
        let message = format!(
            "image: {saved} is {owner}'s: only {owner} and administrators may start jobs from it",
            owner = saved.owner()
        );
        return Err(Error::new(ErrorCode::ForbiddenUserError, message));
    }
    let found = database::images::find(store.database.read(), &saved.to_string()).await;
    match found?.map(|found| found.state) {
        Some(ImageState::Saved) => Ok(()),
        Some(ImageState::Saving) => Err(invalid(format!("image: {saved} is still being saved"))),
        Some(
            ImageState::Pushing | ImageState::Pushed | ImageState::Failed | ImageState::Removing,
        )
        | None => Err(invalid(format!(
            "image: there is no saved image {saved}: your profile lists those that you have"
        ))),
    }
}

/// Refuses images of registries that engines are not to ask, if an administrator has said which they
/// are to.
pub(crate) fn known_registry(settings: &Settings, image: &str) -> Result<()> {
    let known = &settings.of_nodes.registries;
    let asked = registry(image);
    if known.is_empty() || known.contains(&asked) {
        return Ok(());
    }
    let message = format!(
        "image: {asked} is not among the registries that may be used here: {}",
        known.join(", ")
    );
    Err(Error::new(ErrorCode::ForbiddenUserError, message))
}
