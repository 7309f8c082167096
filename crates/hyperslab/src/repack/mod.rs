//! The rewriting of a file without free space, in other versions of the format, or with other
//! layouts and filters.

mod guide;
mod sparse;

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::ops::CopyOptions;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::to_usize;
use hyperslab_filter::FilterSpec;

use crate::{
    File, FileOptions, FileSpace, H5Type, LibverBounds, PathPattern, Section, SelectionEncoding,
    SharedMessages,
};
use guide::Guide;
pub(crate) use guide::specs_of;
use sparse::TypedElement;

/// The layout that a repack gives to the datasets that match a path pattern. See [`Repack`] for an
/// example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RepackLayout {
    /// Contiguous. Datasets that can grow become fixed in size.
    Contiguous,
    /// Compact, if the elements fit into the object header. Datasets that can grow become fixed in
    /// size.
    Compact,
    /// Chunked, with chunks of this shape. A chunk is not longer than the largest size of the
    /// dimension.
    Chunked(Vec<u64>),
    /// Chunked, with a chunk shape chosen from the shape of the dataset.
    AutoChunked,
    /// [`AutoChunked`](Self::AutoChunked) for datasets that are extendible or get filters,
    /// contiguous for others. Sparse datasets stay sparse.
    Auto,
    /// Sparse, with structured chunks of this shape: see
    /// [`DatasetBuilder::sparse`](crate::DatasetBuilder::sparse). If the source dataset is not
    /// sparse, the defined elements are the elements whose bits differ from the fill value or from
    /// the [`undefined`](Repack::undefined) value. A chunk is not longer than the largest size of
    /// the dimension.
    Sparse(Vec<u64>),
    /// [`Sparse`](Self::Sparse), with a chunk shape chosen from the shape of the dataset and the
    /// share of defined elements.
    AutoSparse {
        /// The share of defined elements, above 0 and at most 1. If the value is `None`, the
        /// defined elements are counted. In large datasets, only a sample is counted.
        density: Option<f64>,
    },
}

/// The result of a [`Repack`]: the datasets that kept their storage, and the number of copied bytes
/// of raw data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repacked {
    /// Paths of the datasets that did not get the requested storage, and the reasons.
    pub kept: Vec<(String, String)>,
    /// Bytes of raw data that were copied.
    pub bytes: u64,
}

/// A callback for the progress of a repack. The callback receives the path of a dataset, and the
/// number of bytes of raw data that were copied since the last call.
type Progress<'a> = Box<dyn Fn(&str, u64) + 'a>;

/// A builder for a repack, which rewrites a file. The new file has all objects, links, attributes,
/// datatypes, references, creation orders, comments and the user block of the source. Raw data is
/// copied in blocks, so the memory does not grow with the size of the file.
///
/// A dataset that cannot be decoded because a filter is missing is copied in its stored form, even
/// if another layout is demanded ([`Repacked::kept`] lists such datasets). Undecodable references
/// and variable-length data cannot be copied, because their stored form refers to the source file.
///
/// ```
/// use hyperslab::{FileOptions, Repack, RepackLayout, filter::FilterSpec};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("small.h5");
/// let file = FileOptions::new().create_in_memory()?;
/// file.new_dataset("a").write(&vec![0.5; 100_000])?;
/// Repack::new()
///     .layout("/*", RepackLayout::AutoChunked)?
///     .filters("/*", vec![FilterSpec::shuffle(), FilterSpec::deflate(6)])?
///     .run(&file, &path)?;
/// let small = hyperslab::File::open(&path)?;
/// assert_eq!(small.dataset("a")?.read_raw::<f64>(..)?, vec![0.5; 100_000]);
/// assert!(small.info().length < 10_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Repack<'a> {
    layouts: Vec<(PathPattern, RepackLayout)>,
    filters: Vec<(PathPattern, Vec<FilterSpec>)>,
    section_filters: Vec<(PathPattern, Section, Vec<FilterSpec>)>,
    undefined: Vec<(PathPattern, TypedElement)>,
    encoding: Option<SelectionEncoding>,
    libver: Option<LibverBounds>,
    space: Option<FileSpace>,
    user_block: Option<u64>,
    shared: Option<SharedMessages>,
    least_filtered: u64,
    link_phase_change: Option<(u16, u16)>,
    metadata_block: Option<u64>,
    alignment: Option<(u64, u64)>,
    progress: Option<Progress<'a>>,
}

