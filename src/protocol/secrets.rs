//! Values that nobody may read: kept out of specs, stored texts, logs and debug output.

use std::collections::BTreeMap;
use std::fmt;

use crate::references;

/// What stands where a secret would.
pub const MASK: &str = "******";

/// The secrets of a job file by name. `Debug` shows the names only, and the type cannot be
/// serialised by accident: whoever stores the values takes them out by [`Secrets::iter`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    /// Adds a secret; a second one of the same name replaces the first.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// The value of a secret.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The names in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.keys().map(|name| (name, MASK))).finish()
    }
}

impl FromIterator<(String, String)> for Secrets {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

/// Replaces every `<% $secrets.name %>` by the secret's value, as a container is made. A name that
/// is not known stays as it is.
#[must_use]
pub fn fill(text: &str, secrets: &Secrets) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut last = 0;
    for tag in references::tags(text) {
        if let Some(value) = tag.secret().and_then(|name| secrets.get(&name)) {
            filled.push_str(&text[last..tag.start]);
            filled.push_str(value);
            last = tag.end;
        }
    }
    filled.push_str(&text[last..]);
    filled
}
