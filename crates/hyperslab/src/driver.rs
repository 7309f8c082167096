//! Which driver a file is opened with, and which files belong to it.

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

/// How the bytes of a file are reached.
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
    /// As one file; or as the members of a family, split or multi file, if the file at the path says that it is the
    /// first of them. What it does not say is taken for certain only if its name and its length fit: a file shorter
    /// than its superblock says, number 0 in its name, and a file with number 1 beside it, are a family; one that cannot be
    /// opened alone, with a configuration file of subfiles beside it, is the stub of these. No files are opened but those
    /// beside it whose names are made of its own.
    #[default]
    Auto,
    /// As one file, read at offsets.
    Sec2,
    /// As one file, read whole into memory when it is opened.
    Core,
    /// As one file, read through one buffer by one thread at a time.
    Stdio,
    /// As one file, mapped into memory. Only for files that nobody changes or cuts meanwhile; see
    /// [`vfd::Mmap`](hyperslab_vfd::Mmap).
    Mmap,
    /// The path is `HOST:PORT` of a [`vfd::StreamServer`](hyperslab_vfd::StreamServer).
    Stream(StreamOptions),
    /// Members of one size. The path is that of the first one, or a pattern such as `name%05d.h5`.
    Family {
        /// Bytes of a member; what the file says, else the size of the first member, if it is not given.
        member_size: Option<u64>,
    },
    /// One file for metadata and one for raw data. The path is that of the first one, or what both begin with.
    Split {
        /// What is added for the file with metadata, such as `-m.h5`.
        metadata: String,
        /// What is added for the file with raw data, such as `-r.h5`.
        raw: String,
    },
    /// Files for different kinds of data, as the file says; else those that libhdf5 makes, `-s.h5` to `-o.h5`. The
    /// path is that of the file with the superblock, or what all begin with.
    Multi,
    /// Stripes over several files, as the configuration file beside the stub at the path says. Only for reading.
    Subfiling,
}

impl FileDriver {
    /// The split driver with the extensions that libhdf5's tools use.
    pub fn split() -> Self {
        Self::Split { metadata: "-m.h5".into(), raw: "-r.h5".into() }
    }
}

/// The names of the drivers, with what they are by default.
fn named() -> [(&'static str, FileDriver); 10] {
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

/// The driver's name, without its parameters.
impl fmt::Display for FileDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let same = |other: &FileDriver| std::mem::discriminant(other) == std::mem::discriminant(self);
        f.write_str(named().iter().find(|(_, driver)| same(driver)).map_or("", |(name, _)| name))
    }
}

/// By name, with default parameters.
impl FromStr for FileDriver {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = named().into_iter().find(|(name, _)| *name == text);
        found.map(|(_, driver)| driver).ok_or_else(|| {
            let names = named().map(|(name, _)| name).join(", ");
            Error::Misuse(format!("no driver is called `{text}`; there are {names}"))
        })
    }
}

/// Opens files with one driver.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opener {
    pub(crate) driver: FileDriver,
    pub(crate) options: StoreOptions,
    pub(crate) log: Option<Arc<AccessLog>>,
}

impl Opener {
    /// Files are opened for writing where that is asked for.
    fn access(&self) -> Access {
        if self.options.write.is_some() { Access::ReadWrite } else { Access::ReadOnly }
    }

