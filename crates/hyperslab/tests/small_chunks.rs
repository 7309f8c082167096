//! Small chunks without filters: one append for each chunk, and writes of many chunks.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use hyperslab::{File, FileOptions, FileSpace, FileSpaceStrategy, LibraryVersion, LibverBounds, Region, s};
use hyperslab_testkit::referee;

fn bounds() -> Vec<(&'static str, LibverBounds)> {
    use LibraryVersion::{Earliest, V18, V110, V112, V114, V200};
    [Earliest, V18, V110, V112, V114, V200]
        .into_iter()
        .map(|low| (low.name(), LibverBounds::new(low, LibraryVersion::LATEST).unwrap()))
        .collect()
}

/// Asserts that the file is sound.
fn sound(path: &std::path::Path) {
    let report = hyperslab_check::check_path(path).unwrap();
    assert!(report.is_sound() && report.unchecked == 0, "{}:\n{report}", path.display());
}

/// Appends whole chunks, reads them, overwrites some chunks, shrinks the dataset and appends again.
/// Returns the expected elements.
fn append_chunks(file: &File, name: &str, maximum: &[Option<u64>]) -> Vec<i64> {
    let new = file.new_dataset(name).of::<i16>().shape(&[0, 6]).max_shape(maximum).chunks(&[2, 6]).fill(-1);
    let dataset = new.create().unwrap();
    let mut model: Vec<i64> = Vec::new();
    for step in 0..400_i64 {
        let rows: Vec<i64> = (0..12).map(|at| (step * 31 + at) % 30_000).collect();
        // Every third write converts the elements.
        if step % 3 == 0 {
            dataset.append(0, &ndarray::ArrayView2::from_shape((2, 6), &rows).unwrap()).unwrap();
        } else {
            let rows: Vec<i16> = rows.iter().map(|value| i16::try_from(*value).unwrap()).collect();
            dataset.append(0, &ndarray::ArrayView2::from_shape((2, 6), &rows).unwrap()).unwrap();
        }
        model.extend(rows);
        let length = dataset.dataspace().dims().first().copied().unwrap();
        assert_eq!(length * 6, model.len() as u64);
        match step % 100 {
            40 => assert_eq!(dataset.read_raw::<i64>(..).unwrap(), model),
            // A complete dirty chunk, and a stored chunk.
            50 => {
                for first in [length - 4, 2] {
                    let at = usize::try_from(first * 6).unwrap();
                    dataset.write(s![first..first + 2, ..], &ndarray::arr2(&[[8_i16; 6]; 2])).unwrap();
                    model.get_mut(at..at + 12).unwrap().fill(8);
                }
            }
            // A part of a chunk.
            60 => {
                dataset.write(Region::new(&[length - 1, 5], &[1, 1]).unwrap(), &[9_i8]).unwrap();
                *model.last_mut().unwrap() = 9;
            }
            70 => {
                dataset.resize(&[length - 3, 6]).unwrap();
                model.truncate(model.len() - 18);
                assert!(dataset.append(0, &[1_i16; 5]).is_err());
                dataset.append(0, &[5_i16; 6]).unwrap();
                model.extend([5; 6]);
            }
            80 => file.flush().unwrap(),
            _ => {}
        }
    }
    model
}

const APPENDED: &str = r#"
import sys, h5py, numpy as np
for path in sys.argv[1:]:
    with h5py.File(path, "r+") as f:
        for name in ("rows", "both", "some"):
            assert (f[name][...] == np.fromfile(f"{path}.{name}", "<i8").reshape(-1, 6)).all(), (path, name)
            n = f[name].shape[0]
            if name != "some":
                f[name].resize(n + 5, axis=0)
                f[name][n:] = 3
"#;

#[test]
fn appended_chunks_survive_other_operations() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, bounds) in bounds() {
        let paged =
            FileSpace { strategy: FileSpaceStrategy::Page, persist: true, threshold: 1, page_size: 512 };
        let mut spaces = vec![None, Some(paged)];
        if bounds.low() < LibraryVersion::V110 {
            spaces.pop();
        }
        for (at, space) in spaces.into_iter().enumerate() {
            let path = folder.path().join(format!("{name}-{at}.h5"));
            let options = FileOptions::new().libver(bounds);
            let options = if let Some(space) = space { options.file_space(space) } else { options };
            let file = options.create(&path).unwrap();
            for (name, maximum) in
                [("rows", [None, Some(6)]), ("both", [None, None]), ("some", [Some(1000), Some(6)])]
            {
                let model = append_chunks(&file, name, &maximum);
                let bytes: Vec<u8> = model.iter().flat_map(|value| value.to_le_bytes()).collect();
                std::fs::write(format!("{}.{name}", path.display()), bytes).unwrap();
                let dataset = file.dataset(name).unwrap();
                assert_eq!(dataset.read_raw::<i64>(..).unwrap(), model);
                if name == "some" {
                    let length = dataset.dataspace().dims().first().copied().unwrap();
                    dataset.resize(&[1000, 6]).unwrap();
                    assert!(dataset.append(0, &[[1_i16; 6]; 2].concat()).is_err());
                    assert!(dataset.append(0, &ndarray::arr2(&[[1_i16; 6]; 2])).is_err());
                    assert_eq!(dataset.dataspace().dims(), [1000, 6]);
                    dataset.resize(&[length, 6]).unwrap();
                }
            }
            file.close().unwrap();
            sound(&path);
            paths.push(path);
        }
    }
    let Some(referee) = referee::python() else { return };
    referee.run_script(APPENDED, &paths).unwrap();
    paths.iter().for_each(|path| sound(path));
}

