//! Selections of elements by subscripts.

pub(crate) mod parse;
mod queries;

use hyperslab::{IntoSelection, Selected, Selection as Facade, Slice};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use crate::errors::OrRaise;

/// Sizes of dimensions, or coordinates.
pub(crate) type Dims = SmallVec<[u64; 4]>;

/// A set of elements of an array of a given shape, and the shape of the array that a read returns.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    /// The shape of the whole array.
    dims: Dims,
    facade: Facade,
    /// The shape of the result of a read; `None` if the shape is `kept`.
    result: Option<Dims>,
    /// The shape of the selection, with all dimensions of the array, or one dimension for points.
    kept: Dims,
    /// The slices of a subscript with index lists or descending coordinates; they replace `facade`
    /// in reads and writes.
    slices: Option<Box<[Slice]>>,
}

/// The elements of a read or a write, in the order of the array in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'s> {
    Selection(&'s Facade),
    Slices(&'s [Slice]),
}

impl IntoSelection for Wanted<'_> {
    fn into_selection<'a>(self, dims: &[u64]) -> hyperslab::Result<Selected<'a>>
    where
        Self: 'a,
    {
        match self {
            Self::Selection(selection) => selection.into_selection(dims),
            Self::Slices(slices) => slices.into_selection(dims),
        }
    }
}

impl Selection {
    /// Creates the selection of a façade selection in an array of the shape `dims`.
    pub(crate) fn from_facade(selection: Facade, dims: &[u64]) -> hyperslab::Result<Self> {
        let kept = match &selection {
            Facade::All => Dims::from_slice(dims),
            Facade::Hyperslab(hyperslab::Hyperslab::Regular(slab)) => {
                slab.shape(dims)?.iter().copied().collect()
            }
            other => {
                let mut kept = Dims::new();
                kept.push(other.element_count(dims)?);
                kept
            }
        };
        Ok(Self { dims: Dims::from_slice(dims), facade: selection, result: None, kept, slices: None })
    }

    /// Returns the façade selection.
    pub(crate) fn facade(&self) -> &Facade {
        &self.facade
    }

    /// Returns the shape of the whole array.
    pub(crate) fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// Returns the shape of the array that a read returns.
    pub(crate) fn result(&self) -> &[u64] {
        self.result.as_ref().unwrap_or(&self.kept)
    }

    /// Returns whether the façade selection alone gives the elements and their order.
    pub(crate) fn is_plain(&self) -> bool {
        self.slices.is_none()
    }

    /// Returns the elements for a read or a write.
    pub(crate) fn wanted(&self) -> Wanted<'_> {
        match &self.slices {
            Some(slices) => Wanted::Slices(slices),
            None => Wanted::Selection(&self.facade),
        }
    }

    /// Returns the number of elements of the result.
    pub(crate) fn elements(&self) -> PyResult<u64> {
        let count = self.kept.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
        count.ok_or_else(|| PyValueError::new_err("the selection has more than 2^64 elements"))
    }
}

/// Returns a shape as a Python tuple.
pub(crate) fn tuple<'py>(py: Python<'py>, shape: &[u64]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, shape)
}

#[pymethods]
impl Selection {
    /// Returns the selection of a subscript with the meaning of h5py.
    #[staticmethod]
    #[pyo3(name = "parse")]
    fn py_parse(args: &Bound<'_, PyAny>, shape: Vec<u64>) -> PyResult<Self> {
        Self::parse(args, &shape)
    }

    /// Returns the selection of a subscript whose index lists apply to one dimension each.
    #[staticmethod]
    fn orthogonal(args: &Bound<'_, PyAny>, shape: Vec<u64>) -> PyResult<Self> {
        Self::parse_orthogonal(args, &shape)
    }

    /// Returns the selection of a subscript whose index lists are broadcast together.
    #[staticmethod]
    fn points(args: &Bound<'_, PyAny>, shape: Vec<u64>) -> PyResult<Self> {
        Self::parse_points(args, &shape)
    }

