//! Arrays to write and to read into: slices, vectors, and arrays of ndarray.

use std::borrow::Cow;

#[cfg(feature = "ndarray")]
use ndarray::{ArrayBase, Data, DataMut, Dimension};

use crate::H5Type;

/// An array of elements with a shape.
///
/// ```
/// use hyperslab::ArrayData;
/// assert_eq!([1, 2, 3].dims(), [3]);
/// assert_eq!(ndarray::arr2(&[[1.0, 2.0]]).dims(), [1, 2]);
/// ```
pub trait ArrayData {
    /// The type of the elements.
    type Element: H5Type;

    /// The size of each dimension, slowest first.
    fn dims(&self) -> Vec<u64>;

    /// All elements in C order.
    fn elements(&self) -> Cow<'_, [Self::Element]>;
}

impl<T: H5Type> ArrayData for [T] {
    type Element = T;

    fn dims(&self) -> Vec<u64> {
        vec![self.len() as u64]
    }

    fn elements(&self) -> Cow<'_, [T]> {
        Cow::Borrowed(self)
    }
}

impl<T: H5Type> ArrayData for Vec<T> {
    type Element = T;

    fn dims(&self) -> Vec<u64> {
        self.as_slice().dims()
    }

    fn elements(&self) -> Cow<'_, [T]> {
        Cow::Borrowed(self)
    }
}

impl<T: H5Type, const N: usize> ArrayData for [T; N] {
    type Element = T;

    fn dims(&self) -> Vec<u64> {
        self.as_slice().dims()
    }

    fn elements(&self) -> Cow<'_, [T]> {
        Cow::Borrowed(self)
    }
}

#[cfg(feature = "ndarray")]
impl<T: H5Type, S: Data<Elem = T>, D: Dimension> ArrayData for ArrayBase<S, D> {
    type Element = T;

    fn dims(&self) -> Vec<u64> {
        self.shape().iter().map(|size| *size as u64).collect()
    }

    fn elements(&self) -> Cow<'_, [T]> {
        match self.as_slice() {
            Some(elements) => Cow::Borrowed(elements),
            None => Cow::Owned(self.iter().copied().collect()),
        }
    }
}

impl<A: ArrayData + ?Sized> ArrayData for &A {
    type Element = A::Element;

    fn dims(&self) -> Vec<u64> {
        (**self).dims()
    }

    fn elements(&self) -> Cow<'_, [A::Element]> {
        (**self).elements()
    }
}

/// Memory that elements are read into, with a shape: a slice, a vector, or an array or view of ndarray.
///
/// ```
/// use hyperslab::{Array2, ArrayDataMut};
/// let mut array = Array2::<i32>::zeros((2, 3));
/// array.assign(vec![1, 2, 3, 4, 5, 6]);
/// assert_eq!(array[[1, 0]], 4);
/// ```
pub trait ArrayDataMut: ArrayData {
    /// Returns all elements in C order, if they lie in memory like this.
    fn contiguous(&mut self) -> Option<&mut [Self::Element]>;

    /// Sets all elements, given in C order.
    fn assign(&mut self, elements: Vec<Self::Element>);
}

impl<T: H5Type> ArrayDataMut for [T] {
    fn contiguous(&mut self) -> Option<&mut [T]> {
        Some(self)
    }

    fn assign(&mut self, elements: Vec<T>) {
        self.iter_mut().zip(elements).for_each(|(to, from)| *to = from);
    }
}

/// Containers that are slices.
macro_rules! slices {
    ($([$($generic:tt)*] $type:ty),*) => {$(
        impl<$($generic)*> ArrayDataMut for $type {
            fn contiguous(&mut self) -> Option<&mut [T]> {
                Some(self)
            }

            fn assign(&mut self, elements: Vec<T>) {
                self.as_mut_slice().assign(elements);
            }
        }
    )*};
}

slices! { [T: H5Type] Vec<T>, [T: H5Type, const N: usize] [T; N] }

#[cfg(feature = "ndarray")]
impl<T: H5Type, S: DataMut<Elem = T>, D: Dimension> ArrayDataMut for ArrayBase<S, D> {
    fn contiguous(&mut self) -> Option<&mut [T]> {
        self.as_slice_mut()
    }

    fn assign(&mut self, elements: Vec<T>) {
        self.iter_mut().zip(elements).for_each(|(to, from)| *to = from);
    }
}

/// Returns `true` if an array of the shape `dims` holds `count` elements of the shape `shape`: both shapes are equal, or
/// one of them has a single dimension.
pub(super) fn fits(shape: Option<&[u64]>, count: u64, dims: &[u64]) -> bool {
    let flat = dims.len() == 1 || shape.is_none_or(|shape| shape.len() == 1);
    let elements = dims.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
    shape == Some(dims) || (flat && elements == Some(count))
}
