//! What the notations have in common: ports, environments, images, commands, limits.

use std::collections::{BTreeMap, HashSet};

use super::reader::{Field, Fields, Reader, decimal, whole};
use crate::amount::Amount;
use crate::document::{Entry, Value, shorten};
use crate::fields::Object;
pub(crate) use crate::fields::{MAX_AMOUNT, MAX_PORTS, MAX_TASKS, MAX_UNITS, MIN_MEMORY};
use crate::ids::{GpuType, InvalidName, NodeName, PortLabel};
use crate::spec::{PortRequest, RetryLimit};

/// Bytes of a command.
const MAX_COMMAND: usize = 100_000;
/// Bytes of any other text on one line.
const MAX_LINE: usize = 4096;

const GPUS: &str =
    "a whole number from 0 to 65536, or a part of one GPU such as 0.25, in thousandths";
const NODES: &str = "one node, or several separated by commas; each 1 to 253 of A-Z a-z 0-9 - . _";
const LABELS: &str = "an object, or a text such as rack=3, disk=fast";
const INTEGER: &str = "a whole number, at least 1";

/// GPUs of a task: whole ones, or a part of one.
pub(crate) fn gpus<'d>(reader: &mut Reader<'d>, fields: &Fields<'d>, key: &str) -> Option<Amount> {
    let field = reader.required(fields, key, GPUS)?;
    let (Value::Number(text) | Value::Text(text)) = &field.node.value else {
        return reader.mismatch(&field, GPUS);
    };
    match amount_of_gpus(text.trim()) {
        Ok(amount) => Some(amount),
        Err(what) => {
            let (name, text) = (field.name(), shorten(text));
            reader.wrong(&field, format!("{name} is {text}, {what}"), GPUS);
            None
        }
    }
}

/// # Errors
/// What the text is instead.
fn amount_of_gpus(text: &str) -> Result<Amount, String> {
    let value = match (whole(text), decimal(text)) {
        (Some(count), _) if count > MAX_UNITS => return Err(format!("more than {MAX_UNITS}")),
        (Some(count), _) => {
            let count = u64::try_from(count).map_err(|_| "less than 0")?;
            return Ok(Amount::whole(count));
        }
        (None, Some(value)) => value,
        (None, None) => return Err("not a number".to_owned()),
    };
    if value < 0.0 {
        return Err("less than 0".to_owned());
    }
    if value > 1.0 {
        return Err("more than one GPU but not whole".to_owned());
    }
    let milli = (value * 1000.0).round();
    if milli < 1.0 || (milli / 1000.0 - value).abs() > f64::EPSILON {
        return Err("finer than thousandths of a GPU".to_owned());
    }
    Ok(Amount::from_milli(milli as u64))
}

/// `portList`.
pub(crate) fn ports<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Vec<PortRequest> {
    let mut ports = Vec::new();
    let mut labels = HashSet::new();
    for item in reader.list(field).unwrap_or_default() {
        let Some(fields) = reader.object(&item, Object::Port) else { continue };
        let label = reader.required(&fields, "label", PortLabel::ALLOWED);
        let label = label.and_then(|field| {
            let label = reader.name(&field, PortLabel::try_from)?;
            if !labels.insert(label.clone()) {
                reader.wrong(
                    &field,
                    format!("the label {label} is given twice"),
                    "each label once",
                );
            }
            Some(label)
        });
        let begin = reader.required(&fields, "beginAt", "0 for any ports, or the first port");
        let begin = begin.and_then(|field| begin_at(reader, &field));
        let count = reader.required(&fields, "portNumber", INTEGER);
        let count_at = count.clone();
        let count = count.and_then(|field| reader.count::<u32>(&field, 1, MAX_PORTS));
        let (Some(label), Some(begin_at), Some(count)) = (label, begin, count) else { continue };
        if let (true, Some(field)) = (u32::from(begin_at) + count > 65_536, count_at) {
            let message = format!("{count} ports from {begin_at} on go beyond the last port");
            reader.wrong(&field, message, "beginAt + portNumber at most 65536");
        }
        ports.push(PortRequest { label, begin_at, count });
    }
    few_ports(reader, field, &ports);
    without_implicit(ports)
}

/// All ports of a task together have the limit that each label has.
pub(crate) fn few_ports<'d>(reader: &mut Reader<'d>, field: &Field<'d>, ports: &[PortRequest]) {
    let all: i64 = ports.iter().map(|ports| i64::from(ports.count)).sum();
    if all > MAX_PORTS {
        let message = format!("each task asks for {all} ports");
        reader.wrong(field, message, format!("at most {MAX_PORTS} ports in all"));
    }
}

fn begin_at<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Option<u16> {
    let value = reader.count::<u16>(field, 0, 65_535)?;
    if (1..1024).contains(&value) {
        let message = format!("beginAt is {value}, a port of the system");
        reader.wrong(field, message, "0 for any ports, or 1024 to 65535");
        return None;
    }
    Some(value)
}

/// Every task has one port `http` and one `ssh` anyway: asking for just that says nothing.
pub(crate) fn without_implicit(ports: Vec<PortRequest>) -> Vec<PortRequest> {
    let implicit = |port: &PortRequest| {
        matches!(port.label.as_str(), "http" | "ssh") && port.begin_at == 0 && port.count == 1
    };
    ports.into_iter().filter(|port| !implicit(port)).collect()
}

/// A label and its number of ports, as version 2 writes them.
pub(crate) fn port_count<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Option<u32> {
    reader.count(field, 1, MAX_PORTS)
}

