//! The comparison of a file with the extents of its journal: the space that was new at a commit.
//!
//! A journal may be hostile: its extents may be as long as 64 bits allow, and any number of extents
//! may cover the same bytes. The comparison therefore reads nothing past the end of the file, and
//! reads the sectors that several extents cover once.

use std::collections::BTreeMap;
use std::ops::Range;

use hyperslab_exact::to_usize;
use hyperslab_format::journal::{JournalExtent, SECTOR};
use hyperslab_vfd::{Driver, DriverError};

use super::contents::JournalContents;

/// Largest number of bytes that one read of the file covers, during a comparison with the journal.
const READ_BYTES: u64 = 1 << 20;

/// The result of a comparison of the file's bytes with a journal's extents of new space. (Before
/// its commit, an extent was new space: no commit contained it.)
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ExtentComparison {
    /// The number of extents.
    pub(super) extents: u64,
    /// The number of extents that hold other bytes than the commits rely on.
    pub(super) changed: u64,
    /// The offset of the first changed extent in the file.
    pub(super) first_changed: Option<u64>,
}

/// Compares the extents in a journal, which were new space at a commit, with a file of
/// `file_length` bytes. An extent past the end of the file does not match. The reason: each extent
/// was synced before its commit, and no commit of the same journal shortens the file.
///
/// A sector of an extent that the journal also changes may hold any version that the journal knows;
/// the comparison of sectors has checked that.
pub(super) fn compare_extents(
    contents: &JournalContents,
    file: &dyn Driver,
    file_length: u64,
) -> Result<ExtentComparison, DriverError> {
    let prefixes = Prefixes::read(contents, file, file_length)?;
    let mut found = ExtentComparison::default();
    for extent in &contents.extents {
        found.extents += 1;
        let end = extent.offset + extent.length;
        if extent.length <= SECTOR && contents.changed(extent.offset, end).next().is_some() {
            continue;
        }
        if end > file_length || !matches(contents, file, &prefixes, extent)? {
            found.first_changed.get_or_insert(extent.offset);
            found.changed += 1;
        }
    }
    Ok(found)
}

/// Returns whether the bytes of the file match an extent in a journal, which was new space at a
/// commit. The extent lies before the end of the file.
fn matches(
    contents: &JournalContents,
    file: &dyn Driver,
    prefixes: &Prefixes,
    extent: &JournalExtent,
) -> Result<bool, DriverError> {
    let end = extent.offset + extent.length;
    let whole = whole_sectors(extent);
    let (mut sum, mut expected) = (0_u64, extent.sum);
    if let Some((before, after)) = prefixes.at(whole.start).zip(prefixes.at(whole.end)) {
        if before.partial != after.partial {
            return Ok(false);
        }
        sum = after.unchanged.wrapping_sub(before.unchanged);
        expected = expected.wrapping_sub(after.first.wrapping_sub(before.first));
    }
    for edge in [extent.offset..whole.start, whole.end..end] {
        if edge.is_empty() {
            continue;
        }
        // If a change covers only a part of a sector, no extent states the sum of the sector.
        if extent.length > SECTOR && contents.changed(edge.start, edge.end).next().is_some() {
            return Ok(false);
        }
        let mut bytes = vec![0; to_usize(edge.end - edge.start)?];
        file.read_at(edge.start, &mut bytes)?;
        sum = sum.wrapping_add(contents.sums.total(edge.start, &bytes));
    }
    Ok(sum == expected)
}

/// Returns the range of the whole sectors in an extent of a journal. If the extent contains no
/// whole sector, returns an empty range at its end.
fn whole_sectors(extent: &JournalExtent) -> Range<u64> {
    let end = extent.offset + extent.length;
    let whole_end = end - end % SECTOR;
    match extent.offset.checked_next_multiple_of(SECTOR) {
        Some(start) if start < whole_end => start..whole_end,
        _ => end..end,
    }
}

/// The checksums of the start of a file up to an offset, over whole sectors, for a comparison with
/// a journal.
#[derive(Debug, Clone, Copy, Default)]
struct Prefix {
    /// The sum of the sectors in the file that the journal does not change.
    unchanged: u64,
    /// The sum of the first versions of the sectors that the journal changes.
    first: u64,
    /// The number of changes of parts of sectors.
    partial: u64,
}

/// The checksums of several parts of a file. Each part begins at the start of the file. It ends at
/// an offset at which an extent of the journal begins or ends. The checksums include only sectors
/// that are in an extent.
struct Prefixes(BTreeMap<u64, Prefix>);

