//! Plugins that are a line of a shell here: `git`, `tensorboard` and the barrier of `ssh`.

use super::Render;
use crate::parse::reader::{Field, Fields, Reader};

/// The label of the port at which TensorBoard is seen.
pub(super) const TENSORBOARD: &str = "tensorboard";

/// Whether a task waits until all others can be entered.
pub(super) const BARRIER: &str = "sshbarrier";
/// For how long, in minutes.
pub(super) const BARRIER_LIMIT: &str = "sshbarrierTimeout";
/// For how long when nothing is said, as OpenPAI had it.
const BARRIER_MINUTES: u32 = 300;
/// The most that is waited for, in minutes: a week.
const LONGEST_BARRIER: i64 = 7 * 24 * 60;

/// Clones a repository, again after a while where that fails: the line, if nothing is wrong with it.
pub(super) fn git<'d>(
    reader: &mut Reader<'d>,
    parameters: &Fields<'d>,
    render: Render<'_, 'd>,
) -> Option<String> {
    let uri = reader.required(parameters, "repo_uri", "the address of a repository")?;
    let uri = line(reader, &uri, render)?;
    let options = parameters.given("options").and_then(|field| reader.list(&field));
    let options = options.unwrap_or_default();
    let options: Option<Vec<_>> = options.iter().map(|one| line(reader, one, render)).collect();
    let folder = match parameters.given("clone_dir") {
        Some(field) => Some(line(reader, &field, render)?),
        None => None,
    };
    Some(clone(&uri, &options?, folder.as_deref()))
}

/// Ten tries within nine minutes. What is there from an earlier run of the task stays.
fn clone(uri: &str, options: &[String], folder: Option<&str>) -> String {
    let folder = folder.map(|folder| format!("\"{}\"", folder.replace('"', "\\\"")));
    let unless_there = folder.as_ref().map(|folder| format!("[ -e {folder}/.git ] || "));
    let uri = format!("'{}'", uri.replace('\'', r"'\''"));
    let mut words = vec!["git clone"];
    words.extend(options.iter().map(String::as_str));
    words.extend(["--", uri.as_str()]);
    words.extend(folder.as_deref());
    format!(
        "{}( command -v git > /dev/null || {{ echo 'the plugin git: there is no git in this image' >&2; \
         exit 127; }}; berth_wait=1; until {}; do [ $berth_wait -lt 512 ] || exit 128; sleep \
         $berth_wait; berth_wait=$((berth_wait * 2)); done )",
        unless_there.unwrap_or_default(),
        words.join(" ")
    )
}

/// Starts TensorBoard beside the command of a role's first task: the line, if nothing is wrong with it.
pub(super) fn tensorboard<'d>(
    reader: &mut Reader<'d>,
    parameters: &Fields<'d>,
    render: Render<'_, 'd>,
) -> Option<String> {
    let field = reader.required(parameters, "logdir", "names with their folders")?;
    let folders = reader.map(&field)?;
    if folders.entries.is_empty() {
        reader.wrong(&field, "logdir is empty", "names with their folders");
        return None;
    }
    if let Some(port) = parameters.given("port") {
        // Which one it is follows from where the task runs.
        reader.not_used(port.path);
    }
    let mut named = Vec::new();
    for (entry, field) in folders.each() {
        named.push((entry.key.as_str(), line(reader, &field, render)?));
    }
    let escaped = |text: &str| text.replace('"', "\\\"");
    let places = match named.as_slice() {
        [(_, only)] => format!("--logdir=\"{}\"", escaped(only)),
        several => {
            let pair = |(name, folder): &(&str, String)| format!("{name}:{folder}");
            let pairs: Vec<_> = several.iter().map(pair).collect();
            format!("--logdir_spec=\"{}\"", escaped(&pairs.join(",")))
        }
    };
    Some(format!(
        "if [ \"$PAI_TASK_INDEX\" = 0 ]; then command -v tensorboard > /dev/null || {{ echo 'the plugin \
         tensorboard: there is no tensorboard in this image' >&2; false; }}; tensorboard --bind_all \
         {places} --port=\"$PAI_CONTAINER_HOST_{TENSORBOARD}_PORT_LIST\" > /dev/null 2>&1 & fi"
    ))
}

/// Waits until every task of the job can be entered: the line, if the file asks for it.
pub(super) fn barrier<'d>(reader: &mut Reader<'d>, parameters: &Fields<'d>) -> Option<String> {
    let wanted = parameters.given(BARRIER).and_then(|field| reader.flag(&field));
    let minutes = parameters.given(BARRIER_LIMIT);
    let minutes: Option<u32> = minutes.and_then(|f| reader.count(&f, 1, LONGEST_BARRIER));
    let seconds = minutes.unwrap_or(BARRIER_MINUTES) * 60;
    // The code is OpenPAI's for a barrier that nobody opened.
    wanted.unwrap_or(false).then(|| {
        format!(
            "( berth_until=$(( $(date +%s) + {seconds} )); for berth_task in $(echo \
             \"$PAI_TASK_ROLE_INSTANCES\" | tr ',:' ' -'); do until ssh -q -n -o BatchMode=yes -o \
             ConnectTimeout=10 \"$berth_task\" true; do [ $(date +%s) -lt $berth_until ] || {{ echo \
             \"the plugin ssh: $berth_task cannot be entered\" >&2; exit 249; }}; sleep 1; done; done )"
        )
    })
}

/// One line, with what it refers to put in.
fn line<'d>(reader: &mut Reader<'d>, field: &Field<'d>, render: Render<'_, 'd>) -> Option<String> {
    let text = reader.line(field)?;
    render(reader, field, &text)
}
