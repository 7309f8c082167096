//! The choice of the driver for a path, and the search for the members of a file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use hyperslab_engine::ops::{MemberRange, Members, OpenFile};
use hyperslab_engine::store::StoreOptions;
use hyperslab_engine::{Error, Result};
use hyperslab_vfd::{
    Access, AccessLog, Core, CoreOptions, Driver, DriverError, Family, FamilyPattern, Log, Multi,
    MultiMember, Sec2, Stdio, Stream, StreamOptions, Subfiling,
};

use crate::journal_place::journal_of;

/// The driver that stores the bytes of a file.
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
    /// One file, or several members if the contents of the file or the names beside it say so.
    ///
    /// A file whose superblock names the family or multi driver is opened with its members. Other files are opened with
    /// several members only in these cases:
    /// - The file is shorter than its superblock states, its name contains the number 0, and a file with the number 1
    ///   is beside it: a family.
    /// - The file is shorter than its superblock states, its name ends with `-s.h5`, and another member of the multi
    ///   driver is beside it: a multi file.
    /// - The file cannot be opened alone, and a configuration file of the subfiling driver is beside it: a stub of
    ///   subfiles.
    ///
    /// All members must be in the folder of the file, and their names must be formed from the file's name.
    #[default]
    Auto,
    /// One file that is read and written at offsets.
    Sec2,
    /// One file that is read into memory as a whole when it is opened.
    Core,
    /// One file that is read and written through one buffer, by one thread at a time.
    Stdio,
    /// One file that is mapped into memory. No program may change or truncate the file while it is mapped; see
    /// [`vfd::Mmap`](hyperslab_vfd::Mmap).
    Mmap,
    /// A connection to a [`vfd::StreamServer`](hyperslab_vfd::StreamServer). The path is `HOST:PORT`.
    Stream(StreamOptions),
    /// Members of equal size. The path is the one of the first member, or a pattern such as `name%05d.h5`.
    Family {
        /// Bytes of a member. With `None`, the size that the file states, or else the size of the first member.
        member_size: Option<u64>,
    },
    /// One file for metadata and one for raw data. The path is the one of the metadata file, or the common start of
    /// both names.
    Split {
        /// The end of the name of the metadata file, such as `-m.h5`.
        metadata: String,
        /// The end of the name of the raw data file, such as `-r.h5`.
        raw: String,
    },
    /// One file for each kind of data. The superblock names the files; if it names none, the names end with `-s.h5` to
    /// `-o.h5`, as libhdf5 creates them. The path is the one of the file with the superblock, or the common start of
    /// all names.
    Multi,
    /// Stripes over several files, for reading only. The path is the one of the stub file; the configuration file
    /// beside the stub names the subfiles.
    Subfiling,
}

impl FileDriver {
    /// Returns the split driver with the name ends that the tools of libhdf5 use: `-m.h5` and `-r.h5`.
    pub fn split() -> Self {
        Self::Split { metadata: "-m.h5".into(), raw: "-r.h5".into() }
    }
}

/// Returns the drivers by name, with default parameters.
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

/// The driver and options with which files are opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opener {
    pub(crate) driver: FileDriver,
    pub(crate) options: StoreOptions,
    pub(crate) log: Option<Arc<AccessLog>>,
}

impl Opener {
    /// Returns the access that the options demand.
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

    /// Returns the driver of the single file at `path`. The contents are not read.
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

