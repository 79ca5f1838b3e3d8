//! The list's state as its address writes it: `?q=user:ada+state:failed+name&all=1&sort=-gpus&page=2`.

use api::job_filter::{self, Key, Misread};
use api::jobs::{JobOrder, JobQuery};
use protocol::ids::UserName;
use protocol::state::State;

use crate::address::encode;

/// Rows a page.
pub(crate) const PAGE: u64 = 50;

/// No list is longer; an address may name any number.
const LAST_PAGE: u64 = 1_000_000;

/// What the list shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Filter {
    /// The tokens and words of the field, as typed.
    pub(crate) text: String,
    /// Everybody's jobs instead of the reader's own.
    pub(crate) all: bool,
    pub(crate) order: JobOrder,
    pub(crate) ascending: bool,
    /// The page, from 1.
    pub(crate) page: u64,
}

impl Filter {
    /// Reads the values of an address; what cannot be read is as if it were not there.
    pub(crate) fn read(value: impl Fn(&str) -> Option<String>) -> Self {
        let sort = value("sort").unwrap_or_default();
        let word = sort.strip_prefix('-').unwrap_or(&sort);
        let order = order_from_word(word);
        Self {
            text: value("q").unwrap_or_default().trim().to_owned(),
            all: value("all").is_some_and(|all| all == "1"),
            order: order.unwrap_or_default(),
            ascending: order.is_some() && !sort.starts_with('-'),
            page: value("page").and_then(|page| page.parse().ok()).unwrap_or(1).clamp(1, LAST_PAGE),
        }
    }

    /// The address of this list.
    pub(crate) fn address(&self) -> String {
        let mut pairs = Vec::new();
        if !self.text.is_empty() {
            pairs.push(format!("q={}", encode(&self.text)));
        }
        if self.all {
            pairs.push("all=1".to_owned());
        }
        if (self.order, self.ascending) != (JobOrder::Submitted, false) {
            pairs.push(format!("sort={}", self.sort_word()));
        }
        if self.page > 1 {
            pairs.push(format!("page={}", self.page));
        }
        if pairs.is_empty() { "/jobs".to_owned() } else { format!("/jobs?{}", pairs.join("&")) }
    }

    /// The order in the address: `-name` is descending.
    pub(crate) fn sort_word(&self) -> String {
        let sign = if self.ascending { "" } else { "-" };
        format!("{sign}{}", order_word(self.order))
    }

    /// The same list by another column; by the same column, the other way round.
    pub(crate) fn sorted_by(&self, order: JobOrder) -> Self {
        let ascending = if self.order == order { !self.ascending } else { starts_ascending(order) };
        Self { order, ascending, page: 1, ..self.clone() }
    }

    /// The same list on another page.
    pub(crate) fn on_page(&self, page: u64) -> Self {
        Self { page, ..self.clone() }
    }

    /// The same list of the reader's own or of everybody's jobs.
    pub(crate) fn of_all(&self, all: bool) -> Self {
        Self { all, page: 1, ..self.clone() }
    }

    /// The same list with a state's token put in, or taken out where it was.
    pub(crate) fn toggled(&self, state: State) -> Self {
        let is_state = |word: &&str| token_state(word) == Some(state);
        let mut words: Vec<&str> = job_filter::words(&self.text).filter(|w| !is_state(w)).collect();
        let token = format!("state:{}", state.as_str().to_ascii_lowercase());
        if words.len() == job_filter::words(&self.text).count() {
            words.push(&token);
        }
        Self { text: words.join(" "), page: 1, ..self.clone() }
    }

    /// Whether a state's token is in the filter.
    pub(crate) fn has_state(&self, state: State) -> bool {
        job_filter::words(&self.text).any(|word| token_state(word) == Some(state))
    }

    /// The words of the filter, each with what is wrong with it.
    pub(crate) fn words(&self) -> Vec<(String, Option<Misread>)> {
        let misread = job_filter::read(&self.text, None).err().unwrap_or_default();
        let wrong = |word: &str| misread.iter().find(|each| each.word == word).cloned();
        job_filter::words(&self.text).map(|word| (word.to_owned(), wrong(word))).collect()
    }

    /// The same list without one of its words, counted from 0.
    pub(crate) fn without_word(&self, at: usize) -> Self {
        let words = job_filter::words(&self.text).enumerate();
        let kept = words.filter(|(here, _)| *here != at).map(|(_, word)| word);
        Self { text: kept.collect::<Vec<_>>().join(" "), page: 1, ..self.clone() }
    }

    /// Whether every word of it can be read. Of one that cannot nothing is shown.
    pub(crate) fn is_good(&self) -> bool {
        job_filter::read(&self.text, None).is_ok()
    }

    /// What is asked of the contract, unless the filter cannot be read. `me` is the reader.
    pub(crate) fn query(&self, me: Option<&UserName>) -> Option<JobQuery> {
        let mut query = job_filter::read(&self.text, me).ok()?;
        query.order = self.order;
        query.ascending = self.ascending;
        query.offset = (self.page - 1) * PAGE;
        query.limit = PAGE;
        if !self.all && query.users.is_empty() {
            query.users.extend(me.cloned());
        }
        Some(query)
    }
}

