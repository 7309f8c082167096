//! Comparison with the values that h5py reads. The test creates new files with h5py.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab::{Dataset, File, IxDyn, ObjectKind};
use hyperslab_testkit::{referee, workspace};
use serde_json::Value;

/// A script that creates a file of random datasets. For each dataset, it prints the path and the
/// values that h5py reads: numbers as the bits of 64-bit floats, text as text.
const SCRIPT: &str = r#"
import json, sys
import h5py, numpy as np

path, seed, bound = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(seed)
with h5py.File(path, "w", libver=bound) as f:
    types = ["<i1", ">i2", "<i4", ">i8", "<u1", ">u2", "<u4", "<f2", ">f4", "<f8", "?"]
    for i in range(60):
        shape = tuple(int(n) for n in rng.integers(1, 14, rng.integers(1, 4)))
        dtype = np.dtype(types[rng.integers(len(types))])
        data = (rng.standard_normal(shape) * 100).astype(dtype)
        options = {}
        if rng.random() < 0.75:
            options["chunks"] = tuple(int(rng.integers(1, n + 1)) for n in shape)
            grow = rng.random()
            if grow < 0.3:
                options["maxshape"] = tuple(None if rng.random() < 0.5 else n + 3 for n in shape)
            if rng.random() < 0.5:
                options["compression"] = "gzip"
            options["shuffle"] = bool(rng.random() < 0.5)
            options["fletcher32"] = bool(rng.random() < 0.3)
            options["fillvalue"] = dtype.type(7 if dtype.kind != "b" else 1)
        if rng.random() < 0.2 and "chunks" in options:
            d = f.create_dataset(f"g{i % 5}/d{i}", shape, dtype, **options)
            d[tuple(slice(0, n // 2) for n in shape)] = data[tuple(slice(0, n // 2) for n in shape)]
        else:
            d = f.create_dataset(f"g{i % 5}/d{i}", data=data, **options)
        d.attrs["twice"] = data.ravel()[:5]
    words = ["", "a", "Wärme", "x" * 300, "日本"]
    text = [words[n] for n in rng.integers(len(words), size=23)]
    f.create_dataset("text", data=text, dtype=h5py.string_dtype(), chunks=(5,), compression="gzip")
    f["fixed"] = np.array([t.encode()[:9] for t in ["one", "two", "three"]], dtype="S9")

truth = {}
with h5py.File(path) as f:
    def note(name, d):
        if isinstance(d, h5py.Dataset):
            if d.dtype.kind in "OS":
                truth["/" + name] = [v.decode() for v in d[()].ravel()]
            else:
                truth["/" + name] = d[()].astype("f8").ravel().view("u8").tolist()
    f.visititems(note)
print(json.dumps(truth))
"#;

fn values(dataset: &Dataset) -> Value {
    if dataset.datatype().is_string() {
        return dataset
            .read_strings::<IxDyn>(..)
            .unwrap()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .into();
    }
    dataset.read::<f64, IxDyn>(..).unwrap().iter().map(|value| value.to_bits()).collect::<Vec<_>>().into()
}

#[test]
fn random_files_of_h5py_read_the_same() {
    let Some(python) = referee::python() else {
        workspace::skip("random_files_of_h5py_read_the_same", "no h5py");
        return;
    };
    let folder = std::env::temp_dir().join(format!("hyperslab-referee-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (seed, bound) in [(1, "earliest"), (2, "v108"), (3, "v110"), (4, "latest"), (5, "latest")] {
        let path = folder.join(format!("{seed}.h5"));
        let printed = python.run_script(SCRIPT, [path.to_str().unwrap(), &seed.to_string(), bound]).unwrap();
        let truth: serde_json::Map<String, Value> = serde_json::from_str(&printed).unwrap();
        assert_eq!(truth.len(), 62);
        let file = File::open(&path).unwrap();
        for (name, expected) in truth {
            let object = file.object(&name).unwrap();
            assert_eq!(object.kind(), Some(ObjectKind::Dataset));
            let got = values(&object.into_dataset().unwrap());
            assert_eq!(got, expected, "{name} of seed {seed} with bound {bound}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
