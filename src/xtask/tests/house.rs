//! The invariants of the house: which room may know which, and what must not be there at all.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// The rooms and those of our own crates that each may use.
const ROOMS: [(&str, &[&str]); 15] = [
    ("protocol", &[]),
    ("scheduler", &["protocol"]),
    ("lifecycle", &["protocol"]),
    ("api", &["protocol"]),
    ("database", &["protocol"]),
    ("engine", &["protocol"]),
    ("storage", &["protocol"]),
    ("directory", &["protocol"]),
    ("post", &[]),
    ("guest", &["protocol"]),
    (
        "control",
        &[
            "protocol",
            "api",
            "scheduler",
            "lifecycle",
            "database",
            "engine",
            "storage",
            "directory",
            "post",
        ],
    ),
    ("demo", &["protocol", "api", "database", "engine", "storage", "control"]),
    (
        "server",
        &[
            "protocol",
            "api",
            "scheduler",
            "lifecycle",
            "database",
            "engine",
            "storage",
            "directory",
            "post",
            "control",
            "demo",
            "app",
        ],
    ),
    ("xtask", &[]),
    ("app", &["protocol", "api"]),
];

/// The rooms within `control`, from the top down, and those beneath it that each uses. What operations
/// and loops both need lies beneath the two; neither knows the other.
const WITHIN_CONTROL: [(&str, &[&str]); 13] = [
    (
        "ops",
        &["terminals", "container", "files", "accounts", "logs", "records", "secrets", "known"],
    ),
    ("loops", &["container", "accounts", "logs", "records", "known"]),
    ("terminals", &["container", "records", "secrets", "known"]),
    ("container", &["files", "accounts", "records", "secrets", "known"]),
    ("files", &["accounts", "records", "secrets"]),
    ("accounts", &["records", "secrets"]),
    ("logs", &["known"]),
    ("records", &["secrets", "known"]),
    ("secrets", &[]),
    ("known", &[]),
    ("wake", &[]),
    ("lock", &[]),
    ("error", &[]),
];

/// What stands beside the rooms within `control` and may name all of them: what puts them together, and
/// the one struct that holds a handle of each.
const BESIDE: [&str; 3] = ["lib", "start", "shared"];

/// What all rooms within `control` may name: how things fail, clocks and what wakes loops, locks, and that struct.
const GROUND: [&str; 4] = ["error", "wake", "lock", "shared"];

/// Of what that struct is made for the most part, and who is given only what he needs of it: these must
/// not name it.
const BENEATH_SHARED: [&str; 8] =
    ["files", "accounts", "records", "known", "secrets", "wake", "lock", "error"];

/// The rooms without input and output, without clock and chance.
const PURE: [&str; 4] = ["protocol", "scheduler", "lifecycle", "api"];

/// What a pure room must not reach, not even through another crate.
const IMPURE: [&str; 10] = [
    "tokio", "sea-orm", "sqlx", "bollard", "axum", "hyper", "reqwest", "ureq", "opendal", "leptos",
];

/// Libraries that exactly these rooms may name.
const RESERVED: [(&str, &[&str]); 8] = [
    ("sea-orm", &["database"]),
    ("sea-orm-migration", &["database"]),
    ("bollard", &["engine"]),
    ("openidconnect", &["directory"]),
    ("ldap3", &["directory"]),
    ("lettre", &["post"]),
    ("leptos", &["app", "server"]),
    ("leptos_axum", &["app", "server"]),
];

/// What the top level may hold beside dotfiles.
const TOP_LEVEL: [&str; 13] = [
    "Cargo.toml",
    "Cargo.lock",
    "LICENSE",
    "README.md",
    "Dockerfiles",
    "app",
    "end2end",
    "public",
    "src",
    "style",
    "clippy.toml",
    "deny.toml",
    "rustfmt.toml",
];

/// Names that say nothing about what is inside.
const VAGUE: [&str; 6] = ["common", "utils", "util", "types", "helpers", "misc"];

fn metadata() -> Metadata {
    MetadataCommand::new().exec().expect("cargo describes the workspace")
}

/// Each room's direct dependencies, those of its tests left out.
fn direct(metadata: &Metadata) -> BTreeMap<String, BTreeSet<String>> {
    let packages = metadata.workspace_packages().into_iter();
    packages
        .map(|package| {
            let normal = package.dependencies.iter();
            let normal = normal.filter(|dependency| dependency.kind != DependencyKind::Development);
            (package.name.to_string(), normal.map(|dependency| dependency.name.clone()).collect())
        })
        .collect()
}

