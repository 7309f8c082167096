//! Dimension scales: the rules of the specification, and files from and for libhdf5.
#![expect(clippy::indexing_slicing, reason = "in a test a panic is the report")]
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::path::Path;

use hyperslab::{Dataset, Datatype, Error, ErrorKind, File, FileOptions, LibverBounds, Scalar};
use hyperslab_testkit::{referee, workspace};

/// Makes datasets with scales in a file, by the same calls as the script `MAKE`.
fn make(file: &File) {
    let rain = file.new_dataset("rain").of::<f64>().shape(&[3, 4, 5]).create().unwrap();
    let plain = file.new_dataset("plain").of::<f64>().shape(&[3, 4]).create().unwrap();
    let [time, x, y] = [("time", 3), ("x", 4), ("y", 4)].map(|(name, size)| {
        let numbers: Vec<f64> = (0..size).map(f64::from).collect();
        file.new_dataset(name).write(&numbers).unwrap()
    });
    time.dimensions().make_scale("time in hours").unwrap();
    x.dimensions().make_scale("").unwrap();
    let rain = rain.dimensions();
    rain.attach(0, &time).unwrap();
    rain.attach(1, &x).unwrap();
    rain.attach(1, &y).unwrap();
    plain.dimensions().attach(0, &time).unwrap();
    plain.dimensions().attach(1, &x).unwrap();
    plain.dimensions().detach(1, &x).unwrap();
    rain.set_label(0, "länge").unwrap();
    rain.set_label(2, "b").unwrap();
    rain.set_label(2, "breadth").unwrap();
}

/// The script that makes the same datasets with libhdf5.
const MAKE: &str = r#"
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w", libver=sys.argv[2]) as f:
    rain = f.create_dataset("rain", shape=(3, 4, 5), dtype="f8")
    plain = f.create_dataset("plain", shape=(3, 4), dtype="f8")
    for name, size in [("time", 3), ("x", 4), ("y", 4)]:
        f[name] = np.arange(float(size))
    f["time"].make_scale("time in hours")
    f["x"].make_scale("")
    rain.dims[0].attach_scale(f["time"])
    rain.dims[1].attach_scale(f["x"])
    rain.dims[1].attach_scale(f["y"])
    plain.dims[0].attach_scale(f["time"])
    plain.dims[1].attach_scale(f["x"])
    plain.dims[1].detach_scale(f["x"])
    rain.dims[0].label = "länge"
    rain.dims[2].label = "breadth"
"#;

/// The script that describes the scales and the bytes of their attributes.
const DESCRIBE: &str = r#"
import sys, h5py
from h5py import h5a, h5t
def datatype(t):
    kind = t.get_class()
    text = f"{kind}/{t.get_size()}"
    if kind == h5t.STRING:
        return text + f" cset {t.get_cset()} pad {t.get_strpad()} vlen {t.is_variable_str()}"
    if kind == h5t.COMPOUND:
        members = range(t.get_nmembers())
        return text + str([(t.get_member_name(i), t.get_member_offset(i), datatype(t.get_member_type(i))) for i in members])
    if kind == h5t.VLEN:
        return text + f"({datatype(t.get_super())})"
    if kind == h5t.INTEGER:
        return text + f" sign {t.get_sign()} order {t.get_order()}"
    return text
with h5py.File(sys.argv[1]) as f:
    def value(x):
        if isinstance(x, h5py.Reference):
            return f[x].name if x else None
        if isinstance(x, (bytes, str)):
            return x
        if hasattr(x, "dtype") and x.dtype.names:
            return tuple(value(x[n]) for n in x.dtype.names) if x.shape == () else [value(y) for y in x]
        if getattr(x, "shape", ()) != ():
            return [value(y) for y in x]
        return int(x)
    for name in sorted(f):
        d = f[name]
        print(name, "scale", d.is_scale, h5py.h5ds.get_scale_name(d.id) if "NAME" in d.attrs else None)
        for axis in range(d.ndim):
            dim = d.dims[axis]
            scales = []
            h5py.h5ds.iterate(d.id, axis, lambda s: scales.append(h5py.Dataset(s).name), 0) if len(dim) else None
            attached = [s for s in sorted(f) if not d.is_scale and f[s].is_scale and h5py.h5ds.is_attached(d.id, f[s].id, axis)]
            print(" ", axis, ascii(dim.label), len(dim), [s.name for s in dim.values()], scales, attached)
        for a in sorted(d.attrs):
            opened = h5a.open(d.id, a.encode())
            print(" ", a, opened.shape, datatype(opened.get_type()), ascii(value(d.attrs[a])))
