//! Arrays to be written: slices, vectors, and arrays of `ndarray`.

use std::borrow::Cow;

use ndarray::{ArrayBase, Data, Dimension};

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
