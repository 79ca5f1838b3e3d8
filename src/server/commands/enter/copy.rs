use std::process::Command;
use std::str::FromStr;

use clap::Args;

use super::replace::replace;
use super::task::{TaskName, Way};
use crate::commands::client::Client;
use crate::commands::outcome::{CommandError, Outcome};
use crate::commands::reach::Common;
use crate::commands::words::Words;

#[derive(Debug, Args)]
pub(in crate::commands) struct Copy {
    /// Files here, or in a task as JOB[/ROLE-INDEX]:PATH; the last one is where they go
    #[arg(required = true, num_args = 2..)]
    paths: Vec<Place>,
    /// Folders with all that is in them
    #[arg(short, long)]
    recursive: bool,
    #[command(flatten)]
    common: Common,
}

/// A path here or in a task.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Here(String),
    There(TaskName, String),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // As for `scp`, what begins like a path is one.
        match text.split_once(':') {
            Some((task, path)) if !text.starts_with(['/', '.', '~', ':']) => {
                Ok(Self::There(task.parse()?, path.to_owned()))
            }
            Some(_) | None => Ok(Self::Here(text.to_owned())),
        }
    }
}

impl Copy {
    pub(in crate::commands) fn run(self) -> Outcome {
        let words = self.common.words();
        let task = one_task(&self.paths, words)?;
        let way = Way::find(&Client::signed_in(&self.common)?, task)?;
        let mut scp = Command::new("scp");
        scp.args(way.options()).arg(format!("-P{}", way.port));
        if self.recursive {
            scp.arg("-r");
        }
        scp.arg("--");
        for path in &self.paths {
            match path {
                Place::Here(path) if path.starts_with(['/', '.', '~']) => scp.arg(path),
                // Else `scp` could take it for a host's name.
                Place::Here(path) => scp.arg(format!("./{path}")),
                Place::There(_, path) => scp.arg(format!("{}:{path}", way.destination())),
            };
        }
        replace(&mut scp, words)
    }
}

/// The task that a copy goes to or comes from.
fn one_task<'p>(paths: &'p [Place], words: &Words) -> Result<&'p TaskName, CommandError> {
    let mut tasks = paths.iter().filter_map(|path| match path {
        Place::There(task, _) => Some(task),
        Place::Here(_) => None,
    });
    let first = tasks.next().ok_or_else(|| CommandError::new(words.no_path_in_task))?;
    if tasks.any(|task| task != first) {
        return Err(CommandError::new(words.paths_in_tasks));
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use app::i18n::Language;

    use super::*;
    use crate::commands::words::words;

    #[test]
    fn paths_in_tasks_are_told_from_those_here() {
        for (text, there) in [
            ("train:/data", true),
            ("alice~train/worker-0:x", true),
            ("train:", true),
            ("./a:b", false),
            ("/a:b", false),
            ("model.pt", false),
        ] {
            let place: Place = text.parse().unwrap();
            assert_eq!(matches!(place, Place::There(..)), there, "{text}");
        }
    }

    #[test]
    fn a_copy_has_one_task() {
        let paths = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let check = |texts: &[&str]| {
            let paths: Vec<Place> = paths(texts);
            let task = one_task(&paths, words(Language::English));
            task.map(|task| task.job.clone()).map_err(|error| error.to_string())
        };
        assert_eq!(check(&["a", "b", "train:"]), Ok("train".to_owned()));
        assert_eq!(check(&["train:a", "train:b", "."]), Ok("train".to_owned()));
        assert!(check(&["a", "b"]).unwrap_err().contains("must be in a task"));
        assert!(check(&["one:a", "two:b"]).unwrap_err().contains("one task at a time"));
    }
}
