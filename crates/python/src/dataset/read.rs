//! Reads of datasets.

use crate::ending::Detached as _;
use hyperslab::IntoSelection;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::parts::Parts;
use super::{Dataset, sizes};
use crate::elements::{self, Form, memory};
use crate::ending::hold_at_end;
use crate::errors::OrRaise;
use crate::process::in_pool;
use crate::progress;
use crate::selection::{Selection, Wanted};

impl Dataset {
    /// Reads the selected elements into a new array of the shape of the result.
    pub(crate) fn read_selection<'py>(
        &self,
        py: Python<'py>,
        selection: &Selection,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let facade = self.facade()?;
        match dtype {
            None => {
                let native = self.native(py)?;
                read_as(&facade, selection, native.dtype.bind(py), &native.form)
            }
            Some(dtype) => {
                let form = Form::new(dtype, facade.datatype())?;
                read_as(&facade, selection, dtype, &form)
            }
        }
    }
}

/// Reads the selected elements into a new array.
fn read_as<'py>(
    facade: &hyperslab::Dataset,
    selection: &Selection,
    dtype: &Bound<'py, PyAny>,
    form: &Form,
) -> PyResult<Bound<'py, PyAny>> {
    let py = dtype.py();
    let array = elements::empty(py, &sizes(selection.result())?, dtype)?;
    if form.is_plain() {
        let target = memory::bytes_mut(&array)?;
        if !target.is_empty() {
            read_plain(py, facade, selection, form, target)?;
        }
    } else if selection.elements()? > 0 {
        let wanted = selection.wanted();
        let stored = py.detached(|| in_pool(|| facade.read_stored(wanted))).or_raise()?;
        form.put(&array, stored)?;
    }
    Ok(array)
}

/// Reads the selected elements into memory. A long read looks for signals between its parts.
fn read_plain(
    py: Python<'_>,
    facade: &hyperslab::Dataset,
    selection: &Selection,
    form: &Form,
    target: &mut [u8],
) -> PyResult<()> {
    let read = |wanted: Wanted<'_>, bytes: &mut [u8]| {
        py.detached(|| in_pool(|| facade.read_bytes(wanted, &form.memory, bytes))).or_raise()
    };
    let all = target.len();
    let Some(parts) = Parts::of(facade, selection, all)? else {
        read(selection.wanted(), target)?;
        return progress::report(py, all, all);
    };
    let mut rest = target;
    for (part, length) in parts {
        let Some((bytes, after)) = rest.split_at_mut_checked(length) else { break };
        read(Wanted::Selection(&part), bytes)?;
        py.check_signals()?;
        rest = after;
        progress::report(py, all - rest.len(), all)?;
    }
    Ok(())
}

#[pymethods]
impl Dataset {
    /// Returns the selected elements as an array.
    #[pyo3(signature = (selection, dtype=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        selection: &Bound<'py, Selection>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        hold_at_end(|| self.read_selection(py, selection.get(), dtype.filter(|dtype| !dtype.is_none())))
    }

    /// Returns the selected texts as an array of `str` objects.
    fn read_str<'py>(
        &self,
        py: Python<'py>,
        selection: &Bound<'py, Selection>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        hold_at_end(|| {
            let facade = self.facade()?;
            let form = Form::texts(facade.datatype(), errors)?;
            let dtype = crate::types::dtype_class(py)?.call1(("O",))?;
            read_as(&facade, selection.get(), &dtype, &form)
        })
    }

    /// Returns the selected texts in the form of Arrow: the positions of the texts, and the bytes
    /// of all texts.
    fn read_text<'py>(
        &self,
        py: Python<'py>,
        selection: &Bound<'py, Selection>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let facade = self.facade()?;
        let form = Form::texts(facade.datatype(), "strict")?;
        let wanted = selection.get().wanted();
        let (offsets, bytes) =
            py.detached(|| in_pool(|| form.joined_texts(&facade.read_stored(wanted)?))).or_raise()?;
        let offsets = numpy::PyArray1::from_vec(py, offsets).into_any();
        Ok((offsets, numpy::PyArray1::from_vec(py, bytes).into_any()))
    }

    /// Reads the selected elements into an array, or into a part of the array.
    #[pyo3(signature = (selection, target, part=None))]
    fn read_into(
        &self,
        py: Python<'_>,
        selection: &Bound<'_, Selection>,
        target: &Bound<'_, PyAny>,
        part: Option<&Bound<'_, Selection>>,
    ) -> PyResult<()> {
        hold_at_end(|| {
            let selection = selection.get();
            let dtype = target.getattr("dtype")?;
            let flags = target.getattr("flags")?;
            if !flags.getattr("c_contiguous")?.extract::<bool>()? {
                return Err(PyTypeError::new_err("Array must be C-contiguous"));
            }
            let facade = self.facade()?;
            let form = Form::new(&dtype, facade.datatype())?;
            let dims: Vec<u64> = target.getattr("shape")?.extract()?;
            let part = part.map(|part| part.get().clone());
            let part =
                part.map_or_else(|| Selection::from_facade(hyperslab::Selection::All, &dims).or_raise(), Ok)?;
            if part.elements()? != selection.elements()? {
                return Err(PyTypeError::new_err(format!(
                    "Can't broadcast {:?} -> {:?}",
                    selection.result(),
                    part.result()
                )));
            }
            let all = matches!(part.facade(), hyperslab::Selection::All);
            if all && form.is_plain() {
                return read_plain(py, &facade, selection, &form, memory::bytes_mut(target)?);
            }
            let values = self.read_selection(py, selection, Some(&dtype))?;
            scatter(py, &values, target, &part)
        })
    }
}

/// Assigns the elements of an array to the elements of another array that a selection selects.
fn scatter(
    py: Python<'_>,
    values: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    part: &Selection,
) -> PyResult<()> {
    let (facade, dims) = (part.facade(), part.dims());
    if let Some(region) = facade.as_region(dims).map_err(Into::into).or_raise()? {
        let slices = region.bounds().map(|(start, end)| {
            let bounds = (isize::try_from(start)?, isize::try_from(end)?);
            Ok(pyo3::types::PySlice::new(py, bounds.0, bounds.1, 1))
        });
        let slices = pyo3::types::PyTuple::new(py, slices.collect::<PyResult<Vec<_>>>()?)?;
        let values = values.call_method1("reshape", (sizes(&region.count)?.to_vec(),))?;
        return target.set_item(slices, values);
    }
    let selected = facade.into_selection(dims).or_raise()?;
    let mut positions = Vec::new();
    for run in selected.selection().linear_runs(dims).map_err(Into::into).or_raise()? {
        positions.extend((0..run.length).map(|step| run.offset + step));
    }
    let positions = numpy::PyArray1::from_vec(py, positions);
    let flat = target.call_method1("reshape", (-1,))?;
    flat.set_item(positions, values.call_method1("reshape", (-1,))?)
}
