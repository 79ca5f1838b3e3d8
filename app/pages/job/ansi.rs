//! Terminal colours in a log: escape sequences become styles, everything else stays text.

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    pub(crate) ink: Option<Ink>,
    pub(crate) bold: bool,
    pub(crate) dim: bool,
    pub(crate) italic: bool,
    pub(crate) underline: bool,
}

/// A colour of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// One of the eight named colours, 0 to 7.
    Named(u8),
    /// Any colour.
    Exact(u8, u8, u8),
}

/// A piece of a line in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) style: Style,
    pub(crate) text: String,
}

/// Reads escape sequences across the pieces in which a log arrives.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reader {
    style: Style,
    sequence: Option<String>,
}

/// What a character means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A character to be shown in this style.
    Shown(char, Style),
    /// The line ends.
    LineEnd,
    /// The line is written again from its beginning.
    LineStart,
    /// Nothing to be shown.
    Nothing,
}

impl Reader {
    /// Takes the next character.
    pub(crate) fn read(&mut self, next: char) -> Meaning {
        if let Some(sequence) = &mut self.sequence {
            sequence.push(next);
            let ends = match sequence.as_str() {
                "[" => false,
                text if text.starts_with('[') => ('@'..='~').contains(&next),
                _other_kind => true,
            };
            if ends || sequence.len() > 64 {
                self.finish();
            }
            return Meaning::Nothing;
        }
        match next {
            '\u{1b}' => {
                self.sequence = Some(String::new());
                Meaning::Nothing
            }
            '\n' => Meaning::LineEnd,
            '\r' => Meaning::LineStart,
            '\t' => Meaning::Shown('\t', self.style),
            hidden if hidden.is_control() => Meaning::Nothing,
            shown => Meaning::Shown(shown, self.style),
        }
    }

    fn finish(&mut self) {
        let sequence = self.sequence.take().unwrap_or_default();
        let codes = sequence.strip_prefix('[').and_then(|rest| rest.strip_suffix('m'));
        if let Some(codes) = codes {
            self.apply(
                &codes.split([';', ':']).map(|c| c.parse().unwrap_or(0)).collect::<Vec<_>>(),
            );
        }
    }

    fn apply(&mut self, mut codes: &[u16]) {
        while let [code, rest @ ..] = codes {
            codes = rest;
            match code {
                0 => self.style = Style::default(),
                1 => self.style.bold = true,
                2 => self.style.dim = true,
                3 => self.style.italic = true,
                4 => self.style.underline = true,
                22 => (self.style.bold, self.style.dim) = (false, false),
                23 => self.style.italic = false,
                24 => self.style.underline = false,
                30..=37 => self.style.ink = named(code - 30),
                39 => self.style.ink = None,
                90..=97 => self.style.ink = named(code - 90),
                38 | 48 => {
                    let (ink, after) = extended(rest);
                    if *code == 38 {
                        self.style.ink = ink;
                    }
                    codes = after;
                }
                _not_shown => {}
            }
        }
    }
}

fn named(index: u16) -> Option<Ink> {
    u8::try_from(index).ok().map(Ink::Named)
}

/// The colour after `38` or `48`, and the codes that follow it.
fn extended(codes: &[u16]) -> (Option<Ink>, &[u16]) {
    match codes {
        [5, index, rest @ ..] => (indexed(*index), rest),
        [2, red, green, blue, rest @ ..] => {
            let part = |value: &u16| u8::try_from(*value).unwrap_or(u8::MAX);
            (Some(Ink::Exact(part(red), part(green), part(blue))), rest)
        }
        _incomplete => (None, &[]),
    }
}

/// A colour of the table of 256: 16 named, a cube of 6 × 6 × 6, 24 greys.
fn indexed(index: u16) -> Option<Ink> {
    let index = u8::try_from(index).ok()?;
    Some(match index {
        0..=7 => Ink::Named(index),
        8..=15 => Ink::Named(index - 8),
        16..=231 => {
            let part = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let cube = index - 16;
            Ink::Exact(part(cube / 36), part(cube / 6 % 6), part(cube % 6))
        }
        232..=255 => {
            let grey = 8 + 10 * (index - 232);
            Ink::Exact(grey, grey, grey)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(char, Style)> {
        let mut reader = Reader::default();
        text.chars()
            .filter_map(|next| match reader.read(next) {
                Meaning::Shown(shown, style) => Some((shown, style)),
                Meaning::LineEnd | Meaning::LineStart | Meaning::Nothing => None,
            })
            .collect()
    }

    #[test]
    fn colours_begin_and_end() {
        let plain = Style::default();
        let red = Style { ink: Some(Ink::Named(1)), bold: true, ..plain };
        assert_eq!(shown("a\u{1b}[1;31mb\u{1b}[0mc"), [('a', plain), ('b', red), ('c', plain)]);
    }

    #[test]
    fn exact_colours_are_taken() {
        let ink = |text| shown(text)[0].1.ink;
        assert_eq!(ink("\u{1b}[38;5;196mx"), Some(Ink::Exact(255, 0, 0)));
        assert_eq!(ink("\u{1b}[38;2;1;2;3mx"), Some(Ink::Exact(1, 2, 3)));
        assert_eq!(ink("\u{1b}[48;5;20;32mx"), Some(Ink::Named(2)));
    }

    #[test]
    fn other_sequences_vanish() {
        assert_eq!(shown("\u{1b}[2K\u{1b}[10;4Hx\u{7}").len(), 1);
    }

    #[test]
    fn an_endless_sequence_is_given_up() {
        let text = format!("\u{1b}[{}x", "1;".repeat(200));
        assert!(!shown(&text).is_empty());
    }
}
