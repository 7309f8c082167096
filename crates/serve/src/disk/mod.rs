//! Files and folders of this machine that requests can name.

mod others;
mod roots;

use std::collections::HashMap;
use std::fs::Metadata;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use hyperslab::vfd::{Access, PathSideFile, Sec2};
use hyperslab::{ErrorKind, File, FileLocking, Limits, OpenOptions};

use crate::grove::{Entry, Failure, Library};
use others::Others;
pub(crate) use roots::Roots;

/// The largest number of files that stay open between requests.
const MAX_OPEN: usize = 8;

/// The time after which an open file is opened again, because files that it refers to may have
/// changed.
const MAX_AGE: Duration = Duration::from_secs(60);

/// The largest number of entries in a listing of a folder.
const MAX_ENTRIES: usize = 20_000;

/// The first bytes of an HDF5 file, or of its superblock after a user block.
const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

/// Files and folders of this machine that requests can name.
///
/// Names are paths relative to the only folder, or begin with the name of one of several files and
/// folders. A file whose real path is outside is not found, and links inside of files do not lead
/// outside: external links, external raw data and virtual datasets. Files are opened without a
/// lock, so that a server does not hinder writers.
#[derive(Debug)]
pub struct Disk {
    roots: Arc<Roots>,
    options: OpenOptions,
    /// If true, files are opened for each request, as a reader beside a SWMR writer.
    follow: bool,
    open: Mutex<Open>,
    /// Files that the program opened, by their names.
    opened: Vec<(String, File)>,
    /// The bytes of memory for decoded chunks of one file.
    share: u64,
}

/// The files that stay open between requests.
#[derive(Debug, Default)]
struct Open {
    files: HashMap<PathBuf, Held>,
    /// The number of files that have been opened.
    count: u64,
}

/// The state of a file in which all equal requests have equal answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Version {
    /// A file that stays open between requests, by its number.
    Held(u64),
    /// A file that the program opened, by its place among these.
    Opened(usize),
}

/// A file that stays open between requests.
#[derive(Debug)]
struct Held {
    file: File,
    number: u64,
    state: State,
    opened: Instant,
    used: Instant,
}

/// The state of a file that changes with its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    size: u64,
    modified: Option<SystemTime>,
}

