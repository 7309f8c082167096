//! The comparison of a journal with the file beside it. The bytes alone decide; times and names say nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use hyperslab_exact::to_usize;
use hyperslab_format::journal::{JournalExtent, SECTOR, SECTOR_BYTES, SectorSums, sectors};
use hyperslab_vfd::{Driver, DriverError};
use smallvec::SmallVec;

use super::recover::{LastCommit, Step, for_each};

/// Bytes of an extent that are read at once.
const READ_BYTES: u64 = 1 << 20;

/// The relation between a journal and the file beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JournalVerdict {
    /// The journal holds no whole commit: the file is as it was committed before.
    Empty,
    /// The file holds all that the journal says.
    Applied,
    /// The file is in the middle of the commits: they are to be brought into it.
    Pending,
    /// The file was replaced, or changed by another program, after the crash: the journal does not belong to the file as it is.
    Foreign,
}

/// The findings of a comparison, sector by sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct JournalComparison {
    /// Sectors of 512 bytes that the journal changes.
    pub sectors: u64,
    /// Sectors that are as the last commit leaves them.
    pub committed: u64,
    /// Sectors that are as they were before the last commit.
    pub earlier: u64,
    /// Sectors that hold bytes which the journal does not know.
    pub unknown: u64,
    /// The offset of the first of those in the file.
    pub first_unknown: Option<u64>,
    /// Extents of new space that the commits rely on, as far as they were compared.
    pub extents: u64,
    /// Extents that hold other bytes than the commits rely on.
    pub changed_extents: u64,
    /// The offset of the first of those in the file.
    pub first_changed_extent: Option<u64>,
    /// The length that the file had at least when it was last synced, in bytes.
    pub synced_length: u64,
    /// The length of the file now, in bytes.
    pub file_length: u64,
}

impl JournalComparison {
    fn verdict(&self, committed_length: u64) -> JournalVerdict {
        let is_short = self.file_length < self.synced_length;
        match () {
            () if self.unknown > 0 => JournalVerdict::Foreign,
            () if self.earlier == 0 && self.file_length >= committed_length => JournalVerdict::Applied,
            () if self.changed_extents > 0 || is_short => JournalVerdict::Foreign,
            () => JournalVerdict::Pending,
        }
    }
}

/// A journal, and the state of the file beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalReport {
    /// The journal's path.
    pub name: String,
    /// Whole commits in the journal.
    pub commits: u64,
    /// The length of the file after the last commit, in bytes.
    pub committed_length: u64,
    /// Object headers without links that programs held open at the last commit, as addresses.
    pub unlinked: Vec<u64>,
    /// The comparison with the file.
    pub comparison: JournalComparison,
    /// The conclusion.
    pub verdict: JournalVerdict,
}

/// One line that says which of the possible stories is true, and one of evidence where the story is not the usual one.
impl fmt::Display for JournalReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, commits, committed_length, comparison: found, .. } = self;
        match self.verdict {
            JournalVerdict::Empty => {
                write!(f, "`{name}` holds no whole commit; the file is as it was committed before")
            }
            JournalVerdict::Applied => {
                write!(
                    f,
                    "the file holds all {commits} commits of `{name}`, whose writer ended before it closed the file"
                )
            }
            JournalVerdict::Pending => write!(
                f,
                "the writer of the file ended, or the power was lost, before all {commits} commits of `{name}` reached the file"
            ),
            JournalVerdict::Foreign => {
                write!(
                    f,
                    "the file was replaced or changed by another program after the crash, so that `{name}` does not belong to it: "
                )?;
                let mut reasons = Vec::new();
                if let Some(first) = found.first_unknown {
                    let (unknown, sectors) = (found.unknown, found.sectors);
                    reasons.push(format!(
                        "{unknown} of {sectors} sectors hold other bytes, the first at {first}"
                    ));
                }
                if let Some(first) = found.first_changed_extent {
                    let (changed, extents) = (found.changed_extents, found.extents);
                    reasons.push(format!(
                        "{changed} of {extents} extents hold other bytes, the first at {first}"
                    ));
                }
                if found.file_length < found.synced_length {
                    let (length, synced) = (found.file_length, found.synced_length);
                    reasons.push(format!(
                        "the file has {length} bytes, and had {synced} at least ({committed_length} after the last commit)"
                    ));
                }
                f.write_str(&reasons.join("; "))
            }
        }
    }
}

