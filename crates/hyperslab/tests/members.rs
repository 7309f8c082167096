//! Files of several members and all other files, opened for writing: each member keeps its content.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hyperslab::vfd::DriverKind;
use hyperslab::{File, FileDriver, IxDyn, OpenOptions, Recovery};
use hyperslab_check::CheckOptions;
use hyperslab_testkit::{fixtures, referee, workspace};

/// Returns the bytes of all files of a folder.
fn bytes_in(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

fn changing(driver: FileDriver) -> OpenOptions {
    OpenOptions::new().driver(driver).write(true)
}

fn assert_sound(path: &Path) {
    let driver = OpenOptions::new().find_driver(path).unwrap();
    let report = hyperslab_check::check(driver, &CheckOptions::default()).unwrap();
    assert!(report.is_sound() && report.unchecked == 0, "{}: {report}", path.display());
}

/// Opens the file with every option, and closes it with every method that changes nothing.
fn assert_untouched(path: &Path, driver: &FileDriver) {
    let folder = path.parent().unwrap();
    let before = bytes_in(folder);
    let same = |subject: &str| {
        let after = bytes_in(folder);
        let differs = before.iter().find(|(path, bytes)| after.get(*path) != Some(*bytes));
        assert!(
            before.len() == after.len() && differs.is_none(),
            "{subject} of {path:?} by {driver}: {differs:?}"
        );
    };
    let open = || changing(driver.clone()).open(path).unwrap();
    open().close().unwrap();
    same("close");
    drop(open());
    same("drop");
    let file = open();
    file.flush().unwrap();
    assert!(file.dataset("no such dataset").is_err());
    assert!(file.root().remove("no such object").is_err());
    file.close().unwrap();
    same("a failing change");
    Recovery::new().repair(path).unwrap();
    same("repair");
}

/// Splits a file into members of one size.
fn cut(bytes: &[u8], size: usize, folder: &Path) -> PathBuf {
    for (number, part) in bytes.chunks(size).enumerate() {
        std::fs::write(folder.join(format!("part{number:04}.h5")), part).unwrap();
    }
    folder.join("part0000.h5")
}

#[test]
fn opening_for_writing_changes_no_byte_of_any_member() {
    for name in fixtures::names().unwrap() {
        let bytes = std::fs::read(fixtures::path(&name)).unwrap();
        for driver in [FileDriver::Auto, FileDriver::Sec2, FileDriver::Stdio, FileDriver::Core] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file.h5");
            std::fs::write(&path, &bytes).unwrap();
            assert_untouched(&path, &driver);
        }
        let folder = tempfile::tempdir().unwrap();
        let first = cut(&bytes, (bytes.len() / 3).max(1000), folder.path());
        assert_untouched(&first, &FileDriver::Auto);
    }
    for bound in ["earliest", "latest"] {
        for (first, driver) in [
            ("family00.h5", FileDriver::Auto),
            ("split-m.h5", FileDriver::Auto),
            ("split-m.h5", FileDriver::split()),
            ("multi-s.h5", FileDriver::Auto),
            ("multi-s.h5", FileDriver::Multi),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let first = copy_members(bound, first, folder.path());
            assert_untouched(&first, &driver);
        }
    }
}

/// Copies the members of a fixture, and returns the path of the first member.
fn copy_members(bound: &str, first: &str, folder: &Path) -> PathBuf {
    let begin = first.split_once(|c: char| c == '-' || c.is_ascii_digit()).unwrap().0;
    for entry in std::fs::read_dir(fixtures::path("members")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with(&format!("{bound}-{begin}")) {
            std::fs::copy(&path, folder.join(name)).unwrap();
        }
    }
    folder.join(format!("{bound}-{first}"))
}

fn assert_contents(file: &File) {
    let numbers = file.dataset("numbers").unwrap().read_raw::<u16>(..).unwrap();
    assert!(numbers.into_iter().eq(0..400));
    let chunked = file.dataset("chunked").unwrap().read::<i32, IxDyn>(..).unwrap();
    assert_eq!((chunked.shape(), chunked.sum()), (&[15, 20][..], 299 * 150));
    let text = file.dataset("text").unwrap().read_strings::<IxDyn>(..).unwrap();
    assert_eq!(text.as_slice().unwrap(), ["Wärme", "", &"x".repeat(40)]);
}

