//! Open files.

pub(crate) mod names;
mod options;
pub(crate) mod python_driver;
mod range_driver;
mod registry;
mod session;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::ending::Detached as _;
use hyperslab::vfd::{Access, Core, CoreOptions, Driver};
use hyperslab::{FileLocking, FileSpaceStrategy};
use pyo3::exceptions::{PyFileExistsError, PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use options::{DriverChoice, Options};
use registry::Shared;
pub(crate) use session::{Session, Slot, sessions};

use crate::errors::OrRaise;
use crate::group::Group;
use crate::process::in_pool;

/// An open file. Handles of its objects become invalid when the file is closed.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) session: Arc<Session>,
}

/// The mode in which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
    Truncate,
    CreateNew,
}

impl Mode {
    fn new(mode: &str) -> PyResult<Self> {
        Ok(match mode {
            "r" => Self::Read,
            "r+" => Self::Write,
            "w" => Self::Truncate,
            "x" => Self::CreateNew,
            other => {
                return Err(PyValueError::new_err(format!(
                    "Invalid mode; must be one of r, r+, w, x, not {other}"
                )));
            }
        })
    }

    fn creates(self) -> bool {
        matches!(self, Self::Truncate | Self::CreateNew)
    }

    fn access(self) -> Access {
        match self {
            Self::Read => Access::ReadOnly,
            Self::Write => Access::ReadWrite,
            Self::Truncate => Access::Create,
            Self::CreateNew => Access::CreateNew,
        }
    }
}

impl File {
    /// Creates the handle of a session.
    fn of(shared: Arc<Shared>, name: String, options: &Options<'_, '_>) -> PyResult<Self> {
        let traits = options.traits(shared.file.info().driver)?;
        Ok(Self { session: Session::new(shared, name, traits) })
    }
}

impl File {
    /// Creates the handle of a file that no path leads to, and that is open for reading.
    pub(crate) fn of_url(file: hyperslab::File, name: String) -> PyResult<Self> {
        let mut traits = session::Traits::of_driver(file.info().driver);
        traits.driver = "url".to_owned();
        let shared = Shared::add(file, None, false, false, &name);
        Ok(Self { session: Session::new(shared, name, traits) })
    }
}

/// Returns the options for reading a file.
pub(crate) fn read_options(options: &Bound<'_, PyDict>) -> PyResult<hyperslab::OpenOptions> {
    Options::new(options)?.opening(false)
}

/// Shares a file that this process has open already.
fn share(open: Arc<Shared>, mode: Mode, options: &Options<'_, '_>) -> PyResult<Arc<Shared>> {
    let swmr = options.swmr()?;
    let failed = |text: &str| Err(PyOSError::new_err(format!("Unable to synchronously open file ({text})")));
    match mode {
        Mode::CreateNew => Err(PyFileExistsError::new_err((
            17,
            "Unable to synchronously create file (unable to open file: the file exists)",
        ))),
        Mode::Truncate => Err(PyOSError::new_err(
            "Unable to synchronously create file (unable to truncate a file which is already open)",
        )),
        Mode::Write if !open.writable => failed("file is already open for read-only"),
        _ if swmr != open.swmr && mode == Mode::Read && !open.writable => {
            failed("SWMR read access flag not the same for file that is already open")
        }
        _ => match options.locking()? {
            Some(locking) if open.locking.is_some_and(|known| known != locking) => {
                failed("file locking flag values don't match")
            }
            _ => Ok(open),
        },
    }
}

/// Opens or creates a file that this process does not have open.
fn open_new(py: Python<'_>, path: &Path, mode: Mode, options: &Options<'_, '_>) -> PyResult<hyperslab::File> {
    if mode == Mode::CreateNew
        && path.exists()
        && !matches!(options.driver, DriverChoice::Core { backing_store: false, .. })
    {
        let text = format!(
            "Unable to synchronously create file (unable to open file: name = '{}', the file exists)",
            path.display()
        );
        return Err(PyFileExistsError::new_err((17, text)));
    }
    let family = matches!(options.driver, DriverChoice::Family { .. } | DriverChoice::Split { .. });
    if !mode.creates() && !family && !path.exists() {
        let text = format!(
            "Unable to synchronously open file (unable to open file: name = '{}', errno = 2, error message = 'No such file or directory')",
            path.display()
        );
        return Err(PyFileNotFoundError::new_err((2, text)));
    }
    let driver = options.own_driver(path, mode.access())?;
    if mode.creates() {
        let creation = options.creation()?;
        return py
            .detached(|| {
                in_pool(|| match driver {
                    Some(driver) => creation.create_driver(driver),
                    None if mode == Mode::CreateNew => creation.create_new(path),
                    None => creation.create(path),
                })
            })
            .or_raise();
    }
    let opening = options.opening(mode == Mode::Write)?;
    py.detached(|| {
        in_pool(|| match driver {
            Some(driver) => opening.open_driver(driver),
            None => opening.open(path),
        })
    })
    .or_raise()
}

