//! Regressions that the random sequences and the matrix found, each reduced to a small test.

use std::sync::Arc;

use hyperslab::vfd::Core;
use hyperslab::{
    AllocationTime, File, FileOptions, FileSpace, FileSpaceStrategy, LibraryVersion, LibverBounds,
};
use hyperslab_testkit::referee;

/// Applies changes to a new file that records its free space. Asserts that no bytes are leaked.
fn without_leaks(work: impl FnOnce(&File)) {
    let medium = Arc::new(Core::from_vec("found", Vec::new()));
    let strategy = FileSpaceStrategy::FreeSpaceAndAggregators;
    let file = FileOptions::new()
        .libver(LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap())
        .file_space(FileSpace { strategy, persist: true, threshold: 1, page_size: 4096 })
        .create_driver(medium.clone())
        .unwrap();
    work(&file);
    file.close().unwrap();
    libhdf5_goes_on(&medium.to_vec());
    let report = hyperslab_check::check(medium, &Default::default()).unwrap();
    assert_eq!(report.faults, 0, "{:#?}", report.findings);
    assert_eq!(report.leaked, [], "{:#?}", report.usage);
}

/// Changes the file with libhdf5, which uses the recorded free space.
fn libhdf5_goes_on(bytes: &[u8]) {
    let Some(python) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.h5");
    std::fs::write(&path, bytes).unwrap();
    let code = "
import h5py, sys
for number in range(3):
    with h5py.File(sys.argv[1], 'r+', libver=('v110', 'latest')) as file:
        file.create_group(f'group {number}').attrs['a'] = range(number * 30)
        file[f'data {number}'] = range(100)
        file.pop(f'data {number - 1}', None)
";
    python.run_script(code, [&path]).unwrap();
    let report = hyperslab_check::check_path(&path).unwrap();
    assert_eq!(report.faults, 0, "{:#?}", report.findings);
}

#[test]
fn all_space_of_a_dataset_that_was_never_flushed_is_freed() {
    without_leaks(|file| {
        let dataset = file.new_dataset("a").of::<u8>().shape(&[100]).chunks(&[10]).unlimited();
        dataset.create().unwrap().write(.., &[1_u8; 100]).unwrap();
        file.new_dataset("b").write(&[1_u8; 100]).unwrap();
        file.create_group("behind").unwrap();
        file.remove("a").unwrap();
        file.remove("b").unwrap();
    });
}

#[test]
fn links_change_from_compact_to_dense_storage() {
    without_leaks(|file| (0..10).for_each(|at| file.link_soft(&format!("n{at}"), "n").unwrap()));
}

#[test]
fn free_space_with_the_size_of_its_manager_is_used() {
    without_leaks(|file| {
        file.link_soft("n0", "n0").unwrap();
        (1..10).for_each(|at| file.link_soft(&format!("n0 {at}"), "n0").unwrap());
    });
}

#[test]
fn libhdf5_opens_growing_datasets_in_files_with_small_lengths() {
    let Some(python) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.h5");
    let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    let file = FileOptions::new().libver(bounds).sizes(4, 4).create(&path).unwrap();
    let log = file.new_dataset("log").of::<u8>().shape(&[0]).chunks(&[2]).unlimited().create().unwrap();
    log.append(0, &[1_u8, 2, 3]).unwrap();
    file.close().unwrap();
    let code = "import h5py, sys; assert list(h5py.File(sys.argv[1])['log']) == [1, 2, 3]";
    python.run_script(code, [&path]).unwrap();
}

#[test]
fn compact_datasets_have_early_allocation() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let dataset = file.new_dataset("a").of::<u8>().shape(&[3]).compact();
    let dataset = dataset.allocation_time(AllocationTime::Late).create().unwrap();
    assert_eq!(dataset.fill_value().allocation, AllocationTime::Early);
}

