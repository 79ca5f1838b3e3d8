//! The job templates of an OpenPAI's marketplace, a server beside its REST: each becomes a job file.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use serde_json::Value;

use super::part::Part;
use super::plan::{Step, Wanted};
use crate::commands::client::Client;

/// What a marketplace has, and where it is to be.
pub(super) struct Templates {
    items: Vec<Item>,
    folder: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    name: String,
    /// The job file as text.
    #[serde(default)]
    protocol: Value,
    /// The job file as a value, of earlier ones.
    #[serde(default)]
    job_config: Value,
}

impl Item {
    /// The job file, unless it has none.
    fn text(&self) -> Option<String> {
        match (&self.protocol, &self.job_config) {
            (Value::String(text), _) | (Value::Null, Value::String(text)) => Some(text.clone()),
            (Value::Null, Value::Null) => None,
            (Value::Null, config) => serde_json::to_string_pretty(config).ok(),
            (protocol, _) => serde_json::to_string_pretty(protocol).ok(),
        }
    }
}

impl Templates {
    pub(super) fn read(marketplace: &str, token: &str, folder: PathBuf) -> anyhow::Result<Self> {
        let items = Client::of("OpenPAI's marketplace", marketplace, token).get("/items")?;
        Ok(Self { items, folder })
    }

    pub(super) fn plan(&self) -> Vec<Step> {
        let mut taken = BTreeSet::new();
        self.items.iter().map(|item| self.step(item, &mut taken)).collect()
    }

    fn step(&self, item: &Item, taken: &mut BTreeSet<String>) -> Step {
        let Some(text) = item.text() else {
            return Step::left(Part::Templates, &item.name, "it has no job file");
        };
        let stem = stem(&item.name);
        let numbered = (2_u32..).map(|number| format!("{stem}-{number}"));
        let mut names = std::iter::once(stem.clone()).chain(numbered);
        let free = names.find(|name| taken.insert(name.clone()));
        let stem = free.unwrap_or_else(|| stem.clone());
        let file = self.folder.join(format!("{stem}.yaml"));
        let mistakes = protocol::parse::parse(&text).err().unwrap_or_default();
        let mistake = mistakes.first().map(|first| format!("to be changed first: {first}"));
        let notes = mistake.into_iter().collect();
        if file.exists() {
            return Step::stays(Part::Templates, &item.name, notes);
        }
        Step::comes(Part::Templates, &item.name, Wanted::Template { file, text }, notes)
    }
}

/// A name that a file may have anywhere.
fn stem(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let stem: String = name.chars().take(50).map(plain).collect();
    if stem.is_empty() { "template".to_owned() } else { stem }
}

/// Writes a job file that is not there yet.
pub(super) fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let place = || file.display().to_string();
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(place)?;
    }
    let made = fs::OpenOptions::new().write(true).create_new(true).open(file);
    made.with_context(place)?.write_all(text.as_bytes()).with_context(place)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::plan::Fate;
    use super::*;

    #[test]
    fn each_template_is_a_file_of_its_own_that_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let job = "protocolVersion: 2\nname: t\n";
        let items = json!([
            { "name": "a/b", "protocol": job, "type": "template" },
            { "name": "a/b", "jobConfig": { "protocolVersion": 2 } },
            { "name": "data", "protocol": null },
        ]);
        let items = serde_json::from_value(items).unwrap();
        let templates = Templates { items, folder: folder.path().join("new") };
        let plan = templates.plan();
        assert_eq!(plan[2].fate, Fate::Left);
        for (step, name) in plan.into_iter().zip(["a_b.yaml", "a_b-2.yaml"]) {
            assert!(step.notes[0].starts_with("to be changed"), "{:?}", step.notes);
            let Fate::Comes(Wanted::Template { file, text }) = step.fate else { panic!("{name}") };
            assert_eq!(file, templates.folder.join(name));
            write(&file, &text).unwrap();
            write(&file, &text).unwrap_err();
        }
        assert_eq!(std::fs::read_to_string(templates.folder.join("a_b.yaml")).unwrap(), job);
        assert!(templates.plan()[..2].iter().all(|step| step.fate == Fate::Stays));
    }
}
