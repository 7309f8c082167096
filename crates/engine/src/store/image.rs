//! Small files for the tests of higher modules.

use std::sync::Arc;

use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::superblock::{ConsistencyFlags, Superblock, SuperblockVersion};
use hyperslab_vfd::{Core, Driver as _};

use super::{CreateOptions, Store, StoreOptions};
use crate::versions::LibverBounds;

/// Length of a test file in bytes.
const FILE_BYTES: u64 = 4096;

/// Opens a test file of 4096 bytes with a superblock, without objects, and with the given blocks at
/// their addresses.
pub(crate) fn image(blocks: &[(Address, Vec<u8>)]) -> Store {
    let superblock = Superblock {
        params: FileParams::DEFAULT,
        consistency: ConsistencyFlags::empty(),
        base_address: 0,
        end_of_file: Address::new(FILE_BYTES),
        version: SuperblockVersion::New { version: 3, extension: Address::UNDEFINED, root: Address::new(48) },
    };
    let mut bytes = superblock.encode().unwrap();
    bytes.resize(usize::try_from(FILE_BYTES).unwrap(), 0);
    for (address, block) in blocks {
        let start = usize::try_from(address.raw()).unwrap();
        bytes[start..start + block.len()].copy_from_slice(block);
    }
    Store::open(Arc::new(Core::image("image", bytes)), StoreOptions::default()).unwrap()
}

/// Creates a test file in memory for writing, with the given version bounds.
pub(crate) fn new_file(bounds: LibverBounds) -> Store {
    let driver = Arc::new(Core::from_vec("new", Vec::new()));
    let options = StoreOptions { write: Some(bounds), ..StoreOptions::default() };
    Store::create(driver, &CreateOptions::default(), options).unwrap()
}

/// Creates a test file in memory for writing. Returns the file, and a function that opens the last
/// committed state of the file for reading.
pub(crate) fn new_file_to_reopen(bounds: LibverBounds) -> (Store, impl Fn() -> Store) {
    new_file_of_widths(FileParams::DEFAULT, bounds)
}

/// Creates a test file in memory like [`new_file_to_reopen`], with the given widths of offsets and
/// lengths.
pub(crate) fn new_file_of_widths(params: FileParams, bounds: LibverBounds) -> (Store, impl Fn() -> Store) {
    let driver = Arc::new(Core::from_vec("new", Vec::new()));
    let options = StoreOptions { write: Some(bounds), ..StoreOptions::default() };
    let create = CreateOptions { params, ..CreateOptions::default() };
    let store = Store::create(Arc::clone(&driver) as _, &create, options).unwrap();
    (store, move || Store::open(Arc::clone(&driver) as _, StoreOptions::default()).unwrap())
}

/// Opens a test file with the given bytes for writing. Returns the file, and a function that
/// returns the last committed bytes of the file.
pub(crate) fn editable(bytes: Vec<u8>, bounds: LibverBounds) -> (Store, impl Fn() -> Vec<u8>) {
    let driver = Arc::new(Core::from_vec("bytes", bytes));
    let options = StoreOptions { write: Some(bounds), ..StoreOptions::default() };
    let store = Store::open(Arc::clone(&driver) as _, options).unwrap();
    let committed = move || {
        let mut bytes = vec![0; usize::try_from(driver.len().unwrap()).unwrap()];
        driver.read_at(0, &mut bytes).unwrap();
        bytes
    };
    (store, committed)
}
