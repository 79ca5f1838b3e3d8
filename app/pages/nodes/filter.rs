//! What of the nodes is shown, as its address writes it:
//! `?q=a100&only=free&by=user&group=type&view=table&sort=-free&page=2`.

use api::node_map::{Colour, Face, Group, NodeOrder, NodeQuery, Only};

use crate::address::encode;

/// Nodes a page. With eight GPUs each, all of them held, the server sends some 70 kB for their map,
/// and no more for a table of them.
pub(super) const PAGE: u64 = 40;

/// No list is longer; an address may name any number.
const LAST_PAGE: u64 = 1_000_000;

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) query: NodeQuery,
    /// The page, from 1.
    pub(super) page: u64,
    /// What the address says that cannot be read, and what may stand there.
    pub(super) misread: Vec<(String, String)>,
}

const ONLY: [(Only, &str); 5] = [
    (Only::Free, "free"),
    (Only::Draining, "draining"),
    (Only::Unreachable, "unreachable"),
    (Only::Faulty, "faulty"),
    (Only::Idle, "idle"),
];
const COLOURS: [(Colour, &str); 6] = [
    (Colour::Held, "held"),
    (Colour::Job, "job"),
    (Colour::User, "user"),
    (Colour::Load, "load"),
    (Colour::Memory, "memory"),
    (Colour::Temperature, "temperature"),
];
const ORDERS: [(NodeOrder, &str); 6] = [
    (NodeOrder::Name, "name"),
    (NodeOrder::Condition, "condition"),
    (NodeOrder::Free, "free"),
    (NodeOrder::Cpus, "cpus"),
    (NodeOrder::Memory, "memory"),
    (NodeOrder::Tasks, "tasks"),
];

fn known<T: Copy>(table: &[(T, &str)], word: &str) -> Option<T> {
    table.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
}

fn word<T: Copy + PartialEq>(table: &[(T, &'static str)], value: T) -> &'static str {
    table.iter().find(|(known, _)| *known == value).map_or("", |(_, word)| word)
}

fn words<T>(table: &[(T, &'static str)]) -> Vec<&'static str> {
    table.iter().map(|(_, word)| *word).collect()
}

/// What of an address's choices is none, and what may stand there.
fn misread(value: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let choices = [("only", words(&ONLY)), ("by", words(&COLOURS)), ("sort", words(&ORDERS))];
    let wrong = choices.into_iter().filter_map(|(name, allowed)| {
        let said = value(name)?;
        let bare = if name == "sort" { said.trim_start_matches('-') } else { said.as_str() };
        let is_known = bare.is_empty() || allowed.contains(&bare);
        (!is_known).then(|| (format!("{name}={said}"), allowed.join(", ")))
    });
    wrong.collect()
}

impl Filter {
    /// Reads the values of an address. Of choices that cannot be read nothing is shown; what else cannot
    /// be read is as if it were not there.
    pub(super) fn read(value: impl Fn(&str) -> Option<String>) -> Self {
        let word = |name: &str| value(name).unwrap_or_default();
        let sort = word("sort");
        let page = value("page").and_then(|page| page.parse().ok()).unwrap_or(1);
        let page = u64::clamp(page, 1, LAST_PAGE);
        let group = value("group").filter(|group| !group.is_empty()).map(Group::from);
        Self {
            query: NodeQuery {
                text: word("q").trim().to_owned(),
                only: known(&ONLY, &word("only")),
                group,
                face: if word("view") == "table" { Face::Table } else { Face::Map },
                colour: known(&COLOURS, &word("by")).unwrap_or_default(),
                order: known(&ORDERS, sort.trim_start_matches('-')).unwrap_or_default(),
                descending: sort.starts_with('-'),
                offset: (page - 1) * PAGE,
                limit: PAGE,
            },
            page,
            misread: misread(value),
        }
    }

    /// What the address says beside the default, as a form's fields.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let query = &self.query;
        let sign = if query.descending { "-" } else { "" };
        let sort = format!("{sign}{}", word(&ORDERS, query.order));
        let said = [
            ("q", query.text.clone()),
            ("only", query.only.map(|only| word(&ONLY, only).to_owned()).unwrap_or_default()),
            ("by", word(&COLOURS, query.colour).to_owned()),
            ("group", query.group.clone().map(String::from).unwrap_or_default()),
            ("view", if query.face == Face::Table { "table".to_owned() } else { String::new() }),
            ("sort", sort),
            ("page", self.page.to_string()),
        ];
        let usual = [("by", "held"), ("sort", "name"), ("page", "1")];
        let is_said = |(name, value): &(&str, String)| {
            !value.is_empty() && !usual.contains(&(*name, value.as_str()))
        };
        said.into_iter().filter(is_said).collect()
    }

    /// The address of this view.
    pub(super) fn address(&self) -> String {
        let pairs: Vec<String> =
            self.pairs().iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        if pairs.is_empty() { "/nodes".to_owned() } else { format!("/nodes?{}", pairs.join("&")) }
    }

    /// Another view, from its first page.
    pub(super) fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut other = Self { page: 1, ..self.clone() };
        change(&mut other);
        other
    }

    /// The same on another page.
    pub(super) fn on_page(&self, page: u64) -> Self {
        Self { page, ..self.clone() }
    }

    /// By another column; by the same one, the other way round. Amounts begin with the most.
    pub(super) fn sorted_by(&self, order: NodeOrder) -> Self {
        let descending = match order {
            same if same == self.query.order => !self.query.descending,
            NodeOrder::Name | NodeOrder::Condition => false,
            NodeOrder::Free | NodeOrder::Cpus | NodeOrder::Memory | NodeOrder::Tasks => true,
        };
        self.with(|other| {
            other.query.order = order;
            other.query.descending = descending;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Filter {
        Filter::read(|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn an_address_is_read_back() {
        let pairs = [
            ("q", "a100 ada"),
            ("only", "free"),
            ("by", "user"),
            ("group", "label:rack"),
            ("view", "table"),
            ("sort", "-free"),
            ("page", "3"),
        ];
        let filter = read(&pairs);
        assert_eq!(
            filter.address(),
            "/nodes?q=a100+ada&only=free&by=user&group=label:rack&view=table&sort=-free&page=3"
        );
        assert_eq!((filter.query.offset, filter.query.face), (2 * PAGE, Face::Table));
        let again: Vec<_> = filter.pairs();
        let again: Vec<_> = again.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(again, pairs);
    }

    #[test]
    fn nothing_said_is_the_map_of_all() {
        assert_eq!(read(&[]).address(), "/nodes");
        assert_eq!(read(&[("page", "0"), ("by", "magic"), ("sort", "?")]).address(), "/nodes");
    }

    #[test]
    fn what_is_no_choice_is_told_with_those_that_there_are() {
        let wrong = read(&[("only", "fre"), ("by", "user"), ("sort", "-size")]).misread;
        let words: Vec<&str> = wrong.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, ["only=fre", "sort=-size"]);
        assert_eq!(wrong[0].1, "free, draining, unreachable, faulty, idle");
        let good =
            read(&[("only", ""), ("by", "load"), ("sort", "-free"), ("group", "label:rack")]);
        assert!(good.misread.is_empty(), "{:?}", good.misread);
    }

    #[test]
    fn a_column_turns_round_when_chosen_again() {
        let by_free = read(&[("page", "2")]).sorted_by(NodeOrder::Free);
        assert_eq!(by_free.address(), "/nodes?sort=-free");
        assert_eq!(by_free.sorted_by(NodeOrder::Free).address(), "/nodes?sort=free");
    }
}