#[test]
fn new_blocks_lie_in_the_member_for_their_kind() {
    for bound in ["earliest", "latest"] {
        for (first, kind) in [("split-m.h5", DriverKind::Split), ("multi-s.h5", DriverKind::Multi)] {
            let folder = tempfile::tempdir().unwrap();
            let path = copy_members(bound, first, folder.path());
            let raw = path.with_file_name(
                path.file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace(first, &{ first.replace("-m.h5", "-r.h5").replace("-s.h5", "-r.h5") }),
            );
            let length = |path: &Path| std::fs::metadata(path).unwrap().len();
            let before = (length(&path), length(&raw));
            let file = changing(FileDriver::Auto).open(&path).unwrap();
            assert_eq!(file.info().driver, kind);
            let values: Vec<i64> = (0..20_000).collect();
            file.new_dataset("added").write(&values).unwrap();
            let chunked = file.new_dataset("pieces").chunks(&[1000]).deflate(6).write(&values).unwrap();
            chunked.set_attribute("unit", "m").unwrap();
            file.flush().unwrap();
            assert_contents(&file);
            drop(chunked);
            file.close().unwrap();
            assert!(length(&raw) > before.1 + 160_000, "raw data lie in the member for them");
            assert!(length(&path) < before.0 + 20_000, "but not in that of the superblock");
            assert_sound(&path);
            let file = changing(FileDriver::Auto).open(&path).unwrap();
            assert_contents(&file);
            assert_eq!(file.dataset("added").unwrap().read_raw::<i64>(..).unwrap(), values);
            assert_eq!(file.dataset("pieces").unwrap().read_raw::<i64>(..).unwrap(), values);
            file.root().remove("added").unwrap();
            file.root().remove("pieces").unwrap();
            file.close().unwrap();
            assert!(length(&raw) < before.1 + 10_000, "members get shorter, too");
            assert_sound(&path);
            assert_contents(&File::open(&path).unwrap());
            assert!(!Recovery::new().repair(&path).unwrap().found_anything());
        }
    }
}

/// A script that runs one action of libhdf5 on the file: `make`, `read` or `change`.
const SCRIPT: &str = r#"
import sys
import h5py, numpy as np
sys.path.insert(0, sys.argv[5])
import libhdf5
from h5py import h5f, h5p

do, base, driver, turn = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
bound = sys.argv[6]

def access():
    fapl = h5p.create(h5p.FILE_ACCESS)
    fapl.set_fclose_degree(h5f.CLOSE_STRONG)
    if driver == "split":
        fapl.set_fapl_split(b"-m.h5", h5p.create(h5p.FILE_ACCESS), b"-r.h5", h5p.create(h5p.FILE_ACCESS))
    elif driver == "multi":
        libhdf5.set_fapl_multi(fapl.id, None, None, None, None, True)
    elif driver == "family":
        fapl.set_fapl_family(3000, h5p.create(h5p.FILE_ACCESS))
    low = {"earliest": h5f.LIBVER_EARLIEST, "latest": h5f.LIBVER_LATEST}[bound]
    fapl.set_libver_bounds(low, h5f.LIBVER_LATEST)
    return fapl

if do == "make":
    f = h5py.File(h5f.create(base.encode(), h5f.ACC_TRUNC, fapl=access()))
    f["fixed"] = np.arange(5000)
    f.create_dataset("words", data=[f"word {i}" * (i % 7) for i in range(50)], dtype=h5py.string_dtype())
else:
    f = h5py.File(h5f.open(base.encode(), h5f.ACC_RDWR if do == "change" else h5f.ACC_RDONLY, fapl=access()))
assert (f["fixed"][...] == np.arange(5000)).all()
assert [w.decode() for w in f["words"][...]] == [f"word {i}" * (i % 7) for i in range(50)]
for n in range(turn):
    if f"turn{n}" in f:
        assert (f[f"turn{n}"][...] == np.arange(n * 300 + 2000) + n).all(), n
        assert f[f"turn{n}"].attrs["note"] == f"turn {n}", n
if do == "change":
    d = f.create_dataset(f"turn{turn}", data=np.arange(turn * 300 + 2000) + turn,
                         **({"chunks": (100,), "compression": "gzip"} if turn % 4 == 0 else {}))
    d.attrs["note"] = f"turn {turn}"
    if turn >= 4 and f"turn{turn - 4}" in f:
        del f[f"turn{turn - 4}"]
f.close()
"#;

