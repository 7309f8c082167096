//! Written files are read by this library and by libhdf5.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use hyperslab::{AllocationTime, File, FileOptions, IxDyn, LibraryVersion, LibverBounds, s};
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
    file.set_attribute("title", "a file").unwrap();
    let group = file.create_group("first/second").unwrap();
    group.set_attribute("numbers", [1_i32, -2, 3]).unwrap();
    let dataset = group.new_dataset("plain").write(&ndarray::arr2(&[[1_u16, 2, 3], [4, 5, 6]])).unwrap();
    dataset.set_attribute("scale", 0.5_f64).unwrap();
    file.new_dataset("scalar").write_scalar(42_i64).unwrap();
    file.new_dataset("small").compact().write(&[1.5_f32, 2.5]).unwrap();
    file.new_dataset("null").null().of::<f64>().create().unwrap();
    let filled = file.new_dataset("filled").of::<i32>().shape(&[10]).fill(7).create().unwrap();
    filled.write(s![2..4], &[1, 2]).unwrap();
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
    assert_eq!(file.dataset("first/second/plain").unwrap().read_raw::<u32>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(file.dataset("scalar").unwrap().read_scalar::<i64>(..).unwrap(), 42);
    assert_eq!(file.dataset("small").unwrap().read_raw::<f64>(..).unwrap(), [1.5, 2.5]);
    assert_eq!(file.dataset("filled").unwrap().read_raw::<i32>(..).unwrap(), [7, 7, 1, 2, 7, 7, 7, 7, 7, 7]);
    assert_eq!(file.dataset("unwritten").unwrap().read_raw::<i32>(..).unwrap(), [-3; 4]);
    assert_eq!(file.dataset("soft").unwrap().token(), file.dataset("again").unwrap().token());
    assert_eq!(file.group("many").unwrap().len().unwrap(), 28);
    assert!(file.group("renamed").unwrap().is_empty().unwrap());
    assert_eq!(file.dataset("again").unwrap().link_count().unwrap(), 2);
    assert_eq!(file.attribute("title").unwrap().read_strings::<IxDyn>().unwrap().first().unwrap(), "a file");
}

/// Checks that the file is sound.
fn sound(path: &std::path::Path) {
    let report = hyperslab_check::check_path(path).unwrap();
    assert!(report.is_sound() && report.unchecked == 0, "{}:\n{report}", path.display());
}

#[test]
fn files_of_all_version_bounds_are_read_back() {
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
fn libhdf5_reads_and_changes_the_written_file() {
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
        assert_eq!(file.dataset("unwritten").unwrap().read_raw::<i32>(..).unwrap(), [-3, 5, -3, -3]);
        assert!(file.dataset("scalar").is_err());
        assert_eq!(
            file.dataset("filled").unwrap().attribute("more").unwrap().read::<i64, IxDyn>().unwrap().len(),
            1000
        );
        file.remove("many").unwrap();
        file.dataset("filled").unwrap().remove_attribute("more").unwrap();
        file.close().unwrap();
        assert_eq!(File::open(path).unwrap().dataset("filled").unwrap().attributes().unwrap().len(), 0);
    }
}

/// A dataset that grows at the front equals a list, with every chunk index and allocation time.
#[test]
fn growth_along_the_first_dimension() {
    for low in [LibraryVersion::Earliest, LibraryVersion::V110] {
        let bounds = LibverBounds::new(low, LibraryVersion::LATEST).unwrap();
        // Extensible array, fixed array, and implicit (allocated early, without filters); B-trees
        // under the first bound.
        for (maximum, early, filtered) in
            [(None, false, true), (Some(40), false, true), (Some(40), true, false), (None, true, false)]
        {
            let file = FileOptions::new().libver(bounds).create_in_memory().unwrap();
            let mut builder =
                file.new_dataset("a").of::<i32>().shape(&[2]).max_shape(&[maximum]).chunks(&[4]);
            if filtered {
                builder = builder.deflate(1);
            }
            if early {
                builder = builder.allocation_time(AllocationTime::Early);
            }
            let dataset = builder.fill(-1).create().unwrap();
            dataset.write(.., &[100, 101]).unwrap();
            let mut expected = vec![100, 101];
            for length in [4, 1, 8, 3] {
                let new: Vec<i32> = (0..length).map(|at| length * 10 + at).collect();
                dataset.prepend(0, &new).unwrap();
                expected.splice(0..0, new);
                assert_eq!(dataset.read_raw::<i32>(..).unwrap(), expected);
            }
            sound_in_memory(&file);
        }
    }
    let file = FileOptions::new().create_in_memory().unwrap();
    let dataset = file.new_dataset("a").write(&[1, 2]).unwrap();
    assert!(dataset.prepend(0, &[0]).is_err());
    assert_eq!(dataset.read_raw::<i32>(..).unwrap(), [1, 2]);
}

/// Elements that were never written share the heap data of the fill value, which overwriting does
/// not free.
#[test]
fn variable_length_fill_values_are_kept() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fill.h5");
    let make = "
