//! Runtime plugins: what a job's file wants done around the commands of its tasks, and who may enter
//! them. One that is not done here is refused by its name, unless the file says to go on without it.
//!
//! The commands of `cmd`, `git` and `tensorboard` and the barrier of `ssh` become part of the roles' own
//! commands, as those of deployments do, and the names of `teamwise_storage` part of `extras.storages`, so
//! that only the keys of `ssh` stay among a job's plugins.

use serde_json::Value as Json;

use super::reader::{Field, Fields, Reader};
use super::{parts, storages};
use crate::document::{Value, join, shorten};
use crate::environment::stripped;
use crate::fields::{Object, PLUGINS};
use crate::ids::{PortLabel, StorageName};
use crate::spec::{PortRequest, TaskRole};

mod made;

/// What is allowed in the place of a plugin that is not done here.
const DONE: &str = "cmd, git, ssh, teamwise_storage or tensorboard, or failurePolicy: ignore to go on \
                    without it";
/// What stands before the name of a plugin that a prerequisite gives.
const PREFIX: &str = "com.microsoft.pai.runtimeplugin.";

/// What a prerequisite may say that the plugin `cmd` provides.
const OF_PREREQUISITE: [&str; 12] = [
    "protocolVersion",
    "name",
    "type",
    "version",
    "contributor",
    "description",
    "uri",
    "plugin",
    "failurePolicy",
    "preCommands",
    "postCommands",
    "callbacks",
];

/// Puts what is referred to into a text; `None`: something is wrong with it, which was told.
pub(super) type Render<'r, 'd> = &'r dyn Fn(&mut Reader<'d>, &Field<'d>, &str) -> Option<String>;

/// What the plugins of a job's `extras` say.
#[derive(Default)]
pub(super) struct Plugins<'d> {
    around: Vec<Around<'d>>,
    /// Those that mean something when a task is made.
    pub(super) kept: Vec<Json>,
    /// The storages that they name, if one of them is for storages.
    pub(super) storages: Option<Vec<StorageName>>,
    /// The tasks of the first role are to have a port for TensorBoard.
    pub(super) shows_board: bool,
}

/// Commands around those of roles.
#[derive(Clone)]
pub(super) struct Around<'d> {
    /// For whom they are, without what the old system took out of names; `None`: for all.
    roles: Option<Vec<String>>,
    before: Vec<Line<'d>>,
    after: Vec<Line<'d>>,
    /// The task goes on when one of them fails.
    may_fail: bool,
}

/// A line of a shell.
#[derive(Clone)]
enum Line<'d> {
    /// As the file has it.
    Written(Field<'d>),
    /// What a plugin comes to.
    Made(String),
}

/// The plugins in `extras` of a job with these roles.
pub(super) fn read<'d>(
    reader: &mut Reader<'d>,
    root: &Fields<'d>,
    roles: &[&str],
    render: Render<'_, 'd>,
) -> Plugins<'d> {
    let mut plugins = Plugins::default();
    for item in listed(reader, root) {
        let Some(fields) = reader.object(&item, Object::Plugin) else { continue };
        let name = reader.required(&fields, "plugin", DONE);
        let Some((field, name)) = name.and_then(|f| reader.text(&f).map(|name| (f, name))) else {
            continue;
        };
        let may_fail = may_fail(reader, &fields);
        let first = roles.first().map(|role| stripped(role));
        let roles = named_roles(reader, &fields, roles);
        let parameters = fields.given("parameters").and_then(|field| reader.map(&field));
        if let (Some(given), Some(known)) = (&parameters, parameters_of(&name)) {
            reader.check_words(given, known);
        }
        let around = |line: Option<String>, roles| {
            let before = line.into_iter().map(Line::Made).collect();
            Around { roles, before, after: Vec::new(), may_fail }
        };
        match name.as_str() {
            "git" => {
                let given = parameters.or_else(|| nothing(reader, &fields, "repo_uri"));
                let line = given.and_then(|given| made::git(reader, &given, render));
                plugins.around.push(around(line, roles));
            }
            "tensorboard" => {
                let given = parameters.or_else(|| nothing(reader, &fields, "logdir"));
                let line = given.and_then(|given| made::tensorboard(reader, &given, render));
                // It is the first role's, unless that is not among those that are named.
                let is_for = roles.is_none_or(|roles| first.iter().all(|own| roles.contains(own)));
                if is_for {
                    plugins.shows_board = true;
                    plugins.around.push(around(line, first.map(|first| vec![first])));
                } else {
                    reader.not_used(item.path);
                }
            }
            "cmd" => {
                let (before, after) = parameters
                    .map_or_else(Default::default, |parameters| commands(reader, &parameters));
                plugins.around.push(Around { roles, before, after, may_fail });
            }
            "ssh" => {
                let barrier = parameters.and_then(|given| made::barrier(reader, &given));
                if barrier.is_some() {
                    plugins.around.push(around(barrier, roles));
                }
                plugins.kept.push(without_barrier(rendered(reader, &item, render)));
            }
            "teamwise_storage" => {
                let named = storages::of_plugin(reader, parameters.as_ref());
                plugins.storages.get_or_insert_default().extend(named);
            }
            _ if may_fail => reader.not_used(item.path),
            other => refuse(reader, &field, other),
        }
    }
    plugins
}

