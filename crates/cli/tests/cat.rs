//! `hyperslab cat` and `hyperslab head`, run as people run them. The outputs in `expected/` are
//! refreshed with `HYPERSLAB_UPDATE=1`; the referee provides the output of NumPy and h5py.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::{expected, fixtures, referee};
use serde_json::Value;

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures()
}

fn run(arguments: &[&str]) -> Run {
    hyperslab().run(arguments)
}

/// Returns the standard output of a run that succeeds without warnings.
fn bytes(arguments: &[&str]) -> Vec<u8> {
    run(arguments).succeeds().without_warnings().stdout
}

fn printed(arguments: &[&str]) -> String {
    run(arguments).printed()
}

/// Returns the line on standard error of a run that fails.
fn failure(arguments: &[&str]) -> String {
    let line = run(arguments).failure();
    assert!(line.starts_with("hyperslab: "), "{line}");
    line
}

fn check(name: &str, arguments: &[&str]) {
    expected::check(env!("CARGO_MANIFEST_DIR"), name, &printed(arguments));
}

/// Returns the paths of the datasets of a file.
fn datasets(file: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(&printed(&["ls", "-r", "--json", file])).unwrap();
    let text = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let entries = document.get("entries").and_then(Value::as_array).unwrap().iter();
    let is_dataset = |entry: &&Value| text(entry, "kind").as_deref() == Some("dataset");
    entries.filter(is_dataset).filter_map(|entry| text(entry, "path")).collect()
}

/// Returns the text of all datasets of a fixture.
fn every_dataset(fixture: &str, format: &str) -> String {
    let mut all = String::new();
    for path in datasets(fixture) {
        let output = run(&["head", fixture, &path, "-n", "6", "-f", format]);
        all.push_str(&format!("## {path}\n{}{}", output.out(), output.error()));
    }
    all
}

fn check_all(name: &str, fixture: &str, format: &str) {
    expected::check(env!("CARGO_MANIFEST_DIR"), name, &every_dataset(fixture, format));
}

#[test]
fn head_prints_the_first_rows() {
    check("head_temperature.txt", &["head", "weather_station.h5", "series/temperature"]);
    check("head_quality.txt", &["head", "weather_station.h5", "/quality", "-n", "3"]);
    check("cat_sensors.csv", &["cat", "weather_station.h5", "station/sensors", "--format", "csv"]);
    check("cat_sensors.json", &["cat", "weather_station.h5", "station/sensors", "--format", "json"]);
    check("cat_note.txt", &["cat", "weather_station.h5", "events/note"]);
}

#[test]
fn all_types() {
    for (name, fixture) in [
        ("numeric", "datatypes_numeric_latest.h5"),
        ("compound", "datatypes_compound_latest.h5"),
        ("strings", "datatypes_strings_latest.h5"),
        ("other", "datatypes_other_latest.h5"),
        ("references", "references_latest.h5"),
        ("dataspaces", "dataspaces_latest.h5"),
    ] {
        for format in ["text", "csv", "json"] {
            check_all(&format!("head_{name}.{format}"), fixture, format);
        }
    }
}

/// Prints every dataset of every fixture in every format. If a format cannot represent a dataset,
/// the command returns an error.
#[test]
fn datasets_larger_than_memory_are_printed() {
    for fixture in fixtures::names().unwrap() {
        for path in datasets(&fixture).iter().take(12) {
            let json = run(&["cat", &fixture, path, "-f", "json"]);
            if json.is_success() {
                serde_json::from_slice::<Value>(&json.stdout).unwrap();
            }
            for format in ["text", "csv", "npy", "raw"] {
                let output = run(&["cat", &fixture, path, "-f", format]);
                if !output.is_success() {
                    assert!(output.error().starts_with("hyperslab: "), "{fixture}{path} {output:?}");
                }
            }
        }
    }
}

#[test]
fn selections() {
    let all = ["cat", "weather_station.h5", "series/temperature"];
    let lines = printed(&all);
    assert_eq!(lines.lines().count(), 8760);
    let select = |selection: &str| printed(&[&all[..], &["-s", selection]].concat());
    assert_eq!(select("0"), format!("{}\n", lines.lines().next().unwrap()));
    assert_eq!(select("-1"), format!("{}\n", lines.lines().last().unwrap()));
    assert_eq!(select("..."), lines);
    assert_eq!(select("10:2"), "[]\n");
    let every: Vec<&str> = lines.lines().step_by(7).collect();
    assert_eq!(select("::7").lines().collect::<Vec<_>>(), every);
    for (selection, why) in [
        ("1:2,3", "2 indices for 1 dimension"),
        ("8760", "`8760`, for dimension 0 of size 8760, is out of range"),
        ("a:b", "`a`, which is not an integer"),
        ("::-1", "a negative step"),
    ] {
        let error = failure(&[&all[..], &["--select", selection]].concat());
        assert!(error.contains(&format!("selection `{selection}`")) && error.contains(why), "{error}");
    }
}

