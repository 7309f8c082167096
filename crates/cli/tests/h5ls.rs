//! `hyperslab h5ls`, run as people run `h5ls`. The output in `expected/` is refreshed with
//! `HYPERSLAB_UPDATE=1`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod deep_file;

use std::path::Path;

use hyperslab::datatype::{ByteOrder, FixedPoint, Padding};
use hyperslab::{Datatype, DatatypeClass, File, Region};
use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::{expected, fixtures};

fn hyperslab(folder: &Path) -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).with("h5ls").in_folder(folder).without_env("COLUMNS")
}

fn run_in(folder: &Path, arguments: &[&str]) -> Run {
    hyperslab(folder).run(arguments)
}

fn run(arguments: &[&str]) -> Run {
    run_in(&fixtures::path(""), arguments)
}

fn printed(folder: &Path, arguments: &[&str]) -> String {
    run_in(folder, arguments).printed()
}

fn check(name: &str, arguments: &[&str]) {
    expected::check(env!("CARGO_MANIFEST_DIR"), name, &run(arguments).printed());
}

#[test]
fn whole_files() {
    check("h5ls_links.txt", &["-w80", "-r", "links_earliest.h5"]);
    check("h5ls_groups.txt", &["-w80", "groups_latest.h5"]);
    check("h5ls_layouts.txt", &["-w80", "-rv", "layouts_earliest.h5"]);
    check("h5ls_datatypes.txt", &["-w80", "-v", "datatypes_compound_earliest.h5"]);
    check("h5ls_numeric.txt", &["-w80", "-v", "datatypes_numeric_earliest.h5"]);
    check("h5ls_chunks.txt", &["-w80", "-v", "-a", "chunk_indexes_latest.h5"]);
}

#[test]
fn elements() {
    check("h5ls_data.txt", &["-w60", "-r", "-d", "weather_station.h5/events"]);
    check("h5ls_attributes.txt", &["-w80", "-v", "-d", "attributes_earliest.h5"]);
    check("h5ls_references.txt", &["-w80", "-d", "references_earliest.h5"]);
    check("h5ls_compound.txt", &["-w50", "-d", "-l", "datatypes_compound_earliest.h5"]);
    check("h5ls_simple.txt", &["-w80", "-S", "-d", "datatypes_compound_earliest.h5"]);
    check("h5ls_strings.txt", &["-w80", "-d", "datatypes_strings_earliest.h5"]);
}

#[test]
fn elements_as_bytes_and_as_characters() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("a.h5")).unwrap();
    file.new_dataset("text").of::<u8>().shape(&[22]).write(&b"two \"words\", and\nmore "[..]).unwrap();
    file.new_dataset("n").of::<i32>().shape(&[2]).write(&[1, -2][..]).unwrap();
    file.close().unwrap();
    let shown = |arguments: &[&str]| printed(folder.path(), arguments);
    assert_eq!(
        shown(&["-d", "-s", "-w24", "a.h5/text"]),
        "text                     Dataset {22}\n    Data:\n         \"two \\\"words\\\"\"\n         \", and\\nmore \n"
    );
    assert!(shown(&["-dsS", "a.h5/text"]).starts_with(
        "text                     Dataset {22}\n    Data:\n        \"t\"\n        \"w\"\n        \"o\"\n        \
         \"%20\"\n"
    ));
    assert_eq!(
        shown(&["-d", "-x", "a.h5/n"]),
        "n                        Dataset {2}\n    Data:\n         01:00:00:00, fe:ff:ff:ff\n"
    );
    assert!(shown(&["-dS", "a.h5/n"]).ends_with("Data:\n        1 \n        -2\n"));
    assert!(shown(&["-d", "-w0", "a.h5/n"]).ends_with("Data:\n         1,\n         -2\n"));
}

