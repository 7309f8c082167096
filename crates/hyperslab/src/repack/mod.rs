//! Writing a file anew: compacted, in other versions of the format, its datasets stored another way.

mod guide;
mod sparse;

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::ops::CopyOptions;
use hyperslab_engine::{Error, Result};
use hyperslab_filter::FilterSpec;

use crate::{
    File, FileOptions, FileSpace, H5Type, LibverBounds, PathPattern, Section, SelectionEncoding,
    SharedMessages,
};
use guide::Guide;
use sparse::Value;

/// How the datasets that a pattern names are stored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RepackLayout {
    /// Side by side. Datasets that could grow no longer can.
    Contiguous,
    /// In the object header, as far as they have room there. Datasets that could grow no longer can.
    Compact,
    /// In chunks of that shape; dimensions that are shorter get chunks as long as they are.
    Chunked(Vec<u64>),
    /// In chunks of a shape that is chosen by the dataset's.
    AutoChunked,
    /// As [`AutoChunked`](Self::AutoChunked) what can grow or shall pass filters, side by side all else. What is sparse
    /// stays so.
    Auto,
    /// Only defined elements, in structured chunks of that shape: see [`DatasetBuilder::sparse`](crate::DatasetBuilder::sparse).
    /// Of a dataset that has all elements, those are defined that are not, bit by bit, as the fill value, or as the
    /// [`undefined`](Repack::undefined) one. Dimensions that are shorter get chunks as long as they are.
    Sparse(Vec<u64>),
    /// As [`Sparse`](Self::Sparse), in chunks of a shape that is chosen by the dataset's and by the share of elements that
    /// are defined, above 0 and at most 1. If it is not given, the elements tell; of large datasets, a sample of them.
    AutoSparse {
        /// The share.
        density: Option<f64>,
    },
}

/// What became of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repacked {
    /// Datasets that are stored as before although another way was asked for, and why.
    pub kept: Vec<(String, String)>,
    /// Bytes of raw data that were copied.
    pub bytes: u64,
}

/// What is told of progress: the dataset, and how many bytes of raw data were copied since the last call.
type Progress<'a> = Box<dyn Fn(&str, u64) + 'a>;

