//! An object lives until its last handle is closed.
#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "in a test a panic is the report"
)]

mod removed;

use std::sync::Arc;

use hyperslab::vfd::{Core, Driver as _};
use hyperslab::{File, FileOptions, FileSpace, FileSpaceStrategy};

/// A new file in memory that records its free space, and the medium that holds its bytes.
fn new_file() -> (File, Arc<Core>) {
    let medium = Arc::new(Core::from_vec("handles", Vec::new()));
    let space = FileSpace { strategy: FileSpaceStrategy::FreeSpaceAndAggregators, persist: true, threshold: 1, page_size: 4096 };
    let options = FileOptions::new().file_space(space);
    (options.create_driver(medium.clone()).unwrap(), medium)
}

/// Checks that the closed file on the medium is sound, that no byte and no heap object of it is leaked, and gives its bytes.
fn sound(medium: &Arc<Core>) -> Vec<u8> {
    let report = hyperslab_check::check(medium.clone(), &Default::default()).unwrap();
    assert_eq!((report.faults, report.unchecked), (0, 0), "{:#?}", report.findings);
    assert_eq!(report.leaked, [], "{:#?}", report.usage);
    assert_eq!(report.leaked_heap_objects.blocks, 0);
    let mut bytes = vec![0; usize::try_from(medium.len().unwrap()).unwrap()];
    medium.read_at(0, &mut bytes).unwrap();
    bytes
}
