//! Arrows back. In each folder its files and folders stand side by side, a file with the folder of its
//! name as one, and the file of the folder itself among them. In whatever order they are put, from the
//! ground up, some arrows lead back up where there are circles: here are the fewest.

use std::collections::{BTreeMap, BTreeSet};

use crate::{circles, tied};

/// What a folder's own file is called among what stands in the folder.
const OWN: &str = "itself";

/// Larger circles are not ordered in a moment, and should not be there at all.
const LARGEST: usize = 16;

/// The arrows back in a folder.
#[derive(Debug)]
pub(crate) struct Back {
    /// Nothing for the root of a crate.
    pub(crate) folder: String,
    pub(crate) count: usize,
    /// All arrows of the circles there, for people to read.
    pub(crate) tied: String,
}

/// The folders of a crate in which arrows lead back.
pub(crate) fn arrows_back(arrows: &BTreeMap<&str, BTreeSet<String>>) -> Vec<Back> {
    let mut folders = BTreeSet::from([""]);
    for file in arrows.keys().copied() {
        folders.extend(file.match_indices('/').map(move |(at, _)| &file[..at]));
    }
    let mut found = Vec::new();
    for folder in folders {
        let drawn = side_by_side(arrows, folder);
        let circles = circles(&drawn);
        if !circles.is_empty() {
            let count = circles.iter().map(|circle| fewest(&drawn, circle)).sum();
            let tied = circles.iter().map(|circle| tied(&drawn, circle)).collect::<Vec<_>>();
            found.push(Back { folder: folder.to_owned(), count, tied: tied.join("\n") });
        }
    }
    found
}

/// The arrows between what stands side by side in a folder.
fn side_by_side<'a>(
    arrows: &BTreeMap<&'a str, BTreeSet<String>>,
    folder: &str,
) -> BTreeMap<&'a str, BTreeSet<String>> {
    let mut drawn: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (file, others) in arrows {
        let Some(from) = beside(folder, file) else { continue };
        let others = others.iter().filter_map(|other| beside(folder, other));
        let others = others.filter(|to| *to != from).map(str::to_owned);
        drawn.entry(from).or_default().extend(others);
    }
    drawn
}

/// What a file belongs to, of all that stands side by side in a folder. `None`: it is elsewhere.
fn beside<'a>(folder: &str, file: &'a str) -> Option<&'a str> {
    if folder.is_empty() {
        return file.split('/').next();
    }
    match file.strip_prefix(folder)? {
        "" => Some(OWN),
        within => within.strip_prefix('/')?.split('/').next(),
    }
}

/// The fewest arrows back of a circle, of all orders of what is in it.
fn fewest(arrows: &BTreeMap<&str, BTreeSet<String>>, circle: &BTreeSet<&str>) -> usize {
    assert!(circle.len() <= LARGEST, "a circle of {}: {circle:?}", circle.len());
    let uses = circle.iter().map(|from| {
        let to = |(at, to): (usize, &&str)| usize::from(arrows[from].contains(*to)) << at;
        circle.iter().enumerate().map(to).sum::<usize>()
    });
    let uses: Vec<usize> = uses.collect();
    // For each set of them at the bottom, as bits, the fewest that lead from it to what is above.
    let mut fewest = vec![usize::MAX; 1 << uses.len()];
    fewest[0] = 0;
    for bottom in 0..fewest.len() {
        let so_far = fewest[bottom];
        for (at, uses) in uses.iter().enumerate() {
            let next = bottom | (1_usize << at);
            if next != bottom {
                let back = (uses & !next).count_ones() as usize;
                fewest[next] = fewest[next].min(so_far + back);
            }
        }
    }
    fewest.last().copied().unwrap_or_default()
}
