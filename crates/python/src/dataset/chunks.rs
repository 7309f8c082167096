//! Stored chunks, and views of elements in memory.

use crate::ending::Detached as _;
use hyperslab::ChunkInfo;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};

use super::Dataset;
use crate::errors::OrRaise;
use crate::process::in_pool;
use crate::selection::tuple;

/// Offset, filter mask, address and size of a chunk.
type Chunk<'py> = (Bound<'py, PyTuple>, u32, u64, u64);

fn chunk<'py>(py: Python<'py>, info: &ChunkInfo, user_block: u64) -> PyResult<Chunk<'py>> {
    // Addresses in this module count from the begin of the file, as those of libhdf5 do.
    let address = info.address.checked_add(user_block);
    let address = address.ok_or_else(|| PyValueError::new_err("the address of a chunk is out of range"))?;
    Ok((tuple(py, &info.offset)?, info.filter_mask, address, info.size))
}

#[pymethods]
impl Dataset {
    /// Returns the number of stored chunks.
    fn chunk_count(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.known_chunks(py)?.len())
    }

    /// Returns all stored chunks, in the order of their offsets.
    fn chunk_list<'py>(&self, py: Python<'py>) -> PyResult<Vec<Chunk<'py>>> {
        let user_block = self.session().file()?.info().user_block;
        self.known_chunks(py)?.iter().map(|info| chunk(py, info, user_block)).collect()
    }

    /// Returns the stored chunk of a number; `None` if there are fewer chunks.
    fn chunk_info<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Option<Chunk<'py>>> {
        let user_block = self.session().file()?.info().user_block;
        self.known_chunks(py)?.get(number).map(|info| chunk(py, info, user_block)).transpose()
    }

    /// Returns the stored chunk that contains an element.
    fn chunk_at<'py>(&self, py: Python<'py>, coordinates: Vec<u64>) -> PyResult<Option<Chunk<'py>>> {
        let facade = self.facade()?;
        let user_block = self.session().file()?.info().user_block;
        let found = py.detached(|| in_pool(|| facade.chunks().at(&coordinates))).or_raise()?;
        found.map(|info| chunk(py, &info, user_block)).transpose()
    }

    /// Returns filter mask and encoded bytes of the chunk that contains an element.
    fn read_chunk<'py>(
        &self,
        py: Python<'py>,
        coordinates: Vec<u64>,
    ) -> PyResult<(u32, Bound<'py, PyBytes>)> {
        let facade = self.facade()?;
        let found = py.detached(|| in_pool(|| facade.chunks().read(&coordinates))).or_raise()?;
        let chunk = found.ok_or_else(|| PyValueError::new_err("the chunk is not stored"))?;
        Ok((chunk.info.filter_mask, PyBytes::new(py, &chunk.bytes)))
    }

    /// Writes the encoded bytes of a chunk.
    #[pyo3(signature = (coordinates, data, filter_mask=0))]
    fn write_chunk(
        &self,
        py: Python<'_>,
        coordinates: Vec<u64>,
        data: &Bound<'_, PyAny>,
        filter_mask: u32,
    ) -> PyResult<()> {
        let facade = self.facade()?;
        let bytes = match data.cast::<PyBytes>() {
            Ok(bytes) => bytes.as_bytes().to_vec(),
            Err(_) => data.py().import("builtins")?.getattr("bytes")?.call1((data,))?.extract()?,
        };
        py.detached(|| in_pool(|| facade.chunks().write(&coordinates, &bytes, filter_mask))).or_raise()
    }
}

/// The stored bytes of a contiguous dataset in a mapped file, as a buffer.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct StoredBytes {
    facade: hyperslab::Dataset,
}

/// Returns a read-only view of the elements of a contiguous dataset, without a copy.
pub(super) fn view(dataset: &Bound<'_, Dataset>) -> PyResult<Py<PyAny>> {
    let facade = dataset.get().facade()?;
    if facade.stored_view().is_none() {
        return Err(PyTypeError::new_err(
            "a view needs a contiguous dataset in a file that is open for reading only with mmap=True or in memory",
        ));
    }
    let bytes = Bound::new(dataset.py(), StoredBytes { facade })?;
    Ok(PyMemoryView::from(bytes.as_any())?.into_any().unbind())
}

impl StoredBytes {
    /// Returns the stored bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.facade.stored_view().unwrap_or_default() // The dataset never changes: the file is read-only.
    }
}
