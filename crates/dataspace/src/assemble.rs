//! Copying of selected elements from the packed buffer of a write into chunks.

use smallvec::SmallVec;

use crate::copy::{Nest, StrideLoop};
use crate::error::Result;
use crate::tiling::Pattern;
use crate::{DataspaceError, Dims, Tiling};

/// A regular pattern of selected elements of one chunk, with their offsets in the chunk and in a
/// packed buffer of all selected elements.
///
/// ```
/// use hyperslab_dataspace::{Axis, Tiling};
/// // Every third of ten elements, in chunks of four: element 1, then 4 and 7.
/// let tiling = Tiling::new(&[Axis::new(1, 3, 3, 1, 10, 0)?], &[10], &[4])?;
/// let mut chunk = *b"....";
/// for part in tiling.pieces(&[1])? {
///     part.gather(b"abc", &mut chunk, 1)?;
/// }
/// assert_eq!(&chunk, b"b..c");
/// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ChunkPart(Pattern);

/// A function that chooses the source and the target of a copy loop over selected elements. It
/// returns the loop's stride in the source and in the target.
///
/// The arguments are the loop's strides in the chunk, in the packed buffer, and in a buffer for the
/// elements of one chunk without gaps.
type ChooseStrides = fn(u64, u64, u64) -> (u64, u64);

impl Tiling {
    /// Returns the patterns of selected elements in the chunk at the coordinates `scaled`, which
    /// count chunks. The list is empty if no element of the chunk is selected.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] if `scaled` has another rank than the selection.
    pub fn pieces(&self, scaled: &[u64]) -> Result<SmallVec<[ChunkPart; 1]>> {
        let target_strides = crate::linear::strides(self.shape());
        Ok(self.parts(scaled, &target_strides, 0)?.into_iter().map(ChunkPart).collect())
    }

    /// Returns the coordinates, in units of chunks, of the chunks that contain selected elements.
    /// The chunks are in C order.
    pub fn chunk_coordinates(&self) -> impl Iterator<Item = Dims> + Send + use<> {
        let numbers: SmallVec<[Vec<u64>; 4]> =
            (0..self.shape().len()).map(|dimension| self.chunk_numbers(dimension).collect()).collect();
        let mut at: Option<Dims> =
            (numbers.iter().all(|numbers| !numbers.is_empty())).then(|| Dims::from_elem(0, numbers.len()));
        std::iter::from_fn(move || {
            let now = at.clone()?;
            let item = now
                .iter()
                .zip(&numbers)
                .map(|(at, numbers)| numbers.get(usize::try_from(*at).ok()?).copied());
            let item: Option<Dims> = item.collect();
            at = next_in_box(now, |dimension| {
                numbers.get(dimension).map_or(0, |numbers| numbers.len() as u64)
            });
            item
        })
    }

    /// Returns whether the selection covers the chunk at the coordinates `scaled`, which count
    /// chunks. A covered chunk has all its elements selected, except those beyond the dataset's
    /// extent.
    pub fn covers(&self, scaled: &[u64]) -> bool {
        scaled.len() == self.shape().len()
            && self.dimensions(scaled).all(|(axis, (from, to))| {
                let positions = axis.positions_within(from, to);
                from < to && positions.end - positions.start == to - from
            })
    }

    /// Returns whether the chunk at the coordinates `scaled`, which count chunks, is an edge chunk:
    /// one that reaches beyond the dataset's extent.
    pub fn is_edge(&self, scaled: &[u64]) -> bool {
        self.dimensions(scaled).zip(self.chunk()).any(|((_, (from, to)), size)| to.max(from) - from != *size)
    }
}

impl ChunkPart {
    /// Returns the number of elements in this pattern of selected elements of a chunk.
    pub fn element_count(&self) -> u64 {
        self.0.len()
    }

