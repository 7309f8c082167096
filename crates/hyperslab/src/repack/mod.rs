//! Writing a file anew: compacted, in other versions of the format, its datasets stored another way.

mod glob;
mod guide;

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::ops::CopyOptions;
use hyperslab_engine::{Error, Result};
use hyperslab_filter::FilterSpec;

use crate::{File, FileOptions, FileSpace, LibverBounds, SharedMessages};
use glob::Glob;
use guide::Guide;

/// How the datasets that a pattern names are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// As [`AutoChunked`](Self::AutoChunked) what can grow or shall pass filters, side by side all else.
    Auto,
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
/// assert_eq!(small.dataset("a")?.read_raw::<f64>()?, vec![0.5; 100_000]);
/// assert!(small.info().length < 10_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Repack<'a> {
    layouts: Vec<(Glob, RepackLayout)>,
    filters: Vec<(Glob, Vec<FilterSpec>)>,
    libver: Option<LibverBounds>,
    space: Option<FileSpace>,
    user_block: Option<u64>,
    shared: Option<SharedMessages>,
    progress: Option<Progress<'a>>,
}

impl std::fmt::Debug for Repack<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repack")
            .field("layouts", &self.layouts)
            .field("filters", &self.filters)
            .field("libver", &self.libver)
            .field("space", &self.space)
            .field("user_block", &self.user_block)
            .field("shared", &self.shared)
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
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the pattern is none, or a chunk has a dimension of zero.
    pub fn layout(mut self, pattern: &str, layout: RepackLayout) -> Result<Self> {
        if let RepackLayout::Chunked(shape) = &layout
            && (shape.is_empty() || shape.contains(&0))
        {
            return Err(Error::Misuse(format!("a chunk of the shape {shape:?}")));
        }
        self.layouts.push((Glob::new(pattern)?, layout));
        Ok(self)
    }

    /// Which filters the chunks of those datasets pass; none if the list is empty. Datasets that are not in chunks get
    /// such.
    ///
    /// # Errors
    /// As [`layout`](Self::layout).
    pub fn filters(mut self, pattern: &str, filters: Vec<FilterSpec>) -> Result<Self> {
        self.filters.push((Glob::new(pattern)?, filters));
        Ok(self)
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

    /// Is told how far the work is.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(&str, u64) + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Writes `source` anew to `target`, in place of a file that is there.
    ///
    /// # Errors
    /// Those of reading the one and writing the other; [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if a dataset cannot
    /// be stored as it is asked for. What is at `target` then is no whole file.
    pub fn run(&self, source: &File, target: impl AsRef<Path>) -> Result<Repacked> {
        self.write(source, self.options(source)?.create(target)?)
    }

    /// As [`run`](Self::run), to a file that holds nothing yet, which is closed then.
    fn write(&self, source: &File, target: File) -> Result<Repacked> {
        let (from, to) = (source.root().file(), target.root().file());
        let guide = Guide::new(&self.layouts, &self.filters, from, to, self.progress.as_deref());
        let options = CopyOptions { expand_references: true, ..CopyOptions::default() };
        {
            let _reading = from.container.reading()?;
            let mut edit = to.container.edit()?;
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
        Ok(options)
    }
}