impl State {
    fn of(metadata: &Metadata) -> Self {
        Self { size: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl Disk {
    /// Creates the library of files and folders. `cache_bytes` bounds the decoded chunks and the
    /// recent answers in memory.
    ///
    /// # Errors
    /// Returns an error if a path does not exist.
    pub fn new(paths: &[PathBuf], limits: Limits, cache_bytes: u64, follow: bool) -> std::io::Result<Self> {
        // One share for each open file, and one for answers.
        let share = cache_bytes / (hyperslab_exact::to_u64(MAX_OPEN) + 1);
        let options = OpenOptions::new().limits(limits).locking(FileLocking::Off).swmr_read(follow);
        let options = options.chunk_cache(share).cache_whole_chunks(true);
        let roots = Arc::new(Roots::new(paths)?);
        Ok(Self { roots, options, follow, open: Mutex::default(), opened: Vec::new(), share })
    }

    /// Adds an open file, such as a remote one. It is not opened again if it changes, and its bytes
    /// are not served. The first file of a name counts.
    #[must_use]
    pub fn with_file(mut self, name: impl Into<String>, file: File) -> Self {
        self.opened.push((name.into(), file));
        self
    }

    /// Returns the bytes of memory for recent answers.
    pub(crate) fn share(&self) -> u64 {
        self.share
    }

    /// Returns the name of the only file, if the library is one file.
    pub fn only_file(&self) -> Option<&str> {
        match self.opened.as_slice() {
            [] => self.roots.only_file(),
            [(name, _)] if self.roots.is_empty() => Some(name),
            _ => None,
        }
    }

    /// Opens a file for its bytes, if it is an HDF5 file that requests can name.
    pub(crate) fn open_bytes(&self, name: &str) -> Result<std::fs::File, Failure> {
        let path = self.find(name)?;
        let mut file = std::fs::File::open(&path).map_err(|error| io_failure(&error))?;
        if !is_hdf5(&mut file).map_err(|error| io_failure(&error))? {
            return Err(Failure::forbidden("only HDF5 files are served"));
        }
        Ok(file)
    }

    /// Returns the real path of the regular file that a request names.
    fn find(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.roots.resolve(name).ok_or_else(no_file)?;
        if path.is_file() { Ok(path) } else { Err(no_file()) }
    }

    fn open_path(&self, path: &Path) -> Result<File, Failure> {
        let failed = |error: hyperslab::Error| match error.io_error() {
            Some(error) => io_failure(error),
            None if error.kind() == ErrorKind::Locked => {
                Failure::refused("the file is open for writing; a server with --follow reads it")
            }
            None => self.without_paths(error.into()),
        };
        let driver = Sec2::open(path, Access::ReadOnly);
        let driver = driver.map_err(|source| hyperslab::Error::Io { action: "open".into(), source });
        let others = Others::of(path, &self.roots);
        let journal = PathSideFile::beside(path, ".hjournal");
        let options = self.options.clone().journal(Arc::new(journal));
        let opened = driver.and_then(|driver| options.open_driver_with(Arc::new(driver), Arc::new(others)));
        opened.map_err(failed)
    }

    /// Returns a failure without the paths of this machine.
    fn without_paths(&self, failure: Failure) -> Failure {
        Failure { message: self.roots.without_paths(&failure.message), ..failure }
    }

    fn open_files(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self, path: &Path, state: State) -> Option<(File, Version)> {
        let files = &mut self.open_files().files;
        let held = files.get_mut(path)?;
        if held.state != state || held.opened.elapsed() > MAX_AGE {
            files.remove(path);
            return None;
        }
        held.used = Instant::now();
        Some((held.file.clone(), Version::Held(held.number)))
    }

    fn hold(&self, path: PathBuf, file: File, state: State) -> Version {
        let mut open = self.open_files();
        if open.files.len() >= MAX_OPEN && !open.files.contains_key(&path) {
            let oldest = open.files.iter().min_by_key(|(_, held)| held.used).map(|(path, _)| path.clone());
            if let Some(oldest) = oldest {
                open.files.remove(&oldest);
            }
        }
        let now = Instant::now();
        open.count += 1;
        let number = open.count;
        open.files.insert(path, Held { file, number, state, opened: now, used: now });
        Version::Held(number)
    }

    /// Opens the file that a request names. Returns its version, if equal requests for this version
    /// have equal answers.
    pub(crate) fn open_version(&self, name: Option<&str>) -> Result<(File, Option<Version>), Failure> {
        let name = name.or_else(|| self.only_file());
        let name = name.ok_or_else(|| Failure::refused("the parameter `file` is missing"))?;
        if let Some(place) = self.opened.iter().position(|(own, _)| own == name)
            && let Some((_, file)) = self.opened.get(place)
        {
            return Ok((file.clone(), Some(Version::Opened(place))));
        }
        let path = self.find(name)?;
        if self.follow {
            return Ok((self.open_path(&path)?, None));
        }
        let state = State::of(&path.metadata().map_err(|error| io_failure(&error))?);
        if let Some((file, version)) = self.held(&path, state) {
            return Ok((file, Some(version)));
        }
        let file = self.open_path(&path)?;
        let version = self.hold(path, file.clone(), state);
        Ok((file, Some(version)))
    }

    fn entry(&self, folder: &str, path: &Path) -> Option<Entry> {
        let own = path.file_name()?.to_str()?;
        if own.starts_with('.') {
            return None;
        }
        let name = if folder.is_empty() { own.to_owned() } else { format!("{folder}/{own}") };
        let real = self.roots.resolve(&name)?;
        let metadata = real.metadata().ok()?;
        let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
        let modified = metadata.modified().ok().and_then(since).map(|time| time.as_secs());
        if metadata.is_dir() {
            return Some(Entry { name, size: None, modified });
        }
        let is_shown = metadata.is_file() && is_hdf5(&mut std::fs::File::open(&real).ok()?).ok()?;
        is_shown.then_some(Entry { name, size: Some(metadata.len()), modified })
    }
}

impl Library for Disk {
    fn open(&self, name: Option<&str>) -> Result<File, Failure> {
        self.open_version(name).map(|(file, _)| file)
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, Failure> {
        let folder = folder.trim_matches('/');
        let paths: Vec<PathBuf> = if let Some(names) = self.roots.names().filter(|_| folder.is_empty()) {
            names.map(PathBuf::from).collect()
        } else {
            let path = self.roots.resolve(folder).filter(|path| path.is_dir());
            let path = path.ok_or_else(|| Failure::not_found("Folder not found!"))?;
            let entries = path.read_dir().map_err(|error| io_failure(&error))?;
            entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).take(MAX_ENTRIES).collect()
        };
        let mut entries: Vec<Entry> = paths.iter().filter_map(|path| self.entry(folder, path)).collect();
        if folder.is_empty() {
            entries.extend(self.opened.iter().map(|(name, file)| Entry {
                name: name.clone(),
                size: Some(file.info().length),
                modified: None,
            }));
        }
        entries.sort_by(|one, two| (one.size.is_some(), &one.name).cmp(&(two.size.is_some(), &two.name)));
        Ok(entries)
    }
}

fn no_file() -> Failure {
    Failure::not_found("File not found!")
}

/// Returns the failure of an access to a file, without its path.
fn io_failure(error: &std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::NotFound => no_file(),
        std::io::ErrorKind::PermissionDenied => Failure::forbidden("Cannot read file: Permission denied!"),
        _ => Failure::internal(format!("the file cannot be read: {error}")),
    }
}

/// Returns true if a file has the signature of HDF5 at its start or after a user block.
fn is_hdf5(file: &mut std::fs::File) -> std::io::Result<bool> {
    use std::io::{Seek as _, SeekFrom};
    let length = file.metadata()?.len();
    let mut offset = 0_u64;
    while offset.checked_add(8).is_some_and(|end| end <= length) {
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = [0; 8];
        file.read_exact(&mut bytes)?;
        if bytes == SIGNATURE {
            return Ok(true);
        }
        offset = if offset == 0 { 512 } else { offset * 2 };
    }
    Ok(false)
}
