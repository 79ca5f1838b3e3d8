//! How types of GPUs are named.

use std::collections::BTreeMap;

use crate::ids::GpuType;

/// Words of a model's name that tell its maker or its line, and not which it is.
const MAKERS: [&str; 11] = [
    "NVIDIA",
    "TESLA",
    "GEFORCE",
    "QUADRO",
    "AMD",
    "INSTINCT",
    "RADEON",
    "GPU",
    "GRAPHICS",
    "GENERATION",
    "EDITION",
];
/// How such cards are put into machines.
const FORMS: [&str; 4] = ["SXM", "PCI", "NVL", "HBM"];

/// How types of GPUs are named: by an administrator's patterns, and else by the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GpuNames(Vec<(String, GpuType)>);

impl GpuNames {
    /// Of patterns by type. The longest pattern that fits a model names it.
    #[must_use]
    pub fn new(patterns: &BTreeMap<GpuType, Vec<String>>) -> Self {
        let each = patterns.iter().flat_map(|(name, patterns)| {
            patterns.iter().map(|pattern| (pattern.to_lowercase(), name.clone()))
        });
        let mut patterns: Vec<_> = each.collect();
        patterns.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
        Self(patterns)
    }

    /// The type of a model; a MIG instance's profile stands behind it, as in `A100-1g.10gb`.
    #[must_use]
    pub fn name(&self, model: &str, profile: Option<&str>) -> Option<GpuType> {
        let lower = model.to_lowercase();
        let named = self.0.iter().find(|(pattern, _)| fits(pattern, &lower));
        let whole = match named {
            Some((_, name)) => name.as_str().to_owned(),
            None => usual(model),
        };
        GpuType::new(match profile {
            Some(profile) => format!("{whole}-{profile}"),
            None => whole,
        })
        .ok()
    }
}

/// Whether a text is as a pattern says, in which `*` stands for anything.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

/// `A100` of `NVIDIA A100-SXM4-80GB`, `RTX2080Ti` of `NVIDIA GeForce RTX 2080 Ti`.
fn usual(model: &str) -> String {
    let is_maker = |word: &&str| MAKERS.contains(&word.to_uppercase().as_str());
    let words = model.split(|c: char| c.is_whitespace() || c == ',');
    let words = words.filter(|word| !word.is_empty() && !is_maker(word));
    let words: Vec<String> = words.map(bare).filter(|word| !word.is_empty()).collect();
    let name = match words.as_slice() {
        // What follows tells how it is built.
        [first, ..] if is_instinct(first) => first.clone(),
        // An RTX A6000 is known as an A6000.
        [line, rest @ ..] if line == "RTX" && rest.first().is_some_and(|word| is_own(word)) => {
            rest.concat()
        }
        words => words.concat(),
    };
    if name.is_empty() { model.split_whitespace().collect::<Vec<_>>().join("-") } else { name }
}

/// A word without what tells its form or memory.
fn bare(word: &str) -> String {
    let is_form = |part: &&str| {
        let upper = part.to_uppercase();
        let is_size = upper.strip_suffix("GB").is_some_and(|size| size.parse::<u32>().is_ok());
        is_size || FORMS.iter().any(|form| upper.starts_with(form))
    };
    word.split('-').filter(|part| !is_form(part)).collect::<Vec<_>>().join("-")
}

/// Whether a word names a card by itself: a letter and a number.
fn is_own(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.next().is_some_and(|c| c.is_ascii_digit())
}

/// `MI300X`.
fn is_instinct(word: &str) -> bool {
    word.strip_prefix("MI").is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_the_names_that_people_use() {
        for (model, name) in [
            ("NVIDIA A100-SXM4-80GB", "A100"),
            ("NVIDIA A100 80GB PCIe", "A100"),
            ("A100-SXM4-40GB", "A100"),
            ("NVIDIA H100 80GB HBM3", "H100"),
            ("NVIDIA H100 NVL", "H100"),
            ("NVIDIA H100 PCIe", "H100"),
            ("NVIDIA H200", "H200"),
            ("NVIDIA GH200 480GB", "GH200"),
            ("Tesla V100-SXM2-32GB", "V100"),
            ("Tesla P100-PCIE-16GB", "P100"),
            ("Tesla T4", "T4"),
            ("Tesla K80", "K80"),
            ("NVIDIA L40S", "L40S"),
            ("NVIDIA RTX A6000", "A6000"),
            ("NVIDIA RTX 6000 Ada Generation", "RTX6000Ada"),
            ("Quadro RTX 8000", "RTX8000"),
            ("NVIDIA GeForce RTX 3090", "RTX3090"),
            ("GeForce RTX 2080 Ti", "RTX2080Ti"),
            ("NVIDIA TITAN X (Pascal)", "TITANX(Pascal)"),
            ("NVIDIA Graphics", "NVIDIA-Graphics"),
            ("AMD Instinct MI300X", "MI300X"),
            ("AMD INSTINCT MI250 (MCM) OAM AC MBA", "MI250"),
            ("Radeon RX 7900 XT", "RX7900XT"),
            ("AMD 0x9999", "0x9999"),
            ("Ascend910B4", "Ascend910B4"),
        ] {
            let named = GpuNames::default().name(model, None).unwrap();
            assert_eq!(named.as_str(), name, "{model}");
        }
        assert_eq!(GpuNames::default().name("", None), None);
    }

    #[test]
    fn a_part_is_a_type_of_its_own() {
        let named = GpuNames::default().name("NVIDIA A100-SXM4-80GB", Some("1g.10gb")).unwrap();
        assert_eq!(named.as_str(), "A100-1g.10gb");
    }

    #[test]
    fn an_administrator_names_them_by_the_closest_pattern() {
        let patterns = BTreeMap::from([
            ("A100".parse().unwrap(), vec!["*a100*".to_owned()]),
            ("A100-80G".parse().unwrap(), vec!["*A100*80GB*".to_owned()]),
            ("Turing".parse().unwrap(), vec!["Tesla T4".to_owned(), "*RTX 20*".to_owned()]),
        ]);
        let names = GpuNames::new(&patterns);
        for (model, name) in [
            ("NVIDIA A100-SXM4-80GB", "A100-80G"),
            ("NVIDIA A100-SXM4-40GB", "A100"),
            ("Tesla T4", "Turing"),
            ("GeForce RTX 2080 Ti", "Turing"),
            ("Tesla V100-SXM2-32GB", "V100"),
        ] {
            assert_eq!(names.name(model, None).unwrap().as_str(), name, "{model}");
        }
    }

    #[test]
    fn patterns_fit_as_they_say() {
        for (pattern, text, expected) in [
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "abc", true),
            ("a*b*c", "abc", true),
            ("abc", "abc", true),
            ("ab", "abc", false),
            ("*ab", "abc", false),
            ("a*bc*c", "abc", false),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
