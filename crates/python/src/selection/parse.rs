//! Subscripts.

use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab::{Hyperslab, IntoSelection, RegularHyperslab, Selection as Facade, Slice};
use hyperslab_exact::to_u64;
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyEllipsis, PySlice, PyString, PyTuple};

use super::{Dims, Selection};
use crate::errors::OrRaise;

/// True if subscripts that h5py refuses are errors: index lists in another order than ascending,
/// several lists, and negative steps.
static STRICT: AtomicBool = AtomicBool::new(false);

/// Sets whether subscripts that h5py refuses are errors. Programs that were written for h5py may
/// depend on the error.
#[pyfunction]
pub(crate) fn set_strict(yes: bool) {
    STRICT.store(yes, Ordering::Relaxed);
}

/// The coordinates that a subscript takes of one dimension.
enum Item {
    /// One coordinate. The result does not have the dimension.
    One(u64),
    /// A range: `count` coordinates from `start`, in steps of `step`, in descending order if
    /// `reversed`.
    Range { start: u64, step: u64, count: u64, reversed: bool },
    /// Coordinates in any order.
    List(Vec<u64>),
}

impl Selection {
    /// Returns the selection of a subscript: integers, slices, `...`, index lists and masks for one
    /// dimension each, or a mask of the whole shape.
    pub(crate) fn parse(args: &Bound<'_, PyAny>, dims: &[u64]) -> PyResult<Self> {
        let items = Self::items(args, dims)?;
        match items {
            Parsed::Mask(mask) => Ok(mask),
            Parsed::Items(items) => {
                if STRICT.load(Ordering::Relaxed) {
                    Item::check_strict(&items)?;
                }
                Self::of_items(&items, dims)
            }
        }
    }

    /// Returns the selection of a subscript whose index lists apply to one dimension each, in any
    /// order.
    pub(super) fn parse_orthogonal(args: &Bound<'_, PyAny>, dims: &[u64]) -> PyResult<Self> {
        match Self::items(args, dims)? {
            Parsed::Mask(mask) => Ok(mask),
            Parsed::Items(items) => Self::of_items(&items, dims),
        }
    }

    fn items(args: &Bound<'_, PyAny>, dims: &[u64]) -> PyResult<Parsed> {
        let items = match args.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter().collect::<smallvec::SmallVec<[Bound<'_, PyAny>; 4]>>(),
            Err(_) => std::iter::once(args.clone()).collect(),
        };
        if let [only] = items.as_slice()
            && !dims.is_empty()
            && let Some(mask) = whole_mask(only, dims)?
        {
            return Ok(Parsed::Mask(mask));
        }
        if items.iter().any(PyAnyMethods::is_none) {
            return Err(PyTypeError::new_err("newaxis (None) is not supported in a subscript of a dataset"));
        }
        let ellipses = items.iter().filter(|item| item.is(PyEllipsis::get(item.py()))).count();
        if ellipses > 1 {
            return Err(PyValueError::new_err("Only one ellipsis may be used."));
        }
        let given = items.len() - ellipses;
        if given > 0 && dims.is_empty() {
            return Err(PyValueError::new_err("Illegal slicing argument for scalar dataspace"));
        }
        if given > dims.len() {
            let text = format!("{given} indexing arguments for {} dimensions", dims.len());
            return Err(PyTypeError::new_err(text));
        }
        let mut parsed = smallvec::SmallVec::<[Item; 4]>::new();
        let mut sizes = dims.iter();
        for item in &items {
            if item.is(PyEllipsis::get(item.py())) {
                let skipped = sizes.by_ref().take(dims.len() - given);
                parsed.extend(skipped.map(|size| Item::whole(*size)));
            } else if let Some(size) = sizes.next() {
                parsed.push(Item::parse(item, *size, parsed.len())?);
            }
        }
        parsed.extend(sizes.map(|size| Item::whole(*size)));
        Ok(Parsed::Items(parsed))
    }

    fn of_items(items: &[Item], dims: &[u64]) -> PyResult<Self> {
        let kept: Dims = items.iter().map(Item::len).collect();
        let dropped = items.iter().any(|item| matches!(item, Item::One(_)));
        let result = dropped.then(|| {
            items.iter().filter(|item| !matches!(item, Item::One(_))).map(Item::len).collect::<Dims>()
        });
        if kept.contains(&0) {
            return Ok(Self {
                dims: Dims::from_slice(dims),
                facade: Facade::None,
                result,
                kept,
                slices: None,
            });
        }
        if items.iter().all(|item| matches!(item, Item::One(_) | Item::Range { reversed: false, .. })) {
            let facade = facade(items, dims);
            return Ok(Self { dims: Dims::from_slice(dims), facade, result, kept, slices: None });
        }
        let slices: Box<[Slice]> = items.iter().map(Item::slice_of).collect();
        let facade = (&*slices).into_selection(dims).or_raise()?.selection().clone();
        Ok(Self { dims: Dims::from_slice(dims), facade, result, kept, slices: Some(slices) })
    }