#[pymethods]
impl File {
    /// Opens or creates the file at a path.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        mode: &str,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let mode = Mode::new(mode)?;
        let options = Options::new(options)?;
        let swmr = options.swmr()?;
        let path = names::path(path)?;
        let name = path.display().to_string();
        let open = registry::identity_of(&path).and_then(|identity| registry::find(&identity));
        if let Some(open) = open.filter(|open| mode != Mode::Read || !open.is_outdated(&path)) {
            return Self::of(share(open, mode, &options)?, name, &options);
        }
        let file = open_new(py, &path, mode, &options)?;
        let identity = match &options.driver {
            DriverChoice::Core { backing_store: false, .. } => None,
            _ => registry::identity_of(&path),
        };
        let shared = Shared::add_locked(file, identity, mode != Mode::Read, swmr, &name, options.locking()?);
        Self::of(shared, name, &options)
    }

    /// Opens a file image: the bytes of a whole file.
    #[staticmethod]
    fn open_image(py: Python<'_>, data: Vec<u8>, mode: &str, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mode = Mode::new(mode)?;
        let options = Options::new(options)?;
        let opening = options.opening(mode == Mode::Write)?;
        let file = py.detached(|| match mode {
            Mode::Write => {
                let core = Core::with_options("file image", data, CoreOptions::default());
                opening.open_driver(Arc::new(core))
            }
            _ => opening.open_bytes(data),
        });
        let shared = Shared::add(file.or_raise()?, None, mode == Mode::Write, false, "file image");
        Self::of(shared, "file image".to_owned(), &options)
    }

    /// Opens a Python object with the methods of a binary file.
    #[staticmethod]
    fn open_object(
        py: Python<'_>,
        fileobj: Py<PyAny>,
        mode: &str,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let mode = Mode::new(mode)?;
        let options = Options::new(options)?;
        let object = fileobj.bind(py);
        let name = object.repr()?.to_string();
        let driver = python_driver::PythonDriver::new(object, mode == Mode::Read, mode == Mode::Truncate)?;
        let driver: Arc<dyn Driver> = Arc::new(driver);
        if mode == Mode::CreateNew && !py.detached(|| driver.is_empty()).unwrap_or(true) {
            return Err(PyFileExistsError::new_err((17, "the file object is not empty")));
        }
        // Without buffers, an exception of the object belongs to the call that caused it.
        let file = if mode.creates() {
            let creation = options.creation()?.buffer_raw_data(false).chunk_cache(0).dirty_limit(0);
            py.detached(|| creation.create_driver(driver))
        } else {
            let opening =
                options.opening(mode == Mode::Write)?.buffer_raw_data(false).chunk_cache(0).dirty_limit(0);
            py.detached(|| opening.open_driver(driver))
        };
        let shared = Shared::add(file.or_raise()?, None, mode != Mode::Read, false, &name);
        Self::of(shared, name, &options)
    }

    /// Opens a Python object that reads byte ranges, with the attributes `name` and `size` and the
    /// method `ranges(starts, ends)`.
    #[staticmethod]
    fn open_ranges(py: Python<'_>, reader: &Bound<'_, PyAny>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let driver = range_driver::RangeDriver::new(reader)?;
        let name = driver.name().to_owned();
        let opening = read_options(options)?;
        let opened = py.detached(|| {
            driver
                .start()
                .map_err(|source| hyperslab::Error::Io { action: format!("cannot open `{name}`"), source })?;
            opening.open_driver(Arc::new(driver))
        });
        Self::of_url(opened.or_raise()?, name.clone())
    }

    /// Opens the file at a URL for reading.
    #[cfg(feature = "cloud")]
    #[staticmethod]
    fn open_url(
        py: Python<'_>,
        url: &str,
        options: &Bound<'_, PyDict>,
        storage: &Bound<'_, PyDict>,
    ) -> PyResult<(Self, crate::remote::Remote)> {
        let cloud = crate::remote::cloud_options(storage, read_options(options)?)?;
        let (file, driver) = py.detached(|| in_pool(|| cloud.open_with_driver(url))).or_raise()?;
        let file = Self::of_url(file, hyperslab_cloud::without_credentials(url))?;
        Ok((file, crate::remote::Remote { driver }))
    }

    /// Writes all dirty data and closes the file. Closing a closed file does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.session.close(py)
    }

    /// Writes all dirty data.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let file = self.session.file()?;
        py.detached(|| in_pool(|| file.flush())).or_raise()
    }

    /// Reads changes that another process made.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        let file = self.session.file()?;
        py.detached(|| in_pool(|| file.refresh())).or_raise()
    }

    /// Starts to write for SWMR readers.
    fn start_swmr_write(&self, py: Python<'_>) -> PyResult<()> {
        let file = self.session.file()?;
        py.detached(|| in_pool(|| file.start_swmr_write())).or_raise()?;
        self.session.set_swmr();
        Ok(())
    }

    /// Returns whether the file is open.
    #[getter]
    fn is_open(&self) -> bool {
        self.session.is_open()
    }

    /// Returns whether the file is open for writing.
    #[getter]
    fn writable(&self) -> PyResult<bool> {
        self.session.check()?;
        Ok(self.session.writable)
    }

    /// Returns the name that the user gave.
    #[getter]
    fn name(&self) -> &str {
        &self.session.name
    }

    /// Returns the root group.
    #[getter]
    fn root(&self, py: Python<'_>) -> PyResult<Py<Group>> {
        Group::create(&self.session, self.session.file()?.root().clone(), py)
    }

    /// Returns the name of the driver.
    #[getter]
    fn driver(&self) -> &str {
        &self.session.driver
    }

    /// Returns whether the file is open for SWMR.
    #[getter]
    fn swmr(&self) -> bool {
        self.session.swmr.load(Ordering::Relaxed) != 0
    }

    /// Returns the use of locks that the first opening of the file requested, as `locking` of a new
    /// file; `None` if none was requested.
    #[getter]
    fn locking(&self) -> Option<&'static str> {
        Some(match self.session.locking()? {
            FileLocking::On => "true",
            FileLocking::Off => "false",
            _ => "best-effort",
        })
    }

    /// Returns a number that is the same for all handles of one file.
    #[getter]
    fn identity(&self) -> u64 {
        self.session.identity
    }

    /// Returns properties of the file.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let file = self.session.file()?;
        let info = file.info();
        let dict = PyDict::new(py);
        dict.set_item("superblock_version", info.superblock_version)?;
        dict.set_item("user_block", info.user_block)?;
        dict.set_item("length", info.length)?;
        dict.set_item(
            "fs_strategy",
            match info.file_space.strategy {
                FileSpaceStrategy::Page => "page",
                FileSpaceStrategy::Aggregators => "aggregate",
                FileSpaceStrategy::None => "none",
                _ => "fsm",
            },
        )?;
        dict.set_item("fs_persist", info.file_space.persist)?;
        dict.set_item("fs_threshold", info.file_space.threshold)?;
        dict.set_item("fs_page_size", info.file_space.page_size)?;
        dict.set_item("libver", self.session.libver.clone())?;
        dict.set_item("meta_block_size", self.session.meta_block_size)?;
        dict.set_item("size_of_offsets", info.size_of_offsets)?;
        dict.set_item("free_space", py.detached(|| file.free_space()).or_raise()?)?;
        Ok(dict)
    }

    /// Returns the bytes of the whole file.
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let file = self.session.file()?;
        let bytes = py.detached(|| in_pool(|| file.to_bytes())).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the result of the journal that was found at the opening of the file.
    fn journal_outcome(&self) -> PyResult<Option<String>> {
        Ok(self.session.file()?.journal_outcome().map(ToString::to_string))
    }

    /// Returns the number of live handles of objects of the file.
    fn has_open_objects(&self) -> usize {
        self.session.handles()
    }
}
