//! Sorting of many names by their bytes.

/// A key for sorting names: eight bytes of a name as a number, and the index of the name. The eight
/// bytes come after the start that all names have in common.
type Key = (u64, usize);

/// Smallest number of link or attribute names that are sorted with a radix sort.
const MIN_RADIX_NAMES: usize = 1 << 10;

/// Sorts items, such as links, by the bytes of their names. Items with equal names keep their
/// order.
///
/// Most names in one group have the same first bytes. The next eight bytes decide nearly every
/// comparison.
pub fn sort<T>(items: &mut [T], name: impl Fn(&T) -> &[u8]) {
    if items.is_sorted_by(|one, other| name(one) <= name(other)) {
        return;
    }
    let mut order = order(items.len(), |position| items.get(position).map_or(&[], &name));
    // Move each item to its position, and the item at that position to its own position.
    for start in 0..order.len() {
        let mut at = start;
        while let Some(position) = order.get_mut(at) {
            let from = std::mem::replace(position, at);
            if from == start || from >= items.len() {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

/// Returns the indexes of names in ascending order of the names' bytes. `name` returns the name
/// with an index from 0 to `count`.
pub(super) fn order<'n>(count: usize, name: impl Fn(usize) -> &'n [u8]) -> Vec<usize> {
    let first = if count == 0 { &[] } else { name(0) };
    let common =
        (1..count).fold(first.len(), |common, position| common_length(first, name(position), common));
    let mut keys: Vec<Key> = (0..count).map(|position| (head(name(position), common), position)).collect();
    let full = |(head, position): &Key, (other_head, other): &Key| {
        head.cmp(other_head).then_with(|| name(*position).cmp(name(*other))).then_with(|| position.cmp(other))
    };
    if count < MIN_RADIX_NAMES {
        keys.sort_unstable_by(full);
    } else {
        sort_by_heads(&mut keys);
        let equal = keys.chunk_by_mut(|(head, _), (other, _)| head == other);
        equal.filter(|equal| equal.len() > 1).for_each(|equal| equal.sort_unstable_by(full));
    }
    keys.into_iter().map(|(_, position)| position).collect()
}

/// Sorts the keys of names by their heads, which are eight bytes of each name, with a stable radix
/// sort. The sort begins with the last byte in which the keys differ and ends with the first one.
fn sort_by_heads(keys: &mut Vec<Key>) {
    let Some((first, _)) = keys.first().copied() else { return };
    let differing = keys.iter().fold(0, |differing, (head, _)| differing | (head ^ first));
    let mut other = vec![(0, 0); keys.len()];
    for shift in (0..u64::BITS).step_by(8).filter(|shift| (differing >> shift) & 0xff != 0) {
        let digit = |head: u64| {
            let [lowest, ..] = (head >> shift).to_le_bytes();
            usize::from(lowest)
        };
        // The counts of all digits add up to the number of keys.
        let mut starts = [0_usize; 256];
        for (head, _) in &*keys {
            if let Some(count) = starts.get_mut(digit(*head)) {
                *count += 1;
            }
        }
        let mut before = 0_usize;
        for start in &mut starts {
            let count = std::mem::replace(start, before);
            before += count;
        }
        for key in &*keys {
            if let Some(start) = starts.get_mut(digit(key.0))
                && let Some(to) = other.get_mut(*start)
            {
                *to = *key;
                *start += 1;
            }
        }
        std::mem::swap(keys, &mut other);
    }
}

/// Returns the number of equal bytes at the start of the two names, at most `maximum`.
fn common_length(one: &[u8], other: &[u8], maximum: usize) -> usize {
    one.iter().zip(other).take(maximum).take_while(|(one, other)| one == other).count()
}

/// Returns eight bytes of a name, from `start` on, as a big-endian number. The numbers of two names
/// are in the order of these bytes. If the name is too short, the missing bytes are zero.
fn head(name: &[u8], start: usize) -> u64 {
    let mut bytes = name.iter().skip(start);
    (0..8).fold(0, |head, _| head << 8 | u64::from(bytes.next().copied().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(names: Vec<Vec<u8>>) {
        let mut numbered: Vec<(Vec<u8>, usize)> = names.into_iter().zip(0..).collect();
        let mut expected = numbered.clone();
        expected.sort();
        sort(&mut numbered, |(name, _)| name);
        assert!(numbered == expected);
    }

    proptest! {
        #[test]
        fn names_are_sorted_as_bytes_are(
            start in "[a-c\0]{0,3}",
            ends in prop::collection::vec("[a\0]{0,12}", 0..40),
        ) {
            check(ends.iter().map(|end| format!("{start}{end}").into_bytes()).collect());
        }
    }

    #[test]
    fn many_names_are_sorted_as_bytes_are() {
        let number = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        check((0..5000).map(|at| format!("link {}", number(at)).into_bytes()).collect());
        // Equal heads, heads that end in zeros, and equal names.
        check((0..5000).map(|at| vec![b'a'; usize::try_from(number(at) % 30).unwrap()]).collect());
        check((0..5000).map(|at| vec![0; usize::try_from(number(at) % 5).unwrap()]).collect());
    }
}
