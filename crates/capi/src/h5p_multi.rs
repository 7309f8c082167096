//! Functions for drivers with several files: multi, split, splitter and onion.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::Arc;

use crate::ctypes::{H5P_DEFAULT, haddr_t, herr_t, hid_t};
use crate::error::{Failure, Outcome};
use crate::h5p_drivers::{member_access, set, wrong_driver};
use crate::id;
use crate::plist::driver_choice::{
    DriverChoice, H5FD_splitter_vfd_config_t, MultiConfiguration, SplitterConfiguration,
};
use crate::plist::{PropertyList, file_access};
use crate::pointer::{In, Out, Text};
use crate::{export, memory};

/// The number of memory kinds (kinds of data in a file), including the default kind (`H5FD_mem_t`).
const KINDS: usize = 7;
/// The letter of each memory kind in the names of the multi driver's members.
const LETTERS: &[u8; KINDS] = b"Xsbrglo";
/// The constant that identifies the C struct of a splitter driver configuration.
const SPLITTER_MAGIC: i32 = 0x2B91_6880;

/// The configuration of the onion driver as a C struct (`H5FD_onion_fapl_info_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5FD_onion_fapl_info_t {
    /// The version of this C struct.
    pub version: u8,
    /// The access list identifier for the file with the revisions.
    pub backing_fapl_id: hid_t,
    /// The size of a page in the file with the revisions, in bytes.
    pub page_size: u32,
    /// The kind of storage for the revisions; a separate file is the only kind.
    pub store_target: c_int,
    /// The number of the revision that is opened.
    pub revision_num: u64,
    /// Nonzero if a file is opened although another program may have it open for writing.
    pub force_write_open: u8,
    /// The creation flags of the file with the revisions.
    pub creation_flags: u8,
    /// The comment of a new revision.
    pub comment: [c_char; 256],
}

const _: () = assert!(size_of::<H5FD_onion_fapl_info_t>() == 296);
const _: () = assert!(size_of::<H5FD_splitter_vfd_config_t>() == 8224);

/// Returns the default configuration of the multi driver: each memory kind has its own member and
/// an equal part of the address range.
pub fn defaults() -> MultiConfiguration {
    let mut starts = [0; KINDS];
    for (part, start) in (0_u64..).zip(starts.iter_mut().skip(1)) {
        *start = part * ((u64::MAX - 1) / 6);
    }
    let names = LETTERS.map(|letter| Some([b"%s-", [letter].as_slice(), b".h5"].concat()));
    MultiConfiguration { map: [0; KINDS], access: Default::default(), names, starts, relax: true }
}

/// Takes the caller's array with one value for each memory kind (kind of data in a file). Keeps the
/// present values if the caller's pointer is null.
fn take<T: Copy>(array: &mut [T; KINDS], values: In<T>) -> Outcome<()> {
    if let Some(values) = values.optional(KINDS, "array of members")? {
        array.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
    }
    Ok(())
}

/// Copies the access list of a member file and returns the copy's identifier, which the caller
/// closes. If the member has no access list, returns the default list.
fn copy_of_list(list: Option<&Arc<PropertyList>>) -> hid_t {
    list.map_or(H5P_DEFAULT, |list| id::register(id::Entry::PropertyList(list.duplicate())))
}

/// Returns the bytes of a C string in a fixed array inside a C struct, without the zero byte.
fn text_of(array: &[c_char]) -> Vec<u8> {
    array.iter().take_while(|byte| **byte != 0).map(|byte| byte.cast_unsigned()).collect()
}

/// Stores a text with a zero byte in a fixed array inside a C struct. Shortens the text if
/// necessary.
fn store(array: &mut [c_char], text: &[u8]) {
    let length = array.len().saturating_sub(1).min(text.len());
    for (to, from) in array.iter_mut().zip(text.iter().take(length).chain([&0])) {
        *to = from.cast_signed();
    }
}

