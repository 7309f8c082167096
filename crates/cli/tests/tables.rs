//! `hyperslab import` and `export` of tables, with pyarrow as the referee.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;

use hyperslab::{File, H5Type, IxDyn};
use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::{referee, workspace};

fn run(folder: &Path, arguments: &[&str]) -> Run {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_folder(folder).run(arguments)
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    run(folder, arguments).succeeds().out().to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
struct Row {
    id: u32,
    value: f64,
    flag: bool,
    kind: Kind,
    place: Place,
    spectrum: [u16; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
struct Place {
    x: i16,
    y: i16,
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
#[repr(u8)]
enum Kind {
    Dark = 0,
    Light = 7,
}

fn row(id: u32) -> Row {
    Row {
        id,
        value: f64::from(id) / 4.0,
        flag: id.is_multiple_of(3),
        kind: if id.is_multiple_of(2) { Kind::Dark } else { Kind::Light },
        place: Place { x: -1, y: 2 },
        spectrum: [1, 2, u16::try_from(id % 20_000).unwrap()],
    }
}

/// A number of rows that is larger than one block of the writer.
const ROWS: u32 = 20_000;

fn make(folder: &Path) {
    let file = File::create(folder.join("in.h5")).unwrap();
    file.new_dataset("table")
        .deflate(1)
        .chunks(&[1000])
        .write(&(0..ROWS).map(row).collect::<Vec<_>>())
        .unwrap();
    file.new_dataset("columns/name").write_strings(&["one", "zwölf", ""]).unwrap();
    file.new_dataset("columns/number").write(&vec![1_i64, -2, 3]).unwrap();
    let lists =
        file.new_dataset("lists").datatype(hyperslab::Datatype::sequence(hyperslab::Datatype::u8(), 8));
    lists.shape(&[2]).create().unwrap().write_sequences(.., &[vec![1_u8, 2], vec![]]).unwrap();
    file.close().unwrap();
}

#[test]
fn records_are_read_back_from_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    for table in ["table.parquet", "table.arrow"] {
        done(folder.path(), &["export", "in.h5", "table", table]);
        done(folder.path(), &["import", table, "back.h5", table, "--filter", "shuffle,gzip=1"]);
        let back = File::open(folder.path().join("back.h5")).unwrap().dataset(table).unwrap();
        let numbers = back.field("id").unwrap().read::<u32, IxDyn>(..).unwrap();
        assert_eq!(numbers.len(), ROWS as usize);
        assert_eq!(back.field("value").unwrap().read::<f64, IxDyn>(..).unwrap()[9], row(9).value);
        assert_eq!(back.field("flag").unwrap().read::<bool, IxDyn>(..).unwrap()[9], row(9).flag);
        assert_eq!(back.field("place").unwrap().read::<Place, IxDyn>(..).unwrap()[9], row(9).place);
        assert_eq!(
            back.field("spectrum").unwrap().read::<[u16; 3], IxDyn>(..).unwrap()[19_999],
            row(19_999).spectrum
        );
        // The enumeration values were exported as their names.
        let line = done(folder.path(), &["cat", "back.h5", table, "-s", "9", "--json"]);
        assert!(line.contains("\"Light\""), "{line}");
    }
}

#[test]
fn a_dataset_for_each_column() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    done(folder.path(), &["export", "in.h5", "columns", "columns.parquet"]);
    done(folder.path(), &["import", "columns.parquet", "back.h5", "columns", "--columns"]);
    let back = File::open(folder.path().join("back.h5")).unwrap();
    assert_eq!(
        back.dataset("columns/name").unwrap().read_strings::<IxDyn>(..).unwrap().into_raw_vec_and_offset().0,
        ["one", "zwölf", ""]
    );
    assert_eq!(back.dataset("columns/number").unwrap().read_raw::<i64>(..).unwrap(), [1, -2, 3]);
}

/// A script that checks the exported tables with pyarrow, and writes tables with pyarrow.
const SCRIPT: &str = r#"
import datetime, sys
try:
    import pyarrow as pa, pyarrow.parquet as parquet
except ImportError:
    print("none")
    sys.exit()
import os
os.chdir(sys.argv[1])
table = parquet.read_table("table.parquet")
assert table.num_rows == 20000
first = table.slice(9, 1).to_pylist()[0]
assert first == {"id": 9, "value": 2.25, "flag": True, "kind": "Light", "place": {"x": -1, "y": 2}, "spectrum": [1, 2, 9]}, first
assert pa.ipc.open_file("table.arrow").read_all().slice(9, 1).to_pylist()[0] == first
assert parquet.read_table("lists.parquet").to_pylist() == [{"lists": [1, 2]}, {"lists": []}]
made = pa.table({
    "when": pa.array([datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 2)], pa.timestamp("ms", "UTC")),
    "day": pa.array([datetime.date(1970, 1, 2), datetime.date(1970, 1, 3)]),
    "x": pa.array([1.5, None]),
    "name": pa.array([None, "b"]),
    "word": pa.array(["p", "q"]).dictionary_encode(),
    "half": pa.array([1.0, 2.0], pa.float16()),
    "raw": pa.array([b"ab", b"cd"], pa.binary(2)),
})
parquet.write_table(made, "made.parquet")
print("done")
"#;

#[test]
fn tables_of_other_programs() {
    let Some(python) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    for (object, table) in [("table", "table.parquet"), ("table", "table.arrow"), ("lists", "lists.parquet")]
    {
        done(folder.path(), &["export", "in.h5", object, table]);
    }
    if python.run_script(SCRIPT, [folder.path()]).unwrap().trim() == "none" {
        workspace::skip("tables_of_other_programs", "no pyarrow");
        return;
    }
    done(folder.path(), &["import", "made.parquet", "made.h5", "made"]);
    let made = File::open(folder.path().join("made.h5")).unwrap().dataset("made").unwrap();
    assert_eq!(
        made.attribute("when_units").unwrap().read_string().unwrap(),
        "milliseconds since 1970-01-01T00:00:00Z"
    );
    assert_eq!(made.field("when").unwrap().read::<i64, IxDyn>(..).unwrap()[1], 1_767_312_000_000);
    assert_eq!(made.field("day").unwrap().read::<i32, IxDyn>(..).unwrap()[0], 1);
    let x = made.field("x").unwrap().read::<f64, IxDyn>(..).unwrap();
    assert!(x[0] == 1.5 && x[1].is_nan());
    let csv = done(folder.path(), &["cat", "made.h5", "made", "--format", "csv"]);
    assert!(csv.lines().nth(2).unwrap().contains(",b,q,2.0,"), "{csv}");
    // The first name is missing.
    assert_eq!(made.field("name_mask").unwrap().read_raw::<bool>(..).unwrap(), [true, false]);
}

#[test]
fn damaged_tables_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    for table in ["columns.parquet", "columns.arrow"] {
        done(folder.path(), &["export", "in.h5", "columns", table]);
        let whole = std::fs::read(folder.path().join(table)).unwrap();
        // Both formats store their index at the end of the file.
        for at in (0..whole.len()).rev().step_by(7) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            std::fs::write(folder.path().join(table), bytes).unwrap();
            let code = run(folder.path(), &["import", table, &format!("{at}.h5"), "x"]).status.code();
            assert!(matches!(code, Some(0 | 1)), "{table} with another byte at {at}: {code:?}");
        }
    }
}

