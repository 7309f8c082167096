//! Datasets.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

mod access;
mod blocks;
mod builder;
mod chunks;
pub(crate) mod data;
mod dynamic;
mod elements;
mod field;
mod memory;
mod plan;
mod read;
mod storage;
mod variable_length;
#[cfg(feature = "ndarray")]
mod view;
mod write;

use hyperslab_engine::format::Layout as StoredLayout;
use hyperslab_engine::ops::OpenDataset;
use hyperslab_engine::ops::datasets::{DatasetAccess as Choices, DatasetDescription};
use hyperslab_engine::store::Reading;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::to_usize;
#[cfg(feature = "ndarray")]
use ndarray::{Array, ArrayD, Dimension, IxDyn};
use parking_lot::RwLock;

use crate::datatype::convert::Conversions;
use crate::known::Known;
use crate::layout::{Chunking, ExternalFile, FillStatus, FillValue, FilterInfo, Layout, VirtualMapping};
use crate::{Dataspace, Datatype, Object, ObjectKind, ObjectToken, Stored, conversion};
pub use access::DatasetAccess;
pub use blocks::Blocks;
pub use builder::DatasetBuilder;
pub(crate) use builder::{Storage, auto_chunk};
pub use chunks::{Chunks, StoredChunk};
pub use data::{ArrayData, ArrayDataMut};
use elements::Planned;
pub use field::Field;
pub(crate) use memory::{outside_array, run_indexes};
pub(crate) use variable_length::{filled, zeroed_elements};

/// A handle of a dataset: an array of elements of one type in a file.
///
/// A handle keeps the dataset usable: the dataset can be read, written and linked again even if no
/// link leads to it any more; see [`Group::remove`](crate::Group::remove).
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/chunk_indexes_latest.h5");
/// # let file = hyperslab::File::open(path)?;
/// # let Some(object) = file.members()?.into_iter().find(|o| o.kind() == Some(hyperslab::ObjectKind::Dataset)) else { return Ok(()) };
/// let dataset = object.into_dataset()?;
/// println!("{} of {}", dataset.dataspace(), dataset.datatype());
/// let values = dataset.read::<f64, hyperslab::IxDyn>(..)?;
/// assert_eq!(values.len() as u64, dataset.size()?);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Dataset {
    object: Object,
    /// The description of the dataset from the time when it was opened. Only parts that never
    /// change are used.
    first: Arc<OpenDataset>,
    pub(crate) now: Arc<RwLock<Known<OpenDataset>>>,
    conversions: Arc<Conversions>,
    /// The choices of the program for this dataset; `None` if the file chooses.
    access: Option<Arc<Choices>>,
}

impl Dataset {
    pub(crate) fn new(object: Object) -> Result<Self> {
        object.expect(ObjectKind::Dataset)?;
        Self::open_object(object, None)
    }

    /// Opens the dataset `object` with the choices `access` of the program.
    fn new_with(object: Object, access: &DatasetAccess) -> Result<Self> {
        object.expect(ObjectKind::Dataset)?;
        let access = Self::hold(&object, access)?;
        Self::open_object(object, access)
    }

    /// Registers the choices of the program for a dataset, if there are any.
    fn hold(object: &Object, access: &DatasetAccess) -> Result<Option<Arc<Choices>>> {
        if *access == DatasetAccess::default() {
            return Ok(None);
        }
        let held = object.file().hold_access(object.address(), access.choices.clone());
        held.map(Some).map_err(|error| error.context(format!("dataset `{}`", object.name())))
    }

    fn open_object(object: Object, access: Option<Arc<Choices>>) -> Result<Self> {
        let file = Arc::clone(object.file());
        let _reading = file.reading()?;
        let open = OpenDataset::open_with(&file, &*object.header()?, access.as_ref())
            .map_err(|error| error.context(format!("dataset `{}`", object.name())))?;
        let first = Arc::new(open);
        let now = Known::new(object.file(), Arc::clone(&first));
        Ok(Self::with(object, first, now, access))
    }

    fn with(
        object: Object,
        first: Arc<OpenDataset>,
        now: Arc<RwLock<Known<OpenDataset>>>,
        access: Option<Arc<Choices>>,
    ) -> Self {
        let conversions = Arc::new(conversion::with_heap(conversion::defaults(), object.file()));
        Self { object, first, now, conversions, access }
    }

    /// Returns the handle of a dataset that was just created with `description`. `access` contains
    /// the choices of the program for the dataset.
    pub(crate) fn made(
        object: Object,
        description: DatasetDescription,
        access: &DatasetAccess,
    ) -> Result<Self> {
        let access = Self::hold(&object, access)?;
        let made = OpenDataset::made(object.file(), object.address(), description, access.as_ref())?;
        Ok(Self::with(object, Arc::new(made), Known::nothing(), access))
    }

    /// Returns the current state of the dataset, as its object header describes it.
    pub(crate) fn open(&self) -> Result<Arc<OpenDataset>> {
        self.current().map(|(open, _)| open)
    }

