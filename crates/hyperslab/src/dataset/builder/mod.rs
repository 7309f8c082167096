//! Making datasets.

mod describe;

use hyperslab_engine::Result;
use hyperslab_engine::format::{AllocationTime as StoredAllocation, FillWriteTime};
use hyperslab_engine::ops::NewLayout;
use hyperslab_engine::ops::datasets::ExternalPiece;
use hyperslab_engine::ops::groups::LinkTarget as EngineTarget;
use hyperslab_engine::ops::objects::NewHeader;
use hyperslab_filter::FilterSpec;

use super::data::ArrayData;
use crate::sparse::SparseWanted;
use crate::{
    AllocationTime, CharacterSet, CommittedDatatype, CreationOrder, Dataset, Datatype, FillTime, Group,
    H5Type, ObjectKind, VirtualMapping,
};

pub(crate) use describe::auto_chunk;

/// What a new dataset shall be; made by [`Group::new_dataset`].
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
    /// Held until the dataset counts as a use of it.
    committed: Option<CommittedDatatype>,
    dims: Option<Vec<u64>>,
    null: bool,
    max_dims: Option<Vec<Option<u64>>>,
    unlimited: bool,
    pub(crate) storage: Storage,
    edges_unfiltered: bool,
    filters: Vec<FilterSpec>,
    pub(crate) sparse: SparseWanted,
    fill: FillWanted,
    fill_time: FillWriteTime,
    allocation_time: StoredAllocation,
    header: NewHeader,
    times: bool,
}

/// How elements shall be stored.
#[derive(Debug, Clone)]
pub(crate) enum Storage {
    /// As the rest needs it.
    Any,
    Compact,
    Contiguous,
    Chunks(Vec<u64>),
    AutoChunks,
    External(Vec<ExternalPiece>),
    Virtual(Vec<VirtualMapping>),
    /// Structured chunks, of a shape that is chosen if none is given.
    Structured {
        chunk: Option<Vec<u64>>,
        sparse: bool,
    },
}

/// The fill value that is asked for.
#[derive(Debug, Clone)]
enum FillWanted {
    Default,
    Undefined,
    /// An element of that type.
    Value(Datatype, Vec<u8>),
    Stored(Vec<u8>),
}

impl Group {
    /// Begins a dataset at `path`; groups on the way are made where there are none.
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
            sparse: SparseWanted::default(),
            fill: FillWanted::Default,
            fill_time: FillWriteTime::IF_SET,
            allocation_time: StoredAllocation::DEFAULT,
            header: NewHeader::default(),
            times: false,
        }
    }
}

impl DatasetBuilder {
    /// Elements of the type that `T` has in memory.
    pub fn of<T: H5Type>(self) -> Self {
        self.datatype(T::datatype())
    }

    /// Elements of that type.
    pub fn datatype(mut self, datatype: Datatype) -> Self {
        self.datatype = Some(datatype);
        self.committed = None;
        self
    }

    /// Elements of a type that is committed in the same file, which the dataset then shares.
    pub fn committed(mut self, datatype: &CommittedDatatype) -> Self {
        self.datatype = Some(datatype.datatype().clone());
        self.committed = Some(datatype.clone());
        self
    }

    /// The size of each dimension, slowest first; none at all for one element without shape.
    pub fn shape(mut self, dims: &[u64]) -> Self {
        self.dims = Some(dims.to_vec());
        self
    }

    /// No elements and no shape.
    pub fn null(mut self) -> Self {
        self.null = true;
        self
    }

    /// How large each dimension may become; [`None`] without end. Datasets that may grow are stored in chunks.
    pub fn max_shape(mut self, dims: &[Option<u64>]) -> Self {
        self.max_dims = Some(dims.to_vec());
        self
    }

    /// All dimensions may grow without end.
    pub fn unlimited(mut self) -> Self {
        self.unlimited = true;
        self
    }

    /// Chunks of that shape.
    pub fn chunks(mut self, chunk: &[u64]) -> Self {
        self.storage = Storage::Chunks(chunk.to_vec());
        self
    }

    /// Chunks of a shape that is chosen by the dataset's: of about 1 MiB, and as long in each dimension as the dataset
    /// is, by proportion.
    pub fn auto_chunks(mut self) -> Self {
        self.storage = Storage::AutoChunks;
        self
    }

    /// Elements in the object header, where they are read with it. At most about 64 KB.
    pub fn compact(mut self) -> Self {
        self.storage = Storage::Compact;
        self
    }

    /// Elements side by side, as it is by default for datasets that do not grow and have no filters.
    pub fn contiguous(mut self) -> Self {
        self.storage = Storage::Contiguous;
        self
    }

    /// Elements in other files, piece by piece: the name of a file, the offset of the first byte in it, and the number
    /// of bytes, [`None`] for the last piece if it goes on without end.
    pub fn external(mut self, pieces: &[(&str, u64, Option<u64>)]) -> Self {
        let piece = |(file, offset, size): &(&str, u64, Option<u64>)| ExternalPiece {
            file: file.as_bytes().to_vec(),
            offset: *offset,
            size: *size,
        };
        self.storage = Storage::External(pieces.iter().map(piece).collect());
        self
    }

    /// Elements that are those of other datasets (library version 1.10 and later). Each mapping shows selected elements
    /// of a source where those of the virtual dataset are; the file `.` is the dataset's own.
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

    /// Chunks that reach beyond the dataset pass no filters (library version 1.10 and later; not with one unlimited
    /// dimension in files whose lengths have less than 8 bytes).
    pub fn unfiltered_edges(mut self) -> Self {
        self.edges_unfiltered = true;
        self
    }

