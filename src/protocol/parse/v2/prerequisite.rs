//! `prerequisites`: images, data, scripts and outputs by name.

use std::collections::HashSet;

use super::super::plugins::{self, Around};
use super::super::reader::{Field, Fields, Reader};
use super::super::{extras, parts};
use super::{Job, not_found, rendering};
use crate::document::{Node, Value};
use crate::fields::Object;
use crate::spec::RegistryAuth;

/// Keys of prerequisites that a plugin provides; the plugin's own may follow.
const PLUGIN_KEYS: [&str; 3] = ["plugin", "require", "failurePolicy"];

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Data,
    Script,
    Output,
    DockerImage,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Data, Self::Script, Self::Output, Self::DockerImage];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Script => "script",
            Self::Output => "output",
            Self::DockerImage => "dockerimage",
        }
    }
}

pub(super) struct Prerequisite<'d> {
    kind: Kind,
    name: String,
    path: String,
    pub(super) node: &'d Node,
    /// The image, for an image.
    pub(super) uri: Option<String>,
    auth: Option<Field<'d>>,
}

#[derive(Default)]
pub(super) struct Prerequisites<'d> {
    all: Vec<Prerequisite<'d>>,
    /// Names of those that something is wrong with, which has been told.
    lost: Vec<&'d str>,
}

impl<'d> Prerequisites<'d> {
    pub(super) fn read(reader: &mut Reader<'d>, root: &Fields<'d>) -> Self {
        let list = root.given("prerequisites").and_then(|field| reader.list(&field));
        let mut seen = HashSet::new();
        let (mut all, mut lost) = (Vec::new(), Vec::new());
        for item in list.unwrap_or_default() {
            let Some((prerequisite, name)) = read_one(reader, &item) else {
                lost.extend(written_name(item.node));
                continue;
            };
            if !seen.insert((prerequisite.kind, prerequisite.name.clone())) {
                let kind = prerequisite.kind.word();
                let message = format!("there are two {kind} prerequisites {:?}", prerequisite.name);
                reader.wrong(&name, message, "each name once for a type");
            }
            all.push(prerequisite);
        }
        Self { all, lost }
    }

    /// The one of a kind, where there is just one.
    pub(super) fn only(&self, kind: Kind) -> Option<&Prerequisite<'d>> {
        let mut of_kind = self.all.iter().filter(|p| p.kind == kind);
        of_kind.next().filter(|_| of_kind.next().is_none())
    }

    /// The prerequisite of a kind that a role names.
    pub(super) fn find(
        &self,
        reader: &mut Reader<'d>,
        field: &Field<'d>,
        kind: Kind,
    ) -> Option<&Prerequisite<'d>> {
        let name = reader.text(field)?;
        let mut of_kind = self.all.iter().filter(move |p| p.kind == kind);
        let found = of_kind.clone().find(|p| p.name == name);
        if found.is_none() && !self.lost.contains(&name.as_str()) {
            let what = format!("the {} prerequisite", kind.word());
            let names: Vec<&str> = of_kind.by_ref().map(|p| p.name.as_str()).collect();
            not_found(reader, field.place(), &what, &name, names.into_iter());
        }
        found
    }

    /// Checks the names under `prerequisites` of a role; what the plugins of these do for it.
    pub(super) fn needed(&self, reader: &mut Reader<'d>, role: &Fields<'d>) -> Vec<Around<'d>> {
        let list = role.given("prerequisites").and_then(|field| reader.list(&field));
        let mut needed = Vec::new();
        for item in list.unwrap_or_default() {
            let Some(name) = reader.text(&item) else { continue };
            let found: Vec<_> = self.all.iter().filter(|p| p.name == name).collect();
            if found.is_empty() && !self.lost.contains(&name.as_str()) {
                let names = self.all.iter().map(|p| p.name.as_str());
                not_found(reader, item.place(), "the prerequisite", &name, names);
            }
            for Prerequisite { node, path, .. } in found {
                let field = Field { node, path: path.clone() };
                let fields = reader.map(&field);
                needed.extend(fields.and_then(|f| plugins::of_prerequisite(reader, &f)));
            }
        }
        needed
    }
}

