//! Jobs beside each other: how each went, what it came to, and in what their files differ.

use std::collections::{BTreeMap, BTreeSet};

use protocol::amount::Amount;
use protocol::exit::Exit;
use protocol::ids::{GpuType, JobKey, VirtualClusterName};
use protocol::state::State;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::backend::Backend;
use crate::error::{Error, ErrorCode, Result};
use crate::jobs::{ConfigForm, JobDetail};
use crate::metrics::JobUse;

/// So many jobs at a time.
pub const MOST: usize = 6;

/// What a name is under which differs in every two jobs of a user.
const NAME: &str = "jobName";

/// Jobs beside each other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Those that were asked for, in that order, each once.
    pub jobs: Vec<Compared>,
    /// Those that were too many.
    pub left_out: Vec<String>,
    /// What their files say: where they differ, or all of it. Names of the jobs are left out.
    pub settings: Vec<Setting>,
    /// In so many settings they do not differ.
    pub alike: u32,
}

/// A job that was asked for: how it went, or why that is not told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// Which: `user~job`.
    pub job: String,
    /// How it went.
    pub run: Option<Run>,
    /// Why it was refused: a word for programs.
    pub code: Option<ErrorCode>,
    /// Why it was refused, for people.
    pub message: Option<String>,
}

/// How a job went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Owner and name.
    pub key: JobKey,
    /// State.
    pub state: State,
    /// How it ended, once it has.
    pub exit: Option<Exit>,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// When its first container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Virtual cluster.
    pub virtual_cluster: VirtualClusterName,
    /// GPUs in all.
    pub gpus: Amount,
    /// GPU types asked for; empty: any.
    pub gpu_types: Vec<GpuType>,
    /// How often it was placed.
    pub attempts: u32,
    /// What it came to; nothing where that is its owner's to see.
    pub used: Option<JobUse>,
    /// Whether its file is among those whose settings are told.
    pub file: bool,
}

/// What the files say in one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// The place, as version 1 writes job files: `taskRoles[worker].gpuNumber`.
    pub path: String,
    /// What each job has there, in the order of the jobs that have a run; nothing where it has nothing.
    /// Secrets are `******`.
    pub values: Vec<Option<String>>,
    /// Whether not all that can be told have the same there.
    pub differs: bool,
}

/// What a file says, by place.
type Leaves = BTreeMap<String, String>;

/// Compares jobs, each named `user~job`, or by its name alone one of the actor's. What else can be told is
/// told where one of them cannot be seen. `all`: with the settings in which they do not differ.
///
/// # Errors
/// The server itself fails.
pub async fn compare(
    backend: &Backend,
    actor: &Actor,
    jobs: &[String],
    all: bool,
) -> Result<Comparison> {
    let mut seen = BTreeSet::new();
    let jobs = jobs.iter().map(|job| job.trim()).filter(|job| !job.is_empty());
    let mut jobs: Vec<String> = jobs.map(|job| named(actor, job)).collect();
    jobs.retain(|job| seen.insert(job.clone()));
    let left_out = jobs.split_off(jobs.len().min(MOST));
    let (mut told, mut files) = (Vec::new(), Vec::new());
    for job in jobs {
        match run(backend, actor, &job).await {
            Ok((run, file)) => {
                files.push(file);
                told.push(Compared { job, run: Some(run), code: None, message: None });
            }
            Err(error) if error.is_ours() => return Err(error),
            Err(Error { code, message, .. }) => {
                let (code, message) = (Some(code), Some(message));
                told.push(Compared { job, run: None, code, message });
            }
        }
    }
    let mut settings = settings(&files);
    let differing = settings.iter().filter(|setting| setting.differs).count();
    let alike = u32::try_from(settings.len() - differing).unwrap_or(u32::MAX);
    settings.retain(|setting| all || setting.differs);
    Ok(Comparison { jobs: told, left_out, settings, alike })
}

fn named(actor: &Actor, job: &str) -> String {
    if job.contains('~') { job.to_owned() } else { format!("{}~{job}", actor.user) }
}

/// How one went, and what its file says.
async fn run(backend: &Backend, actor: &Actor, job: &str) -> Result<(Run, Option<Leaves>)> {
    let missing = |_| Error::new(ErrorCode::NoJobError, format!("Job {job} is not found."));
    let key: JobKey = job.parse().map_err(missing)?;
    let detail = backend.jobs.get(actor, &key).await?;
    let used = unless_private(backend.metrics.use_of_job(actor, &key).await)?;
    let file = unless_private(backend.jobs.config(actor, &key, ConfigForm::Json).await)?;
    let file = file.map(|file| read(&file.text)).transpose()?;
    Ok((seen(detail, used, file.is_some()), file))
}

