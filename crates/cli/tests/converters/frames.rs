//! Data frames of AnnData, and groups as csv.

use super::bench::Bench;

#[test]
fn data_frames_of_anndata() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
import anndata
obs = pd.DataFrame({
    "kind": pd.Categorical(["b", None, "a", "b"], categories=["a", "b", "c"]),
    "count": pd.array([1, None, 3, 4], dtype="Int32"),
    "flag": pd.array([True, None, False, True], dtype="boolean"),
    "x": [.5, float("nan"), 1., 2.],
    "name": ["p", "q", "ä", ""],
}, index=["c1", "c2", "c3", "c4"])
a = anndata.AnnData(np.eye(4, dtype="f4"), obs=obs)
a.write_h5ad("x.h5ad")
f = h5py.File("odd.h5", "w"); f["t/a"] = [1, 2]; f.create_group("t/inner"); f["t/b"] = [3, 4]"#,
    );
    bench.done("export x.h5ad obs obs.parquet");
    bench.done("export x.h5ad obs obs.arrow");
    let refused = bench.run("export odd.h5 t t.parquet").failure();
    assert!(refused.contains("`inner`") && refused.contains("--skip-unsupported"), "{refused}");
    assert!(!bench.path("t.parquet").exists());
    bench.done("export odd.h5 t t.parquet --skip-unsupported");
    bench.python(
        r#"
import anndata
want = anndata.read_h5ad("x.h5ad").obs
t = pq.read_table("obs.parquet")
assert t.column_names == ["_index", "kind", "count", "flag", "x", "name"], t.column_names
got = t.to_pandas().set_index("_index")
assert got.index.tolist() == want.index.tolist()
assert feather.read_table("obs.arrow").to_pandas()["kind"].cat.categories.tolist() == ["a", "b", "c"]
for name in want.columns:
    a, b = want[name], got[name]
    assert [None if pd.isna(v) else v for v in a] == [None if pd.isna(v) else v for v in b], name
assert pq.read_table("t.parquet").to_pydict() == {"a": [1, 2], "b": [3, 4]}"#,
    );
}

#[test]
fn anndata_reads_imported_data_frames() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
frame = pd.DataFrame({
    "kind": pd.Categorical(["b", None, "a", "b"] * 3000),
    "size": pd.Categorical(["s", "l", None, "m"] * 3000, categories=["s", "m", "l"], ordered=True),
    "count": pd.array([1, None, 3, 4] * 3000, dtype="Int32"),
    "flag": pd.array([True, None, False, True] * 3000, dtype="boolean"),
    "x": [.5, float("nan"), 1., 2.] * 3000,
    "name": ["p", "q", "ä", ""] * 3000,
}, index=[f"c{i}" for i in range(12000)])
frame.to_parquet("f.parquet")
frame.reset_index(drop=True).to_parquet("plain.parquet", index=False)"#,
    );
    bench.done("import f.parquet f.h5 obs --as dataframe --filter shuffle,gzip=1");
    bench.done("import plain.parquet f.h5 plain --as dataframe");
    bench.done("export f.h5 obs back.parquet");
    bench.done("check f.h5");
    bench.python(
        r#"
import anndata
want = pd.read_parquet("f.parquet")
f = h5py.File("f.h5")
for name, index in [("obs", list(want.index)), ("plain", [str(i) for i in range(12000)])]:
    got = anndata.io.read_elem(f[name])
    assert list(got.columns) == list(want.columns) and list(got.index) == index
    assert isinstance(got["kind"].dtype, pd.CategoricalDtype) and str(got["count"].dtype) == "Int32"
    assert got["size"].cat.ordered and not got["kind"].cat.ordered
    for column in want.columns:
        a, b = want[column], got[column]
        assert [None if pd.isna(v) else v for v in a] == [None if pd.isna(v) else v for v in b], column
back = pq.read_table("back.parquet").to_pandas().set_index("_index")
assert list(back["kind"].astype(object).where(back["kind"].notna(), None)) == list(want["kind"].astype(object).where(want["kind"].notna(), None))"#,
    );
}

/// Data frames in the formats of AnnData 0.6 and 0.7, which anndata still reads.
#[test]
fn data_frames_of_old_anndata() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
text = h5py.string_dtype()
def base(name):
    f = h5py.File(name, "w")
    f["X"] = np.eye(4, dtype="f4")
    return f
# 0.7: a group with references to the categories.
f = base("seven.h5ad")
for frame, names in [("obs", ["c1", "c2", "c3", "c4"]), ("var", ["g1", "g2", "g3", "g4"])]:
    g = f.create_group(frame)
    g.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.1.0", "_index": "index"})
    g.attrs.create("column-order", ["kind", "x", "batch"] if frame == "obs" else [], dtype=text)
    g.create_dataset("index", data=names, dtype=text)
