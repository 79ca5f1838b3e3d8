//! The examples of `public/templates`, and the job files that people share.

use api::queue::Instead;
use api::templates::TemplateView;
use api::{Actor, Backend, Error};
use protocol::again::renamed;
use protocol::ids::TemplateName;
use protocol::time::Timestamp;

use crate::document::instead::edits;
use crate::document::{Edit, Tree};
use crate::i18n::Language;
use crate::schema::in_language;
use crate::server_fns::submit::{Schemas, TemplateWords};
use crate::template::Template;

const INDEX: &str = include_str!("../public/templates/index.json");

/// Before the name of what somebody shares: no example has a slash in its name.
const SHARED: &str = "shared/";

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

/// All that people share, by name. Nobody translates it.
pub(crate) async fn shared(backend: &Backend, actor: &Actor) -> Result<Vec<Template>, Error> {
    let listed = backend.templates.list(actor).await?;
    Ok(listed.into_iter().map(item).collect())
}

fn item(view: TemplateView) -> Template {
    let TemplateView { name, description, author, changed_at: _ } = view;
    let description = match description.as_str() {
        "" => author.to_string(),
        said => format!("{author}: {said}"),
    };
    let words = TemplateWords { title: name.to_string(), description };
    let name = format!("{SHARED}{name}");
    Template { name, file: String::new(), en: words.clone(), zh: words }
}

/// The text of an example, or of what somebody shares, under a name that is free.
pub(crate) async fn opened(
    backend: &Backend,
    actor: &Actor,
    name: &str,
    now: Timestamp,
) -> Result<String, Error> {
    let Some(shared) = name.strip_prefix(SHARED) else { return Ok(fresh(name, now)) };
    let name: TemplateName = shared.parse()?;
    Ok(renamed(&backend.templates.get(actor, &name).await?.text, now))
}

/// The text with what would start at once instead. A text that cannot be read stays as it is.
pub(crate) fn changed(text: &str, instead: &Instead) -> String {
    let Ok(tree) = Tree::read(text) else { return text.to_owned() };
    let apply = |text: String, edit: &Edit| edit.apply(&text).unwrap_or(text);
    edits(&tree, instead).iter().fold(text.to_owned(), apply)
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
