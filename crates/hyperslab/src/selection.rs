//! The values that select elements of a dataset.

use std::borrow::Cow;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

#[cfg(feature = "ndarray")]
use hyperslab_engine::Error;
use hyperslab_engine::Result;
#[cfg(feature = "ndarray")]
use ndarray::{ArrayBase, Data, Dimension};

#[cfg(feature = "ndarray")]
use crate::Block;
use crate::dataspace::Dims;
use crate::slice::{self, Slice};
use crate::{Hyperslab, Points, Region, Selection};

/// The elements that an operation selects in a dataset of known shape, and the shape of the
/// resulting array; see [`IntoSelection`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected<'a> {
    selection: Cow<'a, Selection>,
    /// The shape of the selection; `None` if the elements form a single dimension.
    shape: Option<Dims>,
}

impl<'a> Selected<'a> {
    /// Wraps a selection of elements. A read of the selection returns an array of the shape
    /// `shape`, in C order.
    pub fn with_shape(selection: Cow<'a, Selection>, shape: Vec<u64>) -> Self {
        Self { selection, shape: Some(Dims::from_vec(shape)) }
    }

    /// Wraps a selection of elements. A read of the selection returns an array of a single
    /// dimension, in the order of the selection.
    pub fn flat(selection: Cow<'a, Selection>) -> Self {
        Self { selection, shape: None }
    }

    /// Returns the selection of elements of the dataset.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the shape of the array that results from a read of the selection. Returns `None` if
    /// the array has a single dimension.
    pub fn shape(&self) -> Option<&[u64]> {
        self.shape.as_deref()
    }

    pub(crate) fn into_parts(self) -> (Cow<'a, Selection>, Option<Dims>) {
        (self.selection, self.shape)
    }
}

/// A value, such as a slice or a mask, that selects elements of a dataset.
///
/// All methods of [`Dataset`](crate::Dataset), [`Field`](crate::Field) and
/// [`SparseView`](crate::SparseView) that read, write or erase elements take one of these values:
///
/// | value | elements | shape of the result |
/// |---|---|---|
/// | `..` | all | that of the dataset |
/// | [`s![2, ..10, ..;3]`](crate::s) | one [`Slice`] for each dimension | that of the dataset, without dimensions of which one coordinate is given |
/// | `(2, ..10)`, `3..7`, `5` | as `s!`, for up to eight dimensions, or for one | as `s!` |
/// | `[1, 4, 9]`, `vec![true, false, …]` | an index list or a boolean mask, for one dimension | the number of elements |
/// | `s![.., [1, 4, 9]]`, `(mask, ..)` | an index list or a mask along one of the dimensions | the length of the list in the place of the dimension |
/// | `&mask`, an `Array<bool, D>` of the dataset's shape | the elements whose value in the mask is `true` | one dimension |
/// | [`Region`] | a box | that of the box |
/// | [`Points`] | single elements, in the order of the list | one dimension |
/// | [`Selection`] | any | that of a box or of a regular hyperslab, else one dimension |
///
/// Index lists and masks follow NumPy: a negative index counts from the end, an index may occur
/// twice, the result has the order of the list, and a mask is as long as its dimension. An
/// ascending list without repetitions is read as blocks; any other list is read as points.
///
/// ```
/// use hyperslab::{Ix1, Ix2, Points, Region, s};
/// let file = hyperslab::FileOptions::new().create_in_memory()?;
/// let table = file.new_dataset("table").write(&ndarray::arr2(&[[0, 1, 2], [10, 11, 12], [20, 21, 22]]))?;
/// assert_eq!(table.read::<i32, Ix1>(s![1, ..])?, ndarray::arr1(&[10, 11, 12]));
/// assert_eq!(table.read::<i32, Ix2>((1.., [0, -1]))?, ndarray::arr2(&[[10, 12], [20, 22]]));
/// assert_eq!(table.read_raw::<i32>((0, [true, false, true]))?, [0, 2]);
/// assert_eq!(table.read_raw::<i32>(Region::from([1..3, 0..1]))?, [10, 20]);
/// assert_eq!(table.read_raw::<i32>(Points::from_rows([[2, 2], [0, 1]]))?, [22, 1]);
/// let large = table.read::<i32, Ix2>(..)?.mapv(|value| value > 11);
/// assert_eq!(table.read_raw::<i32>(&large)?, [12, 20, 21, 22]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub trait IntoSelection {
    /// Returns the selection of elements that the value describes in a dataset of the shape `dims`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the value is for another number
    /// of dimensions or exceeds the dataset, and [`ErrorKind::Limit`](crate::ErrorKind::Limit) if
    /// an index list selects more than 2^24 blocks or points.
    fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>>
    where
        Self: 'a;
}

