//! Takes values out of a located tree and notes every mistake on the way. A `None` from a reading
//! function means: not given, or wrong and noted.

use crate::document::{Document, Entry, Lines, Node, Syntax, Value, integer, join, shorten};
use crate::fields::{Key, Object};
use crate::ids::InvalidName;
use crate::problem::Problem;

/// So many mistakes are told; a text made of nothing else must not fill a page.
const MAX_PROBLEMS: usize = 200;
/// So many are kept to choose the first of the text from; finding the places of more takes long.
const MAX_NOTED: usize = 1000;
/// So much of what changes nothing is told by its path.
const MAX_UNUSED: usize = 20;

/// A value under its path.
#[derive(Clone)]
pub(crate) struct Field<'d> {
    pub(crate) node: &'d Node,
    pub(crate) path: String,
}

/// An object whose keys have been checked.
#[derive(Clone)]
pub(crate) struct Fields<'d> {
    pub(crate) entries: &'d [Entry],
    pub(crate) path: String,
    pub(crate) start: usize,
}

impl<'d> Field<'d> {
    /// Null and the empty text say "not given".
    pub(crate) fn is_given(&self) -> bool {
        match &self.node.value {
            Value::Null => false,
            Value::Text(text) => !text.is_empty(),
            Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => true,
        }
    }

    /// Where it stands: its path and first byte.
    pub(crate) fn place(&self) -> (&str, usize) {
        (&self.path, self.node.start)
    }

    /// The last word of the path, as a message names it.
    pub(crate) fn name(&self) -> &str {
        let odd = self.path.strip_suffix("\"]").and_then(|path| path.rsplit_once("[\""));
        if let Some((_, name)) = odd {
            return name;
        }
        self.path.rsplit_once('.').map_or(&self.path, |(_, name)| name)
    }
}

impl<'d> Fields<'d> {
    /// The value of a key, whatever it is.
    pub(crate) fn get(&self, key: &str) -> Option<Field<'d>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(Field { node: &entry.node, path: join(&self.path, key) })
    }

    /// The value of a key, unless it is null or empty.
    pub(crate) fn given(&self, key: &str) -> Option<Field<'d>> {
        self.get(key).filter(Field::is_given)
    }

    /// Keys and values in the order of the text, equal keys included.
    pub(crate) fn every(&self) -> impl Iterator<Item = (&'d Entry, Field<'d>)> + use<'d> {
        let (entries, path) = (self.entries, self.path.clone());
        entries
            .iter()
            .map(move |entry| (entry, Field { node: &entry.node, path: join(&path, &entry.key) }))
    }

    /// Keys and values in the order of the text; of equal keys the first.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&'d Entry, Field<'d>)> + use<'d> {
        let (entries, path) = (self.entries, self.path.clone());
        let mut seen = std::collections::HashSet::new();
        entries
            .iter()
            .filter(move |entry| seen.insert(entry.key.as_str()))
            .map(move |entry| (entry, Field { node: &entry.node, path: join(&path, &entry.key) }))
    }
}

/// Collects what is wrong and what is doubtful.
pub(crate) struct Reader<'d> {
    pub(crate) document: &'d Document<'d>,
    lines: Lines<'d>,
    problems: Vec<Problem>,
    /// Mistakes that were only counted.
    more: usize,
    pub(crate) warnings: Vec<String>,
    /// Paths of what is taken and changes nothing.
    unused: Vec<String>,
    /// Places of the values that must not be shown, first byte and the byte after the last.
    pub(crate) hidden: Vec<(usize, usize)>,
}

impl<'d> Reader<'d> {
    pub(crate) fn new(document: &'d Document<'d>) -> Self {
        Self {
            document,
            lines: Lines::new(document.text),
            problems: document.duplicate_keys(),
            more: 0,
            warnings: Vec::new(),
            unused: Vec::new(),
            hidden: Vec::new(),
        }
    }

    /// Notes a mistake at a byte of the text.
    pub(crate) fn problem(
        &mut self,
        path: &str,
        at: usize,
        message: impl Into<String>,
        allowed: impl Into<String>,
    ) {
        if self.problems.len() >= MAX_NOTED {
            self.more += 1;
            return;
        }
        let (line, column) = self.lines.position(at);
        self.problems.push(Problem {
            path: path.to_owned(),
            line,
            column,
            message: message.into(),
            allowed: allowed.into(),
        });
    }

    /// Notes a mistake in a value.
    pub(crate) fn wrong(
        &mut self,
        field: &Field<'_>,
        message: impl Into<String>,
        allowed: impl Into<String>,
    ) {
        self.problem(&field.path, field.node.start, message, allowed);
    }

