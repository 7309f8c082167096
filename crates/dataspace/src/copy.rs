//! Copying of boxes of elements between arrays in memory.

use smallvec::SmallVec;

use crate::error::{Result, same_rank};
use crate::region::check_bounds;
use crate::{DataspaceError, MAX_RANK};

/// The position of a box of elements in an array in memory: the start coordinates of the box, and
/// the shape of the array.
#[derive(Debug, Clone, Copy)]
pub struct BoxPosition<'a> {
    /// The shape of the array.
    pub dims: &'a [u64],
    /// The first element of the box in the array.
    pub start: &'a [u64],
}

/// Copies a box of elements of the shape `count` from the C-order array `src` to the C-order array
/// `dst`. Both have the same rank (0 to 32).
///
/// Elements have `element_size` bytes. Dimensions that are contiguous in both arrays are copied as
/// one run.
///
/// ```
/// use hyperslab_dataspace::{BoxPosition, copy_box};
/// let from = *b"abcdefghi";
/// let mut to = *b"......";
/// let source = BoxPosition { dims: &[3, 3], start: &[1, 1] };
/// let target = BoxPosition { dims: &[2, 3], start: &[0, 0] };
/// copy_box(&from, source, &mut to, target, &[2, 2], 1)?;
/// assert_eq!(&to, b"ef.hi.");
/// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
/// ```
///
/// # Errors
/// [`DataspaceError::Rank`], [`DataspaceError::Bounds`] if the box reaches beyond an array,
/// [`DataspaceError::Buffer`] if a slice is shorter than its array, [`DataspaceError::Overflow`].
/// On an error `dst` is unchanged.
pub fn copy_box(
    src: &[u8],
    from: BoxPosition<'_>,
    dst: &mut [u8],
    to: BoxPosition<'_>,
    count: &[u64],
    element_size: usize,
) -> Result<()> {
    let source = Strides::new("the source", from, count, element_size, src.len())?;
    let target = Strides::new("the target", to, count, element_size, dst.len())?;
    let (Some(source), Some(target)) = (source, target) else { return Ok(()) };
    let nest = Nest::new(count, element_size, &source, &target)?;
    nest.copy(src, source.base, dst, target.base);
    Ok(())
}

/// The strides of an array in memory (the distances between neighbouring elements in each
/// dimension), and the offset of a box of elements in the array, all in bytes.
pub(crate) struct Strides {
    strides: SmallVec<[usize; 4]>,
    pub(crate) base: usize,
}

impl Strides {
    /// Computes the strides of an array in memory and the offset of a box of elements, in bytes.
    /// Checks that the box lies in the array, and that the array fits in the buffer. Returns
    /// [`None`] if the box is empty.
    pub(crate) fn new(
        subject: &'static str,
        placement: BoxPosition<'_>,
        count: &[u64],
        element_size: usize,
        buffer: usize,
    ) -> Result<Option<Self>> {
        let rank = count.len();
        if rank > MAX_RANK {
            return Err(DataspaceError::Invalid { subject: "the rank", problem: "is more than 32" });
        }
        same_rank(subject, rank, placement.dims.len())?;
        same_rank(subject, rank, placement.start.len())?;
        check_bounds(subject, placement.start, count, placement.dims)?;
        if count.contains(&0) || element_size == 0 {
            return Ok(None);
        }
        let overflow = DataspaceError::Overflow { subject: "number of bytes of an array" };
        let sized = SizedStrides::of(placement, element_size).ok_or(overflow)?;
        if sized.needed > buffer {
            return Err(DataspaceError::Buffer { subject, needed: sized.needed, got: buffer });
        }
        Ok(Some(Self { strides: sized.strides, base: sized.base }))
    }
}

/// The strides of an array in memory, the offset of a box of elements, and the length of the whole
/// array, in bytes.
struct SizedStrides {
    strides: SmallVec<[usize; 4]>,
    base: usize,
    needed: usize,
}

