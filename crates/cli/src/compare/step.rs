//! The merge of two sorted lists, which pairs equal items and finds the items that only one list
//! has.

use std::cmp::Ordering;

/// One or two equal items during the merge of two sorted lists: an item of only one list, or the
/// equal items of both lists.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Side<'a, T> {
    /// An item of the first list only.
    One(&'a T),
    /// An item of the second list only.
    Other(&'a T),
    /// Equal items of both lists.
    Both(&'a T, &'a T),
}

impl<'a, T> Side<'a, T> {
    /// Returns two flags for an item of two merged lists: the first list has the item, and the
    /// second list has the item.
    pub(crate) fn presence(&self) -> (bool, bool) {
        (!matches!(self, Self::Other(_)), !matches!(self, Self::One(_)))
    }

    /// Returns the item of two merged lists. If both lists have the item, returns the item of the
    /// first list.
    pub(crate) fn any(&self) -> &'a T {
        match self {
            Self::One(item) | Self::Other(item) | Self::Both(item, _) => item,
        }
    }
}

/// Merges two sorted lists into pairs of equal items and single items, in ascending order.
pub(crate) fn in_step<'a, T>(
    one: &'a [T],
    other: &'a [T],
    order: impl Fn(&T, &T) -> Ordering,
) -> Vec<Side<'a, T>> {
    let (mut ones, mut others) = (one.iter().peekable(), other.iter().peekable());
    let mut sides = Vec::new();
    loop {
        let order = match (ones.peek(), others.peek()) {
            (Some(one), Some(other)) => order(one, other),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let one = if order.is_le() { ones.next() } else { None };
        let other = if order.is_ge() { others.next() } else { None };
        sides.push(match (one, other) {
            (Some(one), Some(other)) => Side::Both(one, other),
            (Some(one), None) => Side::One(one),
            (None, Some(other)) => Side::Other(other),
            (None, None) => return sides,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_become_one_side() {
        let sides = in_step(&[1, 2, 4], &[2, 3], Ord::cmp);
        assert_eq!(sides, [Side::One(&1), Side::Both(&2, &2), Side::Other(&3), Side::One(&4)]);
    }
}
