//! Tests of opening files: some files open, and other files give an error with a message.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::StoreOptions;
use hyperslab_engine::{Error, ErrorKind};
use hyperslab_testkit::fixtures;
use hyperslab_vfd::Core;

fn open(bytes: Vec<u8>, options: StoreOptions) -> Result<OpenFile, Error> {
    OpenFile::open(Arc::new(Core::from_vec("test", bytes)), options)
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(fixtures::path(name)).unwrap()
}

#[test]
fn a_superblock_is_found_after_user_blocks_of_any_size() {
    let file = fixture("groups_latest.h5");
    for user_block in [512, 1024, 8192] {
        let mut bytes = vec![b'#'; user_block];
        bytes.extend(&file);
        let opened = open(bytes, StoreOptions::default()).unwrap();
        assert_eq!(opened.container.store.base(), user_block as u64);
    }
    let mut bytes = vec![b'#'; 513];
    bytes.extend(&file);
    assert_eq!(open(bytes, StoreOptions::default()).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_truncated_file_is_refused_without_the_option() {
    let mut bytes = fixture("groups_earliest.h5");
    bytes.pop();
    let error = open(bytes.clone(), StoreOptions::default()).unwrap_err();
    assert!(error.to_string().contains("truncated"), "{error}");
    assert!(open(bytes, StoreOptions { ignore_status_flags: true, ..StoreOptions::default() }).is_ok());
}

#[test]
fn a_file_that_a_writer_has_open_is_refused_without_the_option() {
    // Superblock version 3 with the marks of a SWMR writer, and a new checksum.
    let mut bytes = fixture("groups_latest.h5");
    assert_eq!(bytes[8], 3);
    bytes[11] = 0b101;
    let sum = hyperslab_format::codec::checksum(&bytes[..44]);
    bytes[44..48].copy_from_slice(&sum.to_le_bytes());
    let refused = open(bytes.clone(), StoreOptions::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Misuse);
    assert!(open(bytes.clone(), StoreOptions { swmr_read: true, ..StoreOptions::default() }).is_ok());
    assert!(open(bytes, StoreOptions { ignore_status_flags: true, ..StoreOptions::default() }).is_ok());
}

#[test]
fn a_damaged_superblock_names_its_address() {
    let mut bytes = vec![0; 512];
    bytes.extend(fixture("groups_latest.h5"));
    bytes[512 + 20] ^= 0xff;
    let error = open(bytes, StoreOptions::default()).unwrap_err().to_string();
    assert!(error.contains("superblock at 0x200") && error.contains("checksum"), "{error}");
}

#[test]
fn the_error_says_that_a_file_is_no_hdf5_file() {
    for bytes in [Vec::new(), vec![0; 7], vec![b'x'; 5000]] {
        assert_eq!(open(bytes, StoreOptions::default()).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
