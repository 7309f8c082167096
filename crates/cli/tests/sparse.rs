//! Sparse datasets on the command line.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "in a test a panic is the report")]

use hyperslab::{CharacterSet, Datatype, File, Points, Region};
use hyperslab_testkit::corpus::{self, Case};
use hyperslab_testkit::program::{Program, Run};
use serde_json::{Value, json};

fn run(arguments: &[&str]) -> Run {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).run(arguments)
}

fn printed(arguments: &[&str]) -> String {
    run(arguments).printed()
}

fn document(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).unwrap()
}

/// Returns the value of elements that are not defined.
fn fill(truth: &Value) -> Value {
    fn zero(kind: &Value) -> Value {
        match kind {
            Value::String(name) if name == "vlen str" => json!(""),
            Value::String(name) if name.contains('f') => json!(0.0),
            Value::String(_) => json!(0),
            kind if kind.get("vlen").is_some() => json!([]),
            kind => {
                let members = kind["members"].as_array().unwrap().iter();
                members.map(|member| (member[0].as_str().unwrap().to_owned(), zero(&member[2]))).collect()
            }
        }
    }
    if truth["fill"].is_null() { zero(&truth["dtype"]) } else { truth["fill"].clone() }
}

/// Returns all elements as nested arrays.
fn dense(truth: &Value) -> Value {
    fn nest(shape: &[usize], elements: &[Value]) -> Value {
        let Some((first, inner)) = shape.split_first() else { return elements[0].clone() };
        elements.chunks(elements.len() / first).map(|part| nest(inner, part)).collect()
    }
    let shape: Vec<usize> = serde_json::from_value(truth["shape"].clone()).unwrap();
    let mut elements = vec![fill(truth); shape.iter().product()];
    for pair in truth["defined"].as_array().unwrap() {
        let at: Vec<usize> = serde_json::from_value(pair[0].clone()).unwrap();
        let place = at.iter().zip(&shape).fold(0, |place, (at, size)| place * size + at);
        elements[place] = pair[1].clone();
    }
    nest(&shape, &elements)
}

fn samples(class: &str) -> Vec<(Case, Value)> {
    let cases = corpus::sparse_samples().unwrap().into_iter();
    let cases = cases.map(|case| {
        let truth = case.truth().unwrap();
        (case, truth)
    });
    cases.filter(|(_, truth)| truth["class"] == class).collect()
}

#[test]
fn samples_read_as_documented() {
    let cases = samples("valid");
    for (case, truth) in &cases {
        let file = case.file.to_str().unwrap();
        for (path, truth) in truth["datasets"].as_object().unwrap() {
            let got = document(&["cat", file, path, "--defined", "--format", "json"]);
            assert_eq!(got, json!({ "shape": truth["shape"], "defined": truth["defined"] }), "{}", case.name);
            let got = document(&["cat", file, path, "--format", "json"]);
            assert_eq!(got["shape"], truth["shape"], "{}", case.name);
            assert!(got["data"] == dense(truth), "{}", case.name);
        }
        for (path, truth) in truth["ordinary"].as_object().unwrap() {
            let got = document(&["cat", file, path, "--format", "json"]);
            assert_eq!(got, json!({ "shape": [3, 4], "data": truth }), "{}", case.name);
            let got = document(&["cat", file, path, "--format", "json", "--defined"]);
            assert_eq!(
                (&got["defined"][5], got["defined"].as_array().unwrap().len()),
                (&json!([[1, 1], 5]), 12)
            );
        }
    }
    assert!(cases.is_empty() || cases.len() >= 39, "{}", cases.len());
}