/// Writes boxes of small chunks, with complete and incomplete rows, to new datasets and over
/// existing elements.
fn boxes<T: hyperslab::H5Type + Copy + PartialEq + std::fmt::Debug>(
    file: &File,
    name: &str,
    value: impl Fn(u64) -> T,
) {
    let shape = [5, 7, 13];
    let fill = value(99);
    let all: Vec<T> = (0..5 * 7 * 13).map(&value).collect();
    for (number, (start, count)) in [
        ([0, 0, 0], [5, 7, 13]),
        ([0, 3, 4], [2, 4, 9]),
        ([2, 3, 0], [3, 3, 8]),
        ([2, 0, 8], [1, 2, 1]),
        ([1, 3, 4], [2, 3, 4]),
    ]
    .into_iter()
    .enumerate()
    {
        let new = file
            .new_dataset(&format!("{name} {number}"))
            .of::<T>()
            .shape(&shape)
            .chunks(&[2, 3, 4])
            .fill(fill);
        let dataset = new.create().unwrap();
        let mut model = vec![fill; all.len()];
        for (start, count, from) in [(start, count, 0), ([0, 0, 0], [5, 7, 13], 1), (start, count, 2)] {
            let region = Region::new(&start, &count).unwrap();
            let elements: Vec<T> =
                (0..count.iter().product::<u64>()).map(|at| value((at + from * 50) % 90)).collect();
            dataset.write(&region, &elements).unwrap();
            let mut next = elements.iter();
            for (at, place) in (0_u64..).zip(&mut model) {
                let coordinates = [at / 91, at / 13 % 7, at % 13];
                if region.contains(&coordinates) {
                    *place = *next.next().unwrap();
                }
            }
            assert_eq!(dataset.read_raw::<T>(..).unwrap(), model, "{name} {number} {from}");
        }
    }
}

#[test]
fn boxes_over_many_small_chunks_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bounds) in bounds() {
        let path = folder.path().join(format!("{name}.h5"));
        let file = FileOptions::new().libver(bounds).create(&path).unwrap();
        boxes(&file, "1", |at| u8::try_from(at % 251).unwrap());
        boxes(&file, "2", |at| u16::try_from(at).unwrap());
        boxes(&file, "4", |at| u32::try_from(at).unwrap());
        boxes(&file, "8", |at| at);
        boxes(&file, "16", |at| [at, at + 1]);
        file.close().unwrap();
        sound(&path);
    }
}

/// Writes encoded chunks in strided order. Some chunks are written twice, some with another write
/// or a read in between.
fn store_chunks(file: &File, name: &str, step: u64, maximum: &[Option<u64>]) -> Vec<i16> {
    let new =
        file.new_dataset(name).of::<i16>().shape(&[1000, 6]).max_shape(maximum).chunks(&[2, 6]).fill(-1);
    let dataset = new.create().unwrap();
    let mut model = vec![-1; 6000];
    for number in 0..700 {
        // The last chunks are the first chunks again, with other elements.
        let row = number * step % 500 * 2;
        let value = i16::try_from(number).unwrap();
        let bytes: Vec<u8> = std::iter::repeat_n(value.to_le_bytes(), 12).flatten().collect();
        dataset.chunks().write(&[row, 0], &bytes, 0).unwrap();
        let at = usize::try_from(row * 6).unwrap();
        model.get_mut(at..at + 12).unwrap().fill(value);
        match number % 150 {
            40 => assert_eq!(dataset.read_raw::<i16>(..).unwrap(), model),
            60 => {
                let again = dataset.chunks().read(&[row, 0]).unwrap().unwrap();
                assert_eq!(again.bytes, bytes);
            }
            70 => {
                dataset.write(Region::new(&[row, 5], &[1, 1]).unwrap(), &[9_i8]).unwrap();
                *model.get_mut(at + 5).unwrap() = 9;
            }
            80 => dataset.chunks().write(&[row, 0], &bytes, 0).unwrap(),
            90 => file.flush().unwrap(),
            _ => {}
        }
    }
    assert!(dataset.chunks().write(&[0, 0], &[1], 0).is_err());
    model
}

