//! Functions for the filter pipeline of a creation list.

use std::ffi::{c_int, c_uint};

use crate::ctypes::{counted, herr_t, hid_t, htri_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::h5z::check_id;
use crate::plist::settings::{DatasetCreate, FileCreate, FilterEntry, GroupCreate, LayoutChoice};
use crate::plist::{Settings, change_dataset_create, dataset_create};
use crate::pointer::{In, Out, TextBuffer};
use crate::{export, filter};

/// The flag of an optional filter, which a writer may skip (`H5Z_FLAG_OPTIONAL`).
pub const OPTIONAL: c_uint = 1;
/// The flags of a filter that a property list may store.
const DEFINED_FLAGS: c_uint = 0xff;
/// The maximum number of filters in a filter pipeline.
const MAX_FILTERS: usize = 32;
/// The maximum number of client data values of a filter that a caller may request.
const MAX_VALUES: usize = 256;

/// Returns a filter entry for a property list from the arguments of a C function.
///
/// # Errors
/// Fails with a bad value if the identifier, the flags or the client data are invalid.
pub fn entry(id: c_int, flags: c_uint, count: usize, values: In<c_uint>) -> Outcome<FilterEntry> {
    check_id(id)?;
    if flags & !DEFINED_FLAGS != 0 {
        return Err(Failure::bad_value("unknown flags of a filter"));
    }
    let data = values.array(count, "values of the filter")?.to_vec();
    // The library accepts a filter that is not available. The error occurs when the filter is used.
    let name = filter::is_available(id).then(|| filter::name(id)).flatten();
    Ok(FilterEntry { id, flags, data, name })
}

/// Appends a filter to a filter pipeline.
///
/// # Errors
/// Fails if the pipeline already has the maximum number of filters.
pub fn append(pipeline: &mut Vec<FilterEntry>, entry: FilterEntry) -> Outcome<()> {
    if pipeline.len() >= MAX_FILTERS {
        return Err(Failure::new(codes::PLINE, codes::CANTINIT, "the pipeline has too many filters"));
    }
    pipeline.push(entry);
    Ok(())
}

/// Appends a filter to the filter pipeline of a creation list. If the layout is structured chunks,
/// appends it to the pipeline of each section.
fn add(list: hid_t, entry: &FilterEntry) -> Outcome<herr_t> {
    if has_sections(list)? {
        return change_dataset_create(list, |it| {
            for pipeline in &mut it.structured.filters {
                append(pipeline, entry.clone())?;
            }
            Ok(0)
        });
    }
    change(list, |pipeline| append(pipeline, entry.clone()).map(|()| 0))
}

/// Returns true if a creation list states structured chunks, whose sections have filters of their
/// own.
fn has_sections(list: hid_t) -> Outcome<bool> {
    Ok(match &*crate::plist::find(list)?.settings.read() {
        Settings::DatasetCreate(it) => it.layout == LayoutChoice::Structured,
        _ => false,
    })
}

/// Calls `change` with the filter pipeline of a creation list: of a dataset's chunks, or of a
/// group's links in dense storage.
fn change<T>(list: hid_t, change: impl FnOnce(&mut Vec<FilterEntry>) -> Outcome<T>) -> Outcome<T> {
    match &mut *crate::plist::find(list)?.settings.write() {
        Settings::DatasetCreate(DatasetCreate { filters, .. })
        | Settings::GroupCreate(GroupCreate { filters, .. })
        | Settings::FileCreate(FileCreate { group: GroupCreate { filters, .. }, .. }) => change(filters),
        _ => Err(Failure::bad_type("not a creation list with filters")),
    }
}

/// Appends a filter of the library to the filter pipeline of a creation list.
fn add_built_in(list: hid_t, id: c_int, flags: c_uint, data: &[c_uint]) -> Outcome<herr_t> {
    let name = filter::name(id);
    add(list, &FilterEntry { id, flags, data: data.to_vec(), name })
}

/// The caller's output arguments for the properties of a filter.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// The output argument for the flags of the filter.
    pub flags: Out<c_uint>,
    /// The number of client data values: before the call the caller's limit, after the call the
    /// filter's count.
    pub count: Out<usize>,
    /// The output array for the filter's client data values.
    pub values: Out<c_uint>,
    /// The size in bytes of the caller's buffer for the filter name.
    pub name_size: usize,
    /// The caller's buffer for the filter name.
    pub name: TextBuffer,
    /// The output argument for the configuration flags (`H5Z_FILTER_CONFIG_*`).
    pub config: Out<c_uint>,
}