/// The state of a token that names one and nothing else.
fn token_state(word: &str) -> Option<State> {
    let (key, value) = word.split_once(':')?;
    let value = (Key::from_word(key)? == Key::State).then(|| value.to_ascii_uppercase())?;
    State::from_word(&value)
}

fn order_word(order: JobOrder) -> &'static str {
    match order {
        JobOrder::Submitted => "submitted",
        JobOrder::Completed => "completed",
        JobOrder::Name => "name",
        JobOrder::User => "user",
        JobOrder::VirtualCluster => "vc",
        JobOrder::State => "state",
        JobOrder::Gpus => "gpus",
        JobOrder::Tasks => "tasks",
        JobOrder::Retries => "retries",
        JobOrder::Priority => "priority",
    }
}

fn order_from_word(word: &str) -> Option<JobOrder> {
    JobOrder::ALL.into_iter().find(|order| order_word(*order) == word)
}

/// Names read best from A to Z; amounts and moments from the largest down.
fn starts_ascending(order: JobOrder) -> bool {
    match order {
        JobOrder::Name | JobOrder::User | JobOrder::VirtualCluster | JobOrder::State => true,
        JobOrder::Submitted
        | JobOrder::Completed
        | JobOrder::Gpus
        | JobOrder::Tasks
        | JobOrder::Retries
        | JobOrder::Priority => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str) -> Filter {
        Filter { text: text.to_owned(), page: 1, ..Filter::default() }
    }

    fn name(text: &str) -> UserName {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_is_read_back() {
        let written = Filter {
            text: "user:ada state:failed resnet".into(),
            all: true,
            order: JobOrder::Gpus,
            ascending: true,
            page: 3,
        };
        assert_eq!(
            written.address(),
            "/jobs?q=user:ada+state:failed+resnet&all=1&sort=gpus&page=3"
        );
        let read = Filter::read(|key| match key {
            "q" => Some("user:ada state:failed resnet".into()),
            "all" => Some("1".into()),
            "sort" => Some("gpus".into()),
            "page" => Some("3".into()),
            _other => None,
        });
        assert_eq!(read, written);
    }

    #[test]
    fn a_page_that_no_list_has_is_no_mistake() {
        for page in ["0", "18446744073709551615"] {
            let filter = Filter::read(|name| (name == "page").then(|| page.to_owned()));
            let query = filter.query(None).unwrap();
            assert!(query.offset <= PAGE * LAST_PAGE, "{page}");
        }
    }

    #[test]
    fn an_empty_address_shows_the_newest_of_mine() {
        let filter = Filter::read(|_| None);
        assert_eq!(filter.address(), "/jobs");
        let query = filter.query(Some(&name("ada"))).unwrap();
        assert_eq!(query.users, [name("ada")]);
        assert_eq!((query.order, query.ascending, query.offset), (JobOrder::Submitted, false, 0));
    }

    #[test]
    fn tokens_become_conditions() {
        let query = filter("user:bob state:RUNNING status:failed vc:vision big model")
            .query(Some(&name("ada")))
            .unwrap();
        assert_eq!(query.users, [name("bob")]);
        assert_eq!(query.states, [State::Running, State::Failed]);
        assert_eq!(query.virtual_clusters[0].as_str(), "vision");
        assert_eq!(query.keyword, "big model");
    }

    #[test]
    fn me_is_the_reader() {
        let query = filter("user:me").of_all(true).query(Some(&name("ada"))).unwrap();
        assert_eq!(query.users, [name("ada")]);
    }

    #[test]
    fn a_state_is_toggled() {
        let once = filter("resnet").toggled(State::Failed);
        assert_eq!(once.text, "resnet state:failed");
        assert!(once.has_state(State::Failed));
        assert_eq!(once.toggled(State::Failed).text, "resnet");
    }

    #[test]
    fn a_column_turns_round_when_chosen_again() {
        let by_name = filter("").sorted_by(JobOrder::Name);
        assert_eq!(by_name.sort_word(), "name");
        assert_eq!(by_name.sorted_by(JobOrder::Name).sort_word(), "-name");
        assert_eq!(by_name.sorted_by(JobOrder::Gpus).sort_word(), "-gpus");
    }

    #[test]
    fn what_cannot_be_read_is_named_and_asks_for_nothing() {
        let filter = filter("stat:failed a user:x");
        assert_eq!(filter.query(None), None);
        let wrong: Vec<_> =
            filter.words().into_iter().map(|(word, wrong)| (word, wrong.is_some())).collect();
        let expected = [("stat:failed", true), ("a", false), ("user:x", false)];
        assert_eq!(wrong, expected.map(|(word, wrong)| (word.to_owned(), wrong)));
        assert_eq!(filter.without_word(0).text, "a user:x");
    }

    #[test]
    fn a_tag_of_several_words_is_one_of_the_filter() {
        let filter = filter("tag:\"best run\" resnet");
        assert_eq!(filter.words().len(), 2);
        assert_eq!(filter.query(None).unwrap().tags[0].as_str(), "best run");
        assert_eq!(filter.toggled(State::Failed).text, "tag:\"best run\" resnet state:failed");
        assert_eq!(filter.without_word(0).text, "resnet");
    }
}
