//! Files that are nearly right: the examples, changed in many places at once, and files that are made
//! of the examples' own words in structures of their own. `BERTH_CASES` says how many.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::any::read;
use super::cases;

/// What people start from.
pub(super) const SEEDS: [&str; 14] = [
    include_str!("../../fixtures/qizhi.json"),
    include_str!("../../fixtures/earliest.json"),
    include_str!("../../fixtures/pai.json"),
    include_str!("../../fixtures/scm.json"),
    include_str!("../../fixtures/v2.yaml"),
    include_str!("../../../../public/templates/cntk.json"),
    include_str!("../../../../public/templates/hello-world.json"),
    include_str!("../../../../public/templates/jupyter.json"),
    include_str!("../../../../public/templates/pytorch-distributed.yaml"),
    include_str!("../../../../public/templates/tensorboard.json"),
    include_str!("../../../../public/templates/tensorflow-distributed.json"),
    include_str!("../../../../public/templates/tensorflow-single.json"),
    "a: &a [1, *a]\n? b\n: |+\n  c\n--- # d\n...\n%TAG ! x\n!!str d: !<x> 'e'\n<<: *a\n",
    "{/*a*/\"b\\u0000\": [1e999, -0.0, .5, 0x1F, NaN, null,],//c\n'd': \"\\ud83d\",}",
];

/// Values that are near a limit or of another kind than is meant.
const ODD: [&str; 30] = [
    "0",
    "-1",
    "1.5",
    "0.0001",
    "1e400",
    "-0",
    "18446744073709551616",
    "9223372036854775807",
    "4294967296",
    "NaN",
    "true",
    "null",
    "~",
    "\"\"",
    "''",
    "{}",
    "[]",
    "[[]]",
    "\"\u{0}\"",
    "\"${{ a }}\"",
    "<% $b %>",
    "\"<% $secrets.x %>\"",
    "*x",
    "&x 1",
    "!!binary aGk=",
    "!!int \"1\"",
    "|\n  text\n",
    ">-\n  text\n",
    "2026-01-01",
    "0o777",
];

/// Choices that a list of bytes makes; when there are no more, always the first.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn below(&mut self, count: usize) -> usize {
        let mut next = || usize::from(self.0.next().copied().unwrap_or_default());
        let number = if count > 200 { (next() << 8) | next() } else { next() };
        number % count
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// The words of all seeds: keys, values, numbers.
fn words() -> &'static [&'static str] {
    static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(collect);
    &WORDS
}

fn collect() -> Vec<&'static str> {
    let all = SEEDS.iter().flat_map(|seed| seed.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let mut words: Vec<_> = all.filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// A seed after some changes: pieces cut, doubled, moved, put in from another, values made odd.
fn mutated(c: &mut Choices<'_>, words: &[&str]) -> String {
    let mut text = c.of(&SEEDS).as_bytes().to_vec();
    for _ in 0..=c.below(8) {
        let length = text.len().max(1);
        let at = c.below(length).min(text.len());
        let end = (at + c.below(64)).min(text.len());
        match c.below(9) {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece = text[at..end].to_vec();
                let to = c.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            2 => {
                let other = c.of(&SEEDS).as_bytes();
                let from = c.below(other.len());
                let until = (from + c.below(200)).min(other.len());
                text.splice(at..end, other[from..until].iter().copied());
            }
            3 => drop(text.splice(at..at, [u8::try_from(c.below(256)).unwrap()])),
            4 => drop(text.splice(at..end, c.of(words).bytes())),
            5 => replace_value(&mut text, at, c.of(&ODD).as_bytes()),
            6 => replace_value(&mut text, at, c.of(words).as_bytes()),
            7 => swap_lines(&mut text, c),
            _ => text.truncate(end.max(1)),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Puts another value after the next colon.
fn replace_value(text: &mut Vec<u8>, from: usize, value: &[u8]) {
    let Some(colon) = text[from.min(text.len())..].iter().position(|byte| *byte == b':') else {
        return;
    };
    let begin = from + colon + 1;
    let ends = |byte: &u8| b",\n}]".contains(byte);
    let end = text[begin..].iter().position(ends).map_or(text.len(), |end| begin + end);
    text.splice(begin..end, [b" ".as_slice(), value].concat());
}

fn swap_lines(text: &mut Vec<u8>, c: &mut Choices<'_>) {
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (a, b) = (c.below(lines.len()), c.below(lines.len()));
    lines.swap(a, b);
    *text = lines.join(&b'\n');
}

/// A tree of the seeds' words, as JSON with comments or as YAML.
fn tree(c: &mut Choices<'_>, words: &[&str], out: &mut String, depth: usize, yaml: bool) {
    match c.below(if depth > 5 { 5 } else { 12 }) {
        0 => out.push_str(c.of(&ODD)),
        1 => out.push_str(&c.below(70_000).to_string()),
        2 | 3 => out.push_str(&format!("\"{}\"", c.of(words))),
        4 => out.push_str(&format!("\"{} {}\\n\"", c.of(words), c.of(&ODD).replace('"', ""))),
        5 => out.push_str(c.of(words)),
        6 | 7 => list(c, words, out, depth, yaml),
        _ => map(c, words, out, depth, yaml),
    }
}

fn list(c: &mut Choices<'_>, words: &[&str], out: &mut String, depth: usize, yaml: bool) {
    let block = yaml && c.below(2) == 0;
    out.push_str(if block { "" } else { "[" });
    for _ in 0..c.below(4) {
        if block {
            out.push_str(&format!("\n{}- ", " ".repeat(2 * depth)));
            tree(c, words, out, depth + 1, yaml);
        } else {
            tree(c, words, out, depth + 1, false);
            out.push_str(c.of(&[", ", ",\n", " // x\n,", "/**/,"]));
        }
    }
    out.push_str(if block { "\n" } else { "]" });
}

fn map(c: &mut Choices<'_>, words: &[&str], out: &mut String, depth: usize, yaml: bool) {
    let block = yaml && c.below(4) > 0;
    out.push_str(if block { "" } else { "{" });
    for _ in 0..c.below(8) {
        if block {
            let anchor = c.of(&["", "", "", "&x ", "*x ", "!!map "]);
            out.push_str(&format!("\n{}{}: {anchor}", " ".repeat(2 * depth), c.of(words)));
            tree(c, words, out, depth + 1, yaml);
        } else {
            out.push_str(&format!("\"{}\": ", c.of(words)));
            tree(c, words, out, depth + 1, false);
            out.push_str(c.of(&[", ", ",\n", " // x\n,", "/**/,", ""]));
        }
    }
    out.push_str(if block { "\n" } else { "}" });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(256), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_example_changed_in_many_places_is_answered(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        read(&mutated(&mut Choices(bytes.iter()), words()));
    }

    #[test]
    fn a_tree_of_known_words_is_answered(bytes in proptest::collection::vec(any::<u8>(), 0..160), yaml: bool) {
        let mut text = if yaml { "protocolVersion: 2\n".to_owned() } else { "// x\n".to_owned() };
        let (mut choices, words) = (Choices(bytes.iter()), words());
        map(&mut choices, words, &mut text, 0, yaml);
        read(&text);
    }
}
