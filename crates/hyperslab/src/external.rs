//! Access to the other files that links and datasets lead to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};

use hyperslab_engine::ops::datasets::VirtualOptions;
use hyperslab_engine::ops::{FileResolver, OpenFile, RawFileResolver};
use hyperslab_engine::store::{FileLocking, StoreOptions};
use hyperslab_engine::{Error, LibverBounds, Result};
use hyperslab_vfd::{Access, Driver, Sec2};

use crate::File;
use crate::journal_place::journal_beside;
use crate::open_options::open_path;

/// The longest permitted chain of files, each of which refers to the next file by a link or a
/// dataset.
const MAX_DEPTH: usize = 16;

/// The policy for other files to which links, virtual datasets and external raw data of a file
/// lead.
///
/// A relative name is searched in the folder of the file with the link. An absolute name is tried
/// first as an absolute path, then by its last component in the folder of the file. A relative name
/// of an external raw data file is searched in the folder of the file or in
/// [`raw_data_folder`](crate::AccessOptions::raw_data_folder); an absolute name is used as it is.
///
/// A file counts as inside a folder if its path, with `..` and symbolic links resolved, is inside.
/// Pipes and devices are never opened. The check and the opening are two steps: another program
/// must not replace a folder by a symbolic link between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ExternalFiles {
    /// No files.
    Refuse,
    /// Files in the folder of the file with the link, or below.
    #[default]
    Beside,
    /// All files.
    Anywhere,
}

/// A provider of the files that a program has open. Links, virtual datasets and references use
/// these open files. Other files are opened without a lock while they are used.
///
/// ```
/// use std::path::Path;
/// use std::sync::{Arc, Mutex};
///
/// use hyperslab::{File, FileOptions, OpenFiles};
///
/// #[derive(Debug, Default)]
/// struct Sources(Mutex<Vec<File>>);
///
/// impl OpenFiles for Sources {
///     fn find(&self, path: &Path) -> Option<File> {
///         let is_source = path.file_name()? == "source.h5";
///         self.0.lock().ok()?.first().filter(|_| is_source).cloned()
///     }
///
///     fn generation(&self) -> u64 {
///         self.0.lock().map_or(0, |files| files.len() as u64)
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// let sources = Arc::new(Sources::default());
/// let file = FileOptions::new().open_files(sources.clone()).create(folder.path().join("a.h5"))?;
/// let source = File::create(folder.path().join("source.h5"))?;
/// source.new_dataset("data").write(&[1, 2])?;
/// sources.0.lock().map(|mut files| files.push(source)).ok();
/// file.link_external("data", "source.h5", "/data")?;
/// assert_eq!(file.dataset("data")?.shape(), [2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait OpenFiles: std::fmt::Debug + Send + Sync {
    /// Returns the open file at `path`, if the program has that file open.
    fn find(&self, path: &Path) -> Option<File>;

    /// Returns a number that identifies the set of open files. The number changes each time the
    /// program opens or closes a file.
    fn generation(&self) -> u64;

    /// Returns the files that the program has open for writing. Before a virtual dataset is read,
    /// these files store their dirty chunks, so that the read sees all elements that the program
    /// has written. Without this function, the program flushes source files itself.
    fn written(&self) -> Vec<File> {
        Vec::new()
    }
}

/// The resolver of names of other files. Links and datasets of one file contain these names.
#[derive(Debug)]
pub(crate) struct ExternalResolver {
    folder: PathBuf,
    raw_folder: Option<PathBuf>,
    virtual_options: VirtualOptions,
    policy: ExternalFiles,
    open_files: Option<Arc<dyn OpenFiles>>,
    options: StoreOptions,
    /// The bounds for files that are opened for writing; `None` if this file is open for reading
    /// only.
    write: Option<LibverBounds>,
    path: PathBuf,
    /// The absolute path of the file without symbolic links.
    real_path: OnceLock<Option<PathBuf>>,
    /// The real path of `folder`.
    real_folder: OnceLock<Option<PathBuf>>,
    tree: Arc<FileTree>,
    depth: usize,
    /// Folders in which names are searched first.
    source_folders: RwLock<Vec<PathBuf>>,
}

/// The tree of open files to which one root file refers, directly or through other files. The list
/// of these files prevents conflicts between their locks.
#[derive(Debug, Default)]
struct FileTree {
    root: PathBuf,
    real_root: OnceLock<Option<PathBuf>>,
    open: Mutex<OpenFilesByPath>,
    /// Real paths of folders. Many files are in few folders.
    folders: Mutex<HashMap<PathBuf, PathBuf>>,
}

