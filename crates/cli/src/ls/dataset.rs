//! The description of a dataset in a listing.

use std::ops::ControlFlow;

use hyperslab::{
    ChunkIndexKind, Dataset, Dataspace, Datatype, Error, ErrorKind, ExternalFile, FillStatus, FilterInfo,
    Layout, ObjectToken, Result, StructuredChunking,
};
use hyperslab_exact::product;

use super::describer::{Describer, message, noted};
use crate::sections::StructuredTotals;
use crate::values::Value;

/// The largest number of elements of a dataset whose values a listing prints.
const SHOWN_ELEMENTS: u64 = 4;

/// The size in bytes of the largest dataset whose values a listing prints.
const SHOWN_BYTES: u64 = 1 << 16;

/// The description of a dataset in a listing: shape, datatype and storage.
#[derive(Debug)]
pub(crate) struct DatasetFacts {
    pub(crate) datatype: Datatype,
    /// The committed datatype of the dataset, if it has one.
    pub(crate) committed: Option<Committed>,
    pub(crate) space: Dataspace,
    pub(crate) layout: Layout,
    pub(crate) filters: Vec<FilterInfo>,
    pub(crate) fill: Option<Value>,
    pub(crate) external: Vec<ExternalFile>,
    /// The decoded size of all elements in bytes. `None` if it does not fit in 64 bits.
    pub(crate) logical: Option<u64>,
    pub(crate) stored: Option<StoredFacts>,
    /// The structured chunks of a dataset with this layout.
    pub(crate) chunking: Option<StructuredChunking>,
    pub(crate) structured: Option<StructuredTotals>,
    pub(crate) units: Option<String>,
    /// The elements of a small dataset.
    pub(crate) value: Option<Value>,
}

/// The committed datatype that a dataset uses: its address, and its path if it has one.
#[derive(Debug)]
pub(crate) struct Committed {
    pub(crate) address: u64,
    pub(crate) path: Option<String>,
}

/// The description of a dataset's storage in a listing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredFacts {
    pub(crate) bytes: u64,
    /// The number of chunks of a chunked dataset.
    pub(crate) chunks: Option<u64>,
}

impl DatasetFacts {
    pub(crate) fn of(describer: &Describer, dataset: &Dataset, problems: &mut Vec<String>) -> Self {
        let datatype = dataset.datatype().clone();
        let space = dataset.dataspace().clone();
        let elements = space.element_count();
        let layout = dataset.layout();
        let storage = describer.storage;
        let value = if storage { value(describer, dataset, elements, &layout) } else { Ok(None) };
        let structured = if storage { StructuredTotals::of(dataset) } else { Ok(None) };
        let structured = noted(structured, problems).flatten();
        let stored = match &structured {
            Some(totals) => Ok(Some(StoredFacts { bytes: totals.stored, chunks: Some(totals.chunks) })),
            None if storage => stored(dataset, &layout),
            None => Ok(None),
        };
        let committed = dataset.committed_datatype().map(|token: ObjectToken| Committed {
            address: token.address(),
            path: if describer.all { describer.paths.of(token.address()) } else { None },
        });
        Self {
            committed,
            filters: dataset.filters(),
            fill: if storage { fill(describer, dataset, problems) } else { None },
            external: dataset.external_files(),
            logical: elements.and_then(|count| count.checked_mul(u64::from(datatype.size))),
            stored: noted(stored, problems).flatten(),
            chunking: dataset.sparse().chunking(),
            structured,
            units: describer.label(dataset, "units", problems),
            value: noted(value, problems).flatten(),
            datatype,
            space,
            layout,
        }
    }

    /// Returns the decoded size of a dataset divided by its stored size. Returns `None` without
    /// filters or stored bytes.
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    pub(crate) fn ratio(&self) -> Option<f64> {
        let (logical, stored) = (self.logical?, self.stored?.bytes);
        (!self.filters.is_empty() && logical > 0 && stored > 0).then(|| logical as f64 / stored as f64)
    }
}

/// Reads the elements of a small dataset for a listing. Returns `None` if the dataset is large, if
/// its elements are in other files, or if this version of hyperslab cannot read them.
fn value(
    describer: &Describer,
    dataset: &Dataset,
    elements: Option<u64>,
    layout: &Layout,
) -> Result<Option<Value>> {
    let here = match layout {
        Layout::Compact | Layout::Chunked(_) | Layout::Structured => true,
        Layout::Contiguous { address } => address.is_some(),
        _ => false,
    };
    let few =
        elements.is_some_and(|count| (1..=SHOWN_ELEMENTS).contains(&count) && is_small(dataset, &[count]));
    // A chunk may be far larger than the dataset.
    let structured = dataset.sparse().chunking().map(|chunking| chunking.shape);
    let shape = match layout {
        Layout::Chunked(chunking) => Some(&chunking.shape),
        _ => structured.as_ref(),
    };
    let small_chunk = match shape {
        Some(shape) => is_small(dataset, shape),
        None => true,
    };
    if !(here && few && small_chunk) {
        return Ok(None);
    }
    let shown = dataset.read_stored(..).and_then(|stored| {
        let dataspace = dataset.dataspace();
        let dims = dataspace.dims();
        describer.decoder(Some(&stored)).array(dims, stored.datatype(), stored.bytes())
    });
    match shown {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        other => other.map(Some),
    }
}