    /// Chunks pass this filter behind those named before.
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

    /// Chunks are compressed with deflate (gzip) at that level, 0 to 9; h5py's default is 4.
    pub fn deflate(self, level: u32) -> Self {
        self.filter(FilterSpec::deflate(level))
    }

    /// The bytes of elements are sorted by their significance before what follows compresses them.
    pub fn shuffle(self) -> Self {
        self.filter(FilterSpec::shuffle())
    }

    /// Chunks carry a checksum, which is checked when they are read.
    pub fn fletcher32(self) -> Self {
        self.filter(FilterSpec::fletcher32())
    }

    /// The value of elements that were never written, converted to the dataset's type.
    pub fn fill<T: H5Type>(mut self, value: T) -> Self {
        self.fill = FillWanted::Value(T::datatype(), T::to_bytes(&[value]).into_owned());
        self
    }

    /// The value of elements that were never written, as bytes of one stored element.
    pub fn fill_stored(mut self, element: &[u8]) -> Self {
        self.fill = FillWanted::Stored(element.to_vec());
        self
    }

    /// Elements that were never written have no value that could be relied on.
    pub fn no_fill(mut self) -> Self {
        self.fill = FillWanted::Undefined;
        self
    }

    /// When fill values are written: [`FillTime::IfSet`] by default.
    pub fn fill_time(mut self, time: FillTime) -> Self {
        self.fill_time = time.stored();
        self
    }

    /// When space is allocated: what is usual for the layout by default.
    pub fn allocation_time(mut self, time: AllocationTime) -> Self {
        self.allocation_time = time.stored();
        self
    }

    /// Returns whether the header keeps times.
    pub fn track_times(mut self, yes: bool) -> Self {
        self.times = yes;
        self
    }

    /// Returns whether the order in which attributes are created is remembered, and found by an index.
    pub fn track_order(self, yes: bool) -> Self {
        self.attribute_order(if yes { CreationOrder::Indexed } else { CreationOrder::Untracked })
    }

    /// Returns whether the order in which attributes are created is remembered.
    pub fn attribute_order(mut self, order: CreationOrder) -> Self {
        self.header.attribute_order = order.of_attributes();
        self
    }

    /// Up to how many attributes are kept in the header, and below how many they come back to it: 8 and 6 by default.
    /// Headers of version 1, which library version 1.6 reads, keep all of them and do not say this.
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

    /// Makes the dataset. Nothing is written to it yet.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`](crate::ErrorKind::Exists) if the name is taken, [`ErrorKind::Misuse`](crate::ErrorKind::Misuse)
    /// if type or shape are missing, if what is asked for contradicts itself, or if the file is open for reading only.
    pub fn create(self) -> Result<Dataset> {
        let (group, path) = (self.group.clone(), self.path.clone());
        let what = || format!("cannot make the dataset `{path}`");
        let mappings = match &self.storage {
            Storage::Virtual(mappings) => mappings.iter().map(VirtualMapping::stored).collect(),
            _ => Vec::new(),
        };
        let _committed = self.committed.clone();
        let mut new = self.describe().map_err(|error| error.context(what()))?;
        let is_virtual = matches!(new.layout, NewLayout::Virtual { .. });
        let (handle, description) = group.add(what, &path, |edit, parent, name| {
            group.refuse(edit, parent, name)?;
            if let NewLayout::Virtual { heap, index } = &mut new.layout {
                (*heap, *index) = group.file().store_mappings(edit, mappings)?;
            }
            let (made, description) = group.file().create_dataset_deferred(edit, &new)?;
            group.insert(edit, parent, name, EngineTarget::Hard(made))?;
            Ok((edit.store().hold(made)?, description))
        })?;
        if is_virtual {
            return group.open_made(handle, &path)?.into_dataset();
        }
        Dataset::made(group.made(handle, ObjectKind::Dataset, &path), description)
    }

    /// Makes the dataset and writes all of it. Type and shape are those of the array unless they were given.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").write(&[1.5, 2.5])?;
    /// assert_eq!(dataset.read_raw::<f64>(..)?, [1.5, 2.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`Dataset::write`].
    pub fn write<A: ArrayData + ?Sized>(mut self, array: &A) -> Result<Dataset> {
        self.datatype.get_or_insert_with(<A::Element as H5Type>::datatype);
        self.dims.get_or_insert_with(|| array.dims());
        let dataset = self.create()?;
        dataset.write(.., array)?;
        Ok(dataset)
    }

    /// Makes the dataset and writes texts to all of it, as strings of variable length unless another type was given.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`Dataset::write_strings`].
    pub fn write_strings<S: AsRef<str>>(mut self, texts: &[S]) -> Result<Dataset> {
        let width = self.group.file().container.params().size_of_offsets;
        self.datatype.get_or_insert_with(|| Datatype::variable_string(CharacterSet::Utf8, width));
        self.dims.get_or_insert_with(|| vec![texts.len() as u64]);
        let dataset = self.create()?;
        dataset.write_strings(.., texts)?;
        Ok(dataset)
    }

    /// Makes a dataset of one element without shape and writes it.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_scalar<T: H5Type>(mut self, value: T) -> Result<Dataset> {
        self.datatype.get_or_insert_with(T::datatype);
        self.dims.get_or_insert_with(Vec::new);
        let dataset = self.create()?;
        dataset.write_scalar(.., value)?;
        Ok(dataset)
    }
}
