//! `hyperslab h5dump`, run as people run `h5dump`. The output in `expected/` is refreshed with
//! `HYPERSLAB_UPDATE=1`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod deep_file;

use hyperslab_testkit::expected;
use hyperslab_testkit::program::{Program, Run};

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().with("h5dump")
}

fn run(arguments: &[&str]) -> Run {
    hyperslab().run(arguments)
}

fn check(name: &str, arguments: &[&str]) {
    expected::check(env!("CARGO_MANIFEST_DIR"), name, &run(arguments).printed());
}

#[test]
fn whole_files() {
    check("h5dump_datatypes.ddl", &["-p", "datatypes_compound_earliest.h5"]);
    check("h5dump_links.ddl", &["links_earliest.h5"]);
    check("h5dump_layouts.ddl", &["-H", "-p", "layouts_latest.h5"]);
    check("h5dump_contents.ddl", &["-n", "1", "weather_station.h5"]);
}

#[test]
fn options_select_the_output() {
    check(
        "h5dump_subset.ddl",
        &[
            "-d",
            "/series/temperature[100;24;5;2]",
            "-g",
            "/events",
            "-l",
            "/latest",
            "-N",
            "title",
            "weather_station.h5",
        ],
    );
    check(
        "h5dump_superblock.ddl",
        &["-B", "-y", "-m", "%.2f", "-w", "60", "-d", "/events/hour", "weather_station.h5"],
    );
}

#[test]
fn values_and_other_output_go_to_the_chosen_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let output = run(&["-d", "/events/hour", "-o", &at("bytes"), "-b", "BE", "weather_station.h5"]);
    assert!(output.is_success());
    let bytes = std::fs::read(at("bytes")).unwrap();
    assert_eq!(bytes, [417_i32, 2210, 5033].map(i32::to_be_bytes).concat());
    let output = run(&["-d", "/events/hour", "-O", &at("ddl"), "weather_station.h5"]);
    assert_eq!(output.out(), "\n   (0): 417, 2210, 5033\n");
    assert!(std::fs::read_to_string(at("ddl")).unwrap().contains("DATATYPE  H5T_STD_I32LE"));
}

#[test]
fn unsupported_requests_are_reported() {
    for (arguments, reported) in [
        (&["nowhere.h5"][..], "unable to open file"),
        (&["-x", "weather_station.h5"], "XML is not supported"),
        (&["--nonsense", "weather_station.h5"], "unknown or unsupported option"),
        (&["-s", "1", "weather_station.h5"], "place it after `-d`"),
        (&["-d", "/nothing", "weather_station.h5"], "nothing"),
        (&["-m", "%.99999g", "weather_station.h5"], "is not a print format for floating-point numbers"),
        (&[], "no file is given"),
    ] {
        let output = run(arguments);
        assert!(!output.is_success(), "{arguments:?}");
        let error = output.error().to_owned();
        assert!(error.contains(reported), "{arguments:?}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_with_the_name_of_the_tool_runs_the_tool() {
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("h5dump");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hyperslab"), &tool).unwrap();
    let output = Program::new(tool).in_fixtures().run(["-n", "weather_station.h5"]);
    assert!(output.out().starts_with("HDF5 \"weather_station.h5\" {\nFILE_CONTENTS {\n"));
}

#[test]
fn deeply_nested_groups_are_an_error_and_cycles_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.h5");
    let dump = |bytes: Vec<u8>, arguments: &[&str]| {
        std::fs::write(&path, bytes).unwrap();
        run(&[arguments, &[path.to_str().unwrap()]].concat())
    };
    for arguments in [&[][..], &["-n"]] {
        let output = dump(deep_file::chain(5000, b"g", deep_file::End::Empty), arguments);
        assert!(output.out().ends_with("}\n"));
        assert!(output.error().contains("deeper than 1024 levels"));
        assert_eq!(output.code(), 1);
    }
    let output = dump(deep_file::chain(2, b"g", deep_file::End::Nowhere), &[]);
    assert_eq!(output.code(), 1);
    assert_ne!(output.error(), "");
    let output = dump(deep_file::chain(2, b"g", deep_file::End::BackToRoot), &[]);
    assert!(output.is_success());
    assert!(output.out().contains("HARDLINK \"/\""));
}

#[test]
fn sparse_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse.h5");
    let file = hyperslab::File::create(&path).unwrap();
    let counts = file.new_dataset("counts").of::<u8>().shape(&[6, 8]).sparse(&[3, 8]).create().unwrap();
    let region = |start, count| hyperslab::Region::new(start, count).unwrap();
    counts.write(region(&[1, 2], &[2, 3]), &[1_u8, 2, 3, 4, 5, 6]).unwrap();
    counts.write(region(&[5, 7], &[1, 1]), &[7_u8]).unwrap();
    file.close().unwrap();
    let printed = |arguments: &[&str]| {
        run(&[arguments, &[path.to_str().unwrap()]].concat()).succeeds().out().to_owned()
    };
    let locations = "   DATA {\n         DEFINED_SPARSE_DATA BLOCK (1,2)-(2,4)\n         \
                     DEFINED_SPARSE_DATA BLOCK (5,7)-(5,7)\n      }\n";
    assert!(printed(&["--sparse-locations"]).contains(locations));
    let data = "DEFINED_SPARSE_DATA BLOCK (1,2)-(2,4)\n         DATA {\n            (1,2)  1, 2, 3\n            \
                (2,2)  4, 5, 6\n         }\n";
    assert!(printed(&["--sparse-data"]).contains(data));
    let properties = printed(&["-p", "-H"]);
    assert!(properties.contains("STRUCTURED_CHUNK ( 3, 8 ) {\n            SPARSE_CHUNK\n"), "{properties}");
    assert!(properties.contains("SECTION 1 SPARSE_FIXED_DATA {\n               SIZE 7\n"), "{properties}");
    // Without a selection, the tool prints all elements.
    assert!(printed(&[]).contains("(5,0): 0, 0, 0, 0, 0, 0, 0, 7"));
}

