//! Functions that choose the file driver in a file access list.

use std::ffi::{c_int, c_ulonglong, c_void};
use std::sync::Arc;

use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t, hsize_t};
use crate::driver::user::InfoBlock;
use crate::driver::{self, DriverHandle, UserInfo};
use crate::error::{Failure, Outcome, codes};
use crate::export;
use crate::h5p::{copy_optional_text, optional_text};
use crate::id::{self, Entry, register};
use crate::plist::driver_choice::DriverChoice;
use crate::plist::{PropertyList, change_file_access, file_access};
use crate::pointer::{Data, Out, Text, TextBuffer};
use crate::symbols as s;

/// The default page size in bytes for the tracking of changes in the core driver.
const DEFAULT_PAGE: usize = 512 << 10;
/// The default number of bytes by which the core driver enlarges a file in memory.
const DEFAULT_INCREMENT: usize = 64 << 10;
/// The default size in bytes of the members of a file of the family driver.
const DEFAULT_MEMBER: hsize_t = 100 << 20;

/// Sets the driver of a file access list.
///
/// # Errors
/// Fails if `list` is not a file access list.
pub fn set(list: hid_t, choice: DriverChoice) -> Outcome<herr_t> {
    let old = change_file_access(list, |it| {
        it.driver_config = None;
        Ok(std::mem::replace(&mut it.driver, choice))
    })?;
    drop(old); // The user's function frees the configuration, so no lock is held.
    Ok(0)
}

/// Returns the failure for a file access list with another driver than the function expects.
pub fn wrong_driver() -> Failure {
    Failure::new(codes::PLIST, codes::BADVALUE, "the list uses a different driver")
}

/// Returns a copy of the access list of a member file. Returns `None` for the default list.
///
/// # Errors
/// Fails if `list` is not a file access list.
pub fn member_access(list: hid_t) -> Outcome<Option<Arc<PropertyList>>> {
    if list == H5P_DEFAULT {
        return Ok(None);
    }
    file_access(list)?;
    Ok(Some(crate::plist::find(list)?.duplicate()))
}

/// Returns a file driver of the library with its default configuration.
fn library_choice(id: hid_t) -> Outcome<DriverChoice> {
    Ok(match id {
        s::SEC2_DRIVER => DriverChoice::Sec2,
        s::STDIO_DRIVER => DriverChoice::Stdio,
        s::CORE_DRIVER => DriverChoice::Core {
            increment: DEFAULT_INCREMENT,
            backing_store: true,
            tracking: (false, DEFAULT_PAGE),
        },
        s::FAMILY_DRIVER => DriverChoice::Family { member_size: DEFAULT_MEMBER, access: None },
        s::LOG_DRIVER => DriverChoice::Log { log: None, flags: 0, buffer: 0, counts: Arc::default() },
        s::MULTI_DRIVER => DriverChoice::Multi(Arc::new(crate::h5p_multi::defaults())),
        s::ONION_DRIVER => DriverChoice::Onion(u32::MAX),
        _ => return Err(Failure::bad_value("this driver must be set with its own function")),
    })
}

/// Sets the driver of a file access list. Only the driver interprets the given configuration.
fn choose(list: hid_t, driver: Arc<DriverHandle>, info: Data) -> Outcome<herr_t> {
    let choice = match &*driver {
        DriverHandle::Library { id, .. } => library_choice(*id)?,
        DriverHandle::User(user) => {
            let info = UserInfo(Arc::new(InfoBlock::copy_of(*user.class, info)?));
            DriverChoice::User(Arc::clone(&driver), info)
        }
    };
    set(list, choice)
}

/// Returns the first registered user's file driver for which a condition is true. The condition
/// receives the driver's function table.
fn find_user(condition: impl Fn(&driver::H5FD_class_t) -> bool) -> Option<Arc<DriverHandle>> {
    let drivers = id::list(crate::ctypes::IdKind::Driver as c_int);
    drivers.into_iter().find_map(|(_, entry)| match entry {
        Entry::Driver(handle) => match &*handle {
            DriverHandle::User(user) if condition(&user.class) => Some(handle),
            _ => None,
        },
        _ => None,
    })
}