    /// Opens the file alone. If that fails, opens the file with the members that its contents or the names beside it
    /// show.
    fn open_auto(&self, path: &Path) -> Result<OpenFile> {
        let file = match Sec2::open(path, self.access()) {
            Ok(file) => Arc::new(file),
            Err(error) => {
                let pattern = path.to_str().and_then(|text| FamilyPattern::parse(text).ok());
                let exists = pattern.is_some_and(|pattern| pattern.member(0).is_file());
                return if exists { self.open_family(path, None) } else { Err(cannot_open(error)) };
            }
        };
        // Damage alone does not start a search for members. A sound superblock extension that names members does.
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
            // The file names no members. The first error is returned unless files beside it hold the missing bytes.
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

/// Members that were found by their names, because the file does not name them.
enum GuessedMembers {
    Family(Family),
    Multi(Multi),
    Invalid(Error),
}

/// Returns the members that hold the missing bytes of the file at `path`, found by their names.
fn guessed_members(path: &Path, access: Access) -> Option<GuessedMembers> {
    if FamilyPattern::of_first_member(path).any(|pattern| pattern.member(1).is_file()) {
        return Some(
            family_beside(path, None, access).map_or_else(GuessedMembers::Invalid, GuessedMembers::Family),
        );
    }
    let base = path_without_end(path, "-s.h5")?;
    let members = MultiMember::multi(&base);
    if !members.iter().skip(1).any(|member| member.path.is_file()) {
        return None;
    }
    let beside = members.iter().try_for_each(|member| check_beside(path, &member.path));
    let opened = beside.and_then(|()| Multi::open(members, access).map_err(cannot_open));
    opened.ok().map(GuessedMembers::Multi)
}

/// Returns the driver of all members of the file at `path`. Returns `None` if the file is complete by itself.
pub(crate) fn members_of(path: &Path, access: Access) -> Result<Option<Arc<dyn Driver>>> {
    match stated_members(path) {
        Ok(Members::Family { member_size }) => {
            Ok(Some(Arc::new(family_beside(path, Some(member_size), access)?)))
        }
        Ok(Members::Multi(multi)) => Ok(Some(Arc::new(multi_beside(path, &multi.ranges, access)?))),
        Ok(Members::Incomplete) => match guessed_members(path, access) {
            None => Ok(None),
            Some(GuessedMembers::Invalid(error)) => Err(error),
            Some(GuessedMembers::Family(family)) => Ok(Some(Arc::new(family))),
            Some(GuessedMembers::Multi(multi)) => Ok(Some(Arc::new(multi))),
        },
        _ => Ok(None),
    }
}

/// Opens a family that the caller did not choose. All members must be in the folder of the first one.
fn family_beside(path: &Path, member_size: Option<u64>, access: Access) -> Result<Family> {
    let pattern = family_pattern(path)?;
    for number in 0.. {
        let member = pattern.member(number);
        if !member.is_file() {
            break;
        }
        check_beside(path, &member)?;
    }
    family(path, member_size, access)
}

fn multi_beside(path: &Path, ranges: &[MemberRange], access: Access) -> Result<Multi> {
    let members = multi_members(path, ranges, MemberNames::FormedFromFile)?;
    members.iter().try_for_each(|member| check_beside(path, &member.path))?;
    Multi::open(members, access).map_err(cannot_open)
}

fn family(path: &Path, member_size: Option<u64>, access: Access) -> Result<Family> {
    let pattern = family_pattern(path)?;
    let size = member_size.or_else(|| match stated_members(&pattern.member(0)) {
        Ok(Members::Family { member_size }) => Some(member_size),
        _ => None,
    });
    Family::open(pattern, access, size).map_err(cannot_open)
}

fn cannot_open(source: DriverError) -> Error {
    Error::Io { action: "cannot open the file".into(), source }
}

/// Checks that a member that exists is in the folder of the first member or below. Symbolic links are resolved first.
fn check_beside(first: &Path, member: &Path) -> Result<()> {
    let (Ok(first), Ok(member_there)) = (first.canonicalize(), member.canonicalize()) else { return Ok(()) };
    if first.parent().is_some_and(|folder| member_there.starts_with(folder)) {
        return Ok(());
    }
    Err(Error::Misuse(format!(
        "the member file `{}` is outside the folder of the first member; name the driver to open such files",
        member.display()
    )))
}

/// Returns the members that the superblock of the first member names.
fn stated_members(first: &Path) -> Result<Members> {
    Members::of(Arc::new(Sec2::open(first, Access::ReadOnly).map_err(cannot_open)?))
}

/// Returns the name pattern of a family. `path` is the pattern or the first member. If the name contains several
/// numbers 0, the last one for which a second member exists is the member number.
fn family_pattern(path: &Path) -> Result<FamilyPattern> {
    if !path.is_file()
        && let Some(text) = path.to_str().filter(|text| text.contains('%'))
    {
        return FamilyPattern::parse(text).map_err(cannot_open);
    }
    let mut last = None;
    for pattern in FamilyPattern::of_first_member(path) {
        if pattern.member(1).is_file() {
            return Ok(pattern);
        }
        last.get_or_insert(pattern);
    }
    last.ok_or_else(|| {
        Error::Misuse(format!(
            "the name of the first family member `{}` contains no number 0; open the pattern of the names, such as \
             `name%05d.h5`",
            path.display()
        ))
    })
}

/// Returns the path without `end`. Returns `None` if the name does not end so.
fn path_without_end(path: &Path, end: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    Some(path.with_file_name(name.strip_suffix(end).filter(|base| !base.is_empty())?))
}

/// The member names that are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MemberNames {
    /// Names that contain the name of the file. A file that the caller did not open as a multi file can then open only
    /// files that are named after it.
    FormedFromFile,
    /// The names of any files in the same folder.
    Any,
}

/// Returns the members of a multi file. The first member is at `path`.
fn multi_members(path: &Path, ranges: &[MemberRange], names: MemberNames) -> Result<Vec<MultiMember>> {
    let first = ranges.iter().find(|range| range.start == 0);
    let first = first.ok_or_else(|| Error::unsupported("a multi file without a member at offset 0"))?;
    let own = MemberName::parse(&first.name)?;
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        Error::unsupported(format!("the name of the multi file `{}`, which is not UTF-8", path.display()))
    })?;
    let base = own.base(name).ok_or_else(|| {
        Error::Misuse(format!(
            "the first member of a multi file is `{name}`, but its superblock names it `{}`; rename the file, or open \
             it with the split driver and the ends of the names",
            String::from_utf8_lossy(&first.name)
        ))
    })?;
    ranges
        .iter()
        .map(|range| {
            let name = MemberName::parse(&range.name)?;
            if names == MemberNames::FormedFromFile && (!name.has_base || base.is_empty()) {
                let name = range.name.escape_ascii();
                return Err(Error::Misuse(format!(
                    "the member file name `{name}` is not formed from the name of the file; name the multi driver to \
                     open such files"
                )));
            }
            let name = name.with(base);
            Ok(MultiMember { path: path.with_file_name(name), start: range.start, expected: range.length })
        })
        .collect()
}

