//! The order of the elements that index lists and reversed slices select.
//!
//! The file is read and written in ascending order of coordinates, each element once. A
//! rearrangement leads from there to the order of the caller, separately along each dimension.

use std::borrow::Cow;

use hyperslab_engine::{Error, Result, memory};
use hyperslab_exact::to_usize;

use crate::dataset::zeroed_elements;
use crate::datatype::convert::Conversion;

/// The order of the selected coordinates of one dimension: ascending, or another order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AxisOrder {
    /// Ascending, each coordinate once.
    Ascending,
    /// Descending, each coordinate once.
    Descending,
    /// For each position in the order of the caller, the number of the coordinate in ascending
    /// order.
    Listed(Vec<usize>),
}

/// The order in which a caller wants or gives the elements of a selection, and the order of the
/// packed elements: ascending coordinates, each element once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rearrangement {
    /// For each dimension, the number of different coordinates, and their order.
    axes: Vec<(u64, AxisOrder)>,
}

/// The way from the elements of one array to the elements of another: for each dimension, the
/// positions in the source array.
struct Picks {
    /// For each slow dimension, the positions in the source array, and the distance in elements
    /// between two positions.
    slow: Vec<(Vec<usize>, usize)>,
    /// The number of contiguous elements at each position of the slow dimensions.
    run: usize,
    /// The number of elements of the source array.
    source: usize,
    /// The number of elements of the target array.
    target: usize,
}

/// The number of bytes that a rearrangement converts in one step.
const STEP_BYTES: usize = 64 << 10;

impl AxisOrder {
    /// Returns the number of positions in the order of the caller, for `packed` different
    /// coordinates.
    fn len(&self, packed: usize) -> usize {
        match self {
            Self::Ascending | Self::Descending => packed,
            Self::Listed(list) => list.len(),
        }
    }

    /// Returns, for each position in the order of the caller, the number of the coordinate in
    /// ascending order.
    fn to_wanted(&self, packed: usize) -> Vec<usize> {
        match self {
            Self::Ascending => (0..packed).collect(),
            Self::Descending => (0..packed).rev().collect(),
            Self::Listed(list) => list.clone(),
        }
    }

    /// Returns, for each coordinate in ascending order, its last position in the order of the
    /// caller.
    fn to_packed(&self, packed: usize) -> Vec<usize> {
        let Self::Listed(list) = self else { return self.to_wanted(packed) };
        let mut last = vec![0; packed];
        for (position, number) in list.iter().enumerate() {
            if let Some(last) = last.get_mut(*number) {
                *last = position;
            }
        }
        last
    }
}

impl Rearrangement {
    /// Returns the rearrangement of a selection from the number of different coordinates and their
    /// order in each dimension. Returns `None` if all dimensions are in ascending order.
    pub(crate) fn new(axes: Vec<(u64, AxisOrder)>) -> Option<Self> {
        axes.iter().any(|(_, order)| *order != AxisOrder::Ascending).then_some(Self { axes })
    }

    /// Returns the number of elements in the order of the caller.
    pub(crate) fn len(&self) -> Result<usize> {
        let lengths = self.axes.iter().map(|(packed, order)| Ok(order.len(to_usize(*packed)?)));
        lengths.collect::<Result<Vec<usize>>>()?.into_iter().try_fold(1_usize, |product, length| {
            product.checked_mul(length).ok_or(Error::Memory { subject: "elements", bytes: u64::MAX })
        })
    }

    /// Returns the way from the source array with the dimensions `from` to the target array.
    /// `positions` returns the positions in the source array along one dimension.
    fn picks(
        &self,
        from: impl Fn(&AxisOrder, usize) -> usize,
        positions: impl Fn(&AxisOrder, usize) -> Vec<usize>,
    ) -> Result<Picks> {
        let overflow = || Error::Memory { subject: "elements", bytes: u64::MAX };
        let mut picks = Picks { slow: Vec::new(), run: 1, source: 1, target: 1 };
        for (packed, order) in self.axes.iter().rev() {
            let packed = to_usize(*packed)?;
            let size = from(order, packed);
            if picks.slow.is_empty() && *order == AxisOrder::Ascending {
                picks.run = picks.run.checked_mul(size).ok_or_else(overflow)?;
                picks.target = picks.run;
            } else {
                let positions = positions(order, packed);
                picks.target = picks.target.checked_mul(positions.len()).ok_or_else(overflow)?;
                picks.slow.push((positions, picks.source));
            }
            picks.source = picks.source.checked_mul(size).ok_or_else(overflow)?;
        }
        picks.slow.reverse();
        Ok(picks)
    }

    /// Returns the way from packed elements to the order of the caller.
    fn unpacking(&self) -> Result<Picks> {
        self.picks(|_, packed| packed, AxisOrder::to_wanted)
    }

    /// Returns the way from the order of the caller to packed elements.
    fn packing(&self) -> Result<Picks> {
        self.picks(AxisOrder::len, AxisOrder::to_packed)
    }