/// Writes a file that was created in memory, and returns the output of the tool.
fn printed_of(write: impl FnOnce(&hyperslab::File), arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let file = hyperslab::File::create(folder.path().join("made.h5")).unwrap();
    write(&file);
    file.close().unwrap();
    hyperslab().in_folder(folder.path()).run([arguments, &["made.h5"]].concat())
}

#[test]
fn regions_with_their_elements() {
    let write = |file: &hyperslab::File| {
        let numbers = file.new_dataset("a").shape(&[4, 5]).of::<i32>().create().unwrap();
        numbers.write(.., &(0..20).collect::<Vec<i32>>()).unwrap();
        let block = hyperslab::Selection::region(&hyperslab::Region::new(&[1, 1], &[2, 3]).unwrap());
        let points = hyperslab::Points { rank: 2, coordinates: vec![0, 1, 3, 3] };
        let token = numbers.token();
        let targets = [
            hyperslab::ReferenceTarget::Region(token, block.clone()),
            hyperslab::ReferenceTarget::Region(token, hyperslab::Selection::Points(points)),
            hyperslab::ReferenceTarget::Region(token, block),
        ];
        let references = file.new_dataset("r").shape(&[3]).datatype(hyperslab::Datatype::region_reference(8));
        references.create().unwrap().write_references(.., &targets).unwrap();
    };
    let output = printed_of(write, &["-R", "-d", "r"]);
    let text = output.out().to_owned();
    assert!(
        text.contains("         DATA {\n            6, 7, 8,\n            11, 12, 13\n         }\n"),
        "{text}"
    );
    assert!(text.contains("         DATA {\n            1,\n            18\n         }\n"), "{text}");
    // The C tool prints more spaces before later regions, and before blocks.
    let spaces: Vec<_> =
        text.lines().filter_map(|line| line.split_once("/a\"")).map(|(_, end)| end).collect();
    assert_eq!(spaces, [" {", " {", "  {"], "{text}");
    assert!(!String::from_utf8(printed_of(write, &["-d", "r"]).stdout).unwrap().contains("11, 12, 13"));
}

#[test]
fn unresolved_references_do_not_end_the_output() {
    let write = |file: &hyperslab::File| {
        let one = file.new_dataset("a").write(&vec![7_u8]).unwrap();
        let kind = hyperslab::Datatype::object_reference(8);
        let references = file.new_dataset("r").shape(&[2]).datatype(kind).create().unwrap();
        // The first link leads to an address without an object.
        let bytes = [3_u64.to_le_bytes(), one.token().address().to_le_bytes()].concat();
        references.write_stored(.., &bytes).unwrap();
    };
    let output = printed_of(write, &["-d", "r"]);
    assert!(!output.is_success());
    let text = output.out().to_owned();
    assert!(text.contains("(0): 7"), "{text}");
}