fn listed<'d>(reader: &mut Reader<'d>, root: &Fields<'d>) -> Vec<Field<'d>> {
    // What else is wrong with `extras` is told where the rest of it is read.
    let Some(node) = root.given("extras").and_then(|extras| extras.node.get(PLUGINS)) else {
        return Vec::new();
    };
    let list = Field { node, path: join("extras", PLUGINS) };
    if list.is_given() { reader.list(&list).unwrap_or_default() } else { Vec::new() }
}

/// What a prerequisite that a plugin provides does for a role that needs it.
pub(super) fn of_prerequisite<'d>(
    reader: &mut Reader<'d>,
    fields: &Fields<'d>,
) -> Option<Around<'d>> {
    let field = fields.given("plugin")?;
    let name = reader.text(&field)?;
    let may_fail = may_fail(reader, fields);
    match name.strip_prefix(PREFIX).unwrap_or(&name) {
        "cmd" => {
            reader.check_words(fields, &OF_PREREQUISITE);
            let (before, after) = commands(reader, fields);
            return Some(Around { roles: None, before, after, may_fail });
        }
        _ if may_fail => reader.not_used(field.path),
        other => refuse(reader, &field, other),
    }
    None
}

/// Notes that a plugin has none of the parameters that it needs.
fn nothing<'d>(reader: &mut Reader<'d>, fields: &Fields<'d>, needed: &str) -> Option<Fields<'d>> {
    reader.missing(fields, "parameters", needed);
    None
}

fn refuse(reader: &mut Reader<'_>, field: &Field<'_>, name: &str) {
    reader.wrong(field, format!("the plugin {:?} is not available here", shorten(name)), DONE);
}

fn may_fail<'d>(reader: &mut Reader<'d>, fields: &Fields<'d>) -> bool {
    let Some(field) = fields.given("failurePolicy") else { return false };
    match reader.text(&field).as_deref() {
        Some("ignore") => true,
        Some("fail") | None => false,
        Some(other) => {
            let message = format!("{:?} is not a failure policy", shorten(other));
            reader.wrong(&field, message, "fail, ignore");
            false
        }
    }
}

/// The roles that a plugin is for.
fn named_roles<'d>(
    reader: &mut Reader<'d>,
    fields: &Fields<'d>,
    roles: &[&str],
) -> Option<Vec<String>> {
    let list = fields.given("taskroles").and_then(|field| reader.list(&field))?;
    let mut named = Vec::new();
    for item in list {
        let Some(name) = reader.text(&item) else { continue };
        let own = stripped(&name);
        if !roles.iter().any(|role| stripped(role) == own) {
            let message = format!("there is no task role {:?}", shorten(&name));
            reader.wrong(&item, message, roles.join(", "));
        }
        named.push(own);
    }
    Some(named)
}

/// What is to run before and after the commands of a task, in either of the two forms.
fn commands<'d>(
    reader: &mut Reader<'d>,
    parameters: &Fields<'d>,
) -> (Vec<Line<'d>>, Vec<Line<'d>>) {
    let mut before = texts(reader, parameters, "preCommands");
    let mut after = texts(reader, parameters, "postCommands");
    let Some(callbacks) = parameters.given("callbacks") else { return (before, after) };
    if !before.is_empty() || !after.is_empty() {
        let message = "callbacks are given beside preCommands or postCommands";
        reader.wrong(&callbacks, message, "only one of the two forms");
    }
    for item in reader.list(&callbacks).unwrap_or_default() {
        let Some(fields) = reader.map(&item) else { continue };
        let commands = texts(reader, &fields, "commands");
        let Some(event) = reader.required(&fields, "event", "taskStarts, taskSucceeds") else {
            continue;
        };
        match reader.text(&event).as_deref() {
            Some("taskStarts") => before.extend(commands),
            Some("taskSucceeds") => after.extend(commands),
            Some(other) => {
                let message = format!("{:?} is not an event", shorten(other));
                reader.wrong(&event, message, "taskStarts, taskSucceeds");
            }
            None => {}
        }
    }
    (before, after)
}

fn texts<'d>(reader: &mut Reader<'d>, fields: &Fields<'d>, key: &str) -> Vec<Line<'d>> {
    let list = fields.given(key).and_then(|field| reader.list(&field)).unwrap_or_default();
    list.into_iter().filter(|item| reader.text(item).is_some()).map(Line::Written).collect()
}