impl std::fmt::Debug for Repack<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repack")
            .field("layouts", &self.layouts)
            .field("filters", &self.filters)
            .field("section_filters", &self.section_filters)
            .field("undefined", &self.undefined)
            .field("encoding", &self.encoding)
            .field("libver", &self.libver)
            .field("space", &self.space)
            .field("user_block", &self.user_block)
            .field("shared", &self.shared)
            .field("least_filtered", &self.least_filtered)
            .field("link_phase_change", &self.link_phase_change)
            .field("metadata_block", &self.metadata_block)
            .field("alignment", &self.alignment)
            .finish_non_exhaustive()
    }
}

impl<'a> Repack<'a> {
    /// Returns a repack without rules, which keeps the storage of all datasets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the layout that the repack gives to the datasets whose paths match a pattern. If
    /// several patterns match a path, the last call decides.
    ///
    /// In a pattern, `*` and `?` match any characters of a name, and `**` any characters of a path.
    /// A pattern without a slash is compared with the last name of the path.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the pattern is invalid, a chunk
    /// dimension is 0, or a density is not above 0 and at most 1.
    pub fn layout(mut self, pattern: &str, layout: RepackLayout) -> Result<Self> {
        match &layout {
            RepackLayout::Chunked(shape) | RepackLayout::Sparse(shape)
                if shape.is_empty() || shape.contains(&0) =>
            {
                return Err(Error::Misuse(format!(
                    "the chunk shape {shape:?} has no dimensions, or a dimension of size 0"
                )));
            }
            RepackLayout::AutoSparse { density: Some(density) } if !(*density > 0.0 && *density <= 1.0) => {
                return Err(Error::Misuse(format!(
                    "the density must be above 0 and at most 1, not {density}"
                )));
            }
            _ => {}
        }
        self.layouts.push((PathPattern::new(pattern)?, layout));
        Ok(self)
    }

    /// Sets the filters that the repack gives to the datasets whose paths match a pattern. An empty
    /// list removes all filters. Datasets that are not chunked become chunked. For structured
    /// chunks, the filters apply to each section.
    ///
    /// # Errors
    /// Returns the errors of [`layout`](Self::layout).
    pub fn filters(mut self, pattern: &str, filters: Vec<FilterSpec>) -> Result<Self> {
        self.filters.push((PathPattern::new(pattern)?, filters));
        Ok(self)
    }

    /// Sets the filters for one section of structured chunks in a repack. They apply to the
    /// datasets whose paths match a pattern, and replace the filters of [`filters`](Self::filters)
    /// for this section.
    ///
    /// ```
    /// use hyperslab::{FileOptions, Repack, RepackLayout, Section, filter::FilterSpec};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("sparse.h5");
    /// let file = FileOptions::new().create_in_memory()?;
    /// let mut counts = vec![0_u32; 1_000_000];
    /// counts[500_000] = 7;
    /// file.new_dataset("counts").write(&counts)?;
    /// Repack::new()
    ///     .layout("counts", RepackLayout::AutoSparse { density: None })?
    ///     .section_filters("counts", Section::Values, vec![FilterSpec::deflate(6)])?
    ///     .run(&file, &path)?;
    /// let sparse = hyperslab::File::open(&path)?;
    /// assert_eq!(sparse.dataset("counts")?.sparse().defined_count()?, 1);
    /// assert_eq!(sparse.dataset("counts")?.read_raw::<u32>(..)?, counts);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`layout`](Self::layout).
    pub fn section_filters(
        mut self,
        pattern: &str,
        section: Section,
        filters: Vec<FilterSpec>,
    ) -> Result<Self> {
        self.section_filters.push((PathPattern::new(pattern)?, section, filters));
        Ok(self)
    }

