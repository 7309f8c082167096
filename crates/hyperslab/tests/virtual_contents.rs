//! Virtual datasets that show variable-length data of other files.

use hyperslab::{ErrorKind, File, FixedText, H5Type, IxDyn, Limits, OpenOptions, Value, s};
use hyperslab_testkit::{referee, workspace};

/// A script that creates three files: `source.h5` has variable-length elements; `middle.h5` has
/// other ones, and a virtual dataset with the elements of `source.h5`; `outer.h5` has virtual
/// datasets with the elements of both files.
const SCRIPT: &str = r#"
import sys
import h5py, numpy as np

folder = sys.argv[1] + "/"
text = h5py.string_dtype()
pair = np.dtype([("n", "<i4"), ("name", text)])


def show(f, name, kind, parts):
    layout = h5py.VirtualLayout(shape=(sum(count for _, _, count in parts),), dtype=kind)
    at = 0
    for file, dataset, count in parts:
        layout[at:at + count] = h5py.VirtualSource(file, dataset, shape=(count,))
        at += count
    f.create_virtual_dataset(name, layout)


with h5py.File(folder + "source.h5", "w") as f:
    f.create_dataset("words", data=["Wärme", "", "x" * 300], dtype=text)
    ragged = f.create_dataset("ragged", (3,), h5py.vlen_dtype("<i2"))
    for at in range(3):
        ragged[at] = np.arange(at * 2)
    rows = np.empty(2, pair)
    rows[0], rows[1] = (1, "one"), (2, "two")
    f.create_dataset("rows", data=rows, dtype=pair)
    f.create_dataset("links", data=[f["words"].ref], dtype=h5py.ref_dtype)
with h5py.File(folder + "middle.h5", "w", libver="latest") as f:
    f.create_dataset("own", data=["mine", "own"], dtype=text)
    show(f, "words", text, [("source.h5", "words", 3), (".", "own", 2)])
with h5py.File(folder + "outer.h5", "w", libver="latest") as f:
    show(f, "words", text, [("middle.h5", "words", 5), ("source.h5", "words", 3)])
    show(f, "ragged", h5py.vlen_dtype("<i2"), [("source.h5", "ragged", 3)])
    show(f, "wide", h5py.vlen_dtype(">f8"), [("source.h5", "ragged", 3)])
    show(f, "rows", pair, [("source.h5", "rows", 2)])
    show(f, "links", h5py.ref_dtype, [("source.h5", "links", 1)])
with h5py.File(folder + "outer.h5") as f:
    assert [w.decode() for w in f["words"]] == ["Wärme", "", "x" * 300, "mine", "own", "Wärme", "", "x" * 300]
"#;

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
struct Row {
    name: FixedText<8>,
    n: u8,
}

#[test]
fn variable_length_data_of_source_files_is_read() {
    let Some(python) = referee::python() else {
        workspace::skip("variable_length_data_of_source_files_is_read", "no h5py");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    python.run_script(SCRIPT, [folder.path().to_str().unwrap()]).unwrap();
    let file = File::open(folder.path().join("outer.h5")).unwrap();

    let words = file.dataset("words").unwrap();
    let long = "x".repeat(300);
    let all = words.read_strings::<IxDyn>(..).unwrap();
    assert_eq!(all.as_slice().unwrap(), ["Wärme", "", &long, "mine", "own", "Wärme", "", &long]);
    let some = words.read::<FixedText<6>, IxDyn>(s![3..6]).unwrap();
    assert_eq!(some.iter().map(FixedText::as_str).collect::<Vec<_>>(), ["mine", "own", "Wärme"]);
    assert_eq!(words.read_value(&[4]).unwrap(), Value::Text("own".to_owned()));

    let ragged = file.dataset("ragged").unwrap().read_sequences::<i64, IxDyn>(..).unwrap();
    assert_eq!(ragged.as_slice().unwrap(), [vec![], vec![0, 1], vec![0, 1, 2, 3]]);
    let wide = file.dataset("wide").unwrap().read_sequences::<f32, IxDyn>(..).unwrap();
    assert_eq!(wide[[2]], [0.0, 1.0, 2.0, 3.0]);

    let rows = file.dataset("rows").unwrap();
    let row = |name, n| Row { name: FixedText::new(name).unwrap(), n };
    assert_eq!(rows.read_raw::<Row>(..).unwrap(), [row("one", 1), row("two", 2)]);
    let mut read = [row("", 0); 2];
    rows.read_into(.., &mut read).unwrap();
    assert_eq!(read[1], row("two", 2));
    let names = rows.field("name").unwrap().read::<FixedText<3>, IxDyn>(..).unwrap();
    assert_eq!(names[[1]].as_str(), "two");

    let error = file.dataset("links").unwrap().read_references::<IxDyn>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let limits = Limits { result_bytes: 500, ..Limits::default() };
    let file = OpenOptions::new().limits(limits).open(folder.path().join("outer.h5")).unwrap();
    let error = file.dataset("words").unwrap().read_strings::<IxDyn>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}
