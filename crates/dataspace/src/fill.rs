//! Filling of buffers, and of boxes in arrays, with copies of one element.

use crate::copy::{Nest, Strides};
use crate::error::Result;
use crate::{BoxPosition, DataspaceError};

/// The largest number of bytes that `fill` copies at once from the elements that are already
/// filled. These bytes fit in the processor's first-level cache.
const MAX_PATTERN_BYTES: usize = 16 << 10;

/// Fills a buffer with copies of an element. The last copy is cut at the end of the buffer. An
/// element of no bytes changes nothing.
///
/// ```
/// let mut buffer = [0; 8];
/// hyperslab_dataspace::fill(&mut buffer, b"abc");
/// assert_eq!(&buffer, b"abcabcab");
/// ```
pub fn fill(buffer: &mut [u8], element: &[u8]) {
    let Some(first) = element.first() else { return };
    if element.iter().all(|byte| byte == first) {
        buffer.fill(*first);
        return;
    }
    let mut filled = element.len().min(buffer.len());
    buffer.iter_mut().zip(element).for_each(|(to, from)| *to = *from);
    let max_bytes = (MAX_PATTERN_BYTES / element.len()).max(1) * element.len();
    while filled < buffer.len() {
        let count = filled.min(max_bytes).min(buffer.len() - filled);
        buffer.copy_within(..count, filled);
        filled += count;
    }
}

/// Fills a box of the shape `count` in the C-order array `dst` with copies of `element`.
///
/// # Errors
/// The errors of [`copy_box`](crate::copy_box). On an error the array is unchanged.
pub fn fill_box(dst: &mut [u8], to: BoxPosition<'_>, count: &[u64], element: &[u8]) -> Result<()> {
    let Some(target) = Strides::new("the target", to, count, element.len(), dst.len())? else {
        return Ok(());
    };
    let nest = Nest::new(count, element.len(), &target, &target)?;
    let base = target.base;
    let run = base..base + nest.run;
    let first = dst.get_mut(run.clone()).ok_or(DataspaceError::Overflow { subject: "end of a box" })?;
    fill(first, element);
    nest.for_each_plane(base, base, |_, plane, rows| {
        for row in 0..rows.count {
            // `Strides::new` checked the bounds: no run ends beyond the box.
            let at = plane + row * rows.dst;
            if at != run.start && at.checked_add(nest.run).is_some_and(|end| end <= dst.len()) {
                dst.copy_within(run.clone(), at);
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buffers_are_filled(length in 0..70_000_usize, element in proptest::collection::vec(0..2_u8, 0..20)) {
            let mut buffer = vec![9; length];
            fill(&mut buffer, &element);
            let right = |(at, byte): (usize, &u8)| *byte == if element.is_empty() { 9 } else { element[at % element.len()] };
            prop_assert!(buffer.iter().enumerate().all(right));
        }

        #[test]
        fn boxes_are_filled(
            dimensions in proptest::collection::vec((0..3_u64, 0..4_u64, 0..3_u64), 0..4),
            element in proptest::collection::vec(1..9_u8, 1..10),
        ) {
            let dims: Vec<u64> = dimensions.iter().map(|(before, count, after)| before + count + after).collect();
            let start: Vec<u64> = dimensions.iter().map(|dimension| dimension.0).collect();
            let count: Vec<u64> = dimensions.iter().map(|dimension| dimension.1).collect();
            let wanted = Region::new(&start, &count).unwrap();
            let expected: Vec<u8> = Region::whole(&dims)
                .coordinates()
                .flat_map(|at| if wanted.contains(&at) { element.clone() } else { vec![0; element.len()] })
                .collect();
            let mut dst = vec![0; expected.len()];
            fill_box(&mut dst, BoxPosition { dims: &dims, start: &start }, &count, &element).unwrap();
            prop_assert_eq!(dst, expected);
        }
    }

    #[test]
    fn boxes_are_checked() {
        let mut dst = [0; 4];
        let mut fill = |dims: &[u64], start: &[u64], count: &[u64]| {
            fill_box(&mut dst, BoxPosition { dims, start }, count, &[1, 2]).is_err()
        };
        assert!(fill(&[2], &[1], &[2]) && fill(&[3], &[0], &[1]) && fill(&[2], &[0, 0], &[1]));
        assert!(!fill(&[2], &[1], &[1]));
        assert_eq!(dst, [0, 0, 1, 2]);
    }
}
