//! What is written is read again, by this library and by libhdf5.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use hyperslab::{
    AllocationTime, File, FileOptions, FileSpace, FileSpaceStrategy, LibraryVersion, LibverBounds, Region, s,
};
use hyperslab_check::CheckOptions;
use hyperslab_testkit::referee;

fn bounds() -> Vec<(&'static str, LibverBounds)> {
    use LibraryVersion::{Earliest, V18, V110, V112, V114, V200};
    [Earliest, V18, V110, V112, V114, V200]
        .into_iter()
        .map(|low| (low.name(), LibverBounds::new(low, LibraryVersion::LATEST).unwrap()))
        .collect()
}

fn build(options: FileOptions, path: &std::path::Path) {
    let file = options.create(path).unwrap();
    file.set_attr("title", "a file").unwrap();
    let group = file.create_group("first/second").unwrap();
    group.set_attr("numbers", [1_i32, -2, 3]).unwrap();
    let dataset = group.new_dataset("plain").write(&ndarray::arr2(&[[1_u16, 2, 3], [4, 5, 6]])).unwrap();
    dataset.set_attr("scale", 0.5_f64).unwrap();
    file.new_dataset("scalar").write_scalar(42_i64).unwrap();
    file.new_dataset("small").compact().write(&[1.5_f32, 2.5]).unwrap();
    file.new_dataset("null").null().of::<f64>().create().unwrap();
    let filled = file.new_dataset("filled").of::<i32>().shape(&[10]).fill(7).create().unwrap();
    filled.write_slice(&s![2..4], &[1, 2]).unwrap();
    file.new_dataset("unwritten").of::<i32>().shape(&[4]).fill(-3).create().unwrap();
    file.link_soft("soft", "/first/second/plain").unwrap();
    file.link_external("outside", "other.h5", "/x").unwrap();
    file.link_hard("again", &dataset).unwrap();
    for number in 0..30 {
        file.create_group(&format!("many/group {number:02}")).unwrap();
    }
    file.remove("many/group 07").unwrap();
    file.rename("many/group 08", "renamed").unwrap();
    file.close().unwrap();
}

fn look(file: &File) {
    assert_eq!(file.dataset("first/second/plain").unwrap().read_raw::<u32>().unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(file.dataset("scalar").unwrap().read_scalar::<i64>().unwrap(), 42);
    assert_eq!(file.dataset("small").unwrap().read_raw::<f64>().unwrap(), [1.5, 2.5]);
    assert_eq!(file.dataset("filled").unwrap().read_raw::<i32>().unwrap(), [7, 7, 1, 2, 7, 7, 7, 7, 7, 7]);
    assert_eq!(file.dataset("unwritten").unwrap().read_raw::<i32>().unwrap(), [-3; 4]);
    assert_eq!(file.dataset("soft").unwrap().token(), file.dataset("again").unwrap().token());
    assert_eq!(file.group("many").unwrap().len().unwrap(), 28);
    assert!(file.group("renamed").unwrap().is_empty().unwrap());
    assert_eq!(file.dataset("again").unwrap().link_count().unwrap(), 2);
    assert_eq!(file.attr("title").unwrap().read_strings().unwrap().first().unwrap(), "a file");
}

/// What is written is sound.
fn sound(path: &std::path::Path) {
    let report = hyperslab_check::check_path(path).unwrap();
    assert!(report.is_sound() && report.unchecked == 0, "{}:\n{report}", path.display());
}

#[test]
fn under_every_bound_the_file_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bounds) in bounds() {
        for user_block in [0, 1024] {
            let path = folder.path().join(format!("{name}-{user_block}.h5"));
            build(FileOptions::new().libver(bounds).user_block(user_block), &path);
            look(&File::open(&path).unwrap());
            sound(&path);
            let file = File::open_rw(&path).unwrap();
            look(&file);
            file.create_group("later").unwrap();
            look(&file);
            file.close().unwrap();
            look(&File::open(&path).unwrap());
            sound(&path);
        }
    }
}