#[test]
fn objects_other_than_datasets_are_refused() {
    for (path, why) in [
        ("series", "`series` of `weather_station.h5` is a group, not a dataset"),
        ("/", "is a group"),
        ("series/absent", "`absent` not found"),
    ] {
        assert!(failure(&["cat", "weather_station.h5", path]).contains(why));
        assert!(failure(&["head", "weather_station.h5", path]).contains(why));
    }
    assert!(failure(&["cat", "absent.h5", "x"]).contains("No such file"));
    assert_eq!(run(&["cat", "weather_station.h5"]).code(), 2);
    assert_eq!(run(&["cat", "weather_station.h5", "quality", "-f", "xls"]).code(), 2);
}

#[test]
fn outputs_are_complete_or_absent() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let source = at("copy.h5");
    std::fs::copy(fixtures::path("weather_station.h5"), &source).unwrap();
    // The extension of the output file selects the format.
    for (name, start) in
        [("q.npy", b"\x93NUMPY".as_slice()), ("q.json", b"{\"shape\":[5],"), ("q.csv", b"0\n")]
    {
        let path = if name == "q.csv" { "series/time" } else { "quality" };
        assert!(bytes(&["cat", &source, path, "-o", &at(name), "-s", "0:5"]).is_empty());
        let written = std::fs::read(at(name)).unwrap();
        let first = &written[..start.len().min(written.len())];
        assert!(first == start || name == "q.csv", "{name}: {first:?}");
    }
    assert!(failure(&["cat", &source, "quality", "-o", &source]).contains("is the input file"));
    assert!(failure(&["cat", &source, "quality", "-o", &at("no/such")]).contains("cannot write"));
    assert!(failure(&["cat", &source, "events/note", "-f", "raw", "-s", "9"]).contains("out of range"));
    let refused = failure(&["cat", "datatypes_other_latest.h5", "vlen", "-o", &at("v.npy")]);
    assert!(refused.contains("npy") || refused.contains("not found"), "{refused}");
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["copy.h5", "q.csv", "q.json", "q.npy"]);
}

/// A script that creates a file and prints its arrays with NumPy.
const TEXTS: &str = r#"
import json, sys
import h5py, numpy as np

rng = np.random.default_rng(int(sys.argv[2]))
limits = np.iinfo
expected = {}

def extremes(dtype):
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [info.min, info.max, 0, 1]
    info = np.finfo(dtype)
    powers = [10.0 ** p for p in range(-20, 21)]
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, float(info.max), float(info.min), float(info.tiny),
               float(info.smallest_subnormal), 0.1, 1 / 3, 16777216.0, 123456789.0, 9007199254740993.0]
    with np.errstate(over="ignore"):
        return list(np.array(special + powers + [-p for p in powers], dtype="f8").astype(dtype))

def random(dtype, count):
    bits = rng.integers(0, 256, count * dtype.itemsize, dtype="u1")
    return np.frombuffer(bits.tobytes(), dtype=dtype).copy()

