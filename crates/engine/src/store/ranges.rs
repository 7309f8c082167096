//! A set of addresses as ranges that do not touch.

use std::collections::BTreeMap;

use smallvec::SmallVec;

/// Ranges by their start: the end of each.
#[derive(Debug, Default)]
pub(in crate::store) struct Ranges(BTreeMap<u64, u64>);

/// Start and end of the ranges that were taken out at once: nearly always one.
pub(in crate::store) type Taken = SmallVec<[(u64, u64); 2]>;

impl Ranges {
    pub(in crate::store) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the addresses from `start` up to `end`.
    pub(in crate::store) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let (mut start, mut end) = (start, end);
        while let Some((&other, &other_end)) = self.0.range(..=end).next_back()
            && other_end >= start
        {
            self.0.remove(&other);
            start = start.min(other);
            end = end.max(other_end);
        }
        self.0.insert(start, end);
    }

    /// What is there of the addresses from `start` up to `end`, ascending.
    pub(in crate::store) fn within(&self, start: u64, end: u64) -> Taken {
        let first = self.0.range(..=start).next_back().map_or(start, |(first, _)| *first);
        let there = self.0.range(first..end.max(first)).map(|(from, to)| (start.max(*from), end.min(*to)));
        there.filter(|(from, to)| from < to).collect()
    }

    /// Takes the addresses from `start` up to `end` out. Returns which of them were there, ascending.
    pub(in crate::store) fn remove(&mut self, start: u64, end: u64) -> Taken {
        let mut taken = Taken::new();
        if start >= end {
            return taken;
        }
        while let Some((&other, &other_end)) = self.0.range(..end).next_back()
            && other_end > start
        {
            self.0.remove(&other);
            if other_end > end {
                self.0.insert(end, other_end);
            }
            taken.push((other.max(start), other_end.min(end)));
            if other < start {
                self.0.insert(other, start);
                break;
            }
        }
        taken.reverse();
        taken
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_a_set_of_addresses(steps in prop::collection::vec((any::<bool>(), 0_u64..60, 0_u64..20), 1..60)) {
            let (mut ranges, mut model) = (Ranges::default(), BTreeSet::new());
            for (add, start, length) in steps {
                let end = start + length;
                if add {
                    ranges.insert(start, end);
                    model.extend(start..end);
                } else {
                    let taken: Vec<u64> = ranges.remove(start, end).into_iter().flat_map(|(a, b)| a..b).collect();
                    let expected: Vec<u64> = model.range(start..end).copied().collect();
                    prop_assert_eq!(taken, expected);
                    model.retain(|address| !(start..end).contains(address));
                }
                let all: Vec<u64> = ranges.0.iter().flat_map(|(a, b)| *a..*b).collect();
                prop_assert_eq!(all, model.iter().copied().collect::<Vec<_>>());
                prop_assert!(ranges.0.iter().zip(ranges.0.iter().skip(1)).all(|(a, b)| a.1 < b.0));
            }
        }
    }
}