#[test]
fn user_blocks_have_whole_pages() {
    let space =
        FileSpace { strategy: FileSpaceStrategy::Page, persist: false, threshold: 1, page_size: 4096 };
    let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    let options = |bytes| FileOptions::new().libver(bounds).file_space(space).user_block(bytes);
    assert!(options(512).create_in_memory().is_err());
    assert!(options(8192).create_in_memory().is_ok());
}

#[test]
fn the_block_of_free_sections_has_no_unused_bytes() {
    // Free extents of all sizes. One has exactly the size of the list or of its manager.
    for size in 0..250 {
        let medium = Arc::new(Core::from_vec("lists", Vec::new()));
        let strategy = FileSpaceStrategy::Page;
        let file = FileOptions::new()
            .libver(LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap())
            .file_space(FileSpace { strategy, persist: true, threshold: 1, page_size: 4096 })
            .create_driver(medium.clone())
            .unwrap();
        for (number, size) in [40, 0, size, 0, 100, 0].into_iter().enumerate() {
            let group = file.create_group(&format!("{number}")).unwrap();
            group.set_attribute("a", vec![0_u8; size]).unwrap();
        }
        for number in 0..16 {
            file.new_dataset(&format!("raw {number}")).write(&vec![1_u8; 100 + number]).unwrap();
        }
        file.flush().unwrap();
        (0..16).step_by(2).for_each(|number| file.remove(&format!("raw {number}")).unwrap());
        ["0", "2", "4"].iter().for_each(|name| file.remove(name).unwrap());
        file.close().unwrap();
        let bytes = medium.to_vec();
        let word = |at: usize| bytes[at..at + 8].to_vec();
        let managers = (0..bytes.len() - 82).filter(|at| bytes[*at..].starts_with(b"FSHD\0\x01"));
        let lists: Vec<(Vec<u8>, Vec<u8>)> = managers.map(|at| (word(at + 62), word(at + 70))).collect();
        assert!(!lists.is_empty());
        assert!(lists.iter().all(|(used, allocated)| used == allocated), "{size}: {lists:?}");
        if size % 50 == 0 {
            libhdf5_goes_on(&bytes);
        }
    }
}

#[test]
fn free_section_lists_whose_size_changes_with_their_own_space() {
    let strategy = FileSpaceStrategy::Page;
    for seed in 0..60_u64 {
        let medium = Arc::new(Core::from_vec("found", Vec::new()));
        let mut file = FileOptions::new()
            .libver(LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap())
            .file_space(FileSpace { strategy, persist: true, threshold: 1, page_size: 512 })
            .create_driver(medium.clone())
            .unwrap();
        let mut state = seed;
        let mut next = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for number in 0..40_u64 {
            match next(8) {
                0..4 => {
                    let size = [3, 90, 300, 700][next(4) as usize] + next(60);
                    file.root().set_attribute(&format!("n {number}"), vec![0_u8; size as usize]).unwrap();
                }
                4 | 5 => file
                    .new_dataset(&format!("d {number}"))
                    .write(&vec![1_u8; next(900) as usize])
                    .map(drop)
                    .unwrap(),
                6 => {
                    let names = file.root().attribute_names().unwrap();
                    if let Some(name) = names.get(next(20) as usize) {
                        file.root().remove_attribute(name).unwrap();
                    }
                }
                _ => {
                    let names = file.root().member_names().unwrap();
                    if let Some(name) = names.get(next(10) as usize) {
                        file.remove(name).unwrap();
                    }
                }
            }
            if next(12) == 0 {
                file.close().unwrap();
                file = hyperslab::OpenOptions::new().write(true).open_driver(medium.clone()).unwrap();
            }
        }
        file.close().unwrap();
        let report = hyperslab_check::check(medium, &Default::default()).unwrap();
        assert_eq!(report.faults, 0, "{seed}: {:#?}", report.findings);
        assert!(report.leaked_bytes() <= 512, "{seed}: {:x?}", report.leaked);
    }
}