with h5py.File(sys.argv[1], "w") as f:
    for order in "<>":
        for code in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]:
            dtype = np.dtype(order + code)
            if code == "f2":
                values = np.arange(65536, dtype="u2").view("f2").astype(dtype)
            else:
                values = np.concatenate([np.array(extremes(dtype), dtype=dtype), random(dtype, 3000)])
                if dtype.kind == "f":
                    near = (rng.standard_normal(2000) * 10.0 ** rng.integers(-7, 19, 2000)).astype(dtype)
                    values = np.concatenate([values, near, np.round(near)])
            f[f"scalars/{order}{code}"] = values
            expected[f"scalars/{order}{code}"] = "".join(f"{v}\n" for v in map(str, values))
        for code in ["c8", "c16"]:
            part = np.dtype(f"f{int(code[1:]) // 2}")
            pool = np.array(extremes(part), dtype=part)
            values = rng.choice(pool, 2000) + 0j
            values = values.astype(order + code)
            values.real, values.imag = rng.choice(pool, 2000), rng.choice(pool, 2000)
            f[f"scalars/{order}{code}"] = values
            expected[f"scalars/{order}{code}"] = "".join(f"{v}\n" for v in map(str, values))
    f["scalars/bool"] = rng.random(2000) < 0.5
    expected["scalars/bool"] = "".join(f"{v}\n" for v in map(str, f["scalars/bool"][()]))

    shapes = [(), (1,), (7,), (60,), (3, 4), (2, 30), (2, 3, 4), (1, 1, 1), (2, 2, 2, 3), (0,), (3, 0), (5, 1), (300,)]
    for n, shape in enumerate(shapes):
        ints = rng.integers(-10 ** int(rng.integers(1, 9)), 1000, shape)
        f[f"arrays/int{n}"] = ints
        expected[f"arrays/int{n}"] = str(np.asarray(ints)) + "\n"
        flags = np.asarray(rng.random(shape) < 0.5)
        f[f"arrays/bool{n}"] = flags
        expected[f"arrays/bool{n}"] = str(flags[()]) + "\n"
        floats = np.asarray(np.round(rng.standard_normal(shape) * 100, int(rng.integers(0, 9))), dtype="f4")
        f[f"arrays/float{n}"] = floats
        width = max([len(str(v)) for v in floats.ravel()], default=0)
        aligned = np.array2string(floats, formatter={"float_kind": lambda v: str(v).rjust(width)})
        expected[f"arrays/float{n}"] = aligned + "\n"
        words = ["", "a", "it's", 'say "x"', "tab\t", "Wärme", "back\\slash", "x" * 30]
        text = np.array(rng.choice(words, shape), dtype=object)
        if shape:
            f.create_dataset(f"arrays/text{n}", data=text, dtype=h5py.string_dtype())
            expected[f"arrays/text{n}"] = str(text) + "\n"
print(json.dumps(expected))
"#;

#[test]
fn text_equals_the_output_of_numpy() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.h5").display().to_string();
    for seed in ["1", "2"] {
        let answer = referee.run_script(TEXTS, [path.as_str(), seed]).unwrap();
        let expected: Value = serde_json::from_str(&answer).unwrap();
        let mut compared = 0;
        for (name, expected) in expected.as_object().unwrap() {
            let got = printed(&["cat", &path, name]);
            let expected = expected.as_str().unwrap();
            let differs = got.lines().zip(expected.lines()).find(|(got, expected)| got != expected);
            assert!(got == expected, "{name}: {differs:?}\n{:.500}\n{expected:.500}", got);
            compared += 1;
        }
        assert_eq!(compared, 27 + 13 * 4 - 1);
    }
}

/// A script that creates a file with every type that npy files support, and with selections.
const ARRAYS: &str = r#"
import json, sys
import h5py, numpy as np
from h5py import h5t, h5s, h5d

