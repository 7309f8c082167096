//! The grid of chunks that covers an extent.

use crate::error::{Result, same_rank};
use crate::{Coordinates, DataspaceError, Dims, MAX_RANK, Region};

/// A grid of chunks of equal shape that covers a dataset's extent. The last chunks of each
/// dimension may reach beyond the extent.
///
/// A chunk is identified by its scaled coordinates (the coordinates of its first element, divided
/// by the chunk shape), or by its number in C order.
///
/// ```
/// use hyperslab_dataspace::ChunkGrid;
/// let grid = ChunkGrid::new(&[4, 4], &[10, 8])?;
/// assert_eq!(grid.counts(), [3, 2]);
/// assert_eq!(grid.linear(&[2, 1])?, 5);
/// assert_eq!(grid.region(&[2, 1])?.count.as_slice(), [2, 4]);
/// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkGrid {
    chunk: Dims,
    extent: Dims,
    counts: Dims,
}

impl ChunkGrid {
    /// Creates the grid of chunks of the shape `chunk` over a dataset's extent of the shape
    /// `extent`.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] if the ranks differ, [`DataspaceError::Invalid`] if the rank is not
    /// between 1 and 32 or a chunk has no elements.
    pub fn new(chunk: &[u64], extent: &[u64]) -> Result<Self> {
        same_rank("the chunk's shape", extent.len(), chunk.len())?;
        if chunk.is_empty() || chunk.len() > MAX_RANK {
            return Err(DataspaceError::Invalid { subject: "the rank", problem: "is not between 1 and 32" });
        }
        if chunk.contains(&0) {
            return Err(DataspaceError::Invalid {
                subject: "the chunk's shape",
                problem: "has a dimension of 0",
            });
        }
        let counts = extent.iter().zip(chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
        Ok(Self { chunk: Dims::from_slice(chunk), extent: Dims::from_slice(extent), counts })
    }

    /// Returns the shape of a chunk of the chunk grid in elements.
    pub fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    /// Returns the shape of the dataset's extent that the chunk grid covers, in elements.
    pub fn extent(&self) -> &[u64] {
        &self.extent
    }

    /// Changes the size of one dimension of the dataset's extent that the chunk grid covers.
    /// Ignores a dimension that does not exist.
    pub fn set_size(&mut self, dimension: usize, size: u64) {
        let counts = self.counts.get_mut(dimension).zip(self.chunk.get(dimension));
        if let (Some(before), Some((count, chunk))) = (self.extent.get_mut(dimension), counts) {
            *before = size;
            // `new` rejects chunks with a dimension of 0.
            *count = size.div_ceil((*chunk).max(1));
        }
    }

    /// Returns the number of chunks in each dimension of the chunk grid.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the number of dimensions of the chunk grid.
    pub fn rank(&self) -> usize {
        self.chunk.len()
    }

    /// Returns the number of all chunks of the chunk grid.
    ///
    /// # Errors
    /// [`DataspaceError::Overflow`] if the number does not fit in 64 bits.
    pub fn chunk_count(&self) -> Result<u64> {
        crate::error::product("number of chunks", self.counts.iter().copied())
    }

    /// Returns the number of elements of a whole chunk of the chunk grid.
    ///
    /// # Errors
    /// [`DataspaceError::Overflow`] if the number does not fit in 64 bits.
    pub fn elements_per_chunk(&self) -> Result<u64> {
        crate::error::product("number of elements of a chunk", self.chunk.iter().copied())
    }

    /// Returns the linear index, in C order, of the chunk at the coordinates `scaled`, which count
    /// chunks. The index does not depend on the size of the slowest dimension.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`], [`DataspaceError::Bounds`] if the chunk does not exist,
    /// [`DataspaceError::Overflow`].
    pub fn linear(&self, scaled: &[u64]) -> Result<u64> {
        self.check(scaled)?;
        let overflow = DataspaceError::Overflow { subject: "number of a chunk" };
        let number = scaled.iter().zip(&self.counts).try_fold(0_u64, |number, (at, count)| {
            number.checked_mul(*count).and_then(|number| number.checked_add(*at))
        });
        number.ok_or(overflow)
    }

    /// Returns the coordinates, in units of chunks, of the chunk with the linear index `linear` in
    /// C order. Returns [`None`] if no chunk of the grid has this index.
    pub fn scaled(&self, linear: u64) -> Option<Dims> {
        let mut rest = linear;
        let mut scaled = Dims::from_elem(0, self.rank());
        for (at, count) in scaled.iter_mut().zip(&self.counts).rev() {
            *at = rest.checked_rem(*count)?;
            rest /= *count;
        }
        (rest == 0).then_some(scaled)
    }

    /// Locates the element with the coordinates `element`. Returns the coordinates of its chunk, in
    /// units of chunks, and the coordinates of the element within the chunk.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] if the ranks differ, [`DataspaceError::Bounds`] if the element lies
    /// outside of the extent.
    pub fn locate(&self, element: &[u64]) -> Result<(Dims, Dims)> {
        self.check_element(element)?;
        let pairs = element.iter().zip(&self.chunk);
        Ok((
            pairs.clone().map(|(at, chunk)| at / chunk).collect(),
            pairs.map(|(at, chunk)| at % chunk).collect(),
        ))
    }

    /// Returns the coordinates, in units of chunks, of the chunk that contains the element with the
    /// coordinates `element`.
    ///
    /// # Errors
    /// The errors of [`locate`](Self::locate).
    pub fn chunk_of(&self, element: &[u64]) -> Result<Dims> {
        self.check_element(element)?;
        Ok(element.iter().zip(&self.chunk).map(|(at, chunk)| at / chunk).collect())
    }

    fn check_element(&self, element: &[u64]) -> Result<()> {
        let is_there = element.len() == self.extent.len()
            && element.iter().zip(&self.extent).all(|(at, size)| at < size);
        if is_there {
            return Ok(());
        }
        let one = Dims::from_elem(1, element.len());
        Region { start: Dims::from_slice(element), count: one }.check_within("the element", &self.extent)
    }

    /// Returns the box of elements of the chunk at the coordinates `scaled`, which count chunks.
    /// The part of the chunk beyond the dataset's extent is cut off.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`], [`DataspaceError::Bounds`] if the chunk does not exist.
    pub fn region(&self, scaled: &[u64]) -> Result<Region> {
        self.check(scaled)?;
        let mut region = Region { start: Dims::new(), count: Dims::new() };
        for ((at, chunk), size) in scaled.iter().zip(&self.chunk).zip(&self.extent) {
            // Cannot overflow: the chunk begins within the extent.
            let start = at * *chunk;
            region.start.push(start);
            region.count.push((size - start).min(*chunk));
        }
        Ok(region)
    }

    /// Returns whether the chunk at the coordinates `scaled`, which count chunks, is an edge chunk:
    /// one that reaches beyond the dataset's extent.
    ///
    /// # Errors
    /// The errors of [`ChunkGrid::region`].
    pub fn is_edge(&self, scaled: &[u64]) -> Result<bool> {
        Ok(self.region(scaled)?.count != self.chunk)
    }

    /// Returns the box of the chunks that contain elements of the box `elements`. The coordinates
    /// of the result count chunks. Elements outside of the dataset's extent are ignored.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] if the ranks differ.
    pub fn chunk_region(&self, elements: &Region) -> Result<Region> {
        same_rank("the box", self.rank(), elements.rank())?;
        let Some(inside) = elements.intersect(&Region::whole(&self.extent)) else {
            let none = Dims::from_elem(0, self.rank());
            return Ok(Region { start: none.clone(), count: none });
        };
        let mut chunks = Region { start: Dims::new(), count: Dims::new() };
        for ((start, end), chunk) in inside.bounds().zip(&self.chunk) {
            chunks.start.push(start / chunk);
            chunks.count.push(end.div_ceil(*chunk) - start / chunk);
        }
        Ok(chunks)
    }

    /// Returns the coordinates, in units of chunks, of the chunks that contain elements of the box
    /// `elements`. The chunks are in C order.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] if the ranks differ.
    pub fn chunks_in(&self, elements: &Region) -> Result<Coordinates> {
        Ok(self.chunk_region(elements)?.coordinates())
    }

    fn check(&self, scaled: &[u64]) -> Result<()> {
        let one = Dims::from_elem(1, scaled.len());
        Region { start: Dims::from_slice(scaled), count: one }.check_within("the chunk", &self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn extremes() {
        assert!(ChunkGrid::new(&[0], &[1]).is_err());
        assert!(ChunkGrid::new(&[], &[]).is_err());
        assert!(ChunkGrid::new(&[1], &[1, 2]).is_err());
        let grid = ChunkGrid::new(&[1, 10], &[u64::MAX, 20]).unwrap();
        assert!(grid.chunk_count().is_err());
        assert_eq!(grid.linear(&[7, 1]).unwrap(), 15);
        assert!(grid.linear(&[u64::MAX - 1, 1]).is_err());
        assert!(grid.linear(&[0, 2]).is_err());
        let empty = ChunkGrid::new(&[4], &[0]).unwrap();
        assert_eq!((empty.chunk_count().unwrap(), empty.scaled(0)), (0, None));
        assert_eq!(empty.chunks_in(&Region::whole(&[9])).unwrap().count(), 0);
    }

    #[test]
    fn one_dimension_may_change() {
        let mut grid = ChunkGrid::new(&[2, 3], &[5, 6]).unwrap();
        grid.set_size(0, 7);
        grid.set_size(1, 0);
        grid.set_size(2, 9);
        assert_eq!(grid, ChunkGrid::new(&[2, 3], &[7, 0]).unwrap());
    }

    fn grids() -> impl Strategy<Value = (ChunkGrid, Region)> {
        (1..4_usize).prop_flat_map(|rank| {
            let dims = |range| proptest::collection::vec(range, rank);
            (dims(1..5_u64), dims(0..9), dims(0..9), dims(0..6)).prop_map(|(chunk, extent, start, count)| {
                (ChunkGrid::new(&chunk, &extent).unwrap(), Region::new(&start, &count).unwrap())
            })
        })
    }

    proptest! {
        #[test]
        fn chunks_tile_the_extent((grid, wanted) in grids()) {
            let all: Vec<Dims> = (0..grid.chunk_count().unwrap()).map(|n| grid.scaled(n).unwrap()).collect();
            prop_assert_eq!(grid.scaled(grid.chunk_count().unwrap()), None);
            for (number, scaled) in all.iter().enumerate() {
                prop_assert_eq!(grid.linear(scaled).unwrap(), number as u64);
                let region = grid.region(scaled).unwrap();
                prop_assert_eq!(grid.is_edge(scaled).unwrap(), region.count.as_slice() != grid.chunk());
                for element in region.coordinates() {
                    let (chunk, within) = grid.locate(&element).unwrap();
                    prop_assert_eq!(&chunk, scaled);
                    for at in 0..grid.rank() {
                        prop_assert_eq!(chunk[at] * grid.chunk()[at] + within[at], element[at]);
                    }
                }
            }
            let elements: u64 = all.iter().map(|at| grid.region(at).unwrap().element_count().unwrap()).sum();
            prop_assert_eq!(elements, grid.extent().iter().product::<u64>());
            let expected: Vec<Dims> = all.into_iter().filter(|at| grid.region(at).unwrap().intersect(&wanted).is_some()).collect();
            prop_assert_eq!(grid.chunks_in(&wanted).unwrap().collect::<Vec<_>>(), expected);
        }
    }
}
