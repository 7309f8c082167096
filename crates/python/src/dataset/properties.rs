//! Properties of datasets.

use crate::ending::Detached as _;
use hyperslab::{AllocationTime, FillStatus, FillTime, Layout};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::Dataset;
use crate::elements;
use crate::errors::OrRaise;
use crate::object;
use crate::process::in_pool;
use crate::selection::{Selection, tuple};
use crate::types::Type;

/// Identifier, flags, values and name of a filter.
type Filter<'py> = (u16, u16, Bound<'py, PyTuple>, String);
/// Selection, file, dataset and source selection of a mapping of a virtual dataset.
type Mapping = (Selection, String, String, Selection);

#[pymethods]
impl Dataset {
    /// Returns the shape; `None` for the null dataspace.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        Self::current_shape(&self.facade()?).map(|shape| tuple(py, &shape)).transpose()
    }

    /// Returns the maximum shape, with `None` for unlimited dimensions.
    #[getter]
    fn maxshape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match self.facade()?.dataspace() {
            hyperslab::Dataspace::Null => Ok(None),
            space => {
                let sizes = space.max_dims();
                let sizes = sizes.iter().map(|size| (*size).filter(|size| *size != hyperslab::UNLIMITED));
                PyTuple::new(py, sizes.collect::<Vec<_>>()).map(Some)
            }
        }
    }

    /// Returns the datatype.
    #[getter]
    fn r#type(&self) -> PyResult<Type> {
        Ok(Type { datatype: self.facade()?.datatype().clone() })
    }

    /// Returns the NumPy dtype of the elements.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.facade()?;
        Ok(self.native(py)?.dtype.clone_ref(py))
    }

    /// Returns the committed datatype of the dataset.
    #[getter]
    fn committed(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let facade = self.facade()?;
        let Some(token) = facade.committed_datatype() else { return Ok(None) };
        let object = py.detached(|| in_pool(|| facade.containing_file()?.object_at(token))).or_raise()?;
        object::wrap(py, self.session(), object).map(Some)
    }

    /// Returns the name of the storage layout.
    #[getter]
    fn layout(&self) -> PyResult<&'static str> {
        Ok(match self.facade()?.layout() {
            Layout::Compact => "compact",
            Layout::Contiguous { .. } => "contiguous",
            Layout::Chunked(_) => "chunked",
            Layout::Virtual => "virtual",
            _ => "structured",
        })
    }

    /// Returns the chunk shape.
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let facade = self.facade()?;
        let shape = match facade.chunking() {
            Some(chunking) => Some(chunking.shape),
            None => facade.sparse().chunking().map(|chunking| chunking.shape),
        };
        shape.map(|shape| tuple(py, &shape)).transpose()
    }

    /// Returns the filters of the pipeline.
    #[getter]
    fn filters<'py>(&self, py: Python<'py>) -> PyResult<Vec<Filter<'py>>> {
        let filters = self.facade()?.filters().into_iter();
        let filters = filters.map(|filter| {
            let values = PyTuple::new(py, &filter.client_data)?;
            Ok((filter.id, filter.flags, values, filter.name.unwrap_or_default()))
        });
        filters.collect()
    }

    /// Returns the fill value as an array without dimensions; `None` if it is undefined or the
    /// default.
    #[getter]
    fn fill<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let facade = self.facade()?;
        if !matches!(facade.fill_value().status, FillStatus::User(_)) {
            return Ok(None);
        }
        let stored = py.detached(|| in_pool(|| facade.stored_fill_value())).or_raise()?;
        let dtype = self.native(py)?.dtype.bind(py);
        elements::to_array(py, stored, &[], Some(dtype)).map(Some)
    }

    /// Returns the name of the time at which fill values are written.
    #[getter]
    fn fill_time(&self) -> PyResult<&'static str> {
        Ok(match self.facade()?.fill_value().time {
            FillTime::Allocation => "alloc",
            FillTime::Never => "never",
            _ => "ifset",
        })
    }

    /// Returns the name of the time at which storage is allocated.
    #[getter]
    fn alloc_time(&self) -> PyResult<&'static str> {
        Ok(match self.facade()?.fill_value().allocation {
            AllocationTime::Early => "early",
            AllocationTime::Late => "late",
            AllocationTime::Incremental => "incr",
            _ => "default",
        })
    }

    /// Returns name, offset and size of each external raw file.
    #[getter]
    fn external(&self) -> PyResult<Vec<(String, u64, Option<u64>)>> {
        let files = self.facade()?.external_files().into_iter();
        Ok(files
            .map(|file| (String::from_utf8_lossy(&file.name).into_owned(), file.offset, file.size))
            .collect())
    }

    /// Returns the mappings of a virtual dataset.
    #[getter]
    fn virtual_sources(&self, py: Python<'_>) -> PyResult<Vec<Mapping>> {
        let facade = self.facade()?;
        let dims = facade.shape();
        let mappings = py.detached(|| in_pool(|| facade.virtual_mappings())).or_raise()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        mappings
            .iter()
            .map(|mapping| {
                let extent = self.source_extent(&mapping.source_selection, &dims);
                let to = Selection::from_facade(mapping.selection.clone(), &dims).or_raise()?;
                let from = Selection::from_facade(mapping.source_selection.clone(), &extent).or_raise()?;
                Ok((to, text(&mapping.file), text(&mapping.dataset), from))
            })
            .collect()
    }

    /// Returns the size of the stored elements in bytes.
    #[getter]
    fn storage_size(&self, py: Python<'_>) -> PyResult<u64> {
        let facade = self.facade()?;
        py.detached(|| in_pool(|| facade.storage_size())).or_raise()
    }

    /// Returns the address of the elements of a contiguous dataset; `None` without storage.
    #[getter]
    fn offset(&self) -> PyResult<Option<u64>> {
        let facade = self.facade()?;
        match facade.layout() {
            Layout::Contiguous { address } => {
                let user_block = self.session().file()?.info().user_block;
                Ok(address.and_then(|address| address.checked_add(user_block)))
            }
            _ => Ok(None),
        }
    }

    /// Returns whether the dataset records its times.
    #[getter]
    fn track_times(&self, py: Python<'_>) -> PyResult<bool> {
        let facade = self.facade()?;
        py.detached(|| facade.tracks_times()).or_raise()
    }

    /// Changes the shape.
    fn resize(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<()> {
        let facade = self.facade()?;
        py.detached(|| in_pool(|| facade.resize(&shape))).or_raise()
    }

    /// Discards the known state, so that the next operation reads the state of the file.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        let facade = self.facade()?;
        py.detached(|| in_pool(|| facade.refresh())).or_raise()
    }

    /// Writes all dirty data of the file.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let file = self.session().file()?;
        py.detached(|| in_pool(|| file.flush())).or_raise()
    }

    /// Returns a reference to the selected elements.
    fn region_reference(
        &self,
        selection: &Bound<'_, Selection>,
    ) -> PyResult<crate::reference::RegionReference> {
        let facade = self.facade()?;
        crate::reference::RegionReference::new(&facade, selection.get().facade().clone())
    }

    /// Returns the elements of a contiguous dataset in memory, without a copy.
    fn view(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        super::chunks::view(slf)
    }
}

impl Dataset {
    /// Returns the shape of the extent of a source selection: its bounding box, because the file
    /// does not store the extent in a form of its own.
    fn source_extent(&self, selection: &hyperslab::Selection, dims: &[u64]) -> Vec<u64> {
        match selection {
            hyperslab::Selection::Hyperslab(hyperslab::Hyperslab::Regular(slab)) => {
                let parts = slab.start.iter().zip(&slab.stride).zip(slab.count.iter().zip(&slab.block));
                parts
                    .map(|((start, stride), (count, block))| {
                        if *count == hyperslab::UNLIMITED || *block == hyperslab::UNLIMITED {
                            return *start;
                        }
                        // Only shown; an extent beyond 2^64 does not exist.
                        start
                            .saturating_add(stride.saturating_mul(count.saturating_sub(1)))
                            .saturating_add(*block)
                    })
                    .collect()
            }
            hyperslab::Selection::Hyperslab(hyperslab::Hyperslab::Irregular { rank, blocks }) => (0..*rank)
                .map(|axis| {
                    blocks.iter().filter_map(|block| block.end.get(axis)).max().map_or(0, |last| last + 1)
                })
                .collect(),
            _ => dims.to_vec(),
        }
    }
}
