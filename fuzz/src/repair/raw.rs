//! Raw data: chunks whose last filter is Fletcher32, and the sections of structured chunks that passed no filter.

use std::collections::HashSet;
use std::ops::Range;

use hyperslab::{Dataset, File, LinkTarget, Object, ObjectKind, OpenOptions, Section};
use hyperslab_filter::{FilterId, fletcher32};

use crate::{seal, walk};

/// Objects looked at, and chunks of one dataset.
const MOST_OBJECTS: usize = 200;
const MOST_CHUNKS: usize = 64;

/// A checksum of raw data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RawSeal {
    /// A chunk with the checksum of Fletcher32 at its end.
    Chunk(Range<usize>),
    /// A section of a structured chunk with a checksum of metadata at its end.
    Section(Range<usize>),
}

impl RawSeal {
    /// Returns the bytes with the checksum.
    pub fn range(&self) -> Range<usize> {
        let (Self::Chunk(range) | Self::Section(range)) = self;
        range.clone()
    }

    /// Makes the checksum right.
    pub fn repair(&self, file: &mut [u8]) {
        let Some(bytes) = file.get_mut(self.range()) else { return };
        match self {
            Self::Section(_) => seal::seal(bytes),
            Self::Chunk(_) => {
                let Some((content, place)) = bytes.split_last_chunk_mut::<4>() else { return };
                *place = fletcher32(content).to_le_bytes();
            }
        }
    }
}

/// Returns the checksums of raw data in a file whose other checksums are right.
pub fn raw_seals(bytes: &[u8]) -> Vec<RawSeal> {
    let options = OpenOptions::new().limits(walk::limits()).ignore_status_flags(true);
    let Ok(file) = options.open_bytes(bytes.to_vec()) else { return Vec::new() };
    let base = usize::try_from(file.info().user_block).unwrap_or(0);
    let mut found = Vec::new();
    for dataset in datasets(&file) {
        chunks(&dataset, base, &mut found);
        sections(&dataset, base, &mut found);
    }
    found.retain(|seal| seal.range().end <= bytes.len());
    found
}

fn datasets(file: &File) -> Vec<Dataset> {
    let mut seen = HashSet::from([file.root().token()]);
    let mut pending: Vec<Object> = vec![(**file.root()).clone()];
    let mut datasets = Vec::new();
    while let Some(object) = pending.pop() {
        match object.kind() {
            Some(ObjectKind::Dataset) => datasets.extend(object.into_dataset()),
            Some(ObjectKind::Group) => {
                let Ok(group) = object.into_group() else { continue };
                for link in group.links().unwrap_or_default() {
                    if let LinkTarget::Hard(token) = link.target
                        && seen.len() < MOST_OBJECTS
                        && seen.insert(token)
                    {
                        pending.extend(file.object_at(token));
                    }
                }
            }
            _ => {}
        }
    }
    datasets
}

fn range(base: usize, start: u64, length: u64) -> Option<Range<usize>> {
    let start = usize::try_from(start).ok()?.checked_add(base)?;
    Some(start..start.checked_add(usize::try_from(length).ok()?)?).filter(|range| range.len() > 4)
}

fn chunks(dataset: &Dataset, base: usize, found: &mut Vec<RawSeal>) {
    let filters = dataset.filters();
    let Some(last) = filters.len().checked_sub(1) else { return };
    if filters[last].id != FilterId::FLETCHER32.0 {
        return;
    }
    let chunks = dataset.chunks().list().unwrap_or_default();
    let passed = chunks.iter().filter(|chunk| chunk.filter_mask >> last.min(31) & 1 == 0);
    let ranges = passed.filter_map(|chunk| range(base, chunk.address, chunk.size));
    found.extend(ranges.take(MOST_CHUNKS).map(RawSeal::Chunk));
}

fn sections(dataset: &Dataset, base: usize, found: &mut Vec<RawSeal>) {
    let Some(chunking) = dataset.sparse().chunking() else { return };
    let has_heap = chunking.sections.iter().any(|(section, _)| *section == Section::Heap);
    for chunk in dataset.sparse().chunks().unwrap_or_default().iter().take(MOST_CHUNKS) {
        for (info, (section, filters)) in chunk.sections.iter().zip(&chunking.sections) {
            // Where values lead into the heap they are metadata, too.
            let sealed = *section == Section::Selection || has_heap;
            let filtered = (0..filters.len().min(32)).any(|number| info.filter_mask >> number & 1 == 0);
            if sealed && !filtered {
                let start = chunk.address.saturating_add(info.offset);
                found.extend(range(base, start, info.size).map(RawSeal::Section));
            }
        }
    }
}
