//! `hyperslab h5stat`, run as people run `h5stat`. The output in `expected/` is refreshed with
//! `HYPERSLAB_UPDATE=1`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::{Path, PathBuf};

use hyperslab::filter::FilterSpec;
use hyperslab::{FileOptions, FileSpace, FileSpaceStrategy, H5Type as _, LibraryVersion, LibverBounds};
use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::{expected, fixtures};

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().with("h5stat")
}

fn run(arguments: &[&str]) -> Run {
    hyperslab().run(arguments)
}

fn printed(arguments: &[&str]) -> String {
    run(arguments).printed()
}

fn check(name: &str, arguments: &[&str]) {
    expected::check(env!("CARGO_MANIFEST_DIR"), name, &printed(arguments));
}

/// Returns the number after a label.
fn number(printed: &str, label: &str) -> u64 {
    let line = printed.lines().find_map(|line| line.trim().strip_prefix(label));
    let digits: String = line.unwrap().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn whole_files() {
    check("h5stat_weather_station.txt", &["weather_station.h5"]);
    check("h5stat_layouts.txt", &["layouts_earliest.h5"]);
    check("h5stat_free_space.txt", &["-F", "-s", "-S", "file_space_persisted_latest.h5"]);
    check("h5stat_dense.txt", &["-f", "-g", "-G", "-A", "-a", "3", "-l", "50", "groups_large_latest.h5"]);
}

#[test]
fn parts_and_thresholds() {
    let parts = printed(&["-G", "-D", "weather_station.h5"]);
    assert!(parts.contains("for groups' metadata") && parts.contains("for datasets' metadata"), "{parts}");
    assert!(!parts.contains("File information") && !parts.contains("Summary"), "{parts}");
    let groups = printed(&["--group", "--links=1000", "groups_large_latest.h5"]);
    assert!(groups.contains("Small groups (with 0 to 999 links):"), "{groups}");
    let file = printed(&["-f", "links_latest.h5"]);
    assert_eq!((number(&file, "# of unique links: "), number(&file, "# of unique other: ")), (5, 1));
}

#[test]
fn every_byte_is_counted_once() {
    // Without variable-length data, padding and lost space, the metadata, the raw data and the free
    // space add up to the size of the file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.h5");
    let space = FileSpace {
        strategy: FileSpaceStrategy::FreeSpaceAndAggregators,
        persist: true,
        threshold: 1,
        page_size: 4096,
    };
    let file = FileOptions::new().file_space(space).user_block(512).create(&path).unwrap();
    for number in 0..30 {
        let name = format!("group/dataset {number}");
        let dataset = file.new_dataset(&name).write(&vec![1.5; 100 * number]).unwrap();
        dataset.set_attribute("number", number as u64).unwrap();
    }
    file.new_dataset("chunked").chunks(&[10]).filter(FilterSpec::deflate(6)).write(&[7_i32; 1000]).unwrap();
    for number in (0..30).step_by(3) {
        file.remove(&format!("group/dataset {number}")).unwrap();
    }
    file.close().unwrap();
    let all = printed(&[path.to_str().unwrap()]);
    assert_eq!(number(&all, "User block: "), 512, "{all}");
    assert_eq!(number(&all, "Unaccounted space: "), 0, "{all}");
    assert_eq!(number(&all, "Total space: "), path.metadata().unwrap().len());
    assert!(number(&all, "Amount of free space: ") > 0, "{all}");
    assert!(number(&all, "Index: ") > 0, "{all}");
}

#[test]
fn sparse_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse.h5");
    let file = hyperslab::File::create(&path).unwrap();
    let counts =
        file.new_dataset("counts").of::<u8>().shape(&[60, 80]).sparse(&[30, 80]).shuffle().deflate(6);
    let region = hyperslab::Region::new(&[1, 2], &[2, 3]).unwrap();
    counts.create().unwrap().write(&region, &[1_u8, 2, 3, 4, 5, 6]).unwrap();
    file.close().unwrap();
    let all = printed(&[path.to_str().unwrap()]);
    assert!(all.contains("Dataset layout counts[STRUCTURED CHUNK SPARSE]: 1\n"), "{all}");
    // Two sections have the filter, which counts once.
    assert!(all.contains("GZIP filter: 1\n") && all.contains("SHUFFLE filter: 1\n"), "{all}");
}