/// Returns true if an array of elements takes at most `SHOWN_BYTES` bytes.
fn is_small(dataset: &Dataset, shape: &[u64]) -> bool {
    let sizes = shape.iter().copied().chain([dataset.datatype().size.into()]);
    product("size of the elements", sizes).is_ok_and(|bytes| bytes <= SHOWN_BYTES)
}

fn fill(describer: &Describer, dataset: &Dataset, problems: &mut Vec<String>) -> Option<Value> {
    if !matches!(dataset.fill_value().status, FillStatus::User(_)) {
        return None;
    }
    let value = dataset
        .stored_fill_value()
        .and_then(|stored| describer.decoder(Some(&stored)).array(&[], dataset.datatype(), stored.bytes()));
    match value {
        Ok(value) => Some(value),
        Err(error) => {
            problems.push(format!("fill value: {}", message(&error)));
            None
        }
    }
}

fn stored(dataset: &Dataset, layout: &Layout) -> Result<Option<StoredFacts>> {
    match layout {
        Layout::Chunked(_) => {
            let (mut bytes, mut chunks) = (Some(0_u64), 0);
            let counted = dataset.chunks().visit(|chunk| {
                bytes = bytes.and_then(|bytes| bytes.checked_add(chunk.size));
                chunks += 1;
                ControlFlow::Continue(())
            });
            match (counted, bytes) {
                (Err(error), _) if error.kind() == ErrorKind::Unsupported => Ok(None),
                (Err(error), _) => Err(error),
                (Ok(()), Some(bytes)) => Ok(Some(StoredFacts { bytes, chunks: Some(chunks) })),
                (Ok(()), None) => {
                    Err(Error::corrupt("chunk index", "sizes", "a sum of less than 2^64", "a larger sum"))
                }
            }
        }
        Layout::Compact | Layout::Contiguous { .. } => {
            Ok(Some(StoredFacts { bytes: dataset.storage_size()?, chunks: None }))
        }
        _ => Ok(None),
    }
}

/// Returns the name of a chunk index type.
pub(crate) fn index_name(kind: ChunkIndexKind) -> &'static str {
    match kind {
        ChunkIndexKind::BTreeV1 => "version 1 B-tree",
        ChunkIndexKind::Single => "single chunk",
        ChunkIndexKind::Implicit => "implicit index",
        ChunkIndexKind::FixedArray => "fixed array",
        ChunkIndexKind::ExtensibleArray => "extensible array",
        ChunkIndexKind::BTreeV2 => "version 2 B-tree",
    }
}

/// Returns the name of a dataset layout.
pub(crate) fn layout_name(layout: &Layout) -> &'static str {
    match layout {
        Layout::Compact => "compact",
        Layout::Contiguous { .. } => "contiguous",
        Layout::Chunked(_) => "chunked",
        Layout::Virtual => "virtual",
        Layout::Structured => "structured chunks",
        _ => "unknown layout",
    }
}

/// Formats the shape of a dataset: `1024 × 2048`. A maximum size follows a slash; an unlimited size
/// is `∞`.
pub(crate) fn shape(space: &Dataspace) -> String {
    match space {
        Dataspace::Null => return "null".into(),
        Dataspace::Scalar => return "scalar".into(),
        Dataspace::Simple(_) => {}
    }
    let dimension = |(dim, max): (&u64, Option<u64>)| match max {
        None => format!("{dim}/∞"),
        Some(max) if max != *dim => format!("{dim}/{max}"),
        Some(_) => dim.to_string(),
    };
    let shown: Vec<String> = space.dims().iter().zip(space.max_dims()).map(dimension).collect();
    shown.join(" × ")
}

/// Formats the sizes of a dataset's dimensions: `64 × 64`.
pub(crate) fn sizes(sizes: &[u64]) -> String {
    sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!(shape(&Dataspace::Scalar), "scalar");
        assert_eq!(shape(&Dataspace::Null), "null");
        assert_eq!(shape(&Dataspace::simple(&[1024, 2048])), "1024 × 2048");
        let space = Dataspace::extendible(&[3, 4, 5], &[Some(3), None, Some(9)]).unwrap();
        assert_eq!(shape(&space), "3 × 4/∞ × 5/9");
    }
}
