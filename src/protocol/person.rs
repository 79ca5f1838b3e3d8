//! People as their company knows them.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{GroupName, InvalidName, ProviderName, UserName};
use crate::problem::Problem;

/// The most characters that say what a group is, or what it is called elsewhere.
const LONGEST_TEXT: usize = 1_000;
/// The most bytes that programs keep with a group or an account, as JSON.
const LARGEST_EXTENSION: usize = 65_536;

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
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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

/// A group as it is written here. Virtual clusters and storages name the groups that may use them
/// themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSettings {
    /// Its name.
    pub name: GroupName,
    /// What it is, for people.
    #[serde(default)]
    pub description: String,
    /// What it is called elsewhere, for people.
    #[serde(default)]
    pub external_name: String,
    /// Whether its members are administrators, whoever says that they are members.
    #[serde(default)]
    pub admin: bool,
    /// What programs keep with it.
    #[serde(default)]
    pub extension: Map<String, Value>,
}

impl GroupSettings {
    /// One of which nothing is said.
    #[must_use]
    pub fn new(name: GroupName) -> Self {
        Self {
            name,
            description: String::new(),
            external_name: String::new(),
            admin: false,
            extension: Map::new(),
        }
    }

    /// What is wrong with it; the paths are its keys.
    #[must_use]
    pub fn mistakes(&self) -> Vec<Problem> {
        let texts = [("description", &self.description), ("external_name", &self.external_name)];
        let mut mistakes = Vec::new();
        for (key, text) in texts {
            let length = text.chars().count();
            if length > LONGEST_TEXT {
                mistakes.push(too_much(key, length, LONGEST_TEXT, "characters"));
            }
            if text.contains(|c: char| c.is_control() && !c.is_whitespace()) {
                let message = format!("{key} has a control character in it");
                mistakes.push(Problem::of_setting(key, message, "text"));
            }
        }
        mistakes.extend(extension_mistake(&self.extension));
        mistakes
    }
}

/// What is kept with an account, by its user and by programs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// Where mail reaches the user.
    pub mail: Option<String>,
    /// What programs keep.
    pub extension: Map<String, Value>,
}

impl Profile {
    /// What is wrong with it; the paths are its keys.
    #[must_use]
    pub fn mistakes(&self) -> Vec<Problem> {
        let is_mail = |mail: &String| {
            let plain = !mail.contains(|c: char| c.is_whitespace() || c.is_control());
            let parts = mail.rsplit_once('@');
            let whole = parts.is_some_and(|(who, host)| !who.is_empty() && !host.is_empty());
            plain && whole && mail.len() <= 254
        };
        let mail = self.mail.as_ref().filter(|mail| !is_mail(mail)).map(|mail| {
            let message = format!("email is {mail:?}, not an address");
            Problem::of_setting("email", message, "an address as ada@example.org")
        });
        mail.into_iter().chain(extension_mistake(&self.extension)).collect()
    }
}

fn extension_mistake(extension: &Map<String, Value>) -> Option<Problem> {
    let size = serde_json::to_string(extension).map_or(usize::MAX, |text| text.len());
    let large = size > LARGEST_EXTENSION;
    large.then(|| too_much("extension", size, LARGEST_EXTENSION, "bytes"))
}

fn too_much(key: &str, found: usize, most: usize, unit: &str) -> Problem {
    let message = format!("{key} has {found} {unit}, more than {most}");
    Problem::of_setting(key, message, format!("at most {most}"))
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
    fn what_is_kept_with_groups_and_accounts_has_bounds() {
        let mut group = GroupSettings::new("vision".parse().unwrap());
        assert_eq!(group.mistakes(), []);
        group.description = "x".repeat(1_001);
        group.extension.insert("notes".into(), "x".repeat(65_536).into());
        let paths: Vec<_> = group.mistakes().into_iter().map(|mistake| mistake.path).collect();
        assert_eq!(paths, ["description", "extension"]);
        let mut named = GroupSettings::new("vision".parse().unwrap());
        named.description = "Who sees\n\tand hears".into();
        assert_eq!(named.mistakes(), []);
        named.external_name = "a\0b".into();
        assert_eq!(named.mistakes()[0].message, "external_name has a control character in it");
        let mistakes = |mail: &str| {
            Profile { mail: Some(mail.to_owned()), ..Profile::default() }.mistakes().len()
        };
        assert_eq!(mistakes("ada@example.org"), 0);
        for bad in ["", "ada", "@example.org", "ada@", "a b@example.org", "a@b\nBcc: c@d"] {
            assert_eq!(mistakes(bad), 1, "{bad:?}");
        }
    }

    #[test]
    fn groups_are_taken_once_and_only_with_names() {
        let groups = groups_of([" gpu users ", "/team/vision", "", "a,b", "gpu users"]);
        let groups: Vec<_> = groups.iter().map(GroupName::as_str).collect();
        assert_eq!(groups, ["/team/vision", "gpu users"]);
    }
}