g = f["obs"]
for name, codes, categories in [("kind", [1, -1, 0, 1], ["a", "b", "ü"]), ("batch", [0, 0, 1, 1], ["x", "y"])]:
    c = g.create_dataset("__categories/" + name, data=categories, dtype=text)
    c.attrs["ordered"] = name == "batch"
    g[name] = np.array(codes, "i1")
    g[name].attrs["categories"] = c.ref
g["x"] = [.5, 1., 2., 3.]
f.close()
# 0.6: compounds, with the categories in uns.
f = base("six.h5ad")
f["obs"] = np.array([(b"c1", 1, .5), (b"c2", -1, 1.), (b"c3", 0, 2.), (b"c4", 1, 3.)], [("index", "S2"), ("kind", "i1"), ("x", "f8")])
f["var"] = np.array([(b"g1",), (b"g2",), (b"g3",), (b"g4",)], [("index", "S2")])
f.create_dataset("uns/kind_categories", data=["a", "b", "c"], dtype=text)
f.create_dataset("uns/other_categories", data=["p"], dtype=text)
f.close()
# A column whose categories are gone.
f = base("gone.h5ad")
f["obs/kind"] = np.array([0, 1], "i1")
f["obs/kind"].attrs["categories"] = "a"
f.close()"#,
    );
    for name in ["seven", "six"] {
        for kind in ["parquet", "arrow", "jsonl", "csv"] {
            if (name, kind) != ("six", "csv") {
                bench.done(&format!("export {name}.h5ad obs {name}.{kind}"));
            }
        }
    }
    let refused = bench.run("export gone.h5ad obs gone.parquet").failure();
    assert!(refused.contains("`kind`") && refused.contains("categories"), "{refused}");
    assert!(!bench.path("gone.parquet").exists());
    let compared = bench.python(
        r#"
import anndata, warnings
warnings.simplefilter("ignore")
plain = lambda values: [None if pd.isna(v) else v for v in values]
count = 0
for name in ["seven", "six"]:
    want = anndata.read_h5ad(name + ".h5ad").obs
    assert isinstance(want["kind"].dtype, pd.CategoricalDtype)
    tables = [pq.read_table(name + ".parquet").to_pandas(), feather.read_table(name + ".arrow").to_pandas(), pd.read_json(name + ".jsonl", lines=True)]
    if name == "seven": tables.append(pd.read_csv(name + ".csv"))
    for number, got in enumerate(tables):
        text = lambda values: [v.decode() if isinstance(v, bytes) else v for v in values]
        assert text(got["index"]) == list(want.index), got
        assert list(got.columns) == ["index"] + list(want.columns), got.columns
        for column in want.columns:
            assert plain(want[column]) == plain(got[column]), (name, column)
            count += 1
    assert list(tables[1]["kind"].cat.categories) == list(want["kind"].cat.categories)
print(count)"#,
    );
    assert_eq!(compared, "18");
}

#[test]
fn groups_as_csv() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
import anndata
obs = pd.DataFrame({
    "kind": pd.Categorical(["b", None, "a,b", "=1+1"]),
    "count": pd.array([1, None, 3, 4], dtype="Int32"),
    "flag": pd.array([True, None, False, True], dtype="boolean"),
    "x": [.5, .1, 1e300, -2.],
    "name": ["p", "say \"q\"", "ä", "two\nlines"],
}, index=["c1", "c2", "c3", "c4"])
anndata.AnnData(np.eye(4, dtype="f4"), obs=obs).write_h5ad("x.h5ad")
for seed in range(4):
    pq.write_table(drawn(seed, [0, 1, 40, 20000][seed], lists=False).drop_columns(["raw"]), f"t{seed}.parquet")
