//! The other files that links and datasets lead to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use hyperslab_engine::ops::datasets::VirtualOptions;
use hyperslab_engine::ops::{FileResolver, OpenFile};
use hyperslab_engine::store::{FileLocking, StoreOptions};
use hyperslab_engine::{Error, LibverBounds, Result};
use hyperslab_vfd::{Access, Driver, Sec2};

use crate::journal_place::journal_beside;
use crate::open_options::open_path;

/// Files that lead on to further files, at most.
const MAX_DEPTH: usize = 16;

/// Which other files the links and datasets of a file may lead to.
///
/// Relative names are looked for beside the file with the link, then an absolute name as it is, then its last
/// part beside the file. Relative names of files with raw data are looked for beside the file too, or in the
/// folder that [`OpenOptions::raw_data_folder`](crate::OpenOptions::raw_data_folder) names; absolute ones
/// are taken as they are.
///
/// A name is inside a folder if the file is that it leads to, through `..` and symbolic links. Pipes and devices are never
/// opened. Nobody is to exchange folders for symbolic links meanwhile: between the look and the opening there is time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ExternalFiles {
    /// None.
    Refuse,
    /// Files in the folder of the file with the link, or in folders below it.
    #[default]
    Beside,
    /// All.
    Anywhere,
}

/// Opens files by their place beside another one.
#[derive(Debug)]
pub(crate) struct Beside {
    folder: PathBuf,
    raw_folder: Option<PathBuf>,
    virtual_options: VirtualOptions,
    policy: ExternalFiles,
    options: StoreOptions,
    /// For files that are changed.
    write: Option<LibverBounds>,
    path: PathBuf,
    /// Where the file really lies, and its folder.
    place: OnceLock<Option<PathBuf>>,
    real_folder: OnceLock<Option<PathBuf>>,
    tree: Arc<Tree>,
    depth: usize,
}

/// The files that are open since links of one file lead to them. They must not be in each other's way.
#[derive(Debug, Default)]
struct Tree {
    root: PathBuf,
    real_root: OnceLock<Option<PathBuf>>,
    open: Mutex<Vec<(PathBuf, Weak<OpenFile>)>>,
    /// Where folders really lie: many files are in few of them.
    folders: Mutex<HashMap<PathBuf, PathBuf>>,
}

/// Folders of which it is known where they really lie.
const FOLDERS: usize = 64;

impl Tree {
    /// Where a file really lies, if it is there.
    fn place(&self, path: &Path) -> Option<PathBuf> {
        let (folder, name) = (path.parent().filter(|folder| folder.is_absolute()), path.file_name());
        let (Some(folder), Some(name)) = (folder, name) else { return path.canonicalize().ok() };
        if path.symlink_metadata().ok()?.is_symlink() {
            return path.canonicalize().ok();
        }
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(real) = folders.get(folder) {
            return Some(real.join(name));
        }
        let real = folder.canonicalize().ok()?;
        if folders.len() >= FOLDERS {
            folders.clear();
        }
        let place = real.join(name);
        folders.insert(folder.to_owned(), real);
        Some(place)
    }

    fn open(&self) -> MutexGuard<'_, Vec<(PathBuf, Weak<OpenFile>)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the file at that path is to be locked when it is opened: it is not if it is open for writing already.
    /// Those who read it give their locks back if it is to be written.
    fn make_way(&self, path: &Path, write: bool) -> Result<bool> {
        if self.real_root.get_or_init(|| self.place(&self.root)).as_deref() == Some(path) {
            return Ok(false);
        }
        let mut open = self.open();
        open.retain(|(_, file)| file.strong_count() > 0);
        let same: Vec<Arc<OpenFile>> =
            open.iter().filter(|(other, _)| other == path).filter_map(|(_, file)| file.upgrade()).collect();
        drop(open);
        let is_written = |file: &Arc<OpenFile>| {
            let store = &file.container.store;
            store.is_writable() && !store.is_closed()
        };
        if same.iter().any(is_written) {
            return Ok(false);
        }
        if write {
            same.iter().try_for_each(|file| file.container.store.unlock())?;
        }
        Ok(true)
    }
}

