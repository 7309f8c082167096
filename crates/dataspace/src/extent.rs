//! The extent of a dataset or attribute: the current and the maximum size of each dimension.

use std::fmt;

use smallvec::SmallVec;

use crate::error::{Result, product, same_rank};
use crate::{DataspaceError, Region, Selection};

/// The largest number of dimensions of a dataspace (H5S_MAX_RANK).
pub const MAX_RANK: usize = 32;

/// The sizes of the dimensions of a dataspace in elements, slowest-varying dimension first.
pub type Dims = SmallVec<[u64; 4]>;

/// The maximum sizes of the dimensions of a dataspace; `None` for an unlimited dimension.
pub type MaxDims = SmallVec<[Option<u64>; 4]>;

/// A dataspace: the dimensions of a dataset or attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Dataspace {
    /// No elements and no dimensions.
    Null,
    /// A single element without dimensions.
    Scalar,
    /// An array of 1 to 32 dimensions.
    Simple(SimpleExtent),
}

/// The current and the maximum shape of the array of a simple dataspace.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct SimpleExtent {
    /// The current size of each dimension.
    pub dims: Dims,
    /// The maximum size of each dimension. `None` if the file stores none: the array cannot grow.
    pub max_dims: Option<MaxDims>,
}

impl Clone for SimpleExtent {
    // Copies whole slices. `SmallVec::clone` would copy element by element, and each write clones
    // the extent.
    fn clone(&self) -> Self {
        let max_dims = self.max_dims.as_deref().map(MaxDims::from_slice);
        Self { dims: Dims::from_slice(&self.dims), max_dims }
    }
}

impl Dataspace {
    /// Creates a simple dataspace of the shape `dims` that cannot grow.
    pub fn simple(dims: &[u64]) -> Self {
        Self::Simple(SimpleExtent { dims: Dims::from_slice(dims), max_dims: None })
    }

    /// Returns the current sizes of the dimensions of the dataspace. The list of null and scalar
    /// dataspaces is empty.
    pub fn dims(&self) -> &[u64] {
        match self {
            Self::Null | Self::Scalar => &[],
            Self::Simple(extent) => &extent.dims,
        }
    }

    /// Returns the number of dimensions of the dataspace.
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// Creates a simple dataspace of the shape `dims` that can grow to `max_dims`; `None` stands
    /// for an unlimited dimension.
    ///
    /// # Errors
    /// The errors of [`Dataspace::validate`].
    pub fn extendible(dims: &[u64], max_dims: &[Option<u64>]) -> Result<Self> {
        let max_dims = Some(MaxDims::from_slice(max_dims));
        let space = Self::Simple(SimpleExtent { dims: Dims::from_slice(dims), max_dims });
        space.validate()?;
        Ok(space)
    }

    /// Returns the maximum sizes of the dataspace's dimensions. These are the current sizes if the
    /// file stores no maximum.
    pub fn max_dims(&self) -> MaxDims {
        match self {
            Self::Simple(SimpleExtent { max_dims: Some(max_dims), .. }) => max_dims.clone(),
            _ => self.dims().iter().copied().map(Some).collect(),
        }
    }

    /// Returns whether any dimension of the dataspace can grow.
    pub fn is_extendible(&self) -> bool {
        self.dims().iter().zip(self.max_dims()).any(|(dim, max)| max.is_none_or(|max| max > *dim))
    }

    /// Returns whether any dimension of the dataspace is unlimited.
    pub fn is_unlimited(&self) -> bool {
        self.max_dims().contains(&None)
    }

    /// Returns all elements of the dataspace as a box.
    pub fn region(&self) -> Region {
        Region::whole(self.dims())
    }

