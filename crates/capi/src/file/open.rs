//! Opening and creation of files with the properties of C property lists.

use std::ffi::{OsStr, c_int, c_uint};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use hyperslab::vfd::Driver;
use hyperslab::{
    AccessOptions, CreationOrder, ExternalFiles, File, FileDriver, FileLocking, FileOptions, FileSpace,
    FileSpaceStrategy, GroupOptions, LibraryVersion, LibverBounds, Limits, NewMembers, OpenOptions,
    SharedMessageIndexInfo, SharedMessages,
};
use parking_lot::RwLock;

use super::registry::stamp_of;
use super::{
    FileHandle, H5F_ACC_EXCL, H5F_ACC_RDWR, H5F_ACC_SWMR_READ, H5F_ACC_SWMR_WRITE, H5F_ACC_TRUNC, SharedFile,
    find_open, identity_of,
};
use crate::ctypes::{HADDR_UNDEF, counted};
use crate::driver::user::UserFile;
use crate::error::{Failure, Outcome, codes};
use crate::plist::driver_choice::DriverChoice;
use crate::plist::image::FileImage;
use crate::plist::settings::{FileAccess, FileCreate, GroupCreate, ObjectCreate};

/// The versions of the HDF5 library in the order of `H5F_libver_t`.
const VERSIONS: [LibraryVersion; 6] = [
    LibraryVersion::Earliest,
    LibraryVersion::V18,
    LibraryVersion::V110,
    LibraryVersion::V112,
    LibraryVersion::V114,
    LibraryVersion::V200,
];

/// Returns hyperslab's creation order tracking that the flags `H5P_CRT_ORDER_*` request.
pub fn creation_order(flags: c_uint) -> CreationOrder {
    match flags & 3 {
        0 => CreationOrder::Untracked,
        1 => CreationOrder::Tracked,
        _ => CreationOrder::Indexed,
    }
}

/// Converts a number of links or attributes to the 16 bits that the file stores.
fn small(count: c_uint) -> Outcome<u16> {
    u16::try_from(count).map_err(|_| Failure::bad_value("the number of links or attributes exceeds 65535"))
}

/// Returns the options of a new group from the properties of a group creation list.
///
/// # Errors
/// Fails if a property does not fit in the field of the file.
pub fn group_options(create: &GroupCreate) -> Outcome<GroupOptions> {
    let ObjectCreate { max_compact, min_dense, attribute_order, track_times, .. } = create.object;
    let mut options = GroupOptions::new()
        .link_order(creation_order(create.link_order))
        .attribute_order(creation_order(attribute_order))
        .attribute_phase_change(small(max_compact)?, small(min_dense)?)
        .link_phase_change(small(create.max_compact)?, small(create.min_dense)?)
        .estimated_links(small(create.estimated_links)?, small(create.estimated_name_length)?)
        .track_times(track_times && attribute_order != 0);
    if create.local_heap_size != 0 {
        let size = u32::try_from(create.local_heap_size).map_err(|_| Failure::bad_value("heap size"))?;
        options = options.local_heap_size(size);
    }
    Ok(options)
}

/// Returns the library version bounds for a pair of `H5F_libver_t` values.
///
/// # Errors
/// Fails if a value is unknown or if the lower bound exceeds the upper bound.
pub fn bounds((low, high): (c_int, c_int)) -> Outcome<LibverBounds> {
    let version =
        |number: c_int| usize::try_from(number).ok().and_then(|number| VERSIONS.get(number).copied());
    let (Some(low), Some(high)) = (version(low), version(high)) else {
        return Err(Failure::bad_value("unknown library version"));
    };
    Ok(LibverBounds::new(low, high)?)
}

/// Converts the properties of a file access list to options of hyperslab.
fn options<M: Default>(access: &FileAccess) -> Outcome<AccessOptions<M>> {
    let limits = Limits { result_bytes: u64::MAX, ..Limits::default() };
    let mut options = AccessOptions::<M>::new()
        .libver(bounds(access.libver)?)
        .limits(limits)
        .filters(crate::filter::registry())
        .metadata_block(access.metadata_block)
        .small_data_block(access.small_data_block)
        .alignment(access.alignment_threshold, access.alignment)
        .external_files(ExternalFiles::Anywhere)
        .open_files(Arc::new(super::registry::Registry))
        .durability(crate::h5p_durability::of(access.durability)?);
    if let Some((used, ignored)) = access.locking {
        let locking = match (used, ignored) {
            (false, _) => FileLocking::Off,
            (true, true) => FileLocking::BestEffort,
            (true, false) => FileLocking::On,
        };
        // The environment variable takes precedence over the property, as in the C library.
        if std::env::var_os("HDF5_USE_FILE_LOCKING").is_none() {
            options = options.locking(locking);
        }
    }
    if matches!(access.driver, DriverChoice::User(..)) {
        // Without these buffers, the user's driver receives each access.
        options = options.buffer_raw_data(false).chunk_cache(0);
    }
    if let DriverChoice::Log { counts, .. } = &access.driver {
        options = options.access_log(Arc::clone(counts));
    }
    // Without a folder of the dataset, names of raw data files start at the current directory.
    Ok(options.raw_data_folder("."))
}

