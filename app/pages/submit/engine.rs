//! What reads job files and changes them. It is much code, and the page is shown without: the server says
//! what the form begins with, and the browser fetches this when the text or a field changes for the first
//! time.

use protocol::problem::Problem;

use crate::pages::submit::document::{Edit, Tree};

pub(crate) struct Engine {
    /// What a text says; why it cannot be read.
    pub(crate) read: fn(&str) -> Result<Tree, Problem>,
    /// The text after changes; nothing where one of them cannot be made.
    pub(crate) change: fn(&str, &[Edit]) -> Option<String>,
}

pub(crate) static ENGINE: Engine = Engine { read: Tree::read, change };

fn change(text: &str, edits: &[Edit]) -> Option<String> {
    edits.iter().try_fold(text.to_owned(), |text, edit| edit.apply(&text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_changes_are_made_or_none() {
        let set = |path: &str, value: &str| Edit::Set(path.to_owned(), value.into());
        let text = "{\"jobName\": \"a\"}";
        let changed = (ENGINE.change)(text, &[set("jobName", "b"), set("image", "c")]).unwrap();
        let tree = (ENGINE.read)(&changed).unwrap();
        assert_eq!((tree.text("jobName"), tree.text("image")), ("b".to_owned(), "c".to_owned()));
        assert_eq!((ENGINE.change)(text, &[set("jobName", "b"), set("jobName.x", "c")]), None);
    }
}
