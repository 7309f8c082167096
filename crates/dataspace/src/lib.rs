//! HDF5 dataspaces: extents, selections, chunk grids, and the copying of selected elements between
//! arrays and buffers.
//!
//! The crate knows neither files nor element types. Its API has no stability promise: programs use
//! the crate `hyperslab`.
#![deny(unsafe_code)]

mod algebra;
mod assemble;
mod axis;
mod blocks;
mod boxes;
mod copy;
mod defined;
mod error;
mod extent;
mod fill;
mod gather;
mod grid;
mod linear;
mod order;
mod points;
mod region;
mod runs;
mod scatter;
mod selection;
mod spans;
mod tiling;

pub use algebra::SetOperation;
pub use assemble::ChunkPart;
pub use axis::{Axes, Axis, AxisPart, AxisRun};
pub use boxes::Boxes;
pub use copy::{BoxPosition, copy_box};
pub use defined::{Corners, DefinedBuilder, DefinedSet, Segment, SegmentSource, Segments};
pub use error::{DataspaceError, Result};
pub use extent::{Dataspace, Dims, MAX_RANK, MaxDims, SimpleExtent};
pub use fill::{fill, fill_box};
pub use gather::{gather, scatter};
pub use grid::ChunkGrid;
pub use linear::{LinearRows, LinearRun, LinearRuns, Spread, strides};
pub use order::Ordered;
pub use points::Points;
pub use region::{Coordinates, Region};
pub use runs::{Run, Runs};
pub use scatter::{Canvas, ConvertRun, Tile, TileScratch, Tiles};
pub use selection::{Block, Hyperslab, RegularHyperslab, Selection, UNLIMITED};
pub use tiling::Tiling;