#[test]
fn targets_of_links_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let other = File::create(folder.path().join("other.h5")).unwrap();
    other.create_group("inside").unwrap();
    other.new_dataset("inside/numbers").write(&[1_i32, 2][..]).unwrap();
    other.link_external("inside/back", "a.h5", "/").unwrap();
    other.close().unwrap();
    let file = File::create(folder.path().join("a.h5")).unwrap();
    file.create_group("group").unwrap();
    file.new_dataset("group/here").write_scalar(7_u8).unwrap();
    file.link_soft("soft", "/group").unwrap();
    file.link_soft("again", "/group").unwrap();
    file.link_soft("through", "/out/numbers").unwrap();
    file.link_external("out", "other.h5", "inside").unwrap();
    file.link_external("zero", "nowhere.h5", "/x").unwrap();
    file.close().unwrap();
    let listed = "\
/                        Group
/again                   Soft Link {/group} {Group}
/again/here              Dataset {SCALAR}
/group                   Group
/group/here              Dataset {SCALAR}
/out                     External Link {other.h5//inside} {Group}
/out/back                External Link {a.h5//} {Group}
/out/back/again          Soft Link {/group} {Already Visited}
/out/back/group          Group
/out/back/group/here     Dataset {SCALAR}
/out/back/out            External Link {other.h5//inside} {Already Visited}
/out/back/soft           Soft Link {/group} {Already Visited}
/out/back/through        Soft Link {/out/numbers} {Dataset {2}}
/out/back/zero           External Link {nowhere.h5//x} {**NOT FOUND**}
/out/numbers             Dataset {2}
/soft                    Soft Link {/group} {Already Visited}
/through                 Soft Link {/out/numbers} {Already Visited}
/zero                    External Link {nowhere.h5//x} {Already Visited}
";
    assert_eq!(printed(folder.path(), &["-r", "--follow-symlinks", "a.h5"]), listed);
    let external = printed(folder.path(), &["-r", "-E", "a.h5"]);
    assert!(external.contains("/again                   Soft Link {/group}\n"), "{external}");
    assert!(external.contains("/out/numbers             Dataset {2}\n"), "{external}");
    let dangling = run_in(folder.path(), &["--follow-symlinks", "--no-dangling-links", "a.h5"]);
    assert_eq!(dangling.code(), 1);
    // The output contains the dataset in braces and the number of its file.
    let numbers = printed(folder.path(), &["-v", "-d", "--follow-symlinks", "a.h5/through"]);
    assert!(numbers.contains("Soft Link {/out/numbers} {Dataset {2/2}\n    Location:  4:"), "{numbers}");
    assert!(numbers.ends_with("    Data:\n         1, 2\n}\n"), "{numbers}");
    // The argument names the link itself, not its target.
    let out = printed(folder.path(), &["-r", "--follow-symlinks", "a.h5/soft"]);
    assert_eq!(
        out,
        "soft                     Soft Link {/group} {Group}\n/here                    Dataset {SCALAR}\n"
    );
}

#[test]
fn cycles_of_links_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("a.h5")).unwrap();
    file.link_soft("circle", "circle").unwrap();
    let group = file.create_group("group").unwrap();
    file.link_hard("group/self", &group).unwrap();
    file.link_soft("group/up", "/").unwrap();
    file.close().unwrap();
    let output = run_in(folder.path(), &["-r", "--follow-symlinks", "a.h5"]);
    let listed = "\
/                        Group
/circle                  Soft Link {circle} {**NOT FOUND**}
/group                   Group
/group/self              Group, same as /group
/group/up                Soft Link {/} {Group}
/group/up/circle         Soft Link {circle} {Already Visited}
/group/up/group          Group
/group/up/group/self     Group, same as /group/up/group
/group/up/group/up       Soft Link {/} {Already Visited}
";
    assert_eq!(output.out(), listed);
    assert!(output.is_success());
    assert!(output.error().contains("soft links"));
}

#[test]
fn several_files_and_names_with_special_characters() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.h5", "b.h5"] {
        let file = File::create(folder.path().join(name)).unwrap();
        file.create_group("with space/\"é\n").unwrap();
        file.close().unwrap();
    }
    let shown = |arguments: &[&str]| printed(folder.path(), arguments);
    assert_eq!(shown(&["a.h5", "b.h5"]), "with\\ space              Group\n".repeat(2));
    assert_eq!(
        shown(&["-r", "a.h5", "b.h5/with space"]),
        "a.h5//                   Group\na.h5//with\\ space        Group\na.h5//with\\ space/\\\"\\303\\251\\n \
         Group\nb.h5//\\\"\\303\\251\\n       Group\n"
    );
    assert_eq!(shown(&["-g", "a.h5/with space/"]), "with\\ space              Group\n");
    assert_eq!(shown(&["-f", "a.h5/with space"]), "/\\\"\\303\\251\\n            Group\n");
}

