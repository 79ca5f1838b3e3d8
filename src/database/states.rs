//! States as SQL names them: from their enum, so that none is forgotten where one is added.

use std::sync::LazyLock;

use protocol::state::State;

/// Those of jobs, attempts and tasks that have ended, for `IN`.
pub(crate) fn ended() -> &'static str {
    static WORDS: LazyLock<String> = LazyLock::new(|| listed(State::is_final));
    &WORDS
}

/// Says of a row that it has ended. SQLite does not look for rows by this: it would do so rather than by a few
/// ids, and come past everything that has ever ended.
pub(crate) fn has_ended() -> &'static str {
    static WORDS: LazyLock<String> = LazyLock::new(|| format!("(state IN {}) IS TRUE", ended()));
    &WORDS
}

/// Those of jobs, attempts and tasks that go on, for `IN`.
pub(crate) fn going_on() -> &'static str {
    static WORDS: LazyLock<String> = LazyLock::new(|| listed(|state| !state.is_final()));
    &WORDS
}

/// Says of a row that it has not ended. The indices `tasks_active` and `tasks_of_node` are made for
/// exactly these words.
pub(crate) fn has_not_ended() -> &'static str {
    static WORDS: LazyLock<String> = LazyLock::new(|| format!("state NOT IN {}", ended()));
    &WORDS
}

fn listed(which: impl Fn(State) -> bool) -> String {
    let words = State::ALL.into_iter().filter(|state| which(*state));
    let words: Vec<String> = words.map(|state| format!("'{}'", state.as_str())).collect();
    format!("({})", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_indices_are_made_for_these_words() {
        let tables = include_str!("migrations/m0001_first_tables.sql");
        for index in ["tasks_active ON tasks (job)", "tasks_of_node ON tasks (node)"] {
            let made = format!("CREATE INDEX {index} WHERE {}", has_not_ended());
            assert!(tables.contains(&made), "{made}");
        }
        let all = [ended(), going_on()].concat();
        assert!(State::ALL.iter().all(|state| all.matches(state.as_str()).count() == 1), "{all}");
    }
}
