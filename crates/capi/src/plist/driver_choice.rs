//! The file driver that a file access list chooses, with the driver's configuration.

use std::ffi::OsString;
use std::ffi::{c_char, c_int, c_uint};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use hyperslab::NewMembers;
use hyperslab::vfd::{AccessLog, MultiMember};

use super::PropertyList;
use crate::ctypes::{hid_t, hsize_t};
use crate::driver::{DriverHandle, UserInfo};
use crate::error::{Failure, Outcome};
use crate::symbols;

/// A file driver with its configuration, as a file access list chooses it.
#[derive(Debug, Clone, Default)]
pub enum DriverChoice {
    /// The driver for a single file with positioned reads and writes.
    #[default]
    Sec2,
    /// The driver for a single file with C streams.
    Stdio,
    /// The driver for a file in memory.
    Core {
        /// The number of bytes by which the memory grows.
        increment: usize,
        /// True if the driver writes the bytes to a file when the program closes the file.
        backing_store: bool,
        /// The tracking of changes: true if the driver writes only changed pages, and the page size
        /// in bytes.
        tracking: (bool, usize),
    },
    /// The driver for a family of members of equal size.
    Family {
        /// The size of a member in bytes; 0 for the size that the file states.
        member_size: hsize_t,
        /// The access list with which the driver opens the members.
        access: Option<Arc<PropertyList>>,
    },
    /// The driver for two members: one for metadata and one for raw data.
    Split {
        /// The extension of the metadata member's name.
        metadata: Vec<u8>,
        /// The extension of the raw data member's name.
        raw: Vec<u8>,
        /// The equivalent configuration of the multi driver, which `H5Pget_fapl_multi` returns.
        multi: Arc<MultiConfiguration>,
    },
    /// The driver for one member for each memory kind (`H5FD_mem_t`).
    Multi(Arc<MultiConfiguration>),
    /// The driver for a single file that also writes a log of all accesses.
    Log {
        /// The name of the log file for accesses.
        log: Option<Vec<u8>>,
        /// The flags that select the logged information (`H5FD_LOG_*`).
        flags: u64,
        /// The size of the log buffer in bytes.
        buffer: usize,
        /// The accesses of the open file; each file has counts of its own.
        counts: Arc<AccessLog>,
    },
    /// The splitter driver, which writes a second copy of the file through another driver.
    Splitter(Arc<SplitterConfiguration>),
    /// The onion driver, which stores revisions of a file.
    Onion(c_uint),
    /// A driver of the user, with its configuration.
    User(Arc<DriverHandle>, UserInfo),
}

/// The configuration of the multi driver for the default kind and six other kinds of data in a file
/// (memory kinds).
#[derive(Debug, Clone)]
pub struct MultiConfiguration {
    /// The member that stores each memory kind (`H5FD_mem_t`).
    pub map: [c_int; 7],
    /// The access list for each member, or `None` for the default list.
    pub access: [Option<Arc<PropertyList>>; 7],
    /// The name pattern of each member.
    pub names: [Option<Vec<u8>>; 7],
    /// The first address of each member.
    pub starts: [u64; 7],
    /// True if the file can be opened although members are missing.
    pub relax: bool,
}

impl MultiConfiguration {
    /// Returns the memory kind whose member stores the memory kind with the given number.
    fn member_of(&self, kind: usize) -> usize {
        let mapped = self.map.get(kind).and_then(|mapped| usize::try_from(*mapped).ok());
        mapped.filter(|mapped| *mapped != 0).unwrap_or(kind)
    }

    /// Returns the members of the file `name`, each once.
    ///
    /// # Errors
    /// Fails if a member has no name, or a name with another place for the file's name than `%s`.
    pub fn members(&self, name: &[u8]) -> Outcome<Vec<MultiMember>> {
        let mut kinds: Vec<usize> = (1..self.map.len()).map(|kind| self.member_of(kind)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let member = |kind: usize| {
            let pattern = self.names.get(kind).and_then(Option::as_deref);
            let pattern =
                pattern.ok_or_else(|| Failure::bad_value("a member of the multi driver has no name"))?;
            let start = self.starts.get(kind).copied().unwrap_or(u64::MAX);
            Ok(MultiMember { path: member_path(pattern, name)?, start, expected: 0 })
        };
        kinds.into_iter().map(member).collect()
    }

    /// Returns the description of the members for a new file.
    ///
    /// # Errors
    /// Fails if the map has an unknown kind.
    pub fn new_members(&self) -> Outcome<NewMembers> {
        let mut mapping = [0; 6];
        let mut members: [(u64, Vec<u8>); 6] = Default::default();
        let kinds = self.map.iter().zip(self.starts.iter().zip(&self.names)).skip(1);
        for ((to, member), (map, (start, name))) in mapping.iter_mut().zip(&mut members).zip(kinds) {
            *to = u8::try_from(*map).map_err(|_| Failure::bad_value("unknown kind of memory"))?;
            // Kinds that share the member of another kind have no name.
            *member = (*start, name.iter().flatten().copied().collect());
        }
        Ok(NewMembers::Multi { mapping, members })
    }
}

/// Returns the path of a member: its name with the name of the whole file in the place of `%s`.
fn member_path(pattern: &[u8], name: &[u8]) -> Outcome<PathBuf> {
    let (mut path, mut rest) = (Vec::new(), pattern);
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after.split_first()) {
            (b'%', Some((b's', after))) => {
                path.extend_from_slice(name);
                rest = after;
            }
            (b'%', Some((b'%', after))) => {
                path.push(b'%');
                rest = after;
            }
            (b'%', _) => {
                return Err(Failure::bad_value("a member's name has a `%` other than `%s` and `%%`"));
            }
            (byte, _) => path.push(*byte),
        }
    }
    Ok(PathBuf::from(OsString::from_vec(path)))
}

/// The configuration of the splitter driver, which writes a copy of the file through a second
/// driver.
#[derive(Debug, Clone)]
pub struct SplitterConfiguration {
    /// The access list for the file that the program reads and writes, or `None` for the default
    /// list.
    pub access: Option<Arc<PropertyList>>,
    /// The access list for the copy, which the driver only writes, or `None` for the default list.
    pub copy_access: Option<Arc<PropertyList>>,
    /// The file name of the copy.
    pub copy: Vec<u8>,
    /// The name of the log for errors of the copy.
    pub log: Vec<u8>,
    /// True if the driver ignores errors of the copy.
    pub ignore_errors: bool,
}

/// The splitter driver's configuration as a C struct (`H5FD_splitter_vfd_config_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5FD_splitter_vfd_config_t {
    /// A constant that identifies a configuration of the splitter driver.
    pub magic: i32,
    /// The version of this C struct.
    pub version: c_uint,
    /// The access list identifier for the file that the program reads and writes.
    pub rw_fapl_id: hid_t,
    /// The access list identifier for the copy, which the driver only writes.
    pub wo_fapl_id: hid_t,
    /// The file name of the copy.
    pub wo_path: [c_char; 4097],
    /// The name of the log for errors of the copy.
    pub log_file_path: [c_char; 4097],
    /// True if the driver ignores errors of the copy.
    pub ignore_wo_errs: bool,
}

impl DriverChoice {
    /// Returns the identifier of the file driver that a file access list chooses.
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