/// The expected message for each corrupt sample: it names the corrupt structure and the fault.
const FAULTS: &[(&str, &[&str])] = &[
    ("bad_bthd_checksum", &["version 2 B-tree header at 0xaa0", "checksum"]),
    ("bad_btree_cycle", &["version 2 B-tree at 0x7280", "not visited before"]),
    ("bad_btree_record_order", &["version 2 B-tree node at 0x2a0", "ascending"]),
    ("bad_btree_shared_child", &["version 2 B-tree at 0x1ae0", "not visited before"]),
    ("bad_chunk_address_past_eof", &["structured chunk", "address", "inside the file", "got 0x"]),
    ("bad_chunk_size_past_eof", &["structured chunk", "bytes inside the file of 1056 bytes"]),
    ("bad_client_id", &["array of structured chunks at 0x2a0", "client ID"]),
    ("bad_count_mismatch_long", &["structured chunk at 0x", "section with values", "elements of 4 bytes"]),
    ("bad_deflate_stream", &["section 1", "chunk at 0x", "filter deflate"]),
    ("bad_ea_block_header_address", &["extensible array data block at 0x138", "header address"]),
    ("bad_entry_size", &["chunk index element at 0x2a0", "element size"]),
    ("bad_fahd_checksum", &["fixed array header at 0x2a0", "checksum"]),
    ("bad_filter_mask_bits", &["structured chunk at 0x", "filter mask", "section", "0x10"]),
    ("bad_hyperslab_outside_chunk", &["encoded selection at 0x", "in dimension 1, whose size is 5"]),
    ("bad_metadata_section_list", &["data layout message at 0x368", "section with metadata"]),
    ("bad_nsects_wrong_for_type", &["data layout message at 0x368", "3 sections"]),
    ("bad_offset_past_chunk_end", &["structured chunk metadata at 0x", "for section 1 of a chunk"]),
    ("bad_ohdr_checksum", &["object header (version 2) at 0x368", "checksum"]),
    ("bad_pipeline_list_size", &["filter description list at 0x3c8", "1 more"]),
    ("bad_pipeline_version", &["filter pipeline message", "version 9"]),
    ("bad_property_version", &["data layout message", "structured chunk property version 1"]),
    ("bad_section0_checksum", &["section 0 at 0x", "checksum"]),
    ("bad_selection_bad_type", &["encoded selection at 0x", "selection type", "7"]),
    ("bad_selection_huge_count", &["encoded selection at 0x", "number of points", "2147483647"]),
    ("bad_selection_rank", &["encoded selection at 0x", "extent", "(4, 5), got (20,)"]),
    ("bad_selection_zero_stride", &["encoded selection at 0x", "stride"]),
    ("bad_type_bits", &["data layout message at 0x368", "structured chunk type"]),
    ("bad_unfiltered_size", &["section 1", "chunk at 0x", "bytes after decoding"]),
    ("bad_values_without_selection", &["structured chunk at 0x", "section with values", "0 elements"]),
    ("bad_vlen_hgls_missing_object", &["structured chunk heap at 0x", "object", "7"]),
    ("bad_vlen_offset_outside_heap", &["structured chunk heap at 0x", "400 bytes at 4"]),
    ("bad_vlen_unused_count", &["structured chunk heap at 0x", "unused bytes", "1000"]),
];

#[test]
fn damaged_samples_are_reported_with_their_names() {
    let cases = samples("corrupt");
    for (case, truth) in &cases {
        let file = case.file.to_str().unwrap();
        for form in
            [&["--defined", "--format", "json"] as &[&str], &["--format", "json"], &["--sparse-data"], &[]]
        {
            let output = run(&[&["cat", file, "/sparse"], form].concat());
            let error = output.error().to_owned();
            assert_eq!(output.code(), 1, "{}: {error}", case.name);
            assert_eq!(error.lines().count(), 1, "{}: {error}", case.name);
            let reported = FAULTS.iter().find(|(name, _)| *name == case.name).map(|(_, reported)| *reported);
            let missing =
                reported.unwrap_or(&["a line in the table"]).iter().find(|words| !error.contains(**words));
            assert!(missing.is_none(), "{}: `{}` is not in: {error}", case.name, missing.unwrap());
        }
        let got = document(&["cat", file, "/plain", "--format", "json"]);
        assert_eq!(got["data"], truth["ordinary"]["/plain"], "{}", case.name);
    }
    assert!(cases.is_empty() || cases.len() == FAULTS.len(), "{}", cases.len());
}

/// Writes a file with two sparse datasets: one with blocks that cross chunk boundaries, and one
/// with texts.
fn made(folder: &tempfile::TempDir) -> String {
    let path = folder.path().join("sparse.h5").display().to_string();
    let file = File::create(&path).unwrap();
    let counts = file.new_dataset("counts").of::<i32>().shape(&[13, 10]).sparse(&[4, 5]).deflate(6).fill(-1);
    let counts = counts.create().unwrap();
    let values: Vec<i32> = (0..18).map(|number| number * 3).collect();
    counts.write(Region::new(&[2, 2], &[3, 6]).unwrap(), &values).unwrap();
    counts.sparse().write(&Points { rank: 2, coordinates: vec![12, 8, 5, 9] }, &[3, -1]).unwrap();
    let text = Datatype::variable_string(CharacterSet::Utf8, 8);
    let notes = file
        .new_dataset("notes")
        .datatype(text)
        .shape(&[1_000_000_000_000])
        .sparse(&[10_000_000_000])
        .create()
        .unwrap();
    let at = Points { rank: 1, coordinates: vec![5, 6, 999_999_999_999] };
    notes.sparse().write_strings(&at, &["it\'s", "", "\u{3bc}"]).unwrap();
    file.new_dataset("never").of::<f64>().shape(&[1 << 40, 1 << 20]).sparse(&[100, 100]).create().unwrap();
    file.close().unwrap();
    path
}