    /// Returns the selection of a subscript whose index lists are broadcast together.
    pub(super) fn parse_points(args: &Bound<'_, PyAny>, dims: &[u64]) -> PyResult<Self> {
        static BROADCAST: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = args.py();
        if let Some(mask) = whole_mask(args, dims)? {
            return Ok(mask);
        }
        let lists = match args.cast::<PyTuple>() {
            Ok(tuple) => tuple.clone(),
            Err(_) => PyTuple::new(py, [args])?,
        };
        if lists.len() != dims.len() {
            return Err(PyTypeError::new_err(format!(
                "{} index lists for {} dimensions",
                lists.len(),
                dims.len()
            )));
        }
        let arrays = BROADCAST.import(py, "numpy", "broadcast_arrays")?.call1(&lists)?;
        let mut shape = Dims::new();
        let mut columns = Vec::new();
        for (axis, (array, size)) in arrays.try_iter()?.zip(dims).enumerate() {
            let array = array?;
            shape = array.getattr("shape")?.extract::<Vec<u64>>()?.into();
            let list: Vec<i64> = array.call_method0("ravel")?.extract()?;
            let column = list.into_iter().map(|index| coordinate(index, *size, axis));
            columns.push(column.collect::<PyResult<Vec<_>>>()?);
        }
        let points = hyperslab::Points::from_columns(&columns).map_err(Into::into).or_raise()?;
        let kept = std::iter::once(to_u64(points.len())).collect();
        let facade = if points.is_empty() { Facade::None } else { Facade::Points(points) };
        Ok(Self { dims: Dims::from_slice(dims), facade, result: Some(shape), kept, slices: None })
    }
}

/// Returns the selection of a boolean mask of the whole shape; `None` for another subscript.
fn whole_mask(item: &Bound<'_, PyAny>, dims: &[u64]) -> PyResult<Option<Selection>> {
    let Ok(mask) = item.cast::<PyArrayDyn<bool>>() else { return Ok(None) };
    let mask = mask.readonly();
    let mask = mask.as_array();
    if mask.ndim() == 1 && dims.len() > 1 {
        return Ok(None);
    }
    if mask.ndim() != dims.len() || !mask.shape().iter().map(|size| to_u64(*size)).eq(dims.iter().copied()) {
        return Err(PyTypeError::new_err("Boolean indexing array has incompatible shape"));
    }
    let selected = (&mask).into_selection(dims).or_raise()?;
    let facade = selected.selection().clone();
    let count = facade.element_count(dims).map_err(Into::into).or_raise()?;
    let kept = std::iter::once(count).collect();
    Ok(Some(Selection { dims: Dims::from_slice(dims), facade, result: None, kept, slices: None }))
}

/// Returns the coordinate of an index in a dimension of `size` coordinates.
fn coordinate(index: i64, size: u64, axis: usize) -> PyResult<u64> {
    let found = match u64::try_from(index) {
        Ok(index) => Some(index).filter(|index| *index < size),
        Err(_) => size.checked_sub(index.unsigned_abs()),
    };
    found.ok_or_else(|| match size {
        0 => PyIndexError::new_err(format!("Index ({index}) out of range for empty dimension {axis}")),
        _ => PyIndexError::new_err(format!("Index ({index}) out of range for (0-{})", size - 1)),
    })
}

/// A parsed subscript.
enum Parsed {
    /// The elements of a mask of the whole shape.
    Mask(Selection),
    /// The coordinates of each dimension.
    Items(smallvec::SmallVec<[Item; 4]>),
}

impl Item {
    /// Checks that h5py accepts coordinates.
    fn check_strict(items: &[Self]) -> PyResult<()> {
        for item in items {
            match item {
                Self::Range { reversed: true, .. } => {
                    return Err(PyValueError::new_err("Step must be >= 1 (descending coordinates)"));
                }
                Self::List(list) if !list.is_sorted_by(|a, b| a < b) => {
                    return Err(PyTypeError::new_err("Indexing elements must be in increasing order"));
                }
                _ => {}
            }
        }
        if items.iter().filter(|item| matches!(item, Self::List(_))).count() > 1 {
            let text = "Only one indexing vector or array is currently allowed for fancy indexing";
            return Err(PyTypeError::new_err(text));
        }
        Ok(())
    }

