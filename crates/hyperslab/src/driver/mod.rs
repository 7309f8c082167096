//! The choice of the driver for a path.

mod members;

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use hyperslab_engine::ops::{MemberRange, Members, OpenFile};
use hyperslab_engine::store::StoreOptions;
use hyperslab_engine::{Error, Result};
use hyperslab_vfd::{
    Access, AccessLog, Core, CoreOptions, Driver, DriverError, FamilyPattern, Log, Multi, MultiMember, Sec2,
    Stdio, Stream, StreamOptions, Subfiling,
};

use crate::journal_place::journal_of;
use members::{
    GuessedMembers, MemberNames, cannot_open, check_beside, family, family_beside, guessed_members,
    multi_beside, multi_members, path_without_end, stated_members,
};

pub(crate) use members::members_of;

/// The driver that a caller chooses for the bytes of a file.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
/// use hyperslab::{FileDriver, OpenOptions, vfd::DriverKind};
/// let file = OpenOptions::new().driver(FileDriver::Stdio).open(path)?;
/// assert_eq!(file.info().driver, DriverKind::Stdio);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FileDriver {
    /// The driver that hyperslab chooses from the contents of the file and the names of files
    /// beside it: one file, or several members.
    ///
    /// A file whose superblock names the family or multi driver is opened with its members. Other
    /// files are opened with several members only in these cases:
    /// - The file is shorter than its superblock states, its name contains the number 0, and a file
    ///   with the number 1 is beside it: a family.
    /// - The file is shorter than its superblock states, its name ends with `-s.h5`, and another
    ///   member of the multi driver is beside it: a multi file.
    /// - The file cannot be opened alone, and a configuration file of the subfiling driver is
    ///   beside it: a stub of subfiles.
    ///
    /// All members must be in the folder of the file, and their names must be formed from the
    /// file's name.
    #[default]
    Auto,
    /// One file that is read and written at offsets.
    Sec2,
    /// One file that is read into memory as a whole when it is opened.
    Core,
    /// One file that is read and written through one buffer, by one thread at a time.
    Stdio,
    /// One file that is mapped into memory. No program may change or truncate the file while it is
    /// mapped; see [`vfd::Mmap`](hyperslab_vfd::Mmap).
    Mmap,
    /// A connection to a [`vfd::StreamServer`](hyperslab_vfd::StreamServer). The path is
    /// `HOST:PORT`.
    Stream(StreamOptions),
    /// Members of equal size. The path is the one of the first member, or a pattern such as
    /// `name%05d.h5`.
    Family {
        /// The size of a member in bytes. `None` means the size that the file states, or else the
        /// size of the first member.
        member_size: Option<u64>,
    },
    /// One file for metadata and one for raw data. The path is the one of the metadata file, or the
    /// common start of both names.
    Split {
        /// The end of the name of the metadata file, such as `-m.h5`.
        metadata: String,
        /// The end of the name of the raw data file, such as `-r.h5`.
        raw: String,
    },
    /// One file for each kind of data. The superblock names the files; if it names none, the names
    /// end with `-s.h5` to `-o.h5`, as libhdf5 creates them. The path is the one of the file with
    /// the superblock, or the common start of all names.
    Multi,
    /// Stripes over several files, for reading only. The path is the one of the stub file; the
    /// configuration file beside the stub names the subfiles.
    Subfiling,
}

impl FileDriver {
    /// Returns the split driver with the file name suffixes that the tools of libhdf5 use: `-m.h5`
    /// for metadata and `-r.h5` for raw data.
    pub fn split() -> Self {
        Self::Split { metadata: "-m.h5".into(), raw: "-r.h5".into() }
    }
}

/// Returns the file drivers with their names and default parameters.
fn drivers_by_name() -> [(&'static str, FileDriver); 10] {
    [
        ("auto", FileDriver::Auto),
        ("sec2", FileDriver::Sec2),
        ("core", FileDriver::Core),
        ("stdio", FileDriver::Stdio),
        ("mmap", FileDriver::Mmap),
        ("stream", FileDriver::Stream(StreamOptions::default())),
        ("family", FileDriver::Family { member_size: None }),
        ("split", FileDriver::split()),
        ("multi", FileDriver::Multi),
        ("subfiling", FileDriver::Subfiling),
    ]
}

/// Writes the name of the driver without its parameters.
impl fmt::Display for FileDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let same = |other: &FileDriver| std::mem::discriminant(other) == std::mem::discriminant(self);
        f.write_str(drivers_by_name().iter().find(|(_, driver)| same(driver)).map_or("", |(name, _)| name))
    }
}

