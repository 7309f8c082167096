//! Which elements of a dataspace take part.

use crate::Dims;

/// A count or block of a hyperslab that goes on without end (H5S_UNLIMITED).
pub const UNLIMITED: u64 = u64::MAX;

/// A selection of elements of a dataspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// No element.
    None,
    /// Every element.
    All,
    /// Single elements, in an order of their own.
    Points(Points),
    /// Blocks, in C order.
    Hyperslab(Hyperslab),
}

/// A list of single elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points {
    /// The number of dimensions.
    pub rank: usize,
    /// Coordinates point after point, `rank` of them each.
    pub coordinates: Vec<u64>,
}

/// Blocks of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hyperslab {
    /// Equal blocks at equal distances.
    Regular(RegularHyperslab),
    /// Any disjoint blocks.
    Irregular {
        /// The number of dimensions.
        rank: usize,
        /// The blocks.
        blocks: Vec<Block>,
    },
}

/// In each dimension: `count` blocks of `block` elements, one every `stride`, from `start` on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegularHyperslab {
    /// First element.
    pub start: Dims,
    /// Distance between the starts of blocks.
    pub stride: Dims,
    /// Number of blocks, or [`UNLIMITED`].
    pub count: Dims,
    /// Elements of a block, or [`UNLIMITED`].
    pub block: Dims,
}

/// A box of elements: both corners belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Lowest coordinate in each dimension.
    pub start: Dims,
    /// Highest coordinate in each dimension.
    pub end: Dims,
}