/// The name of a member: text before and after the name of the whole file, which a member name may lack.
struct MemberName {
    before: String,
    has_base: bool,
    after: String,
}

impl MemberName {
    /// Parses a name with `%s` and `%%` as in C's `printf`. Returns an error for names that lead into another folder,
    /// because the names come from the file.
    fn parse(name: &[u8]) -> Result<Self> {
        let refused =
            |why| Error::unsupported(format!("the member file name `{}`, {why},", name.escape_ascii()));
        let text = std::str::from_utf8(name).map_err(|_| refused("which is not UTF-8"))?;
        let mut parts = [String::new(), String::new()];
        let mut has_base = false;
        let mut rest = text;
        while let Some((plain, after)) = rest.split_once('%') {
            let part = if has_base { &mut parts[1] } else { &mut parts[0] };
            part.push_str(plain);
            rest = match (after.strip_prefix('%'), after.strip_prefix('s')) {
                (Some(after), _) => {
                    part.push('%');
                    after
                }
                (_, Some(after)) if !has_base => {
                    has_base = true;
                    after
                }
                _ => return Err(refused("which has a `%` other than `%s` and `%%`")),
            };
        }
        let [mut before, mut after] = parts;
        if has_base { &mut after } else { &mut before }.push_str(rest);
        if text.contains(['/', '\\']) || (!has_base && matches!(before.as_str(), "" | "." | "..")) {
            return Err(refused("which leads out of the folder of the file"));
        }
        Ok(Self { before, has_base, after })
    }

    /// Returns the name of the whole file if `name` is the name of this member.
    fn base<'a>(&self, name: &'a str) -> Option<&'a str> {
        if !self.has_base {
            return (name == self.before).then_some("");
        }
        name.strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())
    }

    fn with(&self, base: &str) -> String {
        if self.has_base { format!("{}{base}{}", self.before, self.after) } else { self.before.clone() }
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

    #[test]
    fn members_are_named_after_the_first() {
        let range = |start, name: &str| MemberRange { start, length: 7, name: name.into() };
        let members = |path: &str, names: [&str; 2]| {
            let ranges = [range(0, names[0]), range(9, names[1])];
            multi_members(path.as_ref(), &ranges, MemberNames::Any).map(|members| {
                members.iter().map(|member| member.path.display().to_string()).collect::<Vec<_>>()
            })
        };
        assert_eq!(members("d/x-s.h5", ["%s-s.h5", "%s-r.h5"]).unwrap(), ["d/x-s.h5", "d/x-r.h5"]);
        assert_eq!(members("x%", ["%s%%", "raw.%s"]).unwrap(), ["x%", "raw.x"]);
        assert_eq!(members("d/meta", ["meta", "raw"]).unwrap(), ["d/meta", "d/raw"]);
        for names in
            [["%s-s", "../%s"], ["%s-s", "%s/../../x"], ["%s-s", "%d"], ["%s-s", "%s%s"], ["%s-s", ".."]]
        {
            let error = members("x-s", names).unwrap_err().to_string();
            assert!(error.contains(names[1]), "{error}");
        }
        for (path, names) in [("meta", ["meta", "%s-r"]), ("x-s", ["%s-s", "raw"]), ("-s", ["%s-s", "%s-r"])]
        {
            let ranges = [range(0, names[0]), range(9, names[1])];
            assert!(multi_members(path.as_ref(), &ranges, MemberNames::FormedFromFile).is_err(), "{path}");
            assert!(multi_members(path.as_ref(), &ranges, MemberNames::Any).is_ok(), "{path}");
        }
        let renamed = members("y", ["%s-s.h5", "%s-r.h5"]).unwrap_err().to_string();
        assert!(renamed.contains("`y`") && renamed.contains("`%s-s.h5`"), "{renamed}");
    }
}