#[test]
fn unsupported_requests_are_reported() {
    for (arguments, reported) in [
        (&["nowhere.h5"][..], "nowhere.h5: unable to open file"),
        (&["README.md"], "README.md: unable to open file: not an HDF5 file, but text"),
        (&["--nonsense", "weather_station.h5"], "Unknown argument: nonsense"),
        (&["-r", "-g", "weather_station.h5"], "choose one of them"),
        (&["--no-dangling-links", "weather_station.h5"], "must be used along with --follow-symlinks"),
        (&["--vfd=onion", "weather_station.h5"], "no driver is called `onion`"),
        (&["--vol-name=x", "weather_station.h5"], "`--vol-name` is not supported"),
        (&[], "no file is given"),
    ] {
        let output = run(arguments);
        assert_eq!(output.code(), 1, "{arguments:?}");
        let error = output.error().to_owned();
        assert!(error.contains(reported), "{arguments:?}: {error}");
    }
    let output = run(&["weather_station.h5/nothing/x", "weather_station.h5"]);
    assert_eq!(output.out(), "x          **NOT FOUND** ");
    assert_eq!(output.code(), 1);
    // The tool lists the files after a file that it cannot open.
    let output = run(&["nowhere.h5", "weather_station.h5/events"]);
    assert!(output.out().contains("hour "));
    assert_eq!(output.code(), 1);
}

#[test]
fn help_and_version() {
    for arguments in [&["-h"][..], &["--help", "-r"], &["-?"]] {
        assert!(printed(Path::new("."), arguments).starts_with("usage: h5ls [OPTIONS]"));
    }
    assert!(printed(Path::new("."), &["-V"]).starts_with("h5ls: Version "));
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_with_the_name_of_the_tool_runs_the_tool() {
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("h5ls");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hyperslab"), &tool).unwrap();
    let output = Program::new(tool).in_fixtures().run(["weather_station.h5/events"]);
    assert!(output.out().contains("Dataset {3"));
}

#[test]
fn deeply_nested_groups_are_an_error_and_cycles_end() {
    let folder = tempfile::tempdir().unwrap();
    let list = |bytes: Vec<u8>, arguments: &[&str]| {
        std::fs::write(folder.path().join("file.h5"), bytes).unwrap();
        run_in(folder.path(), &[arguments, &["file.h5"]].concat())
    };
    let output = list(deep_file::chain(5000, b"g", deep_file::End::Empty), &["-r"]);
    assert!(output.error().contains("deeper than 1024 levels"));
    assert_eq!(output.code(), 1);
    let output = list(deep_file::chain(2, b"g", deep_file::End::Nowhere), &["-rv"]);
    assert_eq!(output.code(), 1);
    assert_ne!(output.error(), "");
    let output = list(deep_file::chain(2, b"g", deep_file::End::BackToRoot), &["-r"]);
    assert!(output.is_success());
    assert!(output.out().ends_with("Group, same as /\n"));
}

#[test]
fn types_with_unused_bits() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("a.h5")).unwrap();
    let number = FixedPoint {
        order: ByteOrder::BigEndian,
        signed: false,
        bit_offset: 3,
        precision: 28,
        low_pad: Padding::One,
        high_pad: Padding::Zero,
    };
    let datatype = Datatype { class: DatatypeClass::FixedPoint(number), size: 4 };
    file.new_dataset("bits").datatype(datatype).shape(&[1]).create().unwrap();
    file.close().unwrap();
    let shown = printed(folder.path(), &["-v", "a.h5"]);
    assert!(
        shown.ends_with(
            "    Type:      32-bit big-endian unsigned integer
               (28 bits of precision beginning at bit 3)
               (3 one bits at bit 0, 1 zero bit at bit 31)
"
        ),
        "{shown}"
    );
}

#[test]
fn sparse_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("sparse.h5")).unwrap();
    let counts = file.new_dataset("counts").of::<u16>().shape(&[60, 80]).sparse(&[30, 80]);
    let counts = counts.deflate(6).create().unwrap();
    counts.write(Region::new(&[1, 2], &[20, 30]).unwrap(), &[7_u16; 600]).unwrap();
    file.close().unwrap();
    let shown = printed(folder.path(), &["-v", "-a", "sparse.h5"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines.contains(&"    Structured Chunks: {30, 80} 4800 bytes"), "{shown}");
    assert!(lines.contains(&"    Section-0: SPARSE_SELECTION"), "{shown}");
    assert!(lines.contains(&"    Section-1: SPARSE_FIXED_DATA"), "{shown}");
    assert!(shown.contains("    Storage:   1200 logical bytes, "), "{shown}");
    assert!(shown.contains("    Filter-0:  deflate-1 "), "{shown}");
    assert!(shown.contains(" [0, 0, 0]\n"), "{shown}");
    assert!(printed(folder.path(), &["-d", "sparse.h5"]).contains(" 0, 7, 7, 7,"));
}
