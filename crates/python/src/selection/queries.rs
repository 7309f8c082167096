//! Properties of selections.

use hyperslab::serialized::{SelectionFormat, selection_from_bytes, selection_to_bytes};
use hyperslab::{Hyperslab, Selection as Facade};
use hyperslab_exact::to_usize;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::{Dims, Selection, tuple};
use crate::errors::OrRaise;

/// Returns coordinates as a NumPy array of the shape `shape`.
fn array<'py>(py: Python<'py>, coordinates: Vec<u64>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    PyArray1::from_vec(py, coordinates).call_method1("reshape", (shape,))
}

/// Start, stride, count and block of a regular hyperslab. An unlimited count is `None`.
type Regular<'py> = (Bound<'py, PyTuple>, Bound<'py, PyTuple>, Bound<'py, PyTuple>, Bound<'py, PyTuple>);

#[pymethods]
impl Selection {
    /// Returns the kind of the selection.
    #[getter]
    fn kind(&self) -> &'static str {
        match &self.facade {
            Facade::All => "all",
            Facade::None => "none",
            Facade::Hyperslab(_) => "hyperslab",
            Facade::Points(_) => "points",
        }
    }

    /// Returns the first and the last coordinates of the box around the selection; `None` for an
    /// empty selection.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        let found = self.facade.bounding_box(&self.dims).map_err(Into::into).or_raise()?;
        let Some(region) = found.filter(|region| !region.is_empty()) else { return Ok(None) };
        let last: Dims =
            region.start.iter().zip(&region.count).map(|(start, count)| start + (count - 1)).collect();
        Ok(Some((tuple(py, &region.start)?, tuple(py, &last)?)))
    }

    /// Returns start, stride, count and block of a regular hyperslab; `None` for other selections.
    #[getter]
    fn regular<'py>(&self, py: Python<'py>) -> PyResult<Option<Regular<'py>>> {
        let Facade::Hyperslab(Hyperslab::Regular(slab)) = &self.facade else { return Ok(None) };
        let limited = |values: &[u64]| {
            PyTuple::new(
                py,
                values.iter().map(|value| Some(*value).filter(|value| *value != hyperslab::UNLIMITED)),
            )
        };
        Ok(Some((
            tuple(py, &slab.start)?,
            tuple(py, &slab.stride)?,
            limited(&slab.count)?,
            limited(&slab.block)?,
        )))
    }

    /// Returns the first and the last coordinates of the blocks of a hyperslab.
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rank = self.dims.len();
        let mut corners = Vec::new();
        match &self.facade {
            Facade::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
                for block in blocks {
                    corners.extend_from_slice(&block.start);
                    corners.extend_from_slice(&block.end);
                }
            }
            Facade::Hyperslab(Hyperslab::Regular(slab)) => {
                let numbers = hyperslab::Region::whole(&slab.count);
                for at in numbers.coordinates() {
                    let start: Dims = (0..rank)
                        .filter_map(|axis| {
                            let (start, stride) = (slab.start.get(axis)?, slab.stride.get(axis)?);
                            start.checked_add(at.get(axis)?.checked_mul(*stride)?)
                        })
                        .collect();
                    corners.extend_from_slice(&start);
                    corners.extend(
                        start.iter().zip(&slab.block).map(|(start, block)| start + block.saturating_sub(1)),
                    ); // An empty block has no last coordinate.
                }
            }
            Facade::All => {
                corners.extend(self.dims.iter().map(|_| 0));
                corners.extend(self.dims.iter().map(|size| size.saturating_sub(1))); // As above.
            }
            Facade::None | Facade::Points(_) => {}
        }
        let count = corners.len().checked_div(2 * rank).unwrap_or(0);
        array(py, corners, &[count, 2, rank])
    }

    /// Returns the coordinates of all selected elements, in the order of the selection.
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rank = self.dims.len();
        if let Facade::Points(points) = &self.facade {
            return array(py, points.coordinates.clone(), &[points.len(), rank]);
        }
        let mut all = Vec::new();
        for run in self.facade.runs(&self.dims).map_err(Into::into).or_raise()? {
            for step in 0..run.length {
                if let Some((last, rest)) = run.start.split_last() {
                    all.extend_from_slice(rest);
                    all.push(last + step);
                }
            }
        }
        let count = to_usize(self.facade.element_count(&self.dims).map_err(Into::into).or_raise()?);
        let count = count.map_err(Into::into).or_raise()?;
        array(py, all, &[count, rank])
    }

    /// Encodes the selection as libhdf5's `H5Sencode` does.
    fn encode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &selection_to_bytes(&self.facade, SelectionFormat::Compatible).or_raise()?))
    }

    /// Decodes a selection of an array of the shape `shape`.
    #[staticmethod]
    fn decode(data: &[u8], shape: Vec<u64>) -> PyResult<Self> {
        let selection = selection_from_bytes(data).or_raise()?;
        Self::from_facade(selection, &shape).or_raise()
    }
}