f = h5py.File("odd.h5", "w")
f["t/a"] = [1, 2]; f.create_group("t/inner"); f["t/wide"] = [[3, 4], [5, 6]]; f["t/b"] = [b"x", b"y"]
f.create_group("empty")"#,
    );
    bench.done("export x.h5ad obs obs.csv");
    bench.done("export x.h5ad obs escaped.csv --escape-formulas");
    let printed = bench.piped("export x.h5ad obs - --format csv", b"");
    assert_eq!(printed, std::fs::read(bench.path("obs.csv")).unwrap());
    for seed in 0..4 {
        bench.done(&format!("import t{seed}.parquet g.h5 t{seed} --as columns"));
        bench.done(&format!("export g.h5 t{seed} t{seed}.csv"));
    }
    let refused = bench.run("export odd.h5 t odd.csv").failure();
    assert!(refused.contains("`inner`") && refused.contains("--skip-unsupported"), "{refused}");
    bench.done("rm odd.h5 t/inner --recursive");
    let refused = bench.run("export odd.h5 t odd.csv").failure();
    assert!(refused.contains("`wide`") && !bench.path("odd.csv").exists(), "{refused}");
    bench.done("export odd.h5 t odd.csv --skip-unsupported");
    let refused = bench.run("export odd.h5 empty empty.csv").failure();
    assert!(refused.contains("no datasets"), "{refused}");
    bench.python(
        r#"
import anndata
assert open("odd.csv").read() == "a,b\n1,x\n2,y\n", open("odd.csv").read()
want = anndata.read_h5ad("x.h5ad").obs
plain = lambda values: [None if pd.isna(v) else v for v in values]
got = pd.read_csv("obs.csv")
assert list(got.columns) == ["_index"] + list(want.columns)
assert list(got["_index"]) == list(want.index)
for column in want.columns: assert plain(want[column]) == plain(got[column]), column
assert "'=1+1" in open("escaped.csv").read() and "'" not in open("obs.csv").read()
for seed in range(4):
    want = pq.read_table(f"t{seed}.parquet")
    got = pd.read_csv(f"t{seed}.csv", dtype=str, keep_default_na=False)
    assert sorted(got.columns) == sorted(want.column_names), got.columns
    assert len(got) == len(want)
    for name in want.column_names:
        for cell, value in zip(got[name], want[name].to_pylist()):
            if value is None: assert cell in ("", "nan"), (name, cell)
            elif name == "f32": assert np.float32(cell) == np.float32(value)
            elif isinstance(value, float): assert float(cell) == value or (value != value and cell == "nan"), (name, cell, value)
            elif isinstance(value, bool): assert cell == str(value)
            elif isinstance(value, (dt.date, dt.datetime)): assert int(cell) >= -10000
            else: assert cell == str(value), (name, cell, value)"#,
    );
}

#[test]
fn anndata_reads_data_frames_of_csv() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
frame = pd.DataFrame({
    "count": pd.array([1, None, 3, 4] * 3000, dtype="Int64"),
    "whole": [1, 2, 3, 4] * 3000,
    "flag": pd.array([True, None, False, True] * 3000, dtype="boolean"),
    "x": [.5, float("nan"), 1., 2.] * 3000,
    "name": ["p", "q", "ä", ""] * 3000,
}, index=[100 + i for i in range(12000)])
frame.to_csv("f.csv")
frame.to_csv("plain.csv", index=False, sep=";")
open("both.csv", "w").write("a,x\n1,nan\n2,\n3,1.5\n")
open("gaps.csv", "w").write("count,y\n1,\n,2.5\n")
open("none.csv", "w").write("a,,b\n1,2,3\n")"#,
    );
    bench.done("import f.csv f.h5 obs --as dataframe --filter shuffle,gzip=1");
    bench.done("import plain.csv f.h5 plain --as dataframe");
    bench.done("import both.csv f.h5 both --as dataframe");
    bench.done("import gaps.csv f.h5 filled --as dataframe --null -1");
    bench.done("export f.h5 obs back.csv");
    bench.done("check f.h5");
    let refused = bench.run("import none.csv f.h5 none --as dataframe").failure();
    assert!(refused.contains("column 1 has no name"), "{refused}");
    bench.python(
        r#"
import anndata
want = pd.read_csv("f.csv", index_col=0, dtype={"count": "Int64", "flag": "boolean"}, keep_default_na=False, na_values={c: [""] for c in ["count", "flag", "x"]})
f = h5py.File("f.h5")
for name, index in [("obs", [str(i) for i in want.index]), ("plain", [str(i) for i in range(12000)])]:
    got = anndata.io.read_elem(f[name])
    assert list(got.columns) == list(want.columns) and list(got.index) == index
    assert str(got["count"].dtype) == "Int64" and str(got["flag"].dtype) == "boolean"
    for column in want.columns:
        a, b = want[column], got[column]
        assert [None if pd.isna(v) else v for v in a] == [None if pd.isna(v) else v for v in b], column
both = anndata.io.read_elem(f["both"])
assert list(both["a"]) == [1, 2, 3] and list(both["x"].isna()) == [True, True, False]
filled = anndata.io.read_elem(f["filled"])
assert filled["count"].tolist() == [1, -1] and filled["y"].tolist() == [-1, 2.5]
back = pd.read_csv("back.csv", dtype=str, keep_default_na=False)
assert list(back["_index"]) == [str(i) for i in want.index] and list(back["count"][:4]) == ["1", "", "3", "4"]"#,
    );
}