/// Everything that a room needs to be built for this machine, near and far.
fn reached(metadata: &Metadata, room: &str) -> BTreeSet<String> {
    let resolve = metadata.resolve.as_ref().expect("the dependencies are resolved");
    let nodes: BTreeMap<_, _> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let names: BTreeMap<_, _> =
        metadata.packages.iter().map(|package| (&package.id, package.name.to_string())).collect();
    let start = metadata.workspace_packages().into_iter().find(|package| package.name == room);
    let mut open = vec![&start.expect("the room exists").id];
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        for dependency in &nodes[id].deps {
            let normal =
                dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal);
            if normal && seen.insert(&dependency.pkg) {
                open.push(&dependency.pkg);
            }
        }
    }
    seen.into_iter().map(|id| names[id].clone()).collect()
}

/// All Rust files of the rooms.
fn sources(metadata: &Metadata) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let folder = package.manifest_path.parent().expect("a manifest lies in a folder");
        collect(folder.as_std_path(), &mut found);
    }
    assert!(found.len() > 20, "the rooms have sources: {found:?}");
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a room's folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() && !path.ends_with("node_modules") {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_crate_is_a_room_and_uses_only_the_rooms_it_may() {
    let allowed: BTreeMap<&str, &[&str]> = ROOMS.into_iter().collect();
    let direct = direct(&metadata());
    for (room, dependencies) in &direct {
        let allowed = allowed.get(room.as_str()).unwrap_or_else(|| panic!("{room} is no room"));
        let ours = dependencies.iter().filter(|name| direct.contains_key(*name));
        let wrong: Vec<_> = ours.filter(|name| !allowed.contains(&name.as_str())).collect();
        assert!(wrong.is_empty(), "{room} must not depend on {wrong:?}");
    }
}

/// The name that a path begins with.
fn first_name(path: &str) -> &str {
    let ends = |letter: char| !letter.is_alphanumeric() && letter != '_';
    path.trim_start().split(ends).next().unwrap_or_default()
}

/// What a source names of its crate: the first names after `crate::`.
fn named(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (at, root) in code.match_indices("crate::") {
        let rest = &code[at + root.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.insert(first_name(rest));
            continue;
        };
        names.insert(first_name(group));
        let mut depth = 0;
        for (at, letter) in group.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    names.insert(first_name(&group[at + 1..]));
                }
                _ => {}
            }
        }
    }
    names.remove("");
    names
}

/// The code of a source without its comments and its tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a source is text");
    let code = text.split("mod tests {").next().unwrap_or_default();
    let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

#[test]
fn rooms_within_control_are_listed_from_the_top_down() {
    let order: Vec<&str> = WITHIN_CONTROL.iter().map(|(room, _)| *room).collect();
    for (at, (room, uses)) in WITHIN_CONTROL.iter().enumerate() {
        let beneath = &order[at + 1..];
        let wrong: Vec<_> = uses.iter().filter(|used| !beneath.contains(*used)).collect();
        assert!(wrong.is_empty(), "{wrong:?} are not beneath {room}");
    }
}

#[test]
fn rooms_within_control_use_only_those_that_they_may() {
    let allowed: BTreeMap<&str, &[&str]> = WITHIN_CONTROL.into_iter().collect();
    let control = metadata().workspace_root.join("src/control");
    let mut files = Vec::new();
    collect(control.as_std_path(), &mut files);
    let mut seen = BTreeSet::new();
    for file in files {
        let place = file.strip_prefix(control.as_std_path()).expect("it was found there");
        let module = place.with_extension("");
        let parts: Vec<&str> = module.iter().filter_map(OsStr::to_str).collect();
        let room = parts[0];
        if room == "tests" || BESIDE.contains(&room) {
            continue;
        }
        let allowed = allowed.get(room).unwrap_or_else(|| panic!("{room} is no room of control"));
        let code = code(&file);
        let place = place.display();
        let above = "super::".repeat(parts.len());
        assert!(!code.contains(&above), "{place}: name other rooms by crate::");
        for name in named(&code) {
            let may = name == room || GROUND.contains(&name) || allowed.contains(&name);
            let is_circle = name == "shared" && BENEATH_SHARED.contains(&room);
            assert!(may && !is_circle, "{place}: {room} must not use {name}");
            seen.insert((room.to_owned(), name.to_owned()));
        }
    }
    for (room, uses) in WITHIN_CONTROL {
        let gone = |used: &&&str| !seen.contains(&(room.to_owned(), (**used).to_owned()));
        let gone: Vec<_> = uses.iter().filter(gone).collect();
        assert!(gone.is_empty(), "{room} uses {gone:?} no more: take them off the list");
    }
}

#[test]
fn nothing_depends_on_the_server() {
    for (room, dependencies) in direct(&metadata()) {
        assert!(!dependencies.contains("server"), "{room} depends on server");
    }
}

#[test]
fn the_pure_rooms_reach_no_input_and_no_output() {
    let metadata = metadata();
    for room in PURE {
        let reached = reached(&metadata, room);
        assert!(reached.contains("serde"), "{room} reaches serde, or this test reads nothing");
        let wrong: Vec<_> = IMPURE.into_iter().filter(|name| reached.contains(*name)).collect();
        assert!(wrong.is_empty(), "{room} reaches {wrong:?}");
    }
}