#[test]
fn libhdf5_and_hyperslab_in_turn() {
    let Some(python) = referee::python() else {
        workspace::skip("libhdf5_and_hyperslab_in_turn", "no h5py");
        return;
    };
    let fixtures = workspace::root().join("fixtures");
    for bound in ["earliest", "latest"] {
        for (driver, name, first) in [
            ("split", "f", "f-m.h5"),
            ("multi", "f", "f-s.h5"),
            ("family", "f%03d.h5", "f000.h5"),
            ("sec2", "f", "f"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let base = folder.path().join(name);
            let ask = |subject: &str, turn: u32| {
                let turn = turn.to_string();
                let arguments =
                    [subject, base.to_str().unwrap(), driver, &turn, fixtures.to_str().unwrap(), bound];
                python.run_script(SCRIPT, arguments).unwrap();
            };
            ask("make", 0);
            let path = folder.path().join(first);
            assert_untouched(&path, &FileDriver::Auto);
            for turn in 0..6 {
                if turn % 2 == 0 {
                    ask("change", turn);
                } else {
                    let file = changing(FileDriver::Auto).open(&path).unwrap();
                    let values: Vec<i64> =
                        (0..i64::from(turn) * 300 + 2000).map(|n| n + i64::from(turn)).collect();
                    let builder = file.new_dataset(&format!("turn{turn}"));
                    let builder = if turn % 4 == 1 { builder.chunks(&[100]).deflate(6) } else { builder };
                    builder
                        .write(&values)
                        .unwrap()
                        .set_attribute("note", format!("turn {turn}").as_str())
                        .unwrap();
                    if turn >= 4 {
                        file.root().remove(&format!("turn{}", turn - 4)).unwrap();
                    }
                    file.close().unwrap();
                }
                assert_sound(&path);
                ask("read", turn + 1);
                assert_untouched(&path, &FileDriver::Auto);
            }
        }
    }
}

/// If the raw data is only in memory, the end of all members is far after the few stored bytes.
#[test]
fn small_files_of_members_are_changed_from_their_first_element_on() {
    let Some(python) = referee::python() else { return };
    let make = "import h5py, sys; f = h5py.File(sys.argv[1], 'w', driver='split', libver=('v108', 'latest'), fs_strategy='none'); f.close()";
    let folder = tempfile::tempdir().unwrap();
    python.run_script(make, [folder.path().join("f")]).unwrap();
    let path = folder.path().join("f-m.h5");
    let file = changing(FileDriver::split()).open(&path).unwrap();
    file.new_dataset("one").write_scalar(7_u8).unwrap();
    file.set_attribute("note", 1.5).unwrap();
    file.new_dataset("more").write(&[3_i64; 4000]).unwrap();
    assert_eq!(file.dataset("more").unwrap().read_raw::<i64>(..).unwrap(), [3; 4000]);
    file.close().unwrap();
    assert_sound(&path);
    let file = File::open(&path).unwrap();
    assert_eq!(file.dataset("one").unwrap().read_scalar::<u8>(..).unwrap(), 7);
    assert_eq!(file.attribute("note").unwrap().read_scalar::<f64>().unwrap(), 1.5);
}

/// A family whose first member is opened alone seems truncated.
#[test]
fn recovering_a_family_keeps_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let first = copy_members("earliest", "family00.h5", folder.path());
    let end = Recovery::end_of(&first).unwrap();
    assert!(!end.is_truncated(), "{end:?}");
    let before = bytes_in(folder.path());
    assert!(!Recovery::new().cut_end(true).repair(&first).unwrap().found_anything());
    assert_eq!(bytes_in(folder.path()), before);
}

/// Distributes the bytes of a file in stripes, like the subfiling driver of libhdf5. Only the stub
/// remains of the file.
fn deal_out(path: &Path, stripe: usize, count: usize) {
    let bytes = std::fs::read(path).unwrap();
    let mut files = vec![Vec::new(); count];
    for (number, part) in bytes.chunks(stripe).enumerate() {
        files.get_mut(number % count).unwrap().extend_from_slice(part);
    }
    let path_of = |end: String| PathBuf::from(format!("{}.subfile_4711{end}", path.display()));
    for (number, file) in (1..).zip(files) {
        let width = count.to_string().len();
        std::fs::write(path_of(format!("_{number:0width$}_of_{count}")), file).unwrap();
    }
    let text = format!(
        "stripe_size={stripe}\naggregator_count={count}\nsubfile_count={count}\nhdf5_file=x\nsubfile_dir=/nowhere\n"
    );
    std::fs::write(path_of(".config".into()), text).unwrap();
    std::fs::write(path, bytes.get(..96).unwrap_or(&bytes)).unwrap();
}

#[test]
fn subfiles_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["weather_station.h5", "layouts_latest.h5", "groups_earliest.h5", "userblock_latest.h5"];
    for (name, (stripe, count)) in names.iter().zip([(4096, 3), (1000, 12), (512, 2), (1 << 20, 1)]) {
        let path = folder.path().join(name);
        std::fs::copy(fixtures::path(name), &path).unwrap();
        let whole = File::open(&path).unwrap();
        let expected: Vec<_> = whole.walk().map(|visited| (visited.path, visited.object.is_ok())).collect();
        let length = whole.info().length;
        drop(whole);
        deal_out(&path, stripe, count);
        for driver in [FileDriver::Auto, FileDriver::Subfiling] {
            let file = OpenOptions::new().driver(driver).open(&path).unwrap();
            assert_eq!((file.info().driver, file.info().length), (DriverKind::Subfiling, length), "{name}");
            assert_eq!(
                file.walk().map(|visited| (visited.path, visited.object.is_ok())).collect::<Vec<_>>(),
                expected,
                "{name}"
            );
        }
        assert_sound(&path);
        let error = File::open_rw(&path).unwrap_err();
        assert_eq!(error.kind(), hyperslab::ErrorKind::Unsupported, "{error}");
    }
    let path = folder.path().join("weather_station.h5");
    let temperature =
        File::open(&path).unwrap().dataset("series/temperature").unwrap().read_raw::<f64>(..).unwrap();
    let whole = File::open(fixtures::path("weather_station.h5")).unwrap();
    assert_eq!(temperature, whole.dataset("series/temperature").unwrap().read_raw::<f64>(..).unwrap());
    std::fs::remove_file(format!("{}.subfile_4711_2_of_3", path.display())).unwrap();
    let error = File::open(&path).unwrap_err();
    assert_eq!(error.kind(), hyperslab::ErrorKind::Io, "{error}");
}
