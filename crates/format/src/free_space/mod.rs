//! Free-space managers (File Format Specification, section III.H): what is unused in the file, or in a
//! fractal heap.

mod header;
mod sections;

pub use header::{FreeSpaceClient, FreeSpaceHeader};
pub use sections::{
    FreeSpaceSection, FreeSpaceSectionKind, FreeSpaceSections, FreeSpaceSectionsContext, IndirectSection,
};
