//! The job templates of an OpenPAI's marketplace, a server beside its REST: people share them here. One
//! that is no job here yet becomes a file, in which that can be changed.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};

use super::note::Note;
use super::part::Part;
use super::plan::{Step, Wanted};
use crate::commands::client::Client;

/// The longest description, in characters.
const LONGEST: usize = 500;

/// What a marketplace has, and where files are to be.
pub(super) struct Templates {
    items: Vec<Item>,
    folder: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    name: String,
    /// What it is good for: in a line, and at length.
    #[serde(default)]
    summary: Value,
    #[serde(default)]
    description: Value,
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

    /// The first line that says anything.
    fn about(&self) -> String {
        let texts = [&self.summary, &self.description].into_iter().filter_map(Value::as_str);
        let mut lines = texts.flat_map(str::lines).map(str::trim);
        let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
        line.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
    }
}

impl Templates {
    pub(super) fn read(marketplace: &str, token: &str, folder: PathBuf) -> anyhow::Result<Self> {
        let items = Client::of("OpenPAI's marketplace", marketplace, token).get("/items")?;
        Ok(Self { items, folder })
    }

    /// With the names of those that are shared here already.
    pub(super) fn plan(&self, here: &BTreeSet<String>) -> Vec<Step> {
        let mut taken = BTreeSet::new();
        self.items.iter().map(|item| self.step(item, here, &mut taken)).collect()
    }

    fn step(&self, item: &Item, here: &BTreeSet<String>, taken: &mut BTreeSet<String>) -> Step {
        let (part, there) = (Part::Templates, item.name.as_str());
        let Some(text) = item.text() else { return Step::left(part, there, Note::NoJobFile) };
        let name = free(there, taken);
        let mistakes = protocol::parse::parse(&text).err().unwrap_or_default();
        if let Some(mistake) = mistakes.first() {
            let file = self.folder.join(format!("{name}.yaml"));
            let (mistake, place) = (mistake.to_string(), file.display().to_string());
            let notes = vec![Note::ToBeChanged { mistake, file: place }];
            return match file.exists() {
                true => Step::stays(part, there, notes),
                false => Step::comes(part, there, Wanted::File { file, text }, notes),
            };
        }
        let notes = if name == there { Vec::new() } else { vec![Note::KnownAs(name.clone())] };
        if here.contains(&name) {
            return Step::stays(part, there, notes);
        }
        let body = json!({ "text": text, "description": item.about() });
        Step::comes(part, there, Wanted::Template { name, body }, notes)
    }
}

/// The name that a template has here: the same for the same list.
fn free(there: &str, taken: &mut BTreeSet<String>) -> String {
    let stem = stem(there);
    let mut name = stem.clone();
    let mut number = 1_u32;
    while !taken.insert(name.clone()) {
        number += 1;
        name = format!("{stem}-{number}");
    }
    name
}

/// A name that templates and files may have anywhere.
fn stem(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let stem: String = name.chars().take(50).map(plain).collect();
    if stem.chars().all(|c| c == '_') { "template".to_owned() } else { stem }
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
    use super::super::plan::Fate;
    use super::*;

    /// A job that is one here.
    const JOB: &str = "protocolVersion: 2\nname: t\ntype: job\n\
                       prerequisites: [{type: dockerimage, name: i, uri: busybox}]\n\
                       taskRoles: {w: {dockerImage: i, commands: [run], \
                       resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}}}\n";

    fn templates(items: Value, folder: &Path) -> Templates {
        let items = serde_json::from_value(items).unwrap();
        Templates { items, folder: folder.join("new") }
    }

    #[test]
    fn what_is_no_job_yet_is_a_file_of_its_own_that_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let job = "protocolVersion: 2\nname: t\n";
        let items = json!([
            { "name": "a/b", "protocol": job, "type": "template" },
            { "name": "a/b", "jobConfig": { "protocolVersion": 2 } },
            { "name": "data", "protocol": null },
        ]);
        let (templates, here) = (templates(items, folder.path()), BTreeSet::new());
        let plan = templates.plan(&here);
        assert_eq!(plan[2].fate, Fate::Left);
        for (step, name) in plan.into_iter().zip(["a_b.yaml", "a_b-2.yaml"]) {
            assert!(matches!(step.notes[0], Note::ToBeChanged { .. }), "{:?}", step.notes);
            let Fate::Comes(Wanted::File { file, text }) = step.fate else { panic!("{name}") };
            assert_eq!(file, templates.folder.join(name));
            write(&file, &text).unwrap();
            write(&file, &text).unwrap_err();
        }
        assert_eq!(std::fs::read_to_string(templates.folder.join("a_b.yaml")).unwrap(), job);
        assert!(templates.plan(&here)[..2].iter().all(|step| step.fate == Fate::Stays));
    }

    #[test]
    fn what_is_a_job_is_shared_by_a_name_of_here_unless_it_is_there() {
        let items = json!([
            { "name": "mnist", "protocol": JOB, "summary": " Digits. ", "description": "long" },
            { "name": "图像", "protocol": JOB, "description": "\n# Images\nof all\n" },
        ]);
        let templates = templates(items, Path::new("nowhere"));
        let plan = templates.plan(&BTreeSet::from(["mnist".to_owned()]));
        assert_eq!(plan[0].fate, Fate::Stays);
        assert_eq!(templates.items[0].about(), "Digits.");
        let body = json!({ "text": JOB, "description": "# Images" });
        let wanted = Wanted::Template { name: "template".to_owned(), body };
        assert_eq!(plan[1].fate, Fate::Comes(wanted));
        assert_eq!(plan[1].notes, [Note::KnownAs("template".to_owned())]);
    }
}
