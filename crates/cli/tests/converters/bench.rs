//! The command and the referee in one folder.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use hyperslab_testkit::program::{Program, Run, Scratch};
use hyperslab_testkit::referee::{self, Referee};
use hyperslab_testkit::workspace;

pub(super) const HYPERSLAB: &str = env!("CARGO_BIN_EXE_hyperslab");

/// The start of all scripts: `check(file, path, table)` compares an imported table with an Arrow
/// table, and `same` compares two Arrow tables.
const BEGIN: &str = r#"
import datetime as dt, decimal, json, math, os, random, sys
import numpy as np, pandas as pd, pyarrow as pa, h5py
import pyarrow.parquet as pq, pyarrow.feather as feather, pyarrow.csv
os.chdir(sys.argv[1])
def plain(value):
    if isinstance(value, dict): return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)): return [plain(v) for v in value]
    if isinstance(value, float) and math.isnan(value): return "nan"
    if isinstance(value, bytes): return list(value)
    return value
def same(one, other):
    assert one.column_names == other.column_names, (one.column_names, other.column_names)
    for name in one.column_names:
        a, b = plain(one[name].to_pylist()), plain(other[name].to_pylist())
        assert a == b, (name, a[:20], b[:20])
def drawn(seed, rows, nulls=True, lists=True):
    r = random.Random(seed)
    def column(make, type, may_null=True):
        return pa.array([None if nulls and may_null and r.random() < .3 else make() for _ in range(rows)], type)
    words = ["", "a", "zwölf", "漢字", "x,y", "quote\"d", "two\nlines", "=1+1", " space "]
    t = {
        "i8": column(lambda: r.randrange(-128, 128), pa.int8()),
        "u8": column(lambda: r.randrange(256), pa.uint8()),
        "i32": column(lambda: r.randrange(-2**31, 2**31), pa.int32()),
        "i64": column(lambda: r.choice([-2**63, 2**63 - 1, 0, r.randrange(10**12)]), pa.int64()),
        "u64": column(lambda: r.choice([2**64 - 1, 0]), pa.uint64()),
        "f32": column(lambda: r.choice([0.5, -0.0, 1e30, float("inf")]), pa.float32()),
        "f64": column(lambda: r.choice([0.1, 1e300, -5.5, r.random()]), pa.float64()),
        "nan": column(lambda: r.choice([0.5, float("nan")]), pa.float64()),
        "flag": column(lambda: r.random() < .5, pa.bool_()),
        "text": column(lambda: r.choice(words), pa.string()),
        "large": column(lambda: r.choice(words), pa.large_string()),
        "day": column(lambda: r.randrange(-1000, 20000), pa.int32()).cast(pa.date32()),
        "when": column(lambda: r.randrange(10**15), pa.int64()).cast(pa.timestamp("us")),
        "raw": column(lambda: bytes(r.randrange(256) for _ in range(3)), pa.binary(3)),
    }
    if lists:
        t["list"] = column(lambda: [r.randrange(100) for _ in range(r.randrange(4))], pa.list_(pa.int16()))
        t["texts"] = column(lambda: [r.choice(words) for _ in range(r.randrange(3))], pa.list_(pa.string()))
        t["bytes"] = column(lambda: bytes(r.randrange(256) for _ in range(r.randrange(4))), pa.binary())
    return pa.table(t)
"#;

pub(super) struct Bench {
    pub(super) scratch: Scratch,
    pub(super) python: Referee,
}

impl Bench {
    /// Returns an empty folder and the referee, or `None` without the packages.
    pub(super) fn new() -> Option<Self> {
        let python = referee::python()?;
        if python.run_script("import pandas, pyarrow, anndata, scipy", [""; 0]).is_err() {
            workspace::skip("tests of converters", "the referee has no pandas, pyarrow, anndata and SciPy");
            return None;
        }
        Some(Self { scratch: Scratch::new(Program::new(HYPERSLAB)), python })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    pub(super) fn run(&self, line: &str) -> Run {
        self.scratch.run_line(line)
    }

    pub(super) fn done(&self, line: &str) -> String {
        self.run(line).succeeds().out().to_owned()
    }

    pub(super) fn python(&self, code: &str) -> String {
        let answer = self.python.run_script(&format!("{BEGIN}{code}"), [self.scratch.folder()]);
        answer.unwrap().trim().to_owned()
    }

    /// Runs a command with bytes on its standard input. Returns its standard output.
    pub(super) fn piped(&self, line: &str, input: &[u8]) -> Vec<u8> {
        let mut child = Command::new(HYPERSLAB)
            .args(line.split(' '))
            .current_dir(self.scratch.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{line}");
        output.stdout
    }
}