/// The open files of a tree by their canonical paths. A path has several files if the file was
/// opened again.
#[derive(Debug, Default)]
struct OpenFilesByPath {
    files: HashMap<PathBuf, Vec<Weak<OpenFile>>>,
    /// The number of paths at which paths of closed files are removed.
    full: usize,
}

/// The smallest number of paths for which [`OpenFilesByPath`] removes paths of closed files.
const MIN_REMOVED_PATHS: usize = 64;

impl OpenFilesByPath {
    /// Returns the files that are open at a canonical path.
    fn at(&self, path: &Path) -> Vec<Arc<OpenFile>> {
        self.files.get(path).into_iter().flatten().filter_map(Weak::upgrade).collect()
    }

    /// Adds an open file at its canonical path.
    fn add(&mut self, path: PathBuf, file: &Arc<OpenFile>) {
        let is_open = |file: &Weak<OpenFile>| file.strong_count() > 0;
        if self.files.len() >= self.full {
            self.files.retain(|_, files| files.iter().any(is_open));
            self.full = (2 * self.files.len()).max(MIN_REMOVED_PATHS);
        }
        let same = self.files.entry(path).or_default();
        same.retain(is_open);
        same.push(Arc::downgrade(file));
    }
}

impl File {
    /// Adds a folder to the search for source files of virtual datasets and target files of
    /// external links. This folder is searched before all other folders.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// use hyperslab::File;
    /// let sources = folder.path().join("sources");
    /// std::fs::create_dir(&sources)?;
    /// let other = File::create(sources.join("other.h5"))?;
    /// other.create_group("inside")?;
    /// other.close()?;
    /// let file = File::create(folder.path().join("file.h5"))?;
    /// file.link_external("link", "other.h5", "/inside")?;
    /// assert!(file.group("link").is_err());
    /// file.search_first(&sources);
    /// assert!(file.group("link").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search_first(&self, folder: impl AsRef<Path>) {
        self.root().file().search_first(folder.as_ref());
    }
}

/// The largest number of folders of files that [`FileTree::folders`] caches.
const MAX_CACHED_FOLDERS: usize = 64;

impl FileTree {
    /// Returns the canonical path of the existing file at `path`.
    fn real_path(&self, path: &Path) -> Option<PathBuf> {
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
        if folders.len() >= MAX_CACHED_FOLDERS {
            folders.clear();
        }
        let path = real.join(name);
        folders.insert(folder.to_owned(), real);
        Some(path)
    }

