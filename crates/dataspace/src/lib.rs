//! HDF5 dataspaces: extents, selections, chunk grids, gather and scatter by runs. No stability promise:
//! use the crate `hyperslab`. Pure: nothing here knows files or element types.
#![forbid(unsafe_code)]

mod extent;
mod selection;

pub use extent::{Dataspace, Dims, MAX_RANK, MaxDims, SimpleExtent};
pub use selection::{Block, Hyperslab, Points, RegularHyperslab, Selection, UNLIMITED};