export! {
    /// Sets the multi driver in a file access list. The driver stores each memory kind in a member
    /// of its own.
    fn H5Pset_fapl_multi(
        fapl_id: hid_t,
        memb_map: In<c_int>,
        memb_fapl: In<hid_t>,
        memb_name: In<*const c_char>,
        memb_addr: In<haddr_t>,
        relax: bool,
    ) -> herr_t {
        let mut it = MultiConfiguration { relax, ..defaults() };
        take(&mut it.map, memb_map)?;
        let mut lists = [H5P_DEFAULT; KINDS];
        take(&mut lists, memb_fapl)?;
        take(&mut it.starts, memb_addr)?;
        if it.map.iter().any(|kind| !(0..7).contains(kind)) {
            return Err(Failure::bad_value("unknown kind of memory"));
        }
        if let Some(names) = memb_name.optional(KINDS, "array of names")? {
            it.names = Default::default();
            for (to, from) in it.names.iter_mut().zip(names) {
                *to = Text::of(*from).get().map(<[u8]>::to_vec);
            }
        }
        for (access, list) in it.access.iter_mut().zip(lists) {
            *access = member_access(list)?;
        }
        set(fapl_id, DriverChoice::Multi(Arc::new(it)))
    }

    /// Stores a file access list's configuration of the multi driver. The program closes the access
    /// lists and frees the names.
    fn H5Pget_fapl_multi(
        fapl_id: hid_t,
        memb_map: Out<c_int>,
        memb_fapl: Out<hid_t>,
        memb_name: Out<*mut c_char>,
        memb_addr: Out<haddr_t>,
        relax: Out<bool>,
    ) -> herr_t {
        let (DriverChoice::Multi(it) | DriverChoice::Split { multi: it, .. }) = file_access(fapl_id)?.driver
        else {
            return Err(wrong_driver());
        };
        memb_map.fill(&it.map, KINDS)?;
        memb_addr.fill(&it.starts, KINDS)?;
        relax.put(it.relax);
        if !memb_fapl.is_null() {
            memb_fapl.fill(&it.access.each_ref().map(|list| copy_of_list(list.as_ref())), KINDS)?;
        }
        if !memb_name.is_null() {
            let copy = |name: &Option<Vec<u8>>| name.as_ref().map_or(std::ptr::null_mut(), |it| memory::text(it));
            memb_name.fill(&it.names.each_ref().map(copy), KINDS)?;
        }
        Ok(0)
    }

    /// Sets the split driver in a file access list. The driver stores metadata and raw data in two
    /// members.
    fn H5Pset_fapl_split(
        fapl: hid_t,
        meta_ext: Text,
        meta_plist_id: hid_t,
        raw_ext: Text,
        raw_plist_id: hid_t,
    ) -> herr_t {
        let metadata = meta_ext.get().unwrap_or(b".meta").to_vec();
        let raw = raw_ext.get().unwrap_or(b".raw").to_vec();
        let pattern = |extension: &[u8]| {
            let complete = extension.windows(2).any(|part| part == b"%s");
            Some(if complete { extension.to_vec() } else { [b"%s", extension].concat() })
        };
        let (first, second) = (member_access(meta_plist_id)?, member_access(raw_plist_id)?);
        let (name, data) = (pattern(&metadata), pattern(&raw));
        let multi = MultiConfiguration {
            map: [1, 1, 1, 3, 3, 1, 1],
            access: [None, first, None, second, None, None, None],
            names: [None, name, None, data, None, None, None],
            starts: [u64::MAX, 0, u64::MAX, u64::MAX / 2, u64::MAX, u64::MAX, u64::MAX],
            relax: true,
        };
        set(fapl, DriverChoice::Split { metadata, raw, multi: Arc::new(multi) })
    }

    /// Sets the splitter driver in a file access list. The driver writes a copy of the file through
    /// a second driver.
    fn H5Pset_fapl_splitter(fapl_id: hid_t, config_ptr: In<H5FD_splitter_vfd_config_t>) -> herr_t {
        let it = config_ptr.value("configuration")?;
        if it.magic != SPLITTER_MAGIC || it.version != 1 {
            return Err(Failure::bad_value("not a configuration of the splitter"));
        }
        let configuration = SplitterConfiguration {
            access: member_access(it.rw_fapl_id)?,
            copy_access: member_access(it.wo_fapl_id)?,
            copy: text_of(&it.wo_path),
            log: text_of(&it.log_file_path),
            ignore_errors: it.ignore_wo_errs,
        };
        set(fapl_id, DriverChoice::Splitter(Arc::new(configuration)))
    }

    /// Stores the configuration of the splitter driver in `config_ptr`.
    fn H5Pget_fapl_splitter(fapl_id: hid_t, config_ptr: Out<H5FD_splitter_vfd_config_t>) -> herr_t {
        let DriverChoice::Splitter(it) = file_access(fapl_id)?.driver else { return Err(wrong_driver()) };
        let mut out = config_ptr.get().ok_or_else(|| Failure::bad_value("no configuration"))?;
        if out.magic != SPLITTER_MAGIC || out.version != 1 {
            return Err(Failure::bad_value("not a configuration of the splitter"));
        }
        (out.rw_fapl_id, out.wo_fapl_id) = (copy_of_list(it.access.as_ref()), copy_of_list(it.copy_access.as_ref()));
        store(&mut out.wo_path, &it.copy);
        store(&mut out.log_file_path, &it.log);
        out.ignore_wo_errs = it.ignore_errors;
        config_ptr.put(out);
        Ok(0)
    }

    /// Sets the onion driver in a file access list. The driver stores revisions of a file; the list
    /// stores only the revision number.
    fn H5Pset_fapl_onion(fapl_id: hid_t, fa: In<H5FD_onion_fapl_info_t>) -> herr_t {
        let it = fa.value("configuration")?;
        let page = it.page_size;
        if it.version != 1 || !page.is_power_of_two() {
            return Err(Failure::bad_value("not a configuration of the onion driver"));
        }
        let latest = it.revision_num == u64::MAX;
        let revision = if latest { Ok(c_uint::MAX) } else { c_uint::try_from(it.revision_num) };
        let revision = revision.map_err(|_| Failure::bad_value("the revision is out of range"))?;
        set(fapl_id, DriverChoice::Onion(revision))
    }

    /// Stores the configuration of the onion driver in `fa_out`.
    fn H5Pget_fapl_onion(fapl_id: hid_t, fa_out: Out<H5FD_onion_fapl_info_t>) -> herr_t {
        let DriverChoice::Onion(revision) = file_access(fapl_id)?.driver else { return Err(wrong_driver()) };
        fa_out.require("result")?.put(H5FD_onion_fapl_info_t {
            version: 1,
            backing_fapl_id: H5P_DEFAULT,
            page_size: 4096,
            store_target: 0,
            revision_num: if revision == c_uint::MAX { u64::MAX } else { revision.into() },
            force_write_open: 0,
            creation_flags: 0,
            comment: [0; 256],
        });
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::H5Pcreate;

    #[test]
    fn split_is_a_form_of_multi() {
        let mut map = [9; KINDS];
        let (none, mut relax) = (Text::of(std::ptr::null()), false);
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_FILE_ACCESS);
            let (fapl, names) = (Out::of(std::ptr::null_mut()), Out::of(std::ptr::null_mut()));
            let (map_out, relax_out) = (Out::of(map.as_mut_ptr()), Out::of(&raw mut relax));
            let starts = Out::of(std::ptr::null_mut());
            assert_eq!(H5Pget_fapl_multi(list, map_out, fapl, names, starts, relax_out), -1);
            assert_eq!(H5Pset_fapl_split(list, none, 0, none, 0), 0);
            assert_eq!(H5Pget_fapl_multi(list, map_out, fapl, names, starts, relax_out), 0);
            assert_eq!((map, relax), ([1, 1, 1, 3, 3, 1, 1], true));
        }
    }
}
