//! Division of a regular selection by a grid of chunks.

use std::ops::Range;

use smallvec::SmallVec;

use crate::error::{Result, product, same_rank};
use crate::{Axes, Axis, AxisPart, DataspaceError, Dims};

/// A regular selection of elements of a dataset, divided by a grid of chunks of equal shape.
///
/// Each dimension is selected independently of the others. An element of the selection is
/// identified by its position among the selected coordinates of each dimension.
///
/// ```
/// use hyperslab_dataspace::{Axis, Tiling};
/// // Every third of ten elements, in chunks of four.
/// let tiling = Tiling::new(&[Axis::new(1, 3, 3, 1, 10, 0)?], &[10], &[4])?;
/// assert_eq!(tiling.shape(), [3]);
/// assert_eq!(tiling.chunk_numbers(0).collect::<Vec<_>>(), [0, 1]);
/// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tiling {
    axes: Axes,
    extent: Dims,
    chunk: Dims,
    /// The distance between neighbouring elements in each dimension of a chunk.
    strides: Dims,
    shape: Dims,
}

/// A loop over selected elements of a chunk. The distances between elements are constant in the
/// chunk and in the target buffer, and count elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatternLoop {
    pub(crate) count: u64,
    pub(crate) src: u64,
    pub(crate) dst: u64,
}

/// A regular pattern of selected elements of a chunk. It consists of the offset of the first
/// element in the chunk and in the target buffer, and of the loops over the other elements,
/// innermost first.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(crate) src: u64,
    pub(crate) dst: u64,
    pub(crate) steps: SmallVec<[PatternLoop; 4]>,
}

impl Tiling {
    /// Divides a regular selection of elements of a dataset by chunks of the shape `chunk`. `axes`
    /// are the selected coordinates of each dimension, and `extent` is the shape of the dataset.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] if ranks differ, [`DataspaceError::Invalid`] if a chunk has no
    /// elements, [`DataspaceError::Bounds`] if a coordinate lies beyond the extent,
    /// [`DataspaceError::Overflow`].
    pub fn new(axes: &[Axis], extent: &[u64], chunk: &[u64]) -> Result<Self> {
        same_rank("the extent", axes.len(), extent.len())?;
        same_rank("the chunk's shape", axes.len(), chunk.len())?;
        if chunk.contains(&0) {
            return Err(DataspaceError::Invalid {
                subject: "the chunk's shape",
                problem: "has a dimension of 0",
            });
        }
        for (dimension, (axis, size)) in axes.iter().zip(extent).enumerate() {
            if let Some((start, end)) = axis.bounds().filter(|(_, end)| end > size) {
                let subject = "a hyperslab";
                return Err(DataspaceError::Bounds { subject, dimension, start, last: end - 1, size: *size });
            }
        }
        product("number of elements of a chunk", chunk.iter().copied())?;
        let shape: Dims = axes.iter().map(Axis::len).collect();
        product("number of elements", shape.iter().copied())?;
        let strides = crate::linear::strides(chunk);
        let (axes, extent, chunk) =
            (Axes::from_slice(axes), Dims::from_slice(extent), Dims::from_slice(chunk));
        Ok(Self { axes, extent, chunk, strides, shape })
    }

