//! Datasets.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

mod blocks;
mod builder;
mod chunks;
mod contents;
pub(crate) mod data;
mod dynamic;
mod elements;
mod field;
mod memory;
mod storage;
mod view;
mod write;

use hyperslab_engine::format::Layout as StoredLayout;
use hyperslab_engine::ops::OpenDataset;
use hyperslab_engine::ops::datasets::DatasetDescription;
use hyperslab_engine::store::Reading;
use hyperslab_engine::{Error, Result};
use ndarray::{ArrayD, IxDyn};
use parking_lot::RwLock;

use crate::datatype::convert::Conversions;
use crate::layout::{Chunking, ExternalFile, FillStatus, FillValue, FilterInfo, Layout, VirtualMapping};
use crate::object::Known;
use crate::slice::{self, Slice};
use crate::{
    Dataspace, Datatype, H5Type, Hyperslab, Object, ObjectKind, ObjectToken, Region, Selection, Stored,
    conversion,
};
pub use blocks::Blocks;
pub use builder::DatasetBuilder;
pub(crate) use builder::{Storage, auto_chunk};
pub use chunks::StoredChunk;
pub use data::ArrayData;
use elements::{Elements, Planned, Wanted};

/// A dataset: an array of elements of one type.
///
/// As long as one handle of it lives, a dataset can be read, written and linked again, whether a link leads to it or not: see
/// [`Group::remove`](crate::Group::remove).
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/chunk_indexes_latest.h5");
/// # let file = hyperslab::File::open(path)?;
/// # let Some(object) = file.members()?.into_iter().find(|o| o.kind() == Some(hyperslab::ObjectKind::Dataset)) else { return Ok(()) };
/// let dataset = object.into_dataset()?;
/// println!("{} of {}", dataset.dataspace(), dataset.datatype());
/// let values = dataset.read::<f64>()?;
/// assert_eq!(values.shape(), dataset.shape()?);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Dataset {
    object: Object,
    /// As it was opened: what does not change.
    first: Arc<OpenDataset>,
    pub(crate) now: Arc<RwLock<Known<OpenDataset>>>,
    conversions: Arc<Conversions>,
}

impl Dataset {
    pub(crate) fn new(object: Object) -> Result<Self> {
        object.expect(ObjectKind::Dataset)?;
        let file = Arc::clone(object.file());
        let _reading = file.reading()?;
        let open = OpenDataset::open(&file, &*object.header()?)
            .map_err(|error| error.context(format!("dataset `{}`", object.name())))?;
        let first = Arc::new(open);
        let now = Known::new(object.file(), Arc::clone(&first));
        Ok(Self::with(object, first, now))
    }

    fn with(object: Object, first: Arc<OpenDataset>, now: Arc<RwLock<Known<OpenDataset>>>) -> Self {
        let conversions = Arc::new(conversion::with_heap(conversion::defaults(), object.file()));
        Self { object, first, now, conversions }
    }

    /// A dataset that was made just now, as `description` says.
    pub(crate) fn made(object: Object, description: DatasetDescription) -> Result<Self> {
        let first = Arc::new(OpenDataset::made(object.file(), object.address(), description)?);
        Ok(Self::with(object, first, Known::nothing()))
    }

    /// The dataset as it is now.
    pub(crate) fn open(&self) -> Result<Arc<OpenDataset>> {
        self.current().map(|(open, _)| open)
    }

    /// The dataset as it is, with nothing left in memory that is not in the file, and stays while the second value lives.
    pub(crate) fn current(&self) -> Result<(Arc<OpenDataset>, Reading<'_>)> {
        let file = self.object.file();
        let reading = file.reading_settled(self.shown()).map_err(|error| self.context(error))?;
        let open = Known::get_held(&self.now, file, || OpenDataset::open(file, &*self.object.header()?));
        Ok((open.map_err(|error| self.context(error))?, reading))
    }

    fn is_virtual(&self) -> bool {
        matches!(self.first.description.layout.layout, StoredLayout::Virtual(_))
    }

    /// The dataset whose elements these are; a virtual one may show any other one of the file.
    fn shown(&self) -> Option<hyperslab_engine::Address> {
        (!self.is_virtual()).then(|| self.object.address())
    }

    /// The type of the elements.
    pub fn datatype(&self) -> &Datatype {
        &self.first.description.datatype
    }

