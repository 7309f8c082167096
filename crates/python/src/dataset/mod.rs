//! Datasets.

mod access;
mod buffer;
mod chunks;
pub(crate) mod create;
mod parts;
mod properties;
mod read;
mod scales;
mod sparse;
mod subscript;
mod write;

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use crate::ending::Detached as _;
use pyo3::prelude::*;

use crate::elements::Form;
use crate::errors::OrRaise;
use crate::file::{Session, Slot};
use crate::object::Object;
use crate::process::in_pool;
use crate::types::to_dtype;

/// A handle of a dataset.
#[pyclass(extends = Object, frozen, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct Dataset {
    slot: Arc<Slot<hyperslab::Dataset>>,
    /// The dtype of the dataset and the form of its elements, known after the first use.
    native: OnceLock<Native>,
    /// The stored chunks of a dataset in a file that cannot change here.
    chunks: OnceLock<Arc<Vec<hyperslab::ChunkInfo>>>,
}

/// The dtype of a dataset and the form of its elements.
#[derive(Debug)]
pub(crate) struct Native {
    pub(crate) dtype: Py<PyAny>,
    pub(crate) form: Form,
    /// The dtype has no objects and no dimensions of its own, and is no text of NumPy.
    pub(crate) is_simple: bool,
}

impl Dataset {
    /// Creates the Python handle of a dataset.
    pub(crate) fn create(
        session: &Arc<Session>,
        dataset: hyperslab::Dataset,
        py: Python<'_>,
    ) -> PyResult<Py<Self>> {
        let object = Object::new(session, hyperslab::Object::clone(&dataset));
        let handle =
            Self { slot: Slot::new(session, dataset), native: OnceLock::new(), chunks: OnceLock::new() };
        Py::new(py, PyClassInitializer::from(object).add_subclass(handle))
    }

    /// Returns the façade dataset.
    ///
    /// # Errors
    /// Returns a `ValueError` if the dataset or its file is closed.
    pub(crate) fn facade(&self) -> PyResult<hyperslab::Dataset> {
        self.slot.get()
    }

    /// Returns the session of the dataset's file.
    pub(crate) fn session(&self) -> &Arc<Session> {
        self.slot.session()
    }

    /// Returns all stored chunks. A list of a file that is open for reading only is kept.
    pub(super) fn known_chunks(&self, py: Python<'_>) -> PyResult<Arc<Vec<hyperslab::ChunkInfo>>> {
        let facade = self.facade()?;
        if let Some(chunks) = self.chunks.get() {
            return Ok(Arc::clone(chunks));
        }
        let chunks = Arc::new(py.detached(|| in_pool(|| facade.chunks().list())).or_raise()?);
        let session = self.session();
        if !session.writable && session.swmr.load(Ordering::Relaxed) == 0 {
            return Ok(Arc::clone(self.chunks.get_or_init(|| chunks)));
        }
        Ok(chunks)
    }

    /// Returns the dtype of the dataset and the form of its elements.
    pub(crate) fn native(&self, py: Python<'_>) -> PyResult<&Native> {
        if let Some(native) = self.native.get() {
            return Ok(native);
        }
        let facade = self.facade()?;
        let dtype = to_dtype(py, facade.datatype())?;
        let form = Form::new(&dtype, facade.datatype())?;
        let is_simple = form.is_plain() && dtype.getattr("subdtype")?.is_none();
        Ok(self.native.get_or_init(|| Native { dtype: dtype.unbind(), form, is_simple }))
    }
}

/// Returns the shape of a dataset as `usize`.
pub(crate) fn sizes(shape: &[u64]) -> PyResult<smallvec::SmallVec<[usize; 4]>> {
    shape
        .iter()
        .map(|size| hyperslab_exact::to_usize(*size).map_err(hyperslab::Error::from).or_raise())
        .collect()
}
