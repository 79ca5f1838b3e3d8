use protocol::image::ImageState;

use crate::i18n::words_images::Images;

pub(super) const IMAGES: Images = Images {
    title: "Saved images",
    hint: "Made from containers of your jobs. A job uses one by its name, on any node.",
    none: "You have no saved images: a job's tasks tab saves the container of a task as one.",
    save: "Save as image…",
    dialog_title: |task| format!("Save {task} as an image"),
    dialog_text: "All files of its container are kept, those of mounted folders aside. The task \
        is paused while they are copied. Its variables, secrets and keys are not in the image.",
    size: |own, whole| format!("{own} are new; the whole image takes {whole}."),
    measuring: "Measuring what it takes…",
    name: "Name",
    name_hint: "Small letters, digits and . _ - between them: saved/<owner>/<name>.",
    tag: "Tag",
    tag_hint: "Without one, latest.",
    registry: "Push to a registry",
    registry_hint: "Such as registry.example.org/team/torch:1. It does not stay on the node then.",
    auth_file: "File with the registry's password",
    auth_file_hint: "Three lines in your storage: registry, user, password.",
    begin: "Save",
    begun: "It is being saved; how far it is stands below the tasks.",
    image: "Image",
    from: "From",
    remove_title: |image| format!("Remove {image}?"),
    remove_text: "It is removed from all nodes. One that was pushed stays in its registry.",
    removed: "It is being removed.",
    state: |state| match state {
        ImageState::Saving => "Saving",
        ImageState::Pushing => "Pushing",
        ImageState::Saved => "Saved",
        ImageState::Pushed => "Pushed",
        ImageState::Failed => "Failed",
        ImageState::Removing => "Removing",
    },
};
