//! Tests of every kind of chunk index in files of libhdf5.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_engine::data::chunk_index::{ChunkIndexKind, conformance};
use hyperslab_engine::object::group;
use hyperslab_engine::object::header::ObjectHeader;
use hyperslab_engine::object::kind::ObjectKind;
use hyperslab_engine::object::link::LinkTarget;
use hyperslab_engine::ops::{OpenDataset, OpenFile};
use hyperslab_engine::store::StoreOptions;
use hyperslab_testkit::fixtures;
use hyperslab_vfd::{Access, Sec2};

fn open(name: &str) -> Arc<OpenFile> {
    let driver = Sec2::open(fixtures::path(name), Access::ReadOnly).unwrap();
    Arc::new(OpenFile::open(Arc::new(driver), StoreOptions::default()).unwrap())
}

/// Returns all datasets below the root group.
fn datasets(file: &Arc<OpenFile>) -> Vec<OpenDataset> {
    let mut pending = vec![file.root()];
    let mut found = Vec::new();
    while let Some(address) = pending.pop() {
        let header = ObjectHeader::load(&file.container.store, address).unwrap();
        match ObjectKind::of(&header) {
            Some(ObjectKind::Group) => group::for_each(&file.container, &header, &mut |link| {
                if let LinkTarget::Hard(address) = link.target {
                    pending.push(address);
                }
                Ok(ControlFlow::Continue(()))
            })
            .unwrap(),
            Some(ObjectKind::Dataset) => found.push(OpenDataset::open(file, &header).unwrap()),
            _ => {}
        }
    }
    found
}

#[test]
fn lookups_and_walks_of_each_index_agree() {
    let mut chunks_of: HashMap<ChunkIndexKind, usize> = HashMap::new();
    let mut largest_grid: HashMap<ChunkIndexKind, u64> = HashMap::new();
    for name in ["chunk_indexes_earliest.h5", "chunk_indexes_latest.h5", "chunk_indexes_large_latest.h5"] {
        let file = open(name);
        for dataset in datasets(&file) {
            let Some(source) = dataset.chunks(&file).unwrap() else { continue };
            let Some(index) = &source.index else { continue };
            let stored = conformance::run(&file.container.store, index.as_ref(), source.grid.counts());
            let stored = stored.unwrap_or_else(|error| panic!("{name}, {:?}: {error}", index.kind()));
            *chunks_of.entry(index.kind()).or_default() += stored;
            let largest = largest_grid.entry(index.kind()).or_default();
            *largest = source.grid.chunk_count().unwrap().max(*largest);
        }
    }
    for kind in [
        ChunkIndexKind::BTreeV1,
        ChunkIndexKind::Single,
        ChunkIndexKind::Implicit,
        ChunkIndexKind::FixedArray,
        ChunkIndexKind::ExtensibleArray,
        ChunkIndexKind::BTreeV2,
    ] {
        assert!(chunks_of.get(&kind).is_some_and(|chunks| *chunks > 0), "no chunks under {kind:?}");
    }
    assert!(largest_grid[&ChunkIndexKind::FixedArray] > 1024, "no paged fixed array");
}