    fn open(&self) -> MutexGuard<'_, OpenFilesByPath> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the file at `path` must be locked when it is opened. Returns `false` for
    /// the root file, and for files that the tree has open for writing. If `write` is true, first
    /// releases the locks that this tree has on the file for reading.
    fn prepare_lock(&self, path: &Path, write: bool) -> Result<bool> {
        if self.real_root.get_or_init(|| self.real_path(&self.root)).as_deref() == Some(path) {
            return Ok(false);
        }
        let same = self.open().at(path);
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

impl ExternalResolver {
    /// Creates the resolver of names of other files, for the root file at `path`.
    pub(crate) fn new(path: &Path, policy: ExternalFiles, options: StoreOptions) -> Self {
        let tree = FileTree { root: path.to_owned(), ..FileTree::default() };
        Self::at(path, policy, options, Arc::new(tree))
    }

    fn at(path: &Path, policy: ExternalFiles, options: StoreOptions, tree: Arc<FileTree>) -> Self {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Self {
            folder: folder.unwrap_or(Path::new(".")).to_owned(),
            raw_folder: None,
            virtual_options: VirtualOptions::default(),
            policy,
            open_files: None,
            // Other files are opened for reading only, until a write needs one of them.
            write: options.write,
            // Each file has its own journal.
            options: StoreOptions { write: None, journal: None, ..options },
            path: path.to_owned(),
            real_path: OnceLock::new(),
            real_folder: OnceLock::new(),
            tree,
            depth: 0,
            source_folders: RwLock::default(),
        }
    }

    /// Creates the resolver for a further file, to which the file of this resolver refers. The new
    /// resolver finds the files to which the file at `path` refers.
    fn further(&self, path: &Path) -> Self {
        Self {
            raw_folder: self.raw_folder.clone(),
            open_files: self.open_files.clone(),
            virtual_options: self.virtual_options,
            write: None,
            depth: self.depth + 1,
            ..Self::at(path, self.policy, self.options.clone(), Arc::clone(&self.tree))
        }
    }

    /// Returns the canonical path of the file whose links and datasets contain the names of other
    /// files.
    fn real_path(&self) -> Option<&Path> {
        self.real_path.get_or_init(|| self.tree.real_path(&self.path)).as_deref()
    }

    /// Sets the folder in which the resolver searches for external raw data files.
    pub(crate) fn with_raw_folder(mut self, folder: Option<PathBuf>) -> Self {
        self.raw_folder = folder;
        self
    }

    /// Sets the open files of the program, which the resolver uses instead of opening them again.
    pub(crate) fn with_open_files(mut self, files: Option<Arc<dyn OpenFiles>>) -> Self {
        self.open_files = files;
        self
    }

    /// Sets the options of virtual datasets in files that the resolver opens.
    pub(crate) fn with_virtual_options(mut self, options: VirtualOptions) -> Self {
        self.virtual_options = options;
        self
    }

    /// Returns the existing paths that are candidates for the name of another file, in the order of
    /// preference, each with its canonical path. The search begins with the folder `first`.
    fn candidates(&self, name: &Path, first: Option<&Path>) -> Vec<(PathBuf, Option<PathBuf>)> {
        let folders = self.source_folders.read().unwrap_or_else(PoisonError::into_inner);
        let searched = first.into_iter().chain(folders.iter().map(PathBuf::as_path));
        let mut candidates: Vec<PathBuf> = searched.map(|folder| folder.join(name)).collect();
        drop(folders);
        candidates.push(self.folder.join(name));
        if let Some(last) = name.file_name().filter(|_| name.is_absolute()) {
            candidates.push(self.folder.join(last));
        }
        let with_real_path = candidates.into_iter().filter_map(|path| {
            let real = self.tree.real_path(&path);
            (real.is_some() || path.exists()).then_some((path, real))
        });
        with_real_path.collect()
    }

    /// Returns `true` if the policy for external files allows the file at the canonical path
    /// `path`. `folder` is the canonical path of the folder to which the policy may restrict files.
    fn is_allowed(&self, path: Option<&Path>, folder: Option<&Path>) -> bool {
        match self.policy {
            ExternalFiles::Refuse => false,
            ExternalFiles::Anywhere => true,
            ExternalFiles::Beside => match (path, folder) {
                (Some(path), Some(folder)) => path.starts_with(folder),
                _ => false,
            },
        }
    }

    /// Converts the name of another file from bytes to text. Returns an error if the policy forbids
    /// other files.
    fn name<'a>(&self, name: &'a [u8]) -> Result<&'a str> {
        if self.policy == ExternalFiles::Refuse {
            return Err(Error::Misuse(
                "the policy `ExternalFiles::Refuse` forbids opening other files".into(),
            ));
        }
        std::str::from_utf8(name).map_err(|_| {
            Error::unsupported(format!("the file name `{}`, which is not UTF-8", name.escape_ascii()))
        })
    }
}

fn outside(name: &str) -> Error {
    Error::Misuse(format!(
        "`{name}` is outside the folder of the file that names it; open the file with `ExternalFiles::Anywhere` to \
         follow such names"
    ))
}

impl ExternalResolver {
    fn open_for(
        &self,
        name: &[u8],
        first: Option<&Path>,
        write: Option<LibverBounds>,
    ) -> Result<Arc<OpenFile>> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::Misuse(format!(
                "a chain of files that refer to each other has more than {MAX_DEPTH} files"
            )));
        }
        let name = self.name(name)?;
        let candidates = self.candidates(Path::new(name), first);
        if candidates.is_empty() {
            return Err(Error::NotFound { subject: "file", name: name.to_owned() });
        }
        let folder = self.real_folder.get_or_init(|| self.folder.canonicalize().ok()).as_deref();
        let chosen = first.and_then(|first| first.canonicalize().ok());
        let allowed = candidates.into_iter().find(|(_, real)| {
            self.is_allowed(real.as_deref(), folder)
                || chosen.is_some() && self.is_allowed(real.as_deref(), chosen.as_deref())
        });
        let (path, real) = allowed.ok_or_else(|| outside(name))?;
        if write.is_none()
            && let Some(file) = self.open_files.as_ref().and_then(|files| files.find(&path))
        {
            return Ok(Arc::clone(file.root().file()));
        }
        let mut options = StoreOptions { write, ..self.options.clone() };
        if self.open_files.is_some() && write.is_none() {
            // The program may open the file for writing while it is a source.
            options.locking = FileLocking::Off;
        }
        let resolver = Self { write, ..self.further(&path) };
        let real = real.unwrap_or_else(|| path.clone());
        if !self.tree.prepare_lock(&real, write.is_some())? {
            options.locking = FileLocking::Off;
        }
        let file = open_path(&path, options)?.with_virtual_options(self.virtual_options);
        let file = Arc::new(file.with_resolver(Arc::new(resolver)));
        self.tree.open().add(real, &file);
        Ok(file)
    }
}

