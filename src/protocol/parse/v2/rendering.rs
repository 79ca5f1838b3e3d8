//! Puts parameters, data, scripts and outputs into the texts of a role, and checks secrets.

use super::super::reader::{Field, Fields, Reader, nearest};
use super::Job;
use super::prerequisite::Kind;
use crate::document::{Node, shorten};
use crate::references::{self, Tag};

/// What one role may refer to besides parameters and secrets.
pub(super) struct Scope<'d> {
    own: Vec<(&'static str, &'d Node)>,
    /// What the role selects but nothing defines: a mistake that has been told.
    lost: Vec<&'static str>,
}

impl<'d> Scope<'d> {
    /// Parameters and secrets only.
    pub(super) fn of_job() -> Self {
        Self { own: Vec::new(), lost: Vec::new() }
    }

    /// The prerequisites that a role selects.
    pub(super) fn of_role(reader: &mut Reader<'d>, role: &Fields<'d>, job: &Job<'d>) -> Self {
        let (mut own, mut lost) = (Vec::new(), Vec::new());
        for kind in [Kind::Script, Kind::Output, Kind::Data] {
            let Some(field) = role.given(kind.word()) else {
                // Where there is just one of the kind, it is clear which is meant.
                own.extend(job.prerequisites.only(kind).map(|found| (kind.word(), found.node)));
                continue;
            };
            match job.prerequisites.find(reader, &field, kind) {
                Some(found) => own.push((kind.word(), found.node)),
                None => lost.push(kind.word()),
            }
        }
        Self { own, lost }
    }

    fn root(&self, scope: &str, job: &Job<'d>) -> Option<&'d Node> {
        if scope == "parameters" {
            return job.parameters;
        }
        self.own.iter().find(|(word, _)| *word == scope).map(|(_, node)| *node)
    }

    /// All references that would be found, for a message.
    fn known(&self, job: &Job<'d>) -> Vec<String> {
        let mut paths: Vec<String> =
            job.secrets.names().map(|name| format!("$secrets.{name}")).collect();
        for scope in ["parameters", "script", "output", "data"] {
            if let Some(node) = self.root(scope, job) {
                references::known(&format!("${scope}"), node, &mut paths);
            }
        }
        paths
    }
}

/// The text with its references replaced, secrets left in place; `None` when one is not known.
pub(super) fn render<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    text: &str,
    scope: &Scope<'d>,
    job: &Job<'d>,
) -> Option<String> {
    let mut rendered = String::with_capacity(text.len());
    let mut last = 0;
    let mut complete = true;
    let mut nth = 0;
    for tag in references::tags(text).filter(|tag| tag.is_reference()) {
        nth += 1;
        let value = match tag.secret() {
            Some(name) => job.secrets.get(&name).map(|_| text[tag.start..tag.end].to_owned()),
            None => look_up(tag, scope, job),
        };
        rendered.push_str(&text[last..tag.start]);
        last = tag.end;
        match value {
            Some(value) => rendered.push_str(&value),
            None if scope.lost.contains(&tag.scope()) => complete = false,
            // One text says enough with twenty of them.
            None if nth > 20 && !complete => {}
            None => {
                unknown(reader, field, tag, nth - 1, scope, job);
                complete = false;
            }
        }
    }
    rendered.push_str(&text[last..]);
    complete.then_some(rendered)
}

fn look_up<'d>(tag: Tag<'_>, scope: &Scope<'d>, job: &Job<'d>) -> Option<String> {
    let (head, path) = tag.inner.strip_prefix('$')?.split_once('.')?;
    let node = references::follow(scope.root(head, job)?, path)?;
    references::to_text(node)
}

fn unknown<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    tag: Tag<'_>,
    nth: usize,
    scope: &Scope<'d>,
    job: &Job<'d>,
) {
    // The text may be folded or have escapes in it, so the tag is looked for in the source.
    let node = field.node;
    let source = reader.document.text.get(node.start..node.end).unwrap_or_default();
    let mut tags = references::tags(source).filter(|tag| tag.is_reference());
    let at = tags.nth(nth).filter(|found| found.inner == tag.inner).map_or(0, |tag| tag.start);
    let known = scope.known(job);
    let mut message = format!("the reference {} is not known", shorten(tag.inner));
    if let Some(near) = nearest(tag.inner, known.iter().map(String::as_str)) {
        message.push_str(&format!("; did you mean {near}?"));
    }
    let allowed = if known.is_empty() {
        "nothing is defined to refer to".to_owned()
    } else {
        known.join(", ")
    };
    reader.problem(&field.path, node.start + at, message, allowed);
}
