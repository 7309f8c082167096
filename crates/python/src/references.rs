//! References to the chunks of a file, for zarr, kerchunk and VirtualiZarr.

use std::path::Path;

use crate::ending::Detached as _;
use hyperslab_references::{Array, Content, Json, ReferenceOptions, Report, Visitor};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::OrRaise;
use crate::group::Group;
use crate::process::in_pool;

/// All groups and arrays of an export.
#[derive(Debug, Default)]
struct Collected {
    groups: Vec<(String, String)>,
    arrays: Vec<Array>,
}

impl Visitor for Collected {
    fn group(&mut self, path: &str, attributes: &Json) -> hyperslab::Result<()> {
        self.groups.push((path.to_owned(), attributes.to_string()));
        Ok(())
    }

    fn array(&mut self, array: Array) -> hyperslab::Result<()> {
        self.arrays.push(array);
        Ok(())
    }
}

/// Returns the references of a group and of all objects below it: a dict with `groups`, `arrays`,
/// `skipped` and `skipped_attributes`.
#[pyfunction]
pub(crate) fn references<'py>(
    py: Python<'py>,
    group: &Bound<'py, Group>,
    url: String,
    inline: u64,
    skip_unsupported: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let facade = group.get().facade()?;
    let name = group.get().session().name.clone();
    let (collected, report) = py
        .detached(|| {
            in_pool(|| {
                let mut collected = Collected::default();
                let options = ReferenceOptions::new(url)
                    .inline(inline)
                    .skip_unsupported(skip_unsupported)
                    .open_others(move |other| beside(&name, other));
                options.visit(&facade, &mut collected).map(|report| (collected, report))
            })
        })
        .or_raise()?;
    let result = PyDict::new(py);
    result.set_item("groups", collected.groups)?;
    let arrays = PyList::empty(py);
    for array in &collected.arrays {
        arrays.append(describe(py, array)?)?;
    }
    result.set_item("arrays", arrays)?;
    set_report(&result, report)?;
    Ok(result)
}

/// Opens a file beside the file at a path.
fn beside(path: &str, name: &str) -> hyperslab::Result<hyperslab::File> {
    hyperslab::File::open(Path::new(path).with_file_name("").join(name))
}

fn set_report(result: &Bound<'_, PyDict>, report: Report) -> PyResult<()> {
    let skipped: Vec<_> = report.skipped.into_iter().map(|one| (one.path, one.reason)).collect();
    result.set_item("skipped", skipped)?;
    result.set_item("skipped_attributes", report.skipped_attributes)
}

/// Returns the description of an array: its metadata as JSON, and its chunks as NumPy arrays.
fn describe<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyDict>> {
    let (mut urls, mut url_indices): (Vec<&str>, Vec<u32>) = (Vec::new(), Vec::new());
    let (mut positions, mut offsets, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    let inline = PyDict::new(py);
    for chunk in &array.chunks {
        match &chunk.content {
            Content::Inline(bytes) => inline.set_item(chunk.position, PyBytes::new(py, bytes))?,
            Content::Range { url, offset, length } => {
                let known = urls.iter().rposition(|known| **known == **url);
                let index = known.unwrap_or_else(|| {
                    urls.push(url);
                    urls.len() - 1
                });
                url_indices.push(u32::try_from(index)?);
                positions.push(chunk.position);
                offsets.push(*offset);
                lengths.push(*length);
            }
        }
    }
    let dict = PyDict::new(py);
    dict.set_item("path", &array.path)?;
    dict.set_item("zarray", array.metadata().to_string())?;
    dict.set_item("attributes", Json::Object(array.attributes.clone()).to_string())?;
    dict.set_item("dimensions", &array.dimensions)?;
    dict.set_item("grid", array.grid_shape())?;
    dict.set_item("urls", urls)?;
    dict.set_item("url_indices", PyArray1::from_vec(py, url_indices))?;
    dict.set_item("positions", PyArray1::from_vec(py, positions))?;
    dict.set_item("offsets", PyArray1::from_vec(py, offsets))?;
    dict.set_item("lengths", PyArray1::from_vec(py, lengths))?;
    dict.set_item("inline", inline)?;
    Ok(dict)
}
