//! Copies of objects, compared by the referee: `H5Ocopy`'s options, references, hard links, files
//! with other widths.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;

use hyperslab::{
    AllocationTime, CharacterSet, ChunkIndexKind, CopyOptions, Datatype, File, FileOptions, LibraryVersion,
    LibverBounds, OpenOptions,
};
use hyperslab_testkit::referee;

/// A script that creates a file with every feature that a copy must handle.
const MAKE: &str = "
import h5py, numpy, sys
f = h5py.File(sys.argv[1], 'w')
g = f.create_group('g', track_order=True)
d = g.create_dataset('d', data=numpy.arange(100).reshape(10, 10), chunks=(3, 4), compression='gzip')
d.attrs['a'] = 'text of variable length'
f['type'] = numpy.dtype('i2')
g.create_dataset('typed', data=[1, 2], dtype=f['type'])
g['again'] = d
g['loop'] = g
g['soft'] = h5py.SoftLink('/outside')
g.create_dataset('texts', data=['one', 'two', '', 'µ'], dtype=h5py.string_dtype())
o = f.create_dataset('outside', data=[7])
r = g.create_dataset('refs', (3,), dtype=h5py.ref_dtype)
r[0] = d.ref; r[1] = o.ref
g['regions'] = numpy.array([d.regionref[2:4, 1:3]], dtype=h5py.regionref_dtype)
for i in range(20): g.attrs['many%02d' % i] = i
f.create_group('g/sub').create_dataset('deep', data=1.5)
f.close()";

/// A script that asserts the properties of a copy of `g` in `c` that do not depend on the options.
const LOOK: &str = "
import h5py, numpy, sys
f = h5py.File(sys.argv[1]); g = f[sys.argv[2]]
assert numpy.array_equal(g['d'], numpy.arange(100).reshape(10, 10))
assert g['d'].attrs['a'] == 'text of variable length' and g['d'].compression == 'gzip'
assert g['again'] == g['d'] and g['loop'] == g
assert [t.decode() for t in g['texts'][()]] == ['one', 'two', '', 'µ']
assert list(g)[:4] == ['d', 'typed', 'again', 'loop'], list(g)
assert g['typed'].id.get_type().committed()
assert f[g['refs'][0]] == g['d']
region = g['regions'][0]
assert f[region] == g['d'] and g['d'][region].tolist() == [[21, 22], [31, 32]]
assert [g.attrs['many%02d' % i] for i in range(20)] == list(range(20))
assert h5py.h5o.get_info(g['d'].id).rc == 2, h5py.h5o.get_info(g['d'].id).rc
assert g['sub/deep'][()] == 1.5
# With narrow addresses libhdf5 does not see that a reference is null before it follows it.
try: outside = 'outside' if f[g['refs'][1]][0] == 7 else 'wrong'
except Exception: outside = 'nothing'
print(outside, g.get('soft', getlink=True).__class__.__name__)";

fn look(path: &Path, group: &str) -> Option<String> {
    let referee = referee::python()?;
    let answer = referee.run_script(LOOK, [path.as_os_str(), group.as_ref()]).unwrap();
    Some(answer.trim().to_owned())
}

#[test]
fn copies_are_complete() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from.h5");
    referee.run_script(MAKE, [&from]).unwrap();
    for (number, low) in
        [LibraryVersion::Earliest, LibraryVersion::V18, LibraryVersion::LATEST].into_iter().enumerate()
    {
        for offsets in [8, 4] {
            let to = folder.path().join(format!("to{number}{offsets}.h5"));
            let bounds = LibverBounds::new(low, LibraryVersion::LATEST).unwrap();
            let file = FileOptions::new().libver(bounds).sizes(offsets, 8).create(&to).unwrap();
            let source = File::open(&from).unwrap();
            file.copy(&source.object("g").unwrap(), "x/copy").unwrap();
            let options =
                CopyOptions { expand_references: true, expand_soft_links: true, ..CopyOptions::default() };
            file.copy_with(&source.object("g").unwrap(), "expanded", options).unwrap();
            file.close().unwrap();
            assert_eq!(look(&to, "x/copy").as_deref(), Some("nothing SoftLink"), "{low:?} {offsets}");
            assert_eq!(look(&to, "expanded").as_deref(), Some("outside HardLink"));
        }
    }
}

#[test]
fn copies_within_a_file_keep_references_to_objects_outside_of_the_copy() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.h5");
    referee.run_script(MAKE, [&path]).unwrap();
    let file = File::open_rw(&path).unwrap();
    file.copy(&file.object("g").unwrap(), "copy").unwrap();
    // A copy of a group into itself.
    file.copy(&file.object("g").unwrap(), "g/inner").unwrap();
    file.close().unwrap();
    assert_eq!(look(&path, "copy").as_deref(), Some("outside SoftLink"));
    assert_eq!(look(&path, "g").as_deref(), Some("outside SoftLink"));
}

