//! The text format of Prometheus.

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    labels: Vec<(&'a str, String)>,
    pub(super) value: f32,
}

impl Line<'_> {
    /// What a label says; what says nothing is none.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        let (_, value) = self.labels.iter().find(|(label, _)| *label == name)?;
        (!value.is_empty()).then_some(value)
    }
}

/// All values; what is not understood is left out.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().filter_map(|line| read(line.trim()))
}

fn read(line: &str) -> Option<Line<'_>> {
    if line.starts_with('#') {
        return None;
    }
    let end = line.find(|letter: char| letter == '{' || letter.is_whitespace())?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    // After the value, a moment may follow.
    let value = rest.split_whitespace().next()?.parse::<f64>().ok()?;
    value.is_finite().then_some(Line { name, labels, value: value as f32 })
}

/// Labels, and what follows them.
fn labels(mut rest: &str) -> Option<(Vec<(&str, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, quoted) = rest.split_once('=')?;
        let (value, after) = value(quoted.trim_start().strip_prefix('"')?)?;
        labels.push((name.trim(), value));
        rest = after;
    }
}

/// A label's value up to its closing quotation mark, and what follows that.
fn value(text: &str) -> Option<(String, &str)> {
    let (mut value, mut letters) = (String::new(), text.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_names_labels_and_values() {
        let text = "# HELP a help\n# TYPE a gauge\na 1\n b{} 2.5 1767225600000\n\
                    c{x=\"1\", y=\"a \\\"b\\\" }, \\\\ \\n\",} 3e2\n\n";
        let read: Vec<_> = lines(text).collect();
        let values: Vec<_> = read.iter().map(|line| (line.name, line.value)).collect();
        assert_eq!(values, [("a", 1.0), ("b", 2.5), ("c", 300.0)]);
        assert_eq!(read[2].label("x"), Some("1"));
        assert_eq!(read[2].label("y"), Some("a \"b\" }, \\ \n"));
        assert_eq!(read[2].label("z"), None);
    }

    #[test]
    fn what_is_not_understood_is_left_out() {
        for text in ["a", "a NaN", "a +Inf", "a{x=\"1\" 1", "a{x=1} 1", "a{x=\"1} 1", "{", "a{} b"]
        {
            assert_eq!(lines(text).count(), 0, "{text}");
        }
    }
}
