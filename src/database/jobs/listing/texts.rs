//! Columns that have few different texts.

use std::collections::HashMap;
use std::sync::Arc;

use super::columns::index;

/// A text of each job, of which those that are equal are kept once.
#[derive(Debug, Default)]
pub(super) struct Texts {
    numbers: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    column: Vec<u32>,
}

impl Texts {
    pub(super) fn push(&mut self, text: &str) {
        let number = self.number(text);
        self.column.push(number);
    }

    pub(super) fn set(&mut self, job: usize, text: &str) {
        self.column[job] = self.number(text);
    }

    /// The text of a job.
    pub(super) fn at(&self, job: usize) -> &str {
        &self.texts[self.column[job] as usize]
    }

    /// Leaves in `kept` the jobs whose text passes.
    pub(super) fn keep(&self, kept: &mut [bool], test: impl Fn(&str) -> bool) {
        let passes = self.tested(test);
        for (kept, number) in kept.iter_mut().zip(&self.column) {
            *kept &= passes[*number as usize];
        }
    }

    /// Adds to `found` the jobs whose text passes.
    pub(super) fn find(&self, found: &mut [bool], test: impl Fn(&str) -> bool) {
        let passes = self.tested(test);
        if passes.contains(&true) {
            for (found, number) in found.iter_mut().zip(&self.column) {
                *found |= passes[*number as usize];
            }
        }
    }

    /// How many of the jobs of `kept` have each text.
    pub(super) fn count(&self, kept: &[bool]) -> Vec<(String, u64)> {
        let mut counts = vec![0; self.texts.len()];
        for (kept, number) in kept.iter().zip(&self.column) {
            counts[*number as usize] += u64::from(*kept);
        }
        self.texts.iter().map(ToString::to_string).zip(counts).collect()
    }

    fn tested(&self, test: impl Fn(&str) -> bool) -> Vec<bool> {
        self.texts.iter().map(|text| test(text)).collect()
    }

    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let (number, text) = (index(self.texts.len()), Arc::<str>::from(text));
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }
}