    pub(crate) fn open(&self, path: &Path) -> Result<OpenFile> {
        let has_bytes_of_its_own = !matches!(self.driver, FileDriver::Core | FileDriver::Stream(_));
        if self.options.journal.is_none() && has_bytes_of_its_own {
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
                let server = path.to_str().ok_or_else(|| Error::Misuse("an address is not UTF-8".into()))?;
                self.open_with(Stream::open(server, self.access(), *options))
            }
            FileDriver::Family { member_size } => self.open_family(path, *member_size),
            FileDriver::Split { metadata, raw } => {
                let base = without(path, metadata).unwrap_or_else(|| path.to_owned());
                let mut members = MultiMember::split(&base, metadata, raw);
                if let Ok(Members::Multi(multi)) = said_by(&members[0].path)
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
                    "there is no configuration file `{}.subfile_NUMBER.config` for this stub",
                    path.display()
                ))),
            },
            FileDriver::Multi => {
                let base = without(path, "-s.h5").unwrap_or_else(|| path.to_owned());
                let [superblock, ..] = MultiMember::multi(&base);
                let first = if path.is_file() { path } else { &superblock.path };
                match said_by(first)? {
                    Members::Multi(multi) => self.open_with(Multi::open(
                        multi_members(first, &multi.ranges, Names::Any)?,
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

    /// The file itself, whatever is in it.
    pub(crate) fn plain(&self, path: &Path) -> Result<Arc<dyn Driver>> {
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
        Err(Error::unsupported("mapping files into memory (the feature `mmap`, on Unix)"))
    }

    /// As one file first. If that is not all, as what the file says, or seems to be.
    fn open_auto(&self, path: &Path) -> Result<OpenFile> {
        let file = match Sec2::open(path, self.access()) {
            Ok(file) => Arc::new(file),
            Err(error) => {
                let pattern = path.to_str().and_then(|text| FamilyPattern::parse(text).ok());
                let exists = pattern.is_some_and(|pattern| pattern.member(0).is_file());
                return if exists { self.open_family(path, None) } else { Err(cannot_open(error)) };
            }
        };
        // Damage is no reason to look for other files; what a sound part says is.
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
            // Nothing says so: the error stands unless the files beside it make up for what is missing.
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
            Found::Family(family) => Some(self.open_with(Ok(family))),
            Found::Multi(multi) => Some(self.open_with(Ok(multi))).filter(Result::is_ok),
            Found::Wrong(error) => Some(Err(error)),
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

/// Members of which the file itself does not say that there are any.
enum Found {
    Family(Family),
    Multi(Multi),
    Wrong(Error),
}

/// The members that make up for what is missing in the file at `path`, by their names.
fn guessed_members(path: &Path, access: Access) -> Option<Found> {
    if FamilyPattern::of_first_member(path).any(|pattern| pattern.member(1).is_file()) {
        return Some(family_beside(path, None, access).map_or_else(Found::Wrong, Found::Family));
    }
    let base = without(path, "-s.h5")?;
    let members = MultiMember::multi(&base);
    if !members.iter().skip(1).any(|member| member.path.is_file()) {
        return None;
    }
    let beside = members.iter().try_for_each(|member| check_beside(path, &member.path));
    let opened = beside.and_then(|()| Multi::open(members, access).map_err(cannot_open));
    opened.ok().map(Found::Multi)
}

/// All members of the file at `path`, if it says that it is the first of several, or is less than it says and others make
/// up for that.
pub(crate) fn members_of(path: &Path, access: Access) -> Result<Option<Arc<dyn Driver>>> {
    match said_by(path) {
        Ok(Members::Family { member_size }) => {
            Ok(Some(Arc::new(family_beside(path, Some(member_size), access)?)))
        }
        Ok(Members::Multi(multi)) => Ok(Some(Arc::new(multi_beside(path, &multi.ranges, access)?))),
        Ok(Members::Incomplete) => match guessed_members(path, access) {
            None => Ok(None),
            Some(Found::Wrong(error)) => Err(error),
            Some(Found::Family(family)) => Ok(Some(Arc::new(family))),
            Some(Found::Multi(multi)) => Ok(Some(Arc::new(multi))),
        },
        _ => Ok(None),
    }
}

/// Members that nobody but the file has asked for lie in its folder.
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
    let members = multi_members(path, ranges, Names::OfTheWhole)?;
    members.iter().try_for_each(|member| check_beside(path, &member.path))?;
    Multi::open(members, access).map_err(cannot_open)
}

fn family(path: &Path, member_size: Option<u64>, access: Access) -> Result<Family> {
    let pattern = family_pattern(path)?;
    let size = member_size.or_else(|| match said_by(&pattern.member(0)) {
        Ok(Members::Family { member_size }) => Some(member_size),
        _ => None,
    });
    Family::open(pattern, access, size).map_err(cannot_open)
}

fn cannot_open(source: DriverError) -> Error {
    Error::Io { action: "cannot open the file".into(), source }
}

/// That a member, if it is there, lies in the folder of the first one or below, and not only a symbolic link to it.
fn check_beside(first: &Path, member: &Path) -> Result<()> {
    let (Ok(first), Ok(member_there)) = (first.canonicalize(), member.canonicalize()) else { return Ok(()) };
    if first.parent().is_some_and(|folder| member_there.starts_with(folder)) {
        return Ok(());
    }
    Err(Error::Misuse(format!(
        "the member file `{}` lies outside of the folder of the first one; choose the driver to open such files",
        member.display()
    )))
}

/// What the first member says of the others.
fn said_by(first: &Path) -> Result<Members> {
    Members::of(Arc::new(Sec2::open(first, Access::ReadOnly).map_err(cannot_open)?))
}

/// The names of a family, by the pattern itself or by the first member. Of several numbers 0 in a name, it is the
/// last one under which there is a second member.
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
            "`{}` is the first file of a family, but there is no number 0 in its name; open the pattern of the names, \
             such as `name%05d.h5`",
            path.display()
        ))
    })
}

