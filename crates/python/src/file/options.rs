//! The options of `File.open`.

use std::path::PathBuf;
use std::sync::Arc;

use hyperslab::vfd::{
    Access, Core, CoreOptions, Driver, DriverKind, Family, FamilyPattern, Multi, MultiMember,
};
use hyperslab::{
    AccessOptions, Durability, ExternalFiles, FileDriver, FileLocking, FileOptions, FileSpace,
    FileSpaceStrategy, LibraryVersion, LibverBounds, OpenOptions,
};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use super::registry::Registry;
use super::session::Traits;
use crate::errors::OrRaise;

/// All names of options.
const NAMES: [&str; 24] = [
    "driver",
    "backing_store",
    "block_size",
    "memb_size",
    "meta_ext",
    "raw_ext",
    "libver",
    "userblock_size",
    "swmr",
    "rdcc_nbytes",
    "track_order",
    "track_times",
    "fs_strategy",
    "fs_persist",
    "fs_threshold",
    "fs_page_size",
    "page_buf_size",
    "alignment_threshold",
    "alignment_interval",
    "meta_block_size",
    "locking",
    "durability",
    "efile_prefix",
    "ignore_status_flags",
];

/// The driver of a file, with its own options.
#[derive(Debug, Clone)]
pub(super) enum DriverChoice {
    Sec2,
    Stdio,
    Mmap,
    Core { backing_store: bool, increment: usize },
    Family { member_size: u64 },
    Split { metadata: String, raw: String },
}

/// The options of `File.open`, checked.
#[derive(Debug)]
pub(super) struct Options<'a, 'py> {
    dict: &'a Bound<'py, PyDict>,
    pub(super) driver: DriverChoice,
}

impl<'a, 'py> Options<'a, 'py> {
    /// Checks the names and the driver of options.
    pub(super) fn new(dict: &'a Bound<'py, PyDict>) -> PyResult<Self> {
        for name in dict.keys() {
            if !NAMES.contains(&name.extract::<String>()?.as_str()) {
                return Err(PyTypeError::new_err(format!("unknown option {name} of a file")));
            }
        }
        let mut options = Self { dict, driver: DriverChoice::Sec2 };
        options.driver = match options.get::<String>("driver")?.as_deref() {
            None | Some("sec2") => DriverChoice::Sec2,
            Some("stdio") => DriverChoice::Stdio,
            Some("mmap") => DriverChoice::Mmap,
            Some("core") => DriverChoice::Core {
                backing_store: options.get("backing_store")?.unwrap_or(true),
                increment: options.get("block_size")?.unwrap_or(64 << 10),
            },
            Some("family") => {
                DriverChoice::Family { member_size: options.get("memb_size")?.unwrap_or(1 << 31) }
            }
            Some("split") => DriverChoice::Split {
                metadata: options.get("meta_ext")?.unwrap_or_else(|| "-m.h5".to_owned()),
                raw: options.get("raw_ext")?.unwrap_or_else(|| "-r.h5".to_owned()),
            },
            Some(other) => return Err(PyValueError::new_err(format!("Unknown driver type {other:?}"))),
        };
        Ok(options)
    }

