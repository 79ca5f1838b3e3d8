//! How the texts of forms are taken apart.

use std::str::FromStr;

use api::{Error, ErrorCode};
use protocol::cluster::GroupWeights;
use protocol::ids::{GroupName, InvalidName};

/// Groups, which may have blanks in their names: commas separate them.
///
/// # Errors
/// The first that cannot be a group, and what is allowed.
pub(crate) fn groups(text: &str) -> Result<Vec<GroupName>, Error> {
    let names = text.split([',', '\n', '\u{ff0c}', '\u{3001}']).map(str::trim);
    names.filter(|name| !name.is_empty()).map(name).collect()
}

/// Groups with their weights, as `vision=2, gpu users=1`: names may have `=` in them.
pub(super) fn group_weights(text: &str) -> Result<GroupWeights, Error> {
    let entries = text.split([',', '\n', '\u{ff0c}', '\u{3001}']).map(str::trim);
    let of = |entry: &str| -> Result<(GroupName, u32), Error> {
        let unread = || invalid(format!("weights of groups: {entry:?} must be written name=value"));
        let (group, weight) = entry.rsplit_once('=').ok_or_else(unread)?;
        let weight = number("weights of groups", weight)?.ok_or_else(unread)?;
        Ok((name(group)?, weight))
    };
    entries.filter(|entry| !entry.is_empty()).map(of).collect()
}

/// The groups that are in a text and were not before, and those that are not any more.
pub(crate) fn changed_groups(
    before: &str,
    now: &str,
) -> Result<(Vec<GroupName>, Vec<GroupName>), Error> {
    let (before, now) = (groups(before)?, groups(now)?);
    let without = |some: &[GroupName], others: &[GroupName]| {
        let rest = some.iter().filter(|group| !others.contains(group));
        rest.cloned().collect::<Vec<_>>()
    };
    Ok((without(&now, &before), without(&before, &now)))
}

pub(super) fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidParametersError, message)
}

pub(super) fn name<T: FromStr<Err = InvalidName>>(text: &str) -> Result<T, Error> {
    Ok(text.trim().parse()?)
}

pub(super) fn number<T: FromStr>(what: &str, text: &str) -> Result<Option<T>, Error> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| invalid(format!("{what}: {text:?} is not a whole number")))
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ', '\n', '\t', '\u{ff0c}', '\u{3001}']).filter(|word| !word.is_empty())
}

pub(super) fn pairs(what: &str, text: &str) -> Result<Vec<(String, String)>, Error> {
    words(text)
        .map(|word| {
            word.split_once('=')
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .ok_or_else(|| invalid(format!("{what}: {word:?} must be written name=value")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_weights_of_groups_is_said() {
        assert!(group_weights(" ,").unwrap().is_empty());
        for (bad, said) in [
            ("vision", "weights of groups: \"vision\" must be written name=value"),
            ("vision=2, nlp=", "weights of groups: \"nlp=\" must be written name=value"),
            ("vision=half", "weights of groups: \"half\" is not a whole number"),
            ("=2", "\"\" is not a valid group name"),
        ] {
            let message = group_weights(bad).unwrap_err().message;
            assert!(message.starts_with(said), "{message}");
            assert_ne!(crate::i18n::Language::Chinese.told(&message), message);
        }
    }
}
