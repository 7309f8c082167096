//! The sort keys of matrix entries: numbers that order their coordinates.

use anyhow::{Context as _, Result, bail};
use hyperslab_exact::product;

/// The sort keys of matrix coordinates: row by row, or chunk by chunk and row by row inside each
/// chunk.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    shape: Vec<u64>,
    /// The chunk shape, and the number of chunks along each dimension.
    chunks: Option<(Vec<u64>, Vec<u64>)>,
}

impl Keys {
    /// Creates sort keys that order matrix coordinates in C order.
    pub(crate) fn rows(shape: &[u64]) -> Result<Self> {
        Self::checked(shape, shape)?;
        Ok(Self { shape: shape.to_vec(), chunks: None })
    }

    /// Creates sort keys that order matrix coordinates chunk by chunk.
    pub(crate) fn chunks(shape: &[u64], chunk: &[u64]) -> Result<Self> {
        if chunk.len() != shape.len() || chunk.contains(&0) {
            bail!("chunks of the shape {chunk:?} do not fit a matrix of the shape {shape:?}");
        }
        let grid: Vec<u64> = shape.iter().zip(chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
        let whole =
            grid.iter().zip(chunk).map(|(count, chunk)| product("extent of the chunks", [*count, *chunk]));
        Self::checked(shape, &whole.collect::<Result<Vec<u64>, _>>()?)?;
        Ok(Self { shape: shape.to_vec(), chunks: Some((chunk.to_vec(), grid)) })
    }

    /// Checks that the sort keys of a matrix fit in 64 bits. `whole` is the shape of the matrix,
    /// extended to whole chunks.
    fn checked(shape: &[u64], whole: &[u64]) -> Result<()> {
        if shape.is_empty() {
            bail!("the matrix has no dimensions");
        }
        product("number of elements", whole.iter().copied())
            .with_context(|| format!("a matrix of the shape {shape:?} is too large"))?;
        Ok(())
    }

    /// Returns the number of rows in a band of the matrix: a row of chunks, or one row without
    /// chunks. All sort keys of a band are smaller than the keys of later bands.
    pub(super) fn band(&self) -> u64 {
        // Without chunks, a band is a row.
        self.chunks.as_ref().and_then(|(chunk, _)| chunk.first()).copied().unwrap_or(1)
    }

    /// Returns the sort key of matrix coordinates. Returns `None` for coordinates outside of the
    /// matrix.
    pub(super) fn key(&self, at: &[u64]) -> Option<u64> {
        if at.len() != self.shape.len() || at.iter().zip(&self.shape).any(|(at, size)| at >= size) {
            return None;
        }
        // No overflow: `checked` has computed the number of keys.
        let linear = |from: u64, (at, size): (u64, u64)| from * size + at;
        let sizes = self.shape.iter().copied();
        let Some((chunk, grid)) = &self.chunks else {
            return Some(at.iter().copied().zip(sizes).fold(0, linear));
        };
        // `chunks` has checked that the sizes of a chunk are not 0.
        let positions = at.iter().zip(chunk);
        let outer = positions.clone().map(|(at, chunk)| at / chunk);
        let inner = positions.map(|(at, chunk)| at % chunk);
        let number = outer.zip(grid.iter().copied()).fold(0, linear);
        Some(inner.zip(chunk.iter().copied()).fold(number, linear))
    }

    /// Returns true if two sort keys belong to the same chunk. A batch should not end between two
    /// such keys.
    pub(super) fn together(&self, one: u64, other: u64) -> bool {
        let Some((chunk, _)) = &self.chunks else { return false };
        // No overflow: `checked` has computed the number of elements of all chunks.
        let elements: u64 = chunk.iter().product();
        one / elements == other / elements
    }

    /// Appends the matrix coordinates that belong to a sort key.
    pub(super) fn push(&self, key: u64, coordinates: &mut Vec<u64>) -> Result<()> {
        let start = coordinates.len();
        coordinates.resize(start + self.shape.len(), 0);
        let added = coordinates.get_mut(start..).context("the coordinates are missing")?;
        let mut rest = key;
        // Keys exist only for a matrix without sizes of 0.
        let mut digit = |size: u64| -> Result<u64> {
            let digit = rest
                .checked_rem(size)
                .context("the matrix has a dimension of size 0, but the file lists entries")?;
            rest /= size;
            Ok(digit)
        };
        let Some((chunk, grid)) = &self.chunks else {
            for (at, size) in added.iter_mut().zip(&self.shape).rev() {
                *at = digit(*size)?;
            }
            return Ok(());
        };
        for (at, size) in added.iter_mut().zip(chunk).rev() {
            *at = digit(*size)?;
        }
        for ((at, count), size) in added.iter_mut().zip(grid).zip(chunk).rev() {
            // No overflow: the chunks end before 2^64.
            *at += digit(*count)? * size;
        }
        Ok(())
    }
}