/// Writes a file anew, streaming, with everything that is in it: all objects, links, attributes, types, references,
/// orders of creation, comments and the user block. Datasets that cannot be decoded, for want of a filter, are copied as
/// they are stored, also where another way is asked for ([`Repacked::kept`] names those); but not references and contents
/// of variable length, which mean something else in another file.
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
    undefined: Vec<(PathPattern, Value)>,
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
    /// Everything as it is stored.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How the datasets are stored whose paths match a pattern: `*` and `?` stand for any characters of a name, `**` for
    /// any of a path, and a pattern without slash is held against the last name. Of several that match, the last counts.
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the pattern is none, a chunk has a dimension of zero, or a share
    /// of elements is not one.
    pub fn layout(mut self, pattern: &str, layout: RepackLayout) -> Result<Self> {
        match &layout {
            RepackLayout::Chunked(shape) | RepackLayout::Sparse(shape)
                if shape.is_empty() || shape.contains(&0) =>
            {
                return Err(Error::Misuse(format!("a chunk of the shape {shape:?}")));
            }
            RepackLayout::AutoSparse { density: Some(density) } if !(*density > 0.0 && *density <= 1.0) => {
                return Err(Error::Misuse(format!("a share of {density} of the elements")));
            }
            _ => {}
        }
        self.layouts.push((PathPattern::new(pattern)?, layout));
        Ok(self)
    }

    /// Which filters the chunks of those datasets pass; none if the list is empty. Datasets that are not in chunks get
    /// such. Of structured chunks every section passes them.
    ///
    /// # Errors
    /// As [`layout`](Self::layout).
    pub fn filters(mut self, pattern: &str, filters: Vec<FilterSpec>) -> Result<Self> {
        self.filters.push((PathPattern::new(pattern)?, filters));
        Ok(self)
    }

    /// Which filters a section of the structured chunks of those datasets passes, instead of those that
    /// [`filters`](Self::filters) names.
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
    /// As [`layout`](Self::layout).
    pub fn section_filters(
        mut self,
        pattern: &str,
        section: Section,
        filters: Vec<FilterSpec>,
    ) -> Result<Self> {
        self.section_filters.push((PathPattern::new(pattern)?, section, filters));
        Ok(self)
    }

    /// The value that counts as undefined where datasets with all elements become sparse, instead of their fill value; it
    /// becomes the fill value, so that what is read stays the same. It is compared bit by bit: there is more than one NaN.
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
    /// As [`layout`](Self::layout).
    pub fn undefined<T: H5Type>(mut self, pattern: &str, value: T) -> Result<Self> {
        let value = Value { datatype: T::datatype(), bytes: T::to_bytes(&[value]).into_owned() };
        self.undefined.push((PathPattern::new(pattern)?, value));
        Ok(self)
    }

    /// How sparse datasets list their defined elements; as before, and in blocks where they become sparse, if nothing is
    /// said.
    #[must_use]
    pub fn selection_encoding(mut self, encoding: SelectionEncoding) -> Self {
        self.encoding = Some(encoding);
        self
    }

    /// The versions of the library that shall read the new file.
    #[must_use]
    pub fn libver(mut self, bounds: LibverBounds) -> Self {
        self.libver = Some(bounds);
        self
    }

    /// How the new file manages its space; as the old one does if nothing is said.
    #[must_use]
    pub fn file_space(mut self, space: FileSpace) -> Self {
        self.space = Some(space);
        self
    }

    /// Bytes of the user block; as many as the old one has if nothing is said. What it holds is copied as far as there
    /// is room.
    #[must_use]
    pub fn user_block(mut self, bytes: u64) -> Self {
        self.user_block = Some(bytes);
        self
    }

    /// Which messages the objects of the new file share; those of the old one if nothing is said.
    #[must_use]
    pub fn shared_messages(mut self, shared: SharedMessages) -> Self {
        self.shared = Some(shared);
        self
    }

    /// Datasets whose elements have fewer bytes keep the filters that they have.
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

    /// Up to how many links groups keep in their headers, and below how many they come back to them: as
    /// [`GroupOptions::link_phase_change`](crate::GroupOptions::link_phase_change) for all groups of the new file. Those of
    /// the old style stay as they are.
    #[must_use]
    pub fn link_phase_change(mut self, max_compact: u16, min_dense: u16) -> Self {
        self.link_phase_change = Some((max_compact, min_dense));
        self
    }

    /// As [`FileOptions::metadata_block`], for the new file.
    #[must_use]
    pub fn metadata_block(mut self, bytes: u64) -> Self {
        self.metadata_block = Some(bytes);
        self
    }

    /// As [`FileOptions::alignment`], for the new file.
    #[must_use]
    pub fn alignment(mut self, threshold: u64, alignment: u64) -> Self {
        self.alignment = Some((threshold, alignment));
        self
    }

    /// Is told how far the work is.
    #[must_use]
    /// It cannot change the files, which are held meanwhile: that is an error there.
    pub fn progress(mut self, progress: impl Fn(&str, u64) + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Writes `source` anew to `target`, in place of a file that is there.
    ///
    /// # Errors
    /// The errors of reading the one and writing the other; [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if a dataset cannot
    /// be stored as it is asked for. What is at `target` then is no whole file.
    pub fn run(&self, source: &File, target: impl AsRef<Path>) -> Result<Repacked> {
        self.write(source, self.options(source)?.create(target)?)
    }

    /// As [`run`](Self::run), to a file that holds nothing yet, which is closed then.
    fn write(&self, source: &File, target: File) -> Result<Repacked> {
        let (from, to) = (source.root().file(), target.root().file());
        let guide = Guide::new(self, from, to);
        let options = CopyOptions { expand_references: true, ..CopyOptions::default() };
        {
            let _reading = from.reading()?;
            let mut edit = to.edit()?;
            let block = from.container.store.user_block()?;
            let room = usize::try_from(to.container.store.base()).unwrap_or(usize::MAX);
            edit.write_user_block(block.get(..room.min(block.len())).unwrap_or_default())?;
            to.copy_contents(&mut edit, from, options, &guide)?;
            to.finish(edit)?;
        }
        let outcome = guide.outcome();
        target.close()?;
        Ok(outcome)
    }

    /// What cannot be changed in a file once it is made, as in the source where nothing else is asked for.
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
            .filters(from.container.store.filters().clone())
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