    /// The committed datatype that is used, if one is.
    pub fn committed_datatype(&self) -> Option<ObjectToken> {
        let store = &self.object.file().container.store;
        self.first.description.committed.map(|address| ObjectToken::of(store, address))
    }

    /// The shape and how far it may grow.
    pub fn dataspace(&self) -> Dataspace {
        // What waits to be written is not stored for the question how much it is.
        let waiting = || self.object.file().dataspace_in_memory(self.object.address());
        if let Some(known) = self.shown().and_then(|_| waiting()) {
            return known;
        }
        // If the header cannot be read again, whatever is done next says so.
        self.open().map_or_else(
            |_| self.first.description.dataspace.clone(),
            |open| open.description.dataspace.clone(),
        )
    }

    /// The shape: the size of each dimension, slowest first. Empty for a scalar.
    ///
    /// # Errors
    /// If a dimension is larger than this machine can address.
    pub fn shape(&self) -> Result<Vec<usize>> {
        shape(&self.dataspace())
    }

    /// The number of dimensions.
    pub fn ndim(&self) -> usize {
        self.dataspace().rank()
    }

    /// The number of elements.
    ///
    /// # Errors
    /// If it passes 64 bits.
    pub fn size(&self) -> Result<u64> {
        self.dataspace().element_count().ok_or_else(|| {
            Error::corrupt("dataspace message", "sizes", "a product of at most 64 bits", "more")
        })
    }

    /// How and where the elements are stored.
    pub fn layout(&self) -> Layout {
        Layout::of(&self.open().unwrap_or_else(|_| Arc::clone(&self.first)).description)
    }

    /// How the dataset is cut into chunks, if it is.
    pub fn chunking(&self) -> Option<Chunking> {
        match self.layout() {
            Layout::Chunked(chunking) => Some(chunking),
            _ => None,
        }
    }

    /// The filters that chunks pass, in the order of writing.
    pub fn filters(&self) -> Vec<FilterInfo> {
        FilterInfo::of(&self.first.description)
    }

    /// What elements are that were never written.
    pub fn fill_value(&self) -> FillValue {
        FillValue::of(&self.first.description)
    }

    /// The fill value that the user set, as a stored element; no element at all if none was set.
    ///
    /// # Errors
    /// If the file holds another number of bytes than an element has.
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

    /// The pieces of the dataset that lie in other files, in order; none for most datasets.
    pub fn external_files(&self) -> Vec<ExternalFile> {
        ExternalFile::of(&self.first.description)
    }

    /// Where the elements of a virtual dataset come from; none for other datasets.
    ///
    /// # Errors
    /// If the mappings are damaged.
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

    /// What the header said when the dataset was opened.
    pub(crate) fn description(&self) -> &DatasetDescription {
        &self.first.description
    }

    pub(crate) fn context(&self, error: Error) -> Error {
        error.context(format!("dataset `{}`", self.name()))
    }

    /// All elements as stored, before any conversion.
    ///
    /// # Errors
    /// If they are damaged, or stored in a way that is not supported.
    pub fn read_stored(&self) -> Result<Stored> {
        self.read_stored_selection(&Selection::All)
    }

    /// The selected elements as stored, in the order of the selection: points in their own, all others in C order.
    /// Blocks that overlap count once.
    ///
    /// # Errors
    /// As [`read_stored`](Self::read_stored), and if the selection reaches out of the dataset.
    pub fn read_stored_selection(&self, selection: &Selection) -> Result<Stored> {
        let size = self.datatype().size as usize;
        let wanted = self.prepare(selection, size).map_err(|error| self.context(error))?;
        wanted.stored(self).map_err(|error| self.context(error))
    }

    /// All elements as stored, without a copy: for a contiguous dataset of a file that is in memory, mapped or an
    /// image, and [`None`] for any other.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/layouts_latest.h5");
    /// use hyperslab::{File, Layout, ObjectKind};
    /// let file = File::from_bytes(std::fs::read(path)?)?;
    /// for object in file.members()?.into_iter().filter(|object| object.kind() == Some(ObjectKind::Dataset)) {
    ///     let dataset = object.into_dataset()?;
    ///     if let Some(bytes) = dataset.stored_view() {
    ///         assert_eq!(bytes, dataset.read_stored()?.bytes());
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stored_view(&self) -> Option<&[u8]> {
        let file = self.object.file();
        if file.container.store.is_writable() { None } else { self.first.view(file) }
    }