impl SizedStrides {
    fn of(placement: BoxPosition<'_>, element_size: usize) -> Option<Self> {
        let mut stride = element_size;
        let mut base = 0_usize;
        let mut strides = SmallVec::from_elem(0, placement.dims.len());
        for ((to, dim), start) in strides.iter_mut().zip(placement.dims).zip(placement.start).rev() {
            *to = stride;
            base = base.checked_add(usize::try_from(*start).ok()?.checked_mul(stride)?)?;
            stride = stride.checked_mul(usize::try_from(*dim).ok()?)?;
        }
        Some(Self { strides, base, needed: stride })
    }
}

/// A loop that copies elements, with a constant step through the source array and a constant step
/// through the target array. In [`Nest`] the steps count bytes.
#[derive(Clone, Copy)]
pub(crate) struct StrideLoop {
    pub(crate) count: usize,
    pub(crate) src: usize,
    pub(crate) dst: usize,
}

/// Nested loops that copy a box of elements from one array to another. Dimensions that are
/// contiguous in both arrays share one loop.
pub(crate) struct Nest {
    /// The number of bytes that are contiguous in both arrays.
    pub(crate) run: usize,
    /// The loop over runs.
    rows: StrideLoop,
    /// The loops around `rows`, innermost first.
    outer: SmallVec<[StrideLoop; 4]>,
}

impl Nest {
    pub(crate) fn new(
        count: &[u64],
        element_size: usize,
        source: &Strides,
        target: &Strides,
    ) -> Result<Self> {
        let mut loops = Vec::with_capacity(count.len());
        for ((count, src), dst) in count.iter().zip(&source.strides).zip(&target.strides).rev() {
            let count =
                usize::try_from(*count).map_err(|_| DataspaceError::Overflow { subject: "size of a box" })?;
            loops.push(StrideLoop { count, src: *src, dst: *dst });
        }
        Ok(Self::of_loops(element_size, loops))
    }

    /// Creates nested copy loops over elements from a list of loops, innermost first. Each loop has
    /// at least one iteration.
    pub(crate) fn of_loops(element_size: usize, loops: impl IntoIterator<Item = StrideLoop>) -> Self {
        let mut inner = StrideLoop { count: element_size, src: 1, dst: 1 };
        let mut nested: SmallVec<[StrideLoop; 6]> = SmallVec::new();
        for next in loops {
            if next.count == 1 {
                continue;
            }
            // If the inner loops cover a contiguous range in both arrays, this loop extends the
            // range.
            if inner.is_continued_by(&next) {
                inner.count *= next.count;
            } else {
                nested.push(std::mem::replace(&mut inner, next));
            }
        }
        nested.push(inner);
        let mut nested = nested.into_iter();
        let run = nested.next().map_or(0, |bytes| bytes.count);
        let rows = nested.next().unwrap_or(StrideLoop { count: 1, src: run, dst: run });
        Self { run, rows, outer: nested.collect() }
    }

    /// Copies bytes from `src` to `dst`: all runs that the nested loops visit, starting at the
    /// given offsets. Skips runs that exceed a slice.
    pub(crate) fn copy(&self, src: &[u8], src_base: usize, dst: &mut [u8], dst_base: usize) {
        self.for_each_plane(src_base, dst_base, |src_at, dst_at, rows| {
            if let (Some(src), Some(dst)) = (src.get(src_at..), dst.get_mut(dst_at..)) {
                copy_rows(src, dst, self.run, rows);
            }
        });
    }

    /// Calls `visit` for each iteration of the outer copy loops. `visit` gets the offsets of the
    /// first run of bytes in the source and in the target, and the loop over the runs.
    pub(crate) fn for_each_plane(
        &self,
        src: usize,
        dst: usize,
        mut visit: impl FnMut(usize, usize, StrideLoop),
    ) {
        let (mut src, mut dst) = (src, dst);
        let mut at: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.outer.len());
        loop {
            visit(src, dst, self.rows);
            let mut done = true;
            for (at, rows) in at.iter_mut().zip(&self.outer) {
                *at += 1;
                if *at < rows.count {
                    (src, dst) = (src.wrapping_add(rows.src), dst.wrapping_add(rows.dst));
                    done = false;
                    break;
                }
                let back = *at - 1;
                *at = 0;
                src = src.wrapping_sub(back.wrapping_mul(rows.src));
                dst = dst.wrapping_sub(back.wrapping_mul(rows.dst));
            }
            if done {
                return;
            }
        }
    }
}

