//! Functions that the library calls back. Some of them make further calls.

use std::ffi::{c_char, c_int, c_void};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::calls::state::{self, byte, chance, one_of};
use crate::calls::{find, query, step};

/// The largest number of callbacks within callbacks that make calls.
const MAX_DEPTH: usize = 2;

/// Bytes that the callback of `H5Dscatter` supplies.
const SUPPLIED: usize = 1 << 12;

/// The command of a conversion that converts elements.
const CONVERT: c_int = 1;

/// The largest block that the memory manager of the run allocates.
const MAX_ALLOCATION: usize = 1 << 24;

/// Descriptions of the last error stack that report an internal error.
static INTERNAL: Mutex<Vec<String>> = Mutex::new(Vec::new());

// SAFETY: the declarations are those of the C standard.
unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void;
}

/// Returns a callback of a type, or null.
pub(crate) fn choose(kind: &str) -> u64 {
    let function = match kind {
        "H5FD_init_t" => find("H5FD_core_init").function as *const () as u64,
        "H5MM_allocate_t" => allocate as *const () as u64,
        "H5MM_free_t" => release as *const () as u64,
        "H5D_scatter_func_t" => supply as *const () as u64,
        "H5T_conv_t" => convert as *const () as u64,
        "H5I_future_realize_func_t" => realize as *const () as u64,
        _ => any as *const () as u64,
    };
    if chance(32) { 0 } else { function }
}

/// Returns a stream of C that discards its output.
pub(crate) fn stream() -> u64 {
    static STREAM: LazyLock<u64> = LazyLock::new(|| {
        // SAFETY: both texts end with a zero byte.
        unsafe { fopen(c"/dev/null".as_ptr(), c"w".as_ptr()) }.expose_provenance() as u64
    });
    *STREAM
}

/// Makes a call, unless enough callbacks are running.
fn nested() {
    let may_call = state::with(|state| state.depth < MAX_DEPTH) && !state::is_over();
    if may_call && chance(128) {
        state::with(|state| state.depth += 1);
        step();
        state::with(|state| state.depth -= 1);
    }
}

/// Continues, stops or fails.
extern "C" fn any() -> i64 {
    nested();
    one_of(&[0, 0, 0, 0, 1, -1])
}

extern "C" fn allocate(size: usize, _info: *mut c_void) -> *mut c_void {
    if size > MAX_ALLOCATION || chance(16) {
        return std::ptr::null_mut();
    }
    // SAFETY: each size is allowed.
    unsafe { malloc(size) }
}

extern "C" fn release(block: *mut c_void, _info: *mut c_void) {
    // SAFETY: the library frees blocks of `allocate` or of C's allocator, once.
    unsafe { free(block) }
}

extern "C" fn supply(source: *mut *const c_void, used: *mut usize, _data: *mut c_void) -> c_int {
    static ZEROS: [u64; SUPPLIED / 8] = [0; SUPPLIED / 8];
    nested();
    let size = one_of(&[0, 1, 8, 12, 24, 64, 256, SUPPLIED]);
    // SAFETY: `H5Dscatter` passes pointers to its variables.
    unsafe {
        source.write(ZEROS.as_ptr().cast());
        used.write(size);
    }
    if chance(24) { -1 } else { 0 }
}

/// Converts each element to zeros, which are valid elements of each type.
extern "C" fn convert(
    source: i64,
    target: i64,
    data: *const c_int,
    count: usize,
    stride: usize,
    _background_stride: usize,
    buffer: *mut u8,
) -> c_int {
    let _ = source;
    // SAFETY: the first member of the conversion's data is the command.
    if !data.is_null() && unsafe { data.read() } == CONVERT && !buffer.is_null() {
        let size = query("H5Tget_size", &[target as u64]).max(0) as usize;
        let stride = if stride == 0 { size } else { stride };
        for at in 0..count {
            // SAFETY: the buffer has `count` elements at this distance, each of which has space for
            // the larger of both types.
            unsafe { buffer.add(at * stride).write_bytes(0, size.min(stride)) };
        }
    }
    nested();
    if chance(24) { -1 } else { 0 }
}

