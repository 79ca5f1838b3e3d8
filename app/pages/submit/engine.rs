//! What reads job files and changes them. It is much code, and the page is shown without: the server says
//! what the form begins with, and the browser fetches this when the text or a field changes for the first
//! time.

use leptos::prelude::*;
use protocol::problem::Problem;

use crate::document::{Edit, Tree};
use crate::json::from_json;
use crate::pages::submit::draft::record::{Draft, Unmade};

/// What reads and changes the text.
#[lazy]
pub(super) fn submit_engine() -> &'static Engine {
    &ENGINE
}

pub(crate) struct Engine {
    /// What a text says; why it cannot be read.
    pub(crate) read: fn(&str) -> Result<Tree, Problem>,
    /// The text after changes; nothing where one of them cannot be made.
    pub(crate) change: fn(&str, &[Edit]) -> Option<String>,
    /// What was left with changes unmade, and kept so, after them.
    pub(crate) make: fn(&str) -> Option<Draft>,
}

static ENGINE: Engine = Engine { read: Tree::read, change, make };

fn change(text: &str, edits: &[Edit]) -> Option<String> {
    edits.iter().try_fold(text.to_owned(), |text, edit| edit.apply(&text).ok())
}

fn make(left: &str) -> Option<Draft> {
    let Unmade { draft, edits } = from_json(left).ok()?;
    let Draft { mut text, at } = draft;
    for edits in edits {
        text = change(&text, &edits).unwrap_or(text);
    }
    Some(Draft { text, at })
}

#[cfg(test)]
mod tests {
    use protocol::time::Timestamp;

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

    #[test]
    fn what_was_left_unmade_is_made_later() {
        let at = Timestamp(5);
        let draft = Draft { text: "{\"jobName\": \"a\"}".to_owned(), at };
        let edits = [
            vec![Edit::typed("jobName", "b", false, true)],
            vec![Edit::Set("jobName.x".to_owned(), "c".into())],
            vec![Edit::typed("retryCount", "2", true, false), Edit::Remove("image".to_owned())],
        ];
        let unmade = Unmade { draft, edits: edits.to_vec() };
        let kept = serde_json::to_string(&unmade).unwrap();
        let made = (ENGINE.make)(&kept).unwrap();
        let tree = (ENGINE.read)(&made.text).unwrap();
        assert_eq!((tree.text("jobName"), tree.text("retryCount")), ("b".into(), "2".into()));
        assert_eq!(made.at, at);
        assert_eq!((ENGINE.make)("{}"), None);
    }
}