#[test]
fn blocks_may_end_inside_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let file = made(&folder);
    let locations = "DEFINED_SPARSE_DATA BLOCK (2,2)-(4,7)\n\
                     DEFINED_SPARSE_DATA BLOCK (5,9)-(5,9)\n\
                     DEFINED_SPARSE_DATA BLOCK (12,8)-(12,8)\n";
    assert_eq!(printed(&["cat", &file, "counts", "--sparse-locations"]), locations);
    let data = "DEFINED_SPARSE_DATA BLOCK (2,2)-(4,7)\nDATA {\n   (2,2)  0, 3, 6, 9, 12, 15\n   \
                (3,2)  18, 21, 24, 27, 30, 33\n   (4,2)  36, 39, 42, 45, 48, 51\n}\n\
                DEFINED_SPARSE_DATA BLOCK (5,9)-(5,9)\nDATA {\n   (5,9)  -1\n}\n\
                DEFINED_SPARSE_DATA BLOCK (12,8)-(12,8)\nDATA {\n   (12,8)  3\n}\n";
    assert_eq!(printed(&["cat", &file, "counts", "--sparse-data"]), data);
    let some = printed(&["cat", &file, "counts", "--sparse-data", "-s", "3:12:2,3"]);
    assert_eq!(some, "DEFINED_SPARSE_DATA BLOCK (3,3)-(3,3)\nDATA {\n   (3,3)  21\n}\n");
    assert_eq!(printed(&["cat", &file, "never", "--sparse-locations"]), "");
    assert_eq!(printed(&["cat", &file, "never", "--sparse-data"]), "");
    for both in [["--defined", "--sparse-data"], ["--sparse-locations", "--format=json"]] {
        assert_eq!(run(&["cat", &file, "counts", both[0], both[1]]).code(), 2);
    }
}

#[test]
fn defined_elements_of_vast_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let file = made(&folder);
    let notes = json!([[[5], "it's"], [[6], ""], [[999_999_999_999_u64], "\u{3bc}"]]);
    let got = document(&["cat", &file, "notes", "--defined", "-f", "json"]);
    assert_eq!(got, json!({ "shape": [1_000_000_000_000_u64], "defined": notes }));
    assert_eq!(
        printed(&["cat", &file, "notes", "--defined"]),
        "(5)  \"it's\"\n(6)  ''\n(999999999999)  '\u{3bc}'\n"
    );
    assert_eq!(
        printed(&["cat", &file, "notes", "--defined", "-f", "csv", "-s", "6:"]),
        "index0,value\n6,\n999999999999,\u{3bc}\n"
    );
    let got = document(&["cat", &file, "never", "--defined", "-f", "json"]);
    assert_eq!(got, json!({ "shape": [1_u64 << 40, 1 << 20], "defined": [] }));
    let refused = run(&["cat", &file, "notes", "--defined", "-f", "raw"]);
    assert!(refused.error().contains("try json, csv or text"), "{refused:?}");
    let got = document(&["cat", &file, "counts", "-f", "json", "-s", "4:6,7:"]);
    assert_eq!(got, json!({ "shape": [2, 3], "data": [[51, -1, -1], [-1, -1, -1]] }));
}

fn entry<'d>(document: &'d Value, path: &str) -> &'d Value {
    let key = if document.get("entries").is_some() { "entries" } else { "objects" };
    document[key].as_array().unwrap().iter().find(|entry| entry["path"] == path).unwrap()
}

