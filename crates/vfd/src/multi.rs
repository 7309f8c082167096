//! The driver for a file with one member for each kind of data. Each member has its own range of
//! offsets.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hyperslab_exact::to_u64;

use crate::joined::{self, Joined, MemberPosition};
use crate::{Access, Driver, DriverError, DriverKind, FileIdentity, LockKind, Result, Sec2};

/// A member file of an HDF5 file that the multi or split driver stores in several files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiMember {
    /// The path of the member.
    pub path: PathBuf,
    /// The offset of the member's first byte in the whole file. The member's range ends where the
    /// next member starts.
    pub start: u64,
    /// The length that the member should have. A missing member has this length.
    pub expected: u64,
}

impl MultiMember {
    /// Returns the two member files of the split driver. The path of the metadata file is `base`
    /// with the extension `metadata`, and the path of the raw data file is `base` with the
    /// extension `raw`. The offsets of raw data start at `u64::MAX / 2`, as in libhdf5.
    ///
    /// ```
    /// use hyperslab_vfd::MultiMember;
    /// let [metadata, raw] = MultiMember::split("run7".as_ref(), "-m.h5", "-r.h5");
    /// assert_eq!((metadata.path.to_str(), metadata.start), (Some("run7-m.h5"), 0));
    /// assert_eq!((raw.path.to_str(), raw.start), (Some("run7-r.h5"), u64::MAX / 2));
    /// ```
    pub fn split(base: &Path, metadata: &str, raw: &str) -> [Self; 2] {
        let with = |extension: &str, start| Self { path: appended(base, extension), start, expected: 0 };
        [with(metadata, 0), with(raw, u64::MAX / 2)]
    }

    /// Returns the six member files of the multi driver, with the names and offsets of libhdf5. The
    /// file `BASE-s.h5` is for the superblock, `-b` for B-trees, `-r` for raw data, `-g` and `-l`
    /// for global and local heaps, and `-o` for object headers.
    pub fn multi(base: &Path) -> [Self; 6] {
        let mut start = 0;
        ["-s.h5", "-b.h5", "-r.h5", "-g.h5", "-l.h5", "-o.h5"].map(|extension| {
            let member = Self { path: appended(base, extension), start, expected: 0 };
            start += (u64::MAX - 1) / 6;
            member
        })
    }
}

fn appended(base: &Path, extension: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(extension);
    name.into()
}

/// The multi driver: a file in several member files, each with a range of offsets.
///
/// Bytes between the end of a member and the start of the next one read as zeros. In a file opened
/// for reading, a missing member, except the first, is an error only when its bytes are read. The
/// lock covers all members.
pub struct Multi {
    name: String,
    kind: DriverKind,
    read_only: bool,
    /// The members in ascending order of their starts. The first one starts at 0.
    members: Vec<Member>,
}

struct Member {
    described: MultiMember,
    name: String,
    /// The length of the member's range.
    range_len: u64,
    file: OnceLock<Sec2>,
}

impl Multi {
    /// Opens the member files of a multi file. The members may be given in any order.
    ///
    /// # Errors
    /// [`DriverError::Members`] if no member starts at 0, or two members start at the same offset;
    /// [`DriverError::Io`] with the name of the member that cannot be opened.
    pub fn open(members: impl IntoIterator<Item = MultiMember>, access: Access) -> Result<Self> {
        let mut members: Vec<MultiMember> = members.into_iter().collect();
        members.sort_by_key(|member| member.start);
        let name = members.first().map_or_else(String::new, |first| first.path.display().to_string());
        let wrong = |reason: &str| DriverError::Members { name: name.clone(), reason: reason.into() };
        if members.first().is_none_or(|first| first.start != 0) {
            return Err(wrong("no member file starts at offset 0"));
        }
        let starts: Vec<u64> = members.iter().map(|member| member.start).collect();
        let ends = starts.iter().copied().skip(1).chain([u64::MAX]);
        if starts.iter().zip(ends.clone()).any(|(start, end)| *start >= end) {
            return Err(wrong("two member files start at the same offset"));
        }
        let read_only = access == Access::ReadOnly;
        let mut opened: Vec<Member> = Vec::new();
        for (described, end) in members.into_iter().zip(ends) {
            let file = match Sec2::open(&described.path, access) {
                Err(DriverError::Io { source, .. })
                    if read_only && described.start > 0 && source.kind() == io::ErrorKind::NotFound =>
                {
                    OnceLock::new()
                }
                file => OnceLock::from(file?),
            };
            let (name, range_len) = (described.path.display().to_string(), end - described.start);
            opened.push(Member { described, name, range_len, file });
        }
        Ok(Self { name, kind: kind(&opened), read_only, members: opened })
    }

