//! Files with every driver, and files of several members that libhdf5 creates.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab::vfd::{Access, Driver as _, DriverKind, Family, FamilyPattern, StreamOptions, StreamServer};
use hyperslab::{Dataset, ErrorKind, File, FileDriver, IxDyn, Layout, ObjectKind, OpenOptions};
use hyperslab_testkit::{fixtures, referee};

fn through(driver: FileDriver, path: impl AsRef<Path>) -> File {
    OpenOptions::new().driver(driver).open(path).unwrap()
}

/// Returns the stored bytes and the path of every dataset without references into heaps.
fn contents(file: &File) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for visited in file.walk() {
        let object = visited.object.unwrap();
        if object.kind() == Some(ObjectKind::Dataset) {
            let bytes = object.into_dataset().unwrap().read_stored(..).map(|stored| stored.bytes().to_vec());
            found.push((String::from_utf8_lossy(&visited.path).into_owned(), bytes.unwrap_or_default()));
        }
    }
    found
}

fn message(error: &hyperslab::Error) -> String {
    let mut next: Option<&dyn std::error::Error> = Some(error);
    let mut text = String::new();
    while let Some(error) = next {
        text.push_str(&format!("{error}: "));
        next = error.source();
    }
    text
}

fn failure(result: hyperslab::Result<File>) -> String {
    message(&result.unwrap_err())
}

/// Splits a file like the family driver of libhdf5 1.6, which stores no driver information in the
/// file.
fn cut(bytes: &[u8], size: usize, name: impl Fn(usize) -> PathBuf) -> usize {
    bytes.chunks(size).enumerate().map(|(number, part)| std::fs::write(name(number), part).unwrap()).count()
}

#[test]
fn one_file_reads_equally_through_every_driver() {
    for name in ["weather_station.h5", "filters_latest.h5", "userblock_latest.h5", "layouts_earliest.h5"] {
        let path = fixtures::path(name);
        let expected = contents(&File::open(&path).unwrap());
        assert!(!expected.is_empty());
        let mut drivers = vec![FileDriver::Sec2, FileDriver::Core, FileDriver::Stdio];
        if cfg!(all(unix, feature = "mmap")) {
            drivers.push(FileDriver::Mmap);
        }
        for driver in drivers {
            let file = through(driver.clone(), &path);
            assert_eq!(contents(&file), expected, "{name} {driver}");
            assert_eq!(file.info().driver.name(), driver.to_string());
        }
        let options = StreamOptions::default();
        let server = StreamServer::bind("127.0.0.1:0", std::fs::read(&path).unwrap(), options).unwrap();
        let file = through(FileDriver::Stream(options), server.address().to_string());
        assert_eq!(contents(&file), expected, "{name} stream");
    }
}

#[test]
fn every_fixture_reads_equally_when_split_into_members() {
    let folder = tempfile::tempdir().unwrap();
    for (number, name) in fixtures::names().unwrap().iter().enumerate() {
        let path = fixtures::path(name);
        let whole = File::open(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let size = [4096, 1000, 30_000][number % 3].min(bytes.len() - 1).max(bytes.len() / 200);
        let member = |index: usize| folder.path().join(format!("{name}-{index:04}.part"));
        cut(&bytes, size, member);
        let file = File::open(member(0)).unwrap();
        let info = file.info();
        assert_eq!((info.driver, info.length), (DriverKind::Family, whole.info().length), "{name}");
        assert_eq!(contents(&file), contents(&whole), "{name}");
        let pattern = folder.path().join(format!("{name}-%04d.part"));
        assert_eq!(contents(&File::open(&pattern).unwrap()), contents(&whole), "{name}");
    }
}

#[test]
fn members_of_the_fixtures() {
    for bound in ["earliest", "latest"] {
        for (name, kind) in [
            ("family00.h5", DriverKind::Family),
            ("family%02d.h5", DriverKind::Family),
            ("split-m.h5", DriverKind::Split),
            ("multi-s.h5", DriverKind::Multi),
        ] {
            let file = File::open(fixtures::path("members").join(format!("{bound}-{name}"))).unwrap();
            assert_eq!(file.info().driver, kind, "{bound}-{name}");
            assert!(file.info().length < 30_000, "the room between members is no part of the file");
            let numbers = file.dataset("numbers").unwrap().read_raw::<u16>(..).unwrap();
            assert!(numbers.into_iter().eq(0..400), "{bound}-{name}");
            let chunked = file.dataset("chunked").unwrap().read::<i32, IxDyn>(..).unwrap();
            assert_eq!((chunked.shape(), chunked.sum()), (&[15, 20][..], 299 * 150));
            let text = file.dataset("text").unwrap().read_strings::<IxDyn>(..).unwrap();
            assert_eq!(text.as_slice().unwrap(), ["Wärme", "", &"x".repeat(40)]);
        }
    }
}

/// Damages each byte of the driver information in turn. Opening the file must end soon, with or
/// without an error, and with little memory.
#[test]
fn damaged_members_are_errors_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(fixtures::path("members")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    for (first, damaged, bytes) in [
        ("earliest-multi-s.h5", "earliest-multi-s.h5", 264),
        ("earliest-split-m.h5", "earliest-split-m.h5", 200),
        ("earliest-family00.h5", "earliest-family00.h5", 140),
        // The superblock extension.
        ("latest-multi-s.h5", "latest-multi-o.h5", 400),
        ("latest-split-m.h5", "latest-split-m.h5", 300),
    ] {
        let path = folder.path().join(damaged);
        let sound = std::fs::read(&path).unwrap();
        for at in 0..bytes.min(sound.len()) {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = sound.clone();
                bytes[at] ^= change;
                std::fs::write(&path, bytes).unwrap();
                let Ok(file) = File::open(folder.path().join(first)) else { continue };
                for visited in file.walk().take(20) {
                    let Ok(object) = visited.object else { continue };
                    let _ = object.into_dataset().and_then(|dataset| dataset.read_stored(..));
                }
            }
        }
        std::fs::write(&path, &sound).unwrap();
        assert!(File::open(folder.path().join(first)).is_ok());
    }
}

