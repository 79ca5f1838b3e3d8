//! Sentences of the server in other languages. Its sentences are their own codes: a catalogue knows
//! each by its English words, `{}` where something is filled in, and what is filled in goes where
//! the other language has `{0}`, `{1}`.

/// An English sentence with its places, and the same in the catalogue's language.
pub(super) type Saying = (&'static str, &'static str);

/// How deep sentences lie in sentences at most.
const DEPTH: u32 = 3;

/// The sentence in the language of the sayings; as it is where none of them is the sentence's.
pub(super) fn told(sayings: &[&[Saying]], sentence: &str) -> String {
    inside(sayings, sentence, DEPTH).unwrap_or_else(|| sentence.to_owned())
}

fn inside(sayings: &[&[Saying]], sentence: &str, depth: u32) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let all = sayings.iter().copied().flatten();
    let found = all.filter_map(|(english, other)| {
        let given = given(english, sentence)?;
        // What has no word of its own knows a sentence by the one inside.
        let known = english.chars().any(char::is_alphabetic)
            || given.last().is_some_and(|part| inside(sayings, part, depth).is_some());
        known.then(|| (english.len() - 2 * given.len(), given, *other))
    });
    // The one that says most by its own words knows the sentence best.
    let (_, given, other) = found.max_by_key(|(own, ..)| *own)?;
    let mut text = other.to_owned();
    for (place, part) in given.into_iter().enumerate() {
        let part = inside(sayings, part, depth).unwrap_or_else(|| quoted(part));
        text = text.replace(&format!("{{{place}}}"), &part);
    }
    Some(text)
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

    const SAYINGS: &[Saying] = &[
        ("{} is {}, less than {}", "{0} 为 {1}，小于 {2}"),
        ("{}: {}", "{0}：{1}"),
        ("there is no user {}", "没有用户 {0}"),
        ("Failed", "失败"),
        ("It failed.{}", "它失败了。"),
        ("{} started", "{0} 已启动"),
    ];

    #[test]
    fn sentences_are_known_by_their_words() {
        let told = |sentence| told(&[SAYINGS], sentence);
        assert_eq!(told("memoryMB is 5, less than 100"), "memoryMB 为 5，小于 100");
        assert_eq!(told("there is no user \"ada\""), "没有用户 “ada”");
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
        assert_eq!(told("节点 started"), "节点 已启动");
    }
}