impl Places {
    /// Checks the caller's limit and array for client data values of a filter.
    ///
    /// # Errors
    /// Fails with a bad value if the limit is too large, or if the array is missing.
    pub fn check(&self) -> Outcome<()> {
        let count = self.count.get().unwrap_or(0);
        if count > MAX_VALUES {
            return Err(Failure::bad_value(
                "the number of client data values exceeds 256 and may be uninitialized",
            ));
        }
        if count > 0 && self.values.is_null() {
            return Err(Failure::bad_value("the array for client data values is missing"));
        }
        Ok(())
    }

    /// Writes the flags, client data, name and configuration of a filter to the caller's output
    /// arguments.
    ///
    /// # Errors
    /// Fails if the array for client data values is not aligned.
    pub fn store(&self, entry: &FilterEntry) -> Outcome<()> {
        self.flags.put(entry.flags);
        if let Some(count) = self.count.get() {
            self.values.fill(&entry.data, count)?;
            self.count.put(entry.data.len());
        }
        let name = entry.name.clone().or_else(|| filter::name(entry.id));
        self.name.put(&name.unwrap_or_default(), self.name_size);
        self.config.put(filter::configuration(entry.id).unwrap_or(0));
        Ok(())
    }
}

/// Returns the failure for a filter that the filter pipeline does not contain.
pub fn missing() -> Failure {
    Failure::new(codes::PLINE, codes::NOTFOUND, "the filter is not in the filter pipeline")
}

/// Returns the filters of a creation list. If the layout is structured chunks, returns the filters
/// of the section with the values.
fn pipeline(list: hid_t) -> Outcome<Vec<FilterEntry>> {
    if has_sections(list)? {
        let [_, values, _] = dataset_create(list)?.structured.filters;
        return Ok(values);
    }
    change(list, |pipeline| Ok(pipeline.clone()))
}

/// Stores the properties of a creation list's filter at an index, and returns the filter's
/// identifier.
fn get_by_index(list: hid_t, index: c_uint, places: &Places) -> Outcome<c_int> {
    places.check()?;
    let pipeline = pipeline(list)?;
    let entry = usize::try_from(index).ok().and_then(|index| pipeline.get(index));
    let entry =
        entry.ok_or_else(|| Failure::bad_value("the filter pipeline has no filter with this index"))?;
    places.store(entry)?;
    Ok(entry.id)
}

/// Stores the properties of a creation list's filter with the given identifier.
fn get_by_id(list: hid_t, id: c_int, places: &Places) -> Outcome<herr_t> {
    places.check()?;
    check_id(id)?;
    let pipeline = pipeline(list)?;
    let entry = pipeline.iter().find(|entry| entry.id == id).ok_or_else(missing);
    places.store(entry.because(codes::PLIST, codes::CANTGET, "cannot return the filter")?)?;
    Ok(0)
}

/// Replaces the flags and client data of a filter in a filter pipeline.
///
/// # Errors
/// Fails if the pipeline does not contain the filter.
pub fn modify(pipeline: &mut [FilterEntry], new: FilterEntry) -> Outcome<herr_t> {
    let old = pipeline.iter_mut().find(|old| old.id == new.id).ok_or_else(missing)?;
    (old.flags, old.data) = (new.flags, new.data);
    Ok(0)
}

/// Removes a filter from a filter pipeline, or all filters for the identifier 0.
///
/// # Errors
/// Fails if the pipeline does not contain the filter.
pub fn remove(pipeline: &mut Vec<FilterEntry>, id: c_int) -> Outcome<herr_t> {
    if id == 0 {
        pipeline.clear();
        return Ok(0);
    }
    let before = pipeline.len();
    pipeline.retain(|entry| entry.id != id);
    if before == pipeline.len() && before != 0 { Err(missing()) } else { Ok(0) }
}

