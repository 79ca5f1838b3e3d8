//! People as their company knows them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::{GroupName, InvalidName, ProviderName, UserName};

/// Somebody for whom a sign-in provider vouches, as it describes him at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The provider, by its name in the configuration.
    pub provider: ProviderName,
    /// Who issued the subject: the same subject of another issuer is another person.
    pub issuer: String,
    /// What stays the same when the person gets another name.
    pub subject: String,
    /// What the person is called there, as it was given.
    pub name: String,
    /// Where mail reaches the person.
    pub mail: Option<String>,
    /// All groups that the provider names, in no order.
    pub groups: Vec<GroupName>,
}

impl Person {
    /// The name that an account of this person has here: what was given or, of an address such as
    /// `ada@example.org`, what stands before the `@`.
    ///
    /// # Errors
    /// [`InvalidName`] when neither can be the name of a user.
    pub fn user_name(&self) -> Result<UserName, InvalidName> {
        let before = self.name.split_once('@').map(|(before, _)| before);
        match (UserName::new(&*self.name), before) {
            (Err(_), Some(before)) => UserName::new(before),
            (name, _) => name,
        }
    }
}

/// Who says that a user is in a group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Source {
    /// An administrator, here.
    Local,
    /// A sign-in provider.
    Provider(ProviderName),
}

impl Source {
    /// The word of [`Source::Local`]: no provider has it as its name.
    pub const LOCAL: &str = "local";
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str(Self::LOCAL),
            Self::Provider(name) => name.fmt(f),
        }
    }
}

impl FromStr for Source {
    type Err = InvalidName;

    fn from_str(word: &str) -> Result<Self, InvalidName> {
        match word {
            Self::LOCAL => Ok(Self::Local),
            name => name.parse().map(Self::Provider),
        }
    }
}

impl TryFrom<String> for Source {
    type Error = InvalidName;

    fn try_from(word: String) -> Result<Self, InvalidName> {
        word.parse()
    }
}

impl From<Source> for String {
    fn from(source: Source) -> String {
        source.to_string()
    }
}

/// The groups among these texts. What cannot be the name of a group gives no rights.
pub fn groups_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<GroupName> {
    let mut groups: Vec<GroupName> =
        texts.into_iter().filter_map(|text| text.trim().parse().ok()).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_accounts_follow_from_what_the_provider_says() {
        let name = |given: &str| {
            let person = Person {
                provider: "company".parse().unwrap(),
                issuer: String::new(),
                subject: "1".into(),
                name: given.into(),
                mail: None,
                groups: Vec::new(),
            };
            person.user_name().map(String::from).ok()
        };
        assert_eq!(name("ada.l"), Some("ada.l".into()));
        assert_eq!(name("ada@example.org"), Some("ada".into()));
        for bad in ["", "ada lovelace", "@example.org", "ada~x@example.org", "../admin"] {
            assert_eq!(name(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn groups_are_taken_once_and_only_with_names() {
        let groups = groups_of([" gpu users ", "/team/vision", "", "a,b", "gpu users"]);
        let groups: Vec<_> = groups.iter().map(GroupName::as_str).collect();
        assert_eq!(groups, ["/team/vision", "gpu users"]);
    }
}
