//! The shape of a virtual dataset with unlimited mappings, which depends on its source datasets.

use hyperslab_dataspace::Dims;

use super::mapping::{Growth, beyond};
use super::{Mapping, SourceShapes};
use crate::error::Result;

/// The choice between two shapes of a virtual dataset whose sources have different lengths: up to
/// the last available element, or up to the first missing one (H5D_vds_view_t).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum VirtualView {
    /// Up to the last element of any source. Missing elements of other sources have the fill value.
    #[default]
    LastAvailable,
    /// Up to the first element that a source lacks.
    FirstMissing,
}

/// The options of reads of virtual datasets: the choice of the shape, and the number of missing
/// source datasets in a row that a search for numbered sources accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct VirtualOptions {
    /// The extent of virtual datasets.
    pub view: VirtualView,
    /// The number of missing source datasets in a row after which the search for numbered datasets
    /// ends.
    pub gap: u64,
}

/// Returns the current shape of a virtual dataset, from its mappings and its sources. `stored` is
/// the shape in the object header.
///
/// # Errors
/// Returns an error if an existing source cannot be opened. Returns
/// [`Error::Corrupt`](crate::Error::Corrupt) if a size exceeds 64 bits.
pub fn extent(
    mappings: &[Mapping],
    stored: &[u64],
    options: VirtualOptions,
    sources: &dyn SourceShapes,
) -> Result<Dims> {
    let first_missing = options.view == VirtualView::FirstMissing;
    let mut grown: Vec<Option<u64>> = vec![None; stored.len()];
    let mut least = Dims::from_elem(0, stored.len());
    for mapping in mappings {
        for (least, reach) in least.iter_mut().zip(mapping.reach(stored.len())?) {
            *least = reach.max(*least);
        }
        let (shown, slices) = match &mapping.growth {
            Growth::None => continue,
            Growth::Slices { shown, source } => {
                let dims = sources.shape(&mapping.file.of(0), &mapping.dataset.of(0))?;
                let size = dims.and_then(|dims| dims.get(source.dimension).copied()).unwrap_or(0);
                (shown, source.before(size))
            }
            Growth::Datasets(shown) => {
                // Up to the first missing source, no source can be skipped.
                let gap = if first_missing { 0 } else { options.gap };
                let available = available(mapping, gap, sources)?;
                (shown, available.checked_mul(shown.block).ok_or_else(beyond)?)
            }
        };
        let size = shown.extent(slices, first_missing).ok_or_else(beyond)?;
        if let Some(grown) = grown.get_mut(shown.dimension) {
            *grown = Some(match *grown {
                None => size,
                Some(other) if first_missing => size.min(other),
                Some(other) => size.max(other),
            });
        }
    }
    let sizes = stored.iter().zip(grown).zip(least);
    Ok(sizes
        .map(|((stored, grown), least)| match grown {
            None => *stored,
            Some(size) if first_missing => size,
            Some(size) => size.max(least),
        })
        .collect())
}

/// Returns the number of available source datasets of a virtual dataset whose sources are numbered,
/// up to the last source that exists. The search ends after more than `gap` consecutive missing
/// sources.
fn available(mapping: &Mapping, gap: u64, sources: &dyn SourceShapes) -> Result<u64> {
    let (mut number, mut available) = (0_u64, 0_u64);
    // `number` is never less than `available`.
    while number - available <= gap {
        let Some(next) = number.checked_add(1) else { break };
        if sources.shape(&mapping.file.of(number), &mapping.dataset.of(number))?.is_some() {
            available = next;
        }
        number = next;
    }
    Ok(available)
}
