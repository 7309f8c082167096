//! Filter functions (`H5Z*`).

use std::ffi::{c_int, c_uint};

use crate::ctypes::{herr_t, htri_t};
use crate::error::{Failure, Outcome, codes};
use crate::export;
use crate::filter::{self, class, user::UserFilter};
use crate::pointer::{Data, Out};

/// The largest filter identifier that the C interface accepts.
const MAX_ID: c_int = 65_535;
/// The smallest identifier of a filter that users may register.
const FIRST_USER_ID: c_int = 256;

/// Checks that a filter identifier is in range and returns the identifier.
///
/// # Errors
/// Fails with a bad value if the identifier is out of range.
pub fn check_id(id: c_int) -> Outcome<c_int> {
    if (0..=MAX_ID).contains(&id) {
        return Ok(id);
    }
    Err(Failure::bad_value("invalid filter identifier: out of range"))
}

export! {
    /// Registers a user's filter that a C struct describes.
    fn H5Zregister(cls: Data) -> herr_t {
        filter::register(UserFilter { class: class::read(cls.pointer())? });
        Ok(0)
    }

    /// Removes a filter that a user registered.
    fn H5Zunregister(id: c_int) -> herr_t {
        if check_id(id)? < FIRST_USER_ID {
            return Err(Failure::bad_value("a filter of the library cannot be removed"));
        }
        if !filter::unregister(id) {
            return Err(Failure::new(codes::PLINE, codes::NOTFOUND, "the filter is not registered"));
        }
        Ok(0)
    }

    /// Returns whether a filter is available. Loads the filter from a plugin if necessary.
    fn H5Zfilter_avail(id: c_int) -> htri_t {
        Ok(htri_t::from(filter::is_available(check_id(id)?)))
    }

    /// Stores in `filter_config_flags` whether a filter can encode and decode.
    fn H5Zget_filter_info(filter: c_int, filter_config_flags: Out<c_uint>) -> herr_t {
        let flags = filter::configuration(check_id(filter)?);
        let missing = || Failure::bad_value("the filter is not available");
        filter_config_flags.put(flags.ok_or_else(missing)?);
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use std::ffi::c_void;

    use hyperslab::filter::{FilterContext, FilterId};

    use super::*;

    /// Inverts the bytes of a chunk. The function is a user's filter for tests.
    ///
    /// # Safety
    /// The arguments are those of a filter.
    unsafe extern "C" fn invert(
        _: c_uint,
        _: usize,
        _: *const c_uint,
        size: usize,
        _: *mut usize,
        buffer: *mut *mut c_void,
    ) -> usize {
        // SAFETY: the buffer has the stated size.
        let bytes = unsafe { std::slice::from_raw_parts_mut((*buffer).cast::<u8>(), size) };
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
        size
    }

    #[repr(C)]
    struct Table(c_int, c_int, c_uint, c_uint, *const i8, usize, usize, class::FilterFunction);

    #[test]
    fn filters_of_users_encode() {
        let table = Table(1, 300, 1, 1, c"invert".as_ptr().cast(), 0, 0, invert);
        let mut flags = 0;
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            assert_eq!((H5Zfilter_avail(300), H5Zfilter_avail(1), H5Zfilter_avail(-1)), (0, 1, -1));
            assert_eq!(H5Zregister(Data::of((&raw const table).cast())), 0);
            assert_eq!(H5Zget_filter_info(300, Out::of(&raw mut flags)), 0);
            assert_eq!(flags, 3);
            let registry = filter::registry();
            let mut out = Vec::new();
            let context = FilterContext::new(&[], 10);
            let filter = registry.get(FilterId(300)).expect("filter");
            filter.encode(&context, &[0, 1], &mut out).expect("encoded");
            assert_eq!(out, [255, 254]);
            assert_eq!((H5Zunregister(300), H5Zunregister(300), H5Zunregister(1)), (0, -1, -1));
        }
    }
}