    /// Sets the value that stands for undefined elements in datasets that the repack makes sparse
    /// and whose paths match a pattern. By default it is the fill value.
    ///
    /// This value becomes the fill value of the new dataset, so that reads return the same
    /// elements. The bits are compared, because there are several NaN values.
    ///
    /// This value becomes the fill value of the new dataset, so that reads return the same
    /// elements. The bits are compared, because there are several NaN values.
    ///
    /// ```
    /// use hyperslab::{FileOptions, Repack, RepackLayout};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("sparse.h5");
    /// let file = FileOptions::new().create_in_memory()?;
    /// file.new_dataset("heights").write(&[-9999.0_f32, 17.5, 0.0, -9999.0])?;
    /// Repack::new()
    ///     .layout("heights", RepackLayout::Sparse(vec![4]))?
    ///     .undefined("heights", -9999)?
    ///     .run(&file, &path)?;
    /// let heights = hyperslab::File::open(&path)?.dataset("heights")?;
    /// assert_eq!(heights.sparse().defined_count()?, 2);
    /// assert_eq!(heights.read_raw::<f32>(..)?, [-9999.0, 17.5, 0.0, -9999.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`layout`](Self::layout).
    pub fn undefined<T: H5Type>(mut self, pattern: &str, value: T) -> Result<Self> {
        let value = TypedElement { datatype: T::datatype(), bytes: T::to_bytes(&[value]).into_owned() };
        self.undefined.push((PathPattern::new(pattern)?, value));
        Ok(self)
    }

    /// Sets the encoding of the set of defined elements of sparse datasets in the repacked file. By
    /// default sparse datasets keep their encoding, and datasets that become sparse get the
    /// encoding as blocks.
    #[must_use]
    pub fn selection_encoding(mut self, encoding: SelectionEncoding) -> Self {
        self.encoding = Some(encoding);
        self
    }

    /// Sets the versions of the HDF5 library that can read the repacked file:
    /// [`LibverBounds::DEFAULT`] by default.
    #[must_use]
    pub fn libver(mut self, bounds: LibverBounds) -> Self {
        self.libver = Some(bounds);
        self
    }

    /// Sets the management of file space in the repacked file. By default, the new file has the
    /// same management as the source file.
    #[must_use]
    pub fn file_space(mut self, space: FileSpace) -> Self {
        self.space = Some(space);
        self
    }

    /// Sets the size of the user block of the repacked file in bytes; the default is the size in
    /// the source file. The contents are copied, and truncated if the new user block is smaller.
    #[must_use]
    pub fn user_block(mut self, bytes: u64) -> Self {
        self.user_block = Some(bytes);
        self
    }

    /// Sets the shared object header messages of the repacked file. By default, the new file shares
    /// the same types of messages as the source file.
    #[must_use]
    pub fn shared_messages(mut self, shared: SharedMessages) -> Self {
        self.shared = Some(shared);
        self
    }