    /// Checks the dataspace: the number of dimensions (1 to 32), and that no dimension is larger
    /// than its maximum size.
    ///
    /// # Errors
    /// [`DataspaceError::Invalid`] for an invalid number of dimensions, [`DataspaceError::Rank`] if
    /// the maximum shape has another rank, [`DataspaceError::Bounds`] if a dimension is larger than
    /// its maximum size.
    pub fn validate(&self) -> Result<()> {
        let Self::Simple(SimpleExtent { dims, max_dims }) = self else { return Ok(()) };
        if dims.is_empty() || dims.len() > MAX_RANK {
            return Err(DataspaceError::Invalid { subject: "the rank", problem: "is not between 1 and 32" });
        }
        let Some(max_dims) = max_dims else { return Ok(()) };
        same_rank("the largest shape", dims.len(), max_dims.len())?;
        for (dimension, (dim, max)) in dims.iter().zip(max_dims).enumerate() {
            if let Some(size) = max.filter(|max| max < dim) {
                let last = dim - 1;
                return Err(DataspaceError::Bounds {
                    subject: "the extent",
                    dimension,
                    start: 0,
                    last,
                    size,
                });
            }
        }
        Ok(())
    }

    /// Returns the number of elements that `selection` selects from this dataspace.
    ///
    /// ```
    /// use hyperslab_dataspace::{Dataspace, Region, Selection};
    ///
    /// let space = Dataspace::simple(&[4, 6]);
    /// let region = Region::new(&[1, 1], &[2, 3])?;
    /// assert_eq!(space.selected(&Selection::region(&region))?, 6);
    /// assert_eq!(Dataspace::Null.selected(&Selection::All)?, 0);
    /// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataspaceError::Bounds`] if the selection reaches beyond the extent,
    /// [`DataspaceError::Overflow`] if the number does not fit in 64 bits.
    pub fn selected(&self, selection: &Selection) -> Result<u64> {
        match self.element_count() {
            Some(0) if matches!(selection, Selection::All) => Ok(0),
            _ => selection.element_count(self.dims()),
        }
    }

    /// Returns the number of elements of the dataspace; `None` if it does not fit in 64 bits.
    pub fn element_count(&self) -> Option<u64> {
        match self {
            Self::Null => Some(0),
            Self::Scalar => Some(1),
            Self::Simple(extent) => product("number of elements", extent.dims.iter().copied()).ok(),
        }
    }
}

/// Formats the shape, as in `(3, 4/∞)`: the maximum size follows a slash if it differs from the
/// current size.
impl fmt::Display for Dataspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => return f.write_str("null"),
            Self::Scalar => return f.write_str("scalar"),
            Self::Simple(_) => {}
        }
        f.write_str("(")?;
        for (at, (dim, max)) in self.dims().iter().zip(self.max_dims()).enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            match max {
                None => write!(f, "{separator}{dim}/∞")?,
                Some(max) if max != *dim => write!(f, "{separator}{dim}/{max}")?,
                Some(_) => write!(f, "{separator}{dim}")?,
            }
        }
        f.write_str(if self.rank() == 1 { ",)" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_shown() {
        assert_eq!(Dataspace::Null.to_string(), "null");
        assert_eq!(Dataspace::Scalar.to_string(), "scalar");
        assert_eq!(Dataspace::simple(&[5]).to_string(), "(5,)");
        let space = Dataspace::extendible(&[3, 4, 5], &[Some(3), None, Some(9)]).unwrap();
        assert_eq!(space.to_string(), "(3, 4/∞, 5/9)");
    }

    #[test]
    fn growth() {
        assert!(!Dataspace::Scalar.is_extendible());
        assert!(!Dataspace::simple(&[3]).is_extendible());
        assert!(Dataspace::extendible(&[3], &[Some(4)]).unwrap().is_extendible());
        let unlimited = Dataspace::extendible(&[3, 0], &[Some(3), None]).unwrap();
        assert!(unlimited.is_extendible() && unlimited.is_unlimited());
        assert_eq!(Dataspace::simple(&[3, 4]).max_dims().as_slice(), [Some(3), Some(4)]);
        assert!(Dataspace::extendible(&[3], &[Some(2)]).is_err());
        assert!(Dataspace::extendible(&[3], &[]).is_err());
        assert!(Dataspace::simple(&[1; 33]).validate().is_err());
    }

    #[test]
    fn elements_are_counted() {
        assert_eq!(Dataspace::simple(&[u64::MAX, 2, 0]).element_count(), Some(0));
        assert_eq!(Dataspace::simple(&[u64::MAX, 2]).element_count(), None);
        assert_eq!(Dataspace::simple(&[3, 4]).element_count(), Some(12));
    }
}
