use protocol::spec::Priority;

/// Priorities that have a word in the documents.
pub(super) const KNOWN: [(Priority, &str); 4] = [
    (Priority::OPPORTUNISTIC, "oppo"),
    (Priority::TEST, "test"),
    (Priority::PRODUCTION, "prod"),
    (Priority::CRITICAL, "crit"),
];

/// The documents' word for a priority, else its number.
pub(super) fn priority_word(priority: Priority) -> String {
    let word = KNOWN.into_iter().find(|(value, _)| *value == priority).map(|(_, word)| word);
    word.map_or_else(|| priority.0.to_string(), str::to_owned)
}
