//! Files that take names from each other in a circle can only be understood together: there are few of
//! them in each. Names lead one way, too, among what stands side by side in a folder: few arrows lead back.
//!
//! A file takes a name from the file in which it is defined, whoever hands it on, and whether it stands
//! in a `use` or in the code. A parent takes from its children like anybody else. What stands at the
//! root of a crate puts it together and is left out, and so are tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cargo_metadata::MetadataCommand;

mod back;
mod source;

use back::{Back, arrows_back};
use source::Source;

/// So many files may be in a circle.
const MOST: usize = 5;

/// So many arrows may lead back in a folder.
const MOST_BACK: usize = 4;

/// A name goes through so many hands at most.
const HANDS: usize = 8;

/// The sources of a room, each by its place in it: `known/queue`, and nothing for its root.
#[derive(Debug, Default)]
struct Room<'a>(BTreeMap<String, Source<'a>>);

impl<'a> Room<'a> {
    fn of(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let source = |(place, text): (&str, &'a str)| (place.to_owned(), Source::read(text));
        Self(texts.into_iter().map(source).collect())
    }

    /// The file to which a path leads from a place, and how many of its names lead there. `None`: it
    /// leads to another room.
    fn locate(&self, place: &str, path: &[&str]) -> Option<(String, usize)> {
        let (mut at, mut taken) = match *path.first()? {
            "crate" => (String::new(), 1),
            "self" => (place.to_owned(), 1),
            "super" => (place.to_owned(), 0),
            first if self.0.contains_key(&below(place, first)) => (place.to_owned(), 0),
            _ => return None,
        };
        while path.get(taken) == Some(&"super") {
            at = at.rsplit_once('/').map(|(above, _)| above.to_owned()).unwrap_or_default();
            taken += 1;
        }
        while let Some(name) = path.get(taken) {
            let deeper = below(&at, name);
            if !self.0.contains_key(&deeper) {
                break;
            }
            at = deeper;
            taken += 1;
        }
        Some((at, taken))
    }

    /// The file in which the name is defined to which a path leads.
    fn defined(&self, place: &str, path: &[&str], hands: usize) -> Option<String> {
        let (file, taken) = self.locate(place, path)?;
        let Some(name) = path.get(taken) else { return Some(file) };
        let Some(source) = self.0.get(&file) else { return Some(file) };
        let sees_all = place == file || place.starts_with(&below(&file, ""));
        let handed =
            source.uses.iter().find(|one| one.name == *name && (one.handed_on || sees_all));
        match handed {
            Some(handed) if hands > 0 && handed.path != path => {
                let on: Vec<&str> = handed.path.iter().chain(&path[taken + 1..]).copied().collect();
                self.defined(&file, &on, hands - 1)
            }
            Some(_) | None => Some(file),
        }
    }

    /// From which files each takes names.
    fn arrows(&self) -> BTreeMap<&str, BTreeSet<String>> {
        let files = self.0.iter().filter(|(place, _)| !place.is_empty());
        let arrows = files.map(|(place, source)| {
            let uses = source.uses.iter();
            let used = uses.filter(|one| !one.handed_on || source.words.contains(one.name));
            let paths = used.map(|one| &one.path).chain(&source.paths);
            let files = paths.filter_map(|path| self.defined(place, path, HANDS));
            let others = files.filter(|file| file != place && !file.is_empty());
            (place.as_str(), others.collect())
        });
        arrows.collect()
    }
}

fn below(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}/{name}") }
}

/// Everything that is reached from a file by one arrow or more.
fn reached<'a>(
    arrows: &'a BTreeMap<&'a str, BTreeSet<String>>,
    from: &'a str,
) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for next in arrows.get(file).into_iter().flatten() {
            if seen.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    seen
}

/// The circles, each with all of its files.
fn circles<'a>(arrows: &'a BTreeMap<&'a str, BTreeSet<String>>) -> Vec<BTreeSet<&'a str>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|file| (*file, reached(arrows, file))).collect();
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for (file, there) in &reach {
        if !there.contains(file) || found.iter().any(|circle| circle.contains(file)) {
            continue;
        }
        let back = |other: &&str| reach.get(other).is_some_and(|there| there.contains(file));
        found.push(there.iter().copied().filter(back).collect());
    }
    found
}

