//! The comparison of a journal with the file beside it. Only the bytes decide: times, names and
//! inode numbers have no influence.

use std::fmt;
use std::ops::Bound;

use hyperslab_exact::to_usize;
use hyperslab_format::journal::{SECTOR, SECTOR_BYTES};
use hyperslab_vfd::{Driver, DriverError};
use smallvec::SmallVec;

use super::MAX_SMALL_COMMIT_BYTES;
use super::contents::{JournalContents, SectorVersion};
use super::new_space::compare_extents;
use super::walk::{LastCommit, for_each, header};
use crate::store::bytes::count_before;

/// The verdict on a journal: the conclusion of a comparison of the journal with the file beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JournalVerdict {
    /// The journal holds no complete commit. The file is in the state of its last commit.
    Empty,
    /// The file holds all commits of the journal.
    Applied,
    /// The file holds a part of the commits, and the journal must be replayed.
    Pending,
    /// The journal does not belong to the file: the file was replaced, or another program changed
    /// it after the crash.
    Foreign,
}

/// The result of a comparison of a journal with its file: the numbers of file sectors that agree or
/// disagree with the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct JournalComparison {
    /// The number of sectors of 512 bytes that the journal changes.
    pub sectors: u64,
    /// The number of sectors that hold the bytes of the last commit.
    pub committed: u64,
    /// The number of sectors that hold bytes from before the last commit.
    pub earlier: u64,
    /// The number of sectors that hold bytes which the journal does not know.
    pub unknown: u64,
    /// The offset of the first unknown sector in the file.
    pub first_unknown: Option<u64>,
    /// The number of extents of new space that were compared. The commits rely on their bytes.
    pub extents: u64,
    /// The number of extents that hold other bytes than the commits rely on.
    pub changed_extents: u64,
    /// The offset of the first changed extent in the file.
    pub first_changed_extent: Option<u64>,
    /// The smallest length that the file had when it was last synced, in bytes.
    pub synced_length: u64,
    /// The present length of the file, in bytes.
    pub file_length: u64,
}

impl JournalComparison {
    fn verdict(&self, last: LastCommit) -> JournalVerdict {
        let committed_length = last.file_length;
        let is_short = self.file_length < self.synced_length || self.lacks_too_many_bytes(last);
        match () {
            () if self.unknown > 0 => JournalVerdict::Foreign,
            () if self.earlier == 0 && self.file_length >= committed_length => JournalVerdict::Applied,
            () if self.changed_extents > 0 || is_short => JournalVerdict::Foreign,
            () => JournalVerdict::Pending,
        }
    }

    /// Returns whether the file lacks too many bytes for its journal: more bytes of its length at
    /// the last commit than unsynced commits can have added.
    fn lacks_too_many_bytes(&self, last: LastCommit) -> bool {
        let unsynced = last.count.checked_mul(MAX_SMALL_COMMIT_BYTES);
        let lacking = last.file_length.checked_sub(self.file_length);
        lacking.zip(unsynced).is_some_and(|(lacking, unsynced)| lacking > unsynced)
    }
}

/// A report on a journal, with the comparison of the journal with the file beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalReport {
    /// The path of the journal.
    pub name: String,
    /// The number of complete commits in the journal.
    pub commits: u64,
    /// The length of the file after the last commit, in bytes.
    pub committed_length: u64,
    /// The addresses of object headers without links that programs held open at the last commit.
    pub unlinked: Vec<u64>,
    /// The comparison with the file.
    pub comparison: JournalComparison,
    /// The conclusion.
    pub verdict: JournalVerdict,
}

/// Writes the verdict on one line, with the evidence if the journal is foreign.
impl fmt::Display for JournalReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, commits, committed_length, comparison: found, .. } = self;
        match self.verdict {
            JournalVerdict::Empty => {
                write!(f, "`{name}` holds no complete commit; the file holds its last commit")
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
                        "the file has {length} bytes, but had at least {synced} bytes when it was last synced ({committed_length} bytes after the last commit)"
                    ));
                }
                if reasons.is_empty() {
                    let length = found.file_length;
                    reasons.push(format!(
                        "the file has {length} bytes, but {committed_length} bytes after the last commit, and {commits} commits without a sync do not extend a file by so much"
                    ));
                }
                f.write_str(&reasons.join("; "))
            }
        }
    }
}

/// Compares a journal with the file beside it. Returns `None` if the journal has no complete
/// commit.
pub(super) fn compare(
    journal: &dyn Driver,
    name: &str,
    file: &dyn Driver,
) -> Result<Option<JournalReport>, DriverError> {
    let Some(header) = header(journal)? else { return Ok(None) };
    let mut contents = JournalContents::new(header);
    let visit = |step| {
        contents.add(step);
        Ok(())
    };
    let Some(last) = for_each(journal, visit)? else { return Ok(None) };
    let file_length = file.len()?;
    let synced_length = contents.synced_length;
    let mut found = JournalComparison { file_length, synced_length, ..JournalComparison::default() };
    compare_sectors(&contents, last, journal, file, &mut found)?;
    // Only a replay needs the extents. A file that holds all commits needs no replay, and a file
    // with unknown sectors is not replayed.
    if found.unknown == 0 && (found.earlier > 0 || file_length < last.file_length) {
        let extents = compare_extents(&contents, file, file_length)?;
        found.extents = extents.extents;
        found.changed_extents = extents.changed;
        found.first_changed_extent = extents.first_changed;
    }
    Ok(Some(JournalReport {
        name: name.to_owned(),
        commits: last.count,
        committed_length: last.file_length,
        unlinked: contents.unlinked,
        comparison: found,
        verdict: found.verdict(last),
    }))
}

