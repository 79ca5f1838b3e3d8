//! What a job file declares once and refers to by name: secrets, parameters, prerequisites. Where each of them
//! stands, and how it is changed without touching anything else.

pub(crate) mod fold;
mod pairs;
mod prerequisites;
mod row;
pub(crate) mod sections;
mod uses;

use protocol::document::join;
use protocol::fields::{JobField, Notation};
use protocol::secrets::MASK;

use crate::document::{Edit, Role, Tree, free_name};

/// Where parameters stand.
pub(super) const PARAMETERS: &str = "parameters";
/// Where prerequisites stand.
const PREREQUISITES: &str = "prerequisites";
/// The type of an image.
const IMAGE: &str = "dockerimage";

/// The types of prerequisites, each with the key by which a role names one.
pub(super) const TYPES: [(&str, &str); 4] =
    [(IMAGE, "dockerImage"), ("data", "data"), ("script", "script"), ("output", "output")];

/// A value under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) held: Held,
}

/// What stands under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Held {
    /// One value.
    Value(String),
    /// The server has it and does not show it.
    Covered,
    /// An object or a list: no field shows it.
    Several,
}

/// Everything under names in the object at a path, in the order of the text.
pub(super) fn named(tree: &Tree, path: &str) -> Vec<Named> {
    let one = |name: String| {
        let path = join(path, &name);
        let held = if tree.is_list(&path) || !tree.keys(&path).is_empty() {
            Held::Several
        } else {
            match tree.text(&path) {
                value if value == MASK => Held::Covered,
                value => Held::Value(value),
            }
        };
        Named { name, path, held }
    };
    tree.keys(path).into_iter().map(one).collect()
}

/// Adds a value under a name that no other has.
pub(super) fn add_named(tree: &Tree, path: &str, stem: &str) -> Edit {
    let taken = tree.keys(path);
    let name = free_name(stem, |name| taken.iter().any(|known| known == name));
    Edit::Set(join(path, &name), "".into())
}

/// Gives a value another name; nothing where another one has that already, which would be lost.
pub(super) fn rename(tree: &Tree, holder: &str, path: &str, name: &str) -> Vec<Edit> {
    if tree.keys(holder).iter().any(|known| known == name) {
        return Vec::new();
    }
    Tree::rename(path, name)
}

/// What was typed as a parameter's value. What is written as a number stays one, and `007` a text.
pub(super) fn typed_parameter(path: &str, typed: &str) -> Edit {
    let whole = typed.parse::<i64>().is_ok_and(|number| number.to_string() == typed);
    let decimal = typed.contains('.')
        && typed.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && typed.chars().all(|letter| letter == '-' || letter == '.' || letter.is_ascii_digit());
    Edit::typed(path, typed, whole || decimal, true)
}

/// A prerequisite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prerequisite {
    pub(super) path: String,
    pub(super) name: String,
    /// One of [`TYPES`], or whatever else stands there.
    pub(super) type_name: String,
    /// Where its address stands, or each of its addresses.
    pub(super) uris: Vec<String>,
    pub(super) has_auth: bool,
    /// A plugin makes it, whose own keys no field shows.
    pub(super) has_plugin: bool,
}

impl Prerequisite {
    /// Only images have credentials.
    pub(super) fn is_image(&self) -> bool {
        self.type_name == IMAGE
    }
}

/// The prerequisites in the order of the text.
pub(super) fn prerequisites(tree: &Tree) -> Vec<Prerequisite> {
    let one = |at: usize| {
        let path = format!("{PREREQUISITES}[{at}]");
        let of = |key: &str| tree.text(&format!("{path}.{key}"));
        let uri = format!("{path}.uri");
        let uris = match tree.len(&uri) {
            0 => vec![uri],
            many => (0..many).map(|at| format!("{uri}[{at}]")).collect(),
        };
        Prerequisite {
            name: of("name"),
            type_name: of("type"),
            uris,
            has_auth: !tree.keys(&format!("{path}.auth")).is_empty(),
            has_plugin: !of("plugin").is_empty(),
            path,
        }
    };
    (0..tree.len(PREREQUISITES)).map(one).collect()
}

/// Adds an image under a name that nothing else has.
pub(super) fn add_prerequisite(tree: &Tree) -> Vec<Edit> {
    let all = prerequisites(tree);
    let name = free_name("image", |name| all.iter().any(|known| known.name == name));
    let path = format!("{PREREQUISITES}[{}]", all.len());
    let set = |(key, value): (&str, String)| Edit::Set(format!("{path}.{key}"), value.into());
    // Each key is an edit of its own, so that they stand in the order in which people write them.
    [("name", name), ("type", IMAGE.to_owned()), ("uri", String::new())].map(set).to_vec()
}

