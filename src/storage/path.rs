use std::fmt;

use crate::error::{Result, StorageError};
use crate::own::OWN;

/// The longest path, in bytes.
const LONGEST: usize = 4096;
/// The longest name, in bytes, as most file systems have it.
pub(crate) const LONGEST_NAME: usize = 255;

/// A path below the root, checked: absolute, without `.`, `..`, empty parts, control characters and
/// names that end in white space, and without a slash at its end; the root is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoragePath(String);

impl StoragePath {
    /// A path of Berth's own, which no user can name.
    pub(crate) fn own(below: &str) -> Self {
        Self(format!("/{OWN}/{below}"))
    }

    /// The path as text, `/a/b`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        if self.0.is_empty() { "/" } else { &self.0 }
    }

    /// The last name; `None`: it is the root.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.parts().last()
    }

    /// The folder it is in; `None`: it is the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(folder, _)| Self(folder.to_owned()))
    }

    /// What is called `name` in it. `None`: no file can be called so.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<Self> {
        let bad = name.is_empty() || name == "." || name == ".." || ends_in_space(name);
        if bad || name.contains('/') || name.chars().any(char::is_control) {
            return None;
        }
        Some(Self(format!("{}/{name}", self.0)))
    }

    /// Whether it is `folder` or below it.
    #[must_use]
    pub fn is_within(&self, folder: &Self) -> bool {
        self.below(folder).is_some()
    }

    /// The names on the way to it.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// The path of its first so many names.
    pub(crate) fn first(&self, names: usize) -> Self {
        let mut path = String::new();
        for part in self.parts().take(names) {
            path.push('/');
            path.push_str(part);
        }
        Self(path)
    }

    /// The path from `folder` on, without a slash before it.
    #[must_use]
    pub fn below(&self, folder: &Self) -> Option<&str> {
        let rest = self.0.strip_prefix(&folder.0)?;
        match rest.strip_prefix('/') {
            Some(rest) => Some(rest),
            None if rest.is_empty() => Some(rest),
            None => None,
        }
    }

    pub(crate) fn is_own(&self) -> bool {
        self.parts().next() == Some(OWN)
    }
}

impl fmt::Display for StoragePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(crate) fn resolve(uri: &str, text: &str) -> Result<StoragePath> {
    let refuse = |message: String| Err(StorageError::Path { path: text.to_owned(), message });
    let below = match text.strip_prefix(uri) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ if text.contains("://") => {
            return refuse(format!("it is in another storage; this one is {uri}"));
        }
        _ if text.starts_with('/') => text,
        _ => return refuse(format!("it must begin with / or {uri}/")),
    };
    if below.len() > LONGEST {
        return refuse(format!("it is longer than {LONGEST} bytes"));
    }
    if below.chars().any(char::is_control) {
        return refuse("control characters are not allowed".to_owned());
    }
    let mut path = String::new();
    for part in below.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            return refuse(".. is not allowed".to_owned());
        }
        if part.len() > LONGEST_NAME {
            return refuse(format!("a name has at most {LONGEST_NAME} bytes"));
        }
        if ends_in_space(part) {
            return refuse("a name may not end in white space".to_owned());
        }
        path.push('/');
        path.push_str(part);
    }
    let path = StoragePath(path);
    if path.is_own() {
        return refuse(format!("/{OWN} belongs to the system"));
    }
    Ok(path)
}

