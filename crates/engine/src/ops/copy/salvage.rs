//! Copies of damaged files: unreadable parts are omitted and reported.

use std::cell::RefCell;
use std::collections::HashSet;

use hyperslab_dataspace::{Dataspace, Dims, Region};
use hyperslab_exact::to_u64;
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{ChunkIndexParameters, Layout};

use super::{Copier, Task};
use crate::data::chunk_index::{ChunkLocation, StructuredLocation};
use crate::data::chunked::ChunkedSource;
use crate::data::structured::StructuredSource;
use crate::data::variable::ForeignHeap;
use crate::error::{Error, Result};
use crate::object::dataset::DatasetDescription;
use crate::object::kind::ObjectKind;
use crate::ops::{NewDataset, OpenFile};
use crate::store::{Damage, Store};

/// Smallest number of bytes that a salvage reads separately: a sector.
const SECTOR_BYTES: usize = 512;

/// The factor in the size limit for contiguous datasets that a salvage completes with fill values.
/// The limit is the length of the damaged file times the factor, plus a constant number of bytes.
const MAX_FILLED_FACTOR: u64 = 1 << 10;
const MAX_FILLED_EXTRA_BYTES: u64 = 16 << 20;

/// Estimated number of bytes of a chunk's entry in a chunk index. Limits of a salvage use this
/// number.
const INDEX_ENTRY_BYTES: u64 = 16;

/// The flat chunks of a source dataset to copy, and a list of the chunks among them that decode to
/// too few bytes.
pub(super) struct SoundChunks {
    pub(super) chunks: Vec<(Dims, ChunkLocation)>,
    /// The coordinates of filtered chunks that decode to too few bytes.
    pub(super) short: HashSet<Dims>,
}

/// A part of an object of a damaged file that a salvage could not copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LostPart {
    /// The whole object.
    Object,
    /// A block with unknown contents.
    Block,
    /// All links, or the links in a damaged part of the group.
    Links,
    /// A link and its target.
    Link(Vec<u8>),
    /// All attributes.
    Attributes,
    /// An attribute.
    Attribute(Vec<u8>),
    /// The comment.
    Comment,
    /// All elements. The copy has fill values.
    Elements,
    /// Consecutive elements in C order. The copy has fill values.
    Row {
        /// The number of the first element.
        first: u64,
        /// The number of elements.
        count: u64,
    },
    /// A box of elements, mostly a chunk. The copy has fill values.
    Box(Region),
    /// The variable-length data or the target of an element, which is empty in the copy.
    VariableData,
}

/// The numbers of copied, damaged and possible chunks of a dataset in a salvage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChunkTally {
    /// Number of copied chunks.
    pub copied: u64,
    /// Number of chunks that the index lists and that cannot be read.
    pub damaged: u64,
    /// Number of chunks in the chunk grid.
    pub possible: u64,
}

/// A trait of receivers of a salvage's report on the objects of a damaged file.
pub trait Salvage {
    /// Reports that the salvage of a damaged file has created the object header of an object's
    /// copy.
    fn object(&self, path: &str, kind: ObjectKind, address: Address);

    /// Reports that a salvage could not copy a part of the object at `path`.
    fn lost(&self, path: &str, part: LostPart, damage: Damage);

    /// Reports three numbers for a dataset in a salvage: copied chunks, damaged chunks, and
    /// possible chunks.
    fn chunks(&self, path: &str, tally: ChunkTally);
}

