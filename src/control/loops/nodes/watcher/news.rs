//! What is other on a node than at the last look.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use engine::Container;
use protocol::ids::TaskKey;

use crate::known::cluster::{Contact, Observation};

/// The containers of the last look; `None`: there was none since the engine answers.
pub(super) fn known(
    last: Option<&Observation>,
    since: &Arc<Contact>,
) -> Option<Arc<HashMap<TaskKey, Container>>> {
    match last? {
        Observation::Answers { containers, contact, .. } => {
            Arc::ptr_eq(contact, since).then(|| Arc::clone(containers))
        }
        Observation::Silent => None,
    }
}

/// How many containers are there, gone, or do something else than before.
pub(super) fn count<K: Eq + Hash, C: PartialEq>(
    before: &HashMap<K, C>,
    after: &HashMap<K, C>,
) -> usize {
    let (mut same, mut other) = (0, 0);
    for (key, container) in after {
        match before.get(key) {
            Some(known) if known == container => same += 1,
            Some(_) => other += 1,
            None => {}
        }
    }
    // What is on one side alone is there or gone.
    (after.len() - same - other) + (before.len() - same - other) + other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_gone_or_other_than_before_is_counted() {
        let some = |pairs: &[(u32, char)]| pairs.iter().copied().collect::<HashMap<_, _>>();
        let before = some(&[(1, 'a'), (2, 'b'), (3, 'c')]);
        for (after, expected) in [
            (before.clone(), 0),
            (some(&[(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')]), 1),
            (some(&[(1, 'a'), (2, 'b')]), 1),
            (some(&[(1, 'a'), (2, 'x'), (3, 'c')]), 1),
            (some(&[(1, 'x'), (4, 'd')]), 4),
            (some(&[]), 3),
        ] {
            assert_eq!(count(&before, &after), expected, "{after:?}");
        }
    }
}