extern "C" fn realize(_object: *mut c_void, id: *mut i64) -> c_int {
    nested();
    let ids = state::with(|state| state.ids.clone());
    // SAFETY: the library passes a pointer to an identifier.
    unsafe { id.write(if ids.is_empty() { 0 } else { one_of(&ids) }) };
    if chance(64) { -1 } else { 0 }
}

/// A record of an error stack, as C has it.
#[repr(C)]
struct Record {
    ids: [i64; 3],
    line: u32,
    function: *const c_char,
    file: *const c_char,
    description: *const c_char,
}

/// Keeps the descriptions of internal errors.
extern "C" fn look(_number: u32, record: *const Record, _data: *mut c_void) -> c_int {
    // SAFETY: `H5Ewalk2` passes a record, whose texts end with a zero byte or are null.
    let text = unsafe {
        let text = (*record).description;
        if text.is_null() {
            return 0;
        };
        std::ffi::CStr::from_ptr(text).to_string_lossy().into_owned()
    };
    if text.contains("internal error") {
        INTERNAL.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
    0
}

/// Returns the internal errors in the current error stack.
pub(crate) fn internal_errors() -> Vec<String> {
    query("H5Ewalk2", &[0, 0, look as *const () as u64, 0]);
    std::mem::take(&mut *INTERNAL.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The identifiers that the last iteration passed.
static LISTED: Mutex<Vec<i64>> = Mutex::new(Vec::new());

/// Keeps an identifier.
extern "C" fn list(id: i64) -> c_int {
    LISTED.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    0
}

/// Returns the identifiers of a kind.
pub(crate) fn ids_of(kind: u64) -> Vec<i64> {
    query("H5Iiterate", &[kind, list as *const () as u64, 0]);
    std::mem::take(&mut *LISTED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A class of filters, as C has it.
#[repr(C)]
struct FilterClass {
    version: c_int,
    id: c_int,
    encodes: u32,
    decodes: u32,
    name: *const c_char,
    functions: [*const (); 3],
}

/// A class of links, as C has it.
#[repr(C)]
struct LinkClass {
    version: c_int,
    id: c_int,
    comment: *const c_char,
    functions: [*const (); 6],
}

/// Calls `use_class` with a pointer to a class of filters.
pub(crate) fn with_filter_class(use_class: impl FnOnce(u64) -> i64) {
    let optional = if chance(96) { std::ptr::null() } else { any as *const () };
    let functions = [optional, optional, filter as *const ()];
    let id = one_of(&[300, 301, 2, -1, 70000]);
    let class = FilterClass { version: 1, id, encodes: 1, decodes: 1, name: c"filter".as_ptr(), functions };
    use_class((&raw const class).expose_provenance() as u64);
}

/// Calls `use_class` with a pointer to a class of links.
pub(crate) fn with_link_class(use_class: impl FnOnce(u64) -> i64) {
    let id = one_of(&[65, 66, 200, 64, 1, 300]);
    let optional = if chance(96) { std::ptr::null() } else { any as *const () };
    let functions = [optional, optional, optional, traverse as *const (), optional, query_link as *const ()];
    let class = LinkClass { version: 1, id, comment: c"links".as_ptr(), functions };
    use_class((&raw const class).expose_provenance() as u64);
}

/// Passes the bytes on, or fails.
extern "C" fn filter(_flags: u32, _count: usize, _values: *const u32, size: usize) -> usize {
    if byte() < 24 { 0 } else { size }
}

/// Opens the root group of the link's file.
extern "C" fn traverse(_name: *const c_char, group: i64) -> i64 {
    nested();
    if chance(64) {
        -1
    } else {
        query("H5Gopen2", &[group as u64, c"/".as_ptr().expose_provenance() as u64, 0])
    }
}

extern "C" fn query_link() -> i64 {
    0
}