#[test]
fn a_family_without_a_member_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let member = |index: usize| folder.path().join(format!("f{index}"));
    let bytes = std::fs::read(fixtures::path("weather_station.h5")).unwrap();
    let count = cut(&bytes, 10_000, member);
    assert_eq!(count, 6);
    assert_eq!(File::open(member(0)).unwrap().info().driver, DriverKind::Family);
    std::fs::rename(member(3), member(30)).unwrap();
    let text = failure(File::open(member(0)));
    assert!(text.contains(&format!("`{}` is missing", member(3).display())), "{text}");
    // A truncated member is reported too.
    std::fs::write(member(3), [0; 100]).unwrap();
    std::fs::remove_file(member(4)).unwrap();
    let text = failure(File::open(member(0)));
    assert!(text.contains("f3` is missing or truncated"), "{text}");
    // The second file does not belong to the family: the first file alone counts as truncated.
    let alone = folder.path().join("alone.h5");
    std::fs::copy(member(0), &alone).unwrap();
    let text = failure(File::open(&alone));
    assert!(text.contains("the file is truncated"), "{text}");
    let text = failure(OpenOptions::new().driver(FileDriver::Family { member_size: None }).open(&alone));
    assert!(text.contains("contains no number 0"), "{text}");
    let text = failure(File::open(folder.path().join("absent%d")));
    assert!(text.contains("absent%d"), "{text}");
    let wrong = FileDriver::Family { member_size: Some(9999) };
    let text = failure(OpenOptions::new().driver(wrong).open(member(0)));
    assert!(text.contains("missing"), "{text}");
}

#[test]
fn contiguous_data_of_a_mapped_file_is_borrowed() {
    if !cfg!(all(unix, feature = "mmap")) {
        return;
    }
    let path = fixtures::path("layouts_latest.h5");
    let file = through(FileDriver::Mmap, &path);
    let image = std::fs::read(&path).unwrap();
    let datasets = file.members().unwrap().into_iter();
    let datasets: Vec<Dataset> = datasets.filter_map(|object| object.into_dataset().ok()).collect();
    let mut borrowed = 0;
    for dataset in datasets {
        let view = dataset.stored_view();
        if let Layout::Contiguous { address: Some(address) } = dataset.layout() {
            let view = view.unwrap();
            let start = usize::try_from(address).unwrap();
            assert_eq!(view, &image[start..start + view.len()]);
            assert_eq!(view, dataset.read_stored(..).unwrap().bytes());
            borrowed += 1;
        } else {
            assert!(view.is_none());
        }
    }
    assert!(borrowed > 0);
    let read = File::open(&path).unwrap();
    assert!(
        read.members()
            .unwrap()
            .into_iter()
            .filter_map(|o| o.into_dataset().ok())
            .all(|d| d.stored_view().is_none())
    );
}

/// A script that creates files with the family, split and multi drivers of libhdf5 (the multi
/// driver through the library itself) and fills each with the same datasets.
const SCRIPT: &str = r#"
import ctypes as C, os, sys
import h5py, numpy as np
from h5py import h5f, h5p

folder = sys.argv[1]
library = C.CDLL(next(line.split()[-1] for line in open("/proc/self/maps") if "/libhdf5-" in line))
set_multi = library.H5Pset_fapl_multi
set_multi.restype, set_multi.argtypes = C.c_int, [C.c_int64] + [C.c_void_p] * 4 + [C.c_bool]