impl Copier<'_> {
    pub(super) fn is_salvaging(&self) -> bool {
        self.guide.salvage().is_some()
    }

    /// Returns the value of `result` during a copy. If `result` is an error in a salvage, reports
    /// the error as a lost part and returns `None`.
    ///
    /// # Errors
    /// Returns the error of `result`, except in a salvage.
    pub(super) fn or_report<T>(&self, path: &str, part: LostPart, result: Result<T>) -> Result<Option<T>> {
        match (result, self.guide.salvage()) {
            (Err(error), Some(salvage)) => {
                salvage.lost(path, part, Damage::of(&error));
                Ok(None)
            }
            (result, _) => result.map(Some),
        }
    }

    /// Reports the damage that the source file's store has recorded since the last call. The report
    /// assigns the damage to the object at `path`. Returns whether the store has recorded any
    /// damage.
    pub(super) fn report_damage(&self, source: &OpenFile, path: &str, part: &LostPart) -> bool {
        let Some(salvage) = self.guide.salvage() else { return false };
        let damages = source.container.store.take_damages();
        let any = !damages.is_empty();
        for damage in damages {
            salvage.lost(path, part.clone(), damage);
        }
        any
    }

    /// Returns the flat chunks of a source dataset to copy. In a salvage, decodes the chunks,
    /// returns only the chunks that can be decoded, and lists the chunks that are too short.
    ///
    /// # Errors
    /// Returns the errors of the chunks, except in a salvage.
    pub(super) fn sound_chunks(
        &self,
        source: &OpenFile,
        chunks: &ChunkedSource,
        stored: Vec<(Dims, ChunkLocation)>,
        task: &Task,
    ) -> Result<SoundChunks> {
        let store = &source.container.store;
        let short = RefCell::new(HashSet::new());
        let unknown = is_unknown(&chunks.pipeline, store);
        let mut sound = self.sound(source, &chunks.grid, stored, task, |scaled, location| {
            let part = chunks.stored_part(scaled, location)?;
            if unknown {
                return store.check_inside(part.address, part.size, "chunk");
            }
            let (_, length) = chunks.chunk_and_length(store, scaled, location)?;
            if length < chunks.chunk_bytes {
                short.borrow_mut().insert(scaled.clone());
            }
            Ok(())
        })?;
        for (scaled, location) in &mut sound {
            *location = chunks.stored_part(scaled, location)?;
        }
        Ok(SoundChunks { chunks: sound, short: short.into_inner() })
    }

    /// Returns the structured chunks of a source dataset to copy. In a salvage, the result contains
    /// only the chunks that can be decoded.
    ///
    /// # Errors
    /// Returns the errors of the chunks, except in a salvage.
    pub(super) fn sound_structured(
        &self,
        source: &OpenFile,
        chunks: &StructuredSource,
        stored: Vec<(Dims, StructuredLocation)>,
        task: &Task,
    ) -> Result<Vec<(Dims, StructuredLocation)>> {
        let store = &source.container.store;
        let unknown = chunks.form.sections.iter().any(|section| is_unknown(&section.pipeline, store));
        let limit = store.limits().result_bytes;
        self.sound(source, &chunks.form.grid, stored, task, |scaled, location| {
            if unknown {
                return store.check_inside(location.address, location.size, "chunk");
            }
            let one = [(scaled.clone(), *location)];
            chunks.defined_in(source.read_context(), &one, Some(&ForeignHeap::new(limit))).map(drop)
        })
    }

    fn sound<L: Copy>(
        &self,
        source: &OpenFile,
        grid: &hyperslab_dataspace::ChunkGrid,
        mut stored: Vec<(Dims, L)>,
        task: &Task,
        judge: impl Fn(&Dims, &L) -> Result<()>,
    ) -> Result<Vec<(Dims, L)>> {
        let Some(salvage) = self.guide.salvage() else { return Ok(stored) };
        self.report_damage(source, &task.path, &LostPart::Block);
        let mut seen = HashSet::new();
        // The number only appears in the report: more than 2^64 chunks count as 2^64 - 1.
        let mut tally =
            ChunkTally { possible: grid.chunk_count().unwrap_or(u64::MAX), ..ChunkTally::default() };
        let mut failed = None;
        stored.retain(|(scaled, location)| {
            if !seen.insert(scaled.clone()) {
                return false;
            }
            let sound =
                judge(scaled, location).and_then(|()| grid.region(scaled).map_err(Error::from).map(drop));
            let part = grid.region(scaled).map_or(LostPart::Block, LostPart::Box);
            match self.or_report(&task.path, part, sound) {
                Ok(Some(())) => tally.copied += 1,
                Ok(None) => {
                    tally.damaged += 1;
                    return false;
                }
                Err(error) => failed = Some(error),
            }
            true
        });
        salvage.chunks(&task.path, tally);
        failed.map_or(Ok(stored), Err)
    }

    /// Reads elements of a contiguous source dataset. In a salvage, missing elements get the fill
    /// value. Returns whether any byte may differ from zero.
    ///
    /// # Errors
    /// Returns I/O errors, except in a salvage.
    pub(super) fn read_rows(
        &self,
        store: &Store,
        before: &DatasetDescription,
        address: Address,
        (first, piece): (u64, &mut [u8]),
        task: &Task,
    ) -> Result<bool> {
        let read = store.read_raw(address, piece);
        let Some(salvage) = self.guide.salvage() else { return read.map(|()| true) };
        let Err(error) = read else { return Ok(true) };
        let size = (before.datatype.size as usize).max(1);
        let mut bad = Vec::new();
        if store.check_inside(address, 1, "raw data").is_ok() {
            read_sectors(store, address, 0, piece, &mut bad);
        } else {
            bad.push((0, piece.len()));
        }
        let zeros = vec![0; size];
        let fill = before.fill_element().filter(|fill| fill.len() == size).unwrap_or(&zeros);
        let mut next = 0;
        for (start, end) in bad {
            let from = (start / size).max(next);
            next = end.div_ceil(size);
            let Some(count) = next.checked_sub(from).filter(|count| *count > 0) else { continue };
            for element in piece.chunks_mut(size).skip(from).take(count) {
                element.iter_mut().zip(fill).for_each(|(to, from)| *to = *from);
            }
            let row = LostPart::Row { first: first + to_u64(from), count: to_u64(count) };
            salvage.lost(&task.path, row, Damage::of(&error));
        }
        Ok(piece.iter().any(|byte| *byte != 0))
    }

    /// Makes all dimensions of a damaged dataset's copy unlimited if the copy would otherwise need
    /// a fixed array index that is far larger than the file. Returns whether the dimensions
    /// changed.
    pub(super) fn bound_index(
        &self,
        source: &OpenFile,
        described: &DatasetDescription,
        new: &mut NewDataset,
        task: &Task,
    ) -> bool {
        let (Some(salvage), Layout::Chunked(layout)) = (self.guide.salvage(), &described.layout.layout)
        else {
            return false;
        };
        let Dataspace::Simple(extent) = &mut new.dataspace else { return false };
        if !matches!(layout.index, ChunkIndexParameters::FixedArray(_)) {
            return false;
        }
        let sizes = described.dataspace.max_dims();
        let along = sizes.iter().zip(&layout.dims);
        let along = along.map(|(max, chunk)| max.unwrap_or(0).div_ceil((*chunk).max(1)).max(1));
        let chunks = hyperslab_exact::product("number of chunks", along).ok();
        let bytes = chunks.and_then(|chunks| chunks.checked_mul(INDEX_ENTRY_BYTES));
        if bytes.is_some_and(|bytes| bytes <= max_filled_bytes(&source.container.store)) {
            return false;
        }
        let chunks = chunks.map_or_else(|| "more than 2^64".to_owned(), |chunks| chunks.to_string());
        let why = format!("it could have {chunks} chunks, too many for an index in a file of this length");
        let damage = Damage { structure: Some("dataspace message"), address: None, why };
        salvage.lost(&task.path, LostPart::Block, damage);
        extent.max_dims = Some(extent.dims.iter().map(|_| None).collect());
        true
    }

    /// Checks that the elements of a contiguous source dataset lie in the file. In a salvage,
    /// missing elements get fill values; then only checks that their number is within a limit.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the elements lie outside the file.
    pub(super) fn check_missing(&self, store: &Store, from: Address, length: u64) -> Result<()> {
        let max = max_filled_bytes(store).min(store.limits().result_bytes);
        if self.is_salvaging() && length <= max {
            return store.check_inside(from, 1, "raw data");
        }
        store.check_inside(from, length, "raw data")
    }
}

