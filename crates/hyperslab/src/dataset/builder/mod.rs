//! The creation of datasets.

mod describe;

use hyperslab_engine::format::{
    AllocationTime as StoredAllocation, FillWriteTime, Layout as StoredLayout,
    VirtualMapping as StoredMapping,
};
use hyperslab_engine::ops::datasets::{DatasetDescription, ExternalPiece};
use hyperslab_engine::ops::groups::LinkTarget as EngineTarget;
use hyperslab_engine::ops::objects::NewHeader;
use hyperslab_engine::ops::{NewDataset, NewLayout};
use hyperslab_engine::store::{Edit, ObjectHandle};
use hyperslab_engine::{Address, Result};
use hyperslab_filter::FilterSpec;

use super::DatasetAccess;
use super::data::ArrayData;
use crate::sparse::SparseOptions;
use crate::{
    AllocationTime, CharacterSet, CommittedDatatype, CreationOrder, Dataset, Datatype, FillTime, Group,
    H5Type, ObjectKind, VirtualMapping,
};

pub(crate) use describe::auto_chunk;

/// A builder with the properties of a new dataset; made by [`Group::new_dataset`].
///
/// ```
/// let file = hyperslab::FileOptions::new().create_in_memory()?;
/// let images = file
///     .new_dataset("camera/images")
///     .of::<u16>()
///     .shape(&[0, 480, 640])
///     .max_shape(&[None, Some(480), Some(640)])
///     .chunks(&[1, 480, 640])
///     .fill(u16::MAX)
///     .create()?;
/// images.resize(&[3, 480, 640])?;
/// assert_eq!(images.read_scalar::<u16>((2, 5, 7))?, u16::MAX);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a dataset is made by `create` or one of the methods that write"]
pub struct DatasetBuilder {
    group: Group,
    path: String,
    datatype: Option<Datatype>,
    /// A handle that keeps the committed datatype open until the dataset refers to it.
    committed: Option<CommittedDatatype>,
    dims: Option<Vec<u64>>,
    null: bool,
    max_dims: Option<Vec<Option<u64>>>,
    unlimited: bool,
    pub(crate) storage: Storage,
    edges_unfiltered: bool,
    filters: Vec<FilterSpec>,
    pub(crate) sparse: SparseOptions,
    fill: NewFill,
    fill_time: FillWriteTime,
    allocation_time: StoredAllocation,
    header: NewHeader,
    times: bool,
    pub(super) access: DatasetAccess,
}

/// The storage layout of a new dataset, as the caller requests it.
#[derive(Debug, Clone)]
pub(crate) enum Storage {
    /// The layout that follows from the other properties of the dataset.
    Any,
    Compact,
    Contiguous,
    Chunks(Vec<u64>),
    AutoChunks,
    External(Vec<ExternalPiece>),
    Virtual(Vec<VirtualMapping>),
    /// Structured chunks. Without a shape, hyperslab chooses one.
    Structured {
        chunk: Option<Vec<u64>>,
        sparse: bool,
    },
}

/// The fill value of a new dataset, as the caller requests it.
#[derive(Debug, Clone)]
enum NewFill {
    Default,
    Undefined,
    /// The bytes of an element of the datatype.
    Value(Datatype, Vec<u8>),
    Stored(Vec<u8>),
}

impl Group {
    /// Returns the builder of a new dataset at `path`. [`create`](DatasetBuilder::create) also
    /// creates the groups of the path that do not exist.
    pub fn new_dataset(&self, path: &str) -> DatasetBuilder {
        DatasetBuilder {
            group: self.clone(),
            path: path.to_owned(),
            datatype: None,
            committed: None,
            dims: None,
            null: false,
            max_dims: None,
            unlimited: false,
            storage: Storage::Any,
            edges_unfiltered: false,
            filters: Vec::new(),
            sparse: SparseOptions::default(),
            fill: NewFill::Default,
            fill_time: FillWriteTime::IF_SET,
            allocation_time: StoredAllocation::DEFAULT,
            header: NewHeader::default(),
            times: false,
            access: DatasetAccess::default(),
        }
    }
}

impl DatasetBuilder {
    /// Sets the datatype of the new dataset's elements to the datatype of the Rust type `T` in
    /// memory.
    pub fn of<T: H5Type>(self) -> Self {
        self.datatype(T::datatype())
    }

    /// Sets the datatype of the new dataset's elements.
    pub fn datatype(mut self, datatype: Datatype) -> Self {
        self.datatype = Some(datatype);
        self.committed = None;
        self
    }

