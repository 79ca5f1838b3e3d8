//! The list's state as its address writes it: `?q=user:ada+state:failed+name&all=1&sort=-gpus&page=2`.

use api::jobs::{JobOrder, JobQuery};
use protocol::ids::{UserName, VirtualClusterName};
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
        let mut words: Vec<&str> = self.text.split_whitespace().filter(|w| !is_state(w)).collect();
        let token = format!("state:{}", state.as_str().to_lowercase());
        if words.len() == self.text.split_whitespace().count() {
            words.push(&token);
        }
        Self { text: words.join(" "), page: 1, ..self.clone() }
    }

    /// Whether a state's token is in the filter.
    pub(crate) fn has_state(&self, state: State) -> bool {
        self.text.split_whitespace().any(|word| token_state(word) == Some(state))
    }

    /// Words that look like tokens and are none.
    pub(crate) fn unknown_tokens(&self) -> Vec<String> {
        self.text
            .split_whitespace()
            .filter(|word| word.contains(':') && matches!(Token::read(word, None), Token::Unknown))
            .map(str::to_owned)
            .collect()
    }

    /// What is asked of the contract. `me` is the reader.
    pub(crate) fn query(&self, me: Option<&UserName>) -> JobQuery {
        let mut query = JobQuery {
            order: self.order,
            ascending: self.ascending,
            offset: (self.page - 1) * PAGE,
            limit: PAGE,
            ..JobQuery::default()
        };
        let mut keywords = Vec::new();
        for word in self.text.split_whitespace() {
            match Token::read(word, me) {
                Token::User(user) => query.users.push(user),
                Token::State(state) => query.states.push(state),
                Token::Cluster(cluster) => query.virtual_clusters.push(cluster),
                Token::Keyword(word) => keywords.push(word),
                Token::Unknown => {}
            }
        }
        if !self.all && query.users.is_empty() {
            query.users.extend(me.cloned());
        }
        query.keyword = keywords.join(" ");
        query
    }
}

/// One word of the filter.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    User(UserName),
    State(State),
    Cluster(VirtualClusterName),
    Keyword(String),
    Unknown,
}

impl Token {
    fn read(word: &str, me: Option<&UserName>) -> Self {
        let Some((key, value)) = word.split_once(':') else {
            return Token::Keyword(word.to_owned());
        };
        let token = match key {
            "user" if value == "me" && me.is_some() => me.cloned().map(Token::User),
            "user" => value.parse().ok().map(Token::User),
            "vc" => value.parse().ok().map(Token::Cluster),
            "state" | "status" => State::from_word(&value.to_uppercase()).map(Token::State),
            _other => None,
        };
        token.unwrap_or(Token::Unknown)
    }
}

fn token_state(word: &str) -> Option<State> {
    match Token::read(word, None) {
        Token::State(state) => Some(state),
        Token::User(_) | Token::Cluster(_) | Token::Keyword(_) | Token::Unknown => None,
    }
}

const ORDERS: [JobOrder; 9] = [
    JobOrder::Submitted,
    JobOrder::Completed,
    JobOrder::Name,
    JobOrder::User,
    JobOrder::VirtualCluster,
    JobOrder::State,
    JobOrder::Gpus,
    JobOrder::Tasks,
    JobOrder::Retries,
];

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
    }
}

fn order_from_word(word: &str) -> Option<JobOrder> {
    ORDERS.into_iter().find(|order| order_word(*order) == word)
}

/// Names read best from A to Z; amounts and moments from the largest down.
fn starts_ascending(order: JobOrder) -> bool {
    match order {
        JobOrder::Name | JobOrder::User | JobOrder::VirtualCluster | JobOrder::State => true,
        JobOrder::Submitted
        | JobOrder::Completed
        | JobOrder::Gpus
        | JobOrder::Tasks
        | JobOrder::Retries => false,
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
            let query = filter.query(None);
            assert!(query.offset <= PAGE * LAST_PAGE, "{page}");
        }
    }

    #[test]
    fn an_empty_address_shows_the_newest_of_mine() {
        let filter = Filter::read(|_| None);
        assert_eq!(filter.address(), "/jobs");
        let query = filter.query(Some(&name("ada")));
        assert_eq!(query.users, [name("ada")]);
        assert_eq!((query.order, query.ascending, query.offset), (JobOrder::Submitted, false, 0));
    }

    #[test]
    fn tokens_become_conditions() {
        let query = filter("user:bob state:RUNNING status:failed vc:vision big model")
            .query(Some(&name("ada")));
        assert_eq!(query.users, [name("bob")]);
        assert_eq!(query.states, [State::Running, State::Failed]);
        assert_eq!(query.virtual_clusters[0].as_str(), "vision");
        assert_eq!(query.keyword, "big model");
    }

    #[test]
    fn me_is_the_reader() {
        let query = filter("user:me").of_all(true).query(Some(&name("ada")));
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
    fn what_looks_like_a_token_and_is_none_is_named() {
        assert_eq!(filter("stat:failed a user:x").unknown_tokens(), ["stat:failed"]);
    }
}
