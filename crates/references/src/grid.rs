//! The grid of chunks of an array.

use hyperslab::Region;

/// The chunks of an array: their shape, and their number along each dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    shape: Vec<u64>,
    chunk: Vec<u64>,
    counts: Vec<u64>,
}

impl Grid {
    /// Creates the grid of an array. A chunk has at least one element.
    pub(crate) fn new(shape: &[u64], chunk: &[u64]) -> Self {
        let chunk: Vec<u64> = chunk.iter().map(|size| (*size).max(1)).collect();
        let counts = shape.iter().zip(&chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
        Self { shape: shape.to_vec(), chunk, counts }
    }

    pub(crate) fn shape(&self) -> &[u64] {
        &self.shape
    }

    pub(crate) fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    /// Returns the number of chunks along each dimension.
    pub(crate) fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the number of chunks, or `None` if it does not fit in 64 bits.
    pub(crate) fn len(&self) -> Option<u64> {
        self.counts.iter().try_fold(1_u64, |product, count| product.checked_mul(*count))
    }

    /// Returns the number of elements of a chunk, or `None` if it does not fit in 64 bits.
    pub(crate) fn chunk_elements(&self) -> Option<u64> {
        self.chunk.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))
    }

    /// Returns the position of the chunk whose first element has the given coordinates; `None` if
    /// the array has no such chunk.
    pub(crate) fn position(&self, coordinates: &[u64]) -> Option<u64> {
        if coordinates.len() != self.counts.len() {
            return None;
        }
        let mut position = 0_u64;
        for ((coordinate, chunk), count) in coordinates.iter().zip(&self.chunk).zip(&self.counts) {
            let index = coordinate / chunk;
            if index >= *count {
                return None;
            }
            position = position.checked_mul(*count)?.checked_add(index)?;
        }
        Some(position)
    }

    /// Returns the coordinates of a chunk in the grid.
    fn indices(&self, mut position: u64) -> Vec<u64> {
        let mut indices = vec![0; self.counts.len()];
        for (index, count) in indices.iter_mut().zip(&self.counts).rev() {
            *index = position % (*count).max(1);
            position /= (*count).max(1);
        }
        indices
    }

    /// Returns the position that a chunk of this grid has in another grid; `None` if the other grid
    /// has no such chunk.
    pub(crate) fn position_in(&self, other: &Self, position: u64) -> Option<u64> {
        let indices = self.indices(position).into_iter().zip(&self.chunk);
        let first = indices.map(|(index, chunk)| index.checked_mul(*chunk));
        other.position(&first.collect::<Option<Vec<u64>>>()?)
    }

    /// Returns the elements of a chunk that are in the array.
    pub(crate) fn region(&self, position: u64) -> Region {
        let mut region = Region::whole(&self.shape);
        let indices = self.indices(position);
        let dimensions = indices.iter().zip(&self.chunk).zip(&self.shape);
        for (at, ((index, chunk), size)) in dimensions.enumerate() {
            let start = index.checked_mul(*chunk).map_or(*size, |start| start.min(*size));
            if let (Some(first), Some(count)) = (region.start.get_mut(at), region.count.get_mut(at)) {
                (*first, *count) = (start, (size - start).min(*chunk));
            }
        }
        region
    }

    /// Returns the key of the chunk at a position: `0.3`, or `0` for a scalar.
    pub(crate) fn key(&self, position: u64) -> String {
        let indices: Vec<String> = self.indices(position).iter().map(u64::to_string).collect();
        if indices.is_empty() { "0".to_owned() } else { indices.join(".") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_keys_agree() {
        let grid = Grid::new(&[5, 7], &[2, 3]);
        assert_eq!((grid.counts(), grid.len()), (&[3, 3][..], Some(9)));
        assert_eq!(grid.position(&[4, 3]), Some(7));
        assert_eq!(grid.key(7), "2.1");
        assert_eq!(grid.position(&[6, 0]), None);
        assert_eq!(grid.position_in(&Grid::new(&[5, 12], &[2, 3]), 7), Some(9));
        let edge = grid.region(8);
        assert_eq!((&edge.start[..], &edge.count[..]), (&[4, 6][..], &[1, 1][..]));
        let scalar = Grid::new(&[], &[]);
        assert_eq!((scalar.len(), scalar.key(0), scalar.position(&[])), (Some(1), "0".to_owned(), Some(0)));
        assert_eq!(Grid::new(&[0, 3], &[0, 3]).len(), Some(0));
        assert_eq!(Grid::new(&[u64::MAX, u64::MAX], &[1, 1]).len(), None);
    }
}