def fill(path, fapl):
    f = h5py.File(h5f.create(path.encode(), h5f.ACC_TRUNC, fapl=fapl))
    f["numbers"] = np.arange(3000, dtype="<f8")
    f.create_dataset("chunked", data=np.arange(4000, dtype="<i4").reshape(50, 80), chunks=(7, 9), compression="gzip")
    f["group/text"] = ["Wärme", "", "x" * 400]
    f["group/text"].attrs["wide"] = np.arange(500)
    f.close()

for name, low in (("earliest", h5f.LIBVER_EARLIEST), ("latest", h5f.LIBVER_LATEST)):
    def fapl():
        fapl = h5p.create(h5p.FILE_ACCESS)
        fapl.set_libver_bounds(low, h5f.LIBVER_LATEST)
        fapl.set_fclose_degree(h5f.CLOSE_STRONG)
        return fapl
    made = []
    plain = fapl(); made.append((f"{name}-plain.h5", plain))
    for pattern, size in (("a%d.h5", 9000), ("b%05d.h5", 1024), ("c%5d", 3001), ("d%02d", 1 << 30)):
        family = fapl(); family.set_fapl_family(size, h5p.create(h5p.FILE_ACCESS)); made.append((f"{name}-{pattern}", family))
    split = fapl(); split.set_fapl_split(b"-m.h5", h5p.create(h5p.FILE_ACCESS), b"-r.h5", h5p.create(h5p.FILE_ACCESS)); made.append((f"{name}-split", split))
    other = fapl(); other.set_fapl_split(b".meta", h5p.create(h5p.FILE_ACCESS), b".raw", h5p.create(h5p.FILE_ACCESS)); made.append((f"{name}-other", other))
    multi = fapl(); assert set_multi(multi.id, None, None, None, None, True) >= 0; made.append((f"{name}-multi", multi))
    for file, properties in made:
        fill(os.path.join(folder, file), properties)
print(sorted(os.listdir(folder)))
"#;

#[test]
fn members_of_libhdf5_are_read() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    println!("{}", referee.run_script(SCRIPT, [folder.path()]).unwrap());
    let at = |name: String| folder.path().join(name);
    for bound in ["earliest", "latest"] {
        let expected = contents(&File::open(at(format!("{bound}-plain.h5"))).unwrap());
        let numbers = expected.iter().find(|(path, _)| path == "/numbers").unwrap();
        assert_eq!(numbers.1.len(), 24_000);
        let family = || FileDriver::Family { member_size: None };
        let cases = [
            ("a0.h5", DriverKind::Family, family()),
            ("a%d.h5", DriverKind::Family, family()),
            ("b00000.h5", DriverKind::Family, family()),
            ("b%05d.h5", DriverKind::Family, family()),
            ("c%5d", DriverKind::Family, family()),
            ("split-m.h5", DriverKind::Split, FileDriver::split()),
            ("other.meta", DriverKind::Multi, FileDriver::Multi),
            ("multi-s.h5", DriverKind::Multi, FileDriver::Multi),
        ];
        for (name, kind, driver) in cases {
            let path = at(format!("{bound}-{name}"));
            let found = File::open(&path);
            let found = found.unwrap_or_else(|error| panic!("{bound}-{name}: {}", message(&error)));
            assert_eq!(found.info().driver, kind, "{bound}-{name}");
            let strip = |all: Vec<(String, Vec<u8>)>| {
                // Descriptors of text contain addresses, which differ between the files.
                all.into_iter().filter(|(path, _)| !path.ends_with("text")).collect::<Vec<_>>()
            };
            assert_eq!(strip(contents(&found)), strip(expected.clone()), "{bound}-{name}");
            let text = found.dataset("group/text").unwrap().read_strings::<IxDyn>(..).unwrap();
            assert_eq!(text[[0]], "Wärme");
            assert_eq!(text[[2]].len(), 400);
            let wide = found.dataset("group/text").unwrap().attribute("wide").unwrap();
            assert_eq!(wide.read::<i64, IxDyn>().unwrap().len(), 500);
            assert_eq!(strip(contents(&through(driver, &path))), strip(expected.clone()), "{bound}-{name}");
        }
        // All data is in the first member. The family has only one file.
        let one = at(format!("{bound}-d00"));
        assert_eq!(File::open(&one).unwrap().info().driver, DriverKind::Sec2);
        assert_eq!(through(family(), &one).info().driver, DriverKind::Family);
        // The common beginning of all names, which libhdf5 expects as the name of the file.
        let split = through(FileDriver::split(), at(format!("{bound}-split")));
        assert_eq!(split.dataset("numbers").unwrap().read::<f64, IxDyn>(..).unwrap()[[2999]], 2999.0);
        through(FileDriver::Multi, at(format!("{bound}-multi")));
        let ends = FileDriver::Split { metadata: ".meta".into(), raw: ".raw".into() };
        through(ends, at(format!("{bound}-other")));
        missing_members(&folder.path().join(bound));
    }
}

