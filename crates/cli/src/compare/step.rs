//! Two lists side by side.

use std::cmp::Ordering;

/// An item of one list, of the other, or the two that are the same in both.
pub(crate) type Side<'a, T> = (Option<&'a T>, Option<&'a T>);

/// Two lists in step; both are in ascending order.
pub(crate) fn in_step<'a, T>(
    one: &'a [T],
    other: &'a [T],
    order: impl Fn(&T, &T) -> Ordering,
) -> Vec<Side<'a, T>> {
    let (mut ones, mut others) = (one.iter().peekable(), other.iter().peekable());
    let mut sides = Vec::new();
    loop {
        let order = match (ones.peek(), others.peek()) {
            (None, None) => return sides,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => order(one, other),
        };
        let one = if order.is_le() { ones.next() } else { None };
        let other = if order.is_ge() { others.next() } else { None };
        sides.push((one, other));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_both_comes_once() {
        let sides = in_step(&[1, 2, 4], &[2, 3], Ord::cmp);
        assert_eq!(sides, [(Some(&1), None), (Some(&2), Some(&2)), (None, Some(&3)), (Some(&4), None)]);
    }
}
