//! References as Parquet files: the same as those in JSON.
#![cfg(feature = "parquet")]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeMap;
use std::fs::File as StdFile;
use std::path::Path;

use arrow_array::{Array as _, BinaryArray, Int64Array, StringArray};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyperslab::{File, FileOptions, filter::FilterSpec};
use hyperslab_references::ReferenceOptions;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

const URL: &str = "s3://bucket/a.h5";

/// A file with more chunks than one Parquet file has, with small chunks, and with missing chunks.
fn example() -> File {
    let file = FileOptions::new().create_in_memory().unwrap();
    let many: Vec<u8> = (0..12_345_u32).map(|at| (at % 251).try_into().unwrap()).collect();
    file.new_dataset("many").shape(&[12_345]).chunks(&[1]).write(&many).unwrap();
    let numbers: Vec<f64> = (0..6000).map(f64::from).collect();
    let group = file.create_group("group").unwrap();
    let new = group.new_dataset("large").shape(&[60, 100]).chunks(&[20, 100]);
    new.filter(FilterSpec::deflate(1)).write(&numbers).unwrap().set_attribute("unit", "V").unwrap();
    group.new_dataset("plain").write(&numbers).unwrap();
    let holes =
        file.new_dataset("holes").of::<i32>().shape(&[100]).chunks(&[10]).fill(7_i32).create().unwrap();
    holes.write(hyperslab::s![50..60], &[1_i32; 10]).unwrap();
    file.new_dataset("base64").shape(&[10]).chunks(&[10]).write(b"base64:abc").unwrap();
    file.flush().unwrap();
    file
}

fn options<'a>(inline: u64) -> ReferenceOptions<'a> {
    ReferenceOptions::new(URL).inline(inline).skip_unsupported(true)
}

/// Returns the chunks of an array by their positions, and the number of rows of each file.
fn chunks(folder: &Path) -> (BTreeMap<usize, Value>, Vec<usize>) {
    let (mut found, mut lengths) = (BTreeMap::new(), Vec::new());
    for number in 0.. {
        let Ok(file) = StdFile::open(folder.join(format!("refs.{number}.parq"))) else { break };
        let mut rows = 0;
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let column = |name: &str| batch.column_by_name(name).unwrap().as_any();
            let urls: &StringArray = column("path").downcast_ref().unwrap();
            let offsets: &Int64Array = column("offset").downcast_ref().unwrap();
            let sizes: &Int64Array = column("size").downcast_ref().unwrap();
            let raw: &BinaryArray = column("raw").downcast_ref().unwrap();
            for row in 0..batch.num_rows() {
                let value = if urls.is_valid(row) {
                    let (url, offset, size) = (urls.value(row), offsets.value(row), sizes.value(row));
                    Value::from(vec![Value::from(url), Value::from(offset), Value::from(size)])
                } else if raw.is_valid(row) {
                    let bytes = raw.value(row);
                    let decoded = bytes.strip_prefix(b"base64:").map(|text| STANDARD.decode(text).unwrap());
                    Value::from(decoded.unwrap_or_else(|| bytes.to_vec()))
                } else {
                    continue;
                };
                found.insert(number * 10_000 + rows + row, value);
            }
            rows += batch.num_rows();
        }
        lengths.push(rows);
    }
    (found, lengths)
}

/// Returns the chunks of an array in JSON references, by their positions.
fn expected(refs: &serde_json::Map<String, Value>, path: &str, columns: usize) -> BTreeMap<usize, Value> {
    let mut found = BTreeMap::new();
    for (key, value) in refs {
        let Some(name) = key.strip_prefix(&format!("{path}/")).filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let position = name.split('.').fold(0, |at, part| at * columns + part.parse::<usize>().unwrap());
        let value = match value.as_str() {
            Some(text) => Value::from(match text.strip_prefix("base64:") {
                Some(text) => STANDARD.decode(text).unwrap(),
                None => text.as_bytes().to_vec(),
            }),
            None => value.clone(),
        };
        found.insert(position, value);
    }
    found
}

#[test]
fn parquet_references_are_those_of_json() {
    let file = example();
    for inline in [0, 500] {
        let mut json = Vec::new();
        let report = options(inline).write_json(file.root(), &mut json).unwrap();
        let json: Value = serde_json::from_slice(&json).unwrap();
        let refs = json.get("refs").unwrap().as_object().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("refs.parq");
        assert_eq!(options(inline).write_parquet(file.root(), &folder).unwrap(), report);
        let metadata: Value =
            serde_json::from_slice(&std::fs::read(folder.join(".zmetadata")).unwrap()).unwrap();
        assert_eq!(metadata.get("record_size").unwrap(), 10_000);
        let metadata = metadata.get("metadata").unwrap().as_object().unwrap();
        let mut keys = 0;
        for (key, value) in refs.iter().filter(|(key, _)| key.rsplit('/').next().unwrap().starts_with(".z")) {
            let in_json: Value = serde_json::from_str(value.as_str().unwrap()).unwrap();
            assert_eq!(metadata.get(key), Some(&in_json), "{key}");
            keys += 1;
        }
        assert_eq!(metadata.len(), keys);
        let mut counted = 0;
        for (path, columns, lengths) in [
            ("many", 1, vec![10_000, 2345]),
            ("group/large", 1, vec![3]),
            ("group/plain", 1, vec![1]),
            ("holes", 1, vec![10]),
            ("base64", 1, vec![1]),
        ] {
            let (found, rows) = chunks(&folder.join(path));
            assert_eq!(rows, lengths, "{path}");
            assert_eq!(found, expected(refs, path, columns), "{path}, {inline}");
            counted += found.len();
        }
        assert_eq!(counted as u64, report.referenced_chunks + report.inline_chunks);
        // The nine missing chunks of `holes` are stored inline, as their fill value.
        assert!(if inline == 0 { report.inline_chunks == 9 } else { report.inline_chunks > 9 });
    }
}

#[test]
fn a_folder_that_exists_is_not_written_into() {
    let folder = tempfile::tempdir().unwrap();
    assert!(options(0).write_parquet(example().root(), folder.path()).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
