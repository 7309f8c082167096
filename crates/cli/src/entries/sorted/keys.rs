//! Keys: numbers of coordinates, in the order of the sort.

use anyhow::{Context as _, Result, bail};

/// The order of the keys: row by row, or chunk by chunk and row by row inside each chunk.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    shape: Vec<u64>,
    /// The chunk shape, and the number of chunks along each dimension.
    chunks: Option<(Vec<u64>, Vec<u64>)>,
}

impl Keys {
    /// Creates keys in C order.
    pub(crate) fn rows(shape: &[u64]) -> Result<Self> {
        Self::checked(shape, shape)?;
        Ok(Self { shape: shape.to_vec(), chunks: None })
    }

    /// Creates keys chunk by chunk.
    pub(crate) fn chunks(shape: &[u64], chunk: &[u64]) -> Result<Self> {
        if chunk.len() != shape.len() || chunk.contains(&0) {
            bail!("chunks of the shape {chunk:?} for a matrix of the shape {shape:?}");
        }
        let grid: Vec<u64> = shape.iter().zip(chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
        let whole: Option<Vec<u64>> =
            grid.iter().zip(chunk).map(|(count, chunk)| count.checked_mul(*chunk)).collect();
        Self::checked(shape, &whole.unwrap_or_else(|| vec![u64::MAX; shape.len()]))?;
        Ok(Self { shape: shape.to_vec(), chunks: Some((chunk.to_vec(), grid)) })
    }

    fn checked(shape: &[u64], whole: &[u64]) -> Result<()> {
        if shape.is_empty() {
            bail!("a matrix without dimensions");
        }
        let places = whole.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
        if places.is_none() && !whole.contains(&0) {
            bail!("a matrix of the shape {shape:?} has 2^64 places and more");
        }
        Ok(())
    }

    /// Returns the height of a band of rows. All keys of a band are smaller than those of later bands.
    pub(super) fn band(&self) -> u64 {
        self.chunks.as_ref().and_then(|(chunk, _)| chunk.first()).copied().unwrap_or(1)
    }

    /// Returns the key of coordinates, or `None` outside of the matrix.
    pub(super) fn key(&self, at: &[u64]) -> Option<u64> {
        if at.len() != self.shape.len() || at.iter().zip(&self.shape).any(|(at, size)| at >= size) {
            return None;
        }
        // No overflow: `checked` has computed the last key.
        let linear = |from: u64, (at, size): (u64, u64)| from.wrapping_mul(size).wrapping_add(at);
        let sizes = self.shape.iter().copied();
        let Some((chunk, grid)) = &self.chunks else {
            return Some(at.iter().copied().zip(sizes).fold(0, linear));
        };
        let places = at.iter().zip(chunk);
        let outer = places.clone().map(|(at, chunk)| at.checked_div(*chunk).unwrap_or(0));
        let inner = places.map(|(at, chunk)| at.checked_rem(*chunk).unwrap_or(0));
        let number = outer.zip(grid.iter().copied()).fold(0, linear);
        Some(inner.zip(chunk.iter().copied()).fold(number, linear))
    }

    /// Returns true if two keys belong to one chunk, so that no batch should end between them.
    pub(super) fn together(&self, one: u64, other: u64) -> bool {
        let Some((chunk, _)) = &self.chunks else { return false };
        let places = chunk.iter().fold(1_u64, |product, size| product.saturating_mul(*size));
        one.checked_div(places) == other.checked_div(places)
    }

    /// Appends the coordinates of a key.
    pub(super) fn push(&self, key: u64, coordinates: &mut Vec<u64>) -> Result<()> {
        let start = coordinates.len();
        coordinates.resize(start.saturating_add(self.shape.len()), 0);
        let places = coordinates.get_mut(start..).context("no place")?;
        let mut rest = key;
        let mut digit = |size: u64| {
            let digit = rest.checked_rem(size).unwrap_or(0);
            rest = rest.checked_div(size).unwrap_or(0);
            digit
        };
        let Some((chunk, grid)) = &self.chunks else {
            for (place, size) in places.iter_mut().zip(&self.shape).rev() {
                *place = digit(*size);
            }
            return Ok(());
        };
        for (place, size) in places.iter_mut().zip(chunk).rev() {
            *place = digit(*size);
        }
        for ((place, count), size) in places.iter_mut().zip(grid).zip(chunk).rev() {
            *place = digit(*count).saturating_mul(*size).saturating_add(*place);
        }
        Ok(())
    }
}