    /// Returns the shape of the selection that is divided into chunks: the number of selected
    /// coordinates in each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the shape of the chunks that divide the selection.
    pub fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    /// Returns the numbers of the chunks along one dimension that contain selected coordinates, in
    /// ascending order.
    pub fn chunk_numbers(&self, dimension: usize) -> impl Iterator<Item = u64> + '_ {
        let axis = self.axes.get(dimension).copied().unwrap_or(Axis::whole(0));
        let size = self.chunk.get(dimension).copied().unwrap_or(1);
        let mut position = 0;
        std::iter::from_fn(move || {
            let number = axis.coordinate(position)? / size;
            // Saturates: the end of the last chunk may not fit in 64 bits.
            position = axis.positions_within(0, number.saturating_add(1).saturating_mul(size)).end;
            Some(number)
        })
    }

    /// Returns the number of elements of one chunk if all chunks in a list are selected as a whole
    /// and follow one another in the selection. Returns [`None`] otherwise.
    ///
    /// Chunks are contiguous if they are neighbours along one dimension, each slower dimension has
    /// one selected coordinate, and each faster dimension has one chunk.
    pub(crate) fn run_of_chunks(&self, chunks: &[Dims]) -> Option<u64> {
        let (first, last) = (chunks.first()?, chunks.last()?);
        let mut along = None;
        for (dimension, (from, to)) in first.iter().zip(last).enumerate() {
            if from != to {
                if along.is_some() || to.checked_sub(*from)?.checked_add(1)? != chunks.len() as u64 {
                    return None;
                }
                along = Some(dimension);
            }
        }
        let along = match along {
            Some(along) => along,
            None if chunks.len() == 1 => self.shape.len().max(1) - 1,
            None => return None,
        };
        let slower_have_one = self.shape.iter().take(along).all(|size| *size == 1);
        let faster = self.shape.iter().zip(&self.chunk).skip(along + 1);
        let faster_have_one_chunk = faster.into_iter().all(|(size, chunk)| size == chunk);
        let elements: u64 = self.chunk.iter().product();
        (slower_have_one && faster_have_one_chunk).then_some(elements)
    }

    /// Returns whether the chunk at the coordinates `scaled`, which count chunks, contains a
    /// selected element.
    pub fn meets(&self, scaled: &[u64]) -> bool {
        scaled.len() == self.axes.len()
            && self.dimensions(scaled).all(|(axis, (from, to))| match axis.bounds() {
                Some((start, end)) if axis.block_count() == 1 => from < end && start < to,
                Some(_) => !axis.positions_within(from, to).is_empty(),
                None => false,
            })
    }

    /// Returns the number of selected elements in the chunk at the coordinates `scaled`, which
    /// count chunks.
    ///
    /// ```
    /// use hyperslab_dataspace::{Axis, Tiling};
    ///
    /// // The elements 3 to 8 of ten, in chunks of four.
    /// let tiling = Tiling::new(&[Axis::new(3, 1, 6, 1, 10, 0)?], &[10], &[4])?;
    /// assert_eq!([0, 1, 2].map(|chunk| tiling.count_in(&[chunk])), [1, 4, 1]);
    /// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
    /// ```
    pub fn count_in(&self, scaled: &[u64]) -> u64 {
        let counts = self.dimensions(scaled).map(|(axis, (from, to))| {
            let positions = axis.positions_within(from, to);
            positions.end - positions.start
        });
        counts.product()
    }

    /// Returns, for each dimension, the selected coordinates and the range of coordinates of one
    /// chunk.
    pub(crate) fn dimensions<'a>(
        &'a self,
        scaled: &'a [u64],
    ) -> impl Iterator<Item = (&'a Axis, (u64, u64))> + 'a {
        let covered = scaled.iter().zip(&self.chunk).zip(&self.extent).map(|((at, chunk), size)| {
            // Saturates: the start or the end of a chunk may not fit in 64 bits. Such a chunk is
            // cut at the extent's end.
            let start = at.saturating_mul(*chunk);
            (start, start.saturating_add(*chunk).min(*size))
        });
        self.axes.iter().zip(covered)
    }

    /// Returns the selected elements of a chunk as regular patterns. Each pattern states the
    /// positions of its elements in the chunk and in a target buffer.
    ///
    /// `base` and `target_strides` describe the target buffer: the element at the position p in the
    /// selection has the offset `base` + p · `target_strides`.
    pub(crate) fn parts(
        &self,
        scaled: &[u64],
        target_strides: &[u64],
        base: u64,
    ) -> Result<SmallVec<[Pattern; 1]>> {
        same_rank("the chunk", self.axes.len(), scaled.len())?;
        let mut parts: SmallVec<[Pattern; 1]> = SmallVec::new();
        parts.push(Pattern { src: 0, dst: base, steps: SmallVec::new() });
        let strides = self.strides.iter().zip(target_strides);
        let dimensions: SmallVec<[_; 4]> = self.dimensions(scaled).zip(strides).collect();
        for ((axis, (from, to)), (stride, target_stride)) in dimensions.into_iter().rev() {
            let positions = axis.positions_within(from, to);
            if positions.is_empty() {
                return Ok(SmallVec::new());
            }
            let mut pieces = equal_pieces(axis, positions);
            let first = pieces.next();
            let more: SmallVec<[_; 2]> = pieces.collect();
            let extend = |part: &mut Pattern, (at, piece): (u64, AxisPart)| {
                part.src += (piece.start - from) * *stride;
                part.dst += at * *target_stride;
                part.push(PatternLoop { count: piece.block, src: *stride, dst: *target_stride });
                part.push(PatternLoop {
                    count: piece.count,
                    src: piece.stride * *stride,
                    dst: piece.block * *target_stride,
                });
            };
            let known = parts.len();
            for piece in more {
                for number in 0..known {
                    let Some(mut part) = parts.get(number).cloned() else { continue };
                    extend(&mut part, piece);
                    parts.push(part);
                }
            }
            if let Some(first) = first {
                parts.iter_mut().take(known).for_each(|part| extend(part, first));
            }
        }
        Ok(parts)
    }
}

impl Pattern {
    /// Adds an outermost loop to a pattern of selected elements. If the new loop continues the
    /// present outermost loop at the same distances, merges both loops.
    fn push(&mut self, step: PatternLoop) {
        if step.count == 1 {
            return;
        }
        match self.steps.last_mut() {
            Some(last)
                if last.count.checked_mul(last.src) == Some(step.src)
                    && last.count.checked_mul(last.dst) == Some(step.dst) =>
            {
                last.count *= step.count;
            }
            _ => self.steps.push(step),
        }
    }

