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
use crate::rearrangement::Rearrangement;
use crate::slice::{self, Grid, Slice, Sliced};
use crate::{Hyperslab, Points, Region, Selection};

/// The elements that an operation selects in a dataset of known shape, and the shape of the
/// resulting array; see [`IntoSelection`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected<'a> {
    selection: Cow<'a, Selection>,
    /// The shape of the selection; `None` if the elements form a single dimension.
    shape: Option<Dims>,
    /// The order of the elements, unless it is the order of the selection.
    rearrangement: Option<Box<Rearrangement>>,
    /// The coordinates of each dimension, if index lists made an irregular selection.
    grid: Option<Box<Grid>>,
    /// True if no element occurs twice in the selection.
    is_disjoint: bool,
}

/// The parts of a [`Selected`] for a read.
pub(crate) struct SelectedParts<'a> {
    pub(crate) selection: Cow<'a, Selection>,
    pub(crate) shape: Option<Dims>,
    pub(crate) rearrangement: Option<Box<Rearrangement>>,
    pub(crate) grid: Option<Box<Grid>>,
    pub(crate) is_disjoint: bool,
}

impl<'a> Selected<'a> {
    /// Wraps a selection of elements. A read of the selection returns an array of the shape
    /// `shape`, in C order.
    pub fn with_shape(selection: Cow<'a, Selection>, shape: Vec<u64>) -> Self {
        Self { shape: Some(Dims::from_vec(shape)), ..Self::flat(selection) }
    }

    /// Wraps a selection of elements. A read of the selection returns an array of a single
    /// dimension, in the order of the selection.
    pub fn flat(selection: Cow<'a, Selection>) -> Self {
        Self { selection, shape: None, rearrangement: None, grid: None, is_disjoint: false }
    }

    /// Returns the selection of elements of the dataset. For index lists and reversed slices, these
    /// are the elements in C order, each once; reads and writes rearrange them in memory.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the shape of the array that results from a read of the selection. Returns `None` if
    /// the array has a single dimension.
    pub fn shape(&self) -> Option<&[u64]> {
        self.shape.as_deref()
    }

    pub(crate) fn into_parts(self) -> SelectedParts<'a> {
        let Self { selection, shape, rearrangement, grid, is_disjoint } = self;
        SelectedParts { selection, shape, rearrangement, grid, is_disjoint }
    }

    /// Returns `true` if no element occurs twice in the selection.
    pub(crate) fn is_disjoint(&self) -> bool {
        self.is_disjoint
    }

    /// Returns elements of `size` bytes, which are in the order of the caller, in the order of the
    /// selection.
    pub(crate) fn packed_bytes<'b>(&self, bytes: &'b [u8], size: usize) -> Result<Cow<'b, [u8]>> {
        match &self.rearrangement {
            Some(order) => order.packed_bytes(bytes, size).map(Cow::Owned),
            None => Ok(Cow::Borrowed(bytes)),
        }
    }

    /// Returns items, which are in the order of the caller, in the order of the selection.
    pub(crate) fn packed<'b, T: Clone>(&self, items: &'b [T]) -> Result<Cow<'b, [T]>> {
        match &self.rearrangement {
            Some(order) => order.packed(items),
            None => Ok(Cow::Borrowed(items)),
        }
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
/// | `s![.., [1, 4, 9]]`, `(mask, ..)`, `([3, 1], [0, 0, 2])` | index lists and masks along some of the dimensions, each for itself | the length of each list in the place of its dimension |
/// | `s![..;-1]`, [`Slice::reversed`] | coordinates in descending order | as `s!` |
/// | `&mask`, an `Array<bool, D>` of the dataset's shape | the elements whose value in the mask is `true` | one dimension |
/// | [`Region`] | a box | that of the box |
/// | [`Points`] | single elements, in the order of the list | one dimension |
/// | [`Selection`] | any | that of a box or of a regular hyperslab, else one dimension |
///
/// Index lists and masks follow NumPy: a negative index counts from the end, an index may occur
/// twice, the result has the order of the list, and a mask is as long as its dimension. Several
/// lists select all combinations of their coordinates, as NumPy's `ix_`. If an element is written
/// several times, the last value counts.
///
/// The file is read and written in ascending order of coordinates, each element once. Lists in
/// another order need memory for the stored elements in addition to the result.
///
/// ```
/// use hyperslab::{Ix1, Ix2, Points, Region, s};
/// let file = hyperslab::FileOptions::new().create_in_memory()?;
/// let table = file.new_dataset("table").write(&ndarray::arr2(&[[0, 1, 2], [10, 11, 12], [20, 21, 22]]))?;
/// assert_eq!(table.read::<i32, Ix1>(s![1, ..])?, ndarray::arr1(&[10, 11, 12]));
/// assert_eq!(table.read::<i32, Ix2>((1.., [0, -1]))?, ndarray::arr2(&[[10, 12], [20, 22]]));
/// assert_eq!(table.read::<i32, Ix2>(([2, 0], [1, 0, 1]))?, ndarray::arr2(&[[21, 20, 21], [1, 0, 1]]));
/// assert_eq!(table.read_raw::<i32>(s![0, ..;-1])?, [2, 1, 0]);
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
    /// index lists select more than 2^24 blocks.
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
        Ok(Selected { shape, ..Selected::flat(Cow::Borrowed(self)) })
    }
}

impl IntoSelection for Selection {
    fn into_selection<'a>(self, dims: &[u64]) -> Result<Selected<'a>> {
        let shape = shape_of(&self, dims)?;
        Ok(Selected { shape, ..Selected::flat(Cow::Owned(self)) })
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
    let Sliced { selection, shape, rearrangement, grid } = slice::selection(slices, dims)?;
    Ok(Selected {
        selection: Cow::Owned(selection),
        shape: Some(Dims::from_vec(shape)),
        rearrangement: rearrangement.map(Box::new),
        grid: grid.map(Box::new),
        is_disjoint: true,
    })
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
        assert_eq!(shape(([3, 1, 1], [0, 4]), &[4, 5]).unwrap(), Some(vec![3, 2]));
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
        assert!(shape(Region::whole(&[3]), &[4, 5]).is_err());
        assert!(shape(&ndarray::arr1(&[true]), &[4]).is_err());
    }
}
