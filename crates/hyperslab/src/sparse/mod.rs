//! Sparse datasets: structured chunks, which store only the elements that were written, and what those of variable length
//! hold.

mod builder;
mod chunks;
mod contents;
mod csr;
mod density;
mod filters;
#[cfg(feature = "ndarray")]
mod nonzero;
mod read;
mod rows;
#[cfg(feature = "sprs")]
mod sprs;
mod view;
mod write;

use hyperslab_engine::format::{DefinedEncoding, Layout, StructuredChunkType};

use crate::{Dataset, Datatype, H5Type as _};

pub use builder::SelectionEncoding;
pub(crate) use builder::SparseWanted;
pub use chunks::{SectionInfo, StructuredChunk, StructuredChunkInfo, StructuredChunking};
pub use csr::{Compressed, MatrixIndex};
pub(crate) use filters::SectionFacts;
pub use read::{Defined, DefinedBlock};
pub use view::SparseView;

/// A section of structured chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// Which elements are defined.
    Selection,
    /// The values of these elements; of fixed size each.
    Values,
    /// What values of variable length hold.
    Heap,
}

impl Section {
    /// The sections of the chunks of a dataset, in their order.
    pub(crate) fn all(sparse: bool, variable: bool) -> &'static [Self] {
        match (sparse, variable) {
            (true, true) => &[Self::Selection, Self::Values, Self::Heap],
            (true, false) => &[Self::Selection, Self::Values],
            (false, _) => &[Self::Values, Self::Heap],
        }
    }

    /// The name that the tools of the format have for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Selection => "SPARSE_SELECTION",
            Self::Values => "SPARSE_FIXED_DATA",
            Self::Heap => "SPARSE_VL",
        }
    }

    /// The type that filters are told of: what stands in the section one after the other.
    pub(crate) fn shown_type(
        self,
        datatype: &Datatype,
        chunk: &[u64],
        encoding: DefinedEncoding,
    ) -> Datatype {
        let narrow = chunk.iter().all(|size| *size <= 1 << 16);
        let coordinate = if narrow { u16::datatype() } else { u32::datatype() };
        let corners = if encoding == DefinedEncoding::Hyperslab { 2 } else { 1 };
        match self {
            Self::Selection => {
                let coordinates = u32::try_from(chunk.len()).unwrap_or(1).saturating_mul(corners);
                Datatype::array([coordinates], coordinate)
            }
            // Places in the heap, not contents: to filters they are bytes.
            Self::Values if datatype.is_variable_length() => Datatype::array([datatype.size], u8::datatype()),
            Self::Values => datatype.clone(),
            Self::Heap => u8::datatype(),
        }
    }
}

impl Dataset {
    /// Returns whether elements lie in structured chunks.
    pub(crate) fn is_structured(&self) -> bool {
        matches!(self.description().layout.layout, Layout::Structured(_))
    }

    /// Returns whether elements may be undefined.
    pub(crate) fn is_sparse(&self) -> bool {
        let layout = &self.description().layout.layout;
        matches!(layout, Layout::Structured(layout) if layout.chunk_type.contains(StructuredChunkType::SPARSE))
    }
}