fn written_name(item: &Node) -> Option<&str> {
    match &item.get("name")?.value {
        Value::Text(name) => Some(name.as_str()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    }
}

fn read_one<'d>(
    reader: &mut Reader<'d>,
    item: &Field<'d>,
) -> Option<(Prerequisite<'d>, Field<'d>)> {
    let fields = reader.map(item)?;
    let kinds = Kind::ALL.map(Kind::word).join(", ");
    let kind_field = reader.required(&fields, "type", &kinds);
    let kind = kind_field.and_then(|field| {
        let word = reader.text(&field)?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.word() == word);
        if kind.is_none() {
            let word = crate::document::shorten(&word);
            reader.wrong(&field, format!("{word:?} is not a type of prerequisite"), kinds);
        }
        kind
    });
    // What a plugin wants to know is its own business; an image says no more than the table has.
    if fields.given("plugin").is_none() {
        match kind {
            Some(Kind::DockerImage) | None => {
                reader.check_keys(&fields, Object::Prerequisite, &PLUGIN_KEYS);
            }
            Some(Kind::Data | Kind::Script | Kind::Output) => {
                reader.check_open_keys(&fields, Object::Prerequisite, &PLUGIN_KEYS);
            }
        }
    }
    let name_field = reader.required(&fields, "name", "a text");
    let name = name_field.as_ref().and_then(|field| parts::short_line(reader, field));
    let uri = read_uri(reader, &fields, kind);
    let auth = fields.given("auth");
    if let (Some(auth), Some(kind)) = (&auth, kind.filter(|kind| *kind != Kind::DockerImage)) {
        reader.wrong(auth, format!("a {} prerequisite has no auth", kind.word()), "no auth here");
    }
    let auth = auth.filter(|_| kind == Some(Kind::DockerImage));
    if let Some(auth) = &auth {
        extras::registry(reader, auth);
    }
    let (node, path) = (item.node, item.path.clone());
    let prerequisite = Prerequisite { kind: kind?, name: name?, path, node, uri, auth };
    Some((prerequisite, name_field?))
}

/// `uri`: a text; for data a list of texts will do as well.
fn read_uri<'d>(
    reader: &mut Reader<'d>,
    fields: &Fields<'d>,
    kind: Option<Kind>,
) -> Option<String> {
    if fields.given("plugin").is_some() && fields.given("uri").is_none() {
        return None;
    }
    let allowed = "a text; for data a list of texts as well";
    let field = match kind {
        // Where nothing refers to it, only an image need say where it is.
        Some(Kind::Data | Kind::Script | Kind::Output) => fields.given("uri")?,
        Some(Kind::DockerImage) | None => reader.required(fields, "uri", allowed)?,
    };
    match kind? {
        Kind::DockerImage => parts::image(reader, &field),
        Kind::Data if matches!(field.node.value, Value::List(_)) => {
            for item in reader.list(&field).unwrap_or_default() {
                parts::short_line(reader, &item);
            }
            None
        }
        Kind::Data | Kind::Script | Kind::Output => parts::short_line(reader, &field),
    }
}

impl<'d> Prerequisite<'d> {
    /// The credentials of an image, secrets checked and left in place.
    pub(super) fn registry(
        &self,
        reader: &mut Reader<'d>,
        job: &Job<'d>,
    ) -> Option<Box<RegistryAuth>> {
        let auth = self.auth.as_ref()?;
        let fields = reader.map(auth)?;
        let scope = rendering::Scope::of_job();
        let mut text = |key| {
            let field = fields.given(key)?;
            let text = reader.text(&field).unwrap_or_default();
            rendering::render(reader, &field, &text, &scope, job)
        };
        let registry = text("registryuri").unwrap_or_default();
        let user = text("username").unwrap_or_default();
        let password = text("password").unwrap_or_default();
        if !password.is_empty() && !password.contains("$secrets.") {
            let name = &self.name;
            reader.warnings.push(format!(
                "the password of image {name:?} is written in clear: put it under secrets and \
                 write <% $secrets.… %> in its place"
            ));
        }
        Some(Box::new(RegistryAuth { registry, user, password }))
    }
}