/// Checks a file whose member with raw data is missing: all other data can be read, and the error
/// names the missing file.
fn missing_members(bound: &Path) {
    let with = |end: &str| PathBuf::from(format!("{}{end}", bound.display()));
    std::fs::rename(with("-split-r.h5"), with("-away")).unwrap();
    let file = File::open(with("-split-m.h5")).unwrap();
    let error = file.dataset("numbers").unwrap().read::<f64, IxDyn>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(message(&error).contains("-split-r.h5: open"), "{}", message(&error));
    // The two members have another name.
    std::fs::rename(with("-split-m.h5"), with("-renamed.h5")).unwrap();
    let text = failure(File::open(with("-renamed.h5")));
    assert!(text.contains("its superblock names it `%s-m.h5`"), "{text}");
    let driver = FileDriver::Split { metadata: "-renamed.h5".into(), raw: "-away".into() };
    let file = through(driver, bound);
    assert_eq!(
        file.dataset("numbers").unwrap().read::<f64, IxDyn>(..).unwrap().sum(),
        f64::from(1500 * 2999)
    );
    // Opening the file with the wrong driver is an error.
    let text = failure(OpenOptions::new().driver(FileDriver::Sec2).open(with("-other.meta")));
    assert!(text.contains("NCSAmult") || text.contains("truncated"), "{text}");
    std::fs::remove_file(with("-multi-s.h5")).unwrap();
    let text = failure(OpenOptions::new().driver(FileDriver::Multi).open(with("-multi")));
    assert!(text.contains("-multi-s.h5"), "{text}");
}

#[test]
fn libhdf5_reads_the_members_that_hyperslab_writes() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(fixtures::path("weather_station.h5")).unwrap();
    let pattern = folder.path().join("w%03d.h5");
    let family = FamilyPattern::parse(pattern.to_str().unwrap()).unwrap();
    let family = Family::open(family, Access::CreateNew, Some(7000)).unwrap();
    // The test writes the pieces in reverse order and with odd sizes.
    for (number, piece) in bytes.chunks(777).enumerate().collect::<Vec<_>>().into_iter().rev() {
        family.write_at(777 * number as u64, piece).unwrap();
    }
    drop(family);
    let code = "import h5py, sys\n\
                f = h5py.File(sys.argv[1], driver='family', memb_size=7000)\n\
                print(repr(float(f['series/temperature'][()].astype('f8').sum())))";
    let answer = referee.run_script(code, [&pattern]).unwrap();
    let whole = File::open(fixtures::path("weather_station.h5")).unwrap();
    let sum: f64 = whole.dataset("series/temperature").unwrap().read_raw::<f64>(..).unwrap().iter().sum();
    assert!((answer.trim().parse::<f64>().unwrap() - sum).abs() < 1e-6 * sum.abs());
}

#[test]
fn an_access_log_counts_what_is_read() {
    let log = Arc::new(hyperslab::vfd::AccessLog::counting_bytes(1 << 20));
    let path = fixtures::path("weather_station.h5");
    let file = OpenOptions::new().access_log(Arc::clone(&log)).open(&path).unwrap();
    let before = log.report();
    file.dataset("quality").unwrap().read::<u8, IxDyn>(..).unwrap();
    let after = log.report();
    assert!(after.reads.bytes > before.reads.bytes && after.writes.calls == 0);
    assert!(after.cells.len() as u64 <= file.info().length && after.cell_size == 1);
}

#[test]
fn each_read_of_raw_data_reaches_the_driver_without_the_page_buffer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers.h5");
    let file = File::create(&path).unwrap();
    let numbers: Vec<i32> = (0..1000).collect();
    file.new_dataset("numbers").shape(&[1000]).write(&numbers).unwrap();
    file.close().unwrap();
    let reads = |buffered: bool| {
        let log = Arc::new(hyperslab::vfd::AccessLog::counting_bytes(1 << 20));
        let options = OpenOptions::new().buffer_raw_data(buffered).access_log(Arc::clone(&log));
        let dataset = options.open(&path).unwrap().dataset("numbers").unwrap();
        assert_eq!(dataset.read_raw::<i32>(10..13).unwrap(), [10, 11, 12]);
        let before = log.report().reads.calls;
        for _ in 0..3 {
            assert_eq!(dataset.read_raw::<i32>(10..13).unwrap(), [10, 11, 12]);
        }
        log.report().reads.calls - before
    };
    assert_eq!((reads(true), reads(false)), (0, 3));
}