import h5py, sys
with h5py.File(sys.argv[1], 'w') as f:
    for n, o in (('chunks', dict(chunks=(4,), maxshape=(None,))), ('contiguous', {})):
        f.create_dataset(n, (10,), h5py.string_dtype(), fillvalue='none', **o)
";
    referee.run_script(make, [&path]).unwrap();
    let file = File::open_rw(&path).unwrap();
    let mut expected = vec!["none".to_owned(); 10];
    for (round, start) in [3_u64, 4, 3, 8].into_iter().enumerate() {
        for name in ["chunks", "contiguous"] {
            let dataset = file.dataset(name).unwrap();
            let region = hyperslab::Region::new(&[start], &[2]).unwrap();
            let texts = [format!("a{round}"), format!("b{round}")];
            dataset.write_strings(hyperslab::Selection::region(&region), &texts).unwrap();
            expected[usize::try_from(start).unwrap()..][..2].clone_from_slice(&texts);
            assert_eq!(dataset.read_strings::<IxDyn>(..).unwrap().into_raw_vec_and_offset().0, expected);
        }
    }
    file.close().unwrap();
    let told = "
import h5py, sys
with h5py.File(sys.argv[1], 'r') as f:
    print(*(x.decode() for n in ('chunks', 'contiguous') for x in f[n][:]))
";
    let said = referee.run_script(told, [&path]).unwrap();
    assert_eq!(said.split_whitespace().collect::<Vec<_>>(), [expected.clone(), expected].concat());
}

/// Checks that the file is sound.
fn sound_in_memory(file: &File) {
    let bytes = file.to_bytes().unwrap();
    let driver = hyperslab::vfd::Core::from_vec("written", bytes);
    let report = hyperslab_check::check(std::sync::Arc::new(driver), &CheckOptions::default()).unwrap();
    assert!(report.is_sound(), "{report}");
}

#[test]
fn overwritten_elements_free_their_heap_data() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let texts: Vec<String> =
        (0..2000).map(|number| format!("text number {number}, which takes some room")).collect();
    for _ in 0..5 {
        let dataset = file.new_dataset("texts").write_strings(&texts).unwrap();
        dataset.set_attribute("note", "replaced").unwrap();
        dataset.set_attribute("note", "removed").unwrap();
        dataset.write_strings(.., &texts).unwrap();
        dataset.remove_attribute("note").unwrap();
        file.remove("texts").unwrap();
        file.flush().unwrap();
    }
    sound_in_memory(&file);
    let kept = file.new_dataset("kept").write_strings(&["a"]).unwrap();
    let length = file.to_bytes().unwrap().len();
    assert!(length < 400_000, "{length} bytes: nothing was given back");
    assert_eq!(kept.read_strings::<IxDyn>(..).unwrap()[0], "a");
}

/// Deleting an object frees the heap data of its attributes, in any attribute storage.
#[test]
fn variable_length_data_of_attributes_is_freed_with_the_object() {
    let texts: Vec<String> =
        (0..200).map(|number| format!("text number {number}, which takes some room")).collect();
    for bounds in [LibverBounds::EARLIEST, LibverBounds::DEFAULT, LibverBounds::LATEST] {
        let file = FileOptions::new().libver(bounds).create_in_memory().unwrap();
        let mut lengths = Vec::new();
        for _ in 0..6 {
            let dataset = file.new_dataset("a/b").write(&[1, 2]).unwrap();
            let group = file.group("a").unwrap();
            let datatype = file.commit_datatype("a/type", &<i32 as hyperslab::H5Type>::datatype()).unwrap();
            for number in 0..12 {
                let name = format!("note {number}");
                group.set_attribute(&name, texts.as_slice()).unwrap();
                dataset.set_attribute(&name, texts.as_slice()).unwrap();
                datatype.set_attribute(&name, "one").unwrap();
            }
            dataset.set_attribute("few", texts.as_slice()).unwrap();
            file.remove("a").unwrap();
            lengths.push(file.to_bytes().unwrap().len());
        }
        sound_in_memory(&file);
        let last = lengths.last().unwrap();
        assert!(*last < lengths[0] * 11 / 10, "{lengths:?}: not given back");
    }
}

/// Deleting a virtual dataset keeps its sources.
#[test]
fn sources_survive_the_deletion_of_virtual_datasets() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let texts = file.new_dataset("texts").write_strings(&["one", "two"]).unwrap();
    let mapping = hyperslab::VirtualMapping {
        file: b".".to_vec(),
        dataset: b"texts".to_vec(),
        selection: hyperslab::Selection::All,
        source_selection: hyperslab::Selection::All,
    };
    let mut lengths = Vec::new();
    for _ in 0..200 {
        let shown = file.new_dataset("shown").datatype(texts.datatype().clone()).shape(&[2]);
        let shown = shown.virtual_sources(std::slice::from_ref(&mapping)).create().unwrap();
        assert_eq!(shown.read_strings::<IxDyn>(..).unwrap()[1], "two");
        file.remove("shown").unwrap();
        lengths.push(file.to_bytes().unwrap().len());
    }
    assert_eq!(texts.read_strings::<IxDyn>(..).unwrap()[0], "one");
    assert_eq!(lengths[0], lengths[199], "mappings stay in the heap");
    sound_in_memory(&file);
}