#[test]
fn reserved_libraries_stay_in_their_rooms() {
    let direct = direct(&metadata());
    for (library, owners) in RESERVED {
        for (room, dependencies) in &direct {
            let allowed = owners.contains(&room.as_str()) || !dependencies.contains(library);
            assert!(allowed, "{room} names {library}, which belongs to {owners:?}");
        }
    }
}

#[test]
fn folders_are_named_as_their_crates() {
    for package in metadata().workspace_packages() {
        let folder = package.manifest_path.parent().and_then(|folder| folder.file_name());
        assert_eq!(folder, Some(package.name.as_str()));
    }
}

#[test]
fn the_top_level_holds_only_what_was_agreed() {
    let root = metadata().workspace_root;
    let listed = std::process::Command::new("git")
        .current_dir(&root)
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output();
    let listed = listed.expect("git lists the files of the checkout");
    let listed = String::from_utf8(listed.stdout).expect("our file names are UTF-8");
    let top: BTreeSet<&str> = listed.lines().filter_map(|path| path.split('/').next()).collect();
    assert!(top.contains("Cargo.toml"), "git lists the checkout: {top:?}");
    let wrong: Vec<_> =
        top.iter().filter(|name| !name.starts_with('.') && !TOP_LEVEL.contains(name)).collect();
    assert!(wrong.is_empty(), "these do not belong at the top level: {wrong:?}");
}

#[test]
fn modules_have_telling_names_and_no_mod_rs() {
    for file in sources(&metadata()) {
        let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("our names are UTF-8");
        assert_ne!(stem, "mod", "{}: name the module in its parent's folder", file.display());
        assert!(!VAGUE.contains(&stem), "{}: a helper lives with its first user", file.display());
    }
}

/// Where elements stand whose content Leptos writes as it is. Texts of people go into none of them
/// but the one text area, which escapes them.
const UNESCAPED: [(&str, &[&str]); 5] = [
    ("<textarea", &["parts/text_area.rs"]),
    ("<script", &["shell.rs"]),
    ("<style", &["pages/files.rs", "pages/submit.rs"]),
    ("<noscript", &["pages/files.rs", "pages/job/terminal_tab.rs", "pages/submit.rs"]),
    ("inner_html=", &["pages/files.rs", "pages/submit.rs", "parts/text_area.rs", "shell.rs"]),
];

#[test]
fn texts_go_into_no_element_that_leptos_does_not_escape() {
    let app = metadata().workspace_root.join("app");
    let mut files = Vec::new();
    collect(app.as_std_path(), &mut files);
    let mut seen = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source is text");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code = code.collect::<Vec<_>>().join("\n");
        let place = file.strip_prefix(app.as_std_path()).expect("it was found there");
        for (opening, places) in UNESCAPED {
            if code.contains(opening) {
                let known = places.iter().any(|known| place == Path::new(known));
                assert!(
                    known,
                    "{}: {opening} is not escaped: see parts/text_area.rs",
                    place.display()
                );
                seen.insert((opening, place.to_owned()));
            }
        }
    }
    let listed: usize = UNESCAPED.iter().map(|(_, places)| places.len()).sum();
    assert_eq!(seen.len(), listed, "the list above names a file that has no such element any more");
}

/// What mounts routes of programs, and describes them as it does: the document has all that is there.
const DOORS: &str = "doors.rs";

#[test]
fn routes_of_programs_describe_themselves() {
    let mut files = Vec::new();
    collect(metadata().workspace_root.join("src/server/rest").as_std_path(), &mut files);
    assert!(files.len() > 20, "{files:?}");
    for file in files.iter().filter(|file| !file.ends_with(DOORS)) {
        let text = fs::read_to_string(file).expect("a source is text");
        let mounts = text.contains("axum::routing") || text.contains("Router::new");
        assert!(!mounts, "{}: mount it by rest/doors.rs", file.display());
    }
}

#[test]
fn every_abuse_that_is_listed_is_tried() {
    every_case_is_tried("src/ABUSE.md", 25);
}

#[test]
fn every_fault_that_is_listed_is_tried() {
    every_case_is_tried("src/FAULTS.md", 15);
}

fn every_case_is_tried(list: &str, least: usize) {
    let metadata = metadata();
    let list = fs::read_to_string(metadata.workspace_root.join(list));
    let list = list.expect("the list is there");
    let texts = sources(&metadata)
        .into_iter()
        .map(|path| fs::read_to_string(path).expect("a source is text"));
    let sources = texts.collect::<String>();
    let rows = list.lines().filter(|line| line.ends_with("` |"));
    // The last column, which may name several.
    let columns = rows.filter_map(|row| row.trim_end_matches(" |").rsplit("| ").next());
    let names: Vec<_> = columns.flat_map(|column| column.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() >= least, "{} cases", names.len());
    for name in names {
        assert!(sources.contains(&format!("fn {name}(")), "no test is called {name}");
    }
}