/// A content that a sector had, or has after a commit.
#[derive(Debug, Clone, Copy)]
struct Version {
    length: usize,
    sum: u64,
    /// Where the bytes stand in the journal, of a content after a commit.
    place: Option<u64>,
}

/// What a journal says of a file.
#[derive(Debug)]
struct Known {
    sums: SectorSums,
    /// The contents of each sector that the journal changes, in their order; keys are offsets in the file.
    sectors: BTreeMap<u64, SmallVec<[Version; 4]>>,
    extents: Vec<JournalExtent>,
    synced_length: u64,
    unlinked: Vec<u64>,
    /// Lengths that the file had at commits.
    lengths: BTreeSet<u64>,
}

impl Known {
    fn add(&mut self, step: Step) {
        match step {
            Step::Bytes { offset, sums, bytes, place } => {
                let (mut at, mut place) = (offset, place);
                for (old, bytes) in sums.iter().zip(sectors(offset, &bytes)) {
                    let (length, sum) = (bytes.len(), self.sums.of(at, bytes));
                    self.sectors.entry(at).or_default().extend([
                        Version { length, sum: *old, place: None },
                        Version { length, sum, place: Some(place) },
                    ]);
                    at += length as u64;
                    place += length as u64;
                }
            }
            Step::Extents { synced_length, extents } => {
                self.synced_length = synced_length;
                self.lengths.insert(synced_length);
                self.extents.extend(extents);
            }
            Step::Unlinked(addresses) => self.unlinked.extend(addresses),
            Step::Commit { file_length, is_last } => {
                self.lengths.insert(file_length);
                if !is_last {
                    self.unlinked.clear();
                }
            }
        }
    }

    /// Returns the keys of the sectors of a range that the journal changes.
    fn changed(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &SmallVec<[Version; 4]>)> {
        self.sectors.range(start..end.max(start)).map(|(at, versions)| (*at, versions))
    }
}

/// Compares a journal with the file beside it. Nothing is returned of a journal without a whole commit.
pub(crate) fn compare(
    journal: &dyn Driver,
    name: &str,
    file: &dyn Driver,
) -> Result<Option<JournalReport>, DriverError> {
    let Some(header) = super::recover::header(journal)? else { return Ok(None) };
    let mut known = Known {
        sums: header.sums(),
        sectors: BTreeMap::new(),
        extents: Vec::new(),
        synced_length: 0,
        unlinked: Vec::new(),
        lengths: BTreeSet::new(),
    };
    let visit = |step| {
        known.add(step);
        Ok(())
    };
    let Some(last) = for_each(journal, visit)? else { return Ok(None) };
    let file_length = file.len()?;
    let synced_length = known.synced_length;
    let mut found = JournalComparison { file_length, synced_length, ..JournalComparison::default() };
    compare_sectors(&known, last, journal, file, &mut found)?;
    // What is in the file as a whole, or is not to be brought into it, relies on nothing.
    if found.unknown == 0 && (found.earlier > 0 || file_length < last.file_length) {
        compare_extents(&known, file, &mut found)?;
    }
    Ok(Some(JournalReport {
        name: name.to_owned(),
        commits: last.count,
        committed_length: last.file_length,
        unlinked: known.unlinked,
        comparison: found,
        verdict: found.verdict(last.file_length),
    }))
}

/// Fills a buffer with bytes of the file, and zeros behind its end.
fn read(file: &dyn Driver, file_length: u64, offset: u64, buffer: &mut [u8]) -> Result<(), DriverError> {
    let there = file_length.saturating_sub(offset).min(buffer.len() as u64);
    let (inside, outside) = buffer.split_at_mut(to_usize(there)?);
    outside.fill(0);
    if inside.is_empty() { Ok(()) } else { file.read_at(offset, inside) }
}