impl FileResolver for ExternalResolver {
    fn open(&self, name: &[u8], first: Option<&Path>) -> Result<Arc<OpenFile>> {
        self.open_for(name, first, None)
    }

    fn open_to_write(&self, name: &[u8], first: Option<&Path>) -> Result<Arc<OpenFile>> {
        if self.write.is_none() {
            return Err(Error::Misuse(format!("`{}` is open for reading only", self.path.display())));
        }
        self.open_for(name, first, self.write)
    }

    fn search_first(&self, folder: &Path) {
        let mut folders = self.source_folders.write().unwrap_or_else(PoisonError::into_inner);
        folders.retain(|other| other != folder);
        folders.insert(0, folder.to_owned());
    }

    fn find_open(&self, name: &[u8], first: Option<&Path>) -> Option<Arc<OpenFile>> {
        let files = self.open_files.as_ref()?;
        let (path, _) = self.candidates(Path::new(self.name(name).ok()?), first).into_iter().next()?;
        files.find(&path).map(|file| Arc::clone(file.root().file()))
    }

    fn flush_open(&self) -> Result<()> {
        let written = self.open_files.as_ref().map(|files| files.written());
        written.into_iter().flatten().try_for_each(|file| file.root().file().reading_flushed(None).map(drop))
    }

    fn generation(&self) -> u64 {
        self.open_files.as_ref().map_or(0, |files| files.generation())
    }

    fn is_own(&self, name: &[u8], first: Option<&Path>) -> bool {
        let Ok(name) = std::str::from_utf8(name) else { return false };
        let named = self.candidates(Path::new(name), first).into_iter().next().and_then(|(_, real)| real);
        named.is_some() && named.as_deref() == self.real_path()
    }
}

impl RawFileResolver for ExternalResolver {
    fn open_raw(&self, name: &[u8], folder: Option<&Path>) -> Result<Arc<dyn Driver>> {
        let name = self.name(name)?;
        let chosen = self.raw_folder(folder);
        let path = chosen.join(name);
        if !path.exists() {
            return Err(Error::NotFound { subject: "file", name: path.display().to_string() });
        }
        self.open_raw_at(name, (chosen, &path), Access::ReadOnly)
    }

    fn open_raw_to_write(&self, name: &[u8], folder: Option<&Path>) -> Result<Arc<dyn Driver>> {
        let name = self.name(name)?;
        let chosen = self.raw_folder(folder);
        let path = chosen.join(name);
        if !path.exists() {
            // A file is created only in an allowed folder.
            let parent = path.parent().unwrap_or(Path::new("."));
            if !self.is_raw_allowed(chosen, parent) {
                return Err(outside(name));
            }
            let made = Sec2::open(&path, Access::CreateNew);
            let made =
                made.map_err(|source| Error::Io { action: format!("cannot make `{name}`"), source })?;
            return Ok(Arc::new(made));
        }
        self.open_raw_at(name, (chosen, &path), Access::ReadWrite)
    }
}

impl ExternalResolver {
    fn raw_folder<'a>(&'a self, chosen: Option<&'a Path>) -> &'a Path {
        chosen.or(self.raw_folder.as_deref()).unwrap_or(&self.folder)
    }

    fn is_raw_allowed(&self, folder: &Path, path: &Path) -> bool {
        let (path, folder) = (path.canonicalize().ok(), folder.canonicalize().ok());
        self.is_allowed(path.as_deref(), folder.as_deref())
    }

    /// Returns `true` if `path` is the file that contains the dataset, or the journal of this file.
    /// External raw data must overwrite neither.
    fn is_part_of_file(&self, path: &Path) -> bool {
        let (Ok(path), Some(own)) = (path.canonicalize(), self.real_path()) else { return false };
        path == own || path == journal_beside(own).path()
    }

    fn open_raw_at(
        &self,
        name: &str,
        (folder, path): (&Path, &Path),
        access: Access,
    ) -> Result<Arc<dyn Driver>> {
        if !self.is_raw_allowed(folder, path) {
            return Err(outside(name));
        }
        if access != Access::ReadOnly && self.is_part_of_file(path) {
            return Err(Error::Misuse(format!(
                "the external file `{name}` is the HDF5 file itself or its journal"
            )));
        }
        let driver = Sec2::open(path, access)
            .map_err(|source| Error::Io { action: format!("cannot open `{name}`"), source })?;
        Ok(Arc::new(driver))
    }
}
