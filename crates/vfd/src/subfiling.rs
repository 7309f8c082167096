//! The driver for files that are divided into stripes, with the layout of the subfiling driver of
//! libhdf5. Read only.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use hyperslab_exact::to_usize;

use crate::joined::{self, Joined, MemberPosition};
use crate::{Access, Driver, DriverError, DriverKind, FileIdentity, LockKind, Result, Sec2};

/// The largest number of subfiles over which the bytes of one HDF5 file are distributed. Each
/// subfile is an open file.
const MAX_SUBFILES: u64 = 1 << 16;

/// The largest length of the configuration file that names the subfiles of an HDF5 file, in bytes.
const MAX_CONFIGURATION_BYTES: u64 = 1 << 20;

/// The subfiling driver: a file whose bytes are distributed in stripes of one size over subfiles.
/// Stripe `n` of the file is stripe `n / count` of the subfile `n % count`.
///
/// A short subfile reads as zeros after its end.
pub struct Subfiling {
    name: String,
    stripe: u64,
    files: Vec<Sec2>,
}

impl Subfiling {
    /// Returns the path of the subfiling configuration file of the stub file `stub`. It is in the
    /// same folder and has the name `STUB.subfile_NUMBER.config`. If several files have such a
    /// name, returns the file whose number is the inode of the stub.
    ///
    /// Returns `None` if there is no such file, or if none of several has the number of the inode.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the folder cannot be listed, or the stub cannot be opened.
    pub fn configuration_of(stub: &Path) -> Result<Option<PathBuf>> {
        let Some(begin) =
            stub.file_name().and_then(|name| name.to_str()).map(|name| format!("{name}.subfile_"))
        else {
            return Ok(None);
        };
        let folder = stub.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = stub.display().to_string();
        let failed = |source| DriverError::Io { name: name.clone(), operation: "list the folder", source };
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let file = entry.map_err(failed)?.file_name();
            let number = file.to_str().and_then(|file| file.strip_prefix(&begin)?.strip_suffix(".config"));
            found.extend(
                number
                    .filter(|number| is_number(number))
                    .map(|number| (number.to_owned(), folder.join(&file))),
            );
        }
        match found.as_slice() {
            [] => return Ok(None),
            [(_, only)] => return Ok(Some(only.clone())),
            _ => {}
        }
        let inode = match Sec2::open(stub, Access::ReadOnly)?.identity() {
            Some(FileIdentity::Node { inode, .. }) => inode.to_string(),
            _ => String::new(),
        };
        match found.into_iter().find(|(number, _)| *number == inode) {
            Some((_, path)) => Ok(Some(path)),
            None => Ok(None),
        }
    }

    /// Opens the subfiles that the subfiling configuration file `configuration` names. The subfiles
    /// must lie in the folder of the configuration file.
    ///
    /// # Errors
    /// [`DriverError::Members`] if the configuration is invalid; [`DriverError::Io`] with the name
    /// of the file that cannot be opened.
    pub fn open(stub: &Path, configuration: &Path) -> Result<Self> {
        let name = stub.display().to_string();
        let wrong = |reason: String| DriverError::Members { name: name.clone(), reason };
        let file = Sec2::open(configuration, Access::ReadOnly)?;
        let length = file.len()?;
        if length > MAX_CONFIGURATION_BYTES {
            return Err(wrong(format!(
                "the configuration file has {length} bytes, more than {MAX_CONFIGURATION_BYTES}"
            )));
        }
        let mut bytes = vec![0; to_usize(length)?];
        file.read_at(0, &mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let number = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            line.and_then(|value| value.trim().parse::<u64>().ok()).filter(|value| *value > 0)
        };
        let missing = |key: &str| wrong(format!("the configuration file has no positive number `{key}`"));
        let stripe = number("stripe_size").ok_or_else(|| missing("stripe_size"))?;
        // Configurations of older versions only state the number of aggregators, which equals the
        // number of subfiles.
        let count = number("subfile_count").or_else(|| number("aggregator_count"));
        let count = count.ok_or_else(|| missing("subfile_count"))?;
        if count > MAX_SUBFILES {
            return Err(wrong(format!(
                "the configuration states {count} subfiles, more than {MAX_SUBFILES}"
            )));
        }
        let base = configuration.file_name().and_then(|file| file.to_str()?.strip_suffix(".config"));
        let base = base.ok_or_else(|| {
            wrong(format!(
                "the name of the configuration file `{}` is not UTF-8 or does not end with .config",
                configuration.display()
            ))
        })?;
        let width = count.to_string().len();
        let subfile =
            |number: u64| configuration.with_file_name(format!("{base}_{number:0width$}_of_{count}"));
        let files =
            (1..=count).map(|number| Sec2::open(subfile(number), Access::ReadOnly)).collect::<Result<_>>()?;
        Ok(Self { name, stripe, files })
    }

    /// Returns the size of a stripe of the subfiling driver in bytes.
    pub fn stripe_size(&self) -> u64 {
        self.stripe
    }

    /// Returns the paths of the subfiles of the subfiling driver in order.
    pub fn subfiles(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| Path::new(file.name()))
    }

    fn count(&self) -> u64 {
        (self.files.len() as u64).max(1)
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Joined for Subfiling {
    fn whole_name(&self) -> &str {
        &self.name
    }

    fn end(&self) -> Result<u64> {
        let mut end = 0;
        for (number, file) in (0_u64..).zip(&self.files) {
            let Some(last) = file.len()?.checked_sub(1) else { continue };
            let (row, inside) = (last / self.stripe, last % self.stripe);
            let reach = || {
                let stripe = row.checked_mul(self.count())?.checked_add(number)?;
                stripe.checked_mul(self.stripe)?.checked_add(inside)?.checked_add(1)
            };
            let Some(reach) = reach() else {
                let reason = format!("stripes of {} bytes lead past 64 bits", self.stripe);
                return Err(DriverError::Members { name: self.name.clone(), reason });
            };
            end = end.max(reach);
        }
        Ok(end)
    }

    fn position(&self, offset: u64) -> MemberPosition {
        let stripe = offset.checked_div(self.stripe).unwrap_or(0);
        let inside = offset.checked_rem(self.stripe).unwrap_or(0);
        let row = stripe.checked_div(self.count()).unwrap_or(0);
        let member = stripe.checked_rem(self.count()).unwrap_or(0);
        MemberPosition { member, offset: row * self.stripe + inside, available: self.stripe - inside }
    }

    fn read_member(&self, position: MemberPosition, buf: &mut [u8]) -> Result<()> {
        match file(&self.files, position.member) {
            Some(file) => file.read_at(position.offset, buf),
            None => {
                Err(DriverError::Members { name: self.name.clone(), reason: "there are no subfiles".into() })
            }
        }
    }

    fn member_name(&self, member: u64) -> Cow<'_, str> {
        file(&self.files, member).map_or(&*self.name, Driver::name).into()
    }
}