    /// Returns the length of the runs of selected elements that are contiguous in both the chunk
    /// and the target buffer. Also returns the loops around these runs.
    pub(crate) fn runs(&self) -> (u64, &[PatternLoop]) {
        match self.steps.split_first() {
            Some((first, rest)) if first.src == 1 && first.dst == 1 => (first.count, rest),
            _ => (1, &self.steps),
        }
    }

    /// Returns the number of selected elements of the pattern in a chunk.
    pub(crate) fn len(&self) -> u64 {
        self.steps.iter().map(|step| step.count).product()
    }

    /// Returns the end of a pattern of selected elements in the chunk: one more than the position
    /// of the last element.
    pub(crate) fn src_end(&self) -> u64 {
        self.steps.iter().fold(self.src + 1, |end, step| end + (step.count.max(1) - 1) * step.src)
    }
}

/// Divides a range of selected coordinates of one dimension into patterns of equal blocks. A block
/// that the range cuts is a pattern of its own. `positions` is the range of indexes of these
/// coordinates. Returns each pattern with the index of its first coordinate.
fn equal_pieces(axis: &Axis, positions: Range<u64>) -> impl Iterator<Item = (u64, AxisPart)> + use<> {
    let axis = *axis;
    let mut rest = positions;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(part) = axis.part(rest.clone()) {
            let at = rest.start;
            rest.start = rest.end;
            return Some((at, part));
        }
        let run = (rest.start + axis.run_from(rest.start)).min(rest.end);
        let at = rest.start;
        let whole = axis.whole_blocks(rest.clone());
        let end = if whole.start == at && whole.end > at { whole.end } else { run };
        rest.start = end;
        axis.part(at..end).map(|part| (at, part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn axes() -> impl Strategy<Value = (Vec<Axis>, Vec<u64>, Vec<u64>)> {
        let one = (0..4_u64, 1..6_u64, 1..5_u64, 1..5_u64, 1..6_u64, 0..3_u64).prop_map(
            |(start, gap, count, block, chunk, after)| {
                let stride = block + gap - 1;
                let size = start + (count - 1) * stride + block + after;
                (Axis::new(start, stride, count, block, size, 0).unwrap(), size, chunk)
            },
        );
        proptest::collection::vec(one, 0..4).prop_map(|all| {
            let sizes = all.iter().map(|(_, size, _)| *size).collect();
            let chunks = all.iter().map(|(_, _, chunk)| *chunk).collect();
            (all.into_iter().map(|(axis, ..)| axis).collect(), sizes, chunks)
        })
    }

    /// Returns the pairs of chunk offset and target offset that the loops visit.
    fn visit(part: &Pattern) -> Vec<(u64, u64)> {
        let mut visited = vec![(part.src, part.dst)];
        for step in &part.steps {
            let inner = std::mem::take(&mut visited);
            for turn in 0..step.count {
                visited.extend(inner.iter().map(|(src, dst)| (src + turn * step.src, dst + turn * step.dst)));
            }
        }
        visited
    }

    proptest! {
        #[test]
        fn every_selected_element_goes_to_its_position_once((axes, extent, chunk) in axes()) {
            let tiling = Tiling::new(&axes, &extent, &chunk).unwrap();
            let target_strides = crate::linear::strides(tiling.shape());
            let count: u64 = tiling.shape().iter().product();
            let mut seen = vec![false; usize::try_from(count).unwrap()];
            let numbers: Vec<Vec<u64>> = (0..axes.len()).map(|dim| tiling.chunk_numbers(dim).collect()).collect();
            let mut chunks: Vec<Vec<u64>> = vec![vec![]];
            for numbers in &numbers {
                chunks = chunks.iter().flat_map(|start| numbers.iter().map(move |at| [start.as_slice(), &[*at]].concat())).collect();
            }
            for scaled in &chunks {
                prop_assert!(tiling.meets(scaled));
                let parts = tiling.parts(scaled, &target_strides, 0).unwrap();
                prop_assert!(!parts.is_empty());
                for part in &parts {
                    let visited = visit(part);
                    prop_assert_eq!(visited.len() as u64, part.len());
                    prop_assert_eq!(visited.iter().map(|(src, _)| src + 1).max(), Some(part.src_end()));
                    for (src, dst) in visited {
                        let (mut src, mut dst, mut weight_src, mut weight_dst) = (src, dst, chunk.iter().product::<u64>(), count);
                        for dim in 0..axes.len() {
                            weight_src /= chunk[dim];
                            weight_dst /= tiling.shape()[dim];
                            let coordinate = scaled[dim] * chunk[dim] + src / weight_src;
                            prop_assert_eq!(axes[dim].coordinate(dst / weight_dst), Some(coordinate));
                            (src, dst) = (src % weight_src, dst % weight_dst);
                        }
                    }
                    for (_, dst) in visit(part) {
                        prop_assert!(!std::mem::replace(&mut seen[usize::try_from(dst).unwrap()], true));
                    }
                }
            }
            prop_assert!(seen.iter().all(|seen| *seen));
        }
    }
}
