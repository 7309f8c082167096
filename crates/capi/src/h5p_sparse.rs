//! Functions for structured chunks in dataset creation lists, and for the filters of their
//! sections.

use std::ffi::{c_int, c_uint};

use crate::ctypes::{counted, herr_t, hid_t, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::h5p_dataset_create::chunk_shape;
use crate::h5p_filters::{Places, append, entry, missing, modify, remove};
use crate::h5z::check_id;
use crate::plist::settings::{DatasetCreate, FilterEntry, LayoutChoice};
use crate::plist::{change_dataset_create, dataset_create};
use crate::pointer::{In, Out, TextBuffer};

/// The flag of structured chunks that record defined elements (`H5D_SPARSE_CHUNK`).
const SPARSE_CHUNK: c_uint = 1;
/// The flag of structured chunks with variable-length data (`H5D_VL_CHUNK`).
const VL_CHUNK: c_uint = 2;

/// Returns the filters of one section of a dataset's structured chunks. The section has the given
/// number.
fn section(list: &mut DatasetCreate, number: c_int) -> Outcome<&mut Vec<FilterEntry>> {
    if list.layout != LayoutChoice::Structured {
        return Err(Failure::bad_value("the layout has no structured chunks"));
    }
    let pipeline = usize::try_from(number).ok().and_then(|number| list.structured.filters.get_mut(number));
    pipeline.ok_or_else(|| Failure::bad_value("unknown section of a structured chunk"))
}

export! {
    /// Sets a layout of structured chunks with the chunk shape `dim` and the chunk kind `flag` in a
    /// dataset creation list.
    fn H5Pset_struct_chunk(dcpl: hid_t, ndims: c_int, dim: In<hsize_t>, flag: c_uint) -> herr_t {
        let chunk = chunk_shape(ndims, dim)?;
        if flag != SPARSE_CHUNK && flag != VL_CHUNK && flag != SPARSE_CHUNK | VL_CHUNK {
            return Err(Failure::bad_value("unknown kind of structured chunks"));
        }
        change_dataset_create(dcpl, |it| {
            it.layout = LayoutChoice::Structured;
            (it.structured.chunk, it.structured.flags) = (chunk, flag);
            Ok(0)
        })
    }

    /// Stores the shape and the kind of a dataset creation list's structured chunks and returns the
    /// rank.
    fn H5Pget_struct_chunk(dcpl: hid_t, max_ndims: c_int, dim: Out<hsize_t>, flag: Out<c_uint>) -> c_int {
        let list = dataset_create(dcpl)?;
        if list.layout != LayoutChoice::Structured {
            return Err(Failure::bad_value("the chunks are not structured"));
        }
        dim.fill(&list.structured.chunk, counted(max_ndims.max(0))?)?;
        flag.put(list.structured.flags);
        counted(list.structured.chunk.len())
    }

    /// Stores the number and the kinds of the sections of structured chunks. The heap section
    /// counts only with `H5D_VL_CHUNK`, because the list does not know the datatype.
    fn H5Pget_struct_chunk_sections(dcpl: hid_t, num: Out<c_int>, buf: Out<c_int>) -> herr_t {
        let list = dataset_create(dcpl)?;
        if list.layout != LayoutChoice::Structured {
            return Err(Failure::bad_value("the chunks are not structured"));
        }
        let sections: &[c_int] = match list.structured.flags {
            SPARSE_CHUNK => &[0, 1],
            VL_CHUNK => &[1, 2],
            _ => &[0, 1, 2],
        };
        buf.fill(sections, sections.len())?;
        num.put(counted(sections.len())?);
        Ok(0)
    }

    /// Appends a filter to the filter pipeline of the section `sec` of structured chunks.
    fn H5Pset_filter2(
        plist: hid_t,
        sec: c_int,
        id: c_int,
        flags: c_uint,
        cd_nelmts: usize,
        cd_values: In<c_uint>,
    ) -> herr_t {
        let new = entry(id, flags, cd_nelmts, cd_values)?;
        change_dataset_create(plist, |it| append(section(it, sec)?, new).map(|()| 0))
    }

    /// Stores in `n` the number of filters of the section `sec` of structured chunks.
    fn H5Pget_nfilters2(plist: hid_t, sec: c_int, n: Out<c_int>) -> herr_t {
        let count = section(&mut dataset_create(plist)?, sec)?.len();
        n.require("result")?.put(counted(count)?);
        Ok(0)
    }

    /// Stores the properties of the filter at index `idx` in a section of structured chunks and
    /// returns the filter's identifier.
    fn H5Pget_filter3(
        plist: hid_t,
        sec: c_int,
        idx: c_uint,
        flags: Out<c_uint>,
        cd_nelmts: Out<usize>,
        cd_values: Out<c_uint>,
        namelen: usize,
        name: TextBuffer,
        config: Out<c_uint>,
    ) -> c_int {
        let places = Places { flags, count: cd_nelmts, values: cd_values, name_size: namelen, name, config };
        places.check()?;
        let mut list = dataset_create(plist)?;
        let entry = usize::try_from(idx).ok().and_then(|index| section(&mut list, sec).ok()?.get(index));
        let entry = entry.ok_or_else(|| Failure::bad_value("the section has no filter with this index"))?;
        places.store(entry)?;
        Ok(entry.id)
    }

    /// Stores the properties of the filter with the identifier `id` in a section of structured
    /// chunks.
    fn H5Pget_filter_by_id3(
        plist: hid_t,
        sec: c_int,
        id: c_int,
        flags: Out<c_uint>,
        cd_nelmts: Out<usize>,
        cd_values: Out<c_uint>,
        namelen: usize,
        name: TextBuffer,
        config: Out<c_uint>,
    ) -> herr_t {
        let places = Places { flags, count: cd_nelmts, values: cd_values, name_size: namelen, name, config };
        places.check()?;
        let mut list = dataset_create(plist)?;
        let entry = section(&mut list, sec)?.iter().find(|entry| entry.id == id).ok_or_else(missing);
        places.store(entry.because(codes::PLIST, codes::CANTGET, "cannot return the filter")?)?;
        Ok(0)
    }

    /// Removes a filter from a section of structured chunks, or all filters for the identifier 0.
    fn H5Premove_filter2(plist: hid_t, sec: c_int, id: c_int) -> herr_t {
        check_id(id)?;
        change_dataset_create(plist, |it| remove(section(it, sec)?, id))
    }

    /// Replaces the flags and client data of a filter in a section of structured chunks.
    fn H5Pmodify_filter2(
        plist: hid_t,
        sec: c_int,
        id: c_int,
        flags: c_uint,
        cd_nelmts: usize,
        cd_values: In<c_uint>,
    ) -> herr_t {
        let new = entry(id, flags, cd_nelmts, cd_values)?;
        change_dataset_create(plist, |it| modify(section(it, sec)?, new))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::H5Pcreate;
    use crate::h5p_filters::H5Pset_deflate;

    #[test]
    fn ordinary_calls_add_to_each_section() {
        let (shape, mut count) = ([4_u64], 0);
        let values = In::of(std::ptr::null());
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_DATASET_CREATE);
            assert_eq!(H5Pset_filter2(list, 1, 2, 0, 0, values), -1);
            assert_eq!(H5Pset_struct_chunk(list, 1, In::of(shape.as_ptr()), SPARSE_CHUNK), 0);
            assert_eq!(H5Pset_deflate(list, 3), 0);
            assert_eq!(
                (H5Pset_filter2(list, 1, 2, 0, 0, values), H5Pset_filter2(list, 3, 2, 0, 0, values)),
                (0, -1)
            );
            assert_eq!(H5Pget_nfilters2(list, 1, Out::of(&raw mut count)), 0);
            assert_eq!(count, 2);
            assert_eq!(
                (H5Premove_filter2(list, 0, 1), H5Pget_nfilters2(list, 0, Out::of(&raw mut count))),
                (0, 0)
            );
            assert_eq!(count, 0);
        }
    }
}