"#;

fn check(path: &Path) {
    let report = hyperslab_check::check_path(path).unwrap();
    assert!(report.is_sound(), "{report}");
}

#[test]
fn files_equal_those_of_libhdf5() {
    let Some(python) = referee::python() else {
        workspace::skip("files_equal_those_of_libhdf5", "no h5py");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (name, bounds) in [("earliest", LibverBounds::default()), ("latest", LibverBounds::LATEST)] {
        let (ours, theirs) = (folder.path().join("ours.h5"), folder.path().join("theirs.h5"));
        let file = FileOptions::new().libver(bounds).create(&ours).unwrap();
        make(&file);
        file.close().unwrap();
        python.run_script(MAKE, [theirs.as_os_str(), name.as_ref()]).unwrap();
        let [got, wanted] = [&ours, &theirs].map(|path| python.run_script(DESCRIBE, [path]).unwrap());
        assert_eq!(got, wanted, "{name}");
        assert!(wanted.contains("REFERENCE_LIST"), "{wanted}");
        for path in [&ours, &theirs] {
            described(&File::open(path).unwrap());
            check(path);
        }
        // Both change the file of the other.
        let file = hyperslab::OpenOptions::new().write(true).open(&theirs).unwrap();
        detach_all(&file);
        file.close().unwrap();
        check(&theirs);
        let script = "
import sys, h5py
with h5py.File(sys.argv[1], 'r+') as f:
    f['rain'].dims[0].detach_scale(f['time']); f['plain'].dims[0].detach_scale(f['time'])
    f['rain'].dims[1].detach_scale(f['x']); f['rain'].dims[1].detach_scale(f['y'])
";
        python.run_script(script, [&ours]).unwrap();
        let [got, wanted] = [&ours, &theirs].map(|path| python.run_script(DESCRIBE, [path]).unwrap());
        assert_eq!(got, wanted, "{name}");
        assert!(!wanted.contains("DIMENSION_LIST") && !wanted.contains("REFERENCE_LIST"), "{wanted}");
    }
}

/// Checks the datasets of `make`.
fn described(file: &File) {
    let names = |dataset: &str, axis| -> Vec<Option<String>> {
        let scales = file.dataset(dataset).unwrap().dimensions().scales(axis).unwrap();
        scales.iter().map(|scale| scale.dimensions().scale_name().unwrap()).collect()
    };
    assert_eq!(names("rain", 0), [Some("time in hours".to_owned())]);
    assert_eq!(names("rain", 1), [Some(String::new()), None]);
    assert_eq!((names("rain", 2), names("plain", 1)), (vec![], vec![]));
    assert_eq!(names("plain", 0).len(), 1);
    let rain = file.dataset("rain").unwrap();
    assert_eq!([0, 1, 2].map(|axis| rain.dimensions().label(axis).unwrap()), ["länge", "", "breadth"]);
    let y = file.dataset("y").unwrap();
    assert_eq!(rain.dimensions().scales(1).unwrap()[1].token(), y.token());
    assert_eq!([0, 1, 2].map(|axis| rain.dimensions().is_attached(axis, &y).unwrap()), [false, true, false]);
    assert!(y.dimensions().is_scale().unwrap() && !rain.dimensions().is_scale().unwrap());
    assert_eq!(rain.dimensions().scale_name().unwrap(), None);
}

fn detach_all(file: &File) {
    for (dataset, axis, scale) in
        [("rain", 0, "time"), ("plain", 0, "time"), ("rain", 1, "x"), ("rain", 1, "y")]
    {
        let scale = file.dataset(scale).unwrap();
        file.dataset(dataset).unwrap().dimensions().detach(axis, &scale).unwrap();
    }
}

fn misuse<T: std::fmt::Debug>(outcome: Result<T, Error>) {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
}

fn datasets<const N: usize>(file: &File, names: [&str; N]) -> [Dataset; N] {
    names.map(|name| file.new_dataset(name).of::<i32>().shape(&[3]).create().unwrap())
}

#[test]
fn scales_follow_the_rules() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let [data, scale, other] = datasets(&file, ["data", "scale", "other"]);
    data.dimensions().attach(0, &scale).unwrap();
    assert!(scale.dimensions().is_scale().unwrap());
    let attributes = |dataset: &Dataset| dataset.attribute_names().unwrap();
    let users = scale.attribute("REFERENCE_LIST").unwrap().read_stored().unwrap().len();
    data.dimensions().attach(0, &scale).unwrap();
    assert_eq!(data.dimensions().scales(0).unwrap().len(), 1);
    assert_eq!(scale.attribute("REFERENCE_LIST").unwrap().read_stored().unwrap().len(), users);
    misuse(scale.dimensions().attach(0, &other));
    misuse(other.dimensions().attach(0, &data));
    misuse(other.dimensions().attach(0, &other));
    misuse(data.dimensions().make_scale("data"));
    misuse(data.dimensions().attach(1, &scale));
    misuse(data.dimensions().label(1));
    misuse(data.dimensions().set_label(1, "x"));
    misuse(data.dimensions().scales(1));
    misuse(data.dimensions().is_attached(1, &scale));
    misuse(scale.dimensions().make_scale("a\0b"));
    let unknown = data.dimensions().detach(0, &other).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound, "{unknown}");
    assert!(!other.dimensions().is_scale().unwrap(), "a failed call changes nothing");
    data.dimensions().detach(0, &scale).unwrap();
    assert_eq!((attributes(&data), attributes(&scale)), (vec![], vec!["CLASS".to_owned()]));
    data.dimensions().make_scale("data").unwrap();
    assert_eq!(data.dimensions().scale_name().unwrap().as_deref(), Some("data"));
}

