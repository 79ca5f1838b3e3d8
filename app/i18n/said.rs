//! Sentences of the server in other languages. Its sentences are their own codes: a catalogue knows
//! each by its English words, `{}` where something is filled in, and what is filled in goes where
//! the other language has `{0}`, `{1}`.

use super::spacing::join;

/// Sentences as one text, a line each: what fetches them fetches no table of their addresses.
macro_rules! sayings {
    ($(($english:literal, $other:literal $(,)?)),* $(,)?) => {
        concat!($($english, "\t", $other, "\n"),*)
    };
}

pub(super) use sayings;

/// An English sentence with its places, and the same in the catalogue's language.
type Saying = (&'static str, &'static str);

/// How deep sentences lie in sentences at most.
const DEPTH: u32 = 4;

/// The sentence in the language of the sayings, or several, one a line; as it is where none of them is
/// the sentence's.
pub(super) fn told(sayings: &[&'static str], sentence: &str) -> String {
    let line = |line: &str| inside(sayings, line, DEPTH).unwrap_or_else(|| line.to_owned());
    sentence.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The sentences of a text of them.
pub(super) fn each(sayings: &'static str) -> impl Iterator<Item = Saying> {
    sayings.lines().filter_map(|line| line.split_once('\t'))
}

fn inside(sayings: &[&'static str], sentence: &str, depth: u32) -> Option<String> {
    let whole = depth == DEPTH;
    let depth = depth.checked_sub(1)?;
    let all = sayings.iter().copied().flat_map(each);
    let all = all.filter(|(english, _)| whole || !may_be_name(english));
    let found = all.filter_map(|(english, other)| {
        let given = given(english, sentence)?;
        if is_short(english) && given.iter().any(|part| part.contains(' ')) {
            return None;
        }
        // What has no word of its own knows a sentence by the one inside.
        let known = english.chars().any(char::is_alphabetic)
            || given.last().is_some_and(|part| inside(sayings, part, depth).is_some());
        known.then(|| (english.len() - 2 * given.len(), given, other))
    });
    // The one that says most by its own words knows the sentence best.
    let (_, given, other) = found.max_by_key(|(own, ..)| *own)?;
    let worded = |part: &str| inside(sayings, part, depth).unwrap_or_else(|| quoted(part));
    Some(filled(other, &given.into_iter().map(worded).collect::<Vec<_>>()))
}

/// The words with what belongs in their places.
fn filled(words: &str, parts: &[String]) -> String {
    let mut text = String::with_capacity(words.len());
    let mut rest = words;
    while let Some((before, place, after)) = next_place(rest) {
        join(&mut text, before);
        join(&mut text, parts.get(place).map_or("", String::as_str));
        rest = after;
    }
    join(&mut text, rest);
    text
}

/// What is before the next place, its number, and what is after it.
fn next_place(words: &str) -> Option<(&str, usize, &str)> {
    let (before, rest) = words.split_once('{')?;
    let (number, after) = rest.split_once('}')?;
    Some((before, number.parse().ok()?, after))
}

/// Whether it may as well be the name of something that is filled in.
fn may_be_name(english: &str) -> bool {
    english.bytes().all(|letter| letter.is_ascii_lowercase())
}

/// Whether it is one word beside something that is filled in, which then has to be short as well.
fn is_short(english: &str) -> bool {
    let parts = english.split_once(' ');
    matches!(parts, Some(("{}", word) | (word, "{}")) if !word.contains([' ', ':']))
}

/// What is filled in where the sentence has these words.
fn given<'a>(words: &str, sentence: &'a str) -> Option<Vec<&'a str>> {
    let mut pieces = words.split("{}");
    let mut rest = sentence.strip_prefix(pieces.next()?)?;
    let mut given = Vec::new();
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        let at = match pieces.peek() {
            None => {
                rest.len().checked_sub(piece.len()).filter(|at| rest.get(*at..) == Some(piece))?
            }
            Some(_) => rest.find(piece)?,
        };
        given.push(&rest[..at]);
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty().then_some(given)
}

/// What stands in quotes, in those of the language.
fn quoted(part: &str) -> String {
    let inner = part.strip_prefix('"').and_then(|part| part.strip_suffix('"'));
    inner.map_or_else(|| part.to_owned(), |inner| format!("“{inner}”"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAYINGS: &str = sayings![
        ("{} is {}, less than {}", "{0} 为 {1}，小于 {2}"),
        ("{}: {}", "{0}：{1}"),
        ("there is no user {}", "没有用户 {0}"),
        ("Failed", "失败"),
        ("It failed.{}", "它失败了。"),
        ("{} started", "{0} 已启动"),
        ("first", "队首"),
    ];

    #[test]
    fn sentences_are_known_by_their_words() {
        let told = |sentence| told(&[SAYINGS], sentence);
        assert_eq!(told("memoryMB is 5, less than 100"), "memoryMB 为 5，小于 100");
        assert_eq!(told("there is no user \"ada\""), "没有用户“ada”");
        assert_eq!(told("worker-3 started"), "worker-3 已启动");
        assert_eq!(told("Failed: It failed. Try again."), "失败：它失败了。");
        assert_eq!(told("what nobody knows"), "what nobody knows");
        assert_eq!(told("what: nobody knows"), "what: nobody knows");
        assert_eq!(told(""), "");
    }

    #[test]
    fn what_is_filled_in_is_no_sentence_of_ours() {
        let told = |sentence| told(&[SAYINGS], sentence);
        assert_eq!(told("there is no user {1}"), "没有用户 {1}");
        assert_eq!(told("节点 started"), "节点已启动");
        assert_eq!(told("there is no user first"), "没有用户 first");
        assert_eq!(told("first"), "队首");
        assert_eq!(told("what nobody has started"), "what nobody has started");
        assert_eq!(told("{1} is {0}, less than 3"), "{1} 为 {0}，小于 3");
    }

    #[test]
    fn each_line_is_a_sentence() {
        let told = |sentence| told(&[SAYINGS], sentence);
        assert_eq!(told("a: Failed\nwhat nobody knows"), "a：失败\nwhat nobody knows");
    }
}
