//! Functions for file creation lists (`H5Pset_userblock`, `H5Pset_file_space_strategy`, …).

use std::ffi::{c_int, c_uint};

use crate::ctypes::{counted, herr_t, hid_t, hsize_t};
use crate::error::{Failure, Outcome};
use crate::export;
use crate::plist::{change_file_create, file_create};
use crate::pointer::Out;

/// The exclusive upper limit for the number of entries of a B-tree node in a new file.
const MAX_ENTRIES: c_uint = 65_536;
/// The maximum number of shared message indexes in a file.
const MAX_INDEXES: c_uint = 8;
/// All message type flags of shared message indexes.
const ALL_MESSAGES: c_uint = 0x182a;
/// The default minimum size of a shared message in bytes.
const DEFAULT_MESSAGE_BYTES: c_uint = 250;
/// The maximum number of messages in a shared message index that is stored as a list.
const MAX_LIST: c_uint = 5000;
/// The valid page sizes in bytes for files with paged allocation.
const PAGE_BYTES: std::ops::RangeInclusive<hsize_t> = 512..=1 << 30;

/// Converts the number of bytes of addresses or lengths. Returns `None` for 0, which keeps the
/// current number.
fn width(bytes: usize) -> Outcome<Option<u8>> {
    match bytes {
        0 => Ok(None),
        2 | 4 | 8 | 16 => Ok(u8::try_from(bytes).ok()),
        _ => Err(Failure::bad_value("the size of addresses and lengths must be 2, 4, 8 or 16 bytes")),
    }
}

export! {
    /// Sets the size in bytes of the user block of a new file.
    fn H5Pset_userblock(plist_id: hid_t, size: hsize_t) -> herr_t {
        change_file_create(plist_id, |it| {
            if size != 0 && (size < 512 || !size.is_power_of_two()) {
                return Err(Failure::bad_value("the size of the user block must be 0 or a power of two of at least 512"));
            }
            it.user_block = size;
            Ok(0)
        })
    }

    /// Stores in `size` the size in bytes of the user block of a new file.
    fn H5Pget_userblock(plist_id: hid_t, size: Out<hsize_t>) -> herr_t {
        size.put(file_create(plist_id)?.user_block);
        Ok(0)
    }

    /// Sets the number of bytes of addresses and lengths in a new file.
    fn H5Pset_sizes(plist_id: hid_t, sizeof_addr: usize, sizeof_size: usize) -> herr_t {
        let (address, length) = (width(sizeof_addr)?, width(sizeof_size)?);
        change_file_create(plist_id, |it| {
            it.offset_bytes = address.unwrap_or(it.offset_bytes);
            it.length_bytes = length.unwrap_or(it.length_bytes);
            Ok(0)
        })
    }

    /// Stores the number of bytes of addresses and lengths in a new file.
    fn H5Pget_sizes(plist_id: hid_t, sizeof_addr: Out<usize>, sizeof_size: Out<usize>) -> herr_t {
        let list = file_create(plist_id)?;
        sizeof_addr.put(list.offset_bytes.into());
        sizeof_size.put(list.length_bytes.into());
        Ok(0)
    }

    /// Sets half of the number of entries in nodes of symbol tables in a new file: `ik` for B-tree
    /// nodes, `lk` for leaf nodes.
    fn H5Pset_sym_k(plist_id: hid_t, ik: c_uint, lk: c_uint) -> herr_t {
        change_file_create(plist_id, |it| {
            if ik >= MAX_ENTRIES / 2 {
                return Err(Failure::bad_value("the number of entries in a B-tree node is too large"));
            }
            if ik > 0 {
                it.group_internal_k = ik;
            }
            if lk > 0 {
                it.group_leaf_k = lk;
            }
            Ok(0)
        })
    }

    /// Stores half of the number of entries in nodes of symbol tables in a new file: for B-tree
    /// nodes and for leaf nodes.
    fn H5Pget_sym_k(plist_id: hid_t, ik: Out<c_uint>, lk: Out<c_uint>) -> herr_t {
        let list = file_create(plist_id)?;
        ik.put(list.group_internal_k);
        lk.put(list.group_leaf_k);
        Ok(0)
    }

    /// Sets half of the number of entries of the B-tree nodes that index chunks in a new file.
    fn H5Pset_istore_k(plist_id: hid_t, ik: c_uint) -> herr_t {
        if ik == 0 || ik >= MAX_ENTRIES / 2 {
            return Err(Failure::bad_value("the number of entries of a B-tree node is out of range"));
        }
        change_file_create(plist_id, |it| {
            it.chunk_k = ik;
            Ok(0)
        })
    }

    /// Stores in `ik` half of the number of entries of the B-tree nodes that index chunks in a new
    /// file.
    fn H5Pget_istore_k(plist_id: hid_t, ik: Out<c_uint>) -> herr_t {
        ik.put(file_create(plist_id)?.chunk_k);
        Ok(0)
    }

    /// Stores the superblock version of a file creation list in `boot`, and 0 as the version of
    /// each other structure.
    fn H5Pget_version(
        plist_id: hid_t,
        boot: Out<c_uint>,
        freelist: Out<c_uint>,
        stab: Out<c_uint>,
        shhdr: Out<c_uint>,
    ) -> herr_t {
        boot.put(file_create(plist_id)?.superblock_version);
        for version in [freelist, stab, shhdr] {
            version.put(0);
        }
        Ok(0)
    }
}

