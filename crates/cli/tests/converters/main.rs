//! `hyperslab import` and `export` of tables, with pandas, pyarrow, anndata and NumPy as referees:
//! no value is lost or invented, in both directions.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod bench;
mod frames;

use std::process::Command;

use self::bench::{Bench, HYPERSLAB};

#[test]
fn generated_tables_come_back_from_parquet_and_arrow() {
    let Some(bench) = Bench::new() else { return };
    let made = bench.python(
        r#"
number = 0
for seed in range(12):
    rows = [0, 1, 5, 50][seed % 4]
    t = drawn(seed, rows, nulls=seed % 3 != 0, lists=seed % 2 == 0)
    codec = ["snappy", "zstd", "brotli", "gzip", "lz4", "none"][seed % 6]
    pq.write_table(t, f"t{seed}.parquet", compression=codec, data_page_version=["1.0", "2.0"][seed // 6])
    feather.write_feather(t, f"t{seed}.arrow", compression=["lz4", "uncompressed"][seed % 2])
    number += 1
print(number)"#,
    );
    for seed in 0..12 {
        for kind in ["parquet", "arrow"] {
            for form in ["records", "columns"] {
                bench.done(&format!("import t{seed}.{kind} {kind}.h5 {form}{seed} --as {form}"));
                bench.done(&format!("export {kind}.h5 {form}{seed} back-{form}{seed}.{kind}"));
            }
        }
    }
    bench.done("check parquet.h5 arrow.h5");
    let compared = bench.python(
        r#"
number = 0
def back(t):
    # HDF5 stores days and times as integers with units, and dictionaries as their values.
    kinds = {pa.date32(): pa.int32(), pa.timestamp("us"): pa.int64()}
    t = t.cast(pa.schema([(f.name, kinds.get(f.type, f.type)) for f in t.schema]))
    # A missing floating-point number becomes NaN, unless the column has NaN as a value too.
    for at, f in enumerate(t.schema):
        if pa.types.is_floating(f.type) and not any(v is not None and math.isnan(v) for v in t[f.name].to_pylist()):
            t = t.set_column(at, f, t[f.name].fill_null(float("nan")))
    return t
for seed in range(12):
    t = back(pq.read_table(f"t{seed}.parquet"))
    for form in ["records", "columns"]:
        order = t.column_names if form == "records" else sorted(t.column_names)
        same(t.select(order), pq.read_table(f"back-{form}{seed}.parquet").select(order))
        same(t.select(order), feather.read_table(f"back-{form}{seed}.arrow").select(order))
        number += 2
print(number)"#,
    );
    println!("{made} tables, {compared} comparisons");
    assert_eq!(compared, "48");
}

#[test]
fn h5py_reads_imported_nulls() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
pq.write_table(pa.table({"n": pa.array([1, None, 3]), "x": pa.array([.5, None, 2.]), "s": pa.array(["a", None, ""])}), "n.parquet")
open("n.csv", "w").write("n,x,s\n1,.5,a\n,,\n3,2.0,b\n")"#,
    );
    for input in ["n.parquet", "n.csv"] {
        bench.done(&format!("import {input} {input}.h5 t"));
        bench.done(&format!("import {input} {input}.h5 v --null -1"));
    }
    bench.python(
        r#"
for name in ["n.parquet", "n.csv"]:
    f = h5py.File(name + ".h5"); t = f["t"]
    assert t["n"].tolist() == [1, 0, 3] and t["n_mask"].tolist() == [False, True, False]
    assert t["x"][0] == .5 and np.isnan(t["x"][1]) and "x_mask" not in t.dtype.names
    assert "n" in list(t.attrs["null_masks"].astype(str))
    assert f["v"]["n"].tolist() == [1, -1, 3] and f["v"]["x"].tolist() == [.5, -1, 2]
    assert "null_masks" not in f["v"].attrs"#,
    );
    // A mask that is gone must not turn missing values into zeros.
    bench.done("import n.parquet gone.h5 g --as columns");
    bench.done("rm gone.h5 g/n_mask");
    let refused = bench.run("export gone.h5 g gone.parquet").failure();
    assert!(refused.contains("`n_mask`") && !bench.path("gone.parquet").exists(), "{refused}");
    let refused = bench.run("import n.parquet n.parquet.h5 w --null x").failure();
    assert!(refused.contains("column `n`") && refused.contains("n.parquet"), "{refused}");
}