export! {
    /// Appends a filter to the filter pipeline of a creation list.
    fn H5Pset_filter(
        plist_id: hid_t,
        filter: c_int,
        flags: c_uint,
        cd_nelmts: usize,
        cd_values: In<c_uint>,
    ) -> herr_t {
        add(plist_id, &entry(filter, flags, cd_nelmts, cd_values)?)
    }

    /// Replaces the flags and client data of a filter in the filter pipeline of a creation list.
    fn H5Pmodify_filter(
        plist_id: hid_t,
        filter: c_int,
        flags: c_uint,
        cd_nelmts: usize,
        cd_values: In<c_uint>,
    ) -> herr_t {
        let new = entry(filter, flags, cd_nelmts, cd_values)?;
        change(plist_id, |pipeline| modify(pipeline, new))
    }

    /// Removes a filter from the filter pipeline of a creation list, or all filters for the
    /// identifier 0.
    fn H5Premove_filter(plist_id: hid_t, filter: c_int) -> herr_t {
        check_id(filter)?;
        change(plist_id, |pipeline| remove(pipeline, filter))
    }

    /// Returns the number of filters in the filter pipeline of a creation list.
    fn H5Pget_nfilters(plist_id: hid_t) -> c_int {
        counted(pipeline(plist_id)?.len())
    }

    /// Stores the properties of a creation list's filter at index `idx` and returns the filter's
    /// identifier.
    fn H5Pget_filter2(
        plist_id: hid_t,
        idx: c_uint,
        flags: Out<c_uint>,
        cd_nelmts: Out<usize>,
        cd_values: Out<c_uint>,
        namelen: usize,
        name: TextBuffer,
        filter_config: Out<c_uint>,
    ) -> c_int {
        let places = Places {
            flags, count: cd_nelmts, values: cd_values, name_size: namelen, name, config: filter_config,
        };
        get_by_index(plist_id, idx, &places)
    }

    /// Stores the properties of a creation list's filter, except its configuration, and returns the
    /// filter's identifier.
    fn H5Pget_filter1(
        plist_id: hid_t,
        filter: c_uint,
        flags: Out<c_uint>,
        cd_nelmts: Out<usize>,
        cd_values: Out<c_uint>,
        namelen: usize,
        name: TextBuffer,
    ) -> c_int {
        let config = Out::of(std::ptr::null_mut());
        let places = Places { flags, count: cd_nelmts, values: cd_values, name_size: namelen, name, config };
        get_by_index(plist_id, filter, &places)
    }

    /// Gets the properties of the filter with the identifier `filter_id` in a creation list. Stores
    /// them through the pointers of the caller.
    fn H5Pget_filter_by_id2(
        plist_id: hid_t,
        filter_id: c_int,
        flags: Out<c_uint>,
        cd_nelmts: Out<usize>,
        cd_values: Out<c_uint>,
        namelen: usize,
        name: TextBuffer,
        filter_config: Out<c_uint>,
    ) -> herr_t {
        let places = Places {
            flags, count: cd_nelmts, values: cd_values, name_size: namelen, name, config: filter_config,
        };
        get_by_id(plist_id, filter_id, &places)
    }

    /// Stores the properties of a creation list's filter with the identifier `id`, except its
    /// configuration.
    fn H5Pget_filter_by_id1(
        plist_id: hid_t,
        id: c_int,
        flags: Out<c_uint>,
        cd_nelmts: Out<usize>,
        cd_values: Out<c_uint>,
        namelen: usize,
        name: TextBuffer,
    ) -> herr_t {
        let config = Out::of(std::ptr::null_mut());
        let places = Places { flags, count: cd_nelmts, values: cd_values, name_size: namelen, name, config };
        get_by_id(plist_id, id, &places)
    }

    /// Returns whether all filters of a creation list's filter pipeline are available.
    fn H5Pall_filters_avail(plist_id: hid_t) -> htri_t {
        Ok(htri_t::from(pipeline(plist_id)?.iter().all(|entry| filter::is_available(entry.id))))
    }
}