    /// Returns two values for each member file of the multi file: its path, and true if it exists.
    /// The members are in ascending order of offsets.
    pub fn members(&self) -> impl Iterator<Item = (&Path, bool)> {
        self.members.iter().map(|member| (member.described.path.as_path(), member.file.get().is_some()))
    }

    fn files(&self) -> impl Iterator<Item = &Sec2> + Clone {
        self.members.iter().filter_map(|member| member.file.get())
    }

    fn writable(&self) -> Result<()> {
        if self.read_only { Err(DriverError::ReadOnly { name: self.name.clone() }) } else { Ok(()) }
    }
}

/// Returns the kind of the driver for the member files. The kind is split if there are two members
/// and the first one has a name of the split driver. Otherwise, the kind is multi.
fn kind(members: &[Member]) -> DriverKind {
    match members {
        [first, _] if first.name.ends_with("-m.h5") => DriverKind::Split,
        _ => DriverKind::Multi,
    }
}

impl Member {
    fn file(&self) -> Result<&Sec2> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = Sec2::open(&self.described.path, Access::ReadOnly)?;
        Ok(self.file.get_or_init(|| file))
    }

    /// Returns the length of a member file of the multi file: at most the length of its range of
    /// offsets. If the member file does not exist, returns its expected length.
    fn len(&self) -> Result<u64> {
        let length = self.file.get().map_or(Ok(self.described.expected), Driver::len)?;
        Ok(length.min(self.range_len))
    }
}

impl Multi {
    fn member(&self, number: u64) -> Option<&Member> {
        self.members.get(usize::try_from(number).ok()?)
    }
}

impl Joined for Multi {
    fn whole_name(&self) -> &str {
        &self.name
    }

    fn end(&self) -> Result<u64> {
        for member in self.members.iter().rev() {
            let length = member.len()?;
            if length > 0 {
                return Ok(member.described.start + length);
            }
        }
        Ok(0)
    }

    fn position(&self, offset: u64) -> MemberPosition {
        let count = self.members.partition_point(|member| member.described.start <= offset);
        // Unreachable: `open` checks that the first member starts at 0.
        let Some((number, member)) = self.members.iter().enumerate().take(count).next_back() else {
            return MemberPosition { member: 0, offset, available: 0 };
        };
        let inside = offset - member.described.start;
        MemberPosition { member: to_u64(number), offset: inside, available: member.range_len - inside }
    }

    fn read_member(&self, position: MemberPosition, buf: &mut [u8]) -> Result<()> {
        let member = self.member(position.member).ok_or_else(|| joined::piece_error(&self.name))?;
        if member.file.get().is_none() && position.offset >= member.described.expected {
            // The missing member would have no bytes here.
            return Err(DriverError::PastEnd {
                name: member.name.clone(),
                offset: position.offset,
                length: to_u64(buf.len()),
                end: member.described.expected,
            });
        }
        member.file()?.read_at(position.offset, buf)
    }

    fn member_name(&self, member: u64) -> Cow<'_, str> {
        self.member(member).map_or(&*self.name, |member| &member.name).into()
    }
}

impl Driver for Multi {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> DriverKind {
        self.kind
    }

