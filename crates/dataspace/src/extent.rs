//! The extent of a dataset or attribute.

use smallvec::SmallVec;

/// The largest rank (H5S_MAX_RANK).
pub const MAX_RANK: usize = 32;

/// Sizes of the dimensions, slowest-varying first, in elements.
pub type Dims = SmallVec<[u64; 4]>;

/// Largest sizes of the dimensions; `None` for an unlimited one.
pub type MaxDims = SmallVec<[Option<u64>; 4]>;

/// How many elements there are, and how they are arranged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Dataspace {
    /// No elements and no shape.
    Null,
    /// One element.
    Scalar,
    /// An array of rank 1 to 32.
    Simple(SimpleExtent),
}

/// The shape of an array and how far it may grow.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SimpleExtent {
    /// Current size of each dimension.
    pub dims: Dims,
    /// Largest size of each dimension; `None` when the file stores none (the same as `dims`).
    pub max_dims: Option<MaxDims>,
}

impl Dataspace {
    /// A simple dataspace that cannot grow.
    pub fn simple(dims: &[u64]) -> Self {
        Self::Simple(SimpleExtent { dims: Dims::from_slice(dims), max_dims: None })
    }

    /// The shape: empty for null and scalar dataspaces.
    pub fn dims(&self) -> &[u64] {
        match self {
            Self::Null | Self::Scalar => &[],
            Self::Simple(extent) => &extent.dims,
        }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// The number of elements; `None` if it passes 64 bits.
    pub fn element_count(&self) -> Option<u64> {
        match self {
            Self::Null => Some(0),
            Self::Scalar => Some(1),
            Self::Simple(extent) => {
                if extent.dims.contains(&0) {
                    return Some(0);
                }
                extent.dims.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim))
            }
        }
    }
}
