//! `berth import`: brings what another cluster manager has, by its own REST, through the operations that
//! everybody has here. What is here already stays as it is.

mod note;
mod part;
mod passwords;
mod plan;
mod templates;
mod there;

use std::path::PathBuf;

use app::i18n::Language;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::note::Note;
use self::part::Part;
use self::passwords::Passwords;
use self::plan::{Fate, Here, Step, Wanted, plan};
use self::templates::Templates;
use super::client::Client;
use super::outcome::{CommandError, Outcome};
use super::reach::Common;
use super::text;
use super::words::words;

#[derive(Debug, Args)]
pub(super) struct Import {
    #[command(subcommand)]
    origin: Origin,
}

#[derive(Debug, Subcommand)]
enum Origin {
    /// From a running OpenPAI: users, groups, virtual clusters, storages and job templates
    Openpai(Openpai),
}

#[derive(Debug, Args)]
struct Openpai {
    /// Its address, as of its portal
    url: String,
    /// An administrator's token there
    #[arg(long, env = "OPENPAI_TOKEN", hide_env_values = true)]
    token: String,
    /// Only says what would come
    #[arg(long)]
    dry_run: bool,
    /// What is not to come, with commas
    #[arg(long, value_delimiter = ',')]
    without: Vec<Part>,
    /// Where the first passwords of new users are written, one `user,password` a line
    #[arg(long, value_name = "FILE", default_value = "first-passwords.csv")]
    passwords: PathBuf,
    /// The address of its marketplace's REST, whose templates are to come, too
    #[arg(long, value_name = "URL")]
    marketplace: Option<String>,
    /// The folder for those that are to be changed first, a job file each
    #[arg(long, value_name = "FOLDER", default_value = "templates")]
    templates: PathBuf,
    #[command(flatten)]
    common: Common,
}

/// What became of one thing.
#[derive(Debug)]
struct Told {
    part: Part,
    name: String,
    became: Became,
    /// What is worth knowing of it.
    notes: Vec<Note>,
}

/// In the order of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Became {
    WouldCome,
    Came,
    /// It is here already, and as it was.
    Stays,
    /// It is nothing that can be here.
    Left,
    Failed,
}

impl Became {
    const ALL: [Self; 5] = [Self::WouldCome, Self::Came, Self::Stays, Self::Left, Self::Failed];

    fn said(self, language: Language) -> &'static str {
        words(language).import.became[self as usize]
    }
}

impl Told {
    /// What programs read, in English.
    fn record(&self) -> Value {
        let Self { part, name, became, .. } = self;
        let notes = self.said(Language::English);
        json!({ "part": part, "name": name, "became": became, "notes": notes })
    }

    fn said(&self, language: Language) -> Vec<String> {
        let words = &words(language).import;
        self.notes.iter().map(|note| note.said(words, language)).collect()
    }

    /// One line for people.
    fn line(&self, language: Language) -> String {
        let Self { part, name, became, .. } = self;
        let one = words(language).import.parts[*part as usize];
        let line = format!("{one} {name}: {}", became.said(language));
        let notes = self.said(language);
        if notes.is_empty() { line } else { format!("{line} ({})", notes.join("; ")) }
    }
}

impl Import {
    pub(super) fn run(self) -> Outcome {
        match self.origin {
            Origin::Openpai(openpai) => openpai.run(),
        }
    }
}

impl Openpai {
    fn run(self) -> Outcome {
        let client = Client::signed_in(&self.common)?;
        administrators_only(&client)?;
        let here = Here::read(&client)?;
        let openpai = there::open(&self.url, &self.token)?;
        let there = there::read(&openpai, !self.without.contains(&Part::Storages))?;
        let templates = self
            .marketplace
            .as_deref()
            .map(|marketplace| Templates::read(marketplace, &self.token, self.templates.clone()));
        let templates = templates.transpose()?;
        let mut steps = plan(&there, &here, &self.without);
        steps.extend(templates.iter().flat_map(|templates| templates.plan(&here.templates)));
        let told = self.taken(&client, steps)?;
        if self.common.json {
            text::json(&told.iter().map(Told::record).collect::<Vec<_>>())?;
        }
        self.sum(&told, client.language)
    }

    /// Takes the steps one by one. One that fails keeps no other from being taken: the next run takes it
    /// again.
    fn taken(&self, client: &Client, steps: Vec<Step>) -> anyhow::Result<Vec<Told>> {
        let comes = |step: &Step| matches!(&step.fate, Fate::Comes(Wanted::User { .. }));
        let needed = !self.dry_run && steps.iter().any(comes);
        let mut passwords = needed.then(|| Passwords::open(&self.passwords)).transpose()?;
        let mut all = Vec::with_capacity(steps.len());
        for step in steps {
            let told = self.take(client, step, passwords.as_mut());
            if !self.common.json {
                text::say(told.line(client.language));
            }
            all.push(told);
        }
        Ok(all)
    }