    /// Returns a selection of single elements. Each row of the array is one element.
    #[staticmethod]
    fn of_points(coordinates: &Bound<'_, PyAny>, shape: Vec<u64>) -> PyResult<Self> {
        let rows: Vec<Vec<u64>> = coordinates.extract()?;
        let columns: Vec<Vec<u64>> = (0..shape.len())
            .map(|axis| rows.iter().filter_map(|row| row.get(axis).copied()).collect())
            .collect();
        if rows.iter().any(|row| row.len() != shape.len()) {
            return Err(PyTypeError::new_err("a row of coordinates has another length than the shape"));
        }
        let points = hyperslab::Points::from_columns(&columns).map_err(Into::into).or_raise()?;
        let selection = Facade::Points(points);
        selection.validate(&shape).map_err(Into::into).or_raise()?;
        Self::from_facade(selection, &shape).or_raise()
    }

    /// Returns a regular hyperslab. A count of `None` is unlimited.
    #[staticmethod]
    fn hyperslab(
        start: Vec<u64>,
        stride: Option<Vec<u64>>,
        count: Vec<Option<u64>>,
        block: Option<Vec<Option<u64>>>,
        shape: Vec<u64>,
    ) -> PyResult<Self> {
        let ones = vec![1; start.len()];
        let stride = stride.unwrap_or_else(|| ones.clone());
        let block = block.unwrap_or_else(|| vec![Some(1); start.len()]);
        if [stride.len(), count.len(), block.len(), shape.len()].iter().any(|length| *length != start.len()) {
            return Err(PyValueError::new_err("the parts of a hyperslab need one value for each dimension"));
        }
        let mut slab = hyperslab::RegularHyperslab::strided(&start, &stride, &ones);
        slab.count = count.iter().map(|count| count.unwrap_or(hyperslab::UNLIMITED)).collect();
        slab.block = block.iter().map(|block| block.unwrap_or(hyperslab::UNLIMITED)).collect();
        let selection = Facade::Hyperslab(hyperslab::Hyperslab::Regular(slab));
        Self::from_facade(selection, &shape).or_raise()
    }

    /// Returns the selection of all elements.
    #[staticmethod]
    fn all(shape: Vec<u64>) -> Self {
        let dims = Dims::from_vec(shape);
        Self { kept: dims.clone(), dims, facade: Facade::All, result: None, slices: None }
    }

    /// Returns the selection of no element.
    #[staticmethod]
    fn none(shape: Vec<u64>) -> Self {
        let kept = std::iter::once(0).collect();
        Self { kept, dims: Dims::from_vec(shape), facade: Facade::None, result: None, slices: None }
    }

    /// Returns the result of a set operation on two selections.
    fn combine(&self, operation: &str, other: &Self) -> PyResult<Self> {
        use hyperslab::SetOperation;
        let operation = match operation {
            "set" => SetOperation::Set,
            "and" => SetOperation::And,
            "or" => SetOperation::Or,
            "xor" => SetOperation::Xor,
            "notb" => SetOperation::NotB,
            "nota" => SetOperation::NotA,
            other => return Err(PyValueError::new_err(format!("unknown set operation {other:?}"))),
        };
        let combined =
            self.facade.combine(operation, &other.facade, &self.dims).map_err(Into::into).or_raise()?;
        Self::from_facade(combined.simplified().map_err(Into::into).or_raise()?, &self.dims).or_raise()
    }

    /// Returns the shape of the whole array.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.dims)
    }

    /// Returns the shape of the array that a read returns.
    #[getter]
    fn result_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.result())
    }

    /// Returns the shape of the selection, with a dimension of 1 for each integer index.
    #[getter]
    fn kept_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.kept)
    }

    /// Returns the number of selected elements.
    #[getter]
    fn count(&self) -> PyResult<u64> {
        self.elements()
    }
}
