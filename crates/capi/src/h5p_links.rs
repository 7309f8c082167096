//! Functions for the creation and access lists of links and names.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::ctypes::{H5P_DEFAULT, H5T_CSET_ASCII, H5T_CSET_UTF8, herr_t, hid_t};
use crate::error::Failure;
use crate::export;
use crate::file::{H5F_ACC_RDWR, H5F_ACC_SWMR_READ, H5F_ACC_SWMR_WRITE};
use crate::h5p::{copy_optional_text, optional_text};
use crate::id::{Entry, register};
use crate::plist::callbacks::ExternalLinkCallback;
use crate::plist::settings::DEFAULT_EXTERNAL_FLAGS;
use crate::plist::{
    change_link_access, change_link_create, change_string_create, link_access, link_create, string_create,
};
use crate::pointer::{Out, Text, TextBuffer};

/// The C type of a user's function that the library calls before it follows an external link.
pub type ElinkTraverse = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    *const c_char,
    *mut c_uint,
    hid_t,
    *mut c_void,
) -> herr_t;

export! {
    /// Sets whether the creation of a link also creates the missing groups of its path.
    fn H5Pset_create_intermediate_group(plist_id: hid_t, crt_intmd: c_uint) -> herr_t {
        change_link_create(plist_id, |it| {
            it.intermediate_groups = c_uint::from(crt_intmd > 0);
            Ok(0)
        })
    }

    /// Stores in `crt_intmd` whether the creation of a link also creates the missing groups of its
    /// path.
    fn H5Pget_create_intermediate_group(plist_id: hid_t, crt_intmd: Out<c_uint>) -> herr_t {
        crt_intmd.put(link_create(plist_id)?.intermediate_groups);
        Ok(0)
    }

    /// Sets the character set of new link and attribute names.
    fn H5Pset_char_encoding(plist_id: hid_t, encoding: c_int) -> herr_t {
        if encoding != H5T_CSET_ASCII && encoding != H5T_CSET_UTF8 {
            return Err(Failure::arguments(crate::error::codes::BADRANGE, "unknown character set"));
        }
        change_string_create(plist_id, |it| {
            it.charset = encoding;
            Ok(0)
        })
    }

    /// Stores in `encoding` the character set of new link and attribute names.
    fn H5Pget_char_encoding(plist_id: hid_t, encoding: Out<c_int>) -> herr_t {
        encoding.put(string_create(plist_id)?.charset);
        Ok(0)
    }

    /// Sets the maximum number of soft and external links that the library follows in a path.
    fn H5Pset_nlinks(plist_id: hid_t, nlinks: usize) -> herr_t {
        if nlinks == 0 {
            return Err(Failure::bad_value("the maximum number of followed links must be positive"));
        }
        change_link_access(plist_id, |it| {
            it.max_links = nlinks;
            Ok(0)
        })
    }

    /// Stores in `nlinks` the maximum number of soft and external links that the library follows in
    /// a path.
    fn H5Pget_nlinks(plist_id: hid_t, nlinks: Out<usize>) -> herr_t {
        nlinks.require("result")?.put(link_access(plist_id)?.max_links);
        Ok(0)
    }

    /// Sets the folder that contains the files of external links.
    fn H5Pset_elink_prefix(plist_id: hid_t, prefix: Text) -> herr_t {
        change_link_access(plist_id, |it| {
            it.external_prefix = optional_text(prefix);
            Ok(0)
        })
    }

    /// Copies the name of the folder of external link files to `prefix` and returns the name's
    /// length.
    fn H5Pget_elink_prefix(plist_id: hid_t, prefix: TextBuffer, size: usize) -> isize {
        copy_optional_text(link_access(plist_id)?.external_prefix.as_deref(), prefix, size)
    }

    /// Sets the file access list with which the library opens the files of external links.
    fn H5Pset_elink_fapl(lapl_id: hid_t, fapl_id: hid_t) -> herr_t {
        let access = if fapl_id == H5P_DEFAULT {
            None
        } else {
            crate::plist::file_access(fapl_id)?;
            Some(crate::plist::find(fapl_id)?.duplicate())
        };
        change_link_access(lapl_id, |it| {
            it.external_access = access;
            Ok(0)
        })
    }

    /// Copies the file access list with which the library opens the files of external links, and
    /// returns the identifier of the copy.
    fn H5Pget_elink_fapl(lapl_id: hid_t) -> hid_t {
        Ok(match link_access(lapl_id)?.external_access {
            Some(list) => register(Entry::PropertyList(list.duplicate())),
            None => H5P_DEFAULT,
        })
    }

    /// Sets the flags with which the library opens the files of external links.
    fn H5Pset_elink_acc_flags(lapl_id: hid_t, flags: c_uint) -> herr_t {
        let accepted = [
            0,
            H5F_ACC_RDWR,
            H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE,
            H5F_ACC_SWMR_READ,
            DEFAULT_EXTERNAL_FLAGS,
        ];
        if !accepted.contains(&flags) {
            return Err(Failure::bad_value("invalid flags of a file"));
        }
        change_link_access(lapl_id, |it| {
            it.external_flags = flags;
            Ok(0)
        })
    }

    /// Stores in `flags` the flags with which the library opens the files of external links.
    fn H5Pget_elink_acc_flags(lapl_id: hid_t, flags: Out<c_uint>) -> herr_t {
        flags.put(link_access(lapl_id)?.external_flags);
        Ok(0)
    }

    /// Sets the user's function that the library calls before it follows an external link.
    fn H5Pset_elink_cb(lapl_id: hid_t, func: Option<ElinkTraverse>, op_data: *mut c_void) -> herr_t {
        if func.is_none() && !op_data.is_null() {
            return Err(Failure::bad_value("callback data was passed without a callback function"));
        }
        change_link_access(lapl_id, |it| {
            it.external_callback = ExternalLinkCallback { function: func, data: op_data };
            Ok(0)
        })
    }

    /// Stores the user's function that the library calls before it follows an external link, and
    /// its data.
    fn H5Pget_elink_cb(lapl_id: hid_t, func: Out<Option<ElinkTraverse>>, op_data: Out<*mut c_void>) -> herr_t {
        let callback = link_access(lapl_id)?.external_callback;
        func.put(callback.function);
        op_data.put(callback.data);
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::H5Pcreate;

    #[test]
    fn lists_of_links_keep_values() {
        // SAFETY: the texts end with a zero byte.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_LINK_ACCESS);
            assert_eq!((H5Pset_nlinks(list, 0), H5Pset_nlinks(list, 3)), (-1, 0));
            assert_eq!(H5Pset_elink_prefix(list, Text::of(c"folder".as_ptr())), 0);
            let access = link_access(list).expect("list");
            assert_eq!((access.max_links, access.external_prefix), (3, Some(b"folder".to_vec())));
            assert_eq!(H5Pset_elink_fapl(list, list), -1);
            assert_eq!(H5Pget_elink_fapl(list), 0);
            assert_eq!(H5Pset_elink_acc_flags(list, 2), -1);
            let create = H5Pcreate(crate::symbols::CLASS_LINK_CREATE);
            assert_eq!((H5Pset_char_encoding(create, 2), H5Pset_char_encoding(create, 1)), (-1, 0));
        }
    }
}
