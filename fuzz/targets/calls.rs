//! Sequences of calls of the C interface: no call panics or touches memory it must not touch, and a
//! run leaves no objects. The test `calls` of `hyperslab-capi` makes the same calls.
#![no_main]

#[expect(dead_code, reason = "the test also uses the numbers of a run, and watches panics")]
#[path = "../../crates/capi/tests/calls/mod.rs"]
mod calls;

use std::ffi::c_char;
use std::path::Path;

use calls::Conditions;
use hdf5 as _;
use libfuzzer_sys::fuzz_target;

/// Returns options of the sanitizer: calls ask for more memory than there is, and a failure of the
/// program's own callbacks may leave blocks.
// SAFETY: the runtime of the sanitizer calls the function by this name, and nothing else defines it.
#[unsafe(no_mangle)]
extern "C" fn __asan_default_options() -> *const c_char {
    c"allocator_may_return_null=1:detect_leaks=0".as_ptr()
}

/// The largest number of decisions of a run, which keeps it short.
const MAX_DECISIONS: usize = 8192;

fuzz_target!(|bytes: &[u8]| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = format!("/dev/shm/hyperslab-calls-{}", std::process::id());
    std::fs::create_dir_all(&folder).expect("a folder in memory");
    let conditions = Conditions {
        include: &root.join("../crates/capi/include"),
        folder: Path::new(&folder),
        fixture: include_bytes!("../../fixtures/layouts_latest.h5"),
        guard: 0,
        trace: std::env::var_os("HYPERSLAB_CALLS_TRACE").is_some(),
        part: None,
    };
    let report = calls::run(&bytes[..bytes.len().min(MAX_DECISIONS)], &conditions);
    let _ = std::fs::remove_dir_all(&folder);
    assert!(report.failures.is_empty(), "{}", report.failures.join("\n\n"));
});