/// Converts the properties of a file access list and a file creation list to options of hyperslab
/// for a new file.
fn creation(access: &FileAccess, create: &FileCreate) -> Outcome<FileOptions> {
    let rank = |value: c_uint| {
        u16::try_from(value).map_err(|_| {
            Failure::bad_value("the entry count of a B-tree node exceeds the limit of the file format")
        })
    };
    let strategy = match create.strategy {
        1 => FileSpaceStrategy::Page,
        2 => FileSpaceStrategy::Aggregators,
        3 => FileSpaceStrategy::None,
        _ => FileSpaceStrategy::FreeSpaceAndAggregators,
    };
    let indexes = create.shared_indexes.iter().map(|(types, min_size)| {
        let types = counted(*types & c_uint::from(SharedMessageIndexInfo::ALL))?;
        Ok(SharedMessageIndexInfo { types, min_size: *min_size })
    });
    let shared = SharedMessages {
        indexes: indexes.collect::<Outcome<_>>()?,
        max_list: small(create.shared_max_list)?,
        min_btree: small(create.shared_min_btree)?,
    };
    let space = FileSpace {
        strategy,
        persist: create.persist,
        threshold: create.threshold,
        page_size: create.page_size,
    };
    let mut options = options::<hyperslab::Creating>(access)?
        .user_block(create.user_block)
        .sizes(create.offset_bytes, create.length_bytes)
        .symbol_table_ranks(rank(create.group_internal_k)?, rank(create.group_leaf_k)?)
        .chunk_btree_rank(rank(create.chunk_k)?)
        .root_group(group_options(&create.group)?);
    if space != default_space() {
        options = options.file_space(space);
    }
    if !create.shared_indexes.is_empty() {
        options = options.shared_messages(shared);
    }
    Ok(match &access.driver {
        DriverChoice::Split { multi, .. } | DriverChoice::Multi(multi) => {
            options.members(multi.new_members()?)
        }
        DriverChoice::Family { member_size, .. } if *member_size != 0 => {
            options.members(NewMembers::Family { member_size: *member_size })
        }
        _ => options,
    })
}

/// Returns the file space settings of an unchanged file creation list. Files do not store these
/// default settings.
fn default_space() -> FileSpace {
    let create = FileCreate::default();
    FileSpace {
        strategy: FileSpaceStrategy::FreeSpaceAndAggregators,
        persist: create.persist,
        threshold: create.threshold,
        page_size: create.page_size,
    }
}

/// The number of the paged file space strategy (`H5F_FSPACE_STRATEGY_PAGE`).
const PAGE_STRATEGY: c_int = 1;

/// Returns the size of a file's page buffer in bytes: a whole number of pages. Returns 0 if the
/// file has no paged allocation.
fn page_buffer(file: &File, wanted: usize) -> Outcome<usize> {
    let space = file.info().file_space;
    let page: usize = counted(space.page_size)?;
    if space.strategy != FileSpaceStrategy::Page || wanted == 0 || page == 0 {
        return Ok(0);
    }
    Ok((wanted / page).max(1).saturating_mul(page)) // Only reported.
}

/// A request of the program to open an existing file or to create a file.
#[derive(Debug)]
pub struct Request<'a> {
    /// The name of the file to open or create.
    pub name: &'a [u8],
    /// The flags of the request (`H5F_ACC_*`).
    pub flags: c_uint,
    /// The access properties of the file.
    pub access: FileAccess,
    /// The creation properties of a new file; `None` for a request that opens a file.
    pub create: Option<FileCreate>,
}

