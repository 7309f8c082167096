//! Extents and selections: the types on which [`Dataspace`], [`Region`] and [`Selection`] are
//! built.

pub use hyperslab_dataspace::{
    Axes, Axis, AxisPart, AxisRun, Block, Coordinates, Dataspace, DataspaceError, Dims, Hyperslab, LinearRun,
    LinearRuns, MAX_RANK, MaxDims, Points, Region, RegularHyperslab, Result, Run, Runs, Selection,
    SetOperation, SimpleExtent, UNLIMITED,
};
