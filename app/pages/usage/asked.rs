//! What use is shown, as its address writes it: `?from=2026-11-01&until=2026-11-30&user=ada&by=day`.

use api::usage::{UsageBy, UsageQuery};

use crate::address::encode;

pub(super) const KINDS: [(UsageBy, &str); 6] = [
    (UsageBy::User, "user"),
    (UsageBy::Group, "group"),
    (UsageBy::VirtualCluster, "cluster"),
    (UsageBy::GpuType, "type"),
    (UsageBy::Day, "day"),
    (UsageBy::Month, "month"),
];

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) query: UsageQuery,
    pub(super) by: UsageBy,
}

impl Asked {
    /// Reads the values of an address; what cannot be read is as if it were not there. Only
    /// administrators see more than one user.
    pub(super) fn read(value: impl Fn(&str) -> Option<String>, admin: bool) -> Self {
        let day = |name: &str| value(name).and_then(|day| day.parse().ok());
        let user = value("user").filter(|_| admin).and_then(|user| user.parse().ok());
        let by = value("by");
        let by = KINDS.into_iter().find(|(_, word)| by.as_deref() == Some(*word));
        let usual = if admin { UsageBy::User } else { UsageBy::VirtualCluster };
        Self {
            query: UsageQuery { from: day("from"), until: day("until"), username: user },
            by: by.map_or(usual, |(by, _)| by),
        }
    }

    /// Whether it leaves the days to the server.
    pub(super) fn leaves_days_open(&self) -> bool {
        self.query.from.is_none() && self.query.until.is_none()
    }

    /// What the address says.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let UsageQuery { from, until, username } = &self.query;
        let by = KINDS.into_iter().find(|(by, _)| *by == self.by);
        let said = [
            ("from", from.map(String::from)),
            ("until", until.map(String::from)),
            ("user", username.as_ref().map(ToString::to_string)),
            ("by", by.map(|(_, word)| word.to_owned())),
        ];
        said.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// The page that shows it.
    pub(super) fn address(&self) -> String {
        written("/usage", self.pairs())
    }

    /// The same as a file for spreadsheets, each day by itself.
    pub(super) fn table(&self) -> String {
        let pairs = self.pairs().into_iter().filter(|(name, _)| *name != "by");
        let pairs = pairs
            .map(|(name, value)| if name == "user" { ("username", value) } else { (name, value) });
        written("/api/v2/usage.csv", pairs.collect())
    }
}

fn written(path: &str, pairs: Vec<(&'static str, String)>) -> String {
    let pairs = pairs.into_iter().map(|(name, value)| format!("{name}={}", encode(&value)));
    let pairs: Vec<String> = pairs.collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)], admin: bool) -> Asked {
        let value = |name: &str| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Asked::read(value, admin)
    }

    #[test]
    fn an_address_is_read_back() {
        let pairs =
            [("from", "2026-11-01"), ("until", "2026-11-30"), ("user", "ada"), ("by", "day")];
        let asked = read(&pairs, true);
        let said = asked.pairs();
        let said: Vec<_> = said.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(said, pairs);
        assert_eq!(asked.address(), "/usage?from=2026-11-01&until=2026-11-30&user=ada&by=day");
        let table = "/api/v2/usage.csv?from=2026-11-01&until=2026-11-30&username=ada";
        assert_eq!(asked.table(), table);
    }

    #[test]
    fn days_that_are_not_said_are_left_to_the_server() {
        let days = [("from", "2026-11-01"), ("until", "2026-11-30")];
        assert!(read(&days[..0], false).leaves_days_open());
        for said in [&days[..1], &days[1..], &days[..]] {
            assert!(!read(said, false).leaves_days_open(), "{said:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_there() {
        let odd = [("from", "today"), ("user", "a b"), ("by", "magic")];
        assert_eq!(read(&odd, true).address(), "/usage?by=user");
        assert_eq!(read(&[("user", "ada")], false).address(), "/usage?by=cluster");
        assert_eq!(read(&[], false).table(), "/api/v2/usage.csv");
    }
}