impl Request<'_> {
    /// Returns the name of the requested file as a path.
    pub(super) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.name))
    }

    /// Returns true if the request creates the file, or opens the file for writing.
    fn writes(&self) -> bool {
        self.create.is_some() || self.flags & H5F_ACC_RDWR != 0
    }

    /// Opens or creates the requested file. If this process already has the file open, returns the
    /// shared file.
    ///
    /// # Errors
    /// Fails if the file cannot be opened, or if it is already open with incompatible flags or
    /// properties.
    pub fn run(mut self) -> Outcome<Arc<SharedFile>> {
        let on_disk = matches!(
            self.access.driver,
            DriverChoice::Sec2 | DriverChoice::Stdio | DriverChoice::Log { .. } | DriverChoice::Core { .. }
        );
        if on_disk
            && let Some(open) = identity_of(self.path()).and_then(|identity| find_open(&identity))
            && (self.writes() || !open.is_outdated(self.path()))
        {
            return self.share(open);
        }
        let is_empty =
            || std::fs::metadata(self.path()).is_ok_and(|found| found.is_file() && found.len() == 0);
        if on_disk && self.create.is_none() && self.writes() && is_empty() {
            // The C library writes a new HDF5 file into an empty file that a program opens for
            // writing.
            self.create = Some(FileCreate::default());
            self.flags |= H5F_ACC_TRUNC;
        }
        if self.create.as_ref().is_some_and(|create| create.strategy != PAGE_STRATEGY)
            && self.access.page_buffer.0 != 0
        {
            let text = "enabling the page buffer requires the page strategy of file space";
            return Err(Failure::new(codes::FILE, codes::CANTINIT, text));
        }
        if let DriverChoice::Log { counts, .. } = &mut self.access.driver {
            *counts = Arc::default();
        }
        // The stamp is older than the bytes that are read, so that no change is missed.
        let stamp = if on_disk && !self.writes() { stamp_of(self.path()) } else { None };
        let (file, user_driver, file_image) = self.open_new()?;
        self.access.image = None;
        self.access.page_buffer.0 = page_buffer(&file, self.access.page_buffer.0)?;
        let identity = match &self.access.driver {
            DriverChoice::Core { backing_store: false, .. } | DriverChoice::User(..) => None,
            _ => identity_of(self.path()),
        };
        let writes = self.writes();
        let kept = self.flags & (H5F_ACC_SWMR_READ | H5F_ACC_SWMR_WRITE);
        let flags = if writes { kept | H5F_ACC_RDWR } else { kept };
        let is_logging = self.access.cache_log.0 && self.access.cache_log.2;
        let shared = SharedFile {
            is_logging: is_logging.into(),
            created_mappings: RwLock::default(),
            kept_metadata: Default::default(),
            written: Default::default(),
            file,
            number: SharedFile::next_number(),
            process: std::process::id(),
            identity,
            stamp,
            name: self.name.to_vec(),
            access: RwLock::new(self.access),
            flags: RwLock::new(flags),
            mounts: RwLock::default(),
            user_driver,
            file_image,
            minimize: false.into(),
        };
        Ok(shared.shared())
    }

    /// Returns the file if this process already has it open. Checks that the request agrees with
    /// the open file.
    fn share(&self, open: Arc<SharedFile>) -> Outcome<Arc<SharedFile>> {
        let flags = *open.flags.read();
        if self.create.is_some() {
            let text = if self.flags & H5F_ACC_EXCL != 0 {
                "the file exists"
            } else {
                "cannot truncate a file that is open"
            };
            return Err(Failure::new(codes::FILE, codes::CANTOPENFILE, text));
        }
        if self.writes() && flags & H5F_ACC_RDWR == 0 {
            return Err(Failure::new(codes::FILE, codes::CANTOPENFILE, "the file is open for reading only"));
        }
        let swmr = H5F_ACC_SWMR_READ | H5F_ACC_SWMR_WRITE;
        if self.flags & swmr != flags & swmr && (self.flags | flags) & H5F_ACC_SWMR_WRITE != 0 {
            let text = "the file is already open with a different SWMR access";
            return Err(Failure::new(codes::FILE, codes::CANTOPENFILE, text));
        }
        let used = |access: &FileAccess| access.locking.unwrap_or((true, true));
        if std::env::var_os("HDF5_USE_FILE_LOCKING").is_none()
            && self.access.locking.is_some()
            && used(&self.access) != used(&open.access.read())
        {
            let text = "file locking flag values don't match";
            return Err(Failure::new(codes::FILE, codes::CANTINIT, text));
        }
        let degree = (self.access.close_degree, open.access.read().close_degree);
        if degree.0 != 0 && degree.0 != degree.1 {
            let text = "the close degree differs from the open file's";
            return Err(Failure::new(codes::FILE, codes::CANTINIT, text));
        }
        Ok(open)
    }

    /// Opens or creates the requested file, which this process does not have open yet. If a user's
    /// driver opened the file, also returns the driver's open file. If functions of the user manage
    /// the memory of a file in memory, also returns the copy in this memory.
    fn open_new(&self) -> Outcome<(File, Option<Arc<UserFile>>, Option<FileImage>)> {
        match (&self.access.driver, &self.create) {
            (DriverChoice::User(driver, info), _) => {
                let user = UserFile::open(driver, info, self.name, self.flags, HADDR_UNDEF)?;
                let file = self.with_driver(Arc::clone(&user) as Arc<dyn Driver>)?;
                Ok((file, Some(user), None))
            }
            (DriverChoice::Sec2 | DriverChoice::Stdio | DriverChoice::Log { .. }, Some(create)) => {
                let options = creation(&self.access, create)?;
                let file = if self.flags & H5F_ACC_EXCL != 0 && self.flags & H5F_ACC_TRUNC == 0 {
                    options.create_new(self.path())?
                } else {
                    options.create(self.path())?
                };
                Ok((file, None, None))
            }
            (DriverChoice::Sec2 | DriverChoice::Log { .. }, None) => {
                Ok((self.opening()?.driver(FileDriver::Sec2).open(self.path())?, None, None))
            }
            (DriverChoice::Stdio, None) => {
                Ok((self.opening()?.driver(FileDriver::Stdio).open(self.path())?, None, None))
            }
            (DriverChoice::Core { .. }, _) if self.access.image_callbacks.callbacks.manages_memory() => {
                let driver = self.driver(&self.access.driver)?;
                let (functions, image) = (Arc::clone(&self.access.image_callbacks), &self.access.image);
                let bytes = image.as_ref().map(|image| image.bytes());
                let copy = FileImage::open(Arc::clone(&driver), functions, bytes, self.create.is_some())?;
                Ok((self.with_driver(driver)?, None, Some(copy)))
            }
            (driver, _) => Ok((self.with_driver(self.driver(driver)?)?, None, None)),
        }
    }

    /// Returns the options of hyperslab that open the existing file of the request.
    fn opening(&self) -> Outcome<OpenOptions> {
        Ok(options::<hyperslab::Opening>(&self.access)?
            .write(self.flags & H5F_ACC_RDWR != 0)
            .swmr_read(self.flags & H5F_ACC_SWMR_READ != 0)
            .swmr_write(self.flags & H5F_ACC_SWMR_WRITE != 0))
    }

    /// Opens or creates the requested file in the storage of `driver`.
    fn with_driver(&self, driver: Arc<dyn Driver>) -> Outcome<File> {
        Ok(match &self.create {
            Some(create) => creation(&self.access, create)?.create_driver(driver)?,
            None => self.opening()?.open_driver(driver)?,
        })
    }
}