    /// Sets the datatype of the new dataset to a committed datatype of the same file. The dataset
    /// refers to the committed datatype instead of storing a copy.
    pub fn committed(mut self, datatype: &CommittedDatatype) -> Self {
        self.datatype = Some(datatype.datatype().clone());
        self.committed = Some(datatype.clone());
        self
    }

    /// Sets the size of each dimension of the new dataset, slowest first. An empty slice means a
    /// scalar dataset, which has one element.
    pub fn shape(mut self, dims: &[u64]) -> Self {
        self.dims = Some(dims.to_vec());
        self
    }

    /// Sets a null dataspace for the new dataset: the dataset has neither shape nor elements.
    pub fn null(mut self) -> Self {
        self.null = true;
        self
    }

    /// Sets the largest size of each dimension of the new dataset; [`None`] means unlimited.
    /// Datasets that can grow are stored in chunks.
    pub fn max_shape(mut self, dims: &[Option<u64>]) -> Self {
        self.max_dims = Some(dims.to_vec());
        self
    }

    /// Makes all dimensions of the new dataset unlimited.
    pub fn unlimited(mut self) -> Self {
        self.unlimited = true;
        self
    }

    /// Sets the chunked layout for the new dataset, with chunks of the shape `chunk`, in elements.
    pub fn chunks(mut self, chunk: &[u64]) -> Self {
        self.storage = Storage::Chunks(chunk.to_vec());
        self
    }

    /// Sets the chunked layout for the new dataset, with a chunk shape that hyperslab chooses.
    /// Chunks have at most 1 MiB. The longest dimensions of the dataset are halved first.
    pub fn auto_chunks(mut self) -> Self {
        self.storage = Storage::AutoChunks;
        self
    }

    /// Sets the compact layout for the new dataset: elements in the object header, at most about 64
    /// KiB.
    pub fn compact(mut self) -> Self {
        self.storage = Storage::Compact;
        self
    }

    /// Sets the contiguous layout for the new dataset: elements in one block of the file. This is
    /// the default for datasets that cannot grow and have no filters.
    pub fn contiguous(mut self) -> Self {
        self.storage = Storage::Contiguous;
        self
    }

    /// Sets external storage for the new dataset: the raw data lies in other files. Each piece is
    /// the name of a file, the offset of its first byte in that file, and the number of bytes. For
    /// the last piece, the number [`None`] means unlimited.
    pub fn external(mut self, pieces: &[(&str, u64, Option<u64>)]) -> Self {
        let piece = |(file, offset, size): &(&str, u64, Option<u64>)| ExternalPiece {
            file: file.as_bytes().to_vec(),
            offset: *offset,
            size: *size,
        };
        self.storage = Storage::External(pieces.iter().map(piece).collect());
        self
    }