/// Gives a prerequisite another name, and has the roles that name it follow. Nothing where another one of its
/// type has that name already: nobody could tell them apart again.
pub(super) fn rename_prerequisite(tree: &Tree, path: &str, name: &str) -> Vec<Edit> {
    let all = prerequisites(tree);
    let Some(this) = all.iter().find(|known| known.path == path) else { return Vec::new() };
    let is_taken = |one: &Prerequisite| one.type_name == this.type_name && one.name == name;
    if name.is_empty() || all.iter().any(is_taken) {
        return Vec::new();
    }
    let itself = Edit::Set(format!("{path}.name"), name.into());
    let named = users(tree, this, &all).into_iter();
    std::iter::once(itself).chain(named.map(|path| Edit::Set(path, name.into()))).collect()
}

/// Where roles name a prerequisite.
fn users(tree: &Tree, this: &Prerequisite, all: &[Prerequisite]) -> Vec<String> {
    if this.name.is_empty() {
        return Vec::new();
    }
    let key = TYPES.iter().find(|(type_name, _)| *type_name == this.type_name).map(|(_, key)| *key);
    // A list names prerequisites of all types at once.
    let is_only = all.iter().filter(|other| other.name == this.name).count() == 1;
    let of_role = |role: Role| {
        let list = format!("{}.prerequisites", role.path);
        let listed = if is_only { tree.len(&list) } else { 0 };
        let listed = (0..listed).map(|at| format!("{list}[{at}]")).collect::<Vec<_>>();
        key.map(|key| format!("{}.{key}", role.path)).into_iter().chain(listed).collect::<Vec<_>>()
    };
    let places = tree.roles().into_iter().flat_map(of_role);
    places.filter(|path| tree.text(path) == this.name).collect()
}

/// The names of the prerequisites of a type.
pub(super) fn names_of(tree: &Tree, type_name: &str) -> Vec<String> {
    let all = prerequisites(tree).into_iter();
    let names = all.filter(|one| one.type_name == type_name && !one.name.is_empty());
    names.map(|one| one.name).collect()
}