fn file(files: &[Sec2], number: u64) -> Option<&Sec2> {
    files.get(usize::try_from(number).ok()?)
}

impl Driver for Subfiling {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> DriverKind {
        DriverKind::Subfiling
    }

    fn name_at(&self, offset: u64) -> Cow<'_, str> {
        self.member_name(self.position(offset).member)
    }

    fn identity(&self) -> Option<FileIdentity> {
        self.files.first().and_then(Sec2::identity)
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn len(&self) -> Result<u64> {
        self.end()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        joined::read_at(self, offset, buf)
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> Result<()> {
        Err(DriverError::ReadOnly { name: self.name.clone() })
    }

    fn set_len(&self, _len: u64) -> Result<()> {
        Err(DriverError::ReadOnly { name: self.name.clone() })
    }

    fn sync_data(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        joined::lock_all(self.files.iter(), kind)
    }

    fn unlock(&self) -> Result<()> {
        self.files.iter().try_for_each(Sec2::unlock)
    }
}

impl fmt::Debug for Subfiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subfiling")
            .field("name", &self.name)
            .field("stripe", &self.stripe)
            .field("files", &self.files.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::conformance;

    /// Distributes bytes in stripes, as the driver of libhdf5 does.
    fn cut(bytes: &[u8], stripe: usize, count: usize, folder: &Path, name: &str) -> (PathBuf, PathBuf) {
        let stub = folder.join(name);
        std::fs::write(&stub, &bytes[..bytes.len().min(50)]).unwrap();
        let mut files = vec![Vec::new(); count];
        for (number, part) in bytes.chunks(stripe).enumerate() {
            files[number % count].extend_from_slice(part);
        }
        let width = count.to_string().len();
        for (number, file) in (1..).zip(files) {
            std::fs::write(folder.join(format!("{name}.subfile_77_{number:0width$}_of_{count}")), file)
                .unwrap();
        }
        let configuration = folder.join(format!("{name}.subfile_77.config"));
        let text = format!(
            "stripe_size={stripe}\naggregator_count=2\nsubfile_count={count}\nhdf5_file={name}\nsubfile_dir=.\n"
        );
        std::fs::write(&configuration, text).unwrap();
        (stub, configuration)
    }

    #[test]
    fn keeps_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let counter = AtomicUsize::new(0);
        for (stripe, count) in [(1, 1), (7, 3), (100, 12), (1 << 20, 2)] {
            conformance::run_read_only(|bytes| {
                let name = format!("f{}", counter.fetch_add(1, Ordering::Relaxed));
                let (stub, configuration) = cut(bytes, stripe, count, folder.path(), &name);
                assert_eq!(Subfiling::configuration_of(&stub).unwrap(), Some(configuration.clone()));
                Subfiling::open(&stub, &configuration).unwrap()
            });
        }
    }

    #[test]
    fn configurations_that_say_too_little() {
        let folder = tempfile::tempdir().unwrap();
        let (stub, configuration) = cut(&[1; 100], 10, 3, folder.path(), "f");
        for text in [
            "",
            "stripe_size=0\nsubfile_count=3",
            "stripe_size=10\nsubfile_count=x",
            "stripe_size=10\nsubfile_count=99999999",
        ] {
            std::fs::write(&configuration, text).unwrap();
            let error = Subfiling::open(&stub, &configuration).unwrap_err();
            assert!(matches!(error, DriverError::Members { .. }), "{text}: {error}");
        }
        std::fs::write(&configuration, "stripe_size=10\nsubfile_count=4").unwrap();
        let error = Subfiling::open(&stub, &configuration).unwrap_err().to_string();
        assert!(error.contains("f.subfile_77_1_of_4"), "{error}");
        // None of the several configurations belongs to the stub.
        std::fs::copy(&configuration, folder.path().join("f.subfile_78.config")).unwrap();
        assert_eq!(Subfiling::configuration_of(&stub).unwrap(), None);
        assert_eq!(Subfiling::configuration_of(&folder.path().join("g")).unwrap(), None);
    }
}