impl Prefixes {
    /// Reads the sectors of all extents of a journal before the end of the file, and computes their
    /// checksums. Reads each sector once.
    fn read(contents: &JournalContents, file: &dyn Driver, file_length: u64) -> Result<Self, DriverError> {
        let inside = contents.extents.iter().map(whole_sectors).filter(|range| range.end <= file_length);
        let mut ranges: Vec<(u64, u64)> =
            inside.filter(|range| !range.is_empty()).map(|range| (range.start, range.end)).collect();
        ranges.sort_unstable();
        let mut bounds: Vec<u64> = ranges.iter().flat_map(|(start, end)| [*start, *end]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let (mut prefix, mut prefixes) = (Prefix::default(), BTreeMap::new());
        let (mut ranges, mut covered_to) = (ranges.into_iter().peekable(), 0);
        for (number, from) in bounds.iter().enumerate() {
            prefixes.insert(*from, prefix);
            while let Some((_, end)) = ranges.next_if(|(start, _)| start <= from) {
                covered_to = end.max(covered_to);
            }
            if let Some(to) = bounds.get(number + 1).filter(|_| covered_to > *from) {
                prefix.add(contents, file, *from..*to)?;
            }
        }
        Ok(Self(prefixes))
    }

    /// Returns the checksums of the file's sectors before `offset`. Returns `None` if no extent of
    /// the journal begins or ends at this offset.
    fn at(&self, offset: u64) -> Option<Prefix> {
        self.0.get(&offset).copied()
    }
}

impl Prefix {
    /// Adds the whole sectors in `range` of the file to the checksums for a comparison with a
    /// journal.
    fn add(
        &mut self,
        contents: &JournalContents,
        file: &dyn Driver,
        range: Range<u64>,
    ) -> Result<(), DriverError> {
        let mut buffer = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let to = at + READ_BYTES.min(range.end - at);
            buffer.resize(to_usize(to - at)?, 0);
            file.read_at(at, &mut buffer)?;
            self.unchanged = self.unchanged.wrapping_add(contents.sums.total(at, &buffer));
            for (changed, versions) in contents.changed(at, to) {
                let first = versions.first().filter(|first| first.length as u64 == SECTOR);
                let Some(first) = first.filter(|_| changed.is_multiple_of(SECTOR)) else {
                    self.partial += 1;
                    continue;
                };
                let sector = buffer.split_at(to_usize(changed - at)?).1.split_at(first.length).0;
                self.unchanged = self.unchanged.wrapping_sub(contents.sums.of(changed, sector));
                self.first = self.first.wrapping_add(first.sum);
            }
            at = to;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::journal::{JournalHeader, SectorSums};
    use hyperslab_vfd::Core;
    use proptest::prelude::*;

    use super::super::walk::JournalStep;
    use super::*;

    const FILE_BYTES: usize = 20 * 512 + 100;

    fn contents(extents: Vec<JournalExtent>) -> JournalContents {
        let mut contents = JournalContents::new(JournalHeader::new(7));
        contents.add(JournalStep::Extents { synced_length: 0, extents });
        contents
    }

    #[test]
    fn many_extents_of_the_same_bytes_are_read_once() {
        let bytes = vec![5; 4 << 20];
        let extent = JournalExtent { offset: 0, length: 4 << 20, sum: SectorSums::CURRENT.total(0, &bytes) };
        let file = Core::from_vec("file", bytes);
        let mut extents = vec![extent; 30_000];
        extents.push(JournalExtent { sum: 1, ..extent });
        let found = compare_extents(&contents(extents), &file, 4 << 20).unwrap();
        assert_eq!(found, ExtentComparison { extents: 30_001, changed: 1, first_changed: Some(0) });
    }

    #[test]
    fn an_extent_past_the_end_of_the_file_does_not_match() {
        let file = Core::from_vec("file", vec![0; 1000]);
        let sum = SectorSums::CURRENT.total(512, &[0; 512]);
        for length in [489, 512, 4096, 1 << 60, u64::MAX - 512] {
            let extent = JournalExtent { offset: 512, length, sum };
            let found = compare_extents(&contents(vec![extent]), &file, 1000).unwrap();
            assert_eq!(found, ExtentComparison { extents: 1, changed: 1, first_changed: Some(512) });
        }
    }

    proptest! {
        /// The comparison finds what the sums of each extent alone say, also where extents overlap
        /// and the journal changes some of their sectors.
        #[test]
        fn the_result_is_that_of_each_extent_alone(
            extents in prop::collection::vec((0_u64..22, 0_u64..3, 1_u64..6, 0_u64..3, any::<bool>()), 1..12),
            changes in prop::collection::btree_set(0_u64..20, 0..4),
        ) {
            let old: Vec<u8> = (0..FILE_BYTES).map(|at| u8::try_from(at / 7 % 251).unwrap()).collect();
            let mut new = old.clone();
            for change in &changes {
                new[usize::try_from(change * 512).unwrap()..][..512].fill(255);
            }
            let (mut stated, mut changed) = (Vec::new(), Vec::new());
            for (start, skip, sectors, more, right) in extents {
                let (offset, length) = (start * 512 + skip * 50, sectors * 512 + more * 77);
                let part = usize::try_from(offset).ok().and_then(|from| {
                    old.get(from..from + usize::try_from(length).unwrap())
                });
                let sum = part.map_or(0, |part| SectorSums::CURRENT.total(offset, part));
                let sum = if right { sum } else { sum ^ 1 };
                stated.push(JournalExtent { offset, length, sum });
                let end = offset + length;
                let is_cut = |at: u64| at < end && at + 512 > offset && (at < offset || at + 512 > end);
                let touches_edge = changes.iter().any(|change| is_cut(change * 512));
                let is_short_and_changed = length <= 512
                    && changes.iter().any(|change| (offset..end).contains(&(change * 512)));
                if !is_short_and_changed && (part.is_none() || !right || touches_edge) {
                    changed.push(offset);
                }
            }
            let count = stated.len() as u64;
            let mut contents = contents(stated);
            for change in &changes {
                let at = usize::try_from(change * 512).unwrap();
                let sums = vec![SectorSums::CURRENT.of(change * 512, &old[at..at + 512])];
                let bytes = new[at..at + 512].to_vec();
                contents.add(JournalStep::Bytes { offset: change * 512, sums, bytes, journal_offset: 0 });
            }
            let file = Core::from_vec("file", new);
            let found = compare_extents(&contents, &file, FILE_BYTES as u64).unwrap();
            let expected = ExtentComparison {
                extents: count,
                changed: changed.len() as u64,
                first_changed: changed.first().copied(),
            };
            prop_assert_eq!(found, expected);
        }
    }
}
