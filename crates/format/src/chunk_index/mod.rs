//! Chunk indexes with on-disk structures of their own (File Format Specification, appendix C): the
//! fixed array, the extensible array, and the elements of both.

mod element;
mod extensible_array;
mod extensible_array_geometry;
mod extensible_array_header;
mod fixed_array;

pub use element::{ChunkElement, ChunkElementForm, ChunkElementLayout, ChunkIndexClient};
pub use extensible_array::{
    ExtensibleArrayBlockContext, ExtensibleArrayDataBlock, ExtensibleArrayIndexBlock,
    ExtensibleArraySecondaryBlock,
};
pub use extensible_array_geometry::{ElementLocation, ExtensibleArrayGeometry, SecondaryBlockShape};
pub use extensible_array_header::ExtensibleArrayHeader;
pub use fixed_array::{ArrayPage, ArrayPageContext, FixedArrayDataBlock, FixedArrayHeader, FixedArrayLayout};
