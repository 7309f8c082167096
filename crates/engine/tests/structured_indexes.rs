//! Tests of indexes of structured chunks in samples of other programs, both valid and damaged.
#![expect(clippy::unwrap_used, clippy::panic, reason = "in a test a panic is the report")]

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::data::chunk_index::{
    ChunkBox, ChunkShape, StructuredIndexEditor, conformance, open_structured,
};
use hyperslab_engine::error::ErrorKind;
use hyperslab_engine::format::Layout;
use hyperslab_engine::object::dataset::{DatasetDescription, Filters};
use hyperslab_engine::object::group;
use hyperslab_engine::object::header::ObjectHeader;
use hyperslab_engine::object::link::LinkTarget;
use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::StoreOptions;
use hyperslab_testkit::corpus::{self, Case};
use hyperslab_vfd::{Access, Sec2};

/// The damaged samples in which an index reports the damage, and the messages.
const BROKEN: [(&str, &str); 8] = [
    ("bad_bthd_checksum", "version 2 B-tree header at 0xaa0: checksum"),
    ("bad_btree_cycle", "expected a block not visited before"),
    ("bad_btree_record_order", "expected ascending records"),
    ("bad_btree_shared_child", "expected a block not visited before"),
    ("bad_client_id", "client ID: expected 2 without filters"),
    ("bad_ea_block_header_address", "extensible array data block at 0x138: header address"),
    ("bad_entry_size", "element size"),
    ("bad_fahd_checksum", "fixed array header at 0x2a0: checksum"),
];

/// The size of each chunk, by the coordinates of its first element.
type Chunks = BTreeMap<Vec<u64>, u64>;

/// Returns the chunks of the index of `/sparse`, from all kinds of reads.
fn chunks(case: &Case) -> Result<Chunks> {
    let driver = Sec2::open(&case.file, Access::ReadOnly).unwrap();
    let file = OpenFile::open(Arc::new(driver), StoreOptions::default())?;
    let store = &file.container.store;
    let root = ObjectHeader::load(store, file.root())?;
    let link = group::find(&file.container, &root, b"sparse")?;
    let Some(LinkTarget::Hard(address)) = link.map(|link| link.target) else { panic!("no dataset") };
    let description = DatasetDescription::read(&file.container, &ObjectHeader::load(store, address)?)?;
    let Layout::Structured(layout) = &description.layout.layout else { panic!("another layout") };
    let filtered = match &description.filters {
        Filters::Chunk(pipeline) => !pipeline.is_empty(),
        Filters::Sections(_) => true,
    };
    let (dims, max_dims) = (description.dataspace.dims(), description.dataspace.max_dims());
    let shape = ChunkShape::of_structured(layout, &max_dims, description.datatype.size.into(), filtered);
    let counts: Vec<u64> = dims.iter().zip(&layout.dims).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
    let mut found = Chunks::new();
    if let Some(index) = open_structured(store, layout, &shape)? {
        let whole = ChunkBox {
            first: counts.iter().map(|_| 0).collect(),
            last: counts.iter().map(|count| count.saturating_sub(1)).collect(),
        };
        index.for_each_in(store, &whole, &mut |scaled, chunk| {
            let first = scaled.iter().zip(&layout.dims).map(|(at, size)| at * size).collect();
            assert!(found.insert(first, chunk.size).is_none());
            Ok(())
        })?;
        assert_eq!(conformance::run(store, index.as_ref(), &counts)?, found.len());
    }
    let mut edited = 0;
    StructuredIndexEditor::open(store, layout, &shape)?.for_each(store, &mut |_, chunk| {
        assert!(found.values().any(|size| *size == chunk.size));
        edited += 1;
        Ok(())
    })?;
    assert_eq!(edited, found.len());
    Ok(found)
}

/// Returns the expected chunks, or `None` if the sample is damaged.
fn truth(case: &Case) -> Option<Chunks> {
    let truth = case.truth().unwrap();
    let truth = truth.pointer("/datasets/~1sparse").unwrap();
    if truth.get("verdict")?.as_str() != Some("ok") {
        return None;
    }
    let mut chunks = Chunks::new();
    for chunk in truth.get("chunks")?.as_array()? {
        let mut first = Vec::new();
        for at in chunk.get("offset")?.as_array()? {
            first.push(at.as_u64()?);
        }
        chunks.insert(first, chunk.get("size")?.as_u64()?);
    }
    Some(chunks)
}

#[test]
fn indexes_have_the_chunks_of_the_samples() {
    let cases = corpus::sparse_samples().unwrap();
    let mut chunks_found = 0;
    for case in &cases {
        let Some(expected) = truth(case) else { continue };
        let found = chunks(case).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(found, expected, "{}", case.name);
        chunks_found += found.len();
    }
    assert!(cases.is_empty() || chunks_found > 0);
}

#[test]
fn damaged_indexes_are_reported() {
    let cases = corpus::sparse_samples().unwrap();
    for (name, why) in BROKEN {
        let Some(case) = cases.iter().find(|case| case.name == name) else {
            assert!(cases.is_empty(), "no {name}");
            continue;
        };
        let Err(error) = chunks(case) else { panic!("{name} is read") };
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}: {error}");
        assert!(error.to_string().contains(why), "{name}: {error}");
    }
}