    /// Returns a pattern of selected elements of a chunk as one run: its position in the chunk, its
    /// position in the packed buffer, and its length in elements. Returns [`None`] unless the
    /// elements are contiguous in both.
    pub fn as_run(&self) -> Option<(u64, u64, u64)> {
        match self.0.runs() {
            (length, []) => Some((self.0.src, self.0.dst, length)),
            _ => None,
        }
    }

    /// Returns the length and the number of the runs in a pattern of selected elements. A run is
    /// contiguous in both the chunk and the packed buffer, and all runs have the same length.
    pub fn runs(&self) -> (u64, u64) {
        let (length, loops) = self.0.runs();
        (length, loops.iter().map(|step| step.count).product())
    }

    /// Calls `visit` with each run of selected elements that is contiguous in both the chunk and
    /// the packed buffer. `visit` gets the run's position in the chunk, its position in the packed
    /// buffer, and its length in elements.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn for_each_run<E>(
        &self,
        mut visit: impl FnMut(u64, u64, u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (length, loops) = self.0.runs();
        let mut at: SmallVec<[u64; 4]> = SmallVec::from_elem(0, loops.len());
        loop {
            let (src, dst) =
                loops.iter().zip(&at).fold((self.0.src, self.0.dst), |(src, dst), (step, turn)| {
                    let moved = |by: u64| turn * by;
                    (src + (moved(step.src)), dst + (moved(step.dst)))
                });
            visit(src, dst, length)?;
            let next = at.iter_mut().zip(loops).find_map(|(turn, step)| {
                *turn += 1;
                if *turn < step.count {
                    return Some(());
                }
                *turn = 0;
                None
            });
            if next.is_none() {
                return Ok(());
            }
        }
    }

    /// Returns the range of positions in the chunk, in C order, from the first to the last element
    /// of a pattern of selected elements. The end is exclusive.
    pub fn span(&self) -> (u64, u64) {
        (self.0.src, self.0.src_end())
    }

    /// Changes the origin of a pattern of selected elements of a chunk. Positions in the chunk then
    /// count from the element `first`.
    #[must_use]
    pub fn from_element(mut self, first: u64) -> Self {
        self.0.src -= first;
        self
    }

    /// Copies the selected elements of a chunk from the packed buffer `packed` into the chunk's
    /// bytes `chunk`.
    ///
    /// # Errors
    /// [`DataspaceError::Buffer`] if a slice is too short. The chunk is unchanged then.
    pub fn gather(&self, packed: &[u8], chunk: &mut [u8], element_size: usize) -> Result<()> {
        let nest = self.nest(element_size, |chunk, packed, _| (packed, chunk))?;
        let (from, to) = (self.packed_end(), self.0.src_end());
        check("the packed buffer", packed.len(), from, element_size)?;
        check("the chunk", chunk.len(), to, element_size)?;
        nest.copy(packed, bytes(self.0.dst, element_size)?, chunk, bytes(self.0.src, element_size)?);
        Ok(())
    }

    /// Copies the selected elements of a chunk from the packed buffer `packed`, which holds all
    /// selected elements, to the beginning of the buffer `row`, without gaps.
    ///
    /// # Errors
    /// The errors of [`gather`](Self::gather).
    pub fn pack(&self, packed: &[u8], row: &mut [u8], element_size: usize) -> Result<()> {
        let nest = self.nest(element_size, |_, packed, row| (packed, row))?;
        check("the packed buffer", packed.len(), self.packed_end(), element_size)?;
        check("the row", row.len(), self.0.len(), element_size)?;
        nest.copy(packed, bytes(self.0.dst, element_size)?, row, 0);
        Ok(())
    }

    /// Copies the selected elements of a chunk from the chunk's bytes `chunk` to the beginning of
    /// the buffer `row`, without gaps.
    ///
    /// # Errors
    /// The errors of [`gather`](Self::gather).
    pub fn pick(&self, chunk: &[u8], row: &mut [u8], element_size: usize) -> Result<()> {
        let nest = self.nest(element_size, |chunk, _, row| (chunk, row))?;
        check("the chunk", chunk.len(), self.0.src_end(), element_size)?;
        check("the row", row.len(), self.0.len(), element_size)?;
        nest.copy(chunk, bytes(self.0.src, element_size)?, row, 0);
        Ok(())
    }