impl Beside {
    /// For links of the file at `path`.
    pub(crate) fn new(path: &Path, policy: ExternalFiles, options: StoreOptions) -> Self {
        let tree = Tree { root: path.to_owned(), ..Tree::default() };
        Self::at(path, policy, options, Arc::new(tree))
    }

    fn at(path: &Path, policy: ExternalFiles, options: StoreOptions, tree: Arc<Tree>) -> Self {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Self {
            folder: folder.unwrap_or(Path::new(".")).to_owned(),
            raw_folder: None,
            virtual_options: VirtualOptions::default(),
            policy,
            // Other files are read, whatever is done with this one, until somebody writes to them.
            write: options.write,
            // Each file has a journal of its own.
            options: StoreOptions { write: None, journal: None, ..options },
            path: path.to_owned(),
            place: OnceLock::new(),
            real_folder: OnceLock::new(),
            tree,
            depth: 0,
        }
    }

    /// For links of a file that this one leads to.
    fn further(&self, path: &Path) -> Self {
        Self {
            raw_folder: self.raw_folder.clone(),
            virtual_options: self.virtual_options,
            write: None,
            depth: self.depth.saturating_add(1),
            ..Self::at(path, self.policy, self.options.clone(), Arc::clone(&self.tree))
        }
    }

    /// Where the file itself really lies.
    fn place(&self) -> Option<&Path> {
        self.place.get_or_init(|| self.tree.place(&self.path)).as_deref()
    }

    /// With another folder for files of raw data.
    pub(crate) fn with_raw_folder(mut self, folder: Option<PathBuf>) -> Self {
        self.raw_folder = folder;
        self
    }

    /// With another view of virtual datasets.
    pub(crate) fn with_virtual_options(mut self, options: VirtualOptions) -> Self {
        self.virtual_options = options;
        self
    }

    /// Where the file may be, best guess first.
    fn candidates(&self, name: &Path) -> Vec<PathBuf> {
        let mut candidates = vec![self.folder.join(name)];
        if let Some(last) = name.file_name().filter(|_| name.is_absolute()) {
            candidates.push(self.folder.join(last));
        }
        candidates.retain(|path| path.exists());
        candidates
    }

    /// Returns whether what really lies at `place` may be opened.
    fn is_allowed(&self, place: Option<&Path>, folder: Option<&Path>) -> bool {
        match self.policy {
            ExternalFiles::Refuse => false,
            ExternalFiles::Anywhere => true,
            ExternalFiles::Beside => match (place, folder) {
                (Some(place), Some(folder)) => place.starts_with(folder),
                _ => false,
            },
        }
    }

    /// The name as a path, if files may be opened at all.
    fn name<'a>(&self, name: &'a [u8]) -> Result<&'a str> {
        if self.policy == ExternalFiles::Refuse {
            return Err(Error::Misuse("other files are not opened (`ExternalFiles::Refuse`)".into()));
        }
        std::str::from_utf8(name).map_err(|_| {
            Error::unsupported(format!("the file name `{}`, which is not UTF-8", name.escape_ascii()))
        })
    }
}

fn outside(name: &str) -> Error {
    Error::Misuse(format!(
        "`{name}` lies outside of the folder of the file that names it; open the file with \
         `ExternalFiles::Anywhere` to follow such names"
    ))
}

