//! The driver for a file that is divided into consecutive members of one size.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use hyperslab_exact::to_u64;

use crate::driver::range_end;
use crate::joined::{self, Joined, MemberPosition};
use crate::{Access, Driver, DriverError, DriverKind, FamilyPattern, FileIdentity, LockKind, Result, Sec2};

/// The largest number of member files of a file of the family driver. Each member is an open file.
const MAX_MEMBERS: usize = 1 << 16;

/// The family driver: a file that is divided into consecutive member files of one size. Byte `n` of
/// the file is byte `n % size` of the member `n / size`.
///
/// The members are numbered from 0, and stay open. The last non-empty member may be shorter than
/// the others, and empty members may follow. When the driver writes, it extends all earlier members
/// to their full size. Truncating the file empties members, but does not remove them. The lock
/// covers all members.
///
/// ```
/// use hyperslab_vfd::{Access, Driver, Family, FamilyPattern};
/// # let folder = tempfile::tempdir().unwrap();
/// let pattern = FamilyPattern::parse(&format!("{}/part%d", folder.path().display()))?;
/// let family = Family::open(pattern.clone(), Access::CreateNew, Some(4))?;
/// family.write_at(2, b"abcdefg")?;
/// assert_eq!(std::fs::read(pattern.member(1)).unwrap(), b"cdef");
/// assert_eq!(std::fs::read(pattern.member(2)).unwrap(), b"g");
/// # Ok::<(), hyperslab_vfd::DriverError>(())
/// ```
pub struct Family {
    pattern: FamilyPattern,
    name: String,
    member_size: u64,
    read_only: bool,
    members: RwLock<Vec<Sec2>>,
    /// The number of leading members with known full size.
    whole: AtomicU64,
}

impl Family {
    /// Opens the member files of a family file, up to the last one before a missing member. If
    /// `member_size` is not given, the length of the first member is the member size.
    ///
    /// # Errors
    /// [`DriverError::Io`] with the name of the member that cannot be opened;
    /// [`DriverError::Members`] if the member size is 0 or unknown.
    pub fn open(pattern: FamilyPattern, access: Access, member_size: Option<u64>) -> Result<Self> {
        let name = pattern.to_string();
        let first = Sec2::open(pattern.member(0), access)?;
        let size = match member_size {
            Some(size) => size,
            None => first.len()?,
        };
        if size == 0 {
            let reason = "the member size is unknown: the first member is empty".into();
            return Err(DriverError::Members { name, reason });
        }
        let mut members = vec![first];
        let following = match access {
            Access::ReadOnly => Access::ReadOnly,
            Access::ReadWrite | Access::Create | Access::Truncate => Access::ReadWrite,
            Access::CreateNew => return Ok(Self::of(pattern, name, size, access, members)),
        };
        while members.len() < MAX_MEMBERS {
            match Sec2::open(pattern.member(members.len()), following) {
                Ok(member) => members.push(member),
                Err(DriverError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(error),
            }
        }
        if access == Access::Truncate {
            members.iter().try_for_each(|member| member.set_len(0))?;
        }
        Ok(Self::of(pattern, name, size, access, members))
    }

    fn of(
        pattern: FamilyPattern,
        name: String,
        member_size: u64,
        access: Access,
        members: Vec<Sec2>,
    ) -> Self {
        let read_only = access == Access::ReadOnly;
        Self {
            pattern,
            name,
            member_size,
            read_only,
            members: RwLock::new(members),
            whole: AtomicU64::new(0),
        }
    }

    /// Returns the size of a member file of the family file in bytes.
    pub fn member_size(&self) -> u64 {
        self.member_size
    }

    /// Returns the number of existing member files of the family file.
    pub fn member_count(&self) -> usize {
        self.members().len()
    }

    fn members(&self) -> RwLockReadGuard<'_, Vec<Sec2>> {
        // Poisoning is harmless: each member is added in one step.
        self.members.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn writable(&self) -> Result<()> {
        if self.read_only { Err(DriverError::ReadOnly { name: self.name.clone() }) } else { Ok(()) }
    }

    /// Creates missing member files until the family file has `count` members.
    fn grow(&self, count: u64, offset: u64, length: u64) -> Result<()> {
        if count <= to_u64(self.members().len()) {
            return Ok(());
        }
        if count > to_u64(MAX_MEMBERS) {
            return Err(DriverError::TooLarge { name: self.name.clone(), offset, length });
        }
        let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
        while to_u64(members.len()) < count {
            let member = Sec2::open(self.pattern.member(members.len()), Access::CreateNew)?;
            members.push(member);
        }
        Ok(())
    }

    /// Extends each member file of a family file before the member `last` to its full size. libhdf5
    /// takes the length of the first member as the size of each member.
    fn fill_before(&self, last: u64) -> Result<()> {
        let whole = self.whole.load(Ordering::Acquire);
        if last <= whole {
            return Ok(());
        }
        let members = self.members();
        for number in whole..last {
            let member = Self::member(&members, number).ok_or_else(|| joined::piece_error(&self.name))?;
            if member.len()? < self.member_size {
                member.set_len(self.member_size)?;
            }
        }
        self.whole.fetch_max(last, Ordering::AcqRel);
        Ok(())
    }

    /// Returns the number of the member of a family file that contains a file offset.
    fn index(&self, offset: u64) -> u64 {
        offset / self.member_size
    }

    /// Returns the offset, in the whole family file, of the first byte of a member.
    fn start(&self, member: usize) -> Result<u64> {
        let too_large = || DriverError::TooLarge {
            name: self.name.clone(),
            offset: to_u64(member),
            length: self.member_size,
        };
        to_u64(member).checked_mul(self.member_size).ok_or_else(too_large)
    }

    fn member(members: &[Sec2], number: u64) -> Option<&Sec2> {
        members.get(usize::try_from(number).ok()?)
    }
}

impl Joined for Family {
    fn whole_name(&self) -> &str {
        &self.name
    }