const CHECK: &str = r#"
import sys, h5py, numpy as np
for path in sys.argv[1:]:
    with h5py.File(path, "r+") as f:
        assert f["first/second/plain"][...].tolist() == [[1, 2, 3], [4, 5, 6]]
        assert f["first/second"].attrs["numbers"].tolist() == [1, -2, 3]
        assert f["first/second/plain"].attrs["scale"] == 0.5
        assert f["scalar"][()] == 42
        assert f["small"][...].tolist() == [1.5, 2.5]
        assert f["null"].shape is None
        assert f["filled"][...].tolist() == [7, 7, 1, 2] + [7] * 6
        assert f["unwritten"][...].tolist() == [-3] * 4
        assert f["soft"] == f["again"]
        assert f.get("outside", getlink=True).filename == "other.h5"
        assert sorted(f["many"]) == [f"group {n:02}" for n in range(30) if n not in (7, 8)]
        f["many"].create_group("from libhdf5")
        f["unwritten"][1] = 5
        f["filled"].attrs["more"] = np.arange(1000)
        del f["scalar"]
        f["first/second/plain"].attrs["scale"] = "other"
        f.create_dataset("chunks", (10, 10), "i4", chunks=(3, 3), compression="gzip")[...] = 1
"#;

#[test]
fn libhdf5_reads_and_changes_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, bounds) in bounds() {
        let path = folder.path().join(format!("{name}.h5"));
        build(FileOptions::new().libver(bounds), &path);
        paths.push(path);
    }
    let Some(referee) = referee::python() else { return };
    referee.run_script(CHECK, &paths).unwrap();
    for path in &paths {
        let file = File::open_rw(path).unwrap();
        assert_eq!(file.group("many").unwrap().len().unwrap(), 29);
        assert_eq!(file.dataset("unwritten").unwrap().read_raw::<i32>().unwrap(), [-3, 5, -3, -3]);
        assert!(file.dataset("scalar").is_err());
        assert_eq!(file.dataset("filled").unwrap().attr("more").unwrap().read::<i64>().unwrap().len(), 1000);
        file.remove("many").unwrap();
        file.dataset("filled").unwrap().remove_attr("more").unwrap();
        file.close().unwrap();
        assert_eq!(File::open(path).unwrap().dataset("filled").unwrap().attributes().unwrap().len(), 0);
    }
}

/// A dataset that grows at its front holds what a list would, under every index and time of allocation.
#[test]
fn growth_at_the_front() {
    for low in [LibraryVersion::Earliest, LibraryVersion::V110] {
        let bounds = LibverBounds::new(low, LibraryVersion::LATEST).unwrap();
        // Extensible array, fixed array, and, allocated early without filters, implicit; B-trees under the first bound.
        for (most, early, filtered) in
            [(None, false, true), (Some(40), false, true), (Some(40), true, false), (None, true, false)]
        {
            let file = FileOptions::new().libver(bounds).create_in_memory().unwrap();
            let mut builder = file.new_dataset("a").of::<i32>().shape(&[2]).max_shape(&[most]).chunks(&[4]);
            if filtered {
                builder = builder.deflate(1);
            }
            if early {
                builder = builder.allocation_time(AllocationTime::Early);
            }
            let dataset = builder.fill(-1).create().unwrap();
            dataset.write_raw(&[100, 101]).unwrap();
            let mut expected = vec![100, 101];
            for length in [4, 1, 8, 3] {
                let new: Vec<i32> = (0..length).map(|at| length * 10 + at).collect();
                dataset.prepend(0, &new).unwrap();
                expected.splice(0..0, new);
                assert_eq!(dataset.read_raw::<i32>().unwrap(), expected);
            }
            sound_in_memory(&file);
        }
    }
    let file = FileOptions::new().create_in_memory().unwrap();
    let dataset = file.new_dataset("a").write(&[1, 2]).unwrap();
    assert!(dataset.prepend(0, &[0]).is_err());
    assert_eq!(dataset.read_raw::<i32>().unwrap(), [1, 2]);
}

