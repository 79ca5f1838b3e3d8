//! The examples of `public/templates`, and the job files that people share.

use std::collections::HashMap;

use api::queue::Instead;
use api::templates::TemplateView;
use api::{Actor, Backend, Error};
use protocol::again::renamed;
use protocol::ids::TemplateName;
use protocol::time::Timestamp;

use crate::document::instead::edits;
use crate::document::{Edit, Tree};
use crate::i18n::Language;
use crate::template::{Template, TemplateWords};

const INDEX: &str = include_str!("../public/templates/index.json");

/// What the comments of the files say in Chinese.
const COMMENTS: &str = include_str!("../public/templates/comments.json");

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

/// A template's text in a language, under a name that is free; the first template where there is none of
/// the name.
pub(crate) fn fresh(name: &str, language: Language, now: Timestamp) -> String {
    let file = all().into_iter().find(|template| template.name == name).map(|found| found.file);
    let (_, text) =
        FILES.iter().find(|(known, _)| file.as_deref() == Some(*known)).unwrap_or(&FILES[0]);
    match language {
        Language::English => renamed(text, now),
        Language::Chinese => renamed(&in_chinese(text), now),
    }
}

/// The text with its comments in Chinese.
fn in_chinese(text: &str) -> String {
    let comments: HashMap<&str, &str> =
        serde_json::from_str(COMMENTS).expect("a test reads the comments");
    let line = |line: &str| {
        let Some((indent, mark, comment)) = comment(line) else { return line.to_owned() };
        let (said, code) = words(comment);
        let said = comments.get(said).copied().unwrap_or(said);
        format!("{indent}{mark}{said}{code}")
    };
    text.split_inclusive('\n').map(line).collect()
}

/// A line that is a comment: what is before its mark, the mark, and what it says.
fn comment(line: &str) -> Option<(&str, &str, &str)> {
    let at = line.find(|first: char| !first.is_whitespace())?;
    let (indent, rest) = line.split_at(at);
    let mark = ["// ", "# "].into_iter().find(|mark| rest.starts_with(mark))?;
    Some((indent, mark, &rest[mark.len()..]))
}

/// What a comment says in words, and the rest of it: code that one may take, or the line's end.
fn words(comment: &str) -> (&str, &str) {
    if comment.starts_with('"') {
        return ("", comment);
    }
    comment.split_at(comment.find(" \"").unwrap_or(comment.trim_end().len()))
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
    language: Language,
    now: Timestamp,
) -> Result<String, Error> {
    let Some(shared) = name.strip_prefix(SHARED) else { return Ok(fresh(name, language, now)) };
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
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    const NOW: Timestamp = Timestamp(1_767_225_599_000);

    #[test]
    fn every_template_is_a_valid_job() {
        let templates = all();
        assert_eq!(templates.len(), FILES.len());
        for template in templates {
            let (_, written) =
                FILES.iter().find(|(file, _)| *file == template.file).expect("it is in the list");
            let shown = Language::ALL.map(|language| fresh(&template.name, language, NOW));
            for text in shown.iter().map(String::as_str).chain([*written]) {
                let parsed = protocol::parse::parse(text);
                assert!(parsed.is_ok(), "{}: {:?}", template.file, parsed.err());
            }
        }
    }

    #[test]
    fn every_comment_is_known_in_chinese_and_none_is_left_over() {
        let known: BTreeMap<&str, &str> = serde_json::from_str(COMMENTS).unwrap();
        let lines = FILES.iter().flat_map(|(_, text)| text.lines());
        let said = lines.filter_map(comment).map(|(_, _, comment)| words(comment).0);
        let said: BTreeSet<&str> = said.filter(|said| !said.is_empty()).collect();
        assert_eq!(known.keys().copied().collect::<BTreeSet<_>>(), said);
        let text = fresh("hello-world", Language::Chinese, NOW);
        assert!(text.starts_with("{\n  // 字母、数字"), "{text}");
        let text = fresh("tensorflow-distributed", Language::Chinese, NOW);
        assert!(text.contains("      // 训练时： \"python3 code/train.py"), "{text}");
    }
}