#[test]
fn scales_of_other_files_and_other_classes_are_misuse() {
    let (one, two) =
        (FileOptions::new().create_in_memory().unwrap(), FileOptions::new().create_in_memory().unwrap());
    let ([data], [scale]) = (datasets(&one, ["data"]), datasets(&two, ["scale"]));
    misuse(data.dimensions().attach(0, &scale));
    misuse(data.dimensions().detach(0, &scale));
    assert!(!data.dimensions().is_attached(0, &scale).unwrap());
    scale.set_attribute("CLASS", "DIMENSION_SCALE").unwrap();
    assert!(!scale.dimensions().is_scale().unwrap(), "libhdf5 needs a fixed string");
    misuse(scale.dimensions().make_scale("scale"));
    let scalar = one.new_dataset("scalar").of::<i32>().shape(&[]).create().unwrap();
    misuse(scalar.dimensions().attach(0, &data));
    data.dimensions().attach(0, &scalar).unwrap();
}

#[test]
fn damaged_attributes_are_errors() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let [data, scale] = datasets(&file, ["data", "scale"]);
    data.set_attribute("DIMENSION_LIST", [1, 2, 3]).unwrap();
    assert_eq!(data.dimensions().scales(0).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(data.dimensions().attach(0, &scale).unwrap_err().kind(), ErrorKind::Corrupt);
    data.set_attribute("DIMENSION_LIST", [1]).unwrap();
    assert_eq!(data.dimensions().scales(0).unwrap_err().kind(), ErrorKind::Corrupt);
    data.remove_attribute("DIMENSION_LIST").unwrap();
    scale.set_attribute("REFERENCE_LIST", Scalar(4_u64)).unwrap();
    assert_eq!(data.dimensions().attach(0, &scale).unwrap_err().kind(), ErrorKind::Corrupt);
    data.set_attribute("DIMENSION_LABELS", ["a", "b"]).unwrap();
    assert_eq!(data.dimensions().label(0).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(data.attribute_names().unwrap(), ["DIMENSION_LABELS"]);
}

#[test]
fn fixed_labels_and_deleted_scales_are_read() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let [data, scale] = datasets(&file, ["data", "scale"]);
    let text = Datatype::fixed_string(
        3,
        hyperslab::datatype::StringPadding::NullPadded,
        hyperslab::CharacterSet::Ascii,
    );
    data.set_attribute_stored("DIMENSION_LABELS", &text, &hyperslab::Dataspace::simple(&[1]), b"ab\0")
        .unwrap();
    assert_eq!(data.dimensions().label(0).unwrap(), "ab");
    data.dimensions().set_label(0, "").unwrap();
    assert_eq!(data.dimensions().label(0).unwrap(), "");
    data.dimensions().attach(0, &scale).unwrap();
    drop(scale);
    file.remove("scale").unwrap();
    assert!(data.dimensions().scales(0).is_err());
    let [new] = datasets(&file, ["new"]);
    data.dimensions().attach(0, &new).unwrap();
    assert!(data.dimensions().is_attached(0, &new).unwrap());
}