/// What a plugin is told that is done here; `None`: it is not.
fn parameters_of(plugin: &str) -> Option<&'static [&'static str]> {
    match plugin {
        "cmd" => Some(&["preCommands", "postCommands", "callbacks"]),
        "git" => Some(&["repo_uri", "options", "clone_dir"]),
        "ssh" => Some(&["jobssh", "userssh", "sshbarrier", "sshbarrierTimeout"]),
        "teamwise_storage" => Some(&["storageConfigNames"]),
        "tensorboard" => Some(&["port", "logdir"]),
        _ => None,
    }
}

/// The plugin without what has become a command: it is not to be done twice.
fn without_barrier(mut plugin: Json) -> Json {
    if let Some(parameters) = plugin.get_mut("parameters").and_then(Json::as_object_mut) {
        parameters.remove(made::BARRIER);
        parameters.remove(made::BARRIER_LIMIT);
    }
    plugin
}

/// A part of the file as plain JSON, what its texts refer to put in.
fn rendered<'d>(reader: &mut Reader<'d>, field: &Field<'d>, render: Render<'_, 'd>) -> Json {
    match &field.node.value {
        Value::Text(text) => render(reader, field, text).unwrap_or_default().into(),
        Value::List(_) => {
            let items = reader.list(field).unwrap_or_default();
            items.iter().map(|item| rendered(reader, item, render)).collect()
        }
        Value::Map(_) => {
            let fields = reader.map(field);
            let each = fields.iter().flat_map(Fields::each);
            let each =
                each.map(|(entry, field)| (entry.key.clone(), rendered(reader, &field, render)));
            Json::Object(each.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => field.node.to_json(),
    }
}

impl<'d> Plugins<'d> {
    /// The commands of a role between those of the plugins: of its prerequisites, then of `extras`.
    pub(super) fn around(
        &self,
        reader: &mut Reader<'d>,
        field: &Field<'d>,
        (role, needed): (&str, &[Around<'d>]),
        command: String,
        render: Render<'_, 'd>,
    ) -> Option<String> {
        let own = stripped(role);
        let is_for =
            |around: &&Around<'d>| around.roles.as_ref().is_none_or(|roles| roles.contains(&own));
        let all: Vec<_> = needed.iter().chain(&self.around).filter(is_for).collect();
        if all.iter().all(|around| around.before.is_empty() && around.after.is_empty()) {
            return Some(command);
        }
        let mut shell = Shell::default();
        for around in &all {
            shell.add(lines(reader, &around.before, render)?, around.may_fail);
        }
        shell.own(&command, all.iter().any(|around| !around.after.is_empty()));
        // What the prerequisites began is ended in reverse, as the documents have it.
        let ends = self.around.iter().filter(is_for).chain(needed.iter().rev());
        for around in ends {
            shell.add(lines(reader, &around.after, render)?, around.may_fail);
        }
        parts::command(reader, field, &shell.0.join("\n"))
    }
}

/// Gives the tasks of the first role a port for TensorBoard, unless they have one of its name.
pub(super) fn show_board(roles: &mut [TaskRole]) {
    let Some(first) = roles.first_mut() else { return };
    let Ok(label) = PortLabel::new(made::TENSORBOARD) else { return };
    if first.ports.iter().all(|port| port.label != label) {
        first.ports.push(PortRequest { label, begin_at: 0, count: 1 });
    }
}

/// Commands as the lines of a shell; none when something is wrong with one of them.
fn lines<'d>(
    reader: &mut Reader<'d>,
    commands: &[Line<'d>],
    render: Render<'_, 'd>,
) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    let mut complete = true;
    for command in commands {
        let field = match command {
            Line::Written(field) => field,
            Line::Made(line) => {
                lines.push(line.clone());
                continue;
            }
        };
        let text = reader.text(field).unwrap_or_default();
        match render(reader, field, &text) {
            Some(text) => lines.push(text.trim().to_owned()),
            None => complete = false,
        }
    }
    complete.then_some(lines)
}

/// The lines of a shell's text.
#[derive(Default)]
struct Shell(Vec<String>);

impl Shell {
    /// Commands of which the first that fails ends the task, unless they may.
    fn add(&mut self, lines: Vec<String>, may_fail: bool) {
        if lines.is_empty() {
            return;
        }
        self.0.extend((!may_fail).then(|| "set -e".to_owned()));
        self.0.extend(lines);
        // A last one that failed is no failure of the task either.
        self.0.push(if may_fail { ":" } else { "set +e" }.to_owned());
    }

    /// The role's own command; what follows it runs when it has succeeded, even by `exit`.
    fn own(&mut self, command: &str, is_followed: bool) {
        if !is_followed {
            self.0.push(command.to_owned());
            return;
        }
        let ends = ["(", command, ")", "berth_code=$?", "[ $berth_code = 0 ] || exit $berth_code"];
        self.0.extend(ends.map(str::to_owned));
    }
}