/// Returns the largest size in bytes of a contiguous dataset with missing elements for a salvage. A
/// larger dataset is not completed with fill values.
fn max_filled_bytes(store: &Store) -> u64 {
    // Saturates: a limit above 2^64 has no effect.
    store.file_length().saturating_mul(MAX_FILLED_FACTOR).saturating_add(MAX_FILLED_EXTRA_BYTES)
}

fn is_unknown(pipeline: &Pipeline, store: &Store) -> bool {
    pipeline.missing(&store.filters()).next().is_some()
}

/// Reads the readable sectors of a damaged file into a buffer. Adds each unreadable range, as start
/// and end, to `bad`.
fn read_sectors(store: &Store, address: Address, at: usize, piece: &mut [u8], bad: &mut Vec<(usize, usize)>) {
    let start = address.checked_add(to_u64(at));
    if start.is_some_and(|start| store.read_raw(start, piece).is_ok()) {
        return;
    }
    if piece.len() <= SECTOR_BYTES {
        let end = at + piece.len();
        match bad.last_mut() {
            Some((_, last)) if *last == at => *last = end,
            _ => bad.push((at, end)),
        }
        return;
    }
    let (one, other) = piece.split_at_mut((piece.len() / 2).next_multiple_of(SECTOR_BYTES).min(piece.len()));
    let middle = at + one.len();
    read_sectors(store, address, at, one, bad);
    read_sectors(store, address, middle, other, bad);
}