#[test]
fn unsupported_requests_are_reported() {
    for (arguments, reported) in [
        (&["nowhere.h5"][..], "unable to open file"),
        (&[""], "no file is given"),
        (&["-l", "0", "weather_station.h5"], "invalid threshold for small groups"),
        (&["--dims=x", "weather_station.h5"], "invalid threshold for small datasets"),
        (&["--nonsense", "weather_station.h5"], "unknown option"),
        (&["--page-buffer-size=many", "weather_station.h5"], "must be a number"),
        (&["--s3-cred=(,,)", "weather_station.h5"], "not supported"),
        (&["weather_station.h5", "links_latest.h5"], "only one file is possible"),
    ] {
        let output = run(arguments);
        assert!(!output.is_success(), "{arguments:?}");
        let error = output.error().to_owned();
        assert!(error.contains(reported), "{arguments:?}: {error}");
    }
    assert!(run(&[]).out().starts_with("usage: h5stat"));
}

#[test]
fn damage_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.h5");
    let bytes = std::fs::read(fixtures::path("groups_large_latest.h5")).unwrap();
    let find = |subject: &[u8]| bytes.windows(subject.len()).position(|window| window == subject).unwrap();
    for (subject, offset) in [(&b"BTLF"[..], 8), (b"FRHP", 10), (b"OHDR", 20)] {
        let mut damaged = bytes.clone();
        damaged[find(subject) + offset] ^= 0x55;
        std::fs::write(&path, damaged).unwrap();
        let output = run(&[path.to_str().unwrap()]);
        assert_eq!(output.code(), 1);
        assert_ne!(output.error(), "");
    }
}

#[test]
fn some_addresses_of_extensible_arrays_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.h5");
    let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    let file = FileOptions::new().libver(bounds).create(&path).unwrap();
    let values: Vec<i64> = (0..1000).collect();
    file.new_dataset("x").max_shape(&[None]).chunks(&[10]).write(&values).unwrap();
    file.close().unwrap();
    let all = printed(&[path.to_str().unwrap()]);
    // The size that the C tool prints for the same dataset: the array has 232 bytes more.
    assert_eq!(number(&all, "Index: "), 1122, "{all}");
}

#[test]
fn faults_outside_of_the_statistics_are_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.h5");
    let mut bytes = std::fs::read(fixtures::path("attributes_dense_latest.h5")).unwrap();
    // The free space of a heap is not part of the statistics.
    let free = bytes.windows(4).position(|window| window == b"FSHD").unwrap();
    bytes[free + 4] ^= 0x55;
    std::fs::write(&path, bytes).unwrap();
    let output = run(&[path.to_str().unwrap()]);
    assert_eq!(output.code(), 0, "{}", output.error());
    let warning = "`hyperslab check` lists the faults of the file (1)";
    assert!(output.error().contains(warning), "{}", output.error());
    assert!(output.out().contains("Total space: "));
}

#[test]
fn the_cases_of_the_c_tool() {
    let Some(folder) = cases() else { return };
    for case in ["h5stat_filters.h5", "h5stat_tsohm.h5", "h5stat_idx.h5"] {
        let output = hyperslab().in_folder(folder.join("files")).run([case]);
        let expected = std::fs::read(folder.join("expected").join(case).with_extension("ddl")).unwrap();
        assert_eq!(output.out(), String::from_utf8_lossy(&expected), "{case}");
    }
}

/// Returns the folder of the test cases. `cargo xtask tool-cases` runs all cases.
fn cases() -> Option<PathBuf> {
    let folder = hyperslab_testkit::workspace::root().join("../shared/tools/h5stat");
    if Path::new(&folder).is_dir() {
        return Some(folder);
    }
    hyperslab_testkit::workspace::skip("cases of h5stat", "../shared/tools/h5stat is not there");
    None
}

#[test]
fn committed_datatypes_without_links_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let headers = |name: &str, has_link: bool| {
        let path = folder.path().join(name);
        let file = FileOptions::new().create(&path).unwrap();
        let datatype = file.commit_datatype("type", &i32::datatype()).unwrap();
        file.new_dataset("a").committed(&datatype).shape(&[3]).create().unwrap();
        if !has_link {
            file.remove("type").unwrap();
        }
        file.close().unwrap();
        number(&printed(&[path.to_str().unwrap()]), "Datatypes: ")
    };
    assert!(headers("linked.h5", true) > 0);
    assert_eq!(headers("unlinked.h5", false), 0);
}