    /// Sets the virtual layout for the new dataset (library version 1.10 and later). Each mapping
    /// shows selected elements of a source dataset in a selection of the virtual dataset. The file
    /// name `.` means the file of the virtual dataset.
    ///
    /// ```
    /// use hyperslab::{Region, Selection, VirtualMapping};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.new_dataset("a").write(&[1, 2])?;
    /// file.new_dataset("b").write(&[3, 4])?;
    /// let part = |start| Region::new(&[start], &[2]).map(|region| Selection::region(&region));
    /// let mapping = |name: &str, start| -> hyperslab::Result<VirtualMapping> {
    ///     let selection = part(start)?;
    ///     let (file, dataset) = (b".".to_vec(), name.into());
    ///     Ok(VirtualMapping { file, dataset, selection, source_selection: Selection::All })
    /// };
    /// let both = [mapping("/a", 0)?, mapping("/b", 2)?];
    /// let joined = file.new_dataset("joined").of::<i32>().shape(&[4]).virtual_sources(&both).create()?;
    /// assert_eq!(joined.read_raw::<i32>(..)?, [1, 2, 3, 4]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn virtual_sources(mut self, mappings: &[VirtualMapping]) -> Self {
        self.storage = Storage::Virtual(mappings.to_vec());
        self
    }

    /// Leaves edge chunks unfiltered: chunks that extend past the dimensions of the new dataset.
    /// Requires library version 1.10 or later. Not supported with exactly one unlimited dimension
    /// in files whose lengths have fewer than 8 bytes.
    pub fn unfiltered_edges(mut self) -> Self {
        self.edges_unfiltered = true;
        self
    }

    /// Adds a filter at the end of the new dataset's filter pipeline. Filters require chunks;
    /// without a chunk shape hyperslab chooses one.
    ///
    /// ```
    /// use hyperslab::filter::FilterSpec;
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let values: Vec<f64> = (0..10_000).map(f64::from).collect();
    /// let dataset = file.new_dataset("a").filter(FilterSpec::shuffle()).filter(FilterSpec::lzf()).write(&values)?;
    /// assert_eq!(dataset.filters().len(), 2);
    /// assert_eq!(dataset.read_raw::<f64>(..)?, values);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn filter(mut self, filter: FilterSpec) -> Self {
        self.filters.push(filter);
        self
    }

    /// Adds the filter deflate (gzip) to the new dataset, with a compression level from 0 to 9. The
    /// default of h5py is 4.
    pub fn deflate(self, level: u32) -> Self {
        self.filter(FilterSpec::deflate(level))
    }

    /// Adds the filter shuffle to the new dataset. The filter stores the first bytes of all
    /// elements of a chunk, then the second bytes, and so on. The next filter then compresses
    /// better.
    pub fn shuffle(self) -> Self {
        self.filter(FilterSpec::shuffle())
    }

    /// Adds the filter Fletcher32 to the new dataset: each chunk has a checksum that reads verify.
    pub fn fletcher32(self) -> Self {
        self.filter(FilterSpec::fletcher32())
    }

    /// Sets the fill value of the new dataset to a Rust value, which is converted to the dataset's
    /// datatype.
    pub fn fill<T: H5Type>(mut self, value: T) -> Self {
        self.fill = NewFill::Value(T::datatype(), T::to_bytes(&[value]).into_owned());
        self
    }

    /// Sets the fill value of the new dataset to the bytes of one element in the stored form.
    pub fn fill_stored(mut self, element: &[u8]) -> Self {
        self.fill = NewFill::Stored(element.to_vec());
        self
    }

    /// Leaves the fill value of the new dataset undefined: elements that were never written have
    /// unspecified values.
    pub fn no_fill(mut self) -> Self {
        self.fill = NewFill::Undefined;
        self
    }

    /// Sets the time at which fill values are written to the new dataset. The default is
    /// [`FillTime::IfSet`].
    pub fn fill_time(mut self, time: FillTime) -> Self {
        self.fill_time = time.stored();
        self
    }

    /// Sets the time at which space is allocated for the new dataset's elements. The default
    /// depends on the layout.
    pub fn allocation_time(mut self, time: AllocationTime) -> Self {
        self.allocation_time = time.stored();
        self
    }

    /// Sets whether the object header of the new dataset stores times of access and modification.
    pub fn track_times(mut self, yes: bool) -> Self {
        self.times = yes;
        self
    }

    /// Sets whether the file records the creation order of the new dataset's attributes, with an
    /// index.
    pub fn track_order(self, yes: bool) -> Self {
        self.attribute_order(if yes { CreationOrder::Indexed } else { CreationOrder::Untracked })
    }

    /// Sets whether the new dataset tracks and indexes the order in which its attributes are
    /// created.
    pub fn attribute_order(mut self, order: CreationOrder) -> Self {
        self.header.attribute_order = order.of_attributes();
        self
    }

    /// Sets two limits for the number of the new dataset's attributes: the largest number in
    /// compact storage, and the smallest number in dense storage. The defaults are 8 and 6.
    ///
    /// Object headers of version 1, which library version 1.6 reads, have compact storage only and
    /// do not store these numbers.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").attribute_phase_change(2, 1).write(&[1, 2])?;
    /// assert_eq!(dataset.attribute_phase_change()?.max_compact, 2);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn attribute_phase_change(mut self, max_compact: u16, min_dense: u16) -> Self {
        self.header.phase_change.max_compact = max_compact;
        self.header.phase_change.min_dense = min_dense;
        self
    }

    /// Creates the dataset that the builder describes. All elements have the fill value.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Exists`](crate::ErrorKind::Exists) if the path exists. Returns
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the datatype or the shape is missing, if
    /// properties contradict each other, or if the file is open for reading only.
    pub fn create(self) -> Result<Dataset> {
        let (group, path, access) = (self.group.clone(), self.path.clone(), self.access.clone());
        let subject = || format!("cannot create the dataset `{path}`");
        let (mut new, mappings, _committed) = self.prepare().map_err(|error| error.context(subject()))?;
        let (handle, description) = group.add(subject, &path, |edit, parent, name| {
            group.refuse(edit, parent, name)?;
            let (made, description) = make(&group, edit, &mut new, mappings)?;
            group.insert(edit, parent, name, EngineTarget::Hard(made))?;
            Ok((edit.store().hold(made)?, description))
        })?;
        finish(&group, handle, &path, description, &access)
    }

    /// Creates the dataset of the builder in `group`. The function `place` must create the
    /// dataset's object by a call of its last argument, and then link the object.
    pub(crate) fn create_in(
        self,
        group: &Group,
        path: &str,
        place: impl FnOnce(&mut Edit<'_>, Address, &mut Make<'_>) -> Result<(Address, DatasetDescription)>,
    ) -> Result<Dataset> {
        let access = self.access.clone();
        let subject = || format!("cannot create the dataset `{path}`");
        let (mut new, mut mappings, _committed) = self.prepare().map_err(|error| error.context(subject()))?;
        let (handle, description) = group.add_here(subject, |edit, parent| {
            // The function is called once.
            let mut make = |edit: &mut Edit<'_>| make(group, edit, &mut new, std::mem::take(&mut mappings));
            let (made, description) = place(edit, parent, &mut make)?;
            Ok((edit.store().hold(made)?, description))
        })?;
        finish(group, handle, path, description, &access)
    }

    /// Returns the group to which the builder's dataset path is relative.
    pub(crate) fn group(&self) -> &Group {
        &self.group
    }

    /// Prepares the creation of the dataset that the builder describes. Returns the description,
    /// the virtual mappings, and the committed datatype, which must stay open during the creation.
    fn prepare(self) -> Result<(NewDataset, Vec<StoredMapping>, Option<CommittedDatatype>)> {
        let mappings = match &self.storage {
            Storage::Virtual(mappings) => mappings.iter().map(VirtualMapping::stored).collect(),
            _ => Vec::new(),
        };
        let committed = self.committed.clone();
        Ok((self.describe()?, mappings, committed))
    }

    /// Creates the dataset that the builder describes and writes all elements from an array. By
    /// default, the dataset has the datatype and the shape of the array.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").write(&[1.5, 2.5])?;
    /// assert_eq!(dataset.read_raw::<f64>(..)?, [1.5, 2.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create) and [`Dataset::write`].
    pub fn write<A: ArrayData + ?Sized>(mut self, array: &A) -> Result<Dataset> {
        self.datatype.get_or_insert_with(<A::Element as H5Type>::datatype);
        self.dims.get_or_insert_with(|| array.dims());
        let dataset = self.create()?;
        dataset.write(.., array)?;
        Ok(dataset)
    }

    /// Creates the dataset that the builder describes and writes strings to all elements. The
    /// datatype defaults to strings of variable length in UTF-8, the shape to a single dimension.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let names = file.new_dataset("names").write_strings(&["one", "two"])?;
    /// assert_eq!(names.shape(), [2]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create) and [`Dataset::write_strings`].
    pub fn write_strings<S: AsRef<str>>(mut self, texts: &[S]) -> Result<Dataset> {
        let width = self.group.file().container.params().size_of_offsets;
        self.datatype.get_or_insert_with(|| Datatype::variable_string(CharacterSet::Utf8, width));
        self.dims.get_or_insert_with(|| vec![texts.len() as u64]);
        let dataset = self.create()?;
        dataset.write_strings(.., texts)?;
        Ok(dataset)
    }

    /// Creates a scalar dataset that the builder describes and writes its single element.
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub fn write_scalar<T: H5Type>(mut self, value: T) -> Result<Dataset> {
        self.datatype.get_or_insert_with(T::datatype);
        self.dims.get_or_insert_with(Vec::new);
        let dataset = self.create()?;
        dataset.write_scalar(.., value)?;
        Ok(dataset)
    }
}

/// A function that makes the object of a new dataset in the file. Returns the address of the object
/// and the description of the dataset.
pub(crate) type Make<'a> = dyn FnMut(&mut Edit<'_>) -> Result<(Address, DatasetDescription)> + 'a;

fn make(
    group: &Group,
    edit: &mut Edit<'_>,
    new: &mut NewDataset,
    mappings: Vec<StoredMapping>,
) -> Result<(Address, DatasetDescription)> {
    if let NewLayout::Virtual { heap, index } = &mut new.layout {
        (*heap, *index) = group.file().store_mappings(edit, mappings)?;
    }
    group.file().create_dataset_deferred(edit, new)
}

/// Finishes the creation of a dataset: returns the handle of the dataset that was just created.
fn finish(
    group: &Group,
    handle: ObjectHandle,
    path: &str,
    description: DatasetDescription,
    access: &DatasetAccess,
) -> Result<Dataset> {
    if matches!(description.layout.layout, StoredLayout::Virtual(_)) {
        return group.open_made(handle, path)?.into_dataset_with(access);
    }
    Dataset::made(group.made(handle, ObjectKind::Dataset, path), description, access)
}
