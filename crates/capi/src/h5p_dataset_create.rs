//! Functions for dataset creation lists, except filters.

use std::ffi::{c_int, c_uint};

use hyperslab::{Hyperslab, Selection};

use crate::convert::Rules;
use crate::ctypes::{H5S_UNLIMITED, counted, herr_t, hid_t, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::h5p::copy_text;
use crate::plist::settings::{DatasetCreate, FillChoice, LayoutChoice, MappingChoice};
use crate::plist::{change_dataset_create, dataset_create};
use crate::pointer::{Buffer, Data, In, Out, Text, TextBuffer};
use crate::space::{self, CSpace};

/// The chunk option that leaves partial edge chunks of a dataset unfiltered.
const DONT_FILTER_PARTIAL_CHUNKS: c_uint = 2;
/// The maximum number of dimensions (rank) of a dataspace.
const MAX_RANK: c_int = 32;

/// Returns the chunk shape that a caller passes, after a check of the rank and the sizes.
///
/// # Errors
/// Fails with a bad value or a bad range if the rank or a size is invalid.
pub fn chunk_shape(ndims: c_int, dim: In<hsize_t>) -> Outcome<Vec<hsize_t>> {
    if ndims <= 0 {
        return Err(Failure::arguments(codes::BADRANGE, "the rank of a chunk must be positive"));
    }
    if ndims > MAX_RANK {
        return Err(Failure::arguments(codes::BADRANGE, "the rank of a chunk is too large"));
    }
    let rank = usize::try_from(ndims).map_err(|_| Failure::bad_value("the rank is negative"))?;
    let shape = dim.array(rank, "shape of chunks")?.to_vec();
    let mut elements = 1_u64;
    for size in &shape {
        if *size == 0 {
            return Err(Failure::arguments(codes::BADRANGE, "each dimension of a chunk must be positive"));
        }
        let small = u32::try_from(*size).is_ok();
        elements = elements
            .checked_mul(*size)
            .filter(|count| small && u32::try_from(*count).is_ok())
            .ok_or_else(|| {
                Failure::arguments(codes::BADRANGE, "the number of elements in a chunk must be below 2^32")
            })?;
    }
    Ok(shape)
}

export! {
    /// Sets the storage layout of new datasets in a dataset creation list.
    fn H5Pset_layout(plist_id: hid_t, layout: c_int) -> herr_t {
        let layout = match layout {
            0 => LayoutChoice::Compact,
            1 => LayoutChoice::Contiguous,
            2 => LayoutChoice::Chunked,
            3 => LayoutChoice::Virtual,
            _ => return Err(Failure::arguments(codes::BADRANGE, "unknown storage layout")),
        };
        change_dataset_create(plist_id, |it| {
            it.layout = layout;
            it.mappings.clear();
            Ok(0)
        })
    }

    /// Returns the storage layout of new datasets from a dataset creation list.
    fn H5Pget_layout(plist_id: hid_t) -> c_int {
        Ok(dataset_create(plist_id)?.layout as c_int)
    }

    /// Sets a chunked layout with the chunk shape `dim` in a dataset creation list.
    fn H5Pset_chunk(plist_id: hid_t, ndims: c_int, dim: In<hsize_t>) -> herr_t {
        let shape = chunk_shape(ndims, dim)?;
        change_dataset_create(plist_id, |it| {
            (it.layout, it.chunk) = (LayoutChoice::Chunked, shape);
            Ok(0)
        })
    }

    /// Stores at most `max_ndims` sizes of a dataset creation list's chunk shape in `dim` and
    /// returns the rank.
    fn H5Pget_chunk(plist_id: hid_t, max_ndims: c_int, dim: Out<hsize_t>) -> c_int {
        let list = dataset_create(plist_id)?;
        if list.layout != LayoutChoice::Chunked {
            return Err(Failure::bad_value("the layout is not chunked"));
        }
        dim.fill(&list.chunk, counted(max_ndims.max(0))?)?;
        counted(list.chunk.len())
    }

    /// Sets the chunk options of new datasets in a dataset creation list.
    fn H5Pset_chunk_opts(plist_id: hid_t, opts: c_uint) -> herr_t {
        if opts & !DONT_FILTER_PARTIAL_CHUNKS != 0 {
            return Err(Failure::bad_value("unknown chunk options"));
        }
        change_dataset_create(plist_id, |it| {
            if !matches!(it.layout, LayoutChoice::Chunked | LayoutChoice::Structured) {
                return Err(Failure::bad_value("the layout is not chunked"));
            }
            it.chunk_options = opts;
            Ok(0)
        })
    }

    /// Stores the chunk options of a dataset creation list in `opts`.
    fn H5Pget_chunk_opts(plist_id: hid_t, opts: Out<c_uint>) -> herr_t {
        let list = dataset_create(plist_id)?;
        if !matches!(list.layout, LayoutChoice::Chunked | LayoutChoice::Structured) {
            return Err(Failure::bad_value("the layout is not chunked"));
        }
        opts.put(list.chunk_options);
        Ok(0)
    }

    /// Adds an external file to a dataset creation list. The file stores `size` bytes of raw data
    /// from `offset` on.
    fn H5Pset_external(plist_id: hid_t, name: Text, offset: i64, size: hsize_t) -> herr_t {
        let name = name.name("name of the file")?.to_vec();
        if offset < 0 {
            return Err(Failure::bad_value("the offset of the external file is negative"));
        }
        change_dataset_create(plist_id, |it| {
            if it.external.iter().any(|(_, _, size)| *size == H5S_UNLIMITED) {
                return Err(Failure::bad_value("the previous external file has an unlimited size"));
            }
            let total = it.external.iter().try_fold(0_u64, |sum, (_, _, size)| sum.checked_add(*size));
            if size != H5S_UNLIMITED && total.and_then(|total| total.checked_add(size)).is_none() {
                return Err(Failure::new(codes::EFL, codes::OVERFLOW, "the total size of the external files is too large"));
            }
            it.external.push((name, offset, size));
            Ok(0)
        })
    }

    /// Returns the number of external files in a dataset creation list.
    fn H5Pget_external_count(plist_id: hid_t) -> c_int {
        counted(dataset_create(plist_id)?.external.len())
    }

    /// Stores the name, the offset and the size of a dataset creation list's external file with the
    /// index `idx`.
    fn H5Pget_external(
        plist_id: hid_t,
        idx: c_uint,
        name_size: usize,
        name: TextBuffer,
        offset: Out<i64>,
        size: Out<hsize_t>,
    ) -> herr_t {
        let list = dataset_create(plist_id)?;
        let file = usize::try_from(idx).ok().and_then(|index| list.external.get(index));
        let missing = || Failure::arguments(codes::BADRANGE, "the list has no external file of this index");
        let (path, start, bytes) = file.ok_or_else(missing)?;
        name.put(path, name_size);
        offset.put(*start);
        size.put(*bytes);
        Ok(0)
    }
}

export! {
    /// Sets the fill value of new datasets in a dataset creation list. A null `value` stands for an
    /// undefined fill value.
    fn H5Pset_fill_value(plist_id: hid_t, type_id: hid_t, value: Data) -> herr_t {
        let fill = if value.pointer().is_null() {
            FillChoice::Undefined
        } else {
            let datatype = crate::datatype::copy_of(type_id)?;
            let size = usize::try_from(datatype.size).map_err(|_| Failure::bad_value("bad size"))?;
            let element = copied(&datatype, value.bytes(size, "value")?)?;
            FillChoice::Value(datatype, element)
        };
        change_dataset_create(plist_id, |it| {
            it.fill = fill;
            Ok(0)
        })
    }

    /// Stores the fill value of a dataset creation list in `value` as an element of the datatype
    /// `type_id`.
    fn H5Pget_fill_value(plist_id: hid_t, type_id: hid_t, value: Buffer) -> herr_t {
        let datatype = crate::datatype::copy_of(type_id)?;
        let size = usize::try_from(datatype.size).map_err(|_| Failure::bad_value("bad size"))?;
        let out = value.bytes(size, "buffer")?;
        match dataset_create(plist_id)?.fill {
            FillChoice::Undefined => {
                return Err(Failure::new(codes::PLIST, codes::BADVALUE, "the fill value is undefined"));
            }
            FillChoice::Default => out.fill(0),
            FillChoice::Value(stored, bytes) => {
                let mut convert = || -> Outcome<()> {
                    Ok(Rules::default().plan(&stored, &datatype)?.convert(&bytes, out, 1)?)
                };
                convert().because(codes::PLIST, codes::CANTGET, "the fill value cannot be converted")?;
            }
        }
        Ok(0)
    }

    /// Stores in `status` the state of a dataset creation list's fill value: undefined, the
    /// default, or set by the user.
    fn H5Pfill_value_defined(plist: hid_t, status: Out<c_int>) -> herr_t {
        status.require("result")?.put(match dataset_create(plist)?.fill {
            FillChoice::Undefined => 0,
            FillChoice::Default => 1,
            FillChoice::Value(..) => 2,
        });
        Ok(0)
    }

    /// Sets the time at which the library writes the fill value of a new dataset.
    fn H5Pset_fill_time(plist_id: hid_t, fill_time: c_int) -> herr_t {
        if !(0..=2).contains(&fill_time) {
            return Err(Failure::bad_value("unknown fill time"));
        }
        change_dataset_create(plist_id, |it| {
            it.fill_time = fill_time;
            Ok(0)
        })
    }

    /// Stores in `fill_time` the time at which the library writes the fill value of a new dataset.
    fn H5Pget_fill_time(plist_id: hid_t, fill_time: Out<c_int>) -> herr_t {
        fill_time.put(dataset_create(plist_id)?.fill_time);
        Ok(0)
    }

    /// Sets the time at which the library allocates raw data of a new dataset. The default depends
    /// on the layout.
    fn H5Pset_alloc_time(plist_id: hid_t, alloc_time: c_int) -> herr_t {
        if !(0..=3).contains(&alloc_time) {
            return Err(Failure::bad_value("unknown allocation time"));
        }
        change_dataset_create(plist_id, |it| {
            it.allocation_time = Some(alloc_time).filter(|time| *time != 0);
            Ok(0)
        })
    }

    /// Stores in `alloc_time` the time at which the library allocates raw data of a new dataset.
    fn H5Pget_alloc_time(plist_id: hid_t, alloc_time: Out<c_int>) -> herr_t {
        let list = dataset_create(plist_id)?;
        alloc_time.put(allocation_time(&list));
        Ok(0)
    }

    /// Sets in a dataset creation list whether object headers of new datasets have the minimum
    /// size.
    fn H5Pset_dset_no_attrs_hint(dcpl_id: hid_t, minimize: bool) -> herr_t {
        change_dataset_create(dcpl_id, |it| {
            it.minimize_header = minimize;
            Ok(0)
        })
    }

    /// Stores in `minimize` whether object headers of new datasets have the minimum size.
    fn H5Pget_dset_no_attrs_hint(dcpl_id: hid_t, minimize: Out<bool>) -> herr_t {
        minimize.require("result")?.put(dataset_create(dcpl_id)?.minimize_header);
        Ok(0)
    }
}

/// Returns true if a selection of elements is an unlimited hyperslab.
fn is_unlimited(selection: &Selection) -> bool {
    matches!(selection, Selection::Hyperslab(Hyperslab::Regular(regular)) if regular.is_unlimited())
}

/// Returns the time at which raw data of a new dataset is allocated. This is the setting of the
/// creation list, or else the default of the layout.
pub fn allocation_time(list: &DatasetCreate) -> c_int {
    list.allocation_time.unwrap_or(match list.layout {
        LayoutChoice::Compact => 1,
        LayoutChoice::Contiguous => 2,
        LayoutChoice::Chunked | LayoutChoice::Virtual | LayoutChoice::Structured => 3,
    })
}

/// Checks that both selections of a virtual dataset mapping have compatible sizes: the selection in
/// the virtual dataset, and the one in the source dataset.
fn check_mapping(destination: &CSpace, source: &CSpace) -> Outcome<()> {
    if [destination, source].iter().any(|space| matches!(space.selection, Selection::Points(_))) {
        return Err(Failure::bad_value("mappings of selected points are not supported"));
    }
    if is_unlimited(&destination.selection) || is_unlimited(&source.selection) {
        return Ok(());
    }
    if space::count_anywhere(destination)? != space::count_anywhere(source)? {
        let text = "a mapping has different numbers of elements: different number in source and destination";
        return Err(Failure::bad_value(text));
    }
    Ok(())
}

/// Returns a copy of an element in memory with its variable-length data. The copied data is never
/// freed, because property lists copy only the pointers.
fn copied(datatype: &hyperslab::Datatype, element: &[u8]) -> Outcome<Vec<u8>> {
    let mut copy = element.to_vec();
    if crate::convert::reclaim::is_nested(datatype) {
        Rules::default().plan(datatype, datatype)?.convert(element, &mut copy, 1)?;
    }
    Ok(copy)
}

/// Returns the virtual dataset mapping with the given index in a dataset creation list.
fn mapping(list: hid_t, index: usize) -> Outcome<MappingChoice> {
    let list = dataset_create(list)?;
    if list.layout != LayoutChoice::Virtual {
        return Err(Failure::bad_value("the layout is not virtual"));
    }
    list.mappings
        .into_iter()
        .nth(index)
        .ok_or_else(|| Failure::bad_value("the property list has no mapping with this index"))
}

export! {
    /// Adds a virtual dataset mapping to a dataset creation list and sets the virtual layout.
    fn H5Pset_virtual(
        dcpl_id: hid_t,
        vspace_id: hid_t,
        src_file_name: Text,
        src_dset_name: Text,
        src_space_id: hid_t,
    ) -> herr_t {
        let file = src_file_name.bytes("name of the source file")?.to_vec();
        let dataset = src_dset_name.bytes("name of the source dataset")?.to_vec();
        let (destination, source) = (space::copy_of(vspace_id)?, space::copy_of(src_space_id)?);
        check_mapping(&destination, &source)?;
        let selections = (space::effective(&destination)?.into_owned(), space::effective(&source)?.into_owned());
        change_dataset_create(dcpl_id, |it| {
            if it.layout != LayoutChoice::Virtual {
                it.mappings.clear();
            }
            it.layout = LayoutChoice::Virtual;
            it.mappings.push(MappingChoice {
                space: (destination.extent, selections.0),
                file,
                dataset,
                source: (source.extent, selections.1),
            });
            Ok(0)
        })
    }

    /// Stores in `count` the number of virtual dataset mappings in a dataset creation list.
    fn H5Pget_virtual_count(dcpl_id: hid_t, count: Out<usize>) -> herr_t {
        let list = dataset_create(dcpl_id)?;
        if list.layout != LayoutChoice::Virtual {
            return Err(Failure::bad_value("the layout is not virtual"));
        }
        count.put(list.mappings.len());
        Ok(0)
    }

    /// Copies the source dataset's name of a virtual dataset mapping to `name` and returns its
    /// length.
    fn H5Pget_virtual_dsetname(dcpl_id: hid_t, index: usize, name: TextBuffer, size: usize) -> isize {
        copy_text(&mapping(dcpl_id, index)?.dataset, name, size)
    }

    /// Copies the source file's name of a virtual dataset mapping to `name` and returns its length.
    fn H5Pget_virtual_filename(dcpl_id: hid_t, index: usize, name: TextBuffer, size: usize) -> isize {
        copy_text(&mapping(dcpl_id, index)?.file, name, size)
    }

    /// Creates a dataspace with a selection from a virtual dataset mapping: the selection in the
    /// virtual dataset.
    fn H5Pget_virtual_vspace(dcpl_id: hid_t, index: usize) -> hid_t {
        let (extent, selection) = mapping(dcpl_id, index)?.space;
        Ok(space::register(CSpace { extent, selection, offset: Vec::new() }))
    }

    /// Creates a dataspace with a selection from a virtual dataset mapping: the selection in the
    /// source dataset.
    fn H5Pget_virtual_srcspace(dcpl_id: hid_t, index: usize) -> hid_t {
        let (extent, selection) = mapping(dcpl_id, index)?.source;
        Ok(space::register(CSpace { extent, selection, offset: Vec::new() }))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::H5Pcreate;
    use crate::symbols::datatypes::{H5T_NATIVE_DOUBLE_g, H5T_NATIVE_INT_g};

    #[test]
    fn chunks_and_fill_values_are_kept() {
        let (shape, fill) = ([4_u64, 0], 7_i32);
        let (mut double, mut state) = (0.0_f64, 0);
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_DATASET_CREATE);
            assert_eq!(H5Pget_chunk(list, 0, Out::of(std::ptr::null_mut())), -1);
            assert_eq!(H5Pset_chunk(list, 2, In::of(shape.as_ptr())), -1);
            assert_eq!(H5Pset_chunk(list, 1, In::of(shape.as_ptr())), 0);
            assert_eq!(H5Pget_chunk(list, 0, Out::of(std::ptr::null_mut())), 1);
            assert_eq!(H5Pset_fill_value(list, H5T_NATIVE_INT_g, Data::of((&raw const fill).cast())), 0);
            let out = Buffer::of((&raw mut double).cast());
            assert_eq!(H5Pget_fill_value(list, H5T_NATIVE_DOUBLE_g, out), 0);
            assert!((double - 7.0).abs() < 1e-9);
            assert_eq!(H5Pfill_value_defined(list, Out::of(&raw mut state)), 0);
            assert_eq!(state, 2);
            assert_eq!(H5Pget_alloc_time(list, Out::of(&raw mut state)), 0);
            assert_eq!(state, 3);
            assert_eq!(H5Pset_external(list, Text::of(c"raw".as_ptr()), 0, H5S_UNLIMITED), 0);
            assert_eq!(H5Pset_external(list, Text::of(c"raw".as_ptr()), 0, 1), -1);
        }
    }
}