/// The arrows within a circle, for people to read.
fn tied(arrows: &BTreeMap<&str, BTreeSet<String>>, circle: &BTreeSet<&str>) -> String {
    let lines = circle.iter().flat_map(|file| {
        let others = arrows.get(file).into_iter().flatten();
        let others = others.filter(move |other| circle.contains(other.as_str()));
        others.map(move |other| format!("  {file} -> {other}"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The Rust sources of a folder by their places, without those of its tests.
fn sources(folder: &Path, place: &str, found: &mut Vec<(String, String)>) {
    const LEFT_OUT: [&str; 3] = ["tests", "target", "node_modules"];
    for entry in fs::read_dir(folder).expect("a room's folder can be read") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if LEFT_OUT.contains(&name) {
            continue;
        }
        if path.is_dir() {
            sources(&path, &below(place, name), found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_root = place.is_empty() && ["lib", "main"].contains(&name);
            let place = if is_root { String::new() } else { below(place, name) };
            let text = fs::read_to_string(&path).expect("a source is text");
            match found.iter_mut().find(|(there, _)| *there == place) {
                // A program and its library are put together as one.
                Some((_, root)) => root.push_str(&text),
                None => found.push((place, text)),
            }
        }
    }
}

/// The sources of all crates, by their names.
fn crates() -> Vec<(String, Vec<(String, String)>)> {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo describes the workspace");
    let packages = metadata.workspace_packages().into_iter();
    let read = |package: &cargo_metadata::Package| {
        let folder = package.manifest_path.parent().expect("a manifest lies in a folder");
        let mut texts = Vec::new();
        sources(folder.as_std_path(), "", &mut texts);
        assert!(!texts.is_empty(), "{} has sources", package.name);
        (package.name.to_string(), texts)
    };
    packages.map(read).collect()
}

#[test]
fn no_room_has_a_large_circle_of_files() {
    let mut wrong = Vec::new();
    for (room, texts) in crates() {
        let read = Room::of(texts.iter().map(|(place, text)| (place.as_str(), text.as_str())));
        let arrows = read.arrows();
        for circle in circles(&arrows).iter().filter(|circle| circle.len() > MOST) {
            let files = circle.len();
            let tied = tied(&arrows, circle);
            wrong.push(format!("{room}: a circle of {files} files, not {MOST} at most:\n{tied}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "move what both sides need to a file below both\n{}",
        wrong.join("\n")
    );
}

#[test]
fn few_arrows_lead_back_in_any_folder() {
    let mut wrong = Vec::new();
    for (room, texts) in crates() {
        let read = Room::of(texts.iter().map(|(place, text)| (place.as_str(), text.as_str())));
        let back = arrows_back(&read.arrows());
        for Back { folder, count, tied } in back.iter().filter(|back| back.count > MOST_BACK) {
            wrong.push(format!("{room}/{folder}: {count} lead back, not {MOST_BACK}:\n{tied}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "move what both sides need to a file below both\n{}",
        wrong.join("\n")
    );
}

/// The arrows between some sources, as `from -> to`.
fn drawn(texts: &[(&str, &str)]) -> Vec<String> {
    let room = Room::of(texts.iter().copied());
    let arrows = room.arrows();
    let lines = arrows
        .iter()
        .flat_map(|(file, others)| others.iter().map(move |other| format!("{file} -> {other}")));
    lines.collect()
}

#[test]
fn an_arrow_leads_to_where_a_name_is_defined() {
    let face = ("a", "mod b; mod c; pub(crate) use b::{B, C}; use crate::d::D;");
    let rows: [(&str, &[&str]); 8] = [
        ("use crate::a::B;", &["a/c -> a/b"]),
        ("use super::{b::E, Other};", &["a/c -> a", "a/c -> a/b"]),
        ("use super::D;", &["a/c -> d"]),
        ("fn f() { crate::d::g::<u8>(); }", &["a/c -> d"]),
        ("fn f() { super::super::d::g() }", &["a/c -> d"]),
        ("use std::fmt; use d::D; use self::F;", &[]),
        ("use super::b; fn f() { b::g() }", &["a/c -> a/b"]),
        ("// use crate::a::B;\nconst A: &str = \"crate::d::D\";", &[]),
    ];
    for (text, expected) in rows {
        let texts = [("", "mod a; mod d;"), face, ("a/b", ""), ("a/c", text), ("d", "")];
        let mut drawn = drawn(&texts);
        drawn.retain(|arrow| arrow.starts_with("a/c"));
        assert_eq!(drawn, expected, "{text}");
    }
}

#[test]
fn who_only_hands_a_name_on_does_not_take_it() {
    let child = ("a/b", "use super::A; pub(crate) struct B;");
    let hands_on = drawn(&[("a", "mod b; pub(crate) use b::B; struct A;"), child]);
    assert_eq!(hands_on, ["a/b -> a"]);
    let takes = drawn(&[("a", "mod b; pub(crate) use b::B; struct A(B);"), child]);
    assert_eq!(takes, ["a -> a/b", "a/b -> a"]);
}

#[test]
fn a_circle_has_all_who_reach_each_other() {
    let texts = [
        ("", "mod a; mod b; mod c; mod d; use a::A; pub use b::B;"),
        ("a", "use crate::b::B;"),
        ("b", "use crate::c::C;"),
        ("c", "use crate::{a::A, d};"),
        ("d", "use crate::{B as Other, Root};"),
        ("e", "use crate::a::A;"),
        ("f", "mod g; fn f() { g::g() }"),
        ("f/g", "use super::*;"),
    ];
    let room = Room::of(texts);
    let arrows = room.arrows();
    let circles = circles(&arrows);
    assert_eq!(circles, [BTreeSet::from(["a", "b", "c", "d"]), BTreeSet::from(["f", "f/g"])]);
    assert_eq!(tied(&arrows, &circles[1]), "  f -> f/g\n  f/g -> f");
}

#[test]
fn arrows_back_are_the_fewest_in_any_order() {
    let texts = [
        ("", "mod a; mod b; mod c; mod d;"),
        ("a", "mod x; mod y; use crate::b::B; use x::X; use y::Y;"),
        ("a/x", "use crate::d::D;"),
        ("a/y", "use super::x::X; use super::A;"),
        ("b", "use crate::{a::A, c::C};"),
        ("c", "use crate::a::y::Y;"),
        ("d", "mod z; use z::Z;"),
        ("d/z", "use super::super::e::E;"),
        ("e", ""),
    ];
    let room = Room::of(texts);
    let back = arrows_back(&room.arrows());
    let found: Vec<_> = back.iter().map(|back| (back.folder.as_str(), back.count)).collect();
    assert_eq!(found, [("", 1), ("a", 1)], "{back:?}");
    assert_eq!(back[0].tied, "  a -> b\n  b -> a\n  b -> c\n  c -> a");
    assert_eq!(back[1].tied, "  itself -> y\n  y -> itself");

    // Each of three takes from both others: three arrows lead back in any order.
    let all =
        [("a", "use crate::{b, c};"), ("b", "use crate::{a, c};"), ("c", "use crate::{a, b};")];
    let back = arrows_back(&Room::of(all).arrows());
    assert_eq!(back[0].count, 3);
}