impl IntoSelection for RangeFull {
    fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>> {
        Ok(Selected::with_shape(Cow::Owned(Selection::All), dims.to_vec()))
    }
}

impl IntoSelection for &Selection {
    fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>>
    where
        Self: 'a,
    {
        let shape = shape_of(self, dims)?;
        Ok(Selected { selection: Cow::Borrowed(self), shape })
    }
}

impl IntoSelection for Selection {
    fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>> {
        let shape = shape_of(&self, dims)?;
        Ok(Selected { selection: Cow::Owned(self), shape })
    }
}

/// Returns the shape of the array that results from a selection of all elements, of a box or of a
/// regular hyperslab. Returns `None` for other selections.
fn shape_of(selection: &Selection, dims: &[u64]) -> Result<Option<Dims>> {
    match selection {
        Selection::All => Ok(Some(Dims::from_slice(dims))),
        Selection::Hyperslab(Hyperslab::Regular(slab)) => Ok(Some(slab.shape(dims)?)),
        _ => Ok(None),
    }
}

impl IntoSelection for &Region {
    fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>>
    where
        Self: 'a,
    {
        boxed(self, dims)
    }
}

impl IntoSelection for Region {
    fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>> {
        boxed(&self, dims)
    }
}

fn boxed<'a>(region: &Region, dims: &[u64]) -> Result<Selected<'a>> {
    region.check_within("the box", dims)?;
    let selection = if dims.is_empty() { Selection::All } else { Selection::region(region) };
    Ok(Selected::with_shape(Cow::Owned(selection), region.count.to_vec()))
}

impl IntoSelection for &Points {
    fn into_selection<'a>(self, _: &[u64]) -> Result<Selected<'a>>
    where
        Self: 'a,
    {
        Ok(Selected::flat(Cow::Owned(Selection::Points(self.clone()))))
    }
}

impl IntoSelection for Points {
    fn into_selection<'a>(self, _: &[u64]) -> Result<Selected<'a>> {
        Ok(Selected::flat(Cow::Owned(Selection::Points(self))))
    }
}

impl IntoSelection for &[Slice] {
    fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>>
    where
        Self: 'a,
    {
        sliced(self, dims)
    }
}

fn sliced<'a>(slices: &[Slice], dims: &[u64]) -> Result<Selected<'a>> {
    let (selection, shape) = slice::selection(slices, dims)?;
    Ok(Selected::with_shape(Cow::Owned(selection), shape))
}

/// Implements [`IntoSelection`] for containers of slices.
macro_rules! slices {
    ($([$($generic:tt)*] $type:ty),*) => {$(
        impl<$($generic)*> IntoSelection for $type {
            fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>>
            where
                Self: 'a,
            {
                sliced(self.as_ref(), dims)
            }
        }
    )*};
}

slices! { [const N: usize] [Slice; N], [const N: usize] &[Slice; N], [] Vec<Slice>, [] &Vec<Slice> }

/// Implements [`IntoSelection`] for slices of a single dimension.
macro_rules! one_dimension {
    ($([$($generic:tt)*] $type:ty),* $(,)?) => {$(
        impl<$($generic)*> IntoSelection for $type {
            fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>>
            where
                Self: 'a,
            {
                sliced(&[Slice::from(self)], dims)
            }
        }
    )*};
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        one_dimension! {
            [] $number,
            [] Range<$number>,
            [] RangeInclusive<$number>,
            [] RangeFrom<$number>,
            [] RangeTo<$number>,
            [] RangeToInclusive<$number>,
            [] Vec<$number>,
            [] &Vec<$number>,
            [] &[$number],
            [const N: usize] [$number; N],
            [const N: usize] &[$number; N],
        }
    )*};
}