    fn end(&self) -> Result<u64> {
        for (number, member) in self.members().iter().enumerate().rev() {
            let length = member.len()?;
            if length > 0 {
                let inside = length.min(self.member_size);
                let start = self.start(number)?;
                let too_large =
                    || DriverError::TooLarge { name: self.name.clone(), offset: start, length: inside };
                return start.checked_add(inside).ok_or_else(too_large);
            }
        }
        Ok(0)
    }

    fn position(&self, offset: u64) -> MemberPosition {
        let inside = offset % self.member_size;
        MemberPosition { member: self.index(offset), offset: inside, available: self.member_size - inside }
    }

    fn read_member(&self, position: MemberPosition, buf: &mut [u8]) -> Result<()> {
        match Self::member(&self.members(), position.member) {
            Some(member) => member.read_at(position.offset, buf),
            None => Err(DriverError::PastEnd {
                name: self.member_name(position.member).into_owned(),
                offset: position.offset,
                length: to_u64(buf.len()),
                end: 0,
            }),
        }
    }

    fn member_name(&self, member: u64) -> Cow<'_, str> {
        match usize::try_from(member) {
            Ok(member) => self.pattern.member(member).display().to_string().into(),
            Err(_) => (&*self.name).into(),
        }
    }
}

impl Driver for Family {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> DriverKind {
        DriverKind::Family
    }

