//! Copying what is left of a damaged file: what cannot be read is left out, part by part, and told.

use std::collections::HashSet;
use std::sync::Arc;

use hyperslab_dataspace::{Dataspace, Dims, Region, Selection};
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{ChunkIndex, Layout};

use super::streamed::Streamed;
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

/// Bytes of the smallest piece that is tried by itself: a sector.
const SECTOR: usize = 512;

/// How many times larger than the file elements side by side may be, and how much besides, for what is missing of them
/// to be filled in.
const MISSING: u64 = 1 << 10;
const MISSING_SLACK: u64 = 16 << 20;

/// Bytes in an index for each chunk, roughly.
const ENTRY: u64 = 16;

/// Reads that may fail before all that is left of a dataset counts as lost.
const FAILURES: u32 = 1 << 16;

/// A part of an object that its copy is without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Object,
    /// Some block of it; what it held is not known.
    Block,
    /// All links, or those that a damaged part of the group held.
    Links,
    /// A link, and what it led to.
    Link(Vec<u8>),
    /// All attributes.
    Attributes,
    /// An attribute.
    Attribute(Vec<u8>),
    /// The comment.
    Comment,
    /// All elements: the copy has fill values.
    Elements,
    /// Elements in a row, in C order: the copy has fill values.
    Row {
        /// The number of the first.
        first: u64,
        /// How many.
        count: u64,
    },
    /// A box of elements, mostly a chunk: the copy has fill values.
    Box(Region),
    /// What an element of variable length, or a reference, led to: it is empty.
    Content,
}

/// How many chunks of a dataset there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChunkTally {
    /// Those that were copied.
    pub copied: u64,
    /// Those that the index names and that cannot be read.
    pub damaged: u64,
    /// Those that there could be.
    pub possible: u64,
}

/// Is told what became of each object of a damaged file.
pub trait Salvage {
    /// An object with its header there is being copied.
    fn object(&self, path: &str, kind: ObjectKind, address: Address);

    /// A part of the object at `path` could not be copied.
    fn lost(&self, path: &str, part: Part, damage: Damage);

    /// The chunks of a dataset.
    fn chunks(&self, path: &str, tally: ChunkTally);
}