    /// Copies elements, which are contiguous at the beginning of the buffer `row`, to the positions
    /// of the selected elements in the chunk's bytes `chunk`.
    ///
    /// # Errors
    /// The errors of [`gather`](Self::gather).
    pub fn place(&self, row: &[u8], chunk: &mut [u8], element_size: usize) -> Result<()> {
        let nest = self.nest(element_size, |chunk, _, row| (row, chunk))?;
        check("the row", row.len(), self.0.len(), element_size)?;
        check("the chunk", chunk.len(), self.0.src_end(), element_size)?;
        nest.copy(row, 0, chunk, bytes(self.0.src, element_size)?);
        Ok(())
    }

    /// Builds nested loops that copy the selected elements of a chunk. The function `choose`
    /// selects the source and the target: the chunk, the packed buffer, or a buffer for the
    /// elements of this chunk alone.
    fn nest(&self, element_size: usize, choose: ChooseStrides) -> Result<Nest> {
        let mut row = 1_u64;
        let mut loops: SmallVec<[StrideLoop; 4]> = SmallVec::new();
        for step in &self.0.steps {
            let (src, dst) = choose(step.src, step.dst, row);
            let count = usize::try_from(step.count).map_err(|_| OVERFLOW)?;
            loops.push(StrideLoop { count, src: bytes(src, element_size)?, dst: bytes(dst, element_size)? });
            row *= step.count;
        }
        Ok(Nest::of_loops(element_size, loops))
    }

    /// Returns the end of the selected elements of the chunk in the packed buffer: the position
    /// after the last of these elements.
    fn packed_end(&self) -> u64 {
        self.0.steps.iter().fold(self.0.dst + 1, |end, step| end + (step.count.max(1) - 1) * step.dst)
    }
}

/// Returns the coordinates of the element after `at` in a box of elements, in C order. Returns
/// [`None`] after the last coordinates.
fn next_in_box(mut at: Dims, count: impl Fn(usize) -> u64) -> Option<Dims> {
    for dimension in (0..at.len()).rev() {
        let coordinate = at.get_mut(dimension)?;
        *coordinate += 1;
        if *coordinate < count(dimension) {
            return Some(at);
        }
        *coordinate = 0;
    }
    None
}

const OVERFLOW: DataspaceError = DataspaceError::Overflow { subject: "number of bytes of an array" };

fn bytes(elements: u64, element_size: usize) -> Result<usize> {
    usize::try_from(elements).ok().and_then(|elements| elements.checked_mul(element_size)).ok_or(OVERFLOW)
}

