//! Names of container images: those that users save from their containers, and how engines read the
//! others.

use std::fmt;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{InvalidName, UserName};

/// The folder of all saved images. No registry is ever asked for what is in it.
const SAVED: &str = "saved";
/// The registry of names that name none.
const HUB: &str = "docker.io";
/// What is asked for without a tag.
const LATEST: &str = "latest";
/// The longest name of an image, in bytes, its tag aside.
const LONGEST: usize = 200;

const NAME_RULE: &str = "1 to 64 of a-z 0-9, with single . _ - between them";
const TAG_RULE: &str = "1 to 64 of A-Z a-z 0-9 _ . -, not beginning with . or -";
const REGISTRY_RULE: &str =
    "host/path:tag, with the registry's host named, as registry.example.org/team/torch:1";

/// An image that was saved from a container: `saved/<owner>/<name>:<tag>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SavedImage {
    owner: UserName,
    name: String,
    tag: String,
}

impl SavedImage {
    /// The image of a user; an empty tag is `latest`.
    ///
    /// # Errors
    /// [`InvalidName`] says what is allowed.
    pub fn new(owner: UserName, name: &str, tag: &str) -> Result<Self, InvalidName> {
        let tag = if tag.is_empty() { LATEST } else { tag };
        if !is_component(name) || name.len() > 64 {
            return Err(invalid("image name", name, NAME_RULE));
        }
        if !is_tag(tag) || tag.len() > 64 {
            return Err(invalid("image tag", tag, TAG_RULE));
        }
        Ok(Self { owner, name: name.to_owned(), tag: tag.to_owned() })
    }

    /// Reads the name of a saved image however it is spelt; `None`: it names no such image.
    ///
    /// # Errors
    /// [`InvalidName`] where it lies in the folder of saved images and is none.
    pub fn read(image: &str) -> Option<Result<Self, InvalidName>> {
        let image = canonical(image);
        let rest = image.strip_prefix(HUB)?.strip_prefix('/')?.strip_prefix(SAVED)?;
        let rest = rest.strip_prefix('/')?;
        let taken = || {
            let (owner, rest) = rest.split_once('/')?;
            let (name, tag) = rest.split_once(':').filter(|(_, tag)| !tag.is_empty())?;
            Self::new(owner_of(owner)?, name, tag).ok()
        };
        let rule = "saved/<user>/<name>:<tag>";
        Some(taken().ok_or_else(|| invalid("saved image", &image, rule)))
    }

    /// Whose it is.
    #[must_use]
    pub fn owner(&self) -> &UserName {
        &self.owner
    }
}

impl fmt::Display for SavedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SAVED}/{}/{}:{}", component_of(&self.owner), self.name, self.tag)
    }
}

/// How far the saving of an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ImageState {
    /// It is being made; `Pushing`, `Saved` or `Failed` follows.
    Saving,
    /// It is being sent to a registry; `Pushed` or `Failed` follows.
    Pushing,
    /// It is on its node.
    Saved,
    /// It is in a registry, and not on the node any more.
    Pushed,
    /// It could not be made or sent.
    Failed,
    /// It is being removed from all nodes, from whichever state; then it is forgotten.
    Removing,
}

impl ImageState {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Saving, Self::Pushing, Self::Saved, Self::Pushed, Self::Failed, Self::Removing];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Saving => "SAVING",
            Self::Pushing => "PUSHING",
            Self::Saved => "SAVED",
            Self::Pushed => "PUSHED",
            Self::Failed => "FAILED",
            Self::Removing => "REMOVING",
        }
    }

    /// Reads the stable word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether something is being done.
    #[must_use]
    pub fn is_under_way(self) -> bool {
        match self {
            Self::Saving | Self::Pushing | Self::Removing => true,
            Self::Saved | Self::Pushed | Self::Failed => false,
        }
    }
}

/// The same name with its tag: an engine takes one without for the beginning of an image's id as
/// well, and so for an image that somebody else has.
#[must_use]
pub fn explicit(image: &str) -> String {
    match split(image) {
        (_, None) if !image.contains('@') => format!("{image}:{LATEST}"),
        _ => image.to_owned(),
    }
}

/// Whether it is the id of an image, not a name.
#[must_use]
pub fn is_id(image: &str) -> bool {
    image.trim().to_ascii_lowercase().starts_with("sha256:")
}

