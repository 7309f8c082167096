//! The items of the modules `object` and `data` that the crate `hyperslab` uses, in one module for
//! each subject. That crate does not use `object` and `data` directly.

/// Objects: their headers, paths, kinds and comments.
pub mod objects {
    pub use super::super::metadata_bytes::{FileMetadataBytes, file_bytes, index_bytes};
    pub use crate::object::annotation::{comment, modification_time, set_comment};
    pub use crate::object::by_name::sort as sort_by_name;
    pub use crate::object::committed::commit_datatype;
    pub use crate::object::container::Container;
    pub use crate::object::dataset::committed_datatype;
    pub use crate::object::header::ObjectHeader;
    pub use crate::object::header_edit::{AttributeOrder, NewHeader, now};
    pub use crate::object::kind::ObjectKind;
    pub use crate::object::metadata_sizes::{HeaderSizes, IndexBytes};
    pub use crate::object::path::{Resolved, lossy, resolve, resolve_from, user_defined};
}

/// Groups and their links.
pub mod groups {
    pub use crate::object::group::{
        GroupStorage, count as count_links, estimated, find as find_link, link_filters, phase_change,
        visit_in_order,
    };
    pub use crate::object::group_edit::{GroupOptions, LinkOrder, create_group, insert_link, move_link};
    pub use crate::object::link::{Link, LinkTarget, LinkView, TargetView};
}

/// Attributes.
pub mod attributes {
    pub use crate::object::attribute::{Attribute, DecodedAttribute, find, for_each};
    pub use crate::object::attribute_edit::{NewAttribute, rename};
}

/// Descriptions of datasets, which come from their object headers.
pub mod datasets {
    pub use super::super::dataset_access::DatasetAccess;
    pub use crate::data::chunk_index::{
        ChunkIndexKind, kind as chunk_index_kind, structured_kind as structured_index_kind,
    };
    pub use crate::data::virtual_::{VirtualOptions, VirtualView, mappings as virtual_mappings};
    pub use crate::object::dataset::{
        DatasetDescription, ExternalPiece, FillDescription, Filters, StoredFillValue, datatype_length,
    };
}

/// Transfers of elements, and the chunks that store them.
pub mod elements {
    pub use crate::data::chunk_index::{ChunkBox, ChunkLocation};
    pub use crate::data::chunked::ChunkedSource;
    pub use crate::data::transfer::{ReadTarget, WriteSource, leaves_parts};
    pub use crate::data::variable::{
        ForeignHeap, ReferenceTarget, VariableLengthReader, VariableLengthValue,
    };
}

/// Elements of sparse datasets.
pub mod sparse {
    pub use crate::data::chunk_index::StructuredLocation;
    pub use crate::data::structured::{
        ChunkKind, PointCoordinates, SelectedChunk, Slab, StructuredForm, StructuredSource, StructuredWriter,
        StructuredWriting,
    };
}
