//! Division of a dataset's extent into boxes of bounded size along chunk boundaries.

use crate::{Dims, Region};

/// An iterator over boxes of elements that together cover a dataset's extent, in C order of their
/// first elements. See [`new`](Self::new).
#[derive(Debug, Clone)]
pub struct Boxes {
    dims: Dims,
    shape: Dims,
    next: Option<Dims>,
}

impl Boxes {
    /// Divides a dataset's extent of the shape `dims` into boxes of elements. A box has at most
    /// `bytes` bytes, but at least one chunk.
    ///
    /// Each box consists of as many whole chunks as fit, first along the fastest dimension. No
    /// chunk lies in two boxes.
    ///
    /// ```
    /// use hyperslab_dataspace::{Boxes, Region};
    /// let boxes: Vec<Region> = Boxes::new(&[5, 4], &[2, 2], 1, 8).collect();
    /// let starts: Vec<&[u64]> = boxes.iter().map(|found| found.start.as_slice()).collect();
    /// assert_eq!(starts, [[0, 0], [2, 0], [4, 0]]);
    /// assert_eq!(boxes[2].count.as_slice(), [1, 4]);
    /// ```
    pub fn new(dims: &[u64], chunk: &[u64], element_size: u64, bytes: u64) -> Self {
        let mut shape: Dims = chunk.iter().zip(dims).map(|(chunk, dim)| (*chunk).min(*dim).max(1)).collect();
        // Extends the box in the fastest dimension first. A slower dimension follows only if all
        // faster dimensions are complete.
        for dimension in (0..dims.len()).rev() {
            let others = shape.iter().enumerate().filter(|(other, _)| *other != dimension);
            // Saturates: a row of 2^64 bytes or more fits in no box.
            let row = others.fold(element_size.max(1), |product, (_, size)| product.saturating_mul(*size));
            let (Some(size), Some(dim)) = (shape.get_mut(dimension), dims.get(dimension)) else { continue };
            let fits = bytes / row.max(1) / *size;
            *size = (*size * fits.max(1)).min((*dim).max(1));
            if *size < *dim {
                break;
            }
        }
        let next = (!dims.contains(&0)).then(|| Dims::from_elem(0, dims.len()));
        Self { dims: Dims::from_slice(dims), shape, next }
    }

    /// Returns the shape of the boxes into which a dataset's extent is divided. Boxes at the upper
    /// end of a dimension may be smaller.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }
}

impl Iterator for Boxes {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        let start = self.next.take()?;
        let sizes = start.iter().zip(&self.shape).zip(&self.dims);
        let count = sizes.map(|((start, size), dim)| (*size).min(*dim - *start)).collect();
        let mut following = start.clone();
        for ((at, size), dim) in following.iter_mut().zip(&self.shape).zip(&self.dims).rev() {
            if *size < *dim - *at {
                *at += *size;
                self.next = Some(following);
                break;
            }
            *at = 0;
        }
        Some(Region { start, count })
    }
}