#[test]
fn virtual_datasets_with_their_mappings() {
    let write = |file: &hyperslab::File| {
        let whole = hyperslab::RegularHyperslab::region(&[0, 0], &[1, 4]);
        let strided = hyperslab::RegularHyperslab::strided(&[1, 0], &[2, 1], &[2, 4]);
        let slab = |slab| hyperslab::Selection::Hyperslab(hyperslab::Hyperslab::Regular(slab));
        let mapping = |selection, source_selection| hyperslab::VirtualMapping {
            file: b"other.h5".to_vec(),
            dataset: b"/x".to_vec(),
            selection,
            source_selection,
        };
        let mappings = [
            mapping(slab(whole.clone()), hyperslab::Selection::All),
            mapping(slab(strided), slab(hyperslab::RegularHyperslab::region(&[0, 0], &[2, 4]))),
        ];
        file.new_dataset("v").of::<u8>().shape(&[4, 4]).virtual_sources(&mappings).create().unwrap();
    };
    let output = printed_of(write, &["-p", "-H"]);
    let text = output.out().to_owned();
    let source = "            SOURCE {\n               FILE \"other.h5\"\n               DATASET \"/x\"\n               \
                  SELECTION ALL\n            }\n";
    assert!(text.contains(source), "{text}");
    let strided = "                  START (1,0)\n                  STRIDE (2,1)\n                  COUNT (2,1)\n                  \
                   BLOCK (1,4)\n";
    assert!(text.contains(strided), "{text}");
}

#[test]
fn targets_of_external_links_are_printed_inside_the_links() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str, other: &str| {
        let file = hyperslab::File::create(folder.path().join(name)).unwrap();
        file.new_dataset("numbers").write(&vec![1_u8, 2]).unwrap();
        file.link_external("other", other, "/").unwrap();
        file.link_external("nowhere", "none.h5", "/x").unwrap();
        file.close().unwrap();
    };
    // Each file has a link into the other file.
    make("one.h5", "two.h5");
    make("two.h5", "one.h5");
    let text = hyperslab().in_folder(folder.path()).run(["one.h5"]).succeeds().out().to_owned();
    let inner = "      TARGETPATH \"/\"\n         GROUP \"/\" {\n";
    assert!(text.contains(inner), "{text}");
    let nowhere =
        "   EXTERNAL_LINK \"nowhere\" {\n      TARGETFILE \"none.h5\"\n      TARGETPATH \"/x\"\n   }\n";
    assert!(text.contains(nowhere), "{text}");
    // The tool stops at the cycle.
    assert_eq!(text.matches("DATASET \"numbers\"").count(), 17);
}

#[test]
fn references_to_references_are_followed() {
    let write = |file: &hyperslab::File| {
        let values = file.new_dataset("values").write(&[5_u8, 6, 7]).unwrap();
        let references = |name: &str, targets: &[hyperslab::ReferenceTarget], kind| {
            let count = u64::try_from(targets.len()).unwrap();
            let dataset = file.new_dataset(name).datatype(kind).shape(&[count]).create().unwrap();
            dataset.write_references(.., targets).unwrap();
            dataset
        };
        let object = || hyperslab::Datatype::object_reference(8);
        let inner = references("inner", &[hyperslab::ReferenceTarget::object(&values)], object());
        // The second reference leads to the list itself.
        let outer = file.new_dataset("outer").datatype(object()).shape(&[2]).create().unwrap();
        let targets = [&inner, &outer].map(|dataset| hyperslab::ReferenceTarget::object(dataset));
        outer.write_references(.., &targets).unwrap();
    };
    let text = printed_of(write, &["-d", "outer"]).printed();
    let nested = "/inner\"\n         DATA {\n            DATASET ";
    assert!(text.contains(nested) && text.contains("(0): 5, 6, 7\n"), "{text}");
    assert!(text.matches("/outer\"\n").count() < 4, "{text}");
}

#[test]
fn limits_of_references_to_references_are_reported_once() {
    let write = |file: &hyperslab::File| {
        let kind = || hyperslab::Datatype::object_reference(8);
        let mut target = file.new_dataset("values").write(&[5_u8]).unwrap();
        for number in 0..20 {
            let list =
                file.new_dataset(&format!("list {number}")).datatype(kind()).shape(&[2]).create().unwrap();
            let targets = [&target, &target].map(|dataset| hyperslab::ReferenceTarget::object(dataset));
            list.write_references(.., &targets).unwrap();
            target = list;
        }
    };
    let output = printed_of(write, &["-d", "list 19"]);
    assert!(!output.is_success());
    assert_eq!(output.error().matches("at most 16 deep and 10000 times").count(), 1, "{}", output.error());
}

#[test]
fn values_without_a_name_are_bytes() {
    let write = |file: &hyperslab::File| {
        let member = hyperslab::datatype::EnumerationMember { name: "one".into(), value: vec![0, 1] };
        let base = hyperslab::Datatype::integer(2, true, hyperslab::datatype::ByteOrder::BigEndian);
        let names = hyperslab::Datatype::enumeration(base, vec![member]);
        let dataset = file.new_dataset("e").datatype(names).shape(&[2]).create().unwrap();
        dataset.write_stored(.., &[0, 1, 2, 3]).unwrap();
    };
    let text = printed_of(write, &["-d", "e"]).printed();
    assert!(text.contains("(0): one, 03:02\n"), "{text}");
}