#[test]
fn contradictory_requests_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    std::fs::write(folder.path().join("broken.parquet"), b"PAR1 this is none PAR1").unwrap();
    std::fs::write(folder.path().join("broken.arrow"), b"ARROW1").unwrap();
    for (arguments, why) in [
        (&["import", "broken.parquet", "no.h5", "no"][..], "broken.parquet"),
        (&["import", "broken.arrow", "no.h5", "no"], "broken.arrow"),
        (&["export", "in.h5", "/", "all.parquet"], "`columns` (a group)"),
        (&["export", "in.h5", "/", "all.parquet", "--skip-unsupported"], "same length"),
        (&["export", "in.h5", "tabel", "all.parquet"], "did you mean `table`"),
        (&["export", "in.h5", "table", "all.parquet", "-s", "3"], "--select"),
    ] {
        let output = run(folder.path(), arguments);
        let reported = output.error().to_owned();
        assert!(!output.is_success() && reported.contains(why), "{arguments:?}: {reported}");
    }
    let external = workspace::root().join("fixtures/references_external_latest.h5");
    let output = run(folder.path(), &["export", external.to_str().unwrap(), "references", "all.parquet"]);
    assert!(output.error().contains("references to other files"), "{output:?}");
    assert!(!folder.path().join("no.h5").exists());
    assert!(!folder.path().join("all.parquet").exists());
}
