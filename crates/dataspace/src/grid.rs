//! How chunks tile an extent.

use crate::error::{Result, same_rank};
use crate::{Coordinates, DataspaceError, Dims, MAX_RANK, Region};

/// Equal chunks that tile an extent from its origin on; the last ones in each dimension may reach beyond it.
///
/// Chunks are named by their scaled coordinates (those of their first element, divided by the chunk's
/// shape), or by a number that counts them in C order.
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
    /// Chunks of the shape `chunk` over the shape `extent`.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] if the two differ in it, [`DataspaceError::Invalid`] if it is 0 or more than 32
    /// or if a chunk has no elements.
    pub fn new(chunk: &[u64], extent: &[u64]) -> Result<Self> {
        same_rank("the chunk's shape", extent.len(), chunk.len())?;
        if chunk.is_empty() || chunk.len() > MAX_RANK {
            return Err(DataspaceError::Invalid { what: "the rank", problem: "is not between 1 and 32" });
        }
        if chunk.contains(&0) {
            return Err(DataspaceError::Invalid {
                what: "the chunk's shape",
                problem: "has a dimension of 0",
            });
        }
        let counts = extent.iter().zip(chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
        Ok(Self { chunk: Dims::from_slice(chunk), extent: Dims::from_slice(extent), counts })
    }

    /// The shape of a chunk, in elements.
    pub fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    /// The shape of the extent, in elements.
    pub fn extent(&self) -> &[u64] {
        &self.extent
    }

    /// Changes the size of one dimension of the extent. A dimension that there is not stays away.
    pub fn set_size(&mut self, dimension: usize, size: u64) {
        let counts = self.counts.get_mut(dimension).zip(self.chunk.get(dimension));
        if let (Some(before), Some((count, chunk))) = (self.extent.get_mut(dimension), counts) {
            *before = size;
            // No chunk is made with a dimension of 0.
            *count = size.div_ceil((*chunk).max(1));
        }
    }

    /// The number of chunks in each dimension.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.chunk.len()
    }

    /// The number of all chunks.
    ///
    /// # Errors
    /// [`DataspaceError::Overflow`] if 64 bits do not hold it.
    pub fn chunk_count(&self) -> Result<u64> {
        crate::error::product("number of chunks", self.counts.iter().copied())
    }

    /// The number of elements of a chunk that is not cut.
    ///
    /// # Errors
    /// [`DataspaceError::Overflow`] if 64 bits do not hold it.
    pub fn elements_per_chunk(&self) -> Result<u64> {
        crate::error::product("number of elements of a chunk", self.chunk.iter().copied())
    }

    /// The number of the chunk, counting in C order. That of the slowest dimension does not matter for it.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`], [`DataspaceError::Bounds`] if there is no such chunk,
    /// [`DataspaceError::Overflow`].
    pub fn linear(&self, scaled: &[u64]) -> Result<u64> {
        self.check(scaled)?;
        let overflow = DataspaceError::Overflow { what: "number of a chunk" };
        let number = scaled.iter().zip(&self.counts).try_fold(0_u64, |number, (at, count)| {
            number.checked_mul(*count).and_then(|number| number.checked_add(*at))
        });
        number.ok_or(overflow)
    }

    /// The scaled coordinates of the chunk of that number; [`None`] if there is none.
    pub fn scaled(&self, linear: u64) -> Option<Dims> {
        let mut rest = linear;
        let mut scaled = Dims::from_elem(0, self.rank());
        for (at, count) in scaled.iter_mut().zip(&self.counts).rev() {
            *at = rest.checked_rem(*count)?;
            rest /= *count;
        }
        (rest == 0).then_some(scaled)
    }

    /// The scaled coordinates of the chunk that holds an element, and the element's place within it.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`], [`DataspaceError::Bounds`].
    pub fn locate(&self, element: &[u64]) -> Result<(Dims, Dims)> {
        self.check_element(element)?;
        let pairs = element.iter().zip(&self.chunk);
        Ok((
            pairs.clone().map(|(at, chunk)| at / chunk).collect(),
            pairs.map(|(at, chunk)| at % chunk).collect(),
        ))
    }

    /// The chunk that holds an element.
    ///
    /// # Errors
    /// As [`locate`](Self::locate).
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

    /// The elements of the extent that the chunk holds.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`], [`DataspaceError::Bounds`] if there is no such chunk.
    pub fn region(&self, scaled: &[u64]) -> Result<Region> {
        self.check(scaled)?;
        let mut region = Region { start: Dims::new(), count: Dims::new() };
        for ((at, chunk), size) in scaled.iter().zip(&self.chunk).zip(&self.extent) {
            // The chunk begins within the extent, so that nothing overflows.
            let start = at * *chunk;
            region.start.push(start);
            region.count.push((size - start).min(*chunk));
        }
        Ok(region)
    }

    /// Whether the chunk reaches beyond the extent.
    ///
    /// # Errors
    /// As [`ChunkGrid::region`].
    pub fn is_edge(&self, scaled: &[u64]) -> Result<bool> {
        Ok(self.region(scaled)?.count != self.chunk)
    }

    /// The chunks that hold elements of the box, as a box of scaled coordinates. Elements of the box that are
    /// not in the extent do not count.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`].
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

    /// The scaled coordinates of the chunks that hold elements of the box, in C order.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`].
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