/// Registers a new handle of an open file and returns the handle's new identifier.
pub fn register(shared: Arc<SharedFile>, flags: c_uint, name: &[u8]) -> crate::ctypes::hid_t {
    let number = SharedFile::next_number();
    let handle = FileHandle { shared, flags, name: name.to_vec(), number };
    crate::id::register(crate::id::Entry::File(Arc::new(handle)))
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;
    use crate::ctypes::H5P_DEFAULT;
    use crate::h5f::{H5Fclose, H5Fcreate, H5Fopen};
    use crate::pointer::Text;

    #[test]
    fn an_empty_file_becomes_an_hdf5_file_when_it_is_opened_for_writing() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("empty.h5");
        std::fs::write(&path, []).expect("an empty file");
        let text = crate::error::stack::text(path.as_os_str().as_bytes());
        let name = || Text::of(text.as_ptr());
        // SAFETY: the name is a text that ends with a zero byte.
        unsafe {
            assert!(H5Fopen(name(), 0, H5P_DEFAULT) < 0, "an empty file cannot be read");
            let file = H5Fopen(name(), H5F_ACC_RDWR, H5P_DEFAULT);
            assert!(file > 0);
            assert_eq!(H5Fclose(file), 0);
            let file = H5Fopen(name(), 0, H5P_DEFAULT);
            assert!(file > 0);
            assert_eq!(H5Fclose(file), 0);
        }
    }

    #[test]
    fn a_new_file_that_cannot_be_written_by_swmr_closes() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("new.h5");
        let text = crate::error::stack::text(path.as_os_str().as_bytes());
        let name = || Text::of(text.as_ptr());
        // SAFETY: the name is a text that ends with a zero byte.
        unsafe {
            // The default format has no checksums, which SWMR writing requires.
            let flags = H5F_ACC_TRUNC | H5F_ACC_SWMR_WRITE;
            assert!(H5Fcreate(name(), flags, H5P_DEFAULT, H5P_DEFAULT) < 0);
            let file = H5Fcreate(name(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
            assert!(file > 0, "an open file cannot be truncated");
            assert_eq!(H5Fclose(file), 0);
        }
    }
}
