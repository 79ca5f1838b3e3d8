use serde::{Deserialize, Serialize};

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English.
    #[default]
    English,
    /// 简体中文.
    Chinese,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 2] = [Language::English, Language::Chinese];

    /// The document's `lang`.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh-CN",
        }
    }

    /// The word in the cookie.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh",
        }
    }

    /// What the language calls itself.
    #[must_use]
    pub fn own_name(self) -> &'static str {
        match self {
            Language::English => "English",
            Language::Chinese => "简体中文",
        }
    }

    /// Reads [`Language::as_str`] back.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.as_str() == word)
    }

    /// The best language for an `Accept-Language` header; English when none of ours is in it.
    #[must_use]
    pub fn from_accept(header: &str) -> Self {
        let mut best = (Language::English, 0_u32);
        for entry in header.split(',') {
            let (tag, weight) = entry.split_once(";q=").unwrap_or((entry, "1"));
            let tag = tag.trim().to_ascii_lowercase();
            let primary = tag.split('-').next().unwrap_or_default();
            if let Some(language) = Self::from_word(primary)
                && thousandths(weight) > best.1
            {
                best = (language, thousandths(weight));
            }
        }
        best.0
    }

    /// The logical name of the file in which a browser finds the catalogue.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Language::English => "part_english_texts.wasm",
            Language::Chinese => "part_chinese_texts.wasm",
        }
    }
}

/// A weight of `Accept-Language` (`0.8`) in thousandths; what cannot be read weighs nothing.
fn thousandths(weight: &str) -> u32 {
    let weight = weight.trim();
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    let mut digits = fraction.chars().chain("000".chars()).take(3).collect::<String>();
    digits.insert_str(0, whole);
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_known_language_is_taken() {
        for (header, language) in [
            ("", Language::English),
            ("de", Language::English),
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("en-US,en;q=0.9,zh;q=0.8", Language::English),
            ("fr;q=0.9, zh-TW;q=0.3, en;q=0.25", Language::Chinese),
            ("en;q=0, zh;q=0.001", Language::Chinese),
        ] {
            assert_eq!(Language::from_accept(header), language, "{header}");
        }
    }

    #[test]
    fn words_of_languages_are_read_back() {
        for language in Language::ALL {
            assert_eq!(Language::from_word(language.as_str()), Some(language));
        }
    }
}
