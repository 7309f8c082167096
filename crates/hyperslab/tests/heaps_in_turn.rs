//! Attributes that hyperslab and libhdf5 set and remove in turn: the heaps that hold them stay sound.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use hyperslab::{Dataset, FileOptions, LibraryVersion, LibverBounds, OpenOptions};
use hyperslab_testkit::referee;

const OTHER: &str = "
import h5py, numpy, sys
low = 'earliest' if sys.argv[2] == 'earliest' else 'v108'
with h5py.File(sys.argv[1], 'r+', libver=(low, 'latest')) as file:
    for number in range(250):
        dataset = file[f'd{number}']
        few = number % 3 == 0
        for at in range(3 if few else 14):
            dataset.attrs[f'by libhdf5 {at}'] = numpy.arange(at * number % 50 + 1)
        for at in range(1 if few else 9):
            del dataset.attrs[f'by libhdf5 {at}']
";

fn ours(dataset: &Dataset, number: usize) {
    for at in 0..u16::try_from(number % 13).unwrap() {
        dataset.set_attribute(&format!("by hyperslab {at}"), vec![at; number % 60]).unwrap();
    }
    let names = dataset.attribute_names().unwrap();
    names.iter().step_by(2).for_each(|name| dataset.remove_attribute(name).unwrap());
}

#[test]
fn libhdf5_and_hyperslab_change_heaps_in_turn() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    for low in [LibraryVersion::Earliest, LibraryVersion::V18] {
        let bounds = LibverBounds::new(low, LibraryVersion::LATEST).unwrap();
        for first in 0..2 {
            let path = folder.path().join(format!("{}_{first}.h5", low.name()));
            let file = FileOptions::new().libver(bounds).create(&path).unwrap();
            for number in 0..250 {
                let builder = file.new_dataset(&format!("d{number}")).of::<i32>().shape(&[1]);
                let dataset = builder.track_order(number % 2 == 0).create().unwrap();
                for at in 0..[0_u8, 3, 12][(number + first) % 3] {
                    dataset
                        .set_attribute(&format!("attribute {at}"), vec![f32::from(at); number % 40])
                        .unwrap();
                }
            }
            file.close().unwrap();
            for round in 0..3 {
                referee.run_script(OTHER, [path.to_str().unwrap(), low.name()]).unwrap();
                let report = hyperslab_check::check_path(&path).unwrap();
                assert!(report.is_sound(), "libhdf5, round {round}, {low:?} {first}: {report}");
                let file = OpenOptions::new().write(true).libver(bounds).open(&path).unwrap();
                for number in 0..250 {
                    ours(&file.dataset(&format!("d{number}")).unwrap(), number + first + round);
                }
                file.close().unwrap();
                let report = hyperslab_check::check_path(&path).unwrap();
                assert!(report.is_sound(), "hyperslab, round {round}, {low:?} {first}: {report}");
            }
        }
    }
}

/// A script that sets ten attributes in dense storage and removes the last one, so that the heap's
/// root becomes a direct block again.
const SHRINK: &str = "
import h5py, numpy, sys
record = numpy.dtype([('a', 'i1'), ('b', 'f8')])
with h5py.File(sys.argv[1], 'w', libver=('v112', 'latest')) as file:
    for number in range(9):
        file.attrs.create(f'many {number}', numpy.zeros(3, record))
    file.attrs['last'] = numpy.zeros(6, 'S5')
    del file.attrs['last']
";

const READ: &str = "
import h5py, sys
with h5py.File(sys.argv[1]) as file:
    print(*sorted(file.attrs))
";

/// libhdf5 states 0 bytes of allocated space in the header of such a heap.
#[test]
fn attributes_are_removed_from_a_heap_that_libhdf5_has_shrunk() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shrunk.h5");
    for remaining in (0..9).rev() {
        referee.run_script(SHRINK, [path.to_str().unwrap()]).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let root = file.root();
        for number in remaining..9 {
            root.remove_attribute(&format!("many {number}")).unwrap();
        }
        file.close().unwrap();
        let report = hyperslab_check::check_path(&path).unwrap();
        assert!(report.is_sound(), "{remaining} attributes remain: {report}");
        let names = referee.run_script(READ, [path.to_str().unwrap()]).unwrap();
        let expected: Vec<String> = (0..remaining).map(|number| format!("many {number}")).collect();
        assert_eq!(names.trim(), expected.join(" "));
    }
}
