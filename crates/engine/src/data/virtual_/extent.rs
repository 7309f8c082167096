//! The shape of a virtual dataset whose mappings have no end.

use hyperslab_dataspace::Dims;

use super::mapping::Growth;
use super::{Mapping, SourceShapes};
use crate::error::Result;

/// How far a virtual dataset reaches whose sources differ in length (H5D_vds_view_t).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum VirtualView {
    /// As far as there is an element of any source; what other sources lack is the fill value.
    #[default]
    LastAvailable,
    /// As far as no source lacks an element.
    FirstMissing,
}

/// How virtual datasets are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct VirtualOptions {
    /// How far they reach.
    pub view: VirtualView,
    /// Numbered source datasets that may be missing before the search for further ones ends.
    pub gap: u64,
}

/// The shape, where `stored` is the one that the header has.
///
/// # Errors
/// If a source is there, but cannot be opened.
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
        for (least, reach) in least.iter_mut().zip(mapping.reach(stored.len())) {
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
                (shown, available(mapping, options.gap, sources)?.saturating_mul(shown.block))
            }
        };
        let size = shown.extent(slices, first_missing);
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

/// Source datasets up to the last one that is found.
fn available(mapping: &Mapping, gap: u64, sources: &dyn SourceShapes) -> Result<u64> {
    let (mut number, mut available) = (0_u64, 0_u64);
    while number <= available.saturating_add(gap) {
        if sources.shape(&mapping.file.of(number), &mapping.dataset.of(number))?.is_some() {
            available = number.saturating_add(1);
        }
        number = number.saturating_add(1);
    }
    Ok(available)
}