impl Copier<'_> {
    pub(super) fn is_salvaging(&self) -> bool {
        self.guide.salvage().is_some()
    }

    /// A result; if it is an error and the file is being salvaged, the error is told, and there is none.
    pub(super) fn forgive<T>(&self, path: &str, part: Part, result: Result<T>) -> Result<Option<T>> {
        match (result, self.guide.salvage()) {
            (Err(error), Some(salvage)) => {
                salvage.lost(path, part, Damage::of(&error));
                Ok(None)
            }
            (result, _) => result.map(Some),
        }
    }

    /// Tells which damage was passed over since the last time, as that of the object at `path`.
    pub(super) fn tell(&self, source: &OpenFile, path: &str, part: &Part) -> bool {
        let Some(salvage) = self.guide.salvage() else { return false };
        let damages = source.container.store.take_damages();
        let any = !damages.is_empty();
        for damage in damages {
            salvage.lost(path, part.clone(), damage);
        }
        any
    }

    /// What is copied of the chunks that an index names: to salvage, those that can be decoded.
    pub(super) fn sound_chunks(
        &self,
        source: &OpenFile,
        chunks: &ChunkedSource,
        stored: Vec<(Dims, ChunkLocation)>,
        task: &Task,
    ) -> Result<Vec<(Dims, ChunkLocation)>> {
        let store = &source.container.store;
        let unknown = is_unknown(&chunks.pipeline, store);
        let mut sound = self.sound(source, &chunks.grid, stored, task, |scaled, location| {
            let part = chunks.stored_part(scaled, location)?;
            if unknown {
                return store.check_inside(part.address, part.size, "chunk");
            }
            chunks.chunk(store, scaled, location).map(drop)
        })?;
        for (scaled, location) in &mut sound {
            *location = chunks.stored_part(scaled, location)?;
        }
        Ok(sound)
    }

    /// The same of structured chunks.
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
        self.tell(source, &task.path, &Part::Block);
        let mut seen = HashSet::new();
        let mut tally =
            ChunkTally { possible: grid.chunk_count().unwrap_or(u64::MAX), ..ChunkTally::default() };
        let mut failed = None;
        stored.retain(|(scaled, location)| {
            if !seen.insert(scaled.clone()) {
                return false;
            }
            let sound =
                judge(scaled, location).and_then(|()| grid.region(scaled).map_err(Error::from).map(drop));
            let part = grid.region(scaled).map_or(Part::Block, Part::Box);
            match self.forgive(&task.path, part, sound) {
                Ok(Some(())) => tally.copied = tally.copied.saturating_add(1),
                Ok(None) => {
                    tally.damaged = tally.damaged.saturating_add(1);
                    return false;
                }
                Err(error) => failed = Some(error),
            }
            true
        });
        salvage.chunks(&task.path, tally);
        failed.map_or(Ok(stored), Err)
    }

    /// Bytes of elements side by side, as far as they are there; the rest has the fill value. Says whether there is anything
    /// but zeros.
    pub(super) fn read_rows(
        &self,
        store: &Store,
        before: &DatasetDescription,
        place: Address,
        (first, piece): (u64, &mut [u8]),
        task: &Task,
    ) -> Result<bool> {
        let read = store.read_raw(place, piece);
        let Some(salvage) = self.guide.salvage() else { return read.map(|()| true) };
        let Err(error) = read else { return Ok(true) };
        let size = (before.datatype.size as usize).max(1);
        let mut bad = Vec::new();
        if store.check_inside(place, 1, "raw data").is_ok() {
            read_sectors(store, place, 0, piece, &mut bad);
        } else {
            bad.push((0, piece.len()));
        }
        let zeros = vec![0; size];
        let fill = before.fill_element().filter(|fill| fill.len() == size).unwrap_or(&zeros);
        let mut behind = 0;
        for (start, end) in bad {
            let from = (start / size).max(behind);
            behind = end.div_ceil(size);
            let Some(count) = behind.checked_sub(from).filter(|count| *count > 0) else { continue };
            for element in piece.chunks_mut(size).skip(from).take(count) {
                let length = element.len();
                element.copy_from_slice(fill.get(..length).unwrap_or_default());
            }
            let row = Part::Row { first: first.saturating_add(from as u64), count: count as u64 };
            salvage.lost(&task.path, row, Damage::of(&error));
        }
        Ok(piece.iter().any(|byte| *byte != 0))
    }

    /// Lets a dataset that damage makes vast grow without end, if its index has room for all chunks that there can ever be and
    /// would be out of proportion to the file; says whether it did.
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
        if !matches!(layout.index, ChunkIndex::FixedArray(_)) {
            return false;
        }
        let sizes = described.dataspace.max_dims();
        let along = sizes.iter().zip(&layout.dims);
        let along = along.map(|(most, chunk)| most.unwrap_or(0).div_ceil((*chunk).max(1)).max(1));
        let chunks = along.fold(1, u64::saturating_mul);
        let most = source.container.store.file_length().saturating_mul(MISSING).saturating_add(MISSING_SLACK);
        if chunks.saturating_mul(ENTRY) <= most {
            return false;
        }
        let why = format!("it could have {chunks} chunks, for which there is no room in such a file");
        let damage = Damage { structure: Some("dataspace message"), address: None, why };
        salvage.lost(&task.path, Part::Block, damage);
        extent.max_dims = Some(extent.dims.iter().map(|_| None).collect());
        true
    }

    /// That elements side by side are not too many to be filled in where they are missing.
    pub(super) fn check_missing(&self, store: &Store, from: Address, length: u64) -> Result<()> {
        let most = store.file_length().saturating_mul(MISSING).saturating_add(MISSING_SLACK);
        let most = most.min(store.limits().result_bytes);
        if self.is_salvaging() && length <= most {
            return store.check_inside(from, 1, "raw data");
        }
        store.check_inside(from, length, "raw data")
    }

    /// The elements of a box; those that cannot be read have the fill value.
    pub(super) fn read_box(
        &self,
        streamed: &Streamed<'_>,
        region: &Region,
        selection: &Selection,
        foreign: &Arc<ForeignHeap>,
        (task, failures): (&Task, &mut u32),
    ) -> Result<Vec<u8>> {
        let read = streamed.read(selection, foreign);
        if !self.is_salvaging() || read.is_ok() {
            return read;
        }
        *failures = failures.saturating_add(1);
        let halves = if *failures > FAILURES { None } else { halves(region) };
        let Some([one, other]) = halves else {
            self.forgive(&task.path, Part::Box(region.clone()), read.map(drop))?;
            let description = &streamed.dataset.description;
            let count = usize::try_from(region.element_count()?).unwrap_or(0);
            let size = description.datatype.size as usize;
            let fill = description.fill_element().filter(|fill| fill.len() == size);
            return Ok(fill.map_or_else(|| vec![0; count.saturating_mul(size)], |fill| fill.repeat(count)));
        };
        let part = |region: &Region| Selection::region(region);
        let first = self.read_box(streamed, &one, &part(&one), foreign, (task, &mut *failures))?;
        let second = self.read_box(streamed, &other, &part(&other), foreign, (task, failures))?;
        // Only dimensions of one element lie before the one that is cut, so one half is behind the other.
        Ok([first, second].concat())
    }
}

fn is_unknown(pipeline: &Pipeline, store: &Store) -> bool {
    pipeline.missing(store.filters()).next().is_some()
}

/// Reads what can be read; notes first and last bytes of what cannot.
fn read_sectors(store: &Store, place: Address, at: usize, piece: &mut [u8], bad: &mut Vec<(usize, usize)>) {
    let start = place.checked_add(at as u64).unwrap_or(Address::UNDEFINED);
    if store.read_raw(start, piece).is_ok() {
        return;
    }
    if piece.len() <= SECTOR {
        let end = at.saturating_add(piece.len());
        match bad.last_mut() {
            Some((_, last)) if *last == at => *last = end,
            _ => bad.push((at, end)),
        }
        return;
    }
    let (one, other) = piece.split_at_mut((piece.len() / 2).next_multiple_of(SECTOR).min(piece.len()));
    let behind = at.saturating_add(one.len());
    read_sectors(store, place, at, one, bad);
    read_sectors(store, place, behind, other, bad);
}

/// Two halves of a box along its slowest dimension that has more than one element.
fn halves(region: &Region) -> Option<[Region; 2]> {
    let dimension = region.count.iter().position(|count| *count > 1)?;
    let (mut one, mut other) = (region.clone(), region.clone());
    let count = *region.count.get(dimension)?;
    *one.count.get_mut(dimension)? = count / 2;
    *other.count.get_mut(dimension)? = count.saturating_sub(count / 2);
    let start = other.start.get_mut(dimension)?;
    *start = start.saturating_add(count / 2);
    Some([one, other])
}