/// The one way of writing a name: with registry, path and tag.
#[must_use]
pub fn canonical(image: &str) -> String {
    let image = explicit(image.trim());
    let (host, path) = match image.split_once('/') {
        Some((host, path)) if is_host(host) => (host.to_ascii_lowercase(), path.to_owned()),
        _ => (HUB.to_owned(), image),
    };
    let host = if host == "index.docker.io" { HUB.to_owned() } else { host };
    let official = host == HUB && !path.contains('/');
    if official { format!("{host}/library/{path}") } else { format!("{host}/{path}") }
}

/// The registry that engines ask for an image of this name: a host, with its port if it has one.
#[must_use]
pub fn registry(image: &str) -> String {
    match image.trim().split_once('/') {
        // Engines take a word with capital letters for a host as well.
        Some((host, _)) if is_host(host) || host.contains(char::is_uppercase) => {
            let host = host.to_lowercase();
            if host == "index.docker.io" { HUB.to_owned() } else { host }
        }
        _ => HUB.to_owned(),
    }
}

/// Whether [`registry`] may say this of some image.
#[must_use]
pub fn is_registry(text: &str) -> bool {
    is_host(text) && registry(&format!("{text}/image")) == text
}

/// A name in a registry, with its tag, for an image to be pushed to.
///
/// # Errors
/// [`InvalidName`]: the registry must be named.
pub fn in_registry(text: &str) -> Result<String, InvalidName> {
    let text = text.trim();
    let refuse = || invalid("registry reference", text, REGISTRY_RULE);
    let (name, tag) = split(text);
    let (host, path) = name.split_once('/').ok_or_else(refuse)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
    let fits = is_host(host)
        && host.chars().all(plain)
        && path.split('/').all(is_component)
        && name.len() <= LONGEST
        && tag.is_none_or(|tag| is_tag(tag) && tag.len() <= 128)
        && SavedImage::read(text).is_none();
    if fits { Ok(explicit(text)) } else { Err(refuse()) }
}

/// Name and tag.
#[must_use]
pub fn split(image: &str) -> (&str, Option<&str>) {
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') && !image.contains('@') => (name, Some(tag)),
        _ => (image, None),
    }
}

/// A name without its tag and digest.
#[must_use]
pub fn repository(image: &str) -> &str {
    split(image.split_once('@').map_or(image, |(name, _digest)| name)).0
}

fn is_host(word: &str) -> bool {
    word.contains(['.', ':']) || word.eq_ignore_ascii_case("localhost")
}

/// A part of a path, as engines allow it.
fn is_component(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    word.starts_with(plain)
        && word.ends_with(plain)
        && word.chars().all(|c| plain(c) || matches!(c, '.' | '_' | '-'))
        && word.as_bytes().windows(2).all(|pair| pair.iter().any(u8::is_ascii_alphanumeric))
}

fn is_tag(tag: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.starts_with(plain) && tag.chars().all(|c| plain(c) || matches!(c, '.' | '-'))
}

/// A user's name as a part of a path. Parts have no capital letters; a name that is none is written
/// in small letters and, so that no two users share one, in hexadecimal digits after two `_`, which
/// no name that is a part has.
fn component_of(user: &UserName) -> String {
    let name = user.as_str();
    if is_component(name) {
        return name.to_owned();
    }
    let small = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase());
    let mut part: String = small.collect();
    if part.is_empty() {
        part.push('u');
    }
    part.push_str("__");
    for byte in name.bytes() {
        // Writing to a string cannot fail.
        let _ = write!(part, "{byte:02x}");
    }
    part
}

fn owner_of(part: &str) -> Option<UserName> {
    let Some((_, digits)) = part.split_once("__") else { return UserName::new(part).ok() };
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    let bytes: Option<Vec<u8>> =
        pairs.map(|pair| pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())).collect();
    let user = UserName::new(String::from_utf8(bytes?).ok()?).ok()?;
    (component_of(&user) == part).then_some(user)
}

