//! The share of elements that are defined, or would be defined in a sparse copy.

use hyperslab_dataspace::{Dataspace, Selection};
use hyperslab_exact::to_u64;
use hyperslab_format::message::Layout;

use super::StoredBefore;
use super::elements::ElementPlan;
use super::storage::SparseCopy;
use super::streamed::{CopyRegions, Streamed};
use crate::error::{Error, Result};
use crate::ops::OpenDataset;

/// Largest number of regions of a dataset from which the share of defined elements is estimated. In
/// a larger dataset, evenly spaced regions are read.
const MAX_SAMPLES: usize = 64;

/// Number of bytes of one region from which the share of a dataset's defined elements is estimated.
/// A single chunk may be larger.
const SAMPLE_BYTES: u64 = 1 << 20;

impl StoredBefore<'_> {
    /// Returns the share of a dataset's elements that are defined, from 0 to 1. In a dense dataset,
    /// elements that differ from `undefined` count as defined. `None` stands for the fill value. Of
    /// a large dense dataset, only samples are read.
    ///
    /// # Errors
    /// Returns the errors of reading the elements.
    pub fn defined_share(&self, undefined: Option<&[u8]>) -> Result<f64> {
        let dataset = OpenDataset::open(self.file, self.header)?;
        let before = &dataset.description;
        let total = before.dataspace.element_count().ok_or_else(too_many)?;
        if total == 0 || !matches!(before.dataspace, Dataspace::Simple(_)) {
            return Ok(0.0);
        }
        if let Some(chunks) = dataset.structured_chunks(self.file)?
            && chunks.form.kind.is_sparse()
        {
            let mut count = 0_u64;
            chunks.for_each_chunk(&self.file.container.store, &mut |scaled, location| {
                let defined = chunks.count_defined(self.file.read_context(), scaled, &location)?;
                count = count.checked_add(defined).ok_or_else(too_many)?;
                Ok(())
            })?;
            return Ok(share(count, total));
        }
        let (plan, _) = ElementPlan::new(&before.datatype, self.file.container.params())?;
        let sparse = SparseCopy { encoding: None, undefined: undefined.map(<[u8]>::to_vec) };
        let unwritten =
            matches!(&before.layout.layout, Layout::Contiguous(layout) if !layout.address.is_defined());
        if unwritten && before.external.is_empty() && sparse.skips_unwritten(before) {
            return Ok(0.0);
        }
        sampled(&Streamed { source: self.file, dataset, plan, sparse }, total)
    }
}

fn sampled(streamed: &Streamed<'_>, total: u64) -> Result<f64> {
    let (size, before) = (streamed.plan.from_size.max(1), &streamed.dataset.description);
    let zeros = vec![0; size];
    let fill = before.fill_element().unwrap_or(&zeros);
    let undefined = streamed.sparse.undefined.as_deref().unwrap_or(fill);
    let parts = streamed.written_regions(None, SAMPLE_BYTES)?;
    let in_all: u64 = match &parts {
        CopyRegions::All(_) => total,
        CopyRegions::Stored(regions) => regions
            .as_slice()
            .iter()
            .try_fold(0_u64, |sum, region| sum.checked_add(region.element_count()?).ok_or_else(too_many))?,
    };
    let number = match &parts {
        CopyRegions::All(boxes) => boxes.clone().count(),
        CopyRegions::Stored(regions) => regions.len(),
    };
    let (mut seen, mut defined) = (0_u64, 0_u64);
    for region in parts.step_by(number.div_ceil(MAX_SAMPLES).max(1)) {
        let elements = streamed.read(&Selection::region(&region), &streamed.empty_heap())?;
        let found = elements.chunks_exact(size).filter(|element| *element != undefined);
        seen += to_u64(elements.len() / size);
        defined += to_u64(found.count());
    }
    Ok(share(defined, seen) * share(in_all, total))
}

fn too_many() -> Error {
    Error::corrupt("dataset", "elements", "at most 2^64", "more")
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
