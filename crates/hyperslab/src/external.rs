//! The other files that links and datasets lead to.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use hyperslab_engine::data::virtual_::VirtualOptions;
use hyperslab_engine::ops::{FileResolver, OpenFile};
use hyperslab_engine::store::{FileLocking, StoreOptions};
use hyperslab_engine::{Error, LibverBounds, Result};
use hyperslab_vfd::{Access, Driver, Sec2};

use crate::file::open_path;

/// Files that lead on to further files, at most.
const MAX_DEPTH: usize = 16;

/// Which other files the links and datasets of a file may lead to.
///
/// Relative names are looked for beside the file with the link, then an absolute name as it is, then its last
/// part beside the file. Relative names of files with raw data are looked for beside the file too, or in the
/// folder that [`OpenOptions::raw_data_folder`](crate::OpenOptions::raw_data_folder) names; absolute ones
/// are taken as they are.
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
    tree: Arc<Tree>,
    depth: usize,
}

/// The files that are open since links of one file lead to them. They must not be in each other's way.
#[derive(Debug, Default)]
struct Tree {
    root: Option<PathBuf>,
    open: Mutex<Vec<(PathBuf, Weak<OpenFile>)>>,
}

impl Tree {
    fn open(&self) -> MutexGuard<'_, Vec<(PathBuf, Weak<OpenFile>)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the file at that path is to be locked when it is opened: it is not if it is open for writing already.
    /// Those who read it give their locks back if it is to be written.
    fn make_way(&self, path: &Path, write: bool) -> Result<bool> {
        if self.root.as_deref() == Some(path) {
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
    /// For links of the file at `path`, which was reached over `depth` files.
    pub(crate) fn new(path: &Path, policy: ExternalFiles, options: StoreOptions, depth: usize) -> Self {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        // Other files are read, whatever is done with this one, until somebody writes to them.
        let write = options.write;
        // Each file has a journal of its own.
        let options = StoreOptions { write: None, journal: None, ..options };
        let (virtual_options, path) = (VirtualOptions::default(), path.to_owned());
        let tree = Arc::new(Tree { root: path.canonicalize().ok(), open: Mutex::default() });
        Self { folder, raw_folder: None, virtual_options, policy, options, write, path, tree, depth }
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

    fn is_allowed(&self, path: &Path, folder: &Path) -> bool {
        match self.policy {
            ExternalFiles::Refuse => false,
            ExternalFiles::Anywhere => true,
            ExternalFiles::Beside => match (path.canonicalize(), folder.canonicalize()) {
                (Ok(path), Ok(folder)) => path.starts_with(folder),
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
        let allowed = candidates.iter().find(|path| self.is_allowed(path, &self.folder));
        let path = allowed.ok_or_else(|| outside(name))?;
        let mut options = StoreOptions { write, ..self.options.clone() };
        let mut resolver = Self::new(path, self.policy, options.clone(), self.depth.saturating_add(1))
            .with_raw_folder(self.raw_folder.clone())
            .with_virtual_options(self.virtual_options);
        resolver.tree = Arc::clone(&self.tree);
        let place = path.canonicalize().unwrap_or_else(|_| path.clone());
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
        let own = || self.path.canonicalize().ok();
        let named = self.candidates(Path::new(name)).first().and_then(|path| path.canonicalize().ok());
        named.is_some() && named == own()
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
            if !self.is_allowed(folder, self.raw_folder()) {
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

    fn raw_path(&self, name: &str) -> PathBuf {
        self.raw_folder().join(name)
    }

    fn open_raw_at(&self, name: &str, path: &Path, access: Access) -> Result<Arc<dyn Driver>> {
        if !self.is_allowed(path, self.raw_folder()) {
            return Err(outside(name));
        }
        let driver = Sec2::open(path, access)
            .map_err(|source| Error::Io { action: format!("cannot open `{name}`"), source })?;
        Ok(Arc::new(driver))
    }
}