    /// All elements as an array of the dataset's shape.
    ///
    /// # Errors
    /// If the elements' type cannot be converted to `T`, or they cannot be read.
    pub fn read<T: H5Type>(&self) -> Result<ArrayD<T>> {
        let wanted = self
            .prepare(&Selection::All, size_of::<T>().max(T::SIZE))
            .map_err(|error| self.context(error))?;
        let shape = shape(wanted.dataspace())?;
        let plan = |conversions: &Conversions| conversions.plan(self.datatype(), &T::datatype());
        array(shape, self.read_wanted(wanted, plan)?)
    }

    /// All elements in C order.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_raw<T: H5Type>(&self) -> Result<Vec<T>> {
        self.read_selection(&Selection::All)
    }

    /// The elements of a box as an array of its shape.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// # let file = hyperslab::File::open(path)?;
    /// # fn all(group: &hyperslab::Group, found: &mut Vec<hyperslab::Dataset>) -> hyperslab::Result<()> {
    /// #     for object in group.members()? { match object.kind() {
    /// #         Some(hyperslab::ObjectKind::Group) => all(&object.into_group()?, found)?,
    /// #         Some(hyperslab::ObjectKind::Dataset) => found.push(object.into_dataset()?), _ => {} } }
    /// #     Ok(())
    /// # }
    /// # let mut found = Vec::new(); all(&file, &mut found)?;
    /// # let Some(dataset) = found.into_iter().find(|d| d.ndim() == 1 && d.datatype().is_number()) else { return Ok(()) };
    /// use hyperslab::Region;
    /// let first = dataset.read_region::<f64>(&Region::new(&[0], &[3]).map_err(hyperslab::Error::from)?)?;
    /// assert_eq!(first.shape(), [3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read`](Self::read), and if the box reaches out of the dataset.
    pub fn read_region<T: H5Type>(&self, region: &Region) -> Result<ArrayD<T>> {
        let shape: Result<Vec<usize>> = region.count.iter().map(|size| to_usize(*size)).collect();
        array(shape?, self.read_region_raw(region)?)
    }

    fn read_region_raw<T: H5Type>(&self, region: &Region) -> Result<Vec<T>> {
        let dataspace = self.dataspace();
        let dims = dataspace.dims();
        region.check_within("the box", dims).map_err(|error| self.context(error.into()))?;
        self.read_selection(&if dims.is_empty() { Selection::All } else { Selection::region(region) })
    }

    /// The selected elements, in the order of the selection: points in their own, all others in C order.
    /// Blocks that overlap count once.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{File, Points, Selection};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// let points = Selection::Points(Points { rank: 1, coordinates: vec![700, 3, 8000] });
    /// assert_eq!(temperature.read_selection::<f64>(&points)?.len(), 3);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read`](Self::read), and if the selection reaches out of the dataset.
    pub fn read_selection<T: H5Type>(&self, selection: &Selection) -> Result<Vec<T>> {
        self.read_planned(selection, |conversions| conversions.plan(self.datatype(), &T::datatype()))
    }

    /// The selected elements, converted as planned.
    fn read_planned<T: H5Type>(
        &self,
        selection: &Selection,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Vec<T>> {
        let wanted = self.prepare(selection, size_of::<T>().max(T::SIZE));
        self.read_wanted(wanted.map_err(|error| self.context(error))?, plan)
    }

    fn read_wanted<T: H5Type>(
        &self,
        wanted: Wanted<'_>,
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<Vec<T>> {
        let count = wanted.count;
        let elements = Elements::new(self, wanted, plan).map_err(|error| self.context(error))?;
        T::read_vec(count, |out| elements.put(out, true)).map_err(|error| self.context(error))
    }

    /// As [`read_selection`](Self::read_selection), into a slice of as many elements as are selected.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{File, Selection};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// let mut year = vec![0.0_f32; 8760];
    /// temperature.read_into(&Selection::All, &mut year)?;
    /// assert!(year.iter().any(|value| *value != 0.0));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_selection`](Self::read_selection), and if the slice has another length. What the slice holds
    /// then is not defined.
    pub fn read_into<T: H5Type>(&self, selection: &Selection, values: &mut [T]) -> Result<()> {
        self.read_planned_into(selection, values, |conversions| {
            conversions.plan(self.datatype(), &T::datatype())
        })
    }

    /// The selected elements, converted as planned, into a slice of as many.
    fn read_planned_into<T: H5Type>(
        &self,
        selection: &Selection,
        values: &mut [T],
        plan: impl FnOnce(&Conversions) -> Planned,
    ) -> Result<()> {
        let wanted = self.prepare(selection, 0).map_err(|error| self.context(error))?;
        if wanted.count != values.len() {
            let count = wanted.count;
            let message = format!("{count} elements are selected for a slice of {}", values.len());
            return Err(self.context(Error::Misuse(message)));
        }
        let elements = Elements::new(self, wanted, plan).map_err(|error| self.context(error))?;
        T::read_slice(values, |out| elements.put(out, false)).map_err(|error| self.context(error))
    }

    /// The elements of a slice, which [`s!`](crate::s) makes, as an array of the slice's shape: a dimension of
    /// which one coordinate is taken is not in it.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{File, s};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// let mornings = temperature.read_slice::<f32>(s![6..;24])?;
    /// assert_eq!(mornings.shape(), [365]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read`](Self::read), and if the slice has another number of dimensions, or leaves the dataset.
    pub fn read_slice<T: H5Type>(&self, slices: impl AsRef<[Slice]>) -> Result<ArrayD<T>> {
        let (selection, shape) = slice::selection(slices.as_ref(), self.dataspace().dims())
            .map_err(|error| self.context(error))?;
        let shape: Result<Vec<usize>> = shape.into_iter().map(to_usize).collect();
        array(shape?, self.read_selection(&selection)?)
    }

    /// A selection each of whose elements counts once.
    fn without_overlaps<'a>(&self, selection: &'a Selection) -> Result<Cow<'a, Selection>> {
        Ok(match selection {
            Selection::Hyperslab(Hyperslab::Irregular { .. }) => {
                Cow::Owned(selection.clone().simplified().map_err(|error| self.context(error.into()))?)
            }
            _ => Cow::Borrowed(selection),
        })
    }

    /// The only element.
    ///
    /// # Errors
    /// As [`read`](Self::read), and if there is another number of elements than one.
    pub fn read_scalar<T: H5Type>(&self) -> Result<T> {
        match self.read_raw::<T>()?.as_slice() {
            [value] => Ok(*value),
            values => {
                let message = format!("it has {} elements instead of one", values.len());
                Err(self.context(Error::Misuse(message)))
            }
        }
    }

    /// All elements as text: fixed or variable strings.
    ///
    /// # Errors
    /// If they are no strings.
    pub fn read_strings(&self) -> Result<ArrayD<String>> {
        array(self.shape()?, self.read_stored()?.strings().map_err(|error| self.context(error))?)
    }

    /// All elements as vectors, for a dataset of sequences of variable length.
    ///
    /// # Errors
    /// If they are no sequences, or their items cannot be converted to `T`.
    pub fn read_sequences<T: H5Type>(&self) -> Result<ArrayD<Vec<T>>> {
        array(self.shape()?, self.read_stored()?.sequences().map_err(|error| self.context(error))?)
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
        write!(f, "Dataset({:?}, {} of {})", self.name(), self.dataspace(), self.datatype())
    }
}

pub(crate) fn to_usize(size: u64) -> Result<usize> {
    usize::try_from(size).map_err(|_| Error::Limit {
        what: "elements of one dimension".into(),
        got: size,
        limit: usize::MAX as u64,
    })
}

/// The shape of a dataspace; that of a null dataspace holds no elements.
pub(crate) fn shape(dataspace: &Dataspace) -> Result<Vec<usize>> {
    match dataspace {
        Dataspace::Null => Ok(vec![0]),
        _ => dataspace.dims().iter().map(|size| to_usize(*size)).collect(),
    }
}

pub(crate) fn array<T>(shape: Vec<usize>, values: Vec<T>) -> Result<ArrayD<T>> {
    ArrayD::from_shape_vec(IxDyn(&shape), values)
        .map_err(|error| Error::Misuse(format!("elements do not fill the shape {shape:?}: {error}")))
}
