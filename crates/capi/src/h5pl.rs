//! Plugin functions (`H5PL*`): the folders in which the library searches for filter plugins.

use std::ffi::c_uint;

use crate::ctypes::{counted, herr_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::filter::plugin::PLUGINS;
use crate::h5p::copy_text;
use crate::pointer::{Out, Text, TextBuffer};

/// Returns the name of the plugin folder that a caller passes.
fn folder(path: Text) -> Outcome<Vec<u8>> {
    Ok(path.name("path")?.to_vec())
}

/// Checks that an index exists in the table of plugin folders, and returns the index.
fn position(index: c_uint, count: usize) -> Outcome<usize> {
    let index = usize::try_from(index).ok().filter(|index| *index < count);
    index.ok_or_else(|| Failure::arguments(codes::BADRANGE, "no plugin folder has this index"))
}

export! {
    /// Appends a folder to the table of plugin folders.
    fn H5PLappend(search_path: Text) -> herr_t {
        let folder = folder(search_path)?;
        PLUGINS.lock().folders.push(folder);
        Ok(0)
    }

    /// Inserts a folder at the start of the table of plugin folders.
    fn H5PLprepend(search_path: Text) -> herr_t {
        let folder = folder(search_path)?;
        PLUGINS.lock().folders.insert(0, folder);
        Ok(0)
    }

    /// Replaces the plugin folder with the given index.
    fn H5PLreplace(search_path: Text, index: c_uint) -> herr_t {
        let folder = folder(search_path)?;
        let mut plugins = PLUGINS.lock();
        let index = position(index, plugins.folders.len())?;
        let place = plugins.folders.get_mut(index);
        *place.because(codes::PLUGIN, codes::CANTINSERT, "no plugin folder has this index")? = folder;
        Ok(0)
    }

    /// Inserts a folder before the plugin folder with the given index.
    fn H5PLinsert(search_path: Text, index: c_uint) -> herr_t {
        let folder = folder(search_path)?;
        let mut plugins = PLUGINS.lock();
        let index = position(index, plugins.folders.len())?;
        plugins.folders.insert(index, folder);
        Ok(0)
    }

    /// Removes the plugin folder with the given index.
    fn H5PLremove(index: c_uint) -> herr_t {
        let mut plugins = PLUGINS.lock();
        let index = position(index, plugins.folders.len())?;
        plugins.folders.remove(index);
        Ok(0)
    }

    /// Copies the name of the plugin folder with the given index to `path_buf` and returns its
    /// length.
    fn H5PLget(index: c_uint, path_buf: TextBuffer, buf_size: usize) -> isize {
        let plugins = PLUGINS.lock();
        let index = position(index, plugins.folders.len())?;
        copy_text(plugins.folders.get(index).map(Vec::as_slice).unwrap_or_default(), path_buf, buf_size)
    }

    /// Stores in `num_paths` the number of plugin folders.
    fn H5PLsize(num_paths: Out<c_uint>) -> herr_t {
        let count: c_uint = counted(PLUGINS.lock().folders.len())?;
        num_paths.require("result")?.put(count);
        Ok(0)
    }

    /// Sets the flags of the plugin types that the library may load.
    fn H5PLset_loading_state(plugin_control_mask: c_uint) -> herr_t {
        let mut plugins = PLUGINS.lock();
        if !plugins.disabled {
            plugins.state = plugin_control_mask;
        }
        Ok(0)
    }

    /// Stores the flags of the plugin types that the library may load.
    fn H5PLget_loading_state(plugin_control_mask: Out<c_uint>) -> herr_t {
        plugin_control_mask.require("result")?.put(PLUGINS.lock().state);
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;

    #[test]
    fn folders_have_an_order() {
        let mut count = 0;
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            assert_eq!(H5PLappend(Text::of(std::ptr::null())), -1);
            assert_eq!(H5PLprepend(Text::of(c"/first".as_ptr())), 0);
            assert_eq!(H5PLsize(Out::of(&raw mut count)), 0);
            assert_eq!(PLUGINS.lock().folders[0], b"/first");
            assert_eq!(H5PLreplace(Text::of(c"/other".as_ptr()), 0), 0);
            assert_eq!(PLUGINS.lock().folders[0], b"/other");
            assert_eq!((H5PLremove(count), H5PLremove(0)), (-1, 0));
        }
    }
}
