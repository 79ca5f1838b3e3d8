//! The examples of `public/templates`.

use api::queue::Instead;
use protocol::again::renamed;
use protocol::time::Timestamp;

use crate::i18n::Language;
use crate::pages::submit::document::{Edit, Tree};
use crate::pages::submit::instead::edits;
use crate::schema::in_language;
use crate::server_fns::submit::{Schemas, Template};

const INDEX: &str = include_str!("../public/templates/index.json");

const FILES: [(&str, &str); 7] = [
    ("hello-world.json", include_str!("../public/templates/hello-world.json")),
    ("tensorflow-single.json", include_str!("../public/templates/tensorflow-single.json")),
    (
        "tensorflow-distributed.json",
        include_str!("../public/templates/tensorflow-distributed.json"),
    ),
    ("pytorch-distributed.yaml", include_str!("../public/templates/pytorch-distributed.yaml")),
    ("jupyter.json", include_str!("../public/templates/jupyter.json")),
    ("tensorboard.json", include_str!("../public/templates/tensorboard.json")),
    ("cntk.json", include_str!("../public/templates/cntk.json")),
];

/// All templates in the order of the menu.
pub(crate) fn all() -> Vec<Template> {
    serde_json::from_str(INDEX).expect("a test reads the index")
}

/// A template's text under a name that is free; the first template where there is none of the name.
pub(crate) fn fresh(name: &str, now: Timestamp) -> String {
    let file = all().into_iter().find(|template| template.name == name).map(|found| found.file);
    let text = FILES.iter().find(|(known, _)| file.as_deref() == Some(*known));
    renamed(text.unwrap_or(&FILES[0]).1, now)
}

/// The text with what would start at once instead. A text that cannot be read stays as it is.
pub(crate) fn changed(text: &str, instead: &Instead) -> String {
    let Ok(tree) = Tree::read(text) else { return text.to_owned() };
    let apply = |text: String, edit: &Edit| edit.apply(&text).unwrap_or(text);
    edits(&tree, instead).iter().fold(text.to_owned(), apply)
}

/// The schemas of both notations, explained in a language.
pub(crate) fn schemas(language: Language) -> Schemas {
    let text = |schema| in_language(schema, language).to_string();
    Schemas { json: text(protocol::schema::v1()), yaml: text(protocol::schema::v2()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_767_225_599_000);

    #[test]
    fn every_template_is_a_valid_job() {
        let templates = all();
        assert_eq!(templates.len(), FILES.len());
        for template in templates {
            let text = fresh(&template.name, NOW);
            let (_, written) =
                FILES.iter().find(|(file, _)| *file == template.file).expect("it is in the list");
            for text in [text.as_str(), written] {
                let parsed = protocol::parse::parse(text);
                assert!(parsed.is_ok(), "{}: {:?}", template.file, parsed.err());
            }
        }
    }
}