    fn name_at(&self, offset: u64) -> Cow<'_, str> {
        self.member_name(self.position(offset).member)
    }

    fn identity(&self) -> Option<FileIdentity> {
        self.files().next().and_then(Sec2::identity)
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn len(&self) -> Result<u64> {
        self.end()
    }

    fn stored_len(&self) -> Result<u64> {
        let mut sum = 0_u64;
        for member in &self.members {
            sum += member.len()?;
        }
        Ok(sum)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        joined::read_at(self, offset, buf)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.writable()?;
        crate::driver::range_end(&self.name, offset, bytes.len())?;
        joined::for_each_piece(self, offset, bytes.len(), |position, range| {
            match (self.member(position.member), bytes.get(range)) {
                (Some(member), Some(piece)) => member.file()?.write_at(position.offset, piece),
                _ => Err(joined::piece_error(&self.name)),
            }
        })
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.writable()?;
        for member in &self.members {
            // Members after the end become empty.
            let wanted = len.max(member.described.start) - member.described.start;
            let file = member.file()?;
            // The member that contains the end gets the exact length. Earlier members keep their
            // lengths.
            if wanted <= member.range_len {
                file.set_len(wanted)?;
            } else if file.len()? > member.range_len {
                file.set_len(member.range_len)?;
            }
        }
        Ok(())
    }

    fn member_ranges(&self) -> Result<Vec<Range<u64>>> {
        let range = |member: &Member| {
            let start = member.described.start;
            Ok(start..start + member.len()?)
        };
        self.members.iter().map(range).collect()
    }

    fn set_member_ends(&self, ends: &[u64]) -> Result<()> {
        self.writable()?;
        let wrong = |reason| DriverError::Members { name: self.name.clone(), reason };
        if ends.len() != self.members.len() {
            return Err(wrong(format!(
                "{} ends of allocation were given for {} member files",
                ends.len(),
                self.members.len()
            )));
        }
        let lengths = self.members.iter().zip(ends).map(|(member, end)| {
            let length = end.checked_sub(member.described.start).filter(|length| *length <= member.range_len);
            length.ok_or_else(|| wrong(format!("{} cannot end at offset {end}", member.name)))
        });
        let lengths = lengths.collect::<Result<Vec<u64>>>()?;
        for (member, length) in self.members.iter().zip(lengths) {
            let file = member.file()?;
            if file.len()? != length {
                file.set_len(length)?;
            }
        }
        Ok(())
    }

    fn sync_data(&self) -> Result<()> {
        self.files().try_for_each(Sec2::sync_data)
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        joined::lock_all(self.files(), kind)
    }

    fn unlock(&self) -> Result<()> {
        self.files().try_for_each(Sec2::unlock)
    }
}

