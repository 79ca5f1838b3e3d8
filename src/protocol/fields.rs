//! The one table of what job files may say: each key of each object, in the order of the documents,
//! with what it holds, its bounds, its help in both languages and the field of a job that it is. The
//! keys that readers know, the schemas, the places of the form's fields and the order of what is
//! written all come from it.
//!
//! A new field is a row here, a variant of [`JobField`] or [`RoleField`], a member of
//! [`crate::spec::JobSpec`] or its roles, a line that reads it in `parse` and one that says it in
//! `render`; then its words and its place in the form. What is forgotten does not compile or fails in
//! the tests beside this, which write every field of the table into a file of each notation.

mod berth;
mod object;
#[cfg(test)]
mod tests;
mod v1;
mod v2;

use serde::{Deserialize, Serialize};

pub use self::object::Object;
use crate::document::join;
use crate::spec::Dialect;

/// Tasks of all roles together.
pub(crate) const MAX_TASKS: u32 = 10_000;
/// The same, as a bound.
const TASKS: i64 = MAX_TASKS as i64;
/// Ports of one label.
pub(crate) const MAX_PORTS: i64 = 64;
/// Cores or GPUs of a task; no machine has more.
pub(crate) const MAX_UNITS: i64 = 65_536;
/// MiB or GiB of a task: 1 EiB in MiB.
pub(crate) const MAX_AMOUNT: i64 = 1 << 40;
/// The smallest memory of a task in MiB.
pub(crate) const MIN_MEMORY: i64 = crate::resources::MIN_MEMORY_MB.cast_signed();
/// So many completed tasks can be waited for.
const TASKS_COMPLETED: i64 = u32::MAX as i64;
/// −2 always, −1 after every failure, else so many times.
const RETRIES: Kind = Kind::Whole { min: -2, max: 1_000_000 };

/// The scheduler's part of `extras`, in either spelling.
pub const HIVED: [&str; 2] = ["hivedscheduler", "hivedScheduler"];

/// Where runtime plugins lie in `extras`.
pub(crate) const PLUGINS: &str = "com.microsoft.pai.runtimeplugin";

/// Where in `extras` the storages are named that tasks are to have.
pub const STORAGES: &str = "storages";

/// The two ways in which job files are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notation {
    /// Version 1: `jobName`, a list of task roles.
    V1,
    /// The job protocol, version 2: `name`, task roles by their names.
    V2,
}

impl Notation {
    /// Both.
    pub const ALL: [Self; 2] = [Self::V1, Self::V2];
}

/// A field of the whole job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobField {
    Name,
    Description,
    VirtualCluster,
    GpuType,
    Retries,
    Priority,
    TimeLimit,
    GraceSignal,
    GraceSeconds,
    Deadline,
    Nodes,
    NodeLabels,
    TopologyRequired,
    TopologyPreferred,
    KillAll,
    CodeDir,
    DataDir,
    OutputDir,
    AuthFile,
    Environment,
    Secrets,
}

/// A field of a task role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleField {
    Name,
    Tasks,
    Cpus,
    Memory,
    SharedMemory,
    Gpus,
    Disk,
    MinFailed,
    MinSucceeded,
    Retries,
}

/// A field of a job or of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Of the whole job.
    Job(JobField),
    /// Of a task role.
    Role(RoleField),
}