    /// Returns the current state of the dataset, and a guard that gives shared access to the
    /// structure of the file. While the guard exists, the dataset does not change, and no chunk of
    /// the dataset is dirty (changed and not yet written).
    pub(crate) fn current(&self) -> Result<(Arc<OpenDataset>, Reading<'_>)> {
        let file = self.object.file();
        if self.is_virtual() {
            file.flush_sources().map_err(|error| self.context(error))?;
        }
        let reading = file.reading_flushed(self.shown()).map_err(|error| self.context(error))?;
        if self.is_virtual() && Known::last(&self.now).is_some_and(|open| !open.has_current_sources(file)) {
            Known::forget(&self.now);
        }
        let open = Known::get_held(&self.now, file, || {
            OpenDataset::open_with(file, &*self.object.header()?, self.access.as_ref())
        });
        Ok((open.map_err(|error| self.context(error))?, reading))
    }

    fn is_virtual(&self) -> bool {
        matches!(self.first.description.layout.layout, StoredLayout::Virtual(_))
    }

    /// Returns the address of this dataset, because a read of it flushes only its own dirty chunks
    /// (changed and not yet written). Returns `None` for a virtual dataset, which shows elements of
    /// other datasets: a read of it flushes the dirty chunks of all datasets.
    fn shown(&self) -> Option<hyperslab_engine::Address> {
        (!self.is_virtual()).then(|| self.object.address())
    }

    /// Returns the datatype of the dataset's elements.
    pub fn datatype(&self) -> &Datatype {
        &self.first.description.datatype
    }

    /// Returns the token of the committed datatype that the dataset uses; `None` if the dataset has
    /// its own copy of the datatype.
    pub fn committed_datatype(&self) -> Option<ObjectToken> {
        let store = &self.object.file().container.store;
        self.first.description.committed.map(|address| ObjectToken::of(store, address))
    }

    /// Returns the dataspace of the dataset: the current and the largest dimensions.
    pub fn dataspace(&self) -> Dataspace {
        // This query does not flush dirty chunks, because the extent is known in memory.
        let waiting = || self.object.file().current_dataspace(self.object.address());
        if let Some(known) = self.shown().and_then(|_| waiting()) {
            return known;
        }
        // If the header cannot be read again, use the old state. The next operation returns the
        // error.
        self.open().map_or_else(
            |_| self.first.description.dataspace.clone(),
            |open| open.description.dataspace.clone(),
        )
    }

    /// Returns the size of each dimension of the dataset, slowest first. The shape of scalar and
    /// null datasets is empty.
    ///
    /// Shapes of datasets and chunks are `u64`, as in the file: a dataset may have more elements
    /// than a 32-bit machine can address. Shapes of arrays in memory are `usize`, as in ndarray.
    pub fn shape(&self) -> Vec<u64> {
        self.dataspace().dims().to_vec()
    }

    /// Returns the number of dimensions of the dataset.
    pub fn ndim(&self) -> usize {
        self.dataspace().rank()
    }

    /// Returns the number of elements of the dataset.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the number does not fit in 64
    /// bits.
    pub fn size(&self) -> Result<u64> {
        self.dataspace().element_count().ok_or_else(|| {
            Error::corrupt("dataspace message", "sizes", "a product of at most 64 bits", "more")
        })
    }

    /// Returns the storage layout of the dataset's elements.
    pub fn layout(&self) -> Layout {
        let first = &self.first.description.layout.layout;
        match first {
            // The writer knows the chunk index, so this query does not flush dirty chunks.
            StoredLayout::Chunked(_) => {
                if let Some(waiting) = self.object.file().current_layout(self.object.address()) {
                    return Layout::of(&waiting);
                }
            }
            // The first write allocates the elements.
            StoredLayout::Contiguous(contiguous) if !contiguous.address.is_defined() => {}
            _ => return Layout::of(first),
        }
        // If the header cannot be read again, use the old state. The next operation returns the
        // error.
        let open = self.open().unwrap_or_else(|_| Arc::clone(&self.first));
        Layout::of(&open.description.layout.layout)
    }

    /// Returns the shape of the dataset's chunks and the kind of chunk index; `None` if the layout
    /// is not chunked.
    pub fn chunking(&self) -> Option<Chunking> {
        match self.layout() {
            Layout::Chunked(chunking) => Some(chunking),
            _ => None,
        }
    }

    /// Returns the filters of the dataset's filter pipeline, in the order of encoding.
    pub fn filters(&self) -> Vec<FilterInfo> {
        FilterInfo::of(&self.first.description)
    }

    /// Returns the fill value of the dataset: the value of elements that were never written.
    pub fn fill_value(&self) -> FillValue {
        FillValue::of(&self.first.description)
    }

    /// Returns the fill value of the dataset that the user set, as one stored element. The result
    /// is empty if the user set no fill value.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the fill value in the file has
    /// another size than an element.
    pub fn stored_fill_value(&self) -> Result<Stored> {
        let bytes = match self.fill_value().status {
            FillStatus::User(bytes) => bytes,
            FillStatus::Undefined | FillStatus::Default => Vec::new(),
        };
        let (got, expected) = (bytes.len(), self.datatype().size as usize);
        if got != 0 && got != expected {
            let expected = format!("{expected} bytes");
            return Err(self.context(Error::corrupt("fill value message", "size", expected, got)));
        }
        Ok(Stored::new(Arc::clone(self.object.file()), self.datatype().clone(), bytes))
    }

