//! Which GPUs of a node a task gets. A set of GPUs is a bit mask over their positions in the node's
//! list; a node gives at most its first 128.

/// GPUs of one node, or GPU types of the cluster, as bits.
pub(crate) type Bits = u128;

/// As many as fit into [`Bits`].
pub(crate) const MOST: usize = 128;

/// Takes `count` of the GPUs in `free` so that larger aligned groups stay whole: from the smallest
/// aligned block (1, 2, 4, 8, … positions, as NVLink pairs and NUMA halves are counted) that still
/// has enough, and among equals from the one with the fewest free.
///
/// `None` when fewer than `count` are free.
pub(crate) fn choose(free: Bits, count: u32) -> Option<Bits> {
    if count == 0 {
        return Some(0);
    }
    if free.count_ones() < count {
        return None;
    }
    let mut size = count.next_power_of_two();
    while size < 128 {
        let best = blocks(size)
            .map(|block| free & block)
            .filter(|held| held.count_ones() >= count)
            .min_by_key(|held| held.count_ones());
        if let Some(held) = best {
            return Some(lowest(held, count));
        }
        size *= 2;
    }
    Some(lowest(free, count))
}

/// Whether no aligned group of the size that `count` needs has so many free: they would lie apart.
pub(crate) fn is_apart(free: Bits, count: u32) -> bool {
    let size = count.next_power_of_two();
    size < 128 && !blocks(size).any(|block| (free & block).count_ones() >= count)
}

/// The `count` lowest bits of `bits`; all of them when there are not so many.
pub(crate) fn lowest(bits: Bits, count: u32) -> Bits {
    let mut rest = bits;
    for _ in 0..count {
        rest &= rest.wrapping_sub(1);
    }
    bits & !rest
}

/// The positions of the bits, ascending.
pub(crate) fn positions(mut bits: Bits) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let position = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            position
        })
    })
}

/// The aligned blocks of `size` positions, `size` below 128.
fn blocks(size: u32) -> impl Iterator<Item = Bits> {
    (0..128 / size).map(move |block| ((1 << size) - 1) << (block * size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_larger_groups_whole() {
        // free, count, chosen
        let cases: [(Bits, u32, Bits); 7] = [
            (0b1111_1111, 1, 0b0000_0001),
            (0b1111_1110, 1, 0b0000_0010),
            (0b1111_1101, 2, 0b0000_1100),
            (0b1111_0011, 2, 0b0000_0011),
            (0b0110_1111, 4, 0b0000_1111),
            (0b0110_0110, 3, 0b0010_0110),
            (0b1000_0001, 2, 0b1000_0001),
        ];
        for (free, count, chosen) in cases {
            assert_eq!(choose(free, count), Some(chosen), "{count} of {free:b}");
        }
        assert_eq!(choose(0b101, 3), None);
        assert_eq!(choose(Bits::MAX, 128), Some(Bits::MAX));
        assert_eq!(choose(0, 0), Some(0));
    }

    #[test]
    fn positions_are_those_of_the_bits() {
        assert_eq!(positions(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
    }
}