/// Parses the name of a driver. The parameters have their defaults.
impl FromStr for FileDriver {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = drivers_by_name().into_iter().find(|(name, _)| *name == text);
        found.map(|(_, driver)| driver).ok_or_else(|| {
            let names = drivers_by_name().map(|(name, _)| name).join(", ");
            Error::Misuse(format!("no driver is called `{text}`; there are {names}"))
        })
    }
}

/// An opener of files, with the chosen driver and the options for access.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opener {
    pub(crate) driver: FileDriver,
    pub(crate) options: StoreOptions,
    pub(crate) log: Option<Arc<AccessLog>>,
}

impl Opener {
    /// Returns the access mode, read-only or read-write, that the opener's options request.
    fn access(&self) -> Access {
        if self.options.write.is_some() { Access::ReadWrite } else { Access::ReadOnly }
    }

    pub(crate) fn open(&self, path: &Path) -> Result<OpenFile> {
        let is_on_disk = !matches!(self.driver, FileDriver::Core | FileDriver::Stream(_));
        if self.options.journal.is_none() && is_on_disk {
            let options = StoreOptions { journal: Some(journal_of(path)), ..self.options.clone() };
            return Self { options, ..self.clone() }.open_members(path);
        }
        self.open_members(path)
    }

    fn open_members(&self, path: &Path) -> Result<OpenFile> {
        match &self.driver {
            FileDriver::Auto => self.open_auto(path),
            FileDriver::Sec2 => self.open_with(Sec2::open(path, self.access())),
            FileDriver::Core => self.open_with(Core::open(path, self.access(), CoreOptions::default())),
            FileDriver::Stdio => self.open_with(Stdio::open(path, self.access())),
            FileDriver::Mmap => self.open_mmap(path),
            FileDriver::Stream(options) => {
                let server = path
                    .to_str()
                    .ok_or_else(|| Error::Misuse("the address of a stream server is not UTF-8".into()))?;
                self.open_with(Stream::open(server, self.access(), *options))
            }
            FileDriver::Family { member_size } => self.open_family(path, *member_size),
            FileDriver::Split { metadata, raw } => {
                let base = path_without_end(path, metadata).unwrap_or_else(|| path.to_owned());
                let mut members = MultiMember::split(&base, metadata, raw);
                if let Ok(Members::Multi(multi)) = stated_members(&members[0].path)
                    && let [first, second] = multi.ranges.as_slice()
                {
                    members[0].expected = first.length;
                    (members[1].start, members[1].expected) = (second.start, second.length);
                }
                self.open_with(Multi::open(members, self.access()))
            }
            FileDriver::Subfiling => match Subfiling::configuration_of(path).map_err(cannot_open)? {
                Some(configuration) => self.open_subfiles(path, &configuration),
                None => Err(Error::Misuse(format!(
                    "the configuration file `{}.subfile_NUMBER.config` of this stub does not exist",
                    path.display()
                ))),
            },
            FileDriver::Multi => {
                let base = path_without_end(path, "-s.h5").unwrap_or_else(|| path.to_owned());
                let [superblock, ..] = MultiMember::multi(&base);
                let first = if path.is_file() { path } else { &superblock.path };
                match stated_members(first)? {
                    Members::Multi(multi) => self.open_with(Multi::open(
                        multi_members(first, &multi.ranges, MemberNames::Any)?,
                        self.access(),
                    )),
                    _ => self.open_with(Multi::open(MultiMember::multi(&base), self.access())),
                }
            }
        }
    }

