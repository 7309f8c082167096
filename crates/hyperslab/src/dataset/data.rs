//! The types of arrays from which writes take elements and into which reads store elements: slices,
//! vectors, and arrays of ndarray.

use std::borrow::Cow;

use hyperslab_exact::{product, to_u64};
#[cfg(feature = "ndarray")]
use ndarray::{ArrayBase, Data, DataMut, Dimension};

use crate::H5Type;

/// An array of elements in memory with a shape, which can be written to a dataset.
///
/// ```
/// use hyperslab::ArrayData;
/// assert_eq!([1, 2, 3].dims(), [3]);
/// assert_eq!(ndarray::arr2(&[[1.0, 2.0]]).dims(), [1, 2]);
/// ```
pub trait ArrayData {
    /// The Rust type of the elements of an array in memory.
    type Element: H5Type;

    /// Returns the size of each dimension of the array in memory, slowest first.
    fn dims(&self) -> Vec<u64>;

    /// Returns all elements of the array in memory, in C order.
    fn elements(&self) -> Cow<'_, [Self::Element]>;
}

impl<T: H5Type> ArrayData for [T] {
    type Element = T;

    fn dims(&self) -> Vec<u64> {
        vec![to_u64(self.len())]
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
        self.shape().iter().copied().map(to_u64).collect()
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

/// An array in memory into which elements are read: a slice, a vector, or an array or view of
/// ndarray.
///
/// ```
/// use hyperslab::{Array2, ArrayDataMut};
/// let mut array = Array2::<i32>::zeros((2, 3));
/// array.assign(vec![1, 2, 3, 4, 5, 6]);
/// assert_eq!(array[[1, 0]], 4);
/// ```
pub trait ArrayDataMut: ArrayData {
    /// Returns all elements of the array in memory as a mutable slice. Returns `None` unless they
    /// are contiguous in memory, in C order.
    fn contiguous(&mut self) -> Option<&mut [Self::Element]>;

    /// Sets all elements of the array in memory to `elements`, which are in C order.
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

/// Implements [`ArrayDataMut`] for containers that dereference to slices.
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

/// Returns `true` if an array of the shape `dims` can hold a selection of `count` elements of the
/// shape `shape`.
///
/// Both shapes must be equal. Or one of them must have a single dimension, and the numbers of
/// elements must be equal. A `shape` of `None` means a single dimension; a `count` of `None` means
/// a number that exceeds 64 bits.
pub(super) fn fits(shape: Option<&[u64]>, count: Option<u64>, dims: &[u64]) -> bool {
    let flat = dims.len() == 1 || shape.is_none_or(|shape| shape.len() == 1);
    let elements = product("number of elements", dims.iter().copied()).ok();
    shape == Some(dims) || (flat && elements.is_some() && elements == count)
}
