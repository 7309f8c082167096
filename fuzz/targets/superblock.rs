//! Superblocks and driver information blocks.
#![no_main]

use hyperslab_format::codec::Structure as _;
use hyperslab_format::driver_info::{DriverInfoBlock, DriverInformation};
use hyperslab_format::superblock::Superblock;
use hyperslab_fuzz::seal;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    superblock(bytes);
    for length in [12 + 4 * 8, 12 + 4 * 4, 12 + 4 * 2] {
        if let Some(block) = bytes.get(..length + 4) {
            let mut sealed = block.to_vec();
            seal::seal(&mut sealed);
            superblock(&sealed);
        }
    }
    driver_info(bytes);
});

fn superblock(bytes: &[u8]) {
    if let Ok(superblock) = Superblock::decode(bytes) {
        let encoded = superblock.encode().unwrap_or_else(|error| panic!("{error}: {superblock:?}"));
        assert_eq!(Superblock::decode(&encoded).as_ref(), Ok(&superblock), "{encoded:02x?}");
    }
}

fn driver_info(bytes: &[u8]) {
    let Ok(size) = DriverInfoBlock::size_of_block(bytes) else { return };
    let Some(block) = usize::try_from(size).ok().and_then(|size| bytes.get(..size)) else { return };
    let size = block.len();
    let Ok(block) = DriverInfoBlock::decode(block, &Default::default()) else { return };
    let encoded = block.encode(&Default::default()).unwrap_or_else(|error| panic!("{error}: {block:?}"));
    assert_eq!(encoded.len(), size);
    if let Ok(information) = DriverInformation::decode(block.identification, &block.information)
        && let Ok(Some(encoded)) = information.encode()
    {
        assert_eq!(DriverInformation::decode(block.identification, &encoded).as_ref(), Ok(&information));
    }
}