/// What a key holds. Null and the empty text say "not given" wherever a key need not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number between two bounds, both included; in quotes will do.
    Whole {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// So many tasks of the role, from a least number on; null will do.
    Tasks {
        /// The least.
        min: i64,
    },
    /// Whole GPUs or a part of one.
    Gpus,
    /// Seconds, or a text with units.
    TimeLimit,
    /// A moment with its distance from UTC.
    Moment,
    /// True or false.
    Flag,
    /// A text that is not empty.
    Text,
    /// A text, or null.
    OptionalText,
    /// A text that YAML may have taken for a number.
    Word,
    /// A text out of these.
    OneOf(&'static [&'static str]),
    /// A class of priority.
    PriorityClass,
    /// Version 2 of the protocol.
    Version,
    /// Name of a job.
    JobName,
    /// Name of a job without dots and tildes.
    PlainName,
    /// Name of a role.
    RoleName,
    /// Label of ports.
    DottedName,
    /// An image reference.
    Image,
    /// One address or path, or several.
    Uri,
    /// One name, or several.
    Names,
    /// Labels with their values.
    Labels,
    /// Texts.
    Texts,
    /// Shell commands, one at least.
    Commands,
    /// Environment variables, and `isDebug`.
    Environment,
    /// Secrets by name.
    Secrets,
    /// Numbers of ports by label.
    PortCounts,
    /// An object with any keys.
    Map,
    /// Anything.
    Anything,
    /// One object.
    One(Object),
    /// A list of objects.
    List(Object),
    /// Objects under keys in the manner of C, one at least.
    ByWord(Object),
    /// Objects under the roles' keys.
    ByRole(Object),
}

/// A sentence in both languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Help {
    /// In English.
    pub english: &'static str,
    /// In Chinese.
    pub chinese: &'static str,
}

/// A key of an object.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// The field that it is; none for what only holds others, and what no form shows.
    pub field: Option<Field>,
    /// What it holds.
    pub kind: Kind,
    /// It must be there.
    pub required: bool,
    /// What it is when it is not given, as JSON.
    pub default: Option<&'static str>,
    /// A list of examples, as JSON.
    pub examples: Option<&'static str>,
    /// The dialect that knew it first.
    pub since: Dialect,
    /// It is taken and changes nothing here, which whoever gives it is told.
    pub unused: bool,
    /// What it means.
    pub help: Help,
}

/// What `isDebug` means, which stands among the environment variables.
pub(crate) const IS_DEBUG: Help = Help {
    english: "Keep the container of a failed task, so that one can look into it.",
    chinese: "保留失败任务的容器，以便查看。",
};

impl Key {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            field: None,
            kind,
            required: false,
            default: None,
            examples: None,
            since: Dialect::Earliest,
            unused: false,
            help: Help { english: "", chinese: "" },
        }
    }

    const fn job(self, field: JobField) -> Self {
        Self { field: Some(Field::Job(field)), ..self }
    }

    const fn role(self, field: RoleField) -> Self {
        Self { field: Some(Field::Role(field)), ..self }
    }

    const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    const fn default(self, json: &'static str) -> Self {
        Self { default: Some(json), ..self }
    }

    const fn examples(self, json: &'static str) -> Self {
        Self { examples: Some(json), ..self }
    }

    const fn since(self, since: Dialect) -> Self {
        Self { since, ..self }
    }

    const fn unused(self) -> Self {
        Self { unused: true, ..self }
    }

    const fn help(self, english: &'static str, chinese: &'static str) -> Self {
        Self { help: Help { english, chinese }, ..self }
    }
}

impl Field {
    const fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Job(one), Self::Job(other)) => one as usize == other as usize,
            (Self::Role(one), Self::Role(other)) => one as usize == other as usize,
            (Self::Job(_), Self::Role(_)) | (Self::Role(_), Self::Job(_)) => false,
        }
    }

    /// Where it stands in a notation: the first key of the table that is this field, so that what a
    /// notation has a word of its own for stands there and not under `extras`.
    const fn place(self, notation: Notation) -> Option<Place> {
        let mut object = 0;
        while object < Object::ALL.len() {
            let holder = Object::ALL[object];
            let keys = holder.keys();
            let mut key = 0;
            while holder.is_of(notation) && key < keys.len() {
                if let Some(field) = keys[key].field
                    && field.is(self)
                {
                    return Some(Place { object: holder, key: keys[key].name });
                }
                key += 1;
            }
            object += 1;
        }
        None
    }
}

/// Where a field stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) object: Object,
    pub(crate) key: &'static str,
}

/// The places of the job's fields, worked out when this is compiled: all that the browser needs of
/// the table. A field without a place in a notation does not compile.
static JOB_PLACES: [[Place; 2]; JobField::ALL.len()] = {
    let nowhere = Place { object: Object::Berth, key: "" };
    let mut places = [[nowhere; 2]; JobField::ALL.len()];
    let mut at = 0;
    while at < places.len() {
        assert!(JobField::ALL[at] as usize == at, "the fields are listed in their order");
        let field = Field::Job(JobField::ALL[at]);
        let (Some(v1), Some(v2)) = (field.place(Notation::V1), field.place(Notation::V2)) else {
            panic!("every field of a job has a place in both notations")
        };
        places[at] = [v1, v2];
        at += 1;
    }
    places
};