#[test]
fn options_choose_the_copied_objects() {
    let source = FileOptions::new().create_in_memory().unwrap();
    source.new_dataset("g/sub/deep").write(&[1_u8]).unwrap();
    source.group("g").unwrap().set_attribute("a", 1).unwrap();
    let file = FileOptions::new().create_in_memory().unwrap();
    let shallow = CopyOptions { shallow: true, without_attributes: true, ..CopyOptions::default() };
    file.copy_with(&source.object("g").unwrap(), "g", shallow).unwrap();
    assert!(file.group("g/sub").unwrap().is_empty().unwrap());
    assert!(file.group("g").unwrap().attribute_names().unwrap().is_empty());
    assert!(file.copy(&source.object("g").unwrap(), "g").is_err());
    let whole = file.copy_from(&source, "/", "all").unwrap();
    assert_eq!(whole.into_group().unwrap().dataset("g/sub/deep").unwrap().read_raw::<u8>(..).unwrap(), [1]);
}

#[test]
fn texts_in_chunks_that_are_allocated_at_once_are_copied_under_new_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.h5");
    let bounds = |low| LibverBounds::new(low, LibraryVersion::LATEST).unwrap();
    let file = FileOptions::new().libver(bounds(LibraryVersion::V18)).create(&path).unwrap();
    let texts: Vec<String> = (0..130).map(|number| format!("text {number}")).collect();
    let made = file
        .new_dataset("texts")
        .datatype(Datatype::variable_string(CharacterSet::Utf8, 8))
        .shape(&[13, 10])
        .max_shape(&[Some(13), Some(30)])
        .chunks(&[5, 9])
        .allocation_time(AllocationTime::Early)
        .create()
        .unwrap();
    made.write_strings(.., &texts).unwrap();
    drop(made);
    file.close().unwrap();
    // Chunks of the copy have an implicit index.
    let file = OpenOptions::new().write(true).libver(bounds(LibraryVersion::V110)).open(&path).unwrap();
    file.copy(&file.object("texts").unwrap(), "copy").unwrap();
    file.close().unwrap();
    let copy = File::open(&path).unwrap().dataset("copy").unwrap();
    assert_eq!(copy.chunking().unwrap().index, ChunkIndexKind::Implicit);
    assert_eq!(copy.read_strings::<hyperslab::IxDyn>(..).unwrap().into_raw_vec_and_offset().0, texts);
    let report = hyperslab_check::check_path(&path).unwrap();
    assert!(report.is_sound(), "{report}");
}

/// A script that copies a dataset inside a file with libhdf5.
const COPY: &str = "
import h5py, sys
with h5py.File(sys.argv[1], 'r+') as file: file.copy('old', 'again')
with h5py.File(sys.argv[1]) as file:
    again = file['again']
    assert again.shuffle and again.fletcher32 and again[:].tolist() == [3, 1, 4, 1, 5]
";

#[test]
fn libhdf5_copies_filters_whose_names_were_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.h5");
    let bounds = LibverBounds::new(LibraryVersion::V18, LibraryVersion::LATEST).unwrap();
    let file = FileOptions::new().libver(bounds).create(&path).unwrap();
    let builder = file.new_dataset("new").of::<i32>().shape(&[5]).chunks(&[5]);
    builder.shuffle().fletcher32().create().unwrap().write(.., &[3, 1, 4, 1, 5]).unwrap();
    file.close().unwrap();
    let stored = std::fs::read(&path).unwrap();
    assert!(!stored.windows(8).any(|bytes| bytes == b"shuffle\0"), "a version 2 message has no names");

    // Opening a copy whose names were missing corrupts the memory of libhdf5.
    let bounds = LibverBounds::new(LibraryVersion::Earliest, LibraryVersion::LATEST).unwrap();
    let file = OpenOptions::new().write(true).libver(bounds).open(&path).unwrap();
    file.copy(&file.object("new").unwrap(), "old").unwrap();
    file.close().unwrap();
    let stored = std::fs::read(&path).unwrap();
    for name in [b"shuffle\0".as_slice(), b"fletcher32\0\0\0\0\0\0"] {
        assert!(stored.windows(name.len()).any(|bytes| bytes == name), "{}", name.escape_ascii());
    }
    let Some(referee) = referee::python() else { return };
    referee.run_script(COPY, [&path]).unwrap();
}