    fn whole(size: u64) -> Self {
        Self::Range { start: 0, step: 1, count: size, reversed: false }
    }

    fn parse(item: &Bound<'_, PyAny>, size: u64, axis: usize) -> PyResult<Self> {
        if let Ok(index) = item.extract::<i64>()
            && !item.is_instance_of::<pyo3::types::PyBool>()
        {
            return Ok(Self::One(coordinate(index, size, axis)?));
        }
        if let Ok(slice) = item.cast::<PySlice>() {
            return Self::slice(slice, size);
        }
        if item.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("Field names only allowed for compound types"));
        }
        Self::list(item, size, axis)
    }

    fn slice(slice: &Bound<'_, PySlice>, size: u64) -> PyResult<Self> {
        let indices = slice.indices(isize::try_from(size)?)?;
        let count = to_u64(indices.slicelength);
        let step = to_u64(indices.step.unsigned_abs());
        let first = u64::try_from(indices.start).unwrap_or(0); // A start of -1 belongs to an empty slice.
        if indices.step >= 0 {
            return Ok(Self::Range { start: first, step, count, reversed: false });
        }
        let distance = count.checked_sub(1).and_then(|steps| steps.checked_mul(step));
        let start = distance.and_then(|distance| first.checked_sub(distance)).unwrap_or(0); // As above.
        Ok(Self::Range { start, step, count, reversed: true })
    }

    /// Returns the coordinates of an index list or a mask for one dimension.
    fn list(item: &Bound<'_, PyAny>, size: u64, axis: usize) -> PyResult<Self> {
        static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = item.py();
        let wrong = || {
            PyTypeError::new_err(format!("Illegal index \"{item}\" (a slice, index list or mask is needed)"))
        };
        if item.is_none() {
            return Err(wrong());
        }
        let array = AS_ARRAY.import(py, "numpy", "asarray")?.call1((item,))?;
        let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
        let shape: Vec<u64> = array.getattr("shape")?.extract()?;
        let [length] = shape.as_slice() else { return Err(wrong()) };
        match kind {
            'b' => {
                if *length != size {
                    return Err(PyTypeError::new_err("Boolean indexing array has incompatible shape"));
                }
                let mask: Vec<bool> = array.extract()?;
                let selected = (0..).zip(mask).filter(|(_, selected)| *selected);
                Ok(Self::List(selected.map(|(index, _)| index).collect()))
            }
            'i' | 'u' => {
                let indices: Vec<i64> = array.call_method1("astype", ("int64",))?.extract()?;
                let indices = indices.into_iter().map(|index| coordinate(index, size, axis));
                Ok(Self::List(indices.collect::<PyResult<_>>()?))
            }
            _ if *length == 0 => Ok(Self::List(Vec::new())),
            _ => Err(wrong()),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Range { count, .. } => *count,
            Self::List(list) => to_u64(list.len()),
        }
    }

    /// Returns the coordinates as a slice of the façade.
    fn slice_of(&self) -> Slice {
        match self {
            Self::One(index) => Slice::from(*index),
            Self::Range { start, step, count, reversed } => {
                // The coordinates lie in the dimension, so the end fits.
                let slice = Slice::from(*start..start + (count - 1) * step + 1).step(*step);
                if *reversed { slice.reversed() } else { slice }
            }
            Self::List(list) => Slice::from(list.clone()),
        }
    }
}

/// Returns the façade selection of coordinates without lists. Each dimension has a coordinate.
fn facade(items: &[Item], dims: &[u64]) -> Facade {
    let whole = items.iter().zip(dims).all(|(item, size)| match item {
        Item::Range { start: 0, step: 1, count, .. } => count == size,
        _ => false,
    });
    if whole { Facade::All } else { Facade::Hyperslab(Hyperslab::Regular(regular(items))) }
}

/// Returns the regular hyperslab of coordinates without lists.
fn regular(items: &[Item]) -> RegularHyperslab {
    let part = |pick: &dyn Fn(u64, u64, u64) -> u64| -> Dims {
        items
            .iter()
            .map(|item| match item {
                Item::One(index) => pick(*index, 1, 1),
                Item::Range { start, step, count, .. } => pick(*start, *step, *count),
                // The caller has no lists here.
                Item::List(list) => pick(0, 1, to_u64(list.len())),
            })
            .collect()
    };
    let start = part(&|start, _, _| start);
    if items.iter().all(|item| !matches!(item, Item::Range { step: 2.., .. })) {
        return RegularHyperslab::region(&start, &part(&|_, _, count| count));
    }
    RegularHyperslab::strided(&start, &part(&|_, step, _| step), &part(&|_, _, count| count))
}