    /// Converts packed elements, and stores them into `out` in the order of the caller.
    pub(crate) fn convert(&self, conversion: &Conversion, packed: &[u8], out: &mut [u8]) -> Result<()> {
        let (from, to) = (conversion.source_size().max(1), conversion.destination_size().max(1));
        let picks = self.unpacking()?;
        if conversion.is_no_op() && from == to {
            return picks.copy(packed, out, from);
        }
        let mut rest = out;
        let mut step = Vec::with_capacity(STEP_BYTES);
        let mut flush = |step: &mut Vec<u8>| {
            let count = step.len() / from;
            let (now, after) = std::mem::take(&mut rest).split_at_mut_checked(count * to).ok_or_else(lost)?;
            conversion.convert(step, now, count)?;
            rest = after;
            step.clear();
            Ok::<(), Error>(())
        };
        picks.for_each(packed, from, &mut |bytes| {
            for part in bytes.chunks((STEP_BYTES / from).max(1) * from) {
                if step.len() + part.len() > STEP_BYTES {
                    flush(&mut step)?;
                }
                step.extend_from_slice(part);
            }
            Ok(())
        })?;
        flush(&mut step)
    }

    /// Returns packed elements of `size` bytes in the order of the caller.
    pub(crate) fn unpacked_bytes(&self, packed: &[u8], size: usize) -> Result<Vec<u8>> {
        let picks = self.unpacking()?;
        let mut out = zeroed_elements(picks.target, size)?;
        picks.copy(packed, &mut out, size)?;
        Ok(out)
    }

    /// Returns the elements `bytes` of `size` bytes, which are in the order of the caller, as
    /// packed elements. Of an element that occurs several times, the last value counts.
    pub(crate) fn packed_bytes(&self, bytes: &[u8], size: usize) -> Result<Vec<u8>> {
        let picks = self.packing()?;
        if picks.source.checked_mul(size) != Some(bytes.len()) {
            let (count, length) = (picks.source, bytes.len());
            let message =
                format!("{count} elements of {size} bytes are selected, but {length} bytes are given");
            return Err(Error::Misuse(message));
        }
        let mut out = zeroed_elements(picks.target, size)?;
        picks.copy(bytes, &mut out, size)?;
        Ok(out)
    }

    /// Returns packed items in the order of the caller.
    pub(crate) fn unpacked<T: Clone>(&self, packed: &[T]) -> Result<Vec<T>> {
        self.unpacking()?.cloned(packed)
    }

    /// Returns the items `items`, which are in the order of the caller, as packed items. Of an
    /// element that occurs several times, the last item counts.
    pub(crate) fn packed<'a, T: Clone>(&self, items: &'a [T]) -> Result<Cow<'a, [T]>> {
        let picks = self.packing()?;
        if picks.source != items.len() {
            let (selected, given) = (picks.source, items.len());
            return Err(Error::Misuse(format!("{selected} elements are selected, but {given} are given")));
        }
        picks.cloned(items).map(Cow::Owned)
    }
}

impl Picks {
    /// Calls `visit` with runs of the source array, in the order of the target array. An item of
    /// the target array consists of `size` items of the slice `source`.
    fn for_each<'a, T>(
        &self,
        source: &'a [T],
        size: usize,
        visit: &mut impl FnMut(&'a [T]) -> Result<()>,
    ) -> Result<()> {
        if self.source.checked_mul(size) != Some(source.len()) {
            return Err(lost());
        }
        self.walk(&self.slow, 0, &mut |at| {
            // Cannot overflow: the end of a run is at most the length of `source`.
            visit(source.get(at * size..(at + self.run) * size).ok_or_else(lost)?)
        })
    }

    /// Calls `visit` with the first element of each run in the source array, in the order of the
    /// target array. `at` is the position in the dimensions before `slow`.
    fn walk(
        &self,
        slow: &[(Vec<usize>, usize)],
        at: usize,
        visit: &mut impl FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let Some(((positions, distance), faster)) = slow.split_first() else {
            return if self.run == 0 { Ok(()) } else { visit(at) };
        };
        for position in positions {
            self.walk(faster, at + position * distance, visit)?;
        }
        Ok(())
    }

    /// Copies elements of `size` bytes from the source array to the target array.
    fn copy(&self, source: &[u8], target: &mut [u8], size: usize) -> Result<()> {
        let mut rest = target;
        self.for_each(source, size, &mut |run| {
            let (now, after) = std::mem::take(&mut rest).split_at_mut_checked(run.len()).ok_or_else(lost)?;
            now.copy_from_slice(run);
            rest = after;
            Ok(())
        })
    }

    fn cloned<T: Clone>(&self, source: &[T]) -> Result<Vec<T>> {
        let mut items = memory::reserve(self.target, "elements")?;
        self.for_each(source, 1, &mut |run| {
            items.extend_from_slice(run);
            Ok(())
        })?;
        Ok(items)
    }
}

fn lost() -> Error {
    Error::internal("rearrangement", "both arrays have the elements of the selection")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_the_last_value_and_unpacking_repeats() {
        let axes = vec![(2, AxisOrder::Descending), (3, AxisOrder::Listed(vec![2, 0, 2, 1]))];
        let order = Rearrangement::new(axes).unwrap();
        assert_eq!(order.len().unwrap(), 8);
        assert_eq!(order.unpacked(&[0, 1, 2, 3, 4, 5]).unwrap(), [5, 3, 5, 4, 2, 0, 2, 1]);
        assert_eq!(*order.packed(&[0, 1, 2, 3, 4, 5, 6, 7]).unwrap(), [5, 7, 6, 1, 3, 2]);
        assert_eq!(order.packed_bytes(&[0, 1, 2, 3, 4, 5, 6, 7], 1).unwrap(), [5, 7, 6, 1, 3, 2]);
        assert!(order.packed(&[0; 7]).is_err() && order.packed_bytes(&[0; 6], 1).is_err());
        assert_eq!(Rearrangement::new(vec![(7, AxisOrder::Ascending)]), None);
    }
}