/// The file is sound.
fn sound_in_memory(file: &File) {
    let bytes = file.to_bytes().unwrap();
    let driver = hyperslab::vfd::Core::from_vec("written", bytes);
    let report = hyperslab_check::check(std::sync::Arc::new(driver), &CheckOptions::default()).unwrap();
    assert!(report.is_sound(), "{report}");
}

#[test]
fn contents_go_with_what_led_to_them() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let texts: Vec<String> =
        (0..2000).map(|number| format!("text number {number}, which takes some room")).collect();
    for _ in 0..5 {
        let dataset = file.new_dataset("texts").write_strings(&texts).unwrap();
        dataset.set_attr("note", "replaced").unwrap();
        dataset.set_attr("note", "removed").unwrap();
        dataset.write_strings(&texts).unwrap();
        dataset.remove_attr("note").unwrap();
        file.remove("texts").unwrap();
        file.flush().unwrap();
    }
    sound_in_memory(&file);
    let kept = file.new_dataset("kept").write_strings(&["a"]).unwrap();
    let length = file.to_bytes().unwrap().len();
    assert!(length < 400_000, "{length} bytes: nothing was given back");
    assert_eq!(kept.read_strings().unwrap()[0], "a");
}

/// Appends whole chunks, looks at them, writes some anew, cuts the dataset and goes on; gives what it must hold.
fn append_chunks(file: &File, name: &str, most: &[Option<u64>]) -> Vec<i64> {
    let new = file.new_dataset(name).of::<i16>().shape(&[0, 6]).max_shape(most).chunks(&[2, 6]).fill(-1);
    let dataset = new.create().unwrap();
    let mut model: Vec<i64> = Vec::new();
    for step in 0..400_i64 {
        let rows: Vec<i64> = (0..12).map(|at| (step * 31 + at) % 30_000).collect();
        // One in three is converted.
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
            40 => assert_eq!(dataset.read_raw::<i64>().unwrap(), model),
            // A whole chunk that waits, and one that does not.
            50 => {
                for first in [length - 4, 2] {
                    let at = usize::try_from(first * 6).unwrap();
                    dataset.write_slice(&s![first..first + 2, ..], &ndarray::arr2(&[[8_i16; 6]; 2])).unwrap();
                    model.get_mut(at..at + 12).unwrap().fill(8);
                }
            }
            // A part of one.
            60 => {
                dataset.write_region(&Region::new(&[length - 1, 5], &[1, 1]).unwrap(), &[9_i8]).unwrap();
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
fn chunks_that_are_appended_are_there_whatever_comes_between() {
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
            for (name, most) in
                [("rows", [None, Some(6)]), ("both", [None, None]), ("some", [Some(1000), Some(6)])]
            {
                let model = append_chunks(&file, name, &most);
                let bytes: Vec<u8> = model.iter().flat_map(|value| value.to_le_bytes()).collect();
                std::fs::write(format!("{}.{name}", path.display()), bytes).unwrap();
                let dataset = file.dataset(name).unwrap();
                assert_eq!(dataset.read_raw::<i64>().unwrap(), model);
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

/// Boxes of small chunks, with rows of that type's length, whole and not, in a new dataset and over what is there.
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
            dataset.write_region(&region, &elements).unwrap();
            let mut next = elements.iter();
            for (at, place) in (0_u64..).zip(&mut model) {
                let coordinates = [at / 91, at / 13 % 7, at % 13];
                if region.contains(&coordinates) {
                    *place = *next.next().unwrap();
                }
            }
            assert_eq!(dataset.read_raw::<T>().unwrap(), model, "{name} {number} {from}");
        }
    }
}

#[test]
fn boxes_of_small_chunks_are_put_together() {
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
