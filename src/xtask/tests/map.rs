//! The map for whoever is new is true: what the rooms' READMEs, the glossary and the lists of what to
//! touch name is there.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand};

/// What a README of a room is at most, in lines. The scheduler's tells its policy as well.
const LONGEST: usize = 25;
const LONGER: &str = "scheduler";

/// How a word in backticks ends that is a file.
const ENDINGS: [&str; 8] = [".rs", ".md", ".ts", ".css", ".json", ".yaml", ".toml", ".sql"];

/// Words that types had which were nobody else's, each with what the field says.
const OWN_WORDS: [(&str, &str); 16] = [
    ("Bell", "wakeup"),
    ("Desk", "router"),
    ("Doings", "operations"),
    ("Ear", "cursor"),
    ("Eviction", "preemption"),
    ("Gap", "backfill"),
    ("Grip", "session handle"),
    ("Mandate", "fencing token"),
    ("Moments", "logical clock"),
    ("Mood", "mode"),
    ("Newsroom", "change log"),
    ("NodeWish", "node selector"),
    ("PutOffs", "back-off"),
    ("Reign", "lease"),
    ("Sightings", "heartbeats"),
    ("Wish", "request"),
];

fn metadata() -> Metadata {
    MetadataCommand::new().no_deps().exec().expect("cargo describes the workspace")
}

/// The rooms by name, each with its folder.
fn rooms(metadata: &Metadata) -> Vec<(String, PathBuf)> {
    let packages = metadata.workspace_packages().into_iter();
    let room = |package: &cargo_metadata::Package| {
        let folder = package.manifest_path.parent().expect("a manifest lies in a folder");
        (package.name.to_string(), folder.as_std_path().to_owned())
    };
    packages.map(room).collect()
}

/// All pages of the map.
fn pages(metadata: &Metadata) -> Vec<PathBuf> {
    let src = metadata.workspace_root.as_std_path().join("src");
    let rooms = rooms(metadata).into_iter().map(|(_, folder)| folder.join("README.md"));
    rooms.chain(["README.md", "CONTRIBUTING.md"].map(|page| src.join(page))).collect()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// What stands in backticks. A block of code is one of them, with its line breaks.
fn marked(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether a word is a file or a folder: names that are to be filled in (`<page>.rs`) are not.
fn is_path(word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    let ends = word.ends_with('/') || ENDINGS.iter().any(|ending| word.ends_with(ending));
    ends && word.chars().all(plain) && !word.starts_with('/')
}

/// Where links lead that stay in the checkout.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let links = links.filter_map(|link| link.split('#').next());
    links.filter(|link| !link.is_empty() && !link.contains("://"))
}

#[test]
fn every_room_says_what_it_is_and_where_to_begin() {
    for (room, folder) in rooms(&metadata()) {
        let text = read(&folder.join("README.md"));
        assert!(room == LONGER || text.lines().count() <= LONGEST, "{room}: it is a page, no book");
        let part = |title: &str| {
            text.split("\n\n").find(|part| part.starts_with(title)).unwrap_or_default()
        };
        let begin = marked(part("**Begin with**")).filter(|word| is_path(word)).count();
        assert!((3..=5).contains(&begin), "{room}: begin with three files, not {begin}");
        assert!(!part("**Never**").is_empty(), "{room}: say what it must not do");
    }
}

#[test]
fn what_the_map_names_is_there() {
    let metadata = metadata();
    let root = metadata.workspace_root.as_std_path();
    for page in pages(&metadata) {
        let folder = page.parent().expect("a page lies in a folder");
        let text = read(&page);
        let paths: Vec<&str> =
            marked(&text).filter(|word| is_path(word)).chain(links(&text)).collect();
        assert!(paths.len() >= 3, "{} names files: {paths:?}", page.display());
        for path in paths {
            let there = folder.join(path).exists() || root.join(path).exists();
            assert!(there, "{}: there is no {path}", page.display());
        }
    }
}

/// Whether a word is a test's name: three words and more, all of them small.
fn is_test(word: &str) -> bool {
    let plain = word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    plain && word.split('_').filter(|part| !part.is_empty()).count() > 3
}

/// Whether a function of that name is in a source of the folder or below it.
fn has_function(folder: &Path, name: &str) -> bool {
    let entries = fs::read_dir(folder).expect("a folder of sources can be read");
    entries.map(|entry| entry.expect("an entry can be read").path()).any(|path| {
        if path.is_dir() {
            return !path.ends_with("node_modules") && has_function(&path, name);
        }
        let is_source = path.extension().is_some_and(|ending| ending == "rs");
        is_source && read(&path).contains(&format!("fn {name}("))
    })
}

#[test]
fn tests_that_are_named_for_what_is_added_are_there() {
    let metadata = metadata();
    let root = metadata.workspace_root.as_std_path();
    let text = read(&root.join("src/CONTRIBUTING.md"));
    let names: Vec<&str> = marked(&text).filter(|word| is_test(word)).collect();
    assert!(names.len() >= 3, "it names tests: {names:?}");
    for name in names {
        let there = ["app", "src"].iter().any(|folder| has_function(&root.join(folder), name));
        assert!(there, "no test is called {name}");
    }
}

/// The types that are declared in the sources of a folder and below it, each with its file.
fn declared(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).expect("a folder of sources can be read");
    let paths = entries.map(|entry| entry.expect("an entry can be read").path());
    let of = |path: PathBuf| match path {
        path if path.ends_with("node_modules") => Vec::new(),
        path if path.is_dir() => declared(&path),
        path if path.extension().is_some_and(|ending| ending == "rs") => {
            let text = read(&path);
            let words: Vec<&str> = text.split_whitespace().collect();
            let names =
                words.windows(2).filter(|pair| ["struct", "enum", "trait"].contains(&pair[0]));
            let plain = |name: &str| name.chars().take_while(|c| c.is_alphanumeric()).collect();
            names.map(|pair| (plain(pair[1]), path.clone())).collect()
        }
        _ => Vec::new(),
    };
    paths.flat_map(of).collect()
}

#[test]
fn types_are_called_as_the_field_calls_them() {
    let root = metadata().workspace_root;
    let all =
        ["app", "src"].map(|folder| declared(&root.join(folder).into_std_path_buf())).concat();
    assert!(all.iter().any(|(name, _)| name == "Wakeup"), "types are found");
    for (ours, fields) in OWN_WORDS {
        let there: Vec<_> = all.iter().filter(|(name, _)| name == ours).collect();
        assert!(there.is_empty(), "{ours}: the field says {fields}: {there:?}");
    }
}