fn check(subject: &'static str, got: usize, elements: u64, element_size: usize) -> Result<()> {
    let needed = bytes(elements, element_size)?;
    if needed > got { Err(DataspaceError::Buffer { subject, needed, got }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, ChunkGrid, Hyperslab, RegularHyperslab, Selection, scatter};
    use proptest::prelude::*;

    /// Start, stride, count, block, elements after the last block, chunk.
    type Dimension = (u64, u64, u64, u64, u64, u64);

    fn dimensions() -> impl Strategy<Value = Vec<Dimension>> {
        let one = (0..4_u64, 0..4_u64, 1..5_u64, 1..4_u64, 0..3_u64, 1..6_u64);
        let one = one.prop_map(|(start, gap, count, block, after, chunk)| {
            (start, block + gap, count, block, after, chunk)
        });
        proptest::collection::vec(one, 1..4)
    }

    proptest! {
        #[test]
        fn chunks_together_are_the_array(dimensions in dimensions(), size in 1..5_usize, by_rows in any::<bool>()) {
            let column = |take: fn(&Dimension) -> u64| -> Vec<u64> {
                dimensions.iter().map(take).collect()
            };
            let dims = column(|d| d.0 + (d.2 - 1) * d.1 + d.3 + d.4);
            let chunk = column(|d| d.5);
            let axes: Vec<Axis> = dimensions.iter().zip(&dims).map(|(d, size)| {
                Axis::new(d.0, d.1, d.2, d.3, *size, 0).unwrap()
            }).collect();
            let slab = RegularHyperslab {
                start: column(|d| d.0).into(),
                stride: column(|d| d.1).into(),
                count: column(|d| d.2).into(),
                block: column(|d| d.3).into(),
            };
            let selection = Selection::Hyperslab(Hyperslab::Regular(slab));
            let count = usize::try_from(selection.element_count(&dims).unwrap()).unwrap();
            let packed: Vec<u8> = (0..count * size).map(|at| u8::try_from(at % 251).unwrap() + 1).collect();
            let elements = usize::try_from(dims.iter().product::<u64>()).unwrap();
            let mut expected = vec![0; elements * size];
            scatter(&packed, &mut expected, &dims, &selection, size).unwrap();

            let tiling = Tiling::new(&axes, &dims, &chunk).unwrap();
            let grid = ChunkGrid::new(&chunk, &dims).unwrap();
            let mut array = vec![0; elements * size];
            let chunk_bytes = usize::try_from(chunk.iter().product::<u64>()).unwrap() * size;
            for scaled in crate::Region::whole(grid.counts()).coordinates() {
                let mut bytes = vec![0; chunk_bytes];
                let pieces = tiling.pieces(&scaled).unwrap();
                prop_assert_eq!(pieces.is_empty(), !tiling.meets(&scaled));
                let mut selected = 0;
                for piece in pieces {
                    selected += piece.element_count();
                    if by_rows {
                        let mut row = vec![0; usize::try_from(piece.element_count()).unwrap() * size];
                        piece.pack(&packed, &mut row, size).unwrap();
                        piece.place(&row, &mut bytes, size).unwrap();
                        let mut again = vec![0; row.len()];
                        piece.pick(&bytes, &mut again, size).unwrap();
                        prop_assert_eq!(row, again);
                    } else {
                        piece.gather(&packed, &mut bytes, size).unwrap();
                    }
                    let (length, count) = piece.runs();
                    prop_assert_eq!(length * count, piece.element_count());
                    let mut runs = 0;
                    piece.for_each_run(|from, at, length| {
                        let run = |start: u64| usize::try_from(start).unwrap() * size..usize::try_from(start + length).unwrap() * size;
                        runs += 1;
                        if bytes[run(from)] == packed[run(at)] { Ok(()) } else { Err((from, at, length)) }
                    }).unwrap();
                    prop_assert_eq!(runs, count);
                    if let Some((from, at, length)) = piece.as_run() {
                        let run = |start: u64| usize::try_from(start).unwrap() * size..usize::try_from(start + length).unwrap() * size;
                        prop_assert_eq!(&bytes[run(from)], &packed[run(at)]);
                    }
                    prop_assert!(piece.gather(&packed, &mut [], size).is_err());
                }
                let region = grid.region(&scaled).unwrap();
                let inside = region.element_count().unwrap();
                prop_assert_eq!(tiling.covers(&scaled), selected == inside);
                prop_assert_eq!(tiling.is_edge(&scaled), grid.is_edge(&scaled).unwrap());
                let zeros = vec![0; dims.len()];
                let from = crate::BoxPosition { dims: &chunk, start: &zeros };
                let to = crate::BoxPosition { dims: &dims, start: &region.start };
                crate::copy_box(&bytes, from, &mut array, to, &region.count, size).unwrap();
            }
            prop_assert_eq!(array, expected);
            let met: Vec<_> = crate::Region::whole(grid.counts()).coordinates().filter(|at| tiling.meets(at)).collect();
            prop_assert_eq!(tiling.chunk_coordinates().collect::<Vec<_>>(), met);
        }
    }
}