    fn name_at(&self, offset: u64) -> Cow<'_, str> {
        self.member_name(self.index(offset))
    }

    fn identity(&self) -> Option<FileIdentity> {
        self.members().first().and_then(Sec2::identity)
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn len(&self) -> Result<u64> {
        self.end()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        joined::read_at(self, offset, buf)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.writable()?;
        if bytes.is_empty() {
            return Ok(());
        }
        let end = range_end(&self.name, offset, bytes.len())?;
        let last = self.index(end - 1);
        self.grow(last + 1, offset, end - offset)?;
        self.fill_before(last)?;
        joined::for_each_piece(self, offset, bytes.len(), |position, range| {
            match (Self::member(&self.members(), position.member), bytes.get(range)) {
                (Some(member), Some(piece)) => member.write_at(position.offset, piece),
                _ => Err(joined::piece_error(&self.name)),
            }
        })
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.writable()?;
        let last = self.index(len.max(1) - 1);
        self.grow(last + 1, 0, len)?;
        self.whole.fetch_min(last, Ordering::AcqRel);
        for (number, member) in self.members().iter().enumerate() {
            let start = self.start(number)?;
            // Members after the end become empty.
            let remaining = len.max(start) - start;
            let wanted = remaining.min(self.member_size);
            if member.len()? != wanted {
                member.set_len(wanted)?;
            }
        }
        self.whole.store(last, Ordering::Release);
        Ok(())
    }

    fn sync_data(&self) -> Result<()> {
        self.members().iter().try_for_each(Sec2::sync_data)
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        joined::lock_all(self.members().iter(), kind)
    }

    fn unlock(&self) -> Result<()> {
        self.members().iter().try_for_each(Sec2::unlock)
    }
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Family")
            .field("name", &self.name)
            .field("member_size", &self.member_size)
            .field("members", &self.members().len())
            .field("read_only", &self.read_only)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::conformance;

    #[test]
    fn all_members_are_locked_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let pattern = pattern(&folder, "locked%d");
        Family::open(pattern.clone(), Access::CreateNew, Some(10)).unwrap().write_at(0, &[1; 25]).unwrap();
        let open = || Family::open(pattern.clone(), Access::ReadWrite, Some(10)).unwrap();
        let member = |number| Sec2::open(pattern.member(number), Access::ReadOnly).unwrap();
        let family = open();
        family.lock(LockKind::Exclusive).unwrap();
        let busy = |number| matches!(member(number).lock(LockKind::Shared), Err(DriverError::Locked { .. }));
        assert!(busy(0) && busy(1) && busy(2));
        family.unlock().unwrap();
        let last = member(2);
        last.lock(LockKind::Shared).unwrap();
        assert!(matches!(family.lock(LockKind::Exclusive), Err(DriverError::Locked { .. })));
        member(0).lock(LockKind::Exclusive).unwrap();
    }

    fn pattern(folder: &tempfile::TempDir, name: &str) -> FamilyPattern {
        FamilyPattern::parse(&folder.path().join(name).display().to_string()).unwrap()
    }

    #[test]
    fn keeps_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let counter = AtomicUsize::new(0);
        for size in [13_001, 65_536, 1 << 40] {
            conformance::run(|| {
                let number = counter.fetch_add(1, Ordering::Relaxed);
                let pattern = pattern(&folder, &format!("{number}-%d"));
                Family::open(pattern, Access::CreateNew, Some(size)).unwrap()
            });
        }
        conformance::run(|| Family::open(pattern(&folder, "again%d"), Access::Truncate, Some(9973)).unwrap());
        conformance::run_read_only(|bytes| {
            let pattern = pattern(&folder, &format!("image{}-%03d", counter.fetch_add(1, Ordering::Relaxed)));
            for (number, part) in bytes.chunks(4999).enumerate() {
                std::fs::write(pattern.member(number), part).unwrap();
            }
            if bytes.is_empty() {
                std::fs::write(pattern.member(0), []).unwrap();
            }
            Family::open(pattern, Access::ReadOnly, Some(4999)).unwrap()
        });
    }

    #[test]
    fn members_have_one_size() {
        let folder = tempfile::tempdir().unwrap();
        let pattern = pattern(&folder, "f%02d");
        let size = |number| std::fs::metadata(pattern.member(number)).map(|metadata| metadata.len()).ok();
        let family = Family::open(pattern.clone(), Access::CreateNew, Some(10)).unwrap();
        family.write_at(0, &[1; 25]).unwrap();
        assert_eq!([0, 1, 2, 3].map(size), [Some(10), Some(10), Some(5), None]);
        family.set_len(40).unwrap();
        assert_eq!((family.len().unwrap(), size(3), size(4)), (40, Some(10), None));
        family.set_len(12).unwrap();
        assert_eq!([0, 1, 2, 3].map(size), [Some(10), Some(2), Some(0), Some(0)]);
        drop(family);
        // Empty members at the end contribute no bytes; the first member states the size.
        let again = Family::open(pattern.clone(), Access::ReadWrite, None).unwrap();
        assert_eq!((again.len().unwrap(), again.member_size(), again.member_count()), (12, 10, 4));
        assert_eq!(again.name_at(57), folder.path().join("f05").display().to_string());
        again.write_at(38, b"xyz").unwrap();
        let mut bytes = [9; 41];
        again.read_at(0, &mut bytes).unwrap();
        assert_eq!(bytes[..12], [1; 12]);
        assert_eq!(bytes[12..38], [0; 26]);
        assert_eq!(&bytes[38..], b"xyz");
    }

    /// libhdf5 takes the length of the first member as the member size.
    #[test]
    fn members_before_the_last_have_their_full_size() {
        let folder = tempfile::tempdir().unwrap();
        let pattern = pattern(&folder, "f%d");
        let size = |number| std::fs::metadata(pattern.member(number)).map(|metadata| metadata.len()).unwrap();
        let open = |access| Family::open(pattern.clone(), access, Some(10)).unwrap();
        let family = open(Access::CreateNew);
        family.write_at(0, b"abc").unwrap();
        assert_eq!(size(0), 3);
        family.write_at(35, b"x").unwrap();
        assert_eq!([0, 1, 2, 3].map(size), [10, 10, 10, 6]);
        family.set_len(4).unwrap();
        family.write_at(22, b"x").unwrap();
        assert_eq!([0, 1, 2, 3].map(size), [10, 10, 3, 0]);
        family.set_len(4).unwrap();
        family.set_len(31).unwrap();
        assert_eq!([0, 1, 2, 3].map(size), [10, 10, 10, 1]);
        // Another program may have left short members.
        std::fs::OpenOptions::new().write(true).open(pattern.member(1)).unwrap().set_len(2).unwrap();
        open(Access::ReadWrite).write_at(30, b"y").unwrap();
        assert_eq!([0, 1, 2, 3].map(size), [10, 10, 10, 1]);
    }

    #[test]
    fn members_in_the_way_are_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let pattern = pattern(&folder, "f%d");
        std::fs::write(pattern.member(2), b"somebody's").unwrap();
        let family = Family::open(pattern.clone(), Access::CreateNew, Some(10)).unwrap();
        family.write_at(0, &[1; 20]).unwrap();
        let error = family.write_at(20, b"x").unwrap_err();
        assert!(error.to_string().contains("f2") && matches!(error, DriverError::Io { .. }), "{error}");
        assert_eq!(std::fs::read(pattern.member(2)).unwrap(), b"somebody's");
    }

    #[test]
    fn errors_name_the_member() {
        let folder = tempfile::tempdir().unwrap();
        let absent = Family::open(pattern(&folder, "no%d.h5"), Access::ReadOnly, None).unwrap_err();
        assert!(absent.to_string().contains("no0.h5"), "{absent}");
        std::fs::write(pattern(&folder, "e%d").member(0), []).unwrap();
        let error = Family::open(pattern(&folder, "e%d"), Access::ReadOnly, None).unwrap_err();
        assert!(matches!(error, DriverError::Members { .. }), "{error}");
        let far = Family::open(pattern(&folder, "far%d"), Access::CreateNew, Some(1)).unwrap();
        assert!(matches!(far.write_at(1 << 40, b"x"), Err(DriverError::TooLarge { .. })));
        assert!(matches!(far.set_len(1 << 40), Err(DriverError::TooLarge { .. })));
        assert_eq!(far.member_count(), 1);
    }
}
