//! The names of all jobs, in which parts of names are found.

use memchr::memmem::Finder;

/// Ends each name; no name has it.
const END: u8 = b'\n';

/// Names one after the other: a part of one is found by going through all of them at once.
#[derive(Debug, Default)]
pub(super) struct Names {
    written: Vec<u8>,
    /// The same in small letters.
    folded: Vec<u8>,
    /// Where each name ends, with its `END`.
    ends: Vec<usize>,
}

impl Names {
    pub(super) fn push(&mut self, name: &str) {
        let begin = self.folded.len();
        for names in [&mut self.written, &mut self.folded] {
            names.extend_from_slice(name.as_bytes());
            names.push(END);
        }
        self.folded[begin..].make_ascii_lowercase();
        self.ends.push(self.folded.len());
    }

    /// The name of a job, as it was written.
    pub(super) fn at(&self, job: usize) -> &[u8] {
        let begin = if job == 0 { 0 } else { self.ends[job - 1] };
        &self.written[begin..self.ends[job] - 1]
    }

    /// Adds to `found` the jobs whose names have a word in them, which is given in small letters.
    pub(super) fn find(&self, word: &str, found: &mut [bool]) {
        if word.is_empty() {
            found.fill(true);
            return;
        }
        if word.as_bytes().contains(&END) {
            return;
        }
        let finder = Finder::new(word);
        let (mut job, mut from) = (0, 0);
        while let Some(at) = finder.find(&self.folded[from..]) {
            while self.ends[job] <= from + at {
                job += 1;
            }
            found[job] = true;
            from = self.ends[job];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], word: &str) -> Vec<usize> {
        let mut all = Names::default();
        for name in names {
            all.push(name);
        }
        let mut found = vec![false; names.len()];
        all.find(word, &mut found);
        (0..names.len()).filter(|job| found[*job]).collect()
    }

    #[test]
    fn a_word_is_found_anywhere_in_a_name_and_not_across_two() {
        let names = ["Train-1", "a", "", "rain", "traintrain", "~x.Y_z"];
        assert_eq!(found(&names, "train"), [0, 4]);
        assert_eq!(found(&names, "rain"), [0, 3, 4]);
        assert_eq!(found(&names, "a"), [0, 1, 3, 4]);
        assert_eq!(found(&names, "~x.y_z"), [5]);
        assert_eq!(found(&names, "1a"), [0_usize; 0]);
        assert_eq!(found(&names, "1\na"), [0_usize; 0]);
        assert_eq!(found(&names, "训练"), [0_usize; 0]);
        assert_eq!(found(&names, ""), [0, 1, 2, 3, 4, 5]);
        assert_eq!(found(&[], "a"), [0_usize; 0]);
    }

    #[test]
    fn names_are_kept_as_they_were_written() {
        let mut names = Names::default();
        names.push("Train");
        names.push("B");
        assert_eq!((names.at(0), names.at(1)), (b"Train".as_slice(), b"B".as_slice()));
    }
}