numbers! { i32 i64 isize u32 u64 usize }
one_dimension! {
    [] Slice,
    [] Vec<bool>,
    [] &Vec<bool>,
    [] &[bool],
    [const N: usize] [bool; N],
    [const N: usize] &[bool; N],
}

/// Implements [`IntoSelection`] for tuples of one slice for each dimension.
macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: Into<Slice>),*> IntoSelection for ($($name,)*) {
            fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>>
            where
                Self: 'a,
            {
                #[expect(non_snake_case, reason = "the names of the types")]
                let ($($name,)*) = self;
                sliced(&[$($name.into()),*], dims)
            }
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

#[cfg(feature = "ndarray")]
impl<S: Data<Elem = bool>, D: Dimension> IntoSelection for &ArrayBase<S, D> {
    fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>>
    where
        Self: 'a,
    {
        if !self.shape().iter().map(|size| *size as u64).eq(dims.iter().copied()) {
            let message = format!("a mask of the shape {:?} for the shape {dims:?}", self.shape());
            return Err(Error::Misuse(message));
        }
        if dims.is_empty() {
            let all = self.iter().all(|selected| *selected);
            return Ok(Selected::flat(Cow::Owned(if all { Selection::All } else { Selection::None })));
        }
        Ok(Selected::flat(Cow::Owned(masked(self.iter().copied(), dims))))
    }
}

/// Returns the selection of the elements whose value in a boolean mask is `true`. The mask is in C
/// order; the selection consists of runs of elements along the last dimension.
#[cfg(feature = "ndarray")]
fn masked(mask: impl Iterator<Item = bool>, dims: &[u64]) -> Selection {
    let mut blocks: Vec<Block> = Vec::new();
    for (at, selected) in Region::whole(dims).coordinates().zip(mask) {
        if !selected {
            continue;
        }
        if let Some(last) = blocks.last_mut()
            && let (Some((to, row)), Some((next, other))) = (last.end.split_last_mut(), at.split_last())
            && row == other
            && to.checked_add(1) == Some(*next)
        {
            *to = *next;
        } else {
            blocks.push(Block { start: at.clone(), end: at });
        }
    }
    if blocks.is_empty() {
        return Selection::None;
    }
    Selection::Hyperslab(Hyperslab::Irregular { rank: dims.len(), blocks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::s;

    fn shape(selection: impl IntoSelection, dims: &[u64]) -> Result<Option<Vec<u64>>> {
        selection.into_selection(dims).map(|selected| selected.shape.map(Dims::into_vec))
    }

    #[test]
    fn every_value_has_its_shape() {
        assert_eq!(shape(.., &[4, 5]).unwrap(), Some(vec![4, 5]));
        assert_eq!(shape((1, 2..), &[4, 5]).unwrap(), Some(vec![3]));
        assert_eq!(shape(s![1, 2..], &[4, 5]).unwrap(), Some(vec![3]));
        assert_eq!(shape(3, &[4]).unwrap(), Some(vec![]));
        assert_eq!(shape([3, 1], &[4]).unwrap(), Some(vec![2]));
        assert_eq!(shape([true, false, true, true], &[4]).unwrap(), Some(vec![3]));
        assert_eq!(shape(Region::from([1..3, 0..5]), &[4, 5]).unwrap(), Some(vec![2, 5]));
        assert_eq!(shape(Points::from_rows([[1, 1]]), &[4, 5]).unwrap(), None);
        assert_eq!(shape(&Selection::None, &[4, 5]).unwrap(), None);
    }

    #[test]
    fn other_ranks_and_lengths_are_refused() {
        assert!(shape(0..2, &[4, 5]).is_err());
        assert!(shape([true, false], &[4]).is_err());
        assert!(shape([4], &[4]).is_err() && shape([-5], &[4]).is_err());
        assert!(shape(([0], [1]), &[4, 5]).is_err(), "two lists");
        assert!(shape(Region::whole(&[3]), &[4, 5]).is_err());
        assert!(shape(&ndarray::arr1(&[true]), &[4]).is_err());
    }
}