/// Reads bytes of a file of `file_length` bytes for a comparison with a journal, and fills the
/// buffer with zeros past the end.
fn read(file: &dyn Driver, file_length: u64, offset: u64, buffer: &mut [u8]) -> Result<(), DriverError> {
    let (inside, outside) = buffer.split_at_mut(count_before(file_length, offset, buffer.len()));
    outside.fill(0);
    if inside.is_empty() { Ok(()) } else { file.read_at(offset, inside) }
}

fn compare_sectors(
    contents: &JournalContents,
    last: LastCommit,
    journal: &dyn Driver,
    file: &dyn Driver,
    found: &mut JournalComparison,
) -> Result<(), DriverError> {
    let file_length = found.file_length;
    let mut sector = [0; SECTOR_BYTES];
    for (&at, versions) in contents.sectors.range(..last.file_length) {
        found.sectors += 1;
        read(file, file_length, at, &mut sector)?;
        let is = |version: &SectorVersion| {
            let bytes = sector.get(..version.length);
            bytes.is_some_and(|bytes| version.sum == contents.sums.of(at, bytes))
        };
        let (newest, before) =
            versions.split_last().map_or((None, &[][..]), |(newest, before)| (Some(newest), before));
        let counter = if newest.is_some_and(is) {
            &mut found.committed
        } else if before.iter().any(is) || is_cut(contents, versions, at, &sector, journal, file_length)? {
            &mut found.earlier
        } else {
            found.first_unknown.get_or_insert(at);
            &mut found.unknown
        };
        *counter += 1;
    }
    Ok(())
}

/// Returns whether a sector of a file looks cut off, for a comparison with a journal. Such a sector
/// has the bytes of a later version up to an end that the file has or had, and zeros after it. The
/// cause is a disk that stored new bytes of the sector, but not the new length of the file. When
/// the file grows again, zeros follow.
fn is_cut(
    contents: &JournalContents,
    versions: &[SectorVersion],
    at: u64,
    sector: &[u8],
    journal: &dyn Driver,
    file_length: u64,
) -> Result<bool, DriverError> {
    let lengths = contents.lengths.range((Bound::Excluded(at), Bound::Unbounded)).copied();
    let near = lengths.map(|end| end - at).take_while(|end| *end < SECTOR);
    // The end of the file does not cut a sector that lies wholly before or wholly after it.
    let present = file_length.checked_sub(at).filter(|end| *end < SECTOR);
    let ends = near.chain(present).map(to_usize).collect::<Result<SmallVec<[usize; 4]>, _>>()?;
    for version in versions {
        let Some(journal_offset) = version.journal_offset else { continue };
        let mut bytes = vec![0; version.length];
        journal.read_at(journal_offset, &mut bytes)?;
        let is_prefix = |end: usize| {
            end > 0
                && end < version.length
                && sector.get(..end) == bytes.get(..end)
                && sector.get(end..).is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
        };
        if ends.iter().any(|end| is_prefix(*end)) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use hyperslab_format::journal::{JournalChain, JournalExtent, JournalHeader};
    use hyperslab_vfd::Core;

    use super::*;

    /// Returns a journal of one commit that relies on `extents` and makes the file `file_length`
    /// bytes long.
    fn journal(extents: &[JournalExtent], file_length: u64) -> Core {
        let header = JournalHeader::new(7);
        let mut chain = JournalChain::new(header);
        let mut bytes = header.encode().unwrap();
        bytes.extend(chain.extents(0, extents).unwrap());
        bytes.extend(chain.commit(file_length).unwrap());
        Core::from_vec("journal", bytes)
    }

    #[test]
    fn a_file_that_no_commit_can_have_extended_is_foreign() {
        let file = Core::from_vec("file", vec![1; 4096]);
        for (length, verdict) in [
            (4096 + MAX_SMALL_COMMIT_BYTES, JournalVerdict::Pending),
            (4097 + MAX_SMALL_COMMIT_BYTES, JournalVerdict::Foreign),
            (u64::MAX, JournalVerdict::Foreign),
        ] {
            let report = compare(&journal(&[], length), "journal", &file).unwrap().unwrap();
            assert_eq!(report.verdict, verdict, "{length}: {report}");
        }
    }

    #[test]
    fn an_extent_far_past_the_end_of_the_file_does_not_match() {
        let extent = JournalExtent { offset: 0, length: 1 << 60, sum: 0 };
        let file = Core::from_vec("file", vec![1; 4096]);
        let report = compare(&journal(&[extent], 1 << 60), "journal", &file).unwrap().unwrap();
        assert_eq!((report.comparison.extents, report.comparison.changed_extents), (1, 1));
        assert_eq!(report.verdict, JournalVerdict::Foreign);
    }
}