rng = np.random.default_rng(7)
def fill(dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.names:
        array = np.zeros(shape, dtype)
        for name in dtype.names:
            array[name] = fill(dtype[name].base, shape + dtype[name].shape)
        return array
    if dtype.kind == "S":
        return np.array(rng.choice([b"", b"abc", b"wxyz"], shape), dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    return (rng.standard_normal(shape) * 50).astype(dtype)

types = {
    "i1": "i1", "u2": ">u2", "i4": "<i4", "u8": ">u8", "f2": "<f2", "f4": ">f4", "f8": "<f8", "bool": "?", "c8": "<c8",
    "c16": ">c16", "S4": "S4",
    "record": [("a", "<i4"), ("b", ">f8"), ("c", "S3"), ("flag", "?")],
    "aligned": np.dtype([("a", "u1"), ("b", "<f8"), ("c", "<i2")], align=True),
    "nested": [("at", [("x", "<f4"), ("y", "<f4")]), ("m", "<i2", (2, 3)), ("z", "<c16")],
    "names": [("Wärme", "<i4"), ("it's", "<i4")],
    "one": [("only", "<i4")],
}
with h5py.File(sys.argv[1], "w") as f:
    for name, dtype in types.items():
        for rank, shape in enumerate([(), (11,), (4, 5), (3, 1, 2)]):
            f[f"{name}/{rank}"] = fill(dtype, shape)
        f.create_dataset(f"{name}/chunked", data=fill(dtype, (37, 9)), chunks=(10, 4), compression="gzip")
        f.create_dataset(f"{name}/empty", shape=(0, 3), dtype=dtype)
    f.create_dataset("array", (3,), h5py.vlen_dtype("i4"))
    space = h5s.create_simple((5,))
    kind = h5t.array_create(h5t.STD_I16BE, (2, 3))
    d = h5d.create(f.id, b"arrays/0", kind, space, lcpl=(lambda p: (p.set_create_intermediate_group(True), p)[1])(h5py.h5p.create(h5py.h5p.LINK_CREATE)))
    f["arrays/0"][...] = np.arange(30, dtype=">i2").reshape(5, 2, 3)
    words = ["", "a", "Wärme", "日本", "x" * 40]
    f.create_dataset("texts/0", data=words, dtype=h5py.string_dtype())
    enum = h5py.enum_dtype({"RED": 1, "BLUE": -5}, basetype="i2")
    f.create_dataset("enums/0", data=np.array([1, -5, 1]), dtype=enum)
    f["big"] = np.arange(700000, dtype="<i4").reshape(700, 1000)
"#;

/// A script that compares the written data with the values that h5py reads.
const LOADS: &str = r#"
import json, sys
import h5py, numpy as np
file, name, npy, raw, selection = sys.argv[1:]
with h5py.File(file) as f:
    d = f[name]
    truth = d.asstr()[...] if h5py.check_string_dtype(d.dtype) and d.dtype.kind == "O" else d[()]
    truth = np.asarray(truth) if d.dtype.kind == "O" or d.dtype.subdtype else np.asarray(truth, d.dtype)
if selection:
    truth = np.asarray(eval(f"truth[{selection}]"))
got = np.load(npy)
assert got.shape == truth.shape, (got.shape, truth.shape)
if truth.dtype.kind == "O":
    assert (got == truth.astype(got.dtype)).all(), (got, truth)
else:
    assert got.dtype == np.dtype(truth.dtype.newbyteorder("=")).newbyteorder("=") or got.dtype == truth.dtype, (got.dtype, truth.dtype)
    assert got.dtype.isnative == truth.dtype.isnative, (got.dtype, truth.dtype)
    def same(a, b):
        if a.dtype.names:
            return all(same(a[n], b[n]) for n in a.dtype.names)
        return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
    assert same(got, truth)
    bytes = open(raw, "rb").read()
    if truth.dtype.names:
        assert same(np.frombuffer(bytes, truth.dtype).reshape(truth.shape), truth)
    else:
        assert bytes == np.ascontiguousarray(truth).tobytes()
"#;

#[test]
fn numpy_loads_what_h5py_reads() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (file, npy, raw) = (at("f.h5"), at("out.npy"), at("out.raw"));
    referee.run_script(ARRAYS, [&file]).unwrap();
    let mut script = String::from("import sys\n");
    let mut cases = 0;
    for name in datasets(&file) {
        let name = name.as_str();
        if name == "/array" {
            assert!(failure(&["cat", &file, name, "-f", "npy"]).contains("variable length"));
            continue;
        }
        let rank = printed(&["cat", &file, name, "-f", "json", "-s", "..."]);
        assert!(serde_json::from_str::<Value>(&rank).is_ok(), "{name}");
        let selections: &[&str] = if name.ends_with("chunked") || name == "/big" {
            &["", "3:30:4", "5", "...,1", "-2:,::2"]
        } else {
            &[""]
        };
        for selection in selections {
            let (npy, raw) = (format!("{npy}{cases}"), format!("{raw}{cases}"));
            let all = if selection.is_empty() { "..." } else { selection };
            bytes(&["cat", &file, name, "-s", all, "-f", "npy", "-o", &npy]);
            bytes(&["cat", &file, name, "-s", all, "-f", "raw", "-o", &raw]);
            script.push_str(&format!("check({file:?}, {name:?}, {npy:?}, {raw:?}, {selection:?})\n"));
            cases += 1;
        }
    }
    assert!(cases > 150, "{cases}");
    // One run of Python checks all files.
    let calls = script.split_once('\n').unwrap().1;
    let code = format!(
        "LOADS = {LOADS:?}\ndef check(*a):\n    import sys\n    sys.argv = ['-', *a]\n    try:\n        exec(LOADS, {{}})\n    except Exception as e:\n        raise SystemExit(f'{{a}}: {{e!r}}')\n{calls}print('done')"
    );
    assert_eq!(referee.run_script(&code, [""; 0]).unwrap().trim(), "done");
}

#[test]
fn json_and_csv_hold_the_values() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.h5").display().to_string();
    let code = r#"
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as f:
    f["floats"] = np.array([[1.5, np.nan, np.inf], [-np.inf, 1e300, -0.0]])
    f["ints"] = np.array([-2**63, 2**63 - 1])
    f["record"] = np.array([(1, 0.1, b"a,b", [1, 2]), (2, np.nan, b'"', [3, 4])],
                           [("id", "i4"), ("v", "f4"), ("s", "S4"), ("m", "i2", (2,))])
    v = f.create_dataset("vlen", (2,), h5py.vlen_dtype("i4")); v[0] = [1, 2]; v[1] = []
    f.create_dataset("null", data=h5py.Empty("f4"))
    f["scalar"] = 2.5
    f["refs"] = np.array([f["ints"].ref, h5py.Reference()], dtype=h5py.ref_dtype)
"#;
    referee.run_script(code, [&file]).unwrap();
    let json = |name: &str| printed(&["cat", &file, name, "-f", "json"]);
    let data = |name: &str| {
        let all = json(name);
        let data = all.split_once("\"data\":").unwrap().1;
        data.strip_suffix("}\n").unwrap().to_owned()
    };
    assert_eq!(
        json("floats"),
        "{\"shape\":[2,3],\"data\":[[1.5, \"nan\", \"inf\"],\n[\"-inf\", 1e+300, -0.0]]}\n"
    );
    assert_eq!(data("ints"), "[-9223372036854775808, 9223372036854775807]");
    assert_eq!(
        data("record"),
        "[{\"id\":1,\"v\":0.1,\"s\":\"a,b\",\"m\":[1,2]}, {\"id\":2,\"v\":\"nan\",\"s\":\"\\\"\",\"m\":[3,4]}]"
    );
    assert_eq!(data("vlen"), "[[1,2], []]");
    assert_eq!(json("null"), "{\"shape\":null,\"data\":null}\n");
    assert_eq!(json("scalar"), "{\"shape\":[],\"data\":2.5}\n");
    assert_eq!(data("refs"), "[{\"reference\":\"/ints\"}, {\"reference\":\"nothing\"}]");
    let csv = |name: &str| printed(&["cat", &file, name, "-f", "csv"]);
    assert_eq!(csv("floats"), "1.5,nan,inf\n-inf,1e+300,-0.0\n");
    assert_eq!(csv("ints"), "-9223372036854775808\n9223372036854775807\n");
    assert_eq!(csv("record"), "id,v,s,m[0],m[1]\n1,0.1,\"a,b\",1,2\n2,nan,\"\"\"\",3,4\n");
    assert_eq!(csv("vlen"), "[1 2]\n[]\n");
    assert_eq!(csv("null"), "");
    let text = |name: &str| printed(&["cat", &file, name]);
    assert_eq!(text("record"), "[(1, 0.1, 'a,b', [1 2]) (2, nan, '\"', [3 4])]\n");
    assert_eq!(text("vlen"), "[[1 2] []]\n");
    assert_eq!(text("refs"), "[→ /ints → nothing]\n");
    assert_eq!(text("null"), "None\n");
    assert!(failure(&["cat", &file, "null", "-f", "npy"]).contains("has a null dataspace"));
}