impl Beside {
    fn open_for(&self, name: &[u8], write: Option<LibverBounds>) -> Result<Arc<OpenFile>> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::Misuse(format!("more than {MAX_DEPTH} files lead on to each other")));
        }
        let name = self.name(name)?;
        let candidates = self.candidates(Path::new(name));
        if candidates.is_empty() {
            return Err(Error::NotFound { what: "file", name: name.to_owned() });
        }
        let folder = self.real_folder.get_or_init(|| self.folder.canonicalize().ok()).as_deref();
        let mut places = candidates.iter().map(|path| (path, self.tree.place(path)));
        let allowed = places.find(|(_, place)| self.is_allowed(place.as_deref(), folder));
        let (path, place) = allowed.ok_or_else(|| outside(name))?;
        let mut options = StoreOptions { write, ..self.options.clone() };
        let resolver = Self { write, ..self.further(path) };
        let place = place.unwrap_or_else(|| path.clone());
        if !self.tree.make_way(&place, write.is_some())? {
            options.locking = FileLocking::Off;
        }
        let file = open_path(path, options)?.with_virtual_options(self.virtual_options);
        let file = Arc::new(file.with_resolver(Arc::new(resolver)));
        self.tree.open().push((place, Arc::downgrade(&file)));
        Ok(file)
    }
}

impl FileResolver for Beside {
    fn open(&self, name: &[u8]) -> Result<Arc<OpenFile>> {
        self.open_for(name, None)
    }

    fn open_to_write(&self, name: &[u8]) -> Result<Arc<OpenFile>> {
        if self.write.is_none() {
            return Err(Error::Misuse(format!("`{}` is open for reading only", self.path.display())));
        }
        self.open_for(name, self.write)
    }

    fn is_own(&self, name: &[u8]) -> bool {
        let Ok(name) = std::str::from_utf8(name) else { return false };
        let named = self.candidates(Path::new(name)).first().and_then(|path| self.tree.place(path));
        named.is_some() && named.as_deref() == self.place()
    }

    fn open_raw(&self, name: &[u8]) -> Result<Arc<dyn Driver>> {
        let name = self.name(name)?;
        let path = self.raw_path(name);
        if !path.exists() {
            return Err(Error::NotFound { what: "file", name: path.display().to_string() });
        }
        self.open_raw_at(name, &path, Access::ReadOnly)
    }

    fn open_raw_to_write(&self, name: &[u8]) -> Result<Arc<dyn Driver>> {
        let name = self.name(name)?;
        let path = self.raw_path(name);
        if !path.exists() {
            // Only where the file may be is it made.
            let folder = path.parent().unwrap_or(Path::new("."));
            if !self.is_raw_allowed(folder) {
                return Err(outside(name));
            }
            let made = Sec2::open(&path, Access::CreateNew);
            let made =
                made.map_err(|source| Error::Io { action: format!("cannot make `{name}`"), source })?;
            return Ok(Arc::new(made));
        }
        self.open_raw_at(name, &path, Access::ReadWrite)
    }
}

impl Beside {
    fn raw_folder(&self) -> &Path {
        self.raw_folder.as_deref().unwrap_or(&self.folder)
    }

    fn is_raw_allowed(&self, path: &Path) -> bool {
        let (path, folder) = (path.canonicalize().ok(), self.raw_folder().canonicalize().ok());
        self.is_allowed(path.as_deref(), folder.as_deref())
    }

    /// Returns whether that is the file with the dataset, or its journal, neither of which is raw data to be overwritten.
    fn is_part_of_file(&self, path: &Path) -> bool {
        let (Ok(path), Some(own)) = (path.canonicalize(), self.place()) else { return false };
        path == own || path == journal_beside(own).path()
    }

    fn raw_path(&self, name: &str) -> PathBuf {
        self.raw_folder().join(name)
    }

    fn open_raw_at(&self, name: &str, path: &Path, access: Access) -> Result<Arc<dyn Driver>> {
        if !self.is_raw_allowed(path) {
            return Err(outside(name));
        }
        if access != Access::ReadOnly && self.is_part_of_file(path) {
            return Err(Error::Misuse(format!("`{name}` is the file itself, or its journal")));
        }
        let driver = Sec2::open(path, access)
            .map_err(|source| Error::Io { action: format!("cannot open `{name}`"), source })?;
        Ok(Arc::new(driver))
    }
}