impl StrideLoop {
    /// Returns whether the copy loop `next` continues this loop: in both arrays, one step of `next`
    /// is as long as all steps of this loop.
    fn is_continued_by(&self, next: &Self) -> bool {
        self.count.checked_mul(self.src) == Some(next.src)
            && self.count.checked_mul(self.dst) == Some(next.dst)
    }
}

/// Copies `rows.count` runs of `run` bytes, at equal distances, from `src` to `dst`. Both slices
/// must contain all of these runs.
fn copy_rows(src: &[u8], dst: &mut [u8], run: usize, rows: StrideLoop) {
    match run {
        1 => copy_fixed::<1>(src, dst, rows),
        2 => copy_fixed::<2>(src, dst, rows),
        4 => copy_fixed::<4>(src, dst, rows),
        8 => copy_fixed::<8>(src, dst, rows),
        12 => copy_fixed::<12>(src, dst, rows),
        16 => copy_fixed::<16>(src, dst, rows),
        24 => copy_fixed::<24>(src, dst, rows),
        32 => copy_fixed::<32>(src, dst, rows),
        64 => copy_fixed::<64>(src, dst, rows),
        _ => {
            for (from, to) in src.chunks(rows.src).zip(dst.chunks_mut(rows.dst)).take(rows.count) {
                if let (Some(from), Some(to)) = (from.get(..run), to.get_mut(..run)) {
                    to.copy_from_slice(from);
                }
            }
        }
    }
}

