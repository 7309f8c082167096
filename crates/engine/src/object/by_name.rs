//! Many names in the order of their bytes.

/// What decides nearly every comparison of a name with others, and the place of the name.
type Key = (u64, usize);

/// So many names and more are sorted byte by byte of their keys.
const MANY: usize = 1 << 10;

/// Puts what has names into the order of their bytes, equal ones as they came.
///
/// Names in one group mostly begin alike; the eight bytes behind that decide nearly every comparison.
pub fn sort<T>(items: &mut [T], name: impl Fn(&T) -> &[u8]) {
    if items.is_sorted_by(|one, other| name(one) <= name(other)) {
        return;
    }
    let mut order = order(items.len(), |place| items.get(place).map_or(&[], &name));
    // Each goes to its place, and the one that was there on to its own.
    for start in 0..order.len() {
        let mut at = start;
        while let Some(place) = order.get_mut(at) {
            let from = std::mem::replace(place, at);
            if from == start || from >= items.len() {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

/// The places of the names that `name` tells for 0 to `count` in ascending order of their bytes.
pub(super) fn order<'n>(count: usize, name: impl Fn(usize) -> &'n [u8]) -> Vec<usize> {
    let first = if count == 0 { &[] } else { name(0) };
    let common = (1..count).fold(first.len(), |common, place| common_length(first, name(place), common));
    let mut keys: Vec<Key> = (0..count).map(|place| (head(name(place), common), place)).collect();
    let full = |(head, place): &Key, (other_head, other): &Key| {
        head.cmp(other_head).then_with(|| name(*place).cmp(name(*other))).then_with(|| place.cmp(other))
    };
    if count < MANY {
        keys.sort_unstable_by(full);
    } else {
        sort_by_heads(&mut keys);
        let alike = keys.chunk_by_mut(|(head, _), (other, _)| head == other);
        alike.filter(|alike| alike.len() > 1).for_each(|alike| alike.sort_unstable_by(full));
    }
    keys.into_iter().map(|(_, place)| place).collect()
}

/// From the last byte that differs to the first, each time keeping what was in order.
fn sort_by_heads(keys: &mut Vec<Key>) {
    let Some((first, _)) = keys.first().copied() else { return };
    let differing = keys.iter().fold(0, |differing, (head, _)| differing | (head ^ first));
    let mut other = vec![(0, 0); keys.len()];
    for shift in (0..u64::BITS).step_by(8).filter(|shift| (differing >> shift) & 0xff != 0) {
        let digit = |head: u64| usize::try_from((head >> shift) & 0xff).unwrap_or(0);
        let mut starts = [0_usize; 256];
        for (head, _) in &*keys {
            if let Some(count) = starts.get_mut(digit(*head)) {
                *count = count.saturating_add(1);
            }
        }
        let mut before = 0_usize;
        for start in &mut starts {
            let count = std::mem::replace(start, before);
            before = before.saturating_add(count);
        }
        for key in &*keys {
            if let Some(start) = starts.get_mut(digit(key.0))
                && let Some(to) = other.get_mut(*start)
            {
                *to = *key;
                *start = start.saturating_add(1);
            }
        }
        std::mem::swap(keys, &mut other);
    }
}

/// How many bytes both begin with, of the first `most`.
fn common_length(one: &[u8], other: &[u8], most: usize) -> usize {
    one.iter().zip(other).take(most).take_while(|(one, other)| one == other).count()
}

/// The eight bytes from `start` on as a number that lies to others as the bytes do, but where one ends.
fn head(name: &[u8], start: usize) -> u64 {
    let mut bytes = name.get(start..).unwrap_or_default().iter();
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
        // Heads that are all the same, some ended by zeros, and names that come twice.
        check((0..5000).map(|at| vec![b'a'; usize::try_from(number(at) % 30).unwrap()]).collect());
        check((0..5000).map(|at| vec![0; usize::try_from(number(at) % 5).unwrap()]).collect());
    }
}