/// A conversion to 64 bits would clamp the numbers.
#[test]
fn integers_of_more_than_64_bits_keep_their_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.h5");
    let file = hyperslab::FileOptions::new().create(&path).unwrap();
    for (name, signed) in [("signed", true), ("unsigned", false)] {
        let wide = hyperslab::Datatype::integer(9, signed, hyperslab::datatype::ByteOrder::LittleEndian);
        let dataset = file.new_dataset(name).datatype(wide).shape(&[2]).create().unwrap();
        let bytes = [&[1, 0, 0, 0, 0, 0, 0, 0, 2][..], &[7, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
        dataset.write_stored(.., &bytes).unwrap();
    }
    file.close().unwrap();
    let file = path.to_str().unwrap();
    for name in ["signed", "unsigned"] {
        let text = |format: &str| printed(&["cat", file, name, "-f", format]);
        assert_eq!(text("csv"), "0x020000000000000001\n0x000000000000000007\n");
        assert_eq!(
            text("json"),
            "{\"shape\":[2],\"data\":[\"0x020000000000000001\", \"0x000000000000000007\"]}\n"
        );
        assert!(failure(&["cat", file, name, "-f", "npy"]).contains("integers of 9 bytes"));
    }
}

#[test]
fn json_by_its_short_name() {
    let file = "weather_station.h5";
    assert_eq!(
        printed(&["cat", file, "events/hour", "--json"]),
        printed(&["cat", file, "events/hour", "--format", "json"])
    );
    let head: Value =
        serde_json::from_str(&printed(&["head", "--json", "-n", "2", file, "events/hour"])).unwrap();
    assert_eq!(head["data"], serde_json::json!([417, 2210]));
}
