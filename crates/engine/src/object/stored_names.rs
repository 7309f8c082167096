//! A set of the names in the storage of an object, which spares most searches for new names.

use super::deferred::Deferred;

/// Bits of a filter for each expected name, and the most names for which a filter has enough bits:
/// one for each of this number of bits.
const BITS_PER_NAME: usize = 32;
const MIN_BITS_PER_NAME: usize = 8;

/// Limit in bits of a filter: 8 MiB. A larger number of names makes the filter less useful.
const MAX_BITS: usize = 1 << 26;

/// The smallest number of deferred names after which an unknown set is worth reading, and the
/// largest number of stored names for each deferred name. Reading a name takes much less time than
/// a search.
const MIN_DEFERRED: usize = 1 << 7;
const STORED_PER_DEFERRED: u64 = 64;

/// The names of links or attributes in a symbol table or in dense storage.
#[derive(Debug)]
pub(super) enum StoredNames {
    /// There are no names.
    None,
    /// Each name may be stored.
    Unknown,
    /// Each name whose hash passes the filter may be stored.
    Filtered(Filter),
}

/// A Bloom filter of the hashes of names. A hash sets three bits of one word.
#[derive(Debug)]
pub(super) struct Filter {
    words: Vec<u64>,
    /// Number of added hashes.
    count: usize,
}

impl StoredNames {
    /// Returns whether the storage may contain a name with the hash `hash`.
    pub(super) fn may_contain(&self, hash: impl FnOnce() -> u32) -> bool {
        match self {
            Self::None => false,
            Self::Unknown => true,
            Self::Filtered(filter) => filter.may_contain(hash()),
        }
    }

    /// Adds the names of deferred links or attributes, which are now in the storage.
    pub(super) fn add(&mut self, deferred: &Deferred) {
        if matches!(self, Self::None) {
            *self = Self::Filtered(Filter::for_names(deferred.messages().len()));
        }
        let Self::Filtered(filter) = self else { return };
        deferred.messages().iter().for_each(|message| filter.add(message.hash));
        if filter.is_too_full() {
            *self = Self::Unknown;
        }
    }

    /// Returns whether the caller should read the names of the storage and call
    /// [`learn`](Self::learn), because it has deferred many names. `count` returns the approximate
    /// number of stored names.
    pub(super) fn is_worth_learning<E>(
        &self,
        deferred: &Deferred,
        count: impl FnOnce() -> Result<u64, E>,
    ) -> Result<bool, E> {
        let number = deferred.messages().len();
        if !matches!(self, Self::Unknown) || number < MIN_DEFERRED || !number.is_power_of_two() {
            return Ok(false);
        }
        Ok(count()?.div_ceil(STORED_PER_DEFERRED) <= hyperslab_exact::to_u64(number))
    }

    /// Replaces an unknown set by the set of the hashes of all stored names.
    pub(super) fn learn(&mut self, hashes: &[u32]) {
        let mut filter = Filter::for_names(hashes.len());
        hashes.iter().for_each(|hash| filter.add(*hash));
        *self = Self::Filtered(filter);
    }

    /// Returns the bytes of memory of the set.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::None | Self::Unknown => 0,
            Self::Filtered(filter) => size_of_val(filter.words.as_slice()),
        }
    }
}

impl Filter {
    /// Returns an empty filter with enough bits for some multiple of the given number of names.
    fn for_names(count: usize) -> Self {
        // The number of names is at most that of bytes in memory, so the check never fails.
        let bits = count.max(1).checked_mul(BITS_PER_NAME).map_or(MAX_BITS, |bits| bits.min(MAX_BITS));
        Self { words: vec![0; bits.next_power_of_two().div_ceil(64)], count: 0 }
    }

    fn add(&mut self, hash: u32) {
        let (word, bits) = self.place(hash);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bits;
        }
        // A process does not add 2^64 names.
        self.count += 1;
    }

    fn may_contain(&self, hash: u32) -> bool {
        let (word, bits) = self.place(hash);
        self.words.get(word).is_some_and(|word| word & bits == bits)
    }

    /// Returns whether a larger filter would be much better.
    fn is_too_full(&self) -> bool {
        let bits = self.words.len() * 64;
        bits < MAX_BITS && self.count > bits / MIN_BITS_PER_NAME
    }

    /// Returns the index of a hash's word, and its bits in this word.
    fn place(&self, hash: u32) -> (usize, u64) {
        let mixed = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = 1 << (mixed & 63) | 1 << (mixed >> 6 & 63) | 1 << (mixed >> 12 & 63);
        // The upper 24 bits depend on all bits of the hash. The number of words is a power of two
        // of at most 2^20, so that the mask makes the index small enough.
        let [.., low, middle, high] = mixed.to_le_bytes();
        let upper = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        (upper & (self.words.len() - 1), bits)
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::codec::checksum;
    use hyperslab_format::message::MessageFlags;

    use super::*;

    fn deferred(numbers: std::ops::Range<u64>) -> Deferred {
        let mut deferred = Deferred::default();
        for number in numbers {
            deferred.push(&name(number), b"body", MessageFlags::empty(), number, None);
        }
        deferred
    }

    fn name(number: u64) -> Vec<u8> {
        format!("name {number}").into_bytes()
    }

    fn passes(names: &StoredNames, number: u64) -> bool {
        names.may_contain(|| checksum(&name(number)))
    }

    #[test]
    fn stored_names_pass_and_few_others() {
        let mut names = StoredNames::None;
        assert!(!passes(&names, 0));
        names.add(&deferred(0..5000));
        names.add(&deferred(5000..9000));
        assert!((0..9000).all(|number| passes(&names, number)));
        let others = (9000..109_000).filter(|number| passes(&names, *number)).count();
        assert!(others < 3000, "{others}");
    }

    #[test]
    fn a_full_filter_is_replaced_when_many_names_are_deferred() {
        let mut names = StoredNames::None;
        names.add(&deferred(0..1000));
        names.add(&deferred(1000..9000));
        assert!(matches!(names, StoredNames::Unknown));
        assert!(passes(&names, 1 << 40));
        let worth = |deferred: &Deferred, count| names.is_worth_learning(deferred, || Ok::<_, ()>(count));
        assert_eq!(worth(&deferred(0..64), 1), Ok(false));
        assert_eq!(worth(&deferred(0..128), 1 << 13), Ok(true));
        assert_eq!(worth(&deferred(0..128), (1 << 13) + 1), Ok(false));
        assert_eq!(worth(&deferred(0..129), 1), Ok(false));
        names.learn(&(0..9000).map(|number| checksum(&name(number))).collect::<Vec<u32>>());
        assert!((0..9000).all(|number| passes(&names, number)));
        assert!((9000..10_000).filter(|number| passes(&names, *number)).count() < 100);
        assert_eq!(worth_after(&names), Ok(false));
    }

    fn worth_after(names: &StoredNames) -> Result<bool, ()> {
        names.is_worth_learning(&deferred(0..1024), || Ok(1))
    }

    #[test]
    fn the_memory_of_a_filter_is_limited() {
        let filter = Filter::for_names(usize::MAX);
        assert_eq!(filter.words.len() * 64, MAX_BITS);
        assert!(!filter.is_too_full());
        assert_eq!(Filter::for_names(0).words.len(), 1);
    }
}