#[test]
fn csv_of_pandas() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
import gzip
for seed in range(6):
    t = drawn(seed, [0, 1, 40][seed % 3], lists=False).drop_columns(["raw"]).to_pandas()
    t.to_csv(f"c{seed}.csv", index=False, sep=",;\t"[seed % 3])
    gzip.open(f"c{seed}.csv.gz", "wt").write(open(f"c{seed}.csv").read())"#,
    );
    for seed in 0..6 {
        bench.done(&format!("import c{seed}.csv c.h5 c{seed}"));
        bench.done(&format!("import c{seed}.csv.gz c.h5 z{seed} --as columns"));
    }
    let compared = bench.python(
        r#"
number = 0
f = h5py.File("c.h5")
for seed in range(6):
    want = pd.read_csv(f"c{seed}.csv", sep=",;\t"[seed % 3], keep_default_na=False, dtype=str)
    for name in want.columns:
        for got, mask in [(f[f"c{seed}"][name], f[f"c{seed}"].dtype.names), (f[f"z{seed}"][name][()], list(f[f"z{seed}"]))]:
            group = f[f"c{seed}"] if isinstance(mask, tuple) else f[f"z{seed}"]
            missing = group[name + "_mask"][()] if name + "_mask" in mask else np.zeros(len(got), bool)
            for cell, value, none in zip(want[name], got, missing):
                number += 1
                if cell == "":
                    assert none or value == b"" or (isinstance(value, float) and np.isnan(value)), (name, value)
                elif isinstance(value, bytes): assert value.decode() == cell, (name, value, cell)
                elif isinstance(value, (bool, np.bool_)): assert str(value) == cell
                elif got.dtype.kind == "f": assert value == float(cell) or (np.isnan(value) and cell == "nan"), (name, value, cell)
                else: assert int(value) == int(cell), (name, value, cell)
print(number)"#,
    );
    println!("{compared} cells");
    assert!(compared.parse::<u32>().unwrap() > 1000);
}

#[test]
fn pipes_are_read_once() {
    let Some(bench) = Bench::new() else { return };
    let text: String = (0..100).map(|row| format!("{row},{}\n", row * 2)).collect();
    let csv = format!("a,b\n{text}");
    bench.piped("import - pipe.h5 t --format csv", csv.as_bytes());
    bench.python(
        r#"
np.save("a.npy", np.arange(6).reshape(2, 3))
pq.write_table(pa.table({"n": [1, 2]}), "p.parquet")
import scipy.sparse as s; s.save_npz("m.npz", s.csr_array(np.eye(3)))"#,
    );
    for name in ["a.npy", "p.parquet", "m.npz"] {
        let bytes = std::fs::read(bench.path(name)).unwrap();
        bench.piped(&format!("import - pipe.h5 {}", name.replace('.', "_")), &bytes);
    }
    for (object, format) in
        [("t", "parquet"), ("t", "csv"), ("a_npy", "npy"), ("m_npz", "npz"), ("m_npz", "mtx")]
    {
        let bytes = bench.piped(&format!("export pipe.h5 {object} - --format {format}"), b"");
        std::fs::write(bench.path(&format!("out_{object}.{format}")), bytes).unwrap();
    }
    bench.python(
        r#"
import scipy.sparse as s, scipy.io
f = h5py.File("pipe.h5")
assert f["t"].shape == (100,) and f["t"]["b"].tolist() == [2 * i for i in range(100)]
assert f["a_npy"][()].tolist() == [[0, 1, 2], [3, 4, 5]] and f["p_parquet"]["n"].tolist() == [1, 2]
assert pq.read_table("out_t.parquet")["b"].to_pylist() == f["t"]["b"].tolist()
assert pd.read_csv("out_t.csv")["a"].tolist() == list(range(100))
assert np.load("out_a_npy.npy").tolist() == f["a_npy"][()].tolist()
assert (s.load_npz("out_m_npz.npz").toarray() == np.eye(3)).all()
assert (scipy.io.mmread("out_m_npz.mtx").toarray() == np.eye(3)).all()
assert f["m_npz"].attrs["encoding-type"] == "csr_matrix""#,
    );
}