fn compare_sectors(
    known: &Known,
    last: LastCommit,
    journal: &dyn Driver,
    file: &dyn Driver,
    found: &mut JournalComparison,
) -> Result<(), DriverError> {
    let file_length = found.file_length;
    let mut sector = [0; SECTOR_BYTES];
    for (&at, versions) in known.sectors.range(..last.file_length) {
        found.sectors += 1;
        read(file, file_length, at, &mut sector)?;
        let is = |version: &Version| {
            let bytes = sector.get(..version.length);
            bytes.is_some_and(|bytes| version.sum == known.sums.of(at, bytes))
        };
        let (newest, before) =
            versions.split_last().map_or((None, &[][..]), |(newest, before)| (Some(newest), before));
        let counter = if newest.is_some_and(is) {
            &mut found.committed
        } else if before.iter().any(is) || is_cut(known, versions, at, &sector, journal, file_length)? {
            &mut found.earlier
        } else {
            found.first_unknown.get_or_insert(at);
            &mut found.unknown
        };
        *counter += 1;
    }
    Ok(())
}

/// Returns whether a sector begins like one of its later contents, up to where the file ends or ended at a commit, and goes on with zeros. A
/// disk may have the new bytes of a sector and not the new length of the file; when the file becomes longer, zeros follow.
fn is_cut(
    known: &Known,
    versions: &[Version],
    at: u64,
    sector: &[u8],
    journal: &dyn Driver,
    file_length: u64,
) -> Result<bool, DriverError> {
    let ends = known.lengths.range(at + 1..at.saturating_add(SECTOR)).copied();
    // The file may end before the sector. A range of offsets has no end behind the largest one.
    let ends = ends.chain([file_length]).map(|end| to_usize(end.saturating_sub(at).min(SECTOR)));
    let ends = ends.collect::<Result<SmallVec<[usize; 4]>, _>>()?;
    for version in versions {
        let Some(place) = version.place else { continue };
        let mut bytes = vec![0; version.length];
        journal.read_at(place, &mut bytes)?;
        let is_prefix = |end: usize| {
            let zeros = sector.get(end..).unwrap_or_default();
            end > 0
                && end < version.length
                && sector.get(..end) == bytes.get(..end)
                && zeros.iter().all(|byte| *byte == 0)
        };
        if ends.iter().any(|end| is_prefix(*end)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Compares the new space that the commits rely on. Of a sector that the journal changes as well, any content that the journal knows will
/// do: such sectors have been compared.
fn compare_extents(
    known: &Known,
    file: &dyn Driver,
    found: &mut JournalComparison,
) -> Result<(), DriverError> {
    for extent in &known.extents {
        found.extents += 1;
        let end = extent.offset + extent.length;
        let mut changed = known.changed(extent.offset, end).peekable();
        if extent.length <= SECTOR && changed.peek().is_some() {
            continue;
        }
        let mut expected = extent.sum;
        let mut is_known = true;
        for (at, versions) in changed {
            let first =
                versions.first().filter(|first| first.length as u64 == SECTOR && at.is_multiple_of(SECTOR));
            is_known &= first.is_some();
            expected = expected.wrapping_sub(first.map_or(0, |first| first.sum));
        }
        if !is_known || total(known, file, found.file_length, extent)? != expected {
            found.first_changed_extent.get_or_insert(extent.offset);
            found.changed_extents += 1;
        }
    }
    Ok(())
}

/// Returns the sum of the sectors of an extent that the journal does not change.
fn total(
    known: &Known,
    file: &dyn Driver,
    file_length: u64,
    extent: &JournalExtent,
) -> Result<u64, DriverError> {
    let end = extent.offset + extent.length;
    let mut buffer = Vec::new();
    let (mut sum, mut at) = (0_u64, extent.offset);
    while at < end {
        let to = at + READ_BYTES.min(end - at);
        buffer.resize(to_usize(to - at)?, 0);
        read(file, file_length, at, &mut buffer)?;
        sum = sum.wrapping_add(known.sums.total(at, &buffer));
        for (changed, _) in known.changed(at, to) {
            let sector = buffer.split_at(to_usize(changed - at)?).1;
            let sector = sector.split_at(SECTOR_BYTES.min(sector.len())).0;
            sum = sum.wrapping_sub(known.sums.of(changed, sector));
        }
        at = to;
    }
    Ok(sum)
}