fn copy_fixed<const N: usize>(src: &[u8], dst: &mut [u8], rows: StrideLoop) {
    let from = src.chunks(rows.src).take(rows.count).filter_map(|row| row.first_chunk::<N>());
    if rows.dst == N {
        dst.as_chunks_mut::<N>().0.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    } else {
        let to = dst.chunks_mut(rows.dst).filter_map(|row| row.first_chunk_mut::<N>());
        to.zip(from).for_each(|(to, from)| *to = *from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;
    use proptest::prelude::*;

    #[test]
    fn contiguous_dimensions_become_one_run() {
        let nest = |src_dims: &[u64], dst_dims: &[u64], count: &[u64]| {
            let start = vec![0; count.len()];
            let place = |dims| BoxPosition { dims, start: &start };
            let source = Strides::new("", place(src_dims), count, 4, usize::MAX).unwrap().unwrap();
            let target = Strides::new("", place(dst_dims), count, 4, usize::MAX).unwrap().unwrap();
            let nest = Nest::new(count, 4, &source, &target).unwrap();
            (nest.run, nest.rows.count, nest.outer.len())
        };
        assert_eq!(nest(&[], &[], &[]), (4, 1, 0));
        assert_eq!(nest(&[5, 6, 7], &[5, 6, 7], &[5, 6, 7]), (840, 1, 0));
        assert_eq!(nest(&[5, 6, 7], &[3, 6, 7], &[2, 6, 7]), (336, 1, 0));
        assert_eq!(nest(&[5, 6, 7], &[3, 5, 7], &[2, 4, 7]), (112, 2, 0));
        assert_eq!(
            nest(&[5, 6, 7], &[5, 6, 8], &[5, 6, 7]),
            (28, 30, 0),
            "rows of two dimensions are one loop"
        );
        assert_eq!(nest(&[5, 6, 7], &[5, 5, 8], &[5, 4, 1]), (4, 4, 1));
        assert_eq!(nest(&[5, 1, 7], &[5, 9, 7], &[1, 1, 7]), (28, 1, 0));
    }

    #[test]
    fn nothing_is_copied_when_something_does_not_fit() {
        let mut dst = [0; 4];
        let place = |dims, start| BoxPosition { dims, start };
        let ok = place(&[4], &[0]);
        let mut copy =
            |from, to, count: &[u64], size| copy_box(&[1; 4], from, &mut dst, to, count, size).unwrap_err();
        assert!(matches!(copy(ok, ok, &[5], 1), DataspaceError::Bounds { .. }));
        assert!(matches!(copy(place(&[4], &[u64::MAX]), ok, &[1], 1), DataspaceError::Bounds { .. }));
        assert!(matches!(
            copy(ok, place(&[4], &[1]), &[4], 1),
            DataspaceError::Bounds { subject: "the target", .. }
        ));
        assert!(matches!(copy(ok, ok, &[1], 2), DataspaceError::Buffer { needed: 8, got: 4, .. }));
        assert!(matches!(copy(ok, ok, &[1, 1], 1), DataspaceError::Rank { .. }));
        let huge = place(&[u64::MAX, 2], &[0, 0]);
        assert!(matches!(copy(huge, huge, &[1, 1], 1), DataspaceError::Overflow { .. }));
        assert_eq!(dst, [0; 4]);
        copy_box(&[], place(&[0], &[0]), &mut dst, ok, &[0], 8).unwrap();
        copy_box(&[7], place(&[], &[]), &mut dst, place(&[], &[]), &[], 1).unwrap();
        assert_eq!(dst, [7, 0, 0, 0]);
        let ones = [1_u64; 32];
        let zeros = [0_u64; 32];
        copy_box(&[9], place(&ones, &zeros), &mut dst, place(&ones, &zeros), &ones, 1).unwrap();
        assert_eq!(dst[0], 9);
    }

    /// The shapes of two arrays, and a box in both.
    fn cases() -> impl Strategy<Value = (Vec<[u64; 5]>, usize)> {
        let dimension = (0..4_u64, 0..4_u64, 0..4_u64, 0..4_u64, 0..5_u64).prop_map(
            |(before, after, other_before, other_behind, count)| {
                // Shape and start in the source, shape and start in the target, count.
                [before + count + after, before, other_before + count + other_behind, other_before, count]
            },
        );
        let sizes = prop_oneof![Just(1), Just(2), Just(3), Just(4), Just(8), Just(16), 1..70_usize];
        (proptest::collection::vec(dimension, 0..5), sizes)
    }

    proptest! {
        #[test]
        fn equals_the_copy_of_single_elements((dimensions, size) in cases()) {
            let column = |at: usize| dimensions.iter().map(|dimension| dimension[at]).collect::<Vec<u64>>();
            let (src_dims, src_start, dst_dims, dst_start, count) = (column(0), column(1), column(2), column(3), column(4));
            let bytes = |dims: &[u64]| usize::try_from(dims.iter().product::<u64>()).unwrap() * size;
            let src: Vec<u8> = (0..bytes(&src_dims)).map(|at| u8::try_from(at % 255).unwrap()).collect();
            let mut dst = vec![255; bytes(&dst_dims)];
            let mut expected = dst.clone();
            let offset = |dims: &[u64], start: &[u64], at: &[u64]| {
                let offset = (0..dims.len()).fold(0, |offset, d| offset * dims[d] + start[d] + at[d]);
                usize::try_from(offset).unwrap() * size
            };
            for at in Region::whole(&count).coordinates() {
                let (from, to) = (offset(&src_dims, &src_start, &at), offset(&dst_dims, &dst_start, &at));
                expected[to..to + size].copy_from_slice(&src[from..from + size]);
            }
            let from = BoxPosition { dims: &src_dims, start: &src_start };
            let to = BoxPosition { dims: &dst_dims, start: &dst_start };
            copy_box(&src, from, &mut dst, to, &count, size).unwrap();
            prop_assert_eq!(dst, expected);
        }
    }
}