impl fmt::Debug for Multi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Multi")
            .field("name", &self.name)
            .field("members", &self.members.iter().map(|member| &member.described).collect::<Vec<_>>())
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::conformance;

    fn members(folder: &Path, name: &str, starts: &[u64]) -> Vec<MultiMember> {
        let member = |(number, start): (usize, &u64)| MultiMember {
            path: folder.join(format!("{name}-{number}")),
            start: *start,
            expected: 0,
        };
        starts.iter().enumerate().map(member).collect()
    }

    #[test]
    fn keeps_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let counter = AtomicUsize::new(0);
        let name = || format!("f{}", counter.fetch_add(1, Ordering::Relaxed));
        for starts in [&[0_u64] as &[u64], &[0, 3, 4, 10_000, 100_000, 1 << 40], &[0, u64::MAX / 2]] {
            conformance::run(|| {
                Multi::open(members(folder.path(), &name(), starts), Access::CreateNew).unwrap()
            });
        }
        conformance::run_read_only(|bytes| {
            let starts = [0, 500, 4000, 5000];
            let members = members(folder.path(), &name(), &starts);
            for (member, end) in members.iter().zip([500, 4000, 5000, usize::MAX]) {
                let start = usize::try_from(member.start).unwrap().min(bytes.len());
                std::fs::write(&member.path, &bytes[start..end.min(bytes.len())]).unwrap();
            }
            Multi::open(members, Access::ReadOnly).unwrap()
        });
    }

    #[test]
    fn each_range_has_its_file_and_gaps_are_zeros() {
        let folder = tempfile::tempdir().unwrap();
        let split = MultiMember::split(&folder.path().join("s"), "-m.h5", "-r.h5");
        let multi = Multi::open(split.clone(), Access::CreateNew).unwrap();
        multi.write_at(0, b"meta").unwrap();
        let raw = u64::MAX / 2;
        multi.write_at(raw + 1, b"raw").unwrap();
        assert_eq!(multi.kind(), DriverKind::Split);
        assert_eq!((multi.len().unwrap(), multi.stored_len().unwrap()), (raw + 4, 8));
        let mut bytes = [1; 6];
        multi.read_at(raw - 2, &mut bytes).unwrap();
        assert_eq!(&bytes, b"\0\0\0raw");
        multi.read_at(2, &mut bytes).unwrap();
        assert_eq!(&bytes, b"ta\0\0\0\0");
        multi.set_len(3).unwrap();
        let lengths = split.map(|member| std::fs::metadata(member.path).unwrap().len());
        assert_eq!(lengths, [3, 0]);
    }

    #[test]
    fn each_member_has_an_end_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let members = members(folder.path(), "f", &[0, 100, 200]);
        let multi = Multi::open(members.clone(), Access::CreateNew).unwrap();
        multi.write_at(0, b"meta").unwrap();
        multi.write_at(200, b"raw data").unwrap();
        assert_eq!(multi.member_ranges().unwrap(), [0..4, 100..100, 200..208]);
        multi.set_member_ends(&[2, 103, 208]).unwrap();
        let read = |number: usize| std::fs::read(&members[number].path).unwrap();
        assert_eq!((read(0), read(1), read(2)), (b"me".to_vec(), vec![0; 3], b"raw data".to_vec()));
        for wrong in [vec![2, 103], vec![101, 103, 208], vec![2, 99, 208], vec![]] {
            assert!(matches!(multi.set_member_ends(&wrong), Err(DriverError::Members { .. })), "{wrong:?}");
            assert_eq!(multi.member_ranges().unwrap(), [0..2, 100..103, 200..208]);
        }
        let reader = Multi::open(members, Access::ReadOnly).unwrap();
        assert!(matches!(reader.set_member_ends(&[2, 103, 208]), Err(DriverError::ReadOnly { .. })));
        let one = crate::Core::from_vec("one", vec![0; 9]);
        assert!(one.member_ranges().unwrap().is_empty() && one.set_member_ends(&[]).is_ok());
        assert!(one.set_member_ends(&[4]).is_err());
    }

    #[test]
    fn a_missing_file_is_named_when_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut members = members(folder.path(), "f", &[0, 100, 200]);
        std::fs::write(&members[0].path, b"meta").unwrap();
        members[1].expected = 10;
        let multi = Multi::open(members.clone(), Access::ReadOnly).unwrap();
        assert_eq!(multi.len().unwrap(), 110);
        assert_eq!(multi.members().map(|(_, exists)| exists).collect::<Vec<_>>(), [true, false, false]);
        multi.read_at(0, &mut [0; 100]).unwrap();
        let error = multi.read_at(98, &mut [0; 4]).unwrap_err();
        assert!(matches!(&error, DriverError::Io { name, .. } if name.ends_with("f-1")), "{error}");
        assert!(multi.read_at(108, &mut [0; 4]).is_err());
        std::fs::write(&members[1].path, b"raw").unwrap();
        multi.read_at(100, &mut [0; 3]).unwrap();
        let error = Multi::open(members.clone(), Access::ReadWrite).unwrap_err();
        assert!(error.to_string().contains("f-2"), "{error}");
        std::fs::remove_file(&members[0].path).unwrap();
        let error = Multi::open(members, Access::ReadOnly).unwrap_err();
        assert!(error.to_string().contains("f-0"), "{error}");
    }

    #[test]
    fn ranges_that_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        for starts in [&[] as &[u64], &[1], &[0, 5, 5], &[0, 0], &[0, u64::MAX]] {
            let error = Multi::open(members(folder.path(), "f", starts), Access::CreateNew).unwrap_err();
            assert!(matches!(error, DriverError::Members { .. }), "{starts:?}: {error}");
        }
    }

    #[test]
    fn the_standard_files_of_multi() {
        let members = MultiMember::multi("x".as_ref());
        assert_eq!(
            members.each_ref().map(|member| member.path.to_str().unwrap()),
            ["x-s.h5", "x-b.h5", "x-r.h5", "x-g.h5", "x-l.h5", "x-o.h5"]
        );
        assert_eq!(members[1].start, 0x2aaa_aaaa_aaaa_aaaa);
    }

    #[test]
    fn a_byte_without_a_member_is_an_internal_error() {
        let folder = tempfile::tempdir().unwrap();
        let members = MultiMember::split(&folder.path().join("file"), "-m.h5", "-r.h5");
        let mut multi = Multi::open(members, Access::CreateNew).unwrap();
        multi.members.clear();
        let error = multi.write_at(0, b"lost").unwrap_err();
        assert!(matches!(error, DriverError::Internal { .. }), "{error}");
    }
}