/// Whether a text has anything of this that the rest of the form does not show: the image of a role is there.
pub(super) fn says_more(tree: &Tree) -> bool {
    let has_secrets = !tree.keys(&tree.job_path(JobField::Secrets)).is_empty();
    let is_more = |one: Prerequisite| !one.is_image() || one.has_auth || one.has_plugin;
    let of_v2 =
        || !tree.keys(PARAMETERS).is_empty() || prerequisites(tree).into_iter().any(is_more);
    has_secrets || tree.notation == Notation::V2 && of_v2()
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = r#"{
  // a comment
  "jobName": "first",
  "image": "berth/base:latest",
  "taskRoles": [
    { "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 256, "gpuNumber": 0, "command": "echo 1" }
  ]
}
"#;

    const V2: &str = "\
protocolVersion: 2
name: second
type: job
prerequisites:
  - name: image # of all
    type: dockerimage
    uri: berth/base:latest
  - name: cifar
    type: data
    uri: ['https://one', 'https://two']
parameters:
  rate: 0.1 # as in the paper
  model: {depth: 20}
secrets:
  token: '******'
  registry: {password: '******'}
taskRoles:
  worker:
    instances: 1
    dockerImage: image
    data: cifar
    prerequisites: [image]
    resourcePerInstance: {cpu: 1, memoryMB: 256, gpu: 0}
    commands:
      - echo <% $parameters.rate %>
";

    fn read(text: &str) -> Tree {
        Tree::read(text).unwrap()
    }

    fn edited(text: &str, edits: &[Edit]) -> String {
        edits.iter().fold(text.to_owned(), |text, edit| {
            edit.apply(&text).unwrap_or_else(|problems| panic!("{edit:?} in {text}: {problems:?}"))
        })
    }

    fn is_valid(text: &str) {
        let parsed = protocol::parse::parse(text);
        assert!(parsed.is_ok(), "{text}\n{:?}", parsed.err());
    }

    #[test]
    fn what_stands_under_names_is_one_value_several_or_covered() {
        let tree = read(V2);
        let held = |path: &str| -> Vec<(String, Held)> {
            named(&tree, path).into_iter().map(|one| (one.name, one.held)).collect()
        };
        let value = |text: &str| Held::Value(text.to_owned());
        let parameters = [("rate".to_owned(), value("0.1")), ("model".to_owned(), Held::Several)];
        assert_eq!(held("parameters"), parameters);
        let secrets = [("token".to_owned(), Held::Covered), ("registry".to_owned(), Held::Several)];
        assert_eq!(held("secrets"), secrets);
    }

    #[test]
    fn secrets_are_added_named_valued_and_removed_in_either_notation() {
        for text in [V1, V2] {
            let tree = read(text);
            let holder = tree.job_path(JobField::Secrets);
            let before = tree.keys(&holder);
            let grown = edited(text, &[add_named(&tree, &holder, "secret")]);
            let tree = read(&grown);
            let path = join(&holder, "secret_1");
            let renamed = edited(&grown, &rename(&tree, &holder, &path, "key"));
            let path = join(&holder, "key");
            let valued = edited(&renamed, &[Edit::Set(path.clone(), "0123".into())]);
            is_valid(&valued);
            let parsed = protocol::parse::parse(&valued).unwrap();
            assert_eq!(parsed.secrets.get("key"), Some("0123"), "{valued}");
            assert!(says_more(&read(&valued)));
            let less = edited(&valued, &[Edit::Remove(path)]);
            assert_eq!(read(&less).keys(&holder), before, "{less}");
        }
    }

    #[test]
    fn a_name_that_another_has_is_not_taken_from_it() {
        let tree = read(V2);
        assert_eq!(rename(&tree, "parameters", "parameters.rate", "model"), []);
        assert_eq!(rename_prerequisite(&tree, "prerequisites[0]", ""), []);
        let two = edited(V2, &add_prerequisite(&tree));
        assert_eq!(rename_prerequisite(&read(&two), "prerequisites[2]", "image"), []);
        let as_data = rename_prerequisite(&read(&two), "prerequisites[2]", "cifar");
        assert_eq!(as_data.len(), 1, "a name is one of its type");
    }

    #[test]
    fn parameters_are_numbers_where_they_look_exactly_so() {
        let typed = |typed: &str| typed_parameter("parameters.x", typed);
        let set = |value: serde_json::Value| Edit::Set("parameters.x".to_owned(), value);
        assert_eq!(typed("32"), set(32.into()));
        assert_eq!(typed("-0.5"), set((-0.5).into()));
        for text in ["007", "+5", "0.10", "1.2.3", "1e3", " 4", "resnet", "-", "."] {
            assert_eq!(typed(text), set(text.into()), "{text}");
        }
        assert_eq!(typed(""), set("".into()), "it is asked for by its name");
    }

    #[test]
    fn a_parameter_changes_and_the_comment_beside_it_stays() {
        let changed = edited(V2, &[typed_parameter("parameters.rate", "0.2")]);
        assert_eq!(changed, V2.replace("rate: 0.1", "rate: 0.2"));
    }

    #[test]
    fn prerequisites_are_read_with_each_of_their_addresses() {
        let all = prerequisites(&read(V2));
        let [image, data] = all.as_slice() else { panic!("two are there: {all:?}") };
        assert!(image.is_image() && !image.has_auth && !image.has_plugin);
        assert_eq!(image.uris, ["prerequisites[0].uri"]);
        assert_eq!((data.name.as_str(), data.type_name.as_str()), ("cifar", "data"));
        assert_eq!(data.uris, ["prerequisites[1].uri[0]", "prerequisites[1].uri[1]"]);
        let other = edited(V2, &[Edit::Set(data.uris[1].clone(), "https://three".into())]);
        assert_eq!(other, V2.replace("'https://two'", "\"https://three\""));
    }

    #[test]
    fn roles_follow_the_name_of_what_they_use() {
        let renamed = edited(V2, &rename_prerequisite(&read(V2), "prerequisites[0]", "torch"));
        is_valid(&renamed);
        let expected = V2
            .replace("name: image", "name: torch")
            .replace("dockerImage: image", "dockerImage: torch")
            .replace("[image]", "[\"torch\"]");
        assert_eq!(renamed, expected);
        let renamed = edited(V2, &rename_prerequisite(&read(V2), "prerequisites[1]", "set"));
        assert_eq!(read(&renamed).text("taskRoles.worker.data"), "set", "{renamed}");
        is_valid(&renamed);
    }

    #[test]
    fn an_image_is_added_and_can_be_chosen() {
        let grown = edited(V2, &add_prerequisite(&read(V2)));
        let tree = read(&grown);
        assert_eq!(names_of(&tree, IMAGE), ["image", "image_1"], "{grown}");
        assert_eq!(names_of(&tree, "script"), Vec::<String>::new());
        let used = [
            Edit::Set("prerequisites[2].uri".to_owned(), "berth/other:1".into()),
            Edit::Set("taskRoles.worker.dockerImage".to_owned(), "image_1".into()),
        ];
        let used = edited(&grown, &used);
        is_valid(&used);
        let login = Edit::Set("prerequisites[2].auth.username".to_owned(), "me".into());
        assert!(prerequisites(&read(&edited(&used, &[login])))[2].has_auth);
    }

    #[test]
    fn a_text_says_more_where_the_rest_of_the_form_does_not_show_it() {
        assert!(!says_more(&read(V1)));
        assert!(says_more(&read(V2)));
        let plain = ["secrets", "parameters", "prerequisites[1]"];
        let plain = plain.map(|path| Edit::Remove(path.to_owned()));
        assert!(!says_more(&read(&edited(V2, &plain))), "one image, which its role shows");
    }
}