    fn open_with<D: Driver + 'static>(&self, driver: Result<D, DriverError>) -> Result<OpenFile> {
        let driver = driver.map_err(cannot_open)?;
        OpenFile::open(self.logged(Arc::new(driver)), self.options.clone())
    }

    /// Returns the driver of the single file at `path`. The bytes of the file are not read.
    pub(crate) fn single_file(&self, path: &Path) -> Result<Arc<dyn Driver>> {
        Ok(self.logged(Arc::new(Sec2::open(path, Access::ReadOnly).map_err(cannot_open)?)))
    }

    pub(crate) fn logged(&self, driver: Arc<dyn Driver>) -> Arc<dyn Driver> {
        match &self.log {
            Some(log) => Arc::new(Log::new(driver, Arc::clone(log))),
            None => driver,
        }
    }

    #[cfg(all(unix, feature = "mmap"))]
    fn open_mmap(&self, path: &Path) -> Result<OpenFile> {
        self.open_with(hyperslab_vfd::Mmap::open(path))
    }

    #[cfg(not(all(unix, feature = "mmap")))]
    fn open_mmap(&self, _path: &Path) -> Result<OpenFile> {
        Err(Error::unsupported(
            "mapping files into memory without the feature `mmap`, or on a system other than Unix",
        ))
    }

    /// Opens the HDF5 file at `path` as a single file. If this fails, opens the file together with
    /// its other member files, which are found from the contents of the file or from file names in
    /// its folder.
    fn open_auto(&self, path: &Path) -> Result<OpenFile> {
        let file = match Sec2::open(path, self.access()) {
            Ok(file) => Arc::new(file),
            Err(error) => {
                let pattern = path.to_str().and_then(|text| FamilyPattern::parse(text).ok());
                let exists = pattern.is_some_and(|pattern| pattern.member(0).is_file());
                return if exists { self.open_family(path, None) } else { Err(cannot_open(error)) };
            }
        };
        // In a salvage, damage alone is no reason to search for members. An undamaged superblock
        // extension that names members is.
        if self.options.salvage {
            match Members::of(Arc::clone(&file) as _) {
                Ok(Members::Family { member_size }) => {
                    return self.open_family_beside(path, Some(member_size));
                }
                Ok(Members::Multi(multi)) => return self.open_multi_beside(path, &multi.ranges),
                _ => {}
            }
        }
        let alone = OpenFile::open(self.logged(Arc::clone(&file) as _), self.options.clone());
        let Err(error) = alone else { return alone };
        if let Ok(Some(configuration)) = Subfiling::configuration_of(path) {
            return self.open_subfiles(path, &configuration);
        }
        match Members::of(file) {
            Ok(Members::Family { member_size }) => self.open_family_beside(path, Some(member_size)),
            Ok(Members::Multi(multi)) => self.open_multi_beside(path, &multi.ranges),
            // The file names no members. The first error is returned unless files beside it hold
            // the missing bytes.
            Ok(Members::Incomplete) => self.open_guessed(path).unwrap_or(Err(error)),
            _ => Err(error),
        }
    }

    fn open_subfiles(&self, path: &Path, configuration: &Path) -> Result<OpenFile> {
        if self.options.write.is_some() {
            return Err(Error::unsupported("writing to a file of the subfiling driver"));
        }
        check_beside(path, configuration)?;
        let file = Subfiling::open(path, configuration).map_err(cannot_open)?;
        file.subfiles().try_for_each(|subfile| check_beside(path, subfile))?;
        self.open_with(Ok(file))
    }

    fn open_guessed(&self, path: &Path) -> Option<Result<OpenFile>> {
        match guessed_members(path, self.access())? {
            GuessedMembers::Family(family) => Some(self.open_with(Ok(family))),
            GuessedMembers::Multi(multi) => Some(self.open_with(Ok(multi))).filter(Result::is_ok),
            GuessedMembers::Invalid(error) => Some(Err(error)),
        }
    }

    fn open_family_beside(&self, path: &Path, member_size: Option<u64>) -> Result<OpenFile> {
        self.open_with(Ok(family_beside(path, member_size, self.access())?))
    }

    fn open_multi_beside(&self, path: &Path, ranges: &[MemberRange]) -> Result<OpenFile> {
        self.open_with(Ok(multi_beside(path, ranges, self.access())?))
    }

    fn open_family(&self, path: &Path, member_size: Option<u64>) -> Result<OpenFile> {
        self.open_with(Ok(family(path, member_size, self.access())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_have_names() {
        for (name, driver) in drivers_by_name() {
            assert_eq!(driver.to_string(), name);
            assert_eq!(name.parse::<FileDriver>().unwrap(), driver);
        }
        let error = "direct".parse::<FileDriver>().unwrap_err().to_string();
        assert!(error.contains("`direct`") && error.contains("sec2"), "{error}");
    }
}
