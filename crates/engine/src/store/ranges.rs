//! A set of offsets or addresses, stored as ranges with gaps between them.

use std::collections::BTreeMap;

use smallvec::SmallVec;

/// A set of ranges of numbers that do not overlap. The set maps the start of each range to its end.
#[derive(Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

/// A list of ranges of numbers in ascending order, each with start and end. Nearly all lists have
/// one range.
pub(super) type RangeList = SmallVec<[(u64, u64); 2]>;

impl Ranges {
    /// Removes all ranges from the set of ranges.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the range from `start` up to `end` to the set of ranges.
    pub(super) fn insert(&mut self, start: u64, end: u64) {
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

    /// Returns the parts of the set of ranges between `start` and `end`, in ascending order.
    pub(super) fn within(&self, start: u64, end: u64) -> RangeList {
        let first = self.0.range(..=start).next_back().map_or(start, |(first, _)| *first);
        let ranges = self.0.range(first..end.max(first)).map(|(from, to)| (start.max(*from), end.min(*to)));
        ranges.filter(|(from, to)| from < to).collect()
    }

    /// Removes the range between `start` and `end` from the set of ranges. Returns the removed
    /// ranges in ascending order.
    pub(super) fn remove(&mut self, start: u64, end: u64) -> RangeList {
        let mut removed = RangeList::new();
        if start >= end {
            return removed;
        }
        while let Some((&other, &other_end)) = self.0.range(..end).next_back()
            && other_end > start
        {
            self.0.remove(&other);
            if other_end > end {
                self.0.insert(end, other_end);
            }
            removed.push((other.max(start), other_end.min(end)));
            if other < start {
                self.0.insert(other, start);
                break;
            }
        }
        removed.reverse();
        removed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_behave_as_a_set_of_addresses(steps in prop::collection::vec((any::<bool>(), 0_u64..60, 0_u64..20), 1..60)) {
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