    /// Returns an option; `None` if it is missing or `None`.
    fn get<T: for<'x> FromPyObject<'x, 'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.dict.get_item(name)?.filter(|value| !value.is_none()) else { return Ok(None) };
        match value.extract() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(PyTypeError::new_err(format!("the option {name} has a wrong type: {value}"))),
        }
    }

    /// Returns whether the file is opened for SWMR.
    pub(super) fn swmr(&self) -> PyResult<bool> {
        Ok(self.get("swmr")?.unwrap_or(false))
    }

    /// Returns the options that opening and creating have in common.
    fn access<M: Default>(&self) -> PyResult<AccessOptions<M>> {
        let mut options =
            AccessOptions::<M>::new().external_files(ExternalFiles::Anywhere).open_files(Arc::new(Registry));
        // As in h5py, the oldest versions of HDF5 can read new files and objects.
        let bounds = match self.get::<(String, String)>("libver")? {
            Some((low, high)) => LibverBounds::new(version(&low)?, version(&high)?).or_raise()?,
            None => LibverBounds::EARLIEST,
        };
        options = options.libver(bounds);
        if let Some(bytes) = self.get("rdcc_nbytes")? {
            options = options.chunk_cache(bytes);
        }
        if let Some(bytes) = self.get("page_buf_size")? {
            options = options.page_buffer(bytes);
        }
        if let Some(bytes) = self.get("meta_block_size")? {
            options = options.metadata_block(bytes);
        }
        let threshold: u64 = self.get("alignment_threshold")?.unwrap_or(1);
        let interval: u64 = self.get("alignment_interval")?.unwrap_or(1);
        if interval > 1 {
            options = options.alignment(threshold, interval);
        }
        if let Some(locking) = self.locking()? {
            options = options.locking(locking);
        }
        if let Some(durability) = self.get::<String>("durability")? {
            options = options.durability(match durability.as_str() {
                "full" => Durability::Full,
                "ordered" => Durability::Ordered,
                "none" => Durability::None,
                other => return Err(PyValueError::new_err(format!("unknown durability {other:?}"))),
            });
        }
        if let Some(folder) = self.get::<PathBuf>("efile_prefix")? {
            options = options.raw_data_folder(folder);
        }
        Ok(options)
    }

    /// Returns the properties of a session with these options.
    pub(super) fn traits(&self, driver: DriverKind) -> PyResult<Traits> {
        let mut traits = Traits::of_driver(driver);
        if let DriverChoice::Stdio = self.driver {
            traits.driver = "stdio".to_owned();
        }
        if let Some((low, high)) = self.get::<(String, String)>("libver")? {
            let resolved = |name: String| if name == "latest" { "v200".to_owned() } else { name };
            traits.libver = (resolved(low), resolved(high));
        }
        traits.meta_block_size = self.get("meta_block_size")?.unwrap_or(traits.meta_block_size);
        traits.swmr = self.swmr()?;
        Ok(traits)
    }

    /// Returns the use of locks.
    pub(super) fn locking(&self) -> PyResult<Option<FileLocking>> {
        let Some(value) = self.dict.get_item("locking")?.filter(|value| !value.is_none()) else {
            return Ok(None);
        };
        if let Ok(yes) = value.cast::<PyBool>() {
            return Ok(Some(if yes.is_true() { FileLocking::On } else { FileLocking::Off }));
        }
        match value.extract::<String>()?.as_str() {
            "best-effort" => Ok(Some(FileLocking::BestEffort)),
            "true" => Ok(Some(FileLocking::On)),
            "false" => Ok(Some(FileLocking::Off)),
            other => Err(PyValueError::new_err(format!("Unsupported locking value: {other}"))),
        }
    }

    /// Returns the options for opening a file.
    pub(super) fn opening(&self, write: bool) -> PyResult<OpenOptions> {
        let driver = match &self.driver {
            DriverChoice::Sec2 => FileDriver::Sec2,
            DriverChoice::Stdio => FileDriver::Stdio,
            DriverChoice::Mmap => FileDriver::Mmap,
            DriverChoice::Core { .. } => FileDriver::Core,
            DriverChoice::Family { .. } => FileDriver::Family { member_size: self.get("memb_size")? },
            DriverChoice::Split { metadata, raw } => {
                FileDriver::Split { metadata: metadata.clone(), raw: raw.clone() }
            }
        };
        let swmr = self.swmr()?;
        let ignored = self.get("ignore_status_flags")?.unwrap_or(false);
        let options =
            self.access::<hyperslab::Opening>()?.driver(driver).write(write).ignore_status_flags(ignored);
        Ok(if write { options } else { options.swmr_read(swmr) })
    }

    /// Returns the options for creating a file.
    pub(super) fn creation(&self) -> PyResult<FileOptions> {
        let mut options = self.access::<hyperslab::Creating>()?;
        if let Some(bytes) = self.get::<u64>("userblock_size")? {
            if bytes != 0 && (bytes < 512 || !bytes.is_power_of_two()) {
                let text = "User block size must be a power of 2 and at least 512 bytes (userblock size is non-zero and less than 512)";
                return Err(PyValueError::new_err(text));
            }
            options = options.user_block(bytes);
        }
        if self.get("track_order")?.unwrap_or(false) {
            options = options.track_order(true);
        }
        let space = self.file_space()?;
        let paged = space.as_ref().is_some_and(|space| space.strategy == FileSpaceStrategy::Page);
        if !paged && self.get::<u64>("page_buf_size")?.is_some_and(|bytes| bytes > 0) {
            let text = "Unable to synchronously create file (enabling the page buffer requires the page strategy of file space)";
            return Err(PyOSError::new_err(text));
        }
        if let Some(space) = space {
            options = options.file_space(space);
        }
        Ok(options)
    }

    fn file_space(&self) -> PyResult<Option<FileSpace>> {
        let Some(strategy) = self.get::<String>("fs_strategy")? else { return Ok(None) };
        let strategy = match strategy.as_str() {
            "fsm" => FileSpaceStrategy::FreeSpaceAndAggregators,
            "page" => FileSpaceStrategy::Page,
            "aggregate" => FileSpaceStrategy::Aggregators,
            "none" => FileSpaceStrategy::None,
            _ => return Err(PyValueError::new_err("Invalid file space strategy type")),
        };
        Ok(Some(FileSpace {
            strategy,
            persist: self.get("fs_persist")?.unwrap_or(false),
            threshold: self.get("fs_threshold")?.unwrap_or(1),
            page_size: self.get("fs_page_size")?.unwrap_or(4096),
        }))
    }

    /// Opens the driver of a new file, or of a file that one driver alone can open. Returns `None`
    /// if the façade opens the driver itself.
    pub(super) fn own_driver(
        &self,
        path: &std::path::Path,
        access: Access,
    ) -> PyResult<Option<Arc<dyn Driver>>> {
        let failed =
            |source| hyperslab::Error::Io { action: format!("cannot open `{}`", path.display()), source };
        let creates = !matches!(access, Access::ReadOnly | Access::ReadWrite);
        let driver: Arc<dyn Driver> = match &self.driver {
            DriverChoice::Core { backing_store, increment } => {
                let options = CoreOptions { increment: *increment, backing_store: *backing_store };
                if creates && !backing_store {
                    Arc::new(Core::with_options(path.display().to_string(), Vec::new(), options))
                } else {
                    Arc::new(Core::open(path, access, options).map_err(failed).or_raise()?)
                }
            }
            DriverChoice::Family { member_size } if creates => {
                let pattern = FamilyPattern::parse(&path.to_string_lossy()).map_err(failed).or_raise()?;
                Arc::new(Family::open(pattern, access, Some(*member_size)).map_err(failed).or_raise()?)
            }
            DriverChoice::Split { metadata, raw } if creates => {
                let members = MultiMember::split(path, metadata, raw);
                Arc::new(Multi::open(members, access).map_err(failed).or_raise()?)
            }
            _ => return Ok(None),
        };
        Ok(Some(driver))
    }
}

/// Returns the library version with a name of h5py.
fn version(name: &str) -> PyResult<LibraryVersion> {
    Ok(match name {
        "earliest" => LibraryVersion::Earliest,
        "v108" => LibraryVersion::V18,
        "v110" => LibraryVersion::V110,
        "v112" => LibraryVersion::V112,
        "v114" => LibraryVersion::V114,
        "v200" => LibraryVersion::V200,
        "latest" => LibraryVersion::LATEST,
        other => return Err(PyValueError::new_err(format!("unknown library version {other:?}"))),
    })
}