fn seen(detail: JobDetail, used: Option<JobUse>, file: bool) -> Run {
    let attempts = u32::try_from(detail.attempts.len()).unwrap_or(u32::MAX);
    let job = detail.summary;
    Run {
        exit: job.ended().cloned(),
        key: job.key,
        state: job.state,
        submitted_at: job.submitted_at,
        started_at: job.started_at,
        completed_at: job.completed_at,
        virtual_cluster: job.virtual_cluster,
        gpus: job.gpus,
        gpu_types: job.gpu_types,
        attempts,
        used,
        file,
    }
}

/// What somebody may not see is none of it.
fn unless_private<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.code == ErrorCode::ForbiddenUserError => Ok(None),
        Err(error) => Err(error),
    }
}

fn read(file: &str) -> Result<Leaves> {
    let unreadable = |_| Error::new(ErrorCode::UnknownError, "a job file cannot be read again");
    let tree: Value = serde_json::from_str(file).map_err(unreadable)?;
    let mut leaves = Leaves::new();
    collect(&tree, String::new(), &mut leaves);
    leaves.remove(NAME);
    Ok(leaves)
}

fn collect(tree: &Value, path: String, leaves: &mut Leaves) {
    match tree {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                let dot = if path.is_empty() { "" } else { "." };
                collect(value, format!("{path}{dot}{key}"), leaves);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            let names = names(items);
            for (at, item) in items.iter().enumerate() {
                let name = names.as_ref().map_or_else(|| at.to_string(), |all| all[at].to_owned());
                collect(item, format!("{path}[{name}]"), leaves);
            }
        }
        Value::String(text) => {
            leaves.insert(path, text.clone());
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            leaves.insert(path, tree.to_string());
        }
    }
}

/// What the things of a list are called, where all have names of their own: in another file they may stand
/// in another order.
fn names(items: &[Value]) -> Option<Vec<&str>> {
    let names = items.iter().map(|item| item.get("name").and_then(Value::as_str));
    let names: Vec<&str> = names.collect::<Option<_>>()?;
    let own: BTreeSet<_> = names.iter().collect();
    (own.len() == names.len()).then_some(names)
}

/// All places of all files.
fn settings(files: &[Option<Leaves>]) -> Vec<Setting> {
    let paths: BTreeSet<&String> = files.iter().flatten().flat_map(BTreeMap::keys).collect();
    let setting = |path: &String| {
        let values = files.iter().map(|file| file.as_ref()?.get(path).cloned());
        let mut told = files.iter().flatten().map(|leaves| leaves.get(path));
        let first = told.next().flatten();
        let differs = told.any(|value| value != first);
        Setting { path: path.clone(), values: values.collect(), differs }
    };
    paths.into_iter().map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"jobName": "a", "image": "x", "taskRoles": [
        {"name": "ps", "gpuNumber": 0}, {"name": "worker", "gpuNumber": 8, "command": "a\nb"}]}"#;
    const OTHER: &str = r#"{"jobName": "b", "image": "x", "env": {"LR": "0.1"}, "taskRoles": [
        {"name": "worker", "gpuNumber": 4, "command": "a\nc"}, {"name": "ps", "gpuNumber": 0}]}"#;

    fn differing(files: &[Option<Leaves>]) -> Vec<(String, Vec<Option<String>>)> {
        let all = settings(files).into_iter().filter(|setting| setting.differs);
        all.map(|setting| (setting.path, setting.values)).collect()
    }

    #[test]
    fn files_differ_by_place_whatever_the_order_of_their_roles() {
        let files = [ONE, OTHER].map(|file| Some(read(file).unwrap()));
        let some = |text: &str| Some(text.to_owned());
        let expected = [
            ("env.LR", vec![None, some("0.1")]),
            ("taskRoles[worker].command", vec![some("a\nb"), some("a\nc")]),
            ("taskRoles[worker].gpuNumber", vec![some("8"), some("4")]),
        ];
        let expected = expected.map(|(path, values)| (path.to_owned(), values));
        assert_eq!(differing(&files), expected);
    }

    #[test]
    fn what_cannot_be_seen_differs_from_nothing() {
        let file = Some(read(ONE).unwrap());
        let files = [file.clone(), None, file];
        assert_eq!(differing(&files), []);
        let all = settings(&files);
        assert!(all.iter().any(|setting| setting.path == "taskRoles[ps].gpuNumber"));
        assert!(all.iter().all(|setting| setting.values[1].is_none()), "{all:?}");
    }

    #[test]
    fn things_without_names_of_their_own_go_by_their_place() {
        let file = read(r#"{"a": [{"b": 1}, {"b": 2}], "c": [1, 2], "d": {}, "e": null}"#).unwrap();
        let said = |path: &str| file.get(path).map(String::as_str);
        assert_eq!((said("a[0].b"), said("a[1].b")), (Some("1"), Some("2")));
        assert_eq!((said("c"), said("d"), said("e")), (Some("[1,2]"), Some("{}"), Some("null")));
        let twice = read(r#"{"a": [{"name": "x"}, {"name": "x"}]}"#).unwrap();
        assert_eq!(twice.keys().collect::<Vec<_>>(), ["a[0].name", "a[1].name"]);
    }
}
