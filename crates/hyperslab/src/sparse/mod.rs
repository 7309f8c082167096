//! Sparse datasets: structured chunks, which store only the elements that were written and contain
//! their variable-length data.

mod builder;
mod chunk_model;
mod chunks;
mod csr;
mod density;
mod filters;
mod heap_elements;
#[cfg(feature = "ndarray")]
mod nonzero;
mod read;
mod rows;
mod slab_rows;
#[cfg(feature = "sprs")]
mod sprs;
mod view;
mod write;

use hyperslab_engine::format::{DefinedEncoding, Layout, StructuredChunkType};

use crate::{Dataset, Datatype, H5Type as _};

pub use builder::SelectionEncoding;
pub(crate) use builder::SparseOptions;
pub(crate) use chunk_model::Fill;
pub use chunks::{SectionInfo, StructuredChunk, StructuredChunkInfo, StructuredChunking};
pub use csr::{Compressed, MatrixIndex};
pub(crate) use filters::SectionFacts;
pub use read::{Defined, DefinedBlock};
pub use view::SparseView;

/// A section of structured chunks: one part of a chunk's bytes, with filters of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// The selection of the defined elements.
    Selection,
    /// The values of the defined elements, each of the same size. Values of variable length are
    /// descriptors.
    Values,
    /// The variable-length data.
    Heap,
}

impl Section {
    /// Returns the sections that the structured chunks of a dataset have, in their order. `sparse`
    /// and `variable` are true for sparse datasets and for elements of variable length.
    pub(crate) fn all(sparse: bool, variable: bool) -> &'static [Self] {
        match (sparse, variable) {
            (true, true) => &[Self::Selection, Self::Values, Self::Heap],
            (true, false) => &[Self::Selection, Self::Values],
            (false, _) => &[Self::Values, Self::Heap],
        }
    }

    /// Returns the name of the section of structured chunks that the command-line tools print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Selection => "SPARSE_SELECTION",
            Self::Values => "SPARSE_FIXED_DATA",
            Self::Heap => "SPARSE_VL",
        }
    }

    /// Returns the datatype from which the filters of a section of structured chunks derive their
    /// parameters: the type of the items in the section.
    pub(crate) fn filter_type(
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
                let coordinates = chunk.iter().fold(0_u32, |coordinates, _| coordinates + corners);
                Datatype::array([coordinates], coordinate)
            }
            // The values are descriptors, which filters treat as bytes.
            Self::Values if datatype.is_variable_length() => Datatype::array([datatype.size], u8::datatype()),
            Self::Values => datatype.clone(),
            Self::Heap => u8::datatype(),
        }
    }
}

impl Dataset {
    /// Returns `true` if the dataset's elements lie in structured chunks.
    pub(crate) fn is_structured(&self) -> bool {
        matches!(self.description().layout.layout, Layout::Structured(_))
    }

    /// Returns `true` if the dataset is sparse: elements can be undefined.
    pub(crate) fn is_sparse(&self) -> bool {
        let layout = &self.description().layout.layout;
        matches!(layout, Layout::Structured(layout) if layout.chunk_type.contains(StructuredChunkType::SPARSE))
    }
}
