//! The sizes of one dataset: its bytes in the file and in memory, and its chunks.

use std::ops::ControlFlow;

use hyperslab::{Dataset, Layout, Result};
use serde_json::{Value as Json, json};

use crate::ls::dataset::layout_name;
use crate::sections::{StructuredTotals, filter_name, share};

/// The sizes of a dataset: its bytes in the file, and the bytes of its elements in memory.
#[derive(Debug)]
pub(super) struct DatasetSizes {
    pub(super) layout: &'static str,
    /// The names of the filters.
    pub(super) filters: Vec<String>,
    /// The bytes of all elements. For sparse datasets, the bytes of the sections before the
    /// filters.
    pub(super) raw: u64,
    pub(super) stored: u64,
    pub(super) chunks: Option<Chunks>,
    pub(super) structured: Option<StructuredTotals>,
}

/// The numbers of stored and possible chunks of a dataset, and the bytes of edge chunks that lie
/// outside the dimensions of the dataset.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chunks {
    pub(super) stored: u64,
    /// The largest number of chunks that the extent can have.
    pub(super) possible: u64,
    /// The stored bytes of elements beyond the extent. For filtered chunks an estimate: the share
    /// of the elements.
    pub(super) overhang: u64,
}

impl DatasetSizes {
    /// Returns the sizes of a dataset for the statistics. Visits all chunks in its index.
    pub(super) fn of(dataset: &Dataset) -> Result<Self> {
        let (layout, dims) = (dataset.layout(), dataset.dataspace().dims().to_vec());
        let size = u64::from(dataset.datatype().size);
        let elements = dataset.dataspace().element_count().unwrap_or(u64::MAX);
        let mut sizes = Self {
            layout: layout_name(&layout),
            filters: dataset.filters().iter().map(filter_name).collect(),
            // The extent of a damaged file may state more bytes than 64 bits can count.
            raw: elements.saturating_mul(size),
            stored: 0,
            chunks: None,
            structured: StructuredTotals::of(dataset)?,
        };
        if let Some(totals) = &sizes.structured {
            let sections = totals.sections.iter();
            sizes.raw = sections.fold(0, |raw, section| sum(raw, section.unfiltered));
            sizes.filters = totals.filter_names();
            sizes.stored = totals.stored;
            let possible = possible(&dims, &totals.chunking.shape);
            sizes.chunks = Some(Chunks { stored: totals.chunks, possible, overhang: 0 });
        } else if let Layout::Chunked(chunking) = &layout {
            let mut chunks = Chunks { possible: possible(&dims, &chunking.shape), ..Chunks::default() };
            dataset.chunks().visit(|chunk| {
                sizes.stored = sum(sizes.stored, chunk.size);
                chunks.stored += 1;
                let beyond = beyond(&dims, &chunking.shape, &chunk.offset);
                chunks.overhang = sum(chunks.overhang, part(chunk.size, beyond));
                ControlFlow::Continue(())
            })?;
            sizes.chunks = Some(chunks);
        } else {
            sizes.stored = dataset.storage_size()?;
        }
        Ok(sizes)
    }

    /// Returns the size of the elements divided by their stored size, or `None` without filters.
    pub(super) fn ratio(&self) -> Option<f64> {
        (self.stored > 0 && self.raw > 0 && !self.filters.is_empty()).then(|| share(self.raw, self.stored))
    }

    pub(super) fn json(&self) -> Json {
        json!({
            "layout": self.layout,
            "filters": self.filters,
            "raw_size": self.raw,
            "stored_size": self.stored,
            "ratio": self.ratio(),
            "chunks": self.chunks.map(|chunks| chunks.stored),
            "possible_chunks": self.chunks.map(|chunks| chunks.possible),
            "overhang": self.chunks.map(|chunks| chunks.overhang),
        })
    }
}

/// Adds sizes or counts for display. On overflow, which a damaged file can cause, returns the
/// largest number of the type.
pub(super) fn sum(left: u64, right: u64) -> u64 {
    left.saturating_add(right)
}

/// Returns the number of chunks of the shape `shape` that cover a dataset of the shape `dims`.
fn possible(dims: &[u64], shape: &[u64]) -> u64 {
    let along = dims.iter().zip(shape).map(|(size, chunk)| size.div_ceil((*chunk).max(1)));
    // Saturates, because the number is only printed.
    along.fold(1, u64::saturating_mul)
}

/// Returns the share of a chunk's elements that lie beyond the edge of the dataset.
#[expect(clippy::cast_precision_loss, reason = "shares are shown with three digits")]
fn beyond(dims: &[u64], shape: &[u64], offset: &[u64]) -> f64 {
    let along = dims.iter().zip(shape).zip(offset);
    let inside = along.map(|((size, chunk), at)| {
        // A chunk of a damaged file may begin beyond the extent: no element is inside then.
        let inside = size.saturating_sub(*at).min(*chunk);
        inside as f64 / (*chunk).max(1) as f64
    });
    1.0 - inside.product::<f64>()
}

/// Returns a share of a number of bytes.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the share is between 0 and 1"
)]
fn part(bytes: u64, share: f64) -> u64 {
    (bytes as f64 * share).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges() {
        assert_eq!((possible(&[10, 7], &[4, 7]), possible(&[], &[]), possible(&[0], &[3])), (3, 1, 0));
        assert_eq!(part(280, beyond(&[10, 7], &[4, 7], &[8, 0])), 140);
        assert_eq!(part(280, beyond(&[10, 7], &[4, 7], &[4, 0])), 0);
        // A chunk that begins beyond the extent is a fault of the file, and overhang as a whole.
        assert_eq!(part(280, beyond(&[10, 7], &[4, 7], &[12, 0])), 280);
    }
}
