//! Free sections by their length: lists of sections of about the same length, and which of the lists hold any.

/// No section: the end of a list.
pub(super) const NONE: u32 = u32::MAX;

/// Below this length each length has a list of its own.
const EXACT: u64 = 1024;

/// Above it, each power of two is cut into so many lists.
const STEPS: u64 = 64;

/// Lists for all lengths of 64 bits.
const LISTS: usize = 1024 + 54 * 64;

/// Where a list begins, for each list.
#[derive(Debug)]
pub(super) struct Bins {
    heads: Vec<u32>,
    /// A bit for each list that is not empty.
    filled: [u64; LISTS / 64],
    /// A bit for each word of `filled` that is not 0.
    words: [u64; 2],
}

/// The list of sections of that length.
pub(super) fn list_of(length: u64) -> usize {
    let list = if length < EXACT {
        length
    } else {
        let power = u64::from(length.ilog2());
        let step = (length >> (power - 6)) & (STEPS - 1);
        EXACT + (power - 10) * STEPS + step
    };
    usize::try_from(list).map_or(LISTS - 1, |list| list.min(LISTS - 1))
}

/// Returns whether every section of the list of `length` is as long at least.
pub(super) fn all_fit(length: u64) -> bool {
    length < EXACT || length.trailing_zeros() >= length.ilog2() - 6
}

impl Bins {
    pub(super) fn new() -> Self {
        Self { heads: vec![NONE; LISTS], filled: [0; LISTS / 64], words: [0; 2] }
    }

    /// The first section of a list.
    pub(super) fn head(&self, list: usize) -> u32 {
        self.heads.get(list).copied().unwrap_or(NONE)
    }

    /// Lets a list begin with that section, or be empty.
    pub(super) fn set_head(&mut self, list: usize, section: u32) {
        if let Some(head) = self.heads.get_mut(list) {
            *head = section;
        }
        let word = list / 64;
        if let Some(bits) = self.filled.get_mut(word) {
            set_bit(bits, list % 64, section != NONE);
            let any = *bits != 0;
            if let Some(words) = self.words.get_mut(word / 64) {
                set_bit(words, word % 64, any);
            }
        }
    }

    /// The first list that is not empty, from `list` on.
    pub(super) fn next_filled(&self, list: usize) -> Option<usize> {
        if let Some(bit) = first_bit(*self.filled.get(list / 64)?, list % 64) {
            return Some(list / 64 * 64 + bit);
        }
        let word = list / 64 + 1;
        let word = match first_bit(*self.words.get(word / 64)?, word % 64) {
            Some(bit) => word / 64 * 64 + bit,
            None => (word / 64 + 1) * 64 + first_bit(*self.words.get(word / 64 + 1)?, 0)?,
        };
        Some(word * 64 + first_bit(*self.filled.get(word)?, 0)?)
    }
}

fn set_bit(bits: &mut u64, bit: usize, on: bool) {
    let mask = 1_u64 << (bit % 64);
    *bits = if on { *bits | mask } else { *bits & !mask };
}

/// The lowest bit that is set, from `from` on.
fn first_bit(bits: u64, from: usize) -> Option<usize> {
    let rest = bits & (u64::MAX << (from % 64));
    (rest != 0).then(|| rest.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn longer_sections_have_later_lists(a in lengths(), b in lengths()) {
            let (a, b) = (a.min(b), a.max(b));
            prop_assert!(list_of(a) <= list_of(b));
            prop_assert!(list_of(b) < LISTS);
            if all_fit(b) {
                prop_assert!(a == b || list_of(a) < list_of(b));
            }
        }

        #[test]
        fn the_next_list_is_found(filled in prop::collection::btree_set(0..LISTS, 0..20), from in 0..LISTS) {
            let mut bins = Bins::new();
            for list in 0..LISTS {
                bins.set_head(list, 7);
                bins.set_head(list, if filled.contains(&list) { 1 } else { NONE });
            }
            prop_assert_eq!(bins.next_filled(from), filled.range(from..).next().copied());
        }
    }

    fn lengths() -> impl Strategy<Value = u64> {
        (0_u32..64, any::<u64>()).prop_map(|(shift, value)| value >> shift)
    }
}