#[cfg(unix)]
#[test]
fn named_pipes_are_read_once() {
    let Some(bench) = Bench::new() else { return };
    let script = format!(
        "import subprocess, sys, os
os.chdir(sys.argv[1])
open('df.csv', 'w').write('a\\n' + ''.join(f'{{i}}\\n' for i in range(100)))
subprocess.run(['bash', '-c', '\"$0\" import <(cat df.csv) y.h5 t -f csv', {HYPERSLAB:?}], check=True)
import h5py
assert h5py.File('y.h5')['t']['a'].tolist() == list(range(100))"
    );
    bench.python.run_script(&script, [bench.scratch.folder()]).unwrap();
}

#[test]
fn a_failed_import_leaves_nothing() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
pq.write_table(pa.table({"n": pa.array([[1, None], [2]])}), "inner.parquet")
pq.write_table(pa.table({"n": [1]}), "good.parquet")
open("short.csv", "w").write("a,b\n1,2\n3\n")
h5py.File("old.h5", "w")["kept"] = [1, 2]"#,
    );
    for (input, why) in [("inner.parquet", "inside an array, list or structure"), ("short.csv", "line 3")] {
        let refused = bench.run(&format!("import {input} new.h5 deep/t")).failure();
        assert!(refused.contains(why) && refused.contains(input), "{refused}");
        assert!(!bench.path("new.h5").exists());
        let again = bench.run(&format!("import {input} old.h5 deep/t")).failure();
        assert!(again.contains(why), "{again}");
    }
    bench.done("check old.h5");
    bench.python(r#"assert list(h5py.File("old.h5")) == ["kept"]"#);
    bench.done("import good.parquet old.h5 deep/t");
    let again = bench.run("import good.parquet old.h5 deep/t").failure();
    assert!(again.contains("exists already"), "{again}");
    bench.python(r#"assert h5py.File("old.h5")["deep/t"]["n"].tolist() == [1]"#);
}

#[test]
fn json_lines_of_pandas() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
import gzip
t = drawn(5, 60, lists=True).drop_columns(["raw", "bytes", "f32", "large", "day", "when", "nan"])
t = t.set_column(t.column_names.index("f64"), "f64", t["f64"].fill_null(0.25))
with open("a.jsonl", "w") as out:
    for row in t.to_pylist(): out.write(json.dumps(row) + "\n")
gzip.open("a.jsonl.gz", "wt").write(open("a.jsonl").read())
open("o.jsonl", "w").write('{"a": 1, "p": {"x": 1.5, "y": 2}}\n\n{"b": "t", "p": {"x": 2, "y": 3}, "a": null}\n')
open("mixed.jsonl", "w").write('{"a": 1}\n{"a": "x"}\n')
h5py.File("inf.h5", "w")["t"] = np.array([(1., ), (np.inf, )], [("x", "f8")])"#,
    );
    for (input, path) in [("a.jsonl", "a"), ("a.jsonl.gz", "z"), ("o.jsonl", "o")] {
        bench.done(&format!("import {input} j.h5 {path}"));
    }
    bench.done("export j.h5 a back.jsonl");
    bench.done("export j.h5 o o2.jsonl");
    let refused = bench.run("import mixed.jsonl j.h5 mixed").failure();
    assert!(refused.contains("line 2") && refused.contains("column `a`"), "{refused}");
    let refused = bench.run("export inf.h5 t inf.jsonl").failure();
    assert!(refused.contains("column `x`") && !bench.path("inf.jsonl").exists(), "{refused}");
    let compared = bench.python(
        r#"
read = lambda name: [json.loads(line) for line in open(name) if line.strip()]
a, back = read("a.jsonl"), read("back.jsonl")
assert a == back, [(x, y) for x, y in zip(a, back) if x != y][:2]
assert read("o2.jsonl") == [{"a": 1, "p": {"x": 1.5, "y": 2}, "b": None}, {"a": None, "p": {"x": 2.0, "y": 3}, "b": "t"}], read("o2.jsonl")
assert (h5py.File("j.h5")["z"]["i8"] == h5py.File("j.h5")["a"]["i8"]).all()
print(len(a))"#,
    );
    assert_eq!(compared, "60");
}