    /// Returns the pieces of the dataset's raw data that lie in external files, in order; an empty
    /// list for other layouts.
    pub fn external_files(&self) -> Vec<ExternalFile> {
        ExternalFile::of(&self.first.description)
    }

    /// Returns the mappings of a virtual dataset to its source datasets; an empty list for other
    /// layouts.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the mappings are damaged.
    pub fn virtual_mappings(&self) -> Result<Vec<VirtualMapping>> {
        let (_, _reading) = self.current()?;
        VirtualMapping::of(&self.object.file().container, &self.first.description)
            .map_err(|error| self.context(error))
    }

    pub(crate) fn object(&self) -> &Object {
        &self.object
    }

    pub(crate) fn conversions(&self) -> &Arc<Conversions> {
        &self.conversions
    }

    /// Returns the description of the dataset from the time when the dataset was opened.
    pub(crate) fn description(&self) -> &DatasetDescription {
        &self.first.description
    }

    /// Returns the result of a read of the dataset as an array of the shape `shape`. The context of
    /// errors names the dataset.
    #[cfg(feature = "ndarray")]
    fn shaped<T, D: Dimension>(&self, shape: &[usize], elements: Result<Vec<T>>) -> Result<Array<T, D>> {
        elements.and_then(|elements| array(shape, elements)).map_err(|error| self.context(error))
    }

    pub(crate) fn context(&self, error: Error) -> Error {
        error.context(format!("dataset `{}`", self.name()))
    }

    /// Returns the bytes of all elements of the dataset as stored, without a copy. Returns [`None`]
    /// unless the dataset is contiguous, and the file is open for reading only and held in memory:
    /// mapped, or read from an image.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/layouts_latest.h5");
    /// use hyperslab::{File, Layout, ObjectKind};
    /// let file = File::from_bytes(std::fs::read(path)?)?;
    /// for object in file.members()?.into_iter().filter(|object| object.kind() == Some(ObjectKind::Dataset)) {
    ///     let dataset = object.into_dataset()?;
    ///     if let Some(bytes) = dataset.stored_view() {
    ///         assert_eq!(bytes, dataset.read_stored(..)?.bytes());
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stored_view(&self) -> Option<&[u8]> {
        let file = self.object.file();
        if file.container.store.is_writable() { None } else { self.first.view(file) }
    }
}

impl Deref for Dataset {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.object
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Use the last known shape, because `fmt` must neither read the file nor wait for a lock.
        let open = Known::last(&self.now).unwrap_or_else(|| Arc::clone(&self.first));
        f.debug_struct("Dataset")
            .field("path", &self.name())
            .field("shape", &format_args!("{}", open.description.dataspace))
            .field("datatype", &format_args!("{}", self.datatype()))
            .field("file", &self.object.file().container.store.name())
            .finish_non_exhaustive()
    }
}

/// Returns the shape of the array in memory that holds all elements of a dataspace. For a null
/// dataspace this is `[0]`.
pub(crate) fn shape(dataspace: &Dataspace) -> Result<Vec<usize>> {
    match dataspace {
        Dataspace::Null => Ok(vec![0]),
        _ => dataspace.dims().iter().map(|size| Ok(to_usize(*size)?)).collect(),
    }
}

/// Returns the elements `values` as an array in memory of the given shape, with the dimension type
/// `D`.
#[cfg(feature = "ndarray")]
pub(crate) fn array<T, D: Dimension>(shape: &[usize], values: Vec<T>) -> Result<Array<T, D>> {
    check_rank::<D>(shape)?;
    ArrayD::from_shape_vec(IxDyn(shape), values)
        .and_then(ArrayD::into_dimensionality)
        .map_err(|error| Error::Misuse(format!("elements do not fill the shape {shape:?}: {error}")))
}

/// Checks that arrays in memory of the dimension type `D` can have the rank of the given shape.
/// Returns an error otherwise.
#[cfg(feature = "ndarray")]
pub(crate) fn check_rank<D: Dimension>(shape: &[usize]) -> Result<()> {
    match D::NDIM {
        Some(rank) if rank != shape.len() => {
            let got = shape.len();
            Err(Error::Misuse(format!("the shape {shape:?} has {got} dimensions, but the array has {rank}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::FileOptions;

    #[test]
    fn debug_names_path_shape_and_type() {
        let file = FileOptions::new().create_in_memory().unwrap();
        let dataset = file.new_dataset("g/a").of::<i32>().shape(&[2, 3]).create().unwrap();
        let text = format!("{dataset:?}");
        for part in ["g/a", "(2, 3)", &dataset.datatype().to_string(), "file in memory"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(format!("{:?}", file.group("g").unwrap()).contains("Group"));
        assert!(format!("{file:?}").contains("writable: true"));
    }
}