#[test]
fn stored_chunks_may_come_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    for (low, bounds) in bounds() {
        let path = folder.path().join(format!("{low}.h5"));
        let maximum: [(&str, [Option<u64>; 2]); 3] =
            [("fixed", [Some(1000), Some(6)]), ("rows", [None, Some(6)]), ("both", [None, None])];
        let mut models = Vec::new();
        let file = FileOptions::new().libver(bounds).create(&path).unwrap();
        for (name, maximum) in maximum {
            for step in [1, 499, 37] {
                let name = format!("{name} {step}");
                let model = store_chunks(&file, &name, step, &maximum);
                models.push((name, model));
            }
        }
        file.close().unwrap();
        sound(&path);
        let file = File::open(&path).unwrap();
        for (name, model) in models {
            assert_eq!(file.dataset(&name).unwrap().read_raw::<i16>(..).unwrap(), model, "{low}: {name}");
        }
    }
}

/// More scattered chunks than hyperslab writes in one batch. A chunk that is written twice keeps
/// its address, even if the address is in an unfinished batch.
#[test]
fn many_scattered_chunks_are_written_together() {
    const CHUNKS: u64 = 1500;
    let folder = tempfile::tempdir().unwrap();
    for (low, bounds) in bounds() {
        let path = folder.path().join(format!("{low}.h5"));
        let file = FileOptions::new().libver(bounds).create(&path).unwrap();
        let maximum: [(&str, [Option<u64>; 2]); 3] =
            [("fixed", [Some(CHUNKS), Some(2048)]), ("rows", [None, Some(2048)]), ("both", [None, None])];
        let mut model = vec![0_u16; usize::try_from(CHUNKS).unwrap()];
        for (name, maximum) in maximum {
            let new = file.new_dataset(name).of::<u16>().shape(&[CHUNKS, 2048]).max_shape(&maximum);
            let dataset = new.chunks(&[1, 2048]).create().unwrap();
            for number in 0..2100 {
                // The last writes replace some chunks from before a flush, some chunks from after
                // it, and create some new chunks.
                let row = (if number < 1200 { number } else { number * 5 + 3 }) * 499 % CHUNKS;
                let value = u16::try_from(number + 1).unwrap();
                dataset.chunks().write(&[row, 0], &value.to_le_bytes().repeat(2048), 0).unwrap();
                *model.get_mut(usize::try_from(row).unwrap()).unwrap() = value;
                if number == 700 {
                    file.flush().unwrap();
                }
            }
        }
        file.close().unwrap();
        sound(&path);
        let file = File::open(&path).unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        assert!(size < 3 * CHUNKS * 4096 + 400_000, "{size} bytes: something is stored twice");
        for name in ["fixed", "rows", "both"] {
            let all = file.dataset(name).unwrap().read_raw::<u16>(..).unwrap();
            let rows: Vec<u16> = all.chunks(2048).map(|row| *row.first().unwrap()).collect();
            assert!(all.chunks(2048).all(|row| row.iter().all(|value| Some(value) == row.first())));
            assert_eq!(rows, model, "{low}: {name}");
        }
    }
}

/// Chunks of whole rows are read directly into the caller's buffer: for every order of addresses,
/// for missing chunks, and for every range of rows.
#[test]
fn whole_rows_are_read_from_scattered_chunks() {
    for (name, bounds) in bounds() {
        let file = FileOptions::new().libver(bounds).create_in_memory().unwrap();
        for (number, maximum) in [[Some(500), Some(7)], [None, Some(7)], [None, None]].into_iter().enumerate()
        {
            let new =
                file.new_dataset(&format!("rows_{number}")).of::<i16>().shape(&[431, 7]).max_shape(&maximum);
            let dataset = new.chunks(&[4, 7]).fill(-3).create().unwrap();
            let mut model = vec![-3_i16; 431 * 7];
            // The chunks are written in runs in a random order, so that some chunks are adjacent in
            // the file and some are missing.
            for step in 0..50_u64 {
                let first = step * 37 % 107;
                if first % 10 == 7 {
                    continue;
                }
                let rows = (first * 4)..(first * 4 + if step % 3 == 0 { 12 } else { 4 }).min(431);
                let values: Vec<i16> =
                    (rows.start * 7..rows.end * 7).map(|at| i16::try_from(at).unwrap()).collect();
                let region = Region::new(&[rows.start, 0], &[rows.end - rows.start, 7]).unwrap();
                dataset.write(&region, &values).unwrap();
                let at = usize::try_from(rows.start * 7).unwrap();
                model[at..at + values.len()].copy_from_slice(&values);
            }
            let again = File::from_bytes(file.to_bytes().unwrap()).unwrap();
            for dataset in [dataset, again.dataset(&format!("rows_{number}")).unwrap()] {
                for (start, count) in [(0, 431), (1, 430), (3, 2), (17, 300), (100, 1), (428, 3), (140, 64)] {
                    let mut found = vec![77_i16; usize::try_from(count * 7).unwrap()];
                    let part = hyperslab::Selection::region(&Region::new(&[start, 0], &[count, 7]).unwrap());
                    dataset.read_into(&part, &mut found).unwrap();
                    let at = usize::try_from(start * 7).unwrap();
                    assert_eq!(found, model[at..at + found.len()], "{name} {number} {start} {count}");
                }
                assert_eq!(dataset.read_raw::<i16>(..).unwrap(), model, "{name} {number}");
            }
        }
    }
}
