//! Files with a metadata cache image: blocks that libhdf5 had in memory when it closed the file.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "in a test a panic is the report")]

use std::sync::Arc;

use hyperslab::vfd::Core;
use hyperslab::{File, FileOptions, FileSpace, FileSpaceStrategy, LibraryVersion, LibverBounds, OpenOptions};
use hyperslab_engine::object::header_edit::HeaderEditor;
use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::{SpaceKind, StoreOptions};
use hyperslab_format::codec::Structure as _;
use hyperslab_format::message::{MessageFlags, MetadataCacheImage};
use hyperslab_format::metadata_cache_image::{
    CachedEntry, CachedEntryFlags, MetadataCacheBlock, MetadataCacheContext,
};
use hyperslab_format::object_header::PrefixV2;

fn bounds() -> LibverBounds {
    LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap()
}

fn whole(medium: &Core) -> Vec<u8> {
    let driver: &dyn hyperslab::vfd::Driver = medium;
    let mut bytes = vec![0; usize::try_from(driver.len().unwrap()).unwrap()];
    driver.read_at(0, &mut bytes).unwrap();
    bytes
}

/// Returns a file whose root group header is only in the cache image, and the bytes of the header.
fn file_with_image() -> (Vec<u8>, u64) {
    let space =
        FileSpace { strategy: FileSpaceStrategy::Aggregators, persist: false, threshold: 1, page_size: 4096 };
    let medium = Arc::new(Core::from_vec("file", Vec::new()));
    let file = FileOptions::new().libver(bounds()).file_space(space).create_driver(medium.clone()).unwrap();
    file.new_dataset("before").write(&[1, 2, 3]).unwrap();
    file.close().unwrap();
    let options = StoreOptions { write: Some(bounds()), ..StoreOptions::default() };
    let file = OpenFile::open(medium.clone(), options).unwrap();
    let (root, params) = (file.root(), file.container.params());
    let mut edit = file.edit().unwrap();
    let start = edit.read(root, 64, "object header").unwrap();
    let length = PrefixV2::decode(&start).unwrap().chunk0_total().unwrap();
    let entry = CachedEntry {
        kind: 1,
        flags: CachedEntryFlags::DIRTY,
        ring: 1,
        age: 0,
        children: 0,
        dirty_children: 0,
        lru_rank: u32::MAX,
        address: root,
        parents: Vec::new(),
        image: edit.read(root, length, "object header").unwrap().to_vec(),
    };
    let block = MetadataCacheBlock { entries: vec![entry] };
    let context = MetadataCacheContext { params, length: block.length(params) };
    let image = block.encode(&context).unwrap();
    let address = edit.allocate(SpaceKind::ObjectHeader, image.len() as u64).unwrap();
    edit.write(address, &image, "metadata cache image").unwrap();
    let extension = edit.store().superblock().extension();
    let mut header = HeaderEditor::load(edit.store(), extension).unwrap();
    let message = MetadataCacheImage { address, length: image.len() as u64 };
    header.set(&message, MessageFlags::empty()).unwrap();
    header.save(&mut edit).unwrap();
    file.finish(edit).unwrap();
    file.close().unwrap();
    let mut bytes = whole(&medium);
    let at = usize::try_from(root.raw()).unwrap();
    bytes[at..at + usize::try_from(length).unwrap()].fill(0);
    (bytes, image.len() as u64)
}

fn is_sound(bytes: &[u8]) {
    let driver = Arc::new(Core::from_vec("file", bytes.to_vec()));
    let report = hyperslab_check::check(driver, &hyperslab_check::CheckOptions::default()).unwrap();
    assert!(report.is_sound(), "{report}");
}

#[test]
fn the_entries_of_a_cache_image_are_read() {
    let (bytes, length) = file_with_image();
    is_sound(&bytes);
    let file = File::from_bytes(bytes).unwrap();
    assert_eq!(file.info().cache_image, Some(length));
    assert_eq!(file.dataset("before").unwrap().read_raw::<i32>(..).unwrap(), [1, 2, 3]);
}

#[test]
fn a_cache_image_hides_no_written_metadata() {
    let medium = Arc::new(Core::from_vec("file", file_with_image().0));
    let file = OpenOptions::new().write(true).libver(bounds()).open_driver(medium.clone()).unwrap();
    assert_eq!(file.info().cache_image, None);
    file.new_dataset("after").write(&[4, 5]).unwrap();
    file.close().unwrap();
    let bytes = whole(&medium);
    is_sound(&bytes);
    let file = File::from_bytes(bytes).unwrap();
    assert_eq!(file.info().cache_image, None);
    assert_eq!(file.member_names().unwrap(), ["after", "before"]);
    assert_eq!(file.dataset("before").unwrap().read_raw::<i32>(..).unwrap(), [1, 2, 3]);
}

#[test]
fn a_cache_image_is_removed_even_without_other_writes() {
    let medium = Arc::new(Core::from_vec("file", file_with_image().0));
    OpenOptions::new().write(true).libver(bounds()).open_driver(medium.clone()).unwrap().close().unwrap();
    let bytes = whole(&medium);
    is_sound(&bytes);
    let file = File::from_bytes(bytes).unwrap();
    assert_eq!((file.info().cache_image, file.member_names().unwrap().len()), (None, 1));
}
