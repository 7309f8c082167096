//! Free-space managers (File Format Specification, section III.H). They record the unused bytes of
//! the file or of a fractal heap.

mod header;
mod sections;

pub use header::{FreeSpaceClient, FreeSpaceHeader};
pub use sections::{
    FreeSpaceSection, FreeSpaceSectionKind, FreeSpaceSections, FreeSpaceSectionsContext, IndirectSection,
};
