//! Free sections by their length, in lists of sections of similar lengths.

/// The number at the end of a list of free sections. It stands in place of the number of a next
/// free section.
pub(super) const NO_SECTION: u32 = u32::MAX;

/// The largest length of a free section of the file up to which each length has its own list of
/// free sections.
const MAX_EXACT_LENGTH: u64 = 1024;

/// The number of lists of free sections for each power of two from `MAX_EXACT_LENGTH` on.
const LISTS_PER_POWER: u64 = 64;

/// The number of lists of free sections that cover all section lengths of 64 bits.
const LIST_COUNT: usize = 1024 + 54 * 64;

/// The number of the last list of free sections.
pub(super) const LAST_LIST: usize = LIST_COUNT - 1;

/// The lists of the file's free sections by length: the first free section of each list.
#[derive(Debug)]
pub(super) struct Bins {
    heads: Vec<u32>,
    /// One bit for each list, set if the list is not empty.
    filled: [u64; LIST_COUNT / 64],
    /// One bit for each word of `filled`, set if the word is not 0.
    words: [u64; 2],
}

/// Returns the number of the list for free sections of the length `length`.
pub(super) fn list_of(length: u64) -> usize {
    let list = if length < MAX_EXACT_LENGTH {
        length
    } else {
        let power = u64::from(length.ilog2());
        let step = (length >> (power - 6)) & (LISTS_PER_POWER - 1);
        MAX_EXACT_LENGTH + (power - 10) * LISTS_PER_POWER + step
    };
    usize::try_from(list).map_or(LAST_LIST, |list| list.min(LAST_LIST))
}

/// Returns whether every free section in the list for the length `length` is at least `length`
/// bytes long.
pub(super) fn all_fit(length: u64) -> bool {
    length < MAX_EXACT_LENGTH || length.trailing_zeros() >= length.ilog2() - 6
}

impl Bins {
    pub(super) fn new() -> Self {
        Self { heads: vec![NO_SECTION; LIST_COUNT], filled: [0; LIST_COUNT / 64], words: [0; 2] }
    }

    /// Returns the number of the first free section of a list of free sections.
    pub(super) fn head(&self, list: usize) -> u32 {
        self.heads.get(list).copied().unwrap_or(NO_SECTION)
    }

    /// Sets the first free section of a list of free sections. `NO_SECTION` makes the list empty.
    pub(super) fn set_head(&mut self, list: usize, section: u32) {
        if let Some(head) = self.heads.get_mut(list) {
            *head = section;
        }
        let word = list / 64;
        if let Some(bits) = self.filled.get_mut(word) {
            set_bit(bits, list % 64, section != NO_SECTION);
            let any = *bits != 0;
            if let Some(words) = self.words.get_mut(word / 64) {
                set_bit(words, word % 64, any);
            }
        }
    }

    /// Returns the number of the first list of free sections that is not empty. The search begins
    /// with the list `list`.
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

/// Returns the index of the lowest bit of `bits` that is set. The search begins with the bit
/// `from`.
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
            prop_assert!(list_of(b) < LIST_COUNT);
            if all_fit(b) {
                prop_assert!(a == b || list_of(a) < list_of(b));
            }
        }

        #[test]
        fn the_next_list_is_found(filled in prop::collection::btree_set(0..LIST_COUNT, 0..20), from in 0..LIST_COUNT) {
            let mut bins = Bins::new();
            for list in 0..LIST_COUNT {
                bins.set_head(list, 7);
                bins.set_head(list, if filled.contains(&list) { 1 } else { NO_SECTION });
            }
            prop_assert_eq!(bins.next_filled(from), filled.range(from..).next().copied());
        }
    }

    fn lengths() -> impl Strategy<Value = u64> {
        (0_u32..64, any::<u64>()).prop_map(|(shift, value)| value >> shift)
    }
}
