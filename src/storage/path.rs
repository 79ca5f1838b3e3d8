use std::fmt;

use crate::{OWN, Result, StorageError};

/// The longest path, in bytes.
const LONGEST: usize = 4096;

/// A path below the root, checked: absolute, without `.`, `..`, empty parts and control
/// characters, and without a slash at its end; the root is empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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

    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
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
        path.push('/');
        path.push_str(part);
    }
    let path = StoragePath(path);
    if path.is_own() {
        return refuse(format!("/{OWN} belongs to the system"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            let error = resolve(URI, text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
