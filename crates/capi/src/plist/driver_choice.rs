//! The driver of a file access list, with the driver's configuration.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::Arc;

use super::PropertyList;
use crate::ctypes::{hid_t, hsize_t};
use crate::driver::{DriverHandle, UserInfo};
use crate::symbols;

/// A driver with its configuration.
#[derive(Debug, Clone, Default)]
pub enum DriverChoice {
    /// One file, by positioned reads and writes.
    #[default]
    Sec2,
    /// One file, by C streams.
    Stdio,
    /// A file in memory.
    Core {
        /// The bytes by which the memory grows.
        increment: usize,
        /// True if the bytes are stored in a file at the end.
        backing_store: bool,
        /// True if only changed pages are written, and the size of a page.
        tracking: (bool, usize),
    },
    /// Members of equal size.
    Family {
        /// The size of a member in bytes; 0 for the size that the file states.
        member_size: hsize_t,
        /// The access list of the members.
        access: Option<Arc<PropertyList>>,
    },
    /// One member for metadata, one for raw data.
    Split {
        /// The extension of the metadata's name.
        metadata: Vec<u8>,
        /// The extension of the raw data's name.
        raw: Vec<u8>,
        /// The configuration that `H5Pget_fapl_multi` returns.
        multi: Arc<MultiConfiguration>,
    },
    /// One member for each kind of data.
    Multi(Arc<MultiConfiguration>),
    /// One file, with a log of accesses.
    Log {
        /// The name of the log.
        log: Option<Vec<u8>>,
        /// The flags: `H5FD_LOG_*`.
        flags: u64,
        /// The size of the buffer.
        buffer: usize,
    },
    /// A file, and a copy of it through a second driver.
    Splitter(Arc<SplitterConfiguration>),
    /// A file with revisions.
    Onion(c_uint),
    /// A driver of the user.
    User(Arc<DriverHandle>, UserInfo),
}

/// The configuration of the multi driver, which has six kinds of data and a default.
#[derive(Debug, Clone)]
pub struct MultiConfiguration {
    /// The member of each kind of data (`H5FD_mem_t`).
    pub map: [c_int; 7],
    /// The access list of each member, unless it is the default list.
    pub access: [Option<Arc<PropertyList>>; 7],
    /// The pattern of each member's name.
    pub names: [Option<Vec<u8>>; 7],
    /// The start of each member's addresses.
    pub starts: [u64; 7],
    /// True if the file opens even if a member is missing.
    pub relax: bool,
}

/// The configuration of the splitter driver.
#[derive(Debug, Clone)]
pub struct SplitterConfiguration {
    /// The access list of the file, unless it is the default list.
    pub access: Option<Arc<PropertyList>>,
    /// The access list of the copy, unless it is the default list.
    pub copy_access: Option<Arc<PropertyList>>,
    /// The name of the copy.
    pub copy: Vec<u8>,
    /// The name of the log.
    pub log: Vec<u8>,
    /// True if errors of the copy are ignored.
    pub ignore_errors: bool,
}

/// The C form of the splitter's configuration (`H5FD_splitter_vfd_config_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5FD_splitter_vfd_config_t {
    pub magic: i32,
    pub version: c_uint,
    pub rw_fapl_id: hid_t,
    pub wo_fapl_id: hid_t,
    pub wo_path: [c_char; 4097],
    pub log_file_path: [c_char; 4097],
    pub ignore_wo_errs: bool,
}

impl DriverChoice {
    /// Returns the identifier of the driver.
    pub fn id(&self) -> hid_t {
        match self {
            Self::Sec2 => symbols::SEC2_DRIVER,
            Self::Stdio => symbols::STDIO_DRIVER,
            Self::Core { .. } => symbols::CORE_DRIVER,
            Self::Family { .. } => symbols::FAMILY_DRIVER,
            Self::Split { .. } | Self::Multi(_) => symbols::MULTI_DRIVER,
            Self::Log { .. } => symbols::LOG_DRIVER,
            Self::Splitter(_) => symbols::SPLITTER_DRIVER,
            Self::Onion(_) => symbols::ONION_DRIVER,
            Self::User(driver, _) => driver.id(),
        }
    }
}
