//! Unlinked objects after a crash, and the release of their space.

use std::sync::Arc;

use hyperslab::vfd::Core;
use hyperslab::{File, JournalRepair, LibverBounds, OpenOptions, Recovery};
use hyperslab_check::{CheckOptions, Report};
use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::StoreOptions;
use hyperslab_engine::{Address, ErrorKind};
use hyperslab_vfd::simulated::SimulatedDisk;

use super::{Medium, bytes_of, new_file, options};

fn reopen(bytes: Vec<u8>) -> (OpenFile, Medium) {
    let medium = Arc::new(Core::from_vec("crashed", bytes));
    let options = StoreOptions { write: Some(LibverBounds::DEFAULT), ..StoreOptions::default() };
    (OpenFile::open(medium.clone(), options).unwrap(), medium)
}

fn check(bytes: Vec<u8>) -> Report {
    let options = CheckOptions { per_object: true, ..CheckOptions::default() };
    hyperslab_check::check(Arc::new(Core::from_vec("image", bytes)), &options).unwrap()
}

/// Returns a committed file with unlinked objects, the addresses of these objects, and the number
/// of their bytes.
fn crashed() -> (Vec<u8>, Vec<Address>, u64) {
    let (file, medium) = new_file();
    file.new_dataset("stays/data").write(&[1, 2, 3]).unwrap();
    let text = file.new_dataset("text").write_strings(&["some", "words"]).unwrap();
    text.set_attribute("unit", "none").unwrap();
    let chunked = file.new_dataset("chunked").chunks(&[10]).deflate(1).write(&vec![5; 1000]).unwrap();
    let group = file.create_group("group").unwrap();
    group.new_dataset("inside").write(&[4; 100]).unwrap();
    group.link_hard("both", &file.object("stays/data").unwrap()).unwrap();
    file.flush().unwrap();
    let linked = check(bytes_of(&medium));
    let stays: Vec<u64> = ["/", "stays", "stays/data"]
        .map(|path| match path {
            "/" => file.token().address(),
            path => file.object(path).unwrap().token().address(),
        })
        .to_vec();
    let of_objects = linked.of_objects.iter().filter(|(address, _)| !stays.contains(address));
    let taken = of_objects.map(|(_, bytes)| bytes.metadata + bytes.raw).sum();
    for name in ["text", "chunked", "group"] {
        file.remove(name).unwrap();
    }
    group.set_attribute("late", 1).unwrap();
    file.flush().unwrap();
    let bytes = bytes_of(&medium);
    let unlinked = [text.token(), chunked.token(), group.token()];
    (bytes, unlinked.iter().map(|token| Address::new(token.address())).collect(), taken)
}

#[test]
fn the_space_is_freed_when_the_file_is_opened_again() {
    let (bytes, unlinked, taken) = crashed();
    let before = check(bytes.clone());
    let (file, medium) = reopen(bytes);
    for object in &unlinked {
        file.free_unlinked(&mut file.edit().unwrap(), *object).unwrap();
    }
    file.close().unwrap();
    let after = check(bytes_of(&medium));
    assert_eq!(after.faults, 0, "{:#?}", after.findings);
    assert_eq!(after.leaked_heap_objects.blocks, 0);
    let freed = before.leaked_bytes() - after.leaked_bytes();
    assert!(taken > 500 && freed >= taken, "{freed} of {taken}");
    let file = File::from_bytes(bytes_of(&medium)).unwrap();
    let data = file.dataset("stays/data").unwrap();
    assert_eq!(data.read_raw::<i32>(..).unwrap(), [1, 2, 3]);
    assert_eq!(data.link_count().unwrap(), 1, "the link in the group is gone");
}

#[test]
fn only_unlinked_objects_are_deleted() {
    let (bytes, unlinked, _) = crashed();
    let stays = Address::new(
        File::from_bytes(bytes.clone()).unwrap().object("stays/data").unwrap().token().address(),
    );
    let (file, medium) = reopen(bytes);
    for object in &unlinked {
        file.free_unlinked(&mut file.edit().unwrap(), *object).unwrap();
    }
    let end = file.container.store.file_length();
    let nothing = [0, 1, 8, 48, 96, end - 8, end, end + 4096, u64::MAX].map(Address::new);
    for object in nothing.into_iter().chain([stays, file.root()]).chain(unlinked) {
        let refused = file.free_unlinked(&mut file.edit().unwrap(), object).unwrap_err();
        let expected = [ErrorKind::Corrupt, ErrorKind::Unsupported, ErrorKind::NotFound];
        assert!(expected.contains(&refused.kind()), "{object}: {refused:?}");
    }
    file.close().unwrap();
    let file = File::from_bytes(bytes_of(&medium)).unwrap();
    assert_eq!(file.dataset("stays/data").unwrap().read_raw::<i32>(..).unwrap(), [1, 2, 3]);
    assert_eq!(check(bytes_of(&medium)).faults, 0);
}

