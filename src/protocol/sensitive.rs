//! What others are not to read though nobody called it a secret: values of variables whose names
//! say so (`AWS_SECRET_ACCESS_KEY`, `HF_TOKEN`), in a job's variables, its commands and its text.

use crate::secrets::MASK;
use crate::spec::JobSpec;

/// Parts of a name that say it wherever they stand.
const ANYWHERE: [&str; 5] = ["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"];
/// What is in the place of a covered value while it is looked for one: nobody writes it.
const OPEN: &str = "\u{1}";
/// Ends of a word in a name that say it.
const ENDS: [&str; 4] = ["KEY", "KEYS", "TOKEN", "TOKENS"];

/// Whether a name says that its value is not for everybody.
#[must_use]
pub fn is_sensitive(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ANYWHERE.iter().any(|part| upper.contains(part))
        || words(name).any(|word| ENDS.iter().any(|end| word.ends_with(end)))
}

/// The words of `AN_API_KEY`, `an-api-key` and `anApiKey`, in capital letters.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for letter in name.chars() {
        let begins = !letter.is_ascii_alphanumeric() || (small && letter.is_ascii_uppercase());
        if begins {
            words.push(String::new());
        }
        small = letter.is_ascii_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphanumeric()) {
            word.push(letter.to_ascii_uppercase());
        }
    }
    words.into_iter()
}

/// The job as others see it.
#[must_use]
pub fn covered(spec: &JobSpec) -> JobSpec {
    let mut covered = spec.clone();
    for (name, value) in &mut covered.env {
        if is_sensitive(name) {
            MASK.clone_into(value);
        }
    }
    for role in &mut covered.roles {
        role.command = covered_text(&role.command);
    }
    covered
}

/// A job's file as others see it; `None`: what they may not see cannot be told from the rest.
#[must_use]
pub fn covered_file(text: &str, spec: &JobSpec) -> Option<String> {
    let covered = covered_text(text);
    let hidden = |(name, value): (&String, &String)| {
        !is_sensitive(name) || value.len() < 4 || !covered.contains(value.as_str())
    };
    spec.env.iter().all(hidden).then_some(covered)
}

/// Whether a value that is not for everybody is covered: who submits what he saw of another's job gives his own.
#[must_use]
pub fn is_masked(spec: &JobSpec) -> bool {
    let in_command = |command: &str| {
        let open = command.replace(MASK, OPEN);
        covered_text(&open).matches(OPEN).count() < open.matches(OPEN).count()
    };
    spec.env.iter().any(|(name, value)| is_sensitive(name) && value == MASK)
        || spec.roles.iter().any(|role| in_command(&role.command))
}

/// A text in whatever notation with the values behind such names covered: `NAME=value`,
/// `"NAME": "value"`, `NAME: value`, `--name value`.
#[must_use]
pub fn covered_text(text: &str) -> String {
    let mut covered = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(begins_name) {
        let length = rest[start..].find(|letter| !is_of_name(letter)).unwrap_or(rest.len() - start);
        let (name, after) = rest[start..].split_at(length);
        let option = rest[..start].ends_with("--");
        covered.push_str(&rest[..start + length]);
        rest = after;
        if !is_sensitive(name) {
            continue;
        }
        if let Some((before, value)) = value_of(after, option) {
            covered.push_str(&after[..before]);
            covered.push_str(MASK);
            rest = &after[before + value..];
        }
    }
    covered.push_str(rest);
    covered
}

fn begins_name(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_'
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

/// How many bytes stand between a name and its value, and how many the value has. References to
/// other values, lists and objects are none.
fn value_of(after: &str, option: bool) -> Option<(usize, usize)> {
    let closed = after.trim_start_matches(['\\', '"', '\'']);
    let spaced = closed.trim_start_matches([' ', '\t']);
    let open = match spaced.strip_prefix(['=', ':']) {
        Some(open) => open,
        None if option && spaced.len() < closed.len() => spaced,
        None => return None,
    };
    let open = open.trim_start_matches([' ', '\t']);
    let unquoted = open.trim_start_matches('\\');
    let quote = unquoted.chars().next().filter(|first| matches!(first, '"' | '\''));
    let value = match quote {
        Some(_) => &unquoted[1..],
        None => open,
    };
    let length = match quote {
        Some(quote) => end_of_quoted(value, quote),
        None => value.find(ends_plain).unwrap_or(value.len()),
    };
    let reference = ["$", "<%", "{", "[", "|", ">"].iter().any(|begin| value.starts_with(begin));
    (length > 0 && !reference).then(|| (after.len() - value.len(), length))
}

fn ends_plain(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ',' | ';' | '&' | '}' | ')' | '"' | '\'' | '\\')
}

/// Where a quoted value ends: at its quote, or before what escapes that one.
fn end_of_quoted(value: &str, quote: char) -> usize {
    let end = value.find(quote).unwrap_or(value.len());
    value[..end].trim_end_matches('\\').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_not_for_everybody() {
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "HF_TOKEN",
            "wandbApiKey",
            "api-key",
            "DB_PASSWORD",
            "MYSQL_PASSWD",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "token",
        ] {
            assert!(is_sensitive(name), "{name}");
        }
        for name in ["TOKENIZERS_PARALLELISM", "EPOCHS", "KEYBOARD", "PWD", "MASTER_ADDR"] {
            assert!(!is_sensitive(name), "{name}");
        }
    }

    #[test]
    fn values_are_covered_in_every_notation() {
        for (text, covered) in [
            (
                r#"{"HF_TOKEN": "hf_abc", "EPOCHS": "3"}"#,
                r#"{"HF_TOKEN": "******", "EPOCHS": "3"}"#,
            ),
            ("  HF_TOKEN: hf_abc\n  EPOCHS: 3\n", "  HF_TOKEN: ******\n  EPOCHS: 3\n"),
            ("export API_KEY='a b' && run", "export API_KEY='******' && run"),
            ("API_KEY=abc python x.py --epochs 3", "API_KEY=****** python x.py --epochs 3"),
            ("login --password hunter2 --user a", "login --password ****** --user a"),
            ("login --token=hunter2", "login --token=******"),
            (
                r#""command": "export A_KEY=\"x y\"; run""#,
                r#""command": "export A_KEY=\"******\"; run""#,
            ),
            ("// the MY_TOKEN: abc", "// the MY_TOKEN: ******"),
        ] {
            assert_eq!(covered_text(text), covered);
        }
        for same in [
            "export API_KEY=$OTHER",
            "secrets:\n  a: b\n",
            r#""secrets": {"a": "b"}"#,
            "TOKEN: <% $secrets.token %>",
            "the key is here",
            "TOKENIZERS_PARALLELISM=false",
            "",
        ] {
            assert_eq!(covered_text(same), same);
        }
    }
}
