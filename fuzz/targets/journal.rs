//! Journals beside a file: whatever they say, the file opens or does not, for reading and for writing.
#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use hyperslab::vfd::Core;
use hyperslab::OpenOptions;
use hyperslab_format::journal::{JournalChain, JournalExtent, JournalHeader, SectorSums};
use hyperslab_fuzz::side::Side;
use hyperslab_fuzz::{repair, walk};
use libfuzzer_sys::fuzz_target;

const FILE: &[u8] = include_bytes!("../../fixtures/groups_new_style_latest.h5");

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    /// Bytes of a journal.
    Raw(&'a [u8]),
    Made(Made),
}

/// A journal that is sound but for what is changed at the end.
#[derive(Debug, Arbitrary)]
struct Made {
    sequence: u64,
    extents: Vec<Extent>,
    synced: u16,
    unlinked: Vec<u16>,
    records: Vec<Record>,
    length: Option<u32>,
    changes: Vec<(u16, u8)>,
    /// Whether the checksums are made right after these changes.
    repaired: bool,
}

/// New space of the commit.
#[derive(Debug, Arbitrary)]
struct Extent {
    offset: u16,
    length: u16,
    /// Whether the file has what the extent says that it has.
    known: bool,
}

#[derive(Debug, Arbitrary)]
struct Record {
    offset: u16,
    far: bool,
    bytes: Vec<u8>,
    /// Whether the file has what the record says that it has.
    known: bool,
}

fuzz_target!(|input: Input<'_>| {
    let journal = match input {
        Input::Raw(bytes) => bytes.to_vec(),
        Input::Made(made) => build(&made).unwrap_or_default(),
    };
    for write in [false, true] {
        let mut options = OpenOptions::new().limits(walk::limits()).journal(Arc::new(Side::new(&journal)));
        if write {
            options = options.write(true);
        }
        if let Ok(file) = options.open_driver(Arc::new(Core::from_vec("file", FILE.to_vec()))) {
            walk::file(&file);
        }
    }
});

fn extent(extent: &Extent) -> JournalExtent {
    let offset = u64::from(extent.offset / 512 * 512);
    let length = u64::from(extent.length.max(1));
    let bytes = FILE.iter().copied().chain(std::iter::repeat(0)).skip(usize::from(extent.offset / 512 * 512));
    let bytes: Vec<u8> = bytes.take(usize::from(extent.length.max(1))).collect();
    let sum = SectorSums::CURRENT.total(offset, &bytes);
    JournalExtent { offset, length, sum: if extent.known { sum } else { !sum } }
}

fn build(made: &Made) -> Option<Vec<u8>> {
    let header = JournalHeader::new(made.sequence);
    let mut bytes = header.encode().ok()?;
    let mut chain = JournalChain::new(header);
    let extents: Vec<JournalExtent> = made.extents.iter().map(extent).collect();
    bytes.extend(chain.extents(made.synced.into(), &extents).ok()?);
    let unlinked: Vec<u64> = made.unlinked.iter().map(|address| u64::from(*address)).collect();
    bytes.extend(chain.unlinked(&unlinked).ok()?);
    for record in made.records.iter().filter(|record| !record.bytes.is_empty()) {
        // A file in memory takes as many bytes as the largest offset.
        let offset = u64::from(record.offset) << if record.far { 8 } else { 0 };
        let start = usize::try_from(offset).ok()?;
        let mut old: Vec<u8> = FILE.iter().skip(start).take(record.bytes.len()).copied().collect();
        old.resize(record.bytes.len(), 0);
        if !record.known {
            old[0] ^= 1;
        }
        bytes.extend(chain.bytes(offset, &old, &record.bytes).ok()?);
    }
    let length = made.length.map_or(FILE.len() as u64, u64::from);
    // The high bytes of the length stay: a file in memory would take as much.
    let high = bytes.len() + 11..bytes.len() + 16;
    bytes.extend(chain.commit(length.min(1 << 24)).ok()?);
    for (at, byte) in &made.changes {
        let at = usize::from(*at) % bytes.len();
        if !high.contains(&at) {
            bytes[at] = *byte;
        }
    }
    if made.repaired {
        repair::journal(&mut bytes);
    }
    Some(bytes)
}
