//! Filters in shared libraries (plugins), and the folders in which the library searches for
//! plugins.

#![expect(unsafe_code, reason = "this module loads shared libraries and calls two functions of them")]

use std::ffi::{CString, OsStr, c_int, c_uint, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::LazyLock;

use parking_lot::Mutex;

use super::class;
use super::user::UserFilter;

/// The folder of plugins that applies if the environment variable `HDF5_PLUGIN_PATH` is not set.
const DEFAULT_FOLDER: &[u8] = b"/usr/local/hdf5/lib/plugin";
/// The number of the plugin type of filters (`H5PL_TYPE_FILTER`).
const FILTER_KIND: c_int = 0;
/// The flag that permits filter plugins in the loading state (`H5PL_FILTER_PLUGIN`).
const FILTER_FLAG: c_uint = 1;
/// The flags of the plugin loading state that permit all plugins (`H5PL_ALL_PLUGIN`).
const ALL_PLUGINS: c_uint = 0xffff;
/// The value of the environment variable `HDF5_PLUGIN_PRELOAD` that disables plugins.
const NO_PLUGIN: &[u8] = b"::";

/// The plugin folders and the plugin types that the library may load.
#[derive(Debug)]
pub struct Plugins {
    /// The plugin folders in the order of the search.
    pub folders: Vec<Vec<u8>>,
    /// The flags of the plugin types that the library may load (`H5PL_*_PLUGIN`).
    pub state: c_uint,
    /// True if plugins are disabled for the whole process.
    pub disabled: bool,
}

/// The plugin folders and the plugin loading state of the process.
pub static PLUGINS: LazyLock<Mutex<Plugins>> = LazyLock::new(|| {
    let preload = std::env::var_os("HDF5_PLUGIN_PRELOAD").map(OsStringExt::into_vec);
    let path = std::env::var_os("HDF5_PLUGIN_PATH").map(OsStringExt::into_vec);
    let path = path.unwrap_or_else(|| DEFAULT_FOLDER.to_vec());
    let folders = path.split(|byte| *byte == b':').filter(|folder| !folder.is_empty());
    let folders = folders.map(<[u8]>::to_vec).collect();
    let disabled = preload.is_some_and(|value| value == NO_PLUGIN);
    Mutex::new(Plugins { folders, state: if disabled { 0 } else { ALL_PLUGINS }, disabled })
});

/// The C type of a plugin's function that returns the plugin type (`H5PLget_plugin_type`).
type GetType = unsafe extern "C" fn() -> c_int;
/// The C type of a plugin's function that returns the filter struct (`H5PLget_plugin_info`).
type GetInfo = unsafe extern "C" fn() -> *const c_void;

/// Loads the filter with the given identifier from the first plugin in the plugin folders that
/// provides the filter.
pub fn load(id: c_int) -> Option<UserFilter> {
    let folders = {
        let plugins = PLUGINS.lock();
        if plugins.state & FILTER_FLAG == 0 {
            return None;
        }
        plugins.folders.clone()
    };
    folders.iter().find_map(|folder| {
        let folder = Path::new(OsStr::from_bytes(folder));
        let entries = std::fs::read_dir(folder).ok()?;
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().filter(|path| is_library(path)).find_map(|path| load_from(path, id))
    })
}

/// Returns true if a file name is the name of a shared library.
fn is_library(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
    name.windows(3).any(|part| part == b".so") || name.ends_with(b".dylib")
}

/// Loads a plugin from a shared library. Returns its filter if the filter has the given identifier.
/// Otherwise, closes the library.
fn load_from(path: &Path, id: c_int) -> Option<UserFilter> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: the path ends with a zero byte. Loading runs the initializers of the library; the
    // owner of the plugin folders is responsible for them.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
    if library.is_null() {
        return None;
    }
    let filter = info(library)
        .and_then(|info| class::read(info).ok())
        .filter(|class| c_int::from(class.id) == id)
        .map(|class| UserFilter { class });
    if filter.is_none() {
        // SAFETY: the handle comes from `dlopen`, and nothing of the library is in use.
        unsafe { libc::dlclose(library) };
    }
    filter
}

/// Returns the C struct of the filter in a loaded plugin. Returns `None` if the plugin is not a
/// filter.
fn info(library: *mut c_void) -> Option<*const c_void> {
    // SAFETY: the handle comes from `dlopen`; the names end with a zero byte.
    let (kind, info) = unsafe {
        (
            libc::dlsym(library, c"H5PLget_plugin_type".as_ptr()),
            libc::dlsym(library, c"H5PLget_plugin_info".as_ptr()),
        )
    };
    if kind.is_null() || info.is_null() {
        return None;
    }
    // SAFETY: the interface of plugins defines the types of the functions with these names.
    let (kind, info) = unsafe {
        (std::mem::transmute::<*mut c_void, GetType>(kind), std::mem::transmute::<*mut c_void, GetInfo>(info))
    };
    // SAFETY: the functions take no arguments.
    unsafe { (kind() == FILTER_KIND).then(|| info()) }.filter(|info| !info.is_null())
}
