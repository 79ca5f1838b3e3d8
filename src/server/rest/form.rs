//! Job files of version 1 as the fields of a form (`taskRoles[0][name]=worker`): OpenPAI's clients
//! send them so as well. They become the JSON that they mean.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use api::ErrorCode;
use serde_json::Value;

use crate::failure::Failure;

/// How deep a field may lie: job files are less deep.
const DEPTH: usize = 8;
/// Characters of a field's name that are repeated to who sent it.
const SHOWN: usize = 100;

/// What a form says, put together.
enum Node {
    Text(String),
    Branch(Branch),
}

type Branch = BTreeMap<String, Node>;

/// Whether a text is written as forms are. `curl -d` says of every text that it is a form; no job file
/// in JSON or YAML gets by without a character that forms write otherwise.
pub(super) fn is_one(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"*-._~!'()%+&=[]".contains(&b);
    text.contains('=') && text.bytes().all(plain)
}

/// The job file that a form means. All its values are texts; numbers in quotes are taken as numbers.
pub(super) fn to_json(form: &str) -> Result<String, Failure> {
    let fields: Vec<(String, String)> =
        serde_urlencoded::from_str(form).map_err(|error| invalid(error.to_string()))?;
    let mut job = Branch::new();
    for (name, text) in fields {
        let placed = parts(&name).is_some_and(|parts| put(&mut job, &parts, text));
        if !placed {
            let name: String = name.chars().take(SHOWN).collect();
            return Err(invalid(format!(
                "{name:?}: allowed are fields as taskRoles[0][name], each of them once"
            )));
        }
    }
    serde_json::to_string_pretty(&object(job)).map_err(|error| invalid(error.to_string()))
}

/// `a[0][b]`, taken apart.
fn parts(name: &str) -> Option<Vec<&str>> {
    let Some((first, rest)) = name.split_once('[') else {
        return (!name.is_empty()).then(|| vec![name]);
    };
    let rest = rest.strip_suffix(']')?;
    let parts: Vec<_> = std::iter::once(first).chain(rest.split("][")).collect();
    let plain = parts.iter().all(|part| !part.contains(['[', ']']));
    (plain && !first.is_empty() && parts.len() <= DEPTH).then_some(parts)
}

/// Puts a text where it belongs; false: something else is there.
fn put(branch: &mut Branch, parts: &[&str], text: String) -> bool {
    let Some((first, rest)) = parts.split_first() else { return false };
    // `a[]` is one more of a list.
    let name = if first.is_empty() { branch.len().to_string() } else { (*first).to_owned() };
    match branch.entry(name) {
        Entry::Vacant(place) if rest.is_empty() => {
            place.insert(Node::Text(text));
            true
        }
        Entry::Occupied(_) if rest.is_empty() => false,
        entry => match entry.or_insert_with(|| Node::Branch(Branch::new())) {
            Node::Branch(inner) => put(inner, rest, text),
            Node::Text(_) => false,
        },
    }
}

/// What has nothing but numbers for names is a list, in their order.
fn value(node: Node) -> Value {
    match node {
        Node::Text(text) => Value::String(text),
        Node::Branch(branch) if branch.keys().all(|name| name.parse::<u32>().is_ok()) => {
            let items = branch.into_iter();
            let mut items: Vec<_> =
                items.filter_map(|(name, node)| Some((name.parse::<u32>().ok()?, node))).collect();
            items.sort_by_key(|(place, _)| *place);
            Value::Array(items.into_iter().map(|(_, node)| value(node)).collect())
        }
        Node::Branch(branch) => object(branch),
    }
}

fn object(branch: Branch) -> Value {
    Value::Object(branch.into_iter().map(|(name, node)| (name, value(node))).collect())
}

fn invalid(message: String) -> Failure {
    Failure::new(ErrorCode::InvalidParametersError, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(form: &str) -> Value {
        serde_json::from_str(&to_json(form).unwrap()).unwrap()
    }

    #[test]
    fn fields_become_the_job_that_they_mean() {
        let form = "jobName=train&image=a%2Fb%3A1&taskRoles%5B0%5D%5Bname%5D=worker\
                    &taskRoles[0][taskNumber]=2&taskRoles[0][command]=echo+a%26b\
                    &taskRoles[0][portList][0][label]=web&taskRoles[10][name]=z\
                    &taskRoles[2][name]=ps&jobEnvs[isDebug]=true&x[]=a&x[]=b";
        let job = json!({
            "jobName": "train",
            "image": "a/b:1",
            "taskRoles": [
                {
                    "name": "worker", "taskNumber": "2", "command": "echo a&b",
                    "portList": [{ "label": "web" }],
                },
                { "name": "ps" },
                { "name": "z" },
            ],
            "jobEnvs": { "isDebug": "true" },
            "x": ["a", "b"],
        });
        assert!(is_one(form));
        assert_eq!(read(form), job);
    }

    #[test]
    fn a_job_file_is_no_form() {
        for file in
            ["", "{\"jobName\": \"a=b\"}", "{}", "protocolVersion: 2\nname: a=b", "a: b", "a job"]
        {
            assert!(!is_one(file), "{file}");
        }
    }

    #[test]
    fn a_form_takes_no_more_than_it_sends() {
        let list = read("a[4294967295]=last&a[7]=first");
        assert_eq!(list, json!({ "a": ["first", "last"] }), "numbers are an order, not places");
        let deep = format!("a{}=x", "[b]".repeat(200_000));
        for bad in [deep.as_str(), "a=1&a=2", "a=1&a[b]=2", "a[b]=1&a=2", "a[b=1", "=x", "[a]=x"] {
            assert!(to_json(bad).is_err(), "{}", &bad[..bad.len().min(20)]);
        }
    }
}