/// `jobEnvs`: the environment and `isDebug`.
pub(crate) fn environment<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
) -> (BTreeMap<String, String>, bool) {
    let mut env = BTreeMap::new();
    let mut debug = false;
    let Some(fields) = reader.map(field) else { return (env, debug) };
    for (entry, field) in fields.each() {
        if entry.key == "isDebug" {
            debug = field.is_given() && reader.flag(&field).unwrap_or(false);
            continue;
        }
        if !is_variable(&entry.key) {
            let message = "this is not a usable name of an environment variable";
            let allowed = "a letter or _, then letters, digits and _";
            reader.problem(&field.path, entry.key_start, message, allowed);
        } else if entry.key.starts_with("PAI_") || entry.key.starts_with("QIZHI_") {
            let key = &entry.key;
            reader.warnings.push(format!("{key} has no effect where the platform sets it itself"));
        }
        if let Some(value) = reader.scalar(&field) {
            if value.contains('\0') {
                reader.wrong(&field, "the value has a zero byte in it", "text");
            }
            env.insert(entry.key.clone(), value);
        }
    }
    (env, debug)
}

fn is_variable(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.len() <= 255
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `gpuType`: one type, or several by commas, or a list.
pub(crate) fn gpu_types<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Vec<GpuType> {
    names(reader, field, "valid GPU type", "one type, or several separated by commas")
}

/// `nodes`: one node, or several by commas, or a list.
pub(crate) fn node_names<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Vec<NodeName> {
    names(reader, field, "node name", NODES)
}

/// Each once, in the order in which they are first given.
fn names<'d, T: TryFrom<String, Error = InvalidName> + PartialEq>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    what: &str,
    allowed: &str,
) -> Vec<T> {
    let words: Vec<String> = if let Value::List(_) = field.node.value {
        let items = reader.list(field).unwrap_or_default();
        items.iter().filter_map(|item| reader.text(item)).collect()
    } else {
        let text = reader.text(field);
        let parts = text.iter().flat_map(|text| text.split(','));
        parts.map(|part| part.trim().to_owned()).collect()
    };
    let mut names = Vec::new();
    for word in words {
        match T::try_from(word) {
            Ok(name) if names.contains(&name) => {}
            Ok(name) => names.push(name),
            Err(error) => {
                let message = format!("{:?} is not a {what}", shorten(&error.value));
                reader.wrong(field, message, allowed);
            }
        }
    }
    names
}

/// `nodeLabels`: labels with their values, as an object or as a text (`rack=3, disk=fast`).
pub(crate) fn labels<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> BTreeMap<String, String> {
    let Value::Text(text) = &field.node.value else {
        let Some(fields) = reader.map(field) else { return BTreeMap::new() };
        let mut label = |(entry, field): (&Entry, Field<'d>)| {
            if entry.key.is_empty() {
                reader.problem(&field.path, entry.key_start, "the label has no name", LABELS);
            }
            Some((entry.key.clone(), reader.scalar(&field)?))
        };
        return fields.each().filter_map(&mut label).collect();
    };
    let mut labels = BTreeMap::new();
    for part in text.split(',').map(str::trim) {
        match part.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                labels.insert(key.trim().to_owned(), value.trim().to_owned());
            }
            Some(_) | None => {
                let message = format!("{:?} is not a label with its value", shorten(part));
                reader.wrong(field, message, LABELS);
            }
        }
    }
    labels
}

/// An image reference; whether it exists is for the registry to say.
pub(crate) fn image<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Option<String> {
    let text = reader.text(field)?;
    let bad = |c: char| c.is_whitespace() || c.is_control();
    if text.is_empty() || text.starts_with('-') || text.contains(bad) || text.len() > MAX_LINE {
        let message = "this is not an image reference";
        reader.wrong(field, message, "[registry/]name[:tag], no white space, not beginning with -");
        return None;
    }
    Some(text)
}

/// Checks the whole command of a role.
pub(crate) fn command<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    text: &str,
) -> Option<String> {
    let text = text.trim();
    let message = if text.is_empty() {
        "the command is empty".to_owned()
    } else if text.len() > MAX_COMMAND {
        format!("the command has {} bytes", text.len())
    } else if text.contains('\0') {
        "the command has a zero byte in it".to_owned()
    } else {
        return Some(text.to_owned());
    };
    reader.wrong(field, message, "1 to 100000 bytes of shell text");
    None
}

/// A place in the file system, variables of the documents still in it.
pub(crate) fn place<'d>(reader: &mut Reader<'d>, fields: &Fields<'d>, key: &str) -> Option<String> {
    let field = fields.given(key)?;
    short_line(reader, &field)
}

/// A text on one line that is not absurdly long.
pub(crate) fn short_line<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Option<String> {
    let text = reader.line(field)?;
    if text.len() > MAX_LINE {
        reader.wrong(field, format!("the text has {} bytes", text.len()), "at most 4096 bytes");
        return None;
    }
    Some(text)
}

/// A retry count: −2 always, −1 after every failure, else so many times.
pub(crate) fn retries<'d>(reader: &mut Reader<'d>, fields: &Fields<'d>, key: &str) -> RetryLimit {
    let field = fields.given(key);
    let value = field.and_then(|field| reader.integer(&field, -2, 1_000_000)).unwrap_or(0);
    match value {
        -2 => RetryLimit::Always,
        -1 => RetryLimit::EveryFailure,
        times => RetryLimit::Times(u32::try_from(times).unwrap_or(0)),
    }
}

/// Adds up the tasks of all roles, where all are known, and checks that they are not too many.
pub(crate) fn total<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    counts: &[Option<u32>],
) -> Option<u32> {
    let total = counts.iter().copied().sum::<Option<u32>>()?;
    if total > MAX_TASKS {
        let allowed = format!("at most {MAX_TASKS} tasks in all");
        reader.wrong(field, format!("the job has {total} tasks"), allowed);
    }
    Some(total)
}