export! {
    /// Sets the number of shared message indexes of a new file.
    fn H5Pset_shared_mesg_nindexes(plist_id: hid_t, nindexes: c_uint) -> herr_t {
        let count = usize::try_from(nindexes).ok().filter(|_| nindexes <= MAX_INDEXES);
        let Some(count) = count else {
            return Err(Failure::bad_value("a file has at most 8 indexes of shared messages"));
        };
        change_file_create(plist_id, |it| {
            it.shared_indexes.resize(count, (0, DEFAULT_MESSAGE_BYTES));
            Ok(0)
        })
    }

    /// Stores in `nindexes` the number of shared message indexes of a new file.
    fn H5Pget_shared_mesg_nindexes(plist_id: hid_t, nindexes: Out<c_uint>) -> herr_t {
        nindexes.put(counted(file_create(plist_id)?.shared_indexes.len())?);
        Ok(0)
    }

    /// Sets the message types and the minimum message size of a shared message index in a new file.
    fn H5Pset_shared_mesg_index(
        plist_id: hid_t,
        index_num: c_uint,
        mesg_type_flags: c_uint,
        min_mesg_size: c_uint,
    ) -> herr_t {
        if mesg_type_flags > ALL_MESSAGES {
            return Err(Failure::bad_value("unknown types of shared messages"));
        }
        change_file_create(plist_id, |it| {
            let index = usize::try_from(index_num).ok().and_then(|index| it.shared_indexes.get_mut(index));
            let index = index.ok_or_else(|| Failure::bad_value("the list has no such shared message index"))?;
            *index = (mesg_type_flags, min_mesg_size);
            Ok(0)
        })
    }

    /// Stores the message types and the minimum message size of a shared message index in a new
    /// file.
    fn H5Pget_shared_mesg_index(
        plist_id: hid_t,
        index_num: c_uint,
        mesg_type_flags: Out<c_uint>,
        min_mesg_size: Out<c_uint>,
    ) -> herr_t {
        let list = file_create(plist_id)?;
        let index = usize::try_from(index_num).ok().and_then(|index| list.shared_indexes.get(index));
        let (flags, bytes) = index.ok_or_else(|| Failure::bad_value("the list has no such shared message index"))?;
        mesg_type_flags.put(*flags);
        min_mesg_size.put(*bytes);
        Ok(0)
    }

    /// Sets the numbers of messages at which a shared message index changes between a list and a
    /// B-tree.
    fn H5Pset_shared_mesg_phase_change(plist_id: hid_t, max_list: c_uint, min_btree: c_uint) -> herr_t {
        if max_list > MAX_LIST || min_btree > max_list + 1 {
            return Err(Failure::bad_value("the maximum list size and the minimum B-tree size of the index contradict each other"));
        }
        change_file_create(plist_id, |it| {
            it.shared_max_list = max_list;
            it.shared_min_btree = if max_list == 0 { 0 } else { min_btree };
            Ok(0)
        })
    }

    /// Stores the numbers of messages at which a shared message index changes between a list and a
    /// B-tree.
    fn H5Pget_shared_mesg_phase_change(
        plist_id: hid_t,
        max_list: Out<c_uint>,
        min_btree: Out<c_uint>,
    ) -> herr_t {
        let list = file_create(plist_id)?;
        max_list.put(list.shared_max_list);
        min_btree.put(list.shared_min_btree);
        Ok(0)
    }

    /// Sets the file space strategy of a new file. If the strategy has no free-space managers, the
    /// list keeps its earlier `persist` and `threshold`.
    fn H5Pset_file_space_strategy(
        plist_id: hid_t,
        strategy: c_int,
        persist: bool,
        threshold: hsize_t,
    ) -> herr_t {
        if !(0..4).contains(&strategy) {
            return Err(Failure::bad_value("unknown file space strategy"));
        }
        change_file_create(plist_id, |it| {
            it.strategy = strategy;
            if strategy < 2 {
                (it.persist, it.threshold) = (persist, threshold);
            }
            Ok(0)
        })
    }

    /// Stores the file space strategy of a new file and its parameters.
    fn H5Pget_file_space_strategy(
        plist_id: hid_t,
        strategy: Out<c_int>,
        persist: Out<bool>,
        threshold: Out<hsize_t>,
    ) -> herr_t {
        let list = file_create(plist_id)?;
        strategy.put(list.strategy);
        persist.put(list.persist);
        threshold.put(list.threshold);
        Ok(0)
    }

    /// Sets the file space strategy of a new file with the constants of HDF5 1.10.0.
    fn H5Pset_file_space(plist_id: hid_t, strategy: c_int, threshold: hsize_t) -> herr_t {
        let chosen = match strategy {
            0 => None,
            1 => Some((0, true)),
            2 => Some((0, false)),
            3 => Some((2, false)),
            4 => Some((3, false)),
            _ => return Err(Failure::bad_value("unknown file space strategy")),
        };
        change_file_create(plist_id, |it| {
            (it.strategy, it.persist) = chosen.unwrap_or((it.strategy, it.persist));
            if threshold != 0 {
                it.threshold = threshold;
            }
            Ok(0)
        })
    }

    /// Stores the file space strategy of a new file as a constant of HDF5 1.10.0.
    fn H5Pget_file_space(plist_id: hid_t, strategy: Out<c_int>, threshold: Out<hsize_t>) -> herr_t {
        let list = file_create(plist_id)?;
        strategy.put(match (list.strategy, list.persist) {
            (0, true) => 1,
            (0, false) => 2,
            (2, _) => 3,
            (3, _) => 4,
            _ => return Err(Failure::bad_value("the file space strategy does not exist in HDF5 1.10.0")),
        });
        threshold.put(list.threshold);
        Ok(0)
    }

    /// Sets the page size in bytes for paged allocation in a new file.
    fn H5Pset_file_space_page_size(plist_id: hid_t, fsp_size: hsize_t) -> herr_t {
        if !PAGE_BYTES.contains(&fsp_size) {
            return Err(Failure::bad_value("the page size must be from 512 bytes to 1 GiB"));
        }
        change_file_create(plist_id, |it| {
            it.page_size = fsp_size;
            Ok(0)
        })
    }

    /// Stores in `fsp_size` the page size in bytes for paged allocation in a new file.
    fn H5Pget_file_space_page_size(plist_id: hid_t, fsp_size: Out<hsize_t>) -> herr_t {
        fsp_size.put(file_create(plist_id)?.page_size);
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::{H5Pclose, H5Pcreate};

    #[test]
    fn values_are_validated() {
        // SAFETY: the calls have no pointers.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_FILE_CREATE);
            assert!(list > 0);
            assert_eq!(H5Pset_userblock(list, 100), -1);
            assert_eq!(H5Pset_userblock(list, 1024), 0);
            assert_eq!(file_create(list).expect("list").user_block, 1024);
            assert_eq!(H5Pset_sizes(list, 3, 8), -1);
            assert_eq!(H5Pset_sizes(list, 4, 0), 0);
            assert_eq!(file_create(list).expect("list").offset_bytes, 4);
            assert_eq!(H5Pset_shared_mesg_index(list, 0, 2, 1), -1);
            assert_eq!(H5Pset_shared_mesg_nindexes(list, 1), 0);
            assert_eq!(H5Pset_shared_mesg_index(list, 0, 0x182a, 1), 0);
            assert_eq!(H5Pset_file_space_page_size(list, 1), -1);
            assert_eq!(H5Pclose(list), 0);
            assert_eq!(H5Pset_userblock(list, 0), -1);
        }
    }
}
