//! Extents cut into boxes of bounded size, along chunks.

use crate::{Dims, Region};

/// Boxes that together are an extent, one after the other in C order: see [`new`](Self::new).
#[derive(Debug, Clone)]
pub struct Boxes {
    dims: Dims,
    shape: Dims,
    next: Option<Dims>,
}

impl Boxes {
    /// Boxes of at most `bytes` bytes each (but of one chunk at least): as many whole chunks as fit, rows of the extent
    /// first. Every chunk lies in one box.
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
        // From the fastest dimension on, as many chunks as there is room for; slower ones only when all fit.
        for dimension in (0..dims.len()).rev() {
            let others = shape.iter().enumerate().filter(|(other, _)| *other != dimension);
            // Saturates: no box has room for rows past 64 bits.
            let row = others.fold(element_size.max(1), |product, (_, size)| product.saturating_mul(*size));
            let (Some(place), Some(dim)) = (shape.get_mut(dimension), dims.get(dimension)) else { continue };
            let fits = bytes / row.max(1) / *place;
            *place = (*place * fits.max(1)).min((*dim).max(1));
            if *place < *dim {
                break;
            }
        }
        let next = (!dims.contains(&0)).then(|| Dims::from_elem(0, dims.len()));
        Self { dims: Dims::from_slice(dims), shape, next }
    }

    /// The shape of every box but those at the far ends.
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