#[test]
fn arrays_and_times_of_numpy() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
np.savez("many.npz", a=np.arange(6).reshape(2, 3), b=np.array(["x", "zwölf"]), c=np.float32(1.5))
np.savez_compressed("packed.npz", np.arange(10.))
np.save("when.npy", np.array(["2026-01-01", "NaT", "1969-12-31T23:59:59.5"], "M8[ns]"))
np.save("span.npy", np.array([1, -5], ">m8[ms]"))"#,
    );
    for (input, path) in
        [("many.npz", "many"), ("packed.npz", "packed"), ("when.npy", "when"), ("span.npy", "span")]
    {
        bench.done(&format!("import {input} n.h5 {path}"));
    }
    for (path, out) in [("when", "when2.npy"), ("span", "span2.npy"), ("many/a", "a2.npy")] {
        bench.done(&format!("export n.h5 {path} {out}"));
    }
    bench.python(
        r#"
f = h5py.File("n.h5")
assert f["many/a"][()].tolist() == [[0, 1, 2], [3, 4, 5]] and f["many/c"][()] == 1.5
assert [t.decode() for t in f["many/b"][()]] == ["x", "zwölf"]
assert f["packed/arr_0"][()].tolist() == np.arange(10.).tolist()
assert f["when"].attrs["units"] == "nanoseconds since 1970-01-01"
for one, other in [("when.npy", "when2.npy"), ("span.npy", "span2.npy")]:
    a, b = np.load(one), np.load(other)
    assert a.dtype == b.dtype and np.array_equal(a.view("i8"), b.view("i8")), (a, b)"#,
    );
}

#[cfg(unix)]
#[test]
fn exported_files_have_the_usual_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(bench) = Bench::new() else { return };
    bench.python(r#"h5py.File("m.h5", "w")["t"] = np.zeros(2, [("a", "i4")]); open("usual", "w").write("")"#);
    let mode = |name: &str| std::fs::metadata(bench.path(name)).unwrap().permissions().mode();
    for name in ["t.parquet", "t.arrow", "t.csv", "t.npy"] {
        bench.done(&format!("export m.h5 t {name}"));
        assert_eq!(mode(name), mode("usual"), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn links_and_standard_output_are_not_replaced() {
    let Some(bench) = Bench::new() else { return };
    bench.python(r#"h5py.File("m.h5", "w")["t"] = np.arange(3); open("real.csv", "w").write("old")"#);
    std::os::unix::fs::symlink("real.csv", bench.path("link.csv")).unwrap();
    bench.done("export m.h5 t link.csv");
    assert!(bench.path("link.csv").is_symlink());
    assert_eq!(std::fs::read_to_string(bench.path("real.csv")).unwrap(), "0\n1\n2\n");
    assert_eq!(bench.piped("export m.h5 t /dev/stdout --format csv", b""), b"0\n1\n2\n");
    let missing = bench.run("import nothing.xyz m.h5 n").failure();
    assert!(missing.contains("`nothing.xyz`: the file does not exist"), "{missing}");
}

/// A killed import leaves the file as it was, or complete.
#[cfg(unix)]
#[test]
fn a_killed_import_leaves_nothing() {
    let Some(bench) = Bench::new() else { return };
    let rows: String = (0..200_000).map(|row| format!("{row},text {row}\n")).collect();
    std::fs::write(bench.path("large.csv"), format!("a,b\n{rows}")).unwrap();
    let mut killed = 0;
    for round in 0..8 {
        bench.python(r#"h5py.File("k.h5", "w")["kept"] = [1, 2]"#);
        let mut child = Command::new(HYPERSLAB)
            .args(["import", "large.csv", "k.h5", "deep/t", "--as", "columns"])
            .current_dir(bench.scratch.folder())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100 + 250 * round));
        child.kill().ok();
        killed += u32::from(!child.wait().unwrap().success());
        // The next writer removes what the killed one left.
        bench.done("mkdir k.h5 after");
        bench.done("check k.h5");
        let names = bench.python(
            r#"
f = h5py.File("k.h5")
assert "deep" not in f or f["deep/t/a"][-1] == 199999
print(sorted(set(f) - {"deep"}))"#,
        );
        assert_eq!(names, "['after', 'kept']");
        bench.done("rm k.h5 kept");
        std::fs::remove_file(bench.path("k.h5")).unwrap();
    }
    assert!(killed > 0, "no import was killed");
}