/// Sets the driver of a file access list with a configuration text.
fn choose_with_text(list: hid_t, driver: Option<Arc<DriverHandle>>, text: Text) -> Outcome<herr_t> {
    let missing = || Failure::new(codes::VFL, codes::CANTREGISTER, "the driver is not registered");
    choose(list, driver.ok_or_else(missing)?, Data::of(std::ptr::null()))?;
    let text = optional_text(text);
    change_file_access(list, |it| {
        it.driver_config = text;
        Ok(0)
    })
}

export! {
    /// Sets the driver of a file access list, with its configuration.
    fn H5Pset_driver(plist_id: hid_t, driver_id: hid_t, driver_info: Data) -> herr_t {
        let driver = driver::find(driver_id)?;
        file_access(plist_id)?;
        choose(plist_id, driver, driver_info)
    }

    /// Returns the identifier of the driver of a file access list.
    fn H5Pget_driver(plist_id: hid_t) -> hid_t {
        Ok(file_access(plist_id)?.driver.id())
    }

    /// Returns the address of the configuration of a user's driver in a file access list, or null
    /// without one.
    fn H5Pget_driver_info(plist_id: hid_t) -> *const c_void {
        Ok(match file_access(plist_id)?.driver {
            DriverChoice::User(_, info) => info.0.block.cast_const(),
            _ => std::ptr::null(),
        })
    }

    /// Sets the driver of a file access list to the driver with the name `driver_name`.
    fn H5Pset_driver_by_name(plist_id: hid_t, driver_name: Text, driver_config: Text) -> herr_t {
        let name = driver_name.name("name of the driver")?;
        file_access(plist_id)?;
        let driver = match driver::library_id(name) {
            Some(id) => driver::find(id).ok(),
            None => find_user(|class| Text::of(class.name).get() == Some(name)),
        };
        choose_with_text(plist_id, driver, driver_config)
    }

    /// Sets the driver of a file access list to the driver with the number `driver_value`.
    fn H5Pset_driver_by_value(plist_id: hid_t, driver_value: c_int, driver_config: Text) -> herr_t {
        file_access(plist_id)?;
        let driver = match driver_value {
            ..0 => return Err(Failure::bad_value("the number of a driver must not be negative")),
            0 => driver::find(s::SEC2_DRIVER).ok(),
            1 => driver::find(s::CORE_DRIVER).ok(),
            2 => driver::find(s::LOG_DRIVER).ok(),
            3 => driver::find(s::FAMILY_DRIVER).ok(),
            4 => driver::find(s::MULTI_DRIVER).ok(),
            5 => driver::find(s::STDIO_DRIVER).ok(),
            14 => driver::find(s::ONION_DRIVER).ok(),
            value => find_user(|class| class.number() == Some(value)),
        };
        choose_with_text(plist_id, driver, driver_config)
    }

    /// Copies the configuration text of a file access list's driver to `config_buf` and returns its
    /// length.
    fn H5Pget_driver_config_str(fapl_id: hid_t, config_buf: TextBuffer, buf_size: usize) -> isize {
        copy_optional_text(file_access(fapl_id)?.driver_config.as_deref(), config_buf, buf_size)
    }

    /// Sets the sec2 driver in a file access list. The driver stores a single file with positioned
    /// reads and writes.
    fn H5Pset_fapl_sec2(fapl_id: hid_t) -> herr_t {
        set(fapl_id, DriverChoice::Sec2)
    }

    /// Sets the stdio driver in a file access list. The driver stores a single file with C streams.
    fn H5Pset_fapl_stdio(fapl_id: hid_t) -> herr_t {
        set(fapl_id, DriverChoice::Stdio)
    }

    /// Sets the core driver in a file access list. The driver keeps the file in memory.
    fn H5Pset_fapl_core(fapl_id: hid_t, increment: usize, backing_store: bool) -> herr_t {
        set(fapl_id, DriverChoice::Core { increment, backing_store, tracking: (false, DEFAULT_PAGE) })
    }

    /// Stores the configuration of the core driver from a file access list.
    fn H5Pget_fapl_core(fapl_id: hid_t, increment: Out<usize>, backing_store: Out<bool>) -> herr_t {
        let DriverChoice::Core { increment: bytes, backing_store: stores, .. } = file_access(fapl_id)?.driver
        else {
            return Err(wrong_driver());
        };
        increment.put(bytes);
        backing_store.put(stores);
        Ok(0)
    }

    /// Sets whether the core driver writes only changed pages to the backing file.
    fn H5Pset_core_write_tracking(fapl_id: hid_t, is_enabled: bool, page_size: usize) -> herr_t {
        if page_size == 0 {
            return Err(Failure::bad_value("the page size must be positive"));
        }
        change_file_access(fapl_id, |it| match &mut it.driver {
            DriverChoice::Core { tracking, .. } => {
                *tracking = (is_enabled, page_size);
                Ok(0)
            }
            _ => Err(wrong_driver()),
        })
    }

    /// Stores whether the core driver writes only changed pages, and the page size.
    fn H5Pget_core_write_tracking(fapl_id: hid_t, is_enabled: Out<bool>, page_size: Out<usize>) -> herr_t {
        let (enabled, bytes) = match file_access(fapl_id)?.driver {
            DriverChoice::Core { tracking, .. } => tracking,
            _ => (false, DEFAULT_PAGE),
        };
        is_enabled.put(enabled);
        page_size.put(bytes);
        Ok(0)
    }

    /// Sets the family driver in a file access list. The driver stores the file in members of
    /// `memb_size` bytes.
    fn H5Pset_fapl_family(fapl_id: hid_t, memb_size: hsize_t, memb_fapl_id: hid_t) -> herr_t {
        let access = member_access(memb_fapl_id)?;
        set(fapl_id, DriverChoice::Family { member_size: memb_size, access })
    }

    /// Stores the configuration of the family driver from a file access list.
    fn H5Pget_fapl_family(fapl_id: hid_t, memb_size: Out<hsize_t>, memb_fapl_id: Out<hid_t>) -> herr_t {
        let DriverChoice::Family { member_size, access } = file_access(fapl_id)?.driver else {
            return Err(wrong_driver());
        };
        memb_size.put(member_size);
        if !memb_fapl_id.is_null() {
            let list = match access {
                Some(access) => access.copied()?,
                None => PropertyList::new(crate::h5p::find_class(s::CLASS_FILE_ACCESS)?),
            };
            memb_fapl_id.put(register(Entry::PropertyList(Arc::new(list))));
        }
        Ok(0)
    }

    /// Sets the log driver in a file access list. The driver stores a single file and writes a log
    /// of accesses to `logfile`.
    fn H5Pset_fapl_log(fapl_id: hid_t, logfile: Text, flags: c_ulonglong, buf_size: usize) -> herr_t {
        let log = optional_text(logfile);
        set(fapl_id, DriverChoice::Log { log, flags, buffer: buf_size, counts: Arc::default() })
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::{H5Pclose, H5Pcreate};

    #[test]
    fn drivers_are_set() {
        let (mut bytes, mut stores) = (0, true);
        let none = Text::of(std::ptr::null());
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            let list = H5Pcreate(s::CLASS_FILE_ACCESS);
            assert_eq!(H5Pget_driver(list), s::SEC2_DRIVER);
            assert_eq!(H5Pget_fapl_core(list, Out::of(&raw mut bytes), Out::of(&raw mut stores)), -1);
            assert_eq!(H5Pset_fapl_core(list, 7, false), 0);
            assert_eq!(H5Pget_fapl_core(list, Out::of(&raw mut bytes), Out::of(&raw mut stores)), 0);
            assert_eq!((bytes, stores, H5Pget_driver(list)), (7, false, s::CORE_DRIVER));
            assert_eq!(H5Pset_driver_by_name(list, Text::of(c"stdio".as_ptr()), none), 0);
            assert_eq!(H5Pget_driver(list), s::STDIO_DRIVER);
            assert_eq!(H5Pset_driver_by_name(list, Text::of(c"nothing".as_ptr()), none), -1);
            assert_eq!(H5Pset_driver(list, list, Data::of(std::ptr::null())), -1);
            assert_eq!(H5Pclose(list), 0);
        }
    }
}