    /// Sets the smallest size of a dataset, in bytes of all elements, from which on the repack
    /// applies the filters of [`filters`](Self::filters). Smaller datasets keep their filters.
    ///
    /// ```
    /// use hyperslab::{FileOptions, Repack, filter::FilterSpec};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("small.h5");
    /// let file = FileOptions::new().create_in_memory()?;
    /// file.new_dataset("short").write(&vec![0_u8; 100])?;
    /// file.new_dataset("long").write(&vec![0_u8; 10_000])?;
    /// Repack::new().filters("**", vec![FilterSpec::deflate(6)])?.least_filtered(1000).run(&file, &path)?;
    /// let small = hyperslab::File::open(&path)?;
    /// assert_eq!(small.dataset("short")?.filters().len(), 0);
    /// assert_eq!(small.dataset("long")?.filters().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn least_filtered(mut self, bytes: u64) -> Self {
        self.least_filtered = bytes;
        self
    }

    /// Sets the limits for the number of links at which groups of the repacked file change between
    /// compact and dense storage; see
    /// [`GroupOptions::link_phase_change`](crate::GroupOptions::link_phase_change). Does not apply
    /// to groups with a symbol table.
    #[must_use]
    pub fn link_phase_change(mut self, max_compact: u16, min_dense: u16) -> Self {
        self.link_phase_change = Some((max_compact, min_dense));
        self
    }

    /// Sets the size of metadata blocks of the repacked file; see
    /// [`metadata_block`](crate::AccessOptions::metadata_block).
    #[must_use]
    pub fn metadata_block(mut self, bytes: u64) -> Self {
        self.metadata_block = Some(bytes);
        self
    }

    /// Sets the alignment of blocks in the repacked file; see
    /// [`alignment`](crate::AccessOptions::alignment).
    #[must_use]
    pub fn alignment(mut self, threshold: u64, alignment: u64) -> Self {
        self.alignment = Some((threshold, alignment));
        self
    }

    /// Sets a callback for the progress of the repack. The arguments are the path of a dataset, and
    /// the bytes of raw data copied since the last call. Both files are locked during the call; an
    /// attempt to change one of them returns an error.
    ///
    /// ```
    /// use hyperslab::{FileOptions, Repack};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("copy.h5");
    /// let file = FileOptions::new().create_in_memory()?;
    /// file.new_dataset("a").write(&vec![0.5; 1000])?;
    /// let copied = std::cell::Cell::new(0);
    /// Repack::new().progress(|_, bytes| copied.set(copied.get() + bytes)).run(&file, &path)?;
    /// assert_eq!(copied.get(), 8000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(&str, u64) + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Runs the repack: writes the contents of the file `source` to a new file at `target`. An
    /// existing file at `target` is replaced.
    ///
    /// # Errors
    /// Returns the errors of reading `source` and writing `target`, and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if a dataset cannot have the demanded
    /// storage. After an error the file at `target` is incomplete.
    pub fn run(&self, source: &File, target: impl AsRef<Path>) -> Result<Repacked> {
        self.write(source, self.options(source)?.create(target)?)
    }

    /// Writes the contents of the file `source` to a new, empty file by the repack rules, and
    /// closes the new file.
    fn write(&self, source: &File, target: File) -> Result<Repacked> {
        let (from, to) = (source.root().file(), target.root().file());
        let guide = Guide::new(self, from, to);
        let options = CopyOptions { expand_references: true, ..CopyOptions::default() };
        {
            let _reading = from.reading()?;
            let mut edit = to.edit()?;
            let block = from.container.store.user_block()?;
            // A smaller user block gets the start of the contents.
            let space = to_usize(to.container.store.base())?;
            edit.write_user_block(block.get(..space).unwrap_or(&block))?;
            to.copy_contents(&mut edit, from, options, &guide)?;
            to.finish(edit)?;
        }
        let outcome = guide.outcome();
        target.close()?;
        Ok(outcome)
    }

    /// Returns the options for the new file of a repack. Properties that the caller did not set
    /// have the values of the source file.
    fn options(&self, source: &File) -> Result<FileOptions> {
        let from = source.root().file();
        if from.container.store.is_writable() {
            Arc::clone(from).flush()?;
        }
        let info = source.info();
        let mut options = FileOptions::new()
            .sizes(info.size_of_offsets, info.size_of_lengths)
            .symbol_table_ranks(info.group_internal_k, info.group_leaf_k)
            .chunk_btree_rank(info.indexed_storage_k)
            .user_block(self.user_block.unwrap_or(info.user_block))
            .filters(from.container.store.filters())
            .file_space(self.space.unwrap_or(info.file_space))
            .shared_messages(self.shared.clone().unwrap_or(info.shared_messages));
        if let Some(bounds) = self.libver {
            options = options.libver(bounds);
        }
        if let Some(bytes) = self.metadata_block {
            options = options.metadata_block(bytes);
        }
        if let Some((threshold, alignment)) = self.alignment {
            options = options.alignment(threshold, alignment);
        }
        Ok(options)
    }
}