    fn take(&self, client: &Client, step: Step, passwords: Option<&mut Passwords>) -> Told {
        let Step { part, name, fate, mut notes } = step;
        let became = match fate {
            Fate::Stays => Became::Stays,
            Fate::Left => Became::Left,
            Fate::Comes(_) if self.dry_run => Became::WouldCome,
            Fate::Comes(wanted) => match bring(client, &name, wanted, passwords) {
                Ok(said) => {
                    notes.extend(said);
                    Became::Came
                }
                Err(error) => {
                    notes.insert(0, Note::Told(why(&error)));
                    Became::Failed
                }
            },
        };
        Told { part, name, became, notes }
    }

    /// Says how many became what, and fails when anything did.
    fn sum(&self, told: &[Told], language: Language) -> Outcome {
        let words = &words(language).import;
        let count = |became: Became| told.iter().filter(|told| told.became == became).count();
        if !self.common.json {
            let counts = Became::ALL.into_iter().map(|became| (count(became), became));
            let counts = counts.filter(|(count, _)| *count > 0);
            let counts =
                counts.map(|(count, became)| format!("{}: {count}", became.said(language)));
            let counts: Vec<_> = counts.collect();
            text::say(counts.join(", "));
            let came = |told: &Told| told.part == Part::Users && told.became == Became::Came;
            if told.iter().any(came) {
                text::say((words.passwords_in)(&self.passwords.display().to_string()));
            }
        }
        match count(Became::Failed) {
            0 => Ok(()),
            failed => Err(CommandError::new((words.some_failed)(failed)).into()),
        }
    }
}

/// What a refusal says, with all mistakes.
fn why(error: &anyhow::Error) -> String {
    let problems = error.downcast_ref::<CommandError>().map(|error| error.problems.join("; "));
    match problems.filter(|problems| !problems.is_empty()) {
        Some(problems) => problems,
        None => format!("{error:#}"),
    }
}

/// The answer to what was taken.
#[derive(Deserialize)]
struct Answered {
    message: String,
}

/// Who asks, as far as it matters.
#[derive(Deserialize)]
struct Checked {
    admin: bool,
}

fn administrators_only(client: &Client) -> anyhow::Result<()> {
    let Checked { admin } = client.get("/api/v2/tokens/check")?;
    if admin {
        return Ok(());
    }
    Err(CommandError::new(client.words().import.administrators_only).into())
}

/// Makes one thing here. What is worth knowing of it is said.
fn bring(
    client: &Client,
    name: &str,
    wanted: Wanted,
    passwords: Option<&mut Passwords>,
) -> anyhow::Result<Option<Note>> {
    match wanted {
        Wanted::Group(body) => {
            let _created: Value = client.post("/api/v2/groups", &body)?;
            Ok(None)
        }
        Wanted::VirtualCluster(body) => {
            let path = format!("/api/v2/virtual-clusters/{name}");
            let Answered { message } = client.put(&path, &body)?;
            let warning = message.split_once(". ").map(|(_, warning)| warning);
            Ok(warning.map(|warning| Note::told(warning.trim_end_matches('.'))))
        }
        Wanted::Storage(body) => {
            let _saved: Value = client.put(&format!("/api/v2/storages/{name}"), &body)?;
            Ok(None)
        }
        Wanted::User { mut body, groups } => {
            if let Some(passwords) = passwords {
                body.insert("password".to_owned(), passwords.next(name)?.into());
                body.insert("temporary".to_owned(), true.into());
            }
            let _created: Value = client.post("/api/v2/users", &body)?;
            if groups.is_empty() {
                return Ok(None);
            }
            let path = format!("/api/v2/users/{name}/grouplist");
            let set: anyhow::Result<Value> = client.put(&path, &json!({ "grouplist": groups }));
            Ok(set.err().map(|error| Note::InNoGroup(why(&error))))
        }
        Wanted::Template { name, body } => {
            let _shared: Value = client.put(&format!("/api/v2/templates/{name}"), &body)?;
            Ok(None)
        }
        Wanted::File { file, text } => {
            templates::write(&file, &text)?;
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_a_thing_is_one_line() {
        let notes = vec![Note::AdminMembers];
        let (part, name) = (Part::Groups, "vision".to_owned());
        let told = Told { part, name, became: Became::WouldCome, notes };
        let line = "group vision: would come (its members are administrators)";
        assert_eq!(told.line(Language::English), line);
        assert_eq!(told.line(Language::Chinese), "组 vision: 将会迁入 (其成员为管理员)");
        let json = told.record();
        assert_eq!((&json["part"], &json["became"]), (&json!("groups"), &json!("would-come")));
        assert_eq!(json["notes"], json!(["its members are administrators"]));
    }

    #[test]
    fn a_refusal_is_told_with_all_its_mistakes() {
        let problems = vec!["a: is too long".to_owned(), "b: is empty".to_owned()];
        let error: anyhow::Error =
            CommandError { message: "2 mistakes".to_owned(), problems }.into();
        assert_eq!(why(&error), "a: is too long; b: is empty");
        assert_eq!(why(&CommandError::new("taken").into()), "taken");
    }
}