#[test]
fn listings_show_sections() {
    let folder = tempfile::tempdir().unwrap();
    let file = made(&folder);
    let tree = printed(&["ls", &file]);
    assert!(tree.contains("structured chunks 4 × 5 · deflate · 15.4 % defined · fill -1"), "{tree}");
    assert!(tree.contains("structured chunks 100 × 100 · nothing written · 0.0 % defined"), "{tree}");
    let long = printed(&["ls", "-v", &file, "counts"]);
    for line in
        ["· fixed array · 5 chunks", "20 of 130 elements (15.4 %)", "SPARSE_SELECTION ", "SPARSE_FIXED_DATA "]
    {
        assert!(long.contains(line), "{line}\n{long}");
    }
    assert!(long.lines().filter(|line| line.contains("×) · deflate(6)")).count() == 2, "{long}");
    assert!(printed(&["ls", "-v", &file, "notes"]).contains("SPARSE_VL "));
    let listed = document(&["ls", "--json", &file]);
    let counts = entry(&listed, "/counts");
    assert_eq!(counts["layout"], "structured chunks");
    assert_eq!((&counts["chunk_shape"], &counts["chunk_index"]), (&json!([4, 5]), &json!("fixed array")));
    assert_eq!((&counts["chunks"], &counts["defined"]), (&json!(5), &json!(20)));
    let sections = counts["sections"].as_array().unwrap();
    let names: Vec<&Value> = sections.iter().map(|section| &section["name"]).collect();
    assert_eq!(names, ["SPARSE_SELECTION", "SPARSE_FIXED_DATA"]);
    let stored: u64 = sections.iter().map(|section| section["stored_size"].as_u64().unwrap()).sum();
    assert_eq!(counts["stored_size"], stored);
    assert_eq!(sections[1]["unfiltered_size"], 80);
    assert_eq!(sections[1]["filters"][0]["name"], "deflate");
}

#[test]
fn digests_contain_the_defined_elements() {
    let folder = tempfile::tempdir().unwrap();
    let file = made(&folder);
    let before = document(&["digest", &file]);
    let counts = entry(&before, "/counts");
    assert_eq!((&counts["layout"], &counts["chunk"]), (&json!("structured"), &json!([4, 5])));
    assert_eq!(counts["sections"][0]["filters"][0]["id"], 1);
    assert_eq!((&counts["defined"], &counts["data_len"]), (&json!(20), &json!(520)));
    let notes = entry(&before, "/notes");
    assert!(notes["data_skipped"].is_string() && notes["defined_sha256"].is_string(), "{notes}");
    // An element that is defined with the fill value reads as before, although it was undefined
    // before.
    let open = File::open_rw(&file).unwrap();
    let dataset = open.dataset("counts").unwrap();
    dataset.sparse().write(&Points { rank: 2, coordinates: vec![0, 0] }, &[-1]).unwrap();
    open.close().unwrap();
    let after = document(&["digest", &file]);
    assert_eq!(entry(&after, "/counts")["data_sha256"], counts["data_sha256"]);
    assert_ne!(entry(&after, "/counts")["defined_sha256"], counts["defined_sha256"]);
    assert_eq!(entry(&after, "/notes"), notes);
}

#[test]
fn totals_are_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = made(&folder);
    let open = File::open_rw(&file).unwrap();
    let group = open.create_group("more").unwrap();
    let plain =
        group.new_dataset("plain").of::<u16>().shape(&[100]).chunks(&[50]).deflate(6).create().unwrap();
    plain.write(.., &[7_u16; 100]).unwrap();
    open.close().unwrap();
    let all = document(&["stat", "--json", &file]);
    assert_eq!(all["objects"], json!({ "dataset": 4, "group": 2 }));
    assert_eq!(all["links"], json!({ "hard": 5 }));
    assert_eq!(all["layouts"]["chunked"]["raw_size"], 200);
    let chunks = &all["structured_chunks"];
    assert_eq!(
        (&chunks["datasets"], &chunks["chunks"], &chunks["defined"]),
        (&json!(3), &json!(7), &json!(23))
    );
    assert_eq!(chunks["defined_per_chunk"], json!(23.0 / 7.0));
    assert_eq!(chunks["elements"], json!(130 + 1_000_000_000_000_u64 + (1 << 60)));
    let listed = document(&["ls", "--json", &file]);
    for (number, path) in [(0, "/counts"), (1, "/counts")] {
        let one = document(&["stat", "--json", &file, path]);
        let section = &one["structured_chunks"]["sections"][number];
        for key in ["name", "stored_size", "unfiltered_size"] {
            assert_eq!(section[key], entry(&listed, path)["sections"][number][key]);
        }
    }
    let deflated =
        all["filters"].as_array().unwrap().iter().find(|one| one["filters"] == json!(["deflate"])).unwrap();
    assert_eq!(deflated["datasets"], 2);
    assert_eq!(document(&["stat", "--json", &file, "more"])["objects"], json!({ "dataset": 1, "group": 1 }));
    let text = printed(&["stat", &file]);
    for line in ["structured chunks            3  ", "    deflate                      2  ", "SPARSE_VL "] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn totals_of_damaged_files_report_the_damage() {
    for (case, _) in samples("corrupt").iter().filter(|(case, _)| case.name == "bad_fahd_checksum") {
        let output = run(&["stat", case.file.to_str().unwrap()]);
        assert_eq!(output.code(), 1);
        assert!(output.out().contains("contiguous                   1  48 B of 48 B"));
        assert!(output.error().contains("fixed array header"));
    }
}
