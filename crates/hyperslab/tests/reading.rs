//! The public interface on the fixtures of the project.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::thread;

use hyperslab::{
    Dataset, ErrorKind, ExternalFiles, File, FileOptions, Group, IxDyn, LibverBounds, ObjectKind,
    OpenOptions, Region,
};
use hyperslab_testkit::fixtures;

fn open(name: &str) -> File {
    File::open(fixtures::path(name)).unwrap()
}

/// Returns all datasets below a group, each once for every hard link.
fn datasets(group: &Group) -> Vec<Dataset> {
    let mut found = Vec::new();
    for object in group.members().unwrap() {
        match object.kind() {
            Some(ObjectKind::Group) => found.extend(datasets(&object.into_group().unwrap())),
            Some(ObjectKind::Dataset) => found.push(object.into_dataset().unwrap()),
            _ => {}
        }
    }
    found
}

#[test]
fn external_links_open_files_in_the_same_folder() {
    let file = open("links_latest.h5");
    let station = file.group("external").unwrap();
    assert!(!station.is_empty().unwrap());
    let missing = file.object("external dangling").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let path = fixtures::path("links_latest.h5");
    let closed = OpenOptions::new().external_files(ExternalFiles::Refuse).open(path).unwrap();
    assert_eq!(closed.object("external").unwrap_err().kind(), ErrorKind::Misuse);
}

#[test]
fn external_links_do_not_leave_the_folder_unless_allowed() {
    let folder = std::env::temp_dir().join(format!("hyperslab-external-{}", std::process::id()));
    let inside = folder.join("inside");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::copy(fixtures::path("links_latest.h5"), inside.join("links_latest.h5")).unwrap();
    std::fs::copy(fixtures::path("weather_station.h5"), folder.join("weather_station.h5")).unwrap();
    let link = inside.join("weather_station.h5");
    std::os::unix::fs::symlink(folder.join("weather_station.h5"), link).unwrap();
    let path = inside.join("links_latest.h5");
    let outside = File::open(&path).unwrap().object("external").unwrap_err();
    assert_eq!(outside.kind(), ErrorKind::Misuse, "{outside}");
    let anywhere = OpenOptions::new().external_files(ExternalFiles::Anywhere).open(&path).unwrap();
    assert!(anywhere.group("external").is_ok());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn boxes_equal_slices_of_the_whole_array() {
    let mut compared = 0;
    for name in
        ["chunk_indexes_earliest.h5", "chunk_indexes_latest.h5", "layouts_latest.h5", "filters_latest.h5"]
    {
        for dataset in datasets(&open(name)) {
            if !dataset.datatype().is_number() || dataset.ndim() == 0 || dataset.size().unwrap() == 0 {
                continue;
            }
            let whole = dataset.read::<f64, IxDyn>(..).unwrap();
            let shape = dataset.shape();
            let start: Vec<u64> = shape.iter().map(|size| *size / 3).collect();
            let count: Vec<u64> =
                shape.iter().zip(&start).map(|(size, start)| (*size - start).div_ceil(2)).collect();
            let part = dataset.read::<f64, IxDyn>(&Region::new(&start, &count).unwrap()).unwrap();
            let expected = whole.slice_each_axis(|axis| {
                let from = isize::try_from(start[axis.axis.index()]).unwrap();
                let to = from + isize::try_from(count[axis.axis.index()]).unwrap();
                ndarray::Slice::new(from, Some(to), 1)
            });
            assert_eq!(part.view(), expected, "{name}, {}", dataset.name());
            compared += 1;
        }
    }
    assert!(compared > 20, "only {compared} datasets");
}

#[test]
fn a_box_outside_the_dataset_is_refused() {
    let dataset =
        datasets(&open("weather_station.h5")).into_iter().find(|dataset| dataset.ndim() == 1).unwrap();
    let size = dataset.size().unwrap();
    for (start, count) in [(0, size + 1), (size, 1), (u64::MAX, 1)] {
        let Ok(region) = Region::new(&[start], &[count]) else { continue };
        assert_eq!(dataset.read::<f64, IxDyn>(&region).unwrap_err().kind(), ErrorKind::Misuse);
    }
}

#[test]
fn one_file_is_read_by_many_threads() {
    let file = open("chunk_indexes_latest.h5");
    let expected: Vec<Vec<u8>> =
        datasets(&file).iter().map(|dataset| dataset.read_stored(..).unwrap().bytes().to_vec()).collect();
    thread::scope(|scope| {
        for _ in 0..4 {
            let (file, expected) = (file.clone(), &expected);
            scope.spawn(move || {
                for (dataset, expected) in datasets(&file).iter().zip(expected) {
                    assert_eq!(dataset.read_stored(..).unwrap().bytes(), expected);
                }
            });
        }
    });
}

#[test]
fn misuse_errors_are_clear() {
    let file = open("weather_station.h5");
    let missing = file.dataset("station/absent").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let dataset = datasets(&file).into_iter().find(|dataset| dataset.ndim() == 1).unwrap();
    let path = dataset.name().to_owned();
    assert_eq!(file.group(&path).unwrap_err().kind(), ErrorKind::Misuse);
    assert_eq!(file.attribute("absent").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_file_image_reads_as_the_file_does() {
    let bytes = std::fs::read(fixtures::path("weather_station.h5")).unwrap();
    let image = File::from_bytes(bytes).unwrap();
    let file = open("weather_station.h5");
    for (ours, theirs) in datasets(&image).iter().zip(datasets(&file)) {
        assert_eq!(ours.read_stored(..).unwrap().bytes(), theirs.read_stored(..).unwrap().bytes());
    }
}

#[test]
fn chunks_outside_the_extent_count_as_storage() {
    let options = FileOptions::new().libver(LibverBounds::EARLIEST);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    let file = options.create(&path).unwrap();
    let values: Vec<i32> = (0..48).collect();
    let dataset = file.new_dataset("a").of::<i32>().shape(&[4, 12]).unlimited().chunks(&[2, 3]);
    dataset.create().unwrap().write(.., &values).unwrap();
    file.close().unwrap();
    // Another extent in the dataspace message, as if a program had forgotten to delete chunks.
    let mut bytes = std::fs::read(&path).unwrap();
    let dims = [4, 12, u64::MAX].map(u64::to_le_bytes).concat();
    let at: Vec<usize> = (0..bytes.len() - 24).filter(|at| bytes[*at..*at + 24] == dims).collect();
    assert_eq!(at.len(), 1);
    bytes[at[0] + 8] = 6;
    std::fs::write(&path, bytes).unwrap();
    let dataset = File::open(&path).unwrap().dataset("a").unwrap();
    assert_eq!(dataset.shape(), [4, 6]);
    assert_eq!(dataset.chunks().list().unwrap().len(), 4);
    assert_eq!(dataset.storage_size().unwrap(), 8 * 24);
}