fn invalid(what: &'static str, value: &str, allowed: &'static str) -> InvalidName {
    InvalidName { what, value: value.to_owned(), allowed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> UserName {
        UserName::new(name).unwrap()
    }

    fn saved(image: &str) -> String {
        match SavedImage::read(image) {
            None => "none".to_owned(),
            Some(Ok(image)) => format!("{} {image}", image.owner()),
            Some(Err(_)) => "refused".to_owned(),
        }
    }

    #[test]
    fn a_saved_image_is_known_in_every_spelling() {
        for spelling in [
            "saved/alice/torch:1",
            "docker.io/saved/alice/torch:1",
            "index.docker.io/saved/alice/torch:1",
            "Docker.IO/saved/alice/torch:1",
            " saved/alice/torch:1 ",
        ] {
            assert_eq!(saved(spelling), "alice saved/alice/torch:1", "{spelling}");
        }
        assert_eq!(saved("saved/alice/torch"), "alice saved/alice/torch:latest");
        for other in ["alice/torch:1", "saved:1", "registry.org/saved/alice/torch:1", "savedx/a/b"]
        {
            assert_eq!(saved(other), "none", "{other}");
        }
    }

    #[test]
    fn what_only_looks_like_a_saved_image_is_refused() {
        for image in [
            "saved/alice",
            "saved/../alice/torch:1",
            "saved/alice/../bob/torch:1",
            "saved/alice/torch/more:1",
            "saved/alice/torch@sha256:00",
            "saved/alice/Torch:1",
            "saved//torch:1",
            "saved/alice/torch:",
            "saved/bob__616c696365/torch:1",
        ] {
            assert_eq!(saved(image), "refused", "{image}");
        }
        for (name, tag) in
            [("", "1"), ("..", "1"), ("a/b", "1"), ("a--b", "1"), ("a", "-"), ("a", "é")]
        {
            assert!(SavedImage::new(user("alice"), name, tag).is_err(), "{name}:{tag}");
        }
    }

    #[test]
    fn no_two_users_share_a_folder() {
        for name in ["alice", "Alice", "ALICE", "a.b", "a..b", "-", "_a_", "alice__616c696365"] {
            let image = SavedImage::new(user(name), "torch", "1").unwrap();
            let text = image.to_string();
            assert_eq!(saved(&text), format!("{name} {text}"));
            let part = text.split('/').nth(1).unwrap();
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
            assert!(part.chars().all(fits) && part.starts_with(|c: char| c.is_alphanumeric()));
        }
    }

    #[test]
    fn names_have_one_full_form() {
        for (image, full) in [
            ("ubuntu", "docker.io/library/ubuntu:latest"),
            ("ubuntu:22.04", "docker.io/library/ubuntu:22.04"),
            ("a/b", "docker.io/a/b:latest"),
            ("localhost/b", "localhost/b:latest"),
            ("R.org:5000/a/b:1", "r.org:5000/a/b:1"),
            ("a/b@sha256:00", "docker.io/a/b@sha256:00"),
        ] {
            assert_eq!(canonical(image), full);
        }
        assert_eq!(explicit("cafe"), "cafe:latest");
        assert_eq!(explicit("r:5000/a"), "r:5000/a:latest");
        assert!(is_id("sha256:cafe") && !is_id("cafe"));
    }

    #[test]
    fn a_name_tells_the_registry_that_is_asked() {
        for (image, asked) in [
            ("ubuntu", "docker.io"),
            ("berth/base:1", "docker.io"),
            ("index.docker.io/library/ubuntu", "docker.io"),
            (" Registry.Example.org:5000/team/torch@sha256:12", "registry.example.org:5000"),
            ("127.0.0.1:18499/secret/model:1", "127.0.0.1:18499"),
            ("LocalHost/x", "localhost"),
            ("[::1]:5000/x", "[::1]:5000"),
            ("HOST/x", "host"),
        ] {
            assert_eq!(registry(image), asked, "{image:?}");
        }
        for good in ["docker.io", "localhost", "127.0.0.1:5000", "r.example.org"] {
            assert!(is_registry(good), "{good}");
        }
        for bad in ["", "hub", "index.docker.io", "R.org", "https://r.org", "r.org/team", " r.org"]
        {
            assert!(!is_registry(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_push_names_its_registry() {
        assert_eq!(in_registry("r.org/team/torch").unwrap(), "r.org/team/torch:latest");
        assert_eq!(in_registry("127.0.0.1:5000/t:1").unwrap(), "127.0.0.1:5000/t:1");
        for bad in [
            "torch:1",
            "team/torch:1",
            "docker.io/saved/alice/torch:1",
            "r.org/../torch:1",
            "r.org/torch@sha256:00",
            "http://r.org/torch:1",
            "r.org/",
        ] {
            assert!(in_registry(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn states_are_read_by_their_words() {
        for state in ImageState::ALL {
            assert_eq!(ImageState::from_word(state.as_str()), Some(state));
        }
    }
}