/// The path without what its end is to be.
fn without(path: &Path, end: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    Some(path.with_file_name(name.strip_suffix(end).filter(|base| !base.is_empty())?))
}

/// Which names of members are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Those that hold the name of the whole, so that a file which nobody called a multi file opens no others than
    /// those named after it.
    OfTheWhole,
    /// Those of any file beside.
    Any,
}

/// The member files of the multi driver whose first one is at `path`.
fn multi_members(path: &Path, ranges: &[MemberRange], names: Names) -> Result<Vec<MultiMember>> {
    let first = ranges.iter().find(|range| range.start == 0);
    let first = first.ok_or_else(|| Error::unsupported("a multi file whose superblock is not at 0"))?;
    let own = MemberName::of(&first.name)?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let base = own.base(name).ok_or_else(|| {
        Error::Misuse(format!(
            "`{name}` is the first file of several, but its name is not `{}` as it says itself; rename it, or open it \
             with the split driver and the ends of the names",
            String::from_utf8_lossy(&first.name)
        ))
    })?;
    ranges
        .iter()
        .map(|range| {
            let name = MemberName::of(&range.name)?;
            if names == Names::OfTheWhole && (!name.place || base.is_empty()) {
                let name = range.name.escape_ascii();
                return Err(Error::Misuse(format!(
                    "the member file name `{name}` is not made of the file's own name; choose the multi driver to open \
                     such files"
                )));
            }
            let name = name.with(base);
            Ok(MultiMember { path: path.with_file_name(name), start: range.start, expected: range.length })
        })
        .collect()
}

/// The name of a member: text around the place for the name of the whole, which it may be without.
struct MemberName {
    before: String,
    place: bool,
    after: String,
}

impl MemberName {
    /// Takes `%s` and `%%` as C's `printf` does. Names that lead into another folder are refused: they come from the
    /// file.
    fn of(name: &[u8]) -> Result<Self> {
        let refused =
            |why| Error::unsupported(format!("the member file name `{}`, {why},", name.escape_ascii()));
        let text = std::str::from_utf8(name).map_err(|_| refused("which is not UTF-8"))?;
        let mut parts = [String::new(), String::new()];
        let mut place = false;
        let mut rest = text;
        while let Some((plain, behind)) = rest.split_once('%') {
            let part = if place { &mut parts[1] } else { &mut parts[0] };
            part.push_str(plain);
            rest = match (behind.strip_prefix('%'), behind.strip_prefix('s')) {
                (Some(behind), _) => {
                    part.push('%');
                    behind
                }
                (_, Some(behind)) if !place => {
                    place = true;
                    behind
                }
                _ => return Err(refused("whose `%` has no meaning here")),
            };
        }
        let [mut before, mut after] = parts;
        if place { &mut after } else { &mut before }.push_str(rest);
        if text.contains(['/', '\\']) || (!place && matches!(before.as_str(), "" | "." | "..")) {
            return Err(refused("which leads out of the file's folder"));
        }
        Ok(Self { before, place, after })
    }

    /// The name of the whole, if `name` is that of this member.
    fn base<'a>(&self, name: &'a str) -> Option<&'a str> {
        if !self.place {
            return (name == self.before).then_some("");
        }
        name.strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())
    }

    fn with(&self, base: &str) -> String {
        if self.place { format!("{}{base}{}", self.before, self.after) } else { self.before.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_have_names() {
        for (name, driver) in named() {
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
            multi_members(path.as_ref(), &ranges, Names::Any).map(|members| {
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
            assert!(multi_members(path.as_ref(), &ranges, Names::OfTheWhole).is_err(), "{path}");
            assert!(multi_members(path.as_ref(), &ranges, Names::Any).is_ok(), "{path}");
        }
        let renamed = members("y", ["%s-s.h5", "%s-r.h5"]).unwrap_err().to_string();
        assert!(renamed.contains("`y`") && renamed.contains("`%s-s.h5`"), "{renamed}");
    }
}