export! {
    /// Appends the deflate filter with a compression level from 0 to 9 to the filter pipeline.
    fn H5Pset_deflate(plist_id: hid_t, level: c_uint) -> herr_t {
        if level > 9 {
            return Err(Failure::bad_value("the deflate level must be from 0 to 9"));
        }
        add_built_in(plist_id, 1, OPTIONAL, &[level])
    }

    /// Appends the shuffle filter to the filter pipeline of a creation list.
    fn H5Pset_shuffle(plist_id: hid_t) -> herr_t {
        add_built_in(plist_id, 2, OPTIONAL, &[])
    }

    /// Appends the Fletcher-32 checksum filter to the filter pipeline of a creation list.
    fn H5Pset_fletcher32(plist_id: hid_t) -> herr_t {
        add_built_in(plist_id, 3, 0, &[])
    }

    /// Appends the szip filter to the filter pipeline. The stored options describe encoded data
    /// without a header.
    fn H5Pset_szip(plist_id: hid_t, options_mask: c_uint, pixels_per_block: c_uint) -> herr_t {
        if pixels_per_block % 2 == 1 {
            return Err(Failure::bad_value("the number of pixels in a block must be even"));
        }
        if pixels_per_block > 32 {
            return Err(Failure::bad_value("a block must have at most 32 pixels"));
        }
        // Removes the options for the coder chip and the byte orders, and adds the options for K13
        // and raw data.
        let options = (options_mask & !(2 | 8 | 16)) | 1 | 128;
        add_built_in(plist_id, 4, OPTIONAL, &[options, pixels_per_block])
    }

    /// Appends the nbit filter to the filter pipeline of a creation list.
    fn H5Pset_nbit(plist_id: hid_t) -> herr_t {
        add_built_in(plist_id, 5, OPTIONAL, &[])
    }

    /// Appends the scaleoffset filter with a scale type and a scale factor to the filter pipeline.
    fn H5Pset_scaleoffset(plist_id: hid_t, scale_type: c_int, scale_factor: c_int) -> herr_t {
        let factor = c_uint::try_from(scale_factor).map_err(|_| Failure::bad_value("the scale factor is negative"))?;
        let kind = c_uint::try_from(scale_type).ok().filter(|kind| *kind <= 2);
        let kind = kind.ok_or_else(|| Failure::bad_value("unknown scale type"))?;
        add_built_in(plist_id, 6, OPTIONAL, &[kind, factor])
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::H5Pcreate;

    #[test]
    fn filters_are_added_and_removed() {
        let (mut flags, mut count, mut values, mut config) = (9, 2_usize, [0; 2], 0);
        let mut name = [0_i8; 8];
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_DATASET_CREATE);
            assert_eq!((H5Pset_deflate(list, 10), H5Pset_deflate(list, 4)), (-1, 0));
            assert_eq!((H5Pset_szip(list, 4, 3), H5Pset_shuffle(list)), (-1, 0));
            assert_eq!(H5Pget_nfilters(list), 2);
            let buffer = std::mem::transmute::<*mut i8, TextBuffer>(name.as_mut_ptr());
            let places = (Out::of(&raw mut flags), Out::of(&raw mut count), Out::of(values.as_mut_ptr()));
            let config = Out::of(&raw mut config);
            let id = H5Pget_filter2(list, 0, places.0, places.1, places.2, 8, buffer, config);
            assert_eq!((id, flags, count, values[0], config.get()), (1, 1, 1, 4, Some(3)));
            assert_eq!(name.map(i8::cast_unsigned), *b"deflate\0");
            assert_eq!(H5Pall_filters_avail(list), 1);
            assert_eq!((H5Premove_filter(list, 3), H5Premove_filter(list, 1)), (-1, 0));
            assert_eq!(H5Pget_nfilters(list), 1);
        }
    }
}