/// The places of the roles' fields.
static ROLE_PLACES: [[Option<Place>; 2]; RoleField::ALL.len()] = {
    let mut places = [[None; 2]; RoleField::ALL.len()];
    let mut at = 0;
    while at < places.len() {
        assert!(RoleField::ALL[at] as usize == at, "the fields are listed in their order");
        let field = Field::Role(RoleField::ALL[at]);
        places[at] = [field.place(Notation::V1), field.place(Notation::V2)];
        at += 1;
    }
    places
};

/// The objects whose keys are ordered by their names alone when plain JSON is written.
const RANKED: [Object; 6] =
    [Object::V1Role, Object::Port, Object::V1Job, Object::V2Role, Object::Resources, Object::V2Job];

/// Their keys.
static ORDER: [&str; ranked()] = {
    let mut order = [""; ranked()];
    let (mut at, mut object) = (0, 0);
    while object < RANKED.len() {
        let keys = RANKED[object].keys();
        let mut key = 0;
        while key < keys.len() {
            order[at] = keys[key].name;
            at += 1;
            key += 1;
        }
        object += 1;
    }
    order
};

const fn ranked() -> usize {
    let (mut count, mut object) = (0, 0);
    while object < RANKED.len() {
        count += RANKED[object].keys().len();
        object += 1;
    }
    count
}

/// The place of a key among those of its object as the documents list them; unknown ones last.
pub(crate) fn rank(key: &str) -> usize {
    ORDER.iter().position(|known| *known == key).unwrap_or(usize::MAX)
}

impl JobField {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Name,
        Self::Description,
        Self::VirtualCluster,
        Self::GpuType,
        Self::Retries,
        Self::Priority,
        Self::TimeLimit,
        Self::GraceSignal,
        Self::GraceSeconds,
        Self::Deadline,
        Self::Nodes,
        Self::NodeLabels,
        Self::TopologyRequired,
        Self::TopologyPreferred,
        Self::KillAll,
        Self::CodeDir,
        Self::DataDir,
        Self::OutputDir,
        Self::AuthFile,
        Self::Environment,
        Self::Secrets,
    ];

    pub(crate) fn place(self, notation: Notation) -> Place {
        JOB_PLACES[self as usize][notation as usize]
    }

    /// Where it stands, as a path from the top of the file.
    #[must_use]
    pub fn path(self, notation: Notation) -> String {
        let Place { object, key } = self.place(notation);
        [object.prefix(), key].concat()
    }
}

impl RoleField {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Name,
        Self::Tasks,
        Self::Cpus,
        Self::Memory,
        Self::SharedMemory,
        Self::Gpus,
        Self::Disk,
        Self::MinFailed,
        Self::MinSucceeded,
        Self::Retries,
    ];

    /// Where it stands for a role of this name that stands at `role`; `None`: it has no place of its
    /// own in this notation, as a role's name in version 2, where it is the role's key.
    #[must_use]
    pub fn path(self, notation: Notation, role: &str, name: &str) -> Option<String> {
        let Place { object, key } = ROLE_PLACES[self as usize][notation as usize]?;
        let own = object != Object::BerthRole;
        let added = [Object::Berth.prefix(), "taskRoles"].concat();
        let holder = if own { role.to_owned() } else { join(&added, name) };
        Some([holder.as_str(), ".", object.prefix(), key].concat())
    }
}

/// The Chinese of a sentence of help.
#[must_use]
pub fn chinese(english: &str) -> Option<&'static str> {
    let keys = Object::ALL.into_iter().flat_map(Object::keys).map(|key| key.help);
    let mut all = keys.chain(Object::ALL.map(Object::help)).chain([IS_DEBUG]);
    all.find(|help| help.english == english).map(|help| help.chinese)
}
