//! Lists of single selected elements: point selections.

use hyperslab_exact::to_u64;

use crate::error::{Result, same_rank};
use crate::region::check_bounds;
use crate::{DataspaceError, Dims};

/// A list of single selected elements, given by their coordinates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points {
    /// The number of dimensions.
    pub rank: usize,
    /// The coordinates of all points, one point after the other: `rank` coordinates for each point.
    pub coordinates: Vec<u64>,
}

impl Points {
    /// Creates a point selection from the rows of an array. Each row contains the coordinates of
    /// one point, and the points have the order of the rows.
    ///
    /// ```
    /// use hyperslab_dataspace::Points;
    /// let points = Points::from_rows([[0, 5], [7, 1]]);
    /// assert_eq!((points.rank, points.coordinates), (2, vec![0, 5, 7, 1]));
    /// ```
    pub fn from_rows<const N: usize>(rows: impl IntoIterator<Item = [u64; N]>) -> Self {
        Self { rank: N, coordinates: rows.into_iter().flatten().collect() }
    }

    /// Creates a point selection from one column for each dimension, slowest dimension first. A
    /// column contains the coordinates of all points along its dimension.
    ///
    /// ```
    /// use hyperslab_dataspace::Points;
    /// assert_eq!(Points::from_columns(&[[0, 7], [5, 1]])?, Points::from_rows([[0, 5], [7, 1]]));
    /// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataspaceError::Invalid`] if the columns have different lengths.
    pub fn from_columns<C: AsRef<[u64]>>(columns: &[C]) -> Result<Self> {
        let length = columns.first().map_or(0, |column| column.as_ref().len());
        if columns.iter().any(|column| column.as_ref().len() != length) {
            let problem = "has columns of different lengths";
            return Err(DataspaceError::Invalid { subject: "a list of points", problem });
        }
        let point = |at: usize| columns.iter().filter_map(move |column| column.as_ref().get(at).copied());
        Ok(Self { rank: columns.len(), coordinates: (0..length).flat_map(point).collect() })
    }

    /// Returns the number of points of the point selection.
    pub fn len(&self) -> usize {
        self.coordinates.len().checked_div(self.rank).unwrap_or(0)
    }

    /// Returns whether the point selection has no points.
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// Returns the coordinates of the points of the point selection in their order.
    pub fn points(&self) -> impl Iterator<Item = &[u64]> {
        self.coordinates.chunks_exact(self.rank.max(1))
    }

    pub(crate) fn check(&self, dims: &[u64]) -> Result<()> {
        let subject = "a point";
        same_rank(subject, dims.len(), self.rank)?;
        if self.rank == 0 || !self.coordinates.len().is_multiple_of(self.rank) {
            return Err(DataspaceError::Invalid {
                subject: "a list of points",
                problem: "has parts of points",
            });
        }
        for point in self.points() {
            if point.iter().zip(dims).any(|(at, size)| at >= size) {
                return check_bounds(subject, point, &Dims::from_elem(1, self.rank), dims);
            }
        }
        Ok(())
    }
}

impl<const N: usize> From<&[[usize; N]]> for Points {
    /// Returns a point selection of the points with the given coordinates, in their order.
    ///
    /// ```
    /// use hyperslab_dataspace::Points;
    /// let peaks = vec![[0_usize, 5], [7, 1]];
    /// assert_eq!(Points::from(peaks.as_slice()), Points::from_rows([[0, 5], [7, 1]]));
    /// ```
    fn from(points: &[[usize; N]]) -> Self {
        Self { rank: N, coordinates: points.iter().flatten().map(|at| to_u64(*at)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_different_lengths_are_refused() {
        assert!(Points::from_columns(&[vec![1, 2], vec![3]]).is_err());
        assert_eq!(Points::from_columns::<Vec<u64>>(&[]).unwrap().len(), 0);
        assert_eq!(Points::from([[1_usize, 2], [3, 4]].as_slice()).len(), 2);
    }
}
