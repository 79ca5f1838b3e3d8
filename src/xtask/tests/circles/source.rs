//! What a source takes from other files, read without a compiler.

use std::collections::BTreeSet;

/// The words and signs of a source, without its comments and texts.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let (length, is_token) = match letter {
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            '/' if rest.starts_with("/*") => (comment(rest), false),
            '"' => (quoted(rest, b'"'), false),
            '\'' if is_letter(rest) => (quoted(rest, b'\''), false),
            'r' | 'b' | 'c' if raw(rest).is_some() => (raw(rest).unwrap_or(1), false),
            ':' if rest.starts_with("::") => (2, true),
            _ if is_of_word(letter) => {
                (rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len()), true)
            }
            _ => (letter.len_utf8(), !letter.is_whitespace()),
        };
        if is_token {
            found.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    found
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// How long a comment is that may hold others.
fn comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let pair = text.as_bytes().get(at..at + 2);
        match pair {
            Some(b"/*") => depth += 1,
            Some(b"*/") => depth -= 1,
            Some(_) | None => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// How long a text or a letter is that ends with `end`.
fn quoted(text: &str, end: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'\\' => at += 2,
            byte if *byte == end => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Whether a quote begins a letter, and no lifetime.
fn is_letter(text: &str) -> bool {
    let mut letters = text.chars().skip(1);
    let first = letters.next();
    first == Some('\\') || (first.is_some() && letters.next() == Some('\''))
}

/// How long a text is in which nothing is escaped, if this is one.
fn raw(text: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        let rest = text.strip_prefix(prefix).map(|rest| rest.trim_start_matches('#'));
        rest.is_some_and(|rest| rest.starts_with('"'))
    })?;
    let rest = &text[prefix.len()..];
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let end = format!("\"{}", "#".repeat(hashes));
    let begin = prefix.len() + hashes + 1;
    Some(text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len()))
}

/// What is there only in tests is left out.
fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].starts_with(&MARK) {
            at += MARK.len();
            at += item(&tokens[at..]);
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// A visibility says who may take something, and takes nothing itself.
fn without_visibilities<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    const MARK: [&str; 3] = ["pub", "(", "in"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        kept.push(tokens[at]);
        if tokens[at..].starts_with(&MARK) {
            at += tokens[at..].iter().take_while(|token| **token != ")").count();
        }
        at += 1;
    }
    kept
}

/// How many tokens an item has, with the attributes before it.
fn item(tokens: &[&str]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" if depth <= 1 => return at + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// One name that a source makes its own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Use<'a> {
    pub(crate) path: Vec<&'a str>,
    pub(crate) name: &'a str,
    /// Others may take it from here.
    pub(crate) handed_on: bool,
}

/// What a source says of other files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Source<'a> {
    pub(crate) uses: Vec<Use<'a>>,
    /// Paths in its code.
    pub(crate) paths: Vec<Vec<&'a str>>,
    /// All words of its code.
    pub(crate) words: BTreeSet<&'a str>,
}

impl<'a> Source<'a> {
    pub(crate) fn read(text: &'a str) -> Self {
        let tokens = without_visibilities(&without_tests(&tokens(text)));
        let mut source = Self::default();
        let mut code = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let captures = tokens.get(at + 1) == Some(&"<");
            if tokens[at] != "use" || captures {
                code.push(tokens[at]);
                at += 1;
                continue;
            }
            let before = at.checked_sub(1).map(|before| tokens[before]);
            let handed_on = matches!(before, Some("pub" | ")"));
            at += 1;
            source.tree(&tokens, &mut at, (&[], handed_on));
        }
        source.paths = paths(&code);
        source.words = code.into_iter().collect();
        source
    }

    /// Reads a path of a `use` with all that it branches into.
    fn tree(&mut self, tokens: &[&'a str], at: &mut usize, (above, handed_on): (&[&'a str], bool)) {
        let mut path = above.to_vec();
        let mut other_name = None;
        loop {
            match tokens.get(*at).copied() {
                Some("::") if path.is_empty() => path.push("::"),
                Some("::") => {}
                Some("{") => {
                    *at += 1;
                    while let Some(token) =
                        tokens.get(*at).filter(|token| !["}", ";"].contains(*token))
                    {
                        match *token {
                            "," => *at += 1,
                            _ => self.tree(tokens, at, (&path, handed_on)),
                        }
                    }
                    *at += 1;
                    return;
                }
                Some("as") => {
                    *at += 1;
                    other_name = tokens.get(*at).copied();
                }
                Some("," | "}" | ";") | None => break,
                Some(word) => path.push(word),
            }
            *at += 1;
        }
        if path.len() > 1 && path.last() == Some(&"self") {
            path.pop();
        }
        if let Some(name) = other_name.or(path.last().copied()) {
            self.uses.push(Use { path, name, handed_on });
        }
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(is_of_word)
}

/// All paths of more than one name.
fn paths<'a>(code: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let begins = is_word(code[at]) && !(at > 0 && code[at - 1] == "::");
        let mut path = vec![code[at]];
        at += 1;
        while begins
            && code.get(at) == Some(&"::")
            && code.get(at + 1).is_some_and(|next| is_word(next))
        {
            path.push(code[at + 1]);
            at += 2;
        }
        if path.len() > 1 {
            found.push(path);
        }
    }
    found
}

#[test]
fn texts_and_comments_are_no_code() {
    let text = r##"a /* b /* c */ d */ "e\" f" 'g' '\'' r#"h" i"# &'j k b"l" r#type // m
        n"##;
    assert_eq!(tokens(text), ["a", "&", "'", "j", "k", "b", "r", "#", "type", "n"]);
}

#[test]
fn what_is_there_in_tests_alone_is_not_read() {
    let text = "
        #[cfg(test)] use crate::a::{A, B};
        use crate::b::B;
        #[cfg(test)]
        #[expect(dead_code, reason = \"x\")]
        mod tests { use crate::c::C; fn f(a: [u8; 4]) { crate::d::d(); } }
        #[cfg(test)]
        pub(crate) mod more;
        fn g() { crate::e::e(); }";
    let source = Source::read(text);
    let uses: Vec<_> = source.uses.iter().map(|one| one.path.join("::")).collect();
    assert_eq!(uses, ["crate::b::B"]);
    assert_eq!(source.paths, [["crate", "e", "e"]]);
}

#[test]
fn a_visibility_takes_nothing() {
    let text = "pub(in crate::a) use super::b::B; pub(in crate::c) struct C { d: crate::d::D }";
    let source = Source::read(text);
    assert_eq!(source.paths, [["crate", "d", "D"]]);
    let uses: Vec<_> = source.uses.iter().map(|one| (one.name, one.handed_on)).collect();
    assert_eq!(uses, [("B", true)]);
}

#[test]
fn a_use_is_read_with_all_its_branches() {
    let text = "pub(crate) use super::{a, b::{self, C as D}, e::{f::G,},}; use ::h::I; use j as _;
        fn k() -> impl Iterator + use<'_> {}";
    let source = Source::read(text);
    let uses = source.uses.iter().map(|one| (one.path.join(" "), one.name, one.handed_on));
    let expected = [
        ("super a", "a", true),
        ("super b", "b", true),
        ("super b C", "D", true),
        ("super e f G", "G", true),
        (":: h I", "I", false),
        ("j", "_", false),
    ];
    let expected = expected.map(|(path, name, handed_on)| (path.to_owned(), name, handed_on));
    assert_eq!(uses.collect::<Vec<_>>(), expected);
    assert!(source.words.contains("k") && !source.words.contains("G"));
}