    /// Whether nothing has been wrong so far.
    pub(crate) fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// All mistakes in the order of the text.
    pub(crate) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| (problem.line, problem.column));
        // What several roles use is read for each of them.
        self.problems.dedup();
        let more = self.problems.len().saturating_sub(MAX_PROBLEMS) + self.more;
        self.problems.truncate(MAX_PROBLEMS);
        if let (1.., Some(last)) = (more, self.problems.last().cloned()) {
            let message = match more {
                1 => "1 more mistake follows".to_owned(),
                _ => format!("{more} more mistakes follow"),
            };
            let allowed = String::new();
            self.problems.push(Problem { path: String::new(), message, allowed, ..last });
        }
        self.problems
    }

    /// Notes what is taken and changes nothing.
    pub(crate) fn not_used(&mut self, path: String) {
        if self.unused.len() < MAX_NOTED && !self.unused.contains(&path) {
            self.unused.push(path);
        }
    }

    /// All that is doubtful; what changes nothing is one sentence, however much it is.
    pub(crate) fn into_warnings(self) -> Vec<String> {
        let Self { mut warnings, unused, .. } = self;
        let told: Vec<&str> = unused.iter().take(MAX_UNUSED).map(String::as_str).collect();
        let paths = told.join(", ");
        match unused.len() - told.len() {
            0 if told.is_empty() => {}
            0 => warnings.push(format!("not used here: {paths}")),
            more => warnings.push(format!("not used here: {paths} (and {more} more)")),
        }
        warnings
    }

    /// An object with the keys that the table has for it and, unless it is open, no others.
    pub(crate) fn object(&mut self, field: &Field<'d>, object: Object) -> Option<Fields<'d>> {
        let fields = self.map(field)?;
        self.check(&fields, object, &[], object.is_open());
        Some(fields)
    }

    /// An object with any keys.
    pub(crate) fn map(&mut self, field: &Field<'d>) -> Option<Fields<'d>> {
        let Value::Map(entries) = &field.node.value else {
            return self.mismatch(field, "an object");
        };
        Some(Fields { entries, path: field.path.clone(), start: field.node.start })
    }

    /// Notes keys that an object does not have, some more being allowed than the table says.
    pub(crate) fn check_keys(
        &mut self,
        fields: &Fields<'d>,
        object: Object,
        more: &[&'static str],
    ) {
        self.check(fields, object, more, false);
    }

    /// The same of an object that may have other keys as well.
    pub(crate) fn check_open_keys(
        &mut self,
        fields: &Fields<'d>,
        object: Object,
        more: &[&'static str],
    ) {
        self.check(fields, object, more, true);
    }

    /// The same of an object of which no table says anything.
    pub(crate) fn check_words(&mut self, fields: &Fields<'d>, known: &[&'static str]) {
        for (entry, field) in fields.every() {
            if !known.contains(&entry.key.as_str()) {
                self.unknown(entry, field, known, true);
            }
        }
    }

    fn check(&mut self, fields: &Fields<'d>, object: Object, more: &[&'static str], open: bool) {
        let names = object.keys().iter().map(|key| key.name);
        let known: Vec<&'static str> = names.chain(more.iter().copied()).collect();
        for (entry, field) in fields.every() {
            let is_key = |key: &&Key| key.name == entry.key;
            if let Some(key) = object.keys().iter().find(is_key) {
                if key.unused && field.is_given() {
                    self.not_used(field.path);
                }
                continue;
            }
            if !more.contains(&entry.key.as_str()) {
                self.unknown(entry, field, &known, open);
            }
        }
    }

    /// Notes a key that is none of those that are known. Where an object is open, one that is no known
    /// one misspelt is taken and not used.
    fn unknown(&mut self, entry: &Entry, field: Field<'_>, known: &[&'static str], open: bool) {
        if self.problems.len() >= MAX_NOTED {
            self.more += 1;
            return;
        }
        if open && !is_misspelt(&entry.key, known.iter().copied()) {
            self.not_used(field.path);
            return;
        }
        let near = nearest(&entry.key, known.iter().copied());
        let mut message = format!("the key {:?} is not known here", shorten(&entry.key));
        if let Some(near) = near {
            message.push_str(&format!("; did you mean {near:?}?"));
        }
        self.problem(&field.path, entry.key_start, message, known.join(", "));
    }

    /// Notes that a key which must be there is not.
    pub(crate) fn missing(&mut self, fields: &Fields<'_>, key: &str, allowed: &str) {
        let path = join(&fields.path, key);
        self.problem(&path, fields.start, format!("{key} is missing"), allowed);
    }

    /// The value of a key that must be there and not be empty.
    pub(crate) fn required(
        &mut self,
        fields: &Fields<'d>,
        key: &str,
        allowed: &str,
    ) -> Option<Field<'d>> {
        match fields.get(key) {
            None => self.missing(fields, key, allowed),
            Some(field) if field.is_given() => return Some(field),
            Some(field) => self.wrong(&field, format!("{key} is empty"), allowed),
        }
        None
    }

    pub(crate) fn list(&mut self, field: &Field<'d>) -> Option<Vec<Field<'d>>> {
        let Value::List(items) = &field.node.value else { return self.mismatch(field, "a list") };
        let path = &field.path;
        let item = |(i, node)| Field { node, path: format!("{path}[{i}]") };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// A text. YAML writes `2024` and `1.0` without quotes: there a number is a text as well.
    pub(crate) fn text(&mut self, field: &Field<'_>) -> Option<String> {
        match &field.node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Number(text) if self.document.syntax == Syntax::Yaml => Some(text.clone()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => {
                self.mismatch(field, "a text")
            }
        }
    }

    /// A text on one line: no control characters.
    pub(crate) fn line(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.text(field)?;
        if text.chars().any(char::is_control) {
            let message = format!("{} has a line break or control character in it", field.name());
            self.wrong(field, message, "one line of text");
            return None;
        }
        Some(text)
    }

    /// A text, a number or a flag, as text.
    pub(crate) fn scalar(&mut self, field: &Field<'_>) -> Option<String> {
        match &field.node.value {
            Value::Text(text) | Value::Number(text) => Some(text.clone()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Null | Value::List(_) | Value::Map(_) => {
                self.mismatch(field, "a text, a number, true or false")
            }
        }
    }

    /// A checked name.
    pub(crate) fn name<T>(
        &mut self,
        field: &Field<'_>,
        new: fn(String) -> Result<T, InvalidName>,
    ) -> Option<T> {
        let text = self.text(field)?;
        match new(text) {
            Ok(name) => Some(name),
            Err(InvalidName { what, value, allowed }) => {
                let value = shorten(&value);
                self.wrong(field, format!("{value:?} is not a valid {what}"), allowed);
                None
            }
        }
    }

    pub(crate) fn flag(&mut self, field: &Field<'_>) -> Option<bool> {
        let word = match &field.node.value {
            Value::Bool(flag) => return Some(*flag),
            Value::Text(text) => text.as_str(),
            Value::Null | Value::Number(_) | Value::List(_) | Value::Map(_) => "",
        };
        match word {
            "true" => Some(true),
            "false" => Some(false),
            _ => self.mismatch(field, "true or false"),
        }
    }

    /// A whole number between two bounds, both included; in quotes will do.
    pub(crate) fn integer(&mut self, field: &Field<'_>, min: i64, max: i64) -> Option<i64> {
        let allowed = if max == i64::MAX {
            format!("a whole number, at least {min}")
        } else {
            format!("a whole number from {min} to {max}")
        };
        let (Value::Number(text) | Value::Text(text)) = &field.node.value else {
            return self.mismatch(field, &allowed);
        };
        let name = field.name();
        match whole(text.trim()) {
            None => {
                let text = shorten(text);
                self.wrong(field, format!("{name} is {text:?}, not a whole number"), allowed);
                None
            }
            Some(value) if value < min => {
                self.wrong(field, format!("{name} is {value}, less than {min}"), allowed);
                None
            }
            Some(value) if value > max => {
                self.wrong(field, format!("{name} is {value}, more than {max}"), allowed);
                None
            }
            Some(value) => Some(value),
        }
    }

    /// [`Reader::integer`] of an unsigned kind, from 0 or 1 on.
    pub(crate) fn count<T: TryFrom<i64>>(
        &mut self,
        field: &Field<'_>,
        min: i64,
        max: i64,
    ) -> Option<T> {
        self.integer(field, min, max).and_then(|value| T::try_from(value).ok())
    }

    /// Notes that a value is of another kind than `expected`.
    pub(crate) fn mismatch<T>(&mut self, field: &Field<'_>, expected: &str) -> Option<T> {
        let found = match &field.node.value {
            Value::Null => "empty",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "an object",
        };
        let name = if field.path.is_empty() { "the file" } else { field.name() };
        self.wrong(field, format!("{name} is {found}, not {expected}"), expected);
        None
    }
}

/// A whole number, `2.0` and `1e3` included.
pub(crate) fn whole(text: &str) -> Option<i64> {
    if let Some(value) = integer(text) {
        return Some(value);
    }
    let value = decimal(text)?;
    // Above 2^53 a float no longer says which number was meant.
    (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
}

/// A number in digits, with a point or an exponent.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    let written =
        text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    written.then(|| text.parse().ok()).flatten()
}

/// The known word that was probably meant, if one is near enough.
pub(crate) fn nearest<'w>(word: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    if word.len() > 64 {
        return None;
    }
    let word: Vec<char> = word.to_ascii_lowercase().chars().collect();
    let limit = (word.len() / 3).max(2);
    let distances = known.map(|candidate| {
        let letters: Vec<char> = candidate.to_ascii_lowercase().chars().collect();
        let contained = word.len() >= 3 && letters.starts_with(&word);
        let distance = distance(&word, &letters);
        (if contained { distance.min(limit) } else { distance }, candidate)
    });
    distances.filter(|(distance, _)| *distance <= limit).min().map(|(_, candidate)| candidate)
}

/// Whether a word is surely meant to be a known one.
fn is_misspelt<'w>(word: &str, mut known: impl Iterator<Item = &'w str>) -> bool {
    let letters = |word: &str| word.to_ascii_lowercase().chars().collect::<Vec<char>>();
    let own = letters(word);
    let limit = (own.len() / 4).max(1);
    own.len() <= 64 && known.any(|known| distance(&own, &letters(known)) <= limit)
}

/// How many letters must be put in, taken out or changed.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
