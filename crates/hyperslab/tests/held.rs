//! `Limits::result_bytes` limits the bytes that a read holds in memory, even if the file stores few
//! bytes.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab::datatype::{ByteOrder::LittleEndian, CharacterSet, StringPadding};
use hyperslab::{Datatype, ErrorKind, File, FileOptions, Limits, OpenOptions};

const COUNT: u64 = 100_000;

/// Creates datasets that store almost no bytes and become large in memory.
fn small_file(folder: &tempfile::TempDir) -> std::path::PathBuf {
    let path = folder.path().join("small.h5");
    let file = FileOptions::new().create(&path).unwrap();
    let one = Datatype::fixed_string(1, StringPadding::NullPadded, CharacterSet::Ascii);
    let types = [
        ("texts", one.clone()),
        ("variable", Datatype::variable_string(CharacterSet::Utf8, 8)),
        ("sequences", Datatype::sequence(Datatype::u8(), 8)),
        ("references", Datatype::object_reference(8)),
        ("records", Datatype::packed([("a", one.clone()), ("b", one.clone()), ("c", one)])),
        ("numbers", Datatype::f64(LittleEndian)),
    ];
    for (name, datatype) in types {
        let dataset = file.new_dataset(name).datatype(datatype).shape(&[COUNT]).chunks(&[COUNT]);
        dataset.create().unwrap();
    }
    file.close().unwrap();
    assert!(path.metadata().unwrap().len() < 10_000);
    path
}

fn open(path: &std::path::Path, result_bytes: u64) -> File {
    OpenOptions::new().limits(Limits { result_bytes, ..Limits::cautious() }).open(path).unwrap()
}

#[test]
fn the_limit_counts_the_bytes_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_file(&folder);
    // The limit equals the bytes of the elements in the file, which is less than their bytes in
    // memory.
    let file = open(&path, COUNT * 16);
    let kind = |outcome: hyperslab::Result<()>| outcome.map_err(|error| error.kind());
    let dataset = |name: &str| file.dataset(name).unwrap();
    assert_eq!(kind(dataset("texts").read_strings::<hyperslab::IxDyn>(..).map(drop)), Err(ErrorKind::Limit));
    assert_eq!(
        kind(dataset("variable").read_strings::<hyperslab::IxDyn>(..).map(drop)),
        Err(ErrorKind::Limit)
    );
    assert_eq!(
        kind(dataset("sequences").read_sequences::<u8, hyperslab::IxDyn>(..).map(drop)),
        Err(ErrorKind::Limit)
    );
    assert_eq!(
        kind(dataset("references").read_references::<hyperslab::IxDyn>(..).map(drop)),
        Err(ErrorKind::Limit)
    );
    for name in ["texts", "variable", "sequences", "references", "records"] {
        assert_eq!(kind(dataset(name).read_dyn(..).map(drop)), Err(ErrorKind::Limit), "{name}");
    }
    let error = dataset("texts").read_strings::<hyperslab::IxDyn>(..).unwrap_err();
    assert!(chain(&error).contains("bytes held in memory"), "{error:?}");
    // If the limit allows both, the read returns all elements.
    let file = open(&path, COUNT * 400);
    let dataset = |name: &str| file.dataset(name).unwrap();
    assert_eq!(dataset("texts").read_strings::<hyperslab::IxDyn>(..).unwrap().len(), 100_000);
    assert_eq!(dataset("sequences").read_sequences::<u8, hyperslab::IxDyn>(..).unwrap().len(), 100_000);
    for name in ["texts", "variable", "sequences", "references", "records", "numbers"] {
        assert_eq!(dataset(name).read_dyn(..).unwrap().column().len(), 100_000, "{name}");
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text.push_str(&format!(": {error}"));
        next = error.source();
    }
    text
}

/// Elements that share variable-length data count separately: in memory, each element has a copy.
#[test]
fn shared_heap_objects_count_at_each_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.h5");
    let file = FileOptions::new().create(&path).unwrap();
    let long = "x".repeat(10_000);
    let dataset = file.new_dataset("texts").write_strings(&[long.as_str()]).unwrap();
    let descriptor = dataset.read_stored(..).unwrap().bytes().to_vec();
    let copies =
        file.new_dataset("copies").datatype(dataset.datatype().clone()).shape(&[1000]).create().unwrap();
    copies.write_stored(.., &descriptor.repeat(1000)).unwrap();
    file.close().unwrap();
    let error =
        open(&path, 1 << 20).dataset("copies").unwrap().read_strings::<hyperslab::IxDyn>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    let file = open(&path, 1 << 26);
    assert_eq!(file.dataset("copies").unwrap().read_strings::<hyperslab::IxDyn>(..).unwrap().len(), 1000);
}

#[test]
fn attributes_count_toward_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attribute.h5");
    let file = FileOptions::new().create(&path).unwrap();
    file.set_attribute("texts", &vec!["a"; 2000][..]).unwrap();
    file.close().unwrap();
    let attribute = open(&path, 40_000).attribute("texts").unwrap();
    assert_eq!(attribute.read_strings::<hyperslab::IxDyn>().unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(attribute.read_dyn().unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(
        open(&path, 1 << 20).attribute("texts").unwrap().read_strings::<hyperslab::IxDyn>().unwrap().len(),
        2000
    );
}