/// A writer is killed while it holds unlinked objects. The next opening of the file for writing
/// frees the objects that the journal lists.
#[test]
fn unlinked_objects_of_a_killed_writer_are_deleted() {
    let disk = SimulatedDisk::new();
    let file = options().journal(disk.side_file("journal")).create_driver(disk.file("file")).unwrap();
    file.new_dataset("stays").write(&[1, 2, 3]).unwrap();
    let held = file.new_dataset("held").chunks(&[10]).deflate(1).write(&vec![5; 1000]).unwrap();
    let dropped = file.new_dataset("dropped").write(&vec![6; 3000]).unwrap();
    file.flush().unwrap();
    let linked = check(disk.files().remove("file").unwrap());
    let bytes = &linked.of_objects[&held.token().address()];
    let taken = bytes.metadata + bytes.raw;
    file.remove("held").unwrap();
    file.remove("dropped").unwrap();
    file.flush().unwrap();
    assert_eq!(held.read_raw::<i32>(..).unwrap(), vec![5; 1000]);
    drop(dropped);
    file.set_attribute("later", 1).unwrap();
    file.flush().unwrap();
    let left = SimulatedDisk::holding(disk.files());
    drop((held, file));
    let before = check(left.files().remove("file").unwrap());
    let options = || OpenOptions::new().journal(left.side_file("journal"));
    assert_eq!(options().open_driver(left.file("file")).unwrap().links().unwrap().len(), 1);
    let again = options().write(true).open_driver(left.file("file")).unwrap();
    let outcome = again.journal_outcome().expect("the writer left its journal");
    assert_eq!(outcome.unlinked().len(), 1, "{outcome}");
    again.close().unwrap();
    let bytes = left.files().remove("file").unwrap();
    let after = check(bytes.clone());
    assert_eq!(after.faults, 0, "{:#?}", after.findings);
    // All other leaked bytes were free when the writer ended. A file records free space only when
    // it is closed.
    let freed = before.leaked_bytes() - after.leaked_bytes();
    assert!(taken > 100 && freed >= taken, "{freed} of {taken}");
    let file = File::from_bytes(bytes).unwrap();
    assert_eq!(file.dataset("stays").unwrap().read_raw::<i32>(..).unwrap(), [1, 2, 3]);
}

/// A repair in place frees the objects, too, before it removes the journal.
#[test]
fn a_repair_frees_the_unlinked_objects_of_a_killed_writer() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("file.h5"), folder.path().join("copy.h5"));
    let file = options().create(&path).unwrap();
    file.new_dataset("stays").write(&[1, 2, 3]).unwrap();
    let held = file.new_dataset("held").chunks(&[10]).deflate(1).write(&vec![5; 1000]).unwrap();
    file.flush().unwrap();
    let bytes = check(std::fs::read(&path).unwrap()).of_objects[&held.token().address()];
    let taken = bytes.metadata + bytes.raw;
    file.remove("held").unwrap();
    file.flush().unwrap();
    let journal = |path: &std::path::Path| path.with_added_extension("hjournal");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(journal(&path), journal(&copy)).unwrap();
    drop((held, file));

    let before = check(std::fs::read(&copy).unwrap());
    let repaired = Recovery::new().repair(&copy).unwrap();
    assert_eq!(repaired.journal, Some(JournalRepair::Removed));
    assert!(!journal(&copy).exists());
    let after = check(std::fs::read(&copy).unwrap());
    assert_eq!(after.faults, 0, "{:#?}", after.findings);
    // All other bytes were free when the writer ended. A file records free space only when it is
    // closed.
    let freed = before.leaked_bytes() - after.leaked_bytes();
    assert!(taken > 100 && freed >= taken, "{freed} of {taken}");
    let file = File::open(&copy).unwrap();
    assert_eq!(file.dataset("stays").unwrap().read_raw::<i32>(..).unwrap(), [1, 2, 3]);
}
