//! Splitting a command into words where there is no shell to do it.

/// Why a command cannot be run without a shell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NeedsShell {
    /// It uses something that only a shell does.
    #[error("`{0}` means something to a shell only")]
    Character(char),
    /// It begins by setting a variable.
    #[error("only a shell can set the variable in `{0}`")]
    Assignment(String),
    /// A quotation mark is never closed.
    #[error("a quotation mark is not closed")]
    OpenQuote,
}

/// What a shell gives a meaning to wherever it stands outside quotation marks.
const SPECIAL: &str = "|&;<>()$`*?[\n";

/// What a shell gives a meaning to at the beginning of a word.
const SPECIAL_FIRST: &str = "~#!";

/// The words of a command, as a shell would see them.
pub(crate) fn split(command: &str) -> Result<Vec<String>, NeedsShell> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.trim().chars();
    while let Some(next) = rest.next() {
        match next {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => single_quoted(&mut rest, word.get_or_insert_default())?,
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '\\' => match rest.next() {
                Some('\n') => {}
                escaped => word.get_or_insert_default().push(escaped.unwrap_or('\\')),
            },
            _ if SPECIAL.contains(next) => return Err(NeedsShell::Character(next)),
            _ if word.is_none() && SPECIAL_FIRST.contains(next) => {
                return Err(NeedsShell::Character(next));
            }
            _ => word.get_or_insert_default().push(next),
        }
    }
    words.extend(word);
    match words.first() {
        Some(first) if is_assignment(first) => Err(NeedsShell::Assignment(first.clone())),
        Some(_) | None => Ok(words),
    }
}

fn single_quoted(
    rest: &mut impl Iterator<Item = char>,
    word: &mut String,
) -> Result<(), NeedsShell> {
    loop {
        match rest.next().ok_or(NeedsShell::OpenQuote)? {
            '\'' => return Ok(()),
            other => word.push(other),
        }
    }
}

fn double_quoted(
    rest: &mut impl Iterator<Item = char>,
    word: &mut String,
) -> Result<(), NeedsShell> {
    loop {
        match rest.next().ok_or(NeedsShell::OpenQuote)? {
            '"' => return Ok(()),
            special @ ('$' | '`') => return Err(NeedsShell::Character(special)),
            '\\' => match rest.next().ok_or(NeedsShell::OpenQuote)? {
                '\n' => {}
                escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (command, words) in [
            ("", vec![]),
            ("  a\tb  ", vec!["a", "b"]),
            ("a 'b c' \"d e\"", vec!["a", "b c", "d e"]),
            ("a''b \"\" c\\ d", vec!["ab", "", "c d"]),
            (r#"say "\"x\" \\ \n" '\'"#, vec!["say", r#""x" \ \n"#, r"\"]),
            ("x '$HOME|*'", vec!["x", "$HOME|*"]),
            ("train \\\n --lr=0.1 {} a=b#c", vec!["train", "--lr=0.1", "{}", "a=b#c"]),
            ("serve\n", vec!["serve"]),
        ] {
            assert_eq!(split(command).unwrap(), words, "{command}");
        }
    }

    #[test]
    fn what_needs_a_shell_is_told() {
        for (command, special) in [
            ("a | b", '|'),
            ("a && b", '&'),
            ("a; b", ';'),
            ("a\nb", '\n'),
            ("echo $HOME", '$'),
            ("echo \"$HOME\"", '$'),
            ("ls *.py", '*'),
            ("ls ~/x", '~'),
            ("a > b", '>'),
            ("(a)", '('),
        ] {
            assert_eq!(split(command), Err(NeedsShell::Character(special)), "{command}");
        }
        assert_eq!(split("A=1 b"), Err(NeedsShell::Assignment("A=1".into())));
        assert_eq!(split("a 'b"), Err(NeedsShell::OpenQuote));
        assert_eq!(split("a \"b"), Err(NeedsShell::OpenQuote));
    }
}