/// OpenDAL takes white space off the end of a path, which would then be another one.
fn ends_in_space(name: &str) -> bool {
    name.ends_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rights::{self, Whose};

    /// More by the environment: `BERTH_CASES=10000000`.
    fn cases() -> ProptestConfig {
        let asked = std::env::var("BERTH_CASES").ok().and_then(|cases| cases.parse().ok());
        // A file of failures beside a flat crate would be taken for a crate of the workspace.
        let failure_persistence = None;
        ProptestConfig { cases: asked.unwrap_or(5_000), failure_persistence, ..Default::default() }
    }

    /// What has a meaning somewhere, and any text.
    fn any_part() -> impl Strategy<Value = String> {
        let known = prop::sample::select(vec![
            "/",
            "//",
            "..",
            ".",
            "...",
            ".berth",
            "a",
            "alice",
            "Output",
            "%2e%2e",
            "%2f",
            "\\",
            " ",
            "\t",
            "\0",
            "\u{85}",
            "\u{3000}",
            "\u{200b}",
            "\u{202e}",
            URI,
            "hdfs://n/",
            "~",
            "ü",
        ]);
        prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>(), 1 => "[a-z/.]{1,8}"]
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn any_text_is_a_path_below_the_root_or_refused(
            parts in prop::collection::vec(any_part(), 0..12),
        ) {
            let text = parts.concat();
            let Ok(path) = resolve(URI, &text) else { return Ok(()) };
            let written = path.as_str();
            prop_assert!(written.starts_with('/') && !written.contains("//"), "{written:?}");
            prop_assert!(!written.chars().any(char::is_control) && !path.is_own());
            for name in path.parts() {
                prop_assert!(!["", ".", ".."].contains(&name) && name.len() <= LONGEST_NAME);
                prop_assert!(!name.contains('/') && !ends_in_space(name), "{name:?}");
            }
            prop_assert_eq!(&resolve(URI, written).unwrap(), &path, "it is itself");
            prop_assert_eq!(&resolve(URI, &format!("{URI}{written}")).unwrap(), &path);
            let again = path.parent().zip(path.name()).and_then(|(folder, name)| folder.child(name));
            prop_assert_eq!(again.is_some(), path.name().is_some());
            prop_assert!(again.is_none_or(|again| again == path));
            match rights::whose(&path, |_| true) {
                Whose::Common => prop_assert!(path.parts().count() < 2),
                Whose::User { place, .. } => prop_assert!(path.is_within(&place)),
                Whose::Claim(places) => {
                    prop_assert!(places.iter().all(|place| path.is_within(place)));
                }
            }
        }
    }

    const URI: &str = "file:///srv/files";

    #[test]
    fn paths_below_the_root_are_taken() {
        for (text, path) in [
            ("/a/b", "/a/b"),
            ("file:///srv/files/a/b/", "/a/b"),
            ("//a/./b//", "/a/b"),
            ("/", "/"),
            ("file:///srv/files", "/"),
            ("/作业/ü %2e", "/作业/ü %2e"),
            ("/a/.berth", "/a/.berth"),
        ] {
            assert_eq!(resolve(URI, text).unwrap().as_str(), path, "{text}");
        }
        assert_eq!(resolve("hdfs://n:9000", "hdfs://n:9000/a").unwrap().as_str(), "/a");
        assert_eq!(resolve(URI, "/a/b").unwrap().name(), Some("b"));
        assert_eq!(resolve(URI, "/").unwrap().name(), None);
    }

    #[test]
    fn all_others_are_refused_with_the_reason() {
        for (text, reason) in [
            ("", "must begin"),
            ("a/b", "must begin"),
            ("/a/../../etc/passwd", ".. is not allowed"),
            ("/a/..", ".. is not allowed"),
            ("file:///srv/files/../x", ".. is not allowed"),
            ("file:///srv/files2/a", "another storage"),
            ("file:///etc/passwd", "another storage"),
            ("hdfs://other:9000/a", "another storage"),
            ("/a\0b", "control characters"),
            ("/a\nb", "control characters"),
            ("/.berth/logs", "belongs to the system"),
            ("//./.berth", "belongs to the system"),
            (&format!("/{}", "x".repeat(5000)), "longer than"),
            (&format!("/{}", "x".repeat(256)), "at most 255"),
        ] {
            let error = resolve(URI, text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn paths_know_their_relatives() {
        let path = resolve(URI, "/a/b/c").unwrap();
        let folder = resolve(URI, "/a/b").unwrap();
        let root = resolve(URI, "/").unwrap();
        assert_eq!(path.parent(), Some(folder.clone()));
        assert_eq!(folder.child("c"), Some(path.clone()));
        assert_eq!(path.below(&folder), Some("c"));
        assert_eq!(path.below(&root), Some("a/b/c"));
        assert!(path.is_within(&path) && path.is_within(&root) && !folder.is_within(&path));
        assert!(!resolve(URI, "/a/bc").unwrap().is_within(&folder));
        assert_eq!(path.first(2), folder);
        assert_eq!((root.parent(), path.first(0)), (None, root));
        for name in ["", ".", "..", "a/b", "a\0", "a "] {
            assert_eq!(folder.child(name), None, "{name:?}");
        }
    }
}
