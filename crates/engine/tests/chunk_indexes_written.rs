//! Tests of every kind of chunk index, created and changed by hyperslab and libhdf5 in turns.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test a panic is the report"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use hyperslab_dataspace::{Dataspace, Dims, Hyperslab, RegularHyperslab, Selection};
use hyperslab_datatype::{ByteOrder, CharacterSet, Datatype};
use hyperslab_engine::data::chunk_index::{ChunkIndexKind, conformance};
use hyperslab_engine::data::transfer::WriteSource;
use hyperslab_engine::format::{AllocationTime, FillWriteTime};
use hyperslab_engine::object::dataset::{FillDescription, StoredFillValue};
use hyperslab_engine::object::group_edit::{self, GroupOptions};
use hyperslab_engine::object::header::ObjectHeader;
use hyperslab_engine::object::header_edit::NewHeader;
use hyperslab_engine::object::link::{Link, LinkTarget};
use hyperslab_engine::ops::{NewDataset, NewLayout, OpenDataset, OpenFile, WriteTo};
use hyperslab_engine::store::{CreateOptions, StoreOptions};
use hyperslab_engine::{Address, LibraryVersion, LibverBounds};
use hyperslab_filter::{FilterId, Pipeline, Stage};
use hyperslab_testkit::referee;
use hyperslab_vfd::{Access, Sec2};

/// A dataset and its changes.
#[derive(Debug, Clone)]
struct Case {
    kind: ChunkIndexKind,
    bounds: LibverBounds,
    dims: [u64; 2],
    max_dims: [Option<u64>; 2],
    chunk: [u64; 2],
    filtered: bool,
    early: bool,
}

fn bounds(low: LibraryVersion) -> LibverBounds {
    LibverBounds::new(low, LibraryVersion::LATEST).unwrap()
}

fn cases() -> Vec<Case> {
    use ChunkIndexKind as Kind;
    let mut cases = Vec::new();
    for filtered in [false, true] {
        let mut add = |kind, bounds, dims, max_dims, chunk, early| {
            cases.push(Case { kind, bounds, dims, max_dims, chunk, filtered, early });
        };
        let fixed = [Some(300), Some(60)];
        for old in [LibverBounds::EARLIEST, bounds(LibraryVersion::V18)] {
            add(Kind::BTreeV1, old, [60, 40], [None, Some(60)], [1, 2], false);
            add(Kind::BTreeV1, old, [30, 40], [None, None], [2, 3], filtered);
        }
        for new in [bounds(LibraryVersion::V110), LibverBounds::LATEST] {
            add(Kind::Single, new, [10, 20], [Some(10), Some(20)], [10, 20], false);
            add(Kind::FixedArray, new, [10, 12], [Some(10), Some(12)], [3, 5], false);
            add(Kind::FixedArray, new, [60, 40], fixed, [1, 2], false);
            add(Kind::ExtensibleArray, new, [60, 40], [None, Some(60)], [1, 2], false);
            add(Kind::ExtensibleArray, new, [30, 60], [Some(31), None], [3, 2], filtered);
            add(Kind::BTreeV2, new, [60, 40], [None, None], [1, 2], false);
            add(Kind::BTreeV2, new, [30, 40], [None, None], [2, 3], true);
            if !filtered {
                add(Kind::Implicit, new, [30, 40], fixed, [2, 3], true);
            }
        }
    }
    cases
}

impl Case {
    fn name(&self) -> String {
        let mut name = format!("{:?}-{}", self.kind, self.bounds.low().name());
        for (size, max) in self.dims.iter().zip(self.max_dims) {
            write!(name, "-{size}of{}", max.map_or("any".into(), |max| max.to_string())).unwrap();
        }
        write!(name, "-{}{}", if self.filtered { "f" } else { "p" }, if self.early { "e" } else { "l" })
            .unwrap();
        name
    }

    fn new_dataset(&self) -> NewDataset {
        let early = if self.early { AllocationTime::EARLY } else { AllocationTime::INCREMENTAL };
        let stages = if self.filtered { vec![Stage::new(FilterId::DEFLATE, &[4])] } else { Vec::new() };
        NewDataset {
            datatype: Datatype::u16(ByteOrder::LittleEndian),
            committed: None,
            dataspace: Dataspace::extendible(&self.dims, &self.max_dims).unwrap(),
            layout: NewLayout::Chunked { chunk: Dims::from_slice(&self.chunk), edges_unfiltered: false },
            pipeline: Pipeline::new(stages),
            section_pipelines: Vec::new(),
            fill: FillDescription {
                value: StoredFillValue::Default,
                write_time: FillWriteTime::IF_SET,
                allocation_time: early,
            },
            header: NewHeader::default(),
        }
    }

    /// Returns the successive shapes of the dataset, as far as its maximum shape allows.
    fn stages(&self) -> [[u64; 2]; 4] {
        let [rows, columns] = self.dims;
        [[rows, columns], [rows * 2, columns + 7], [rows / 2 + 1, columns / 2 + 2], [rows * 3, columns + 30]]
            .map(|wanted| {
                let mut sizes = wanted;
                for (size, max) in sizes.iter_mut().zip(self.max_dims) {
                    *size = (*size).min(max.unwrap_or(u64::MAX));
                }
                sizes
            })
    }
}

/// The expected elements of the dataset: an array of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Model {
    dims: [u64; 2],
    values: Vec<u16>,
}

fn value(row: u64, column: u64, round: u64) -> u16 {
    u16::try_from((row * 131 + column * 7 + round * 1009) % 60_000 + 1).unwrap()
}

impl Model {
    fn new(dims: [u64; 2]) -> Self {
        Self { dims, values: vec![0; usize::try_from(dims[0] * dims[1]).unwrap()] }
    }

    fn at(&mut self, row: u64, column: u64) -> &mut u16 {
        &mut self.values[usize::try_from(row * self.dims[1] + column).unwrap()]
    }

    fn resize(&mut self, dims: [u64; 2]) {
        let mut new = Self::new(dims);
        for row in 0..dims[0].min(self.dims[0]) {
            for column in 0..dims[1].min(self.dims[1]) {
                *new.at(row, column) = *self.at(row, column);
            }
        }
        *self = new;
    }

    fn write(&mut self, [start, count]: [[u64; 2]; 2], round: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for row in start[0]..start[0] + count[0] {
            for column in start[1]..start[1] + count[1] {
                let value = value(row, column, round);
                *self.at(row, column) = value;
                bytes.extend(value.to_le_bytes());
            }
        }
        bytes
    }

    fn bytes(&self) -> Vec<u8> {
        self.values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }
}

/// Returns the boxes that round `round` writes: single rows in descending order, then blocks, then
/// columns. Many elements stay unwritten.
fn boxes(dims: [u64; 2], round: u64) -> Vec<[[u64; 2]; 2]> {
    let [rows, columns] = dims;
    let mut boxes: Vec<_> =
        (0..rows / 4).rev().map(|row| [[row * 2 + round % 2, 0], [1, columns * 2 / 3]]).collect();
    boxes.push([[rows / 2, columns / 3], [rows / 3, columns / 2]]);
    boxes.extend((0..3).map(|at| [[rows / 5, (at * 5 + round) % columns], [rows * 4 / 5, 1]]));
    boxes
}

fn open(path: &Path, write: bool) -> Arc<OpenFile> {
    let access = if write { Access::ReadWrite } else { Access::ReadOnly };
    let options = StoreOptions { write: write.then_some(LibverBounds::LATEST), ..StoreOptions::default() };
    Arc::new(OpenFile::open(Arc::new(Sec2::open(path, access).unwrap()), options).unwrap())
}

fn dataset(file: &Arc<OpenFile>) -> (Address, OpenDataset) {
    let root = ObjectHeader::load(&file.container.store, file.root()).unwrap();
    let link = hyperslab_engine::object::group::find(&file.container, &root, b"x").unwrap().unwrap();
    let LinkTarget::Hard(address) = link.target else { panic!("{link:?}") };
    let header = ObjectHeader::load(&file.container.store, address).unwrap();
    (address, OpenDataset::open(file, &header).unwrap())
}

fn create(path: &Path, case: &Case) {
    let driver = Arc::new(Sec2::open(path, Access::Truncate).unwrap());
    let options = StoreOptions { write: Some(case.bounds), ..StoreOptions::default() };
    let file =
        OpenFile::create(driver, &CreateOptions::default(), &GroupOptions::default(), options).unwrap();
    let mut edit = file.container.store.edit().unwrap();
    let address = file.create_dataset(&mut edit, &case.new_dataset()).unwrap();
    // The header already counts this link.
    let target = LinkTarget::Hard(address);
    let link = Link { name: b"x".to_vec(), charset: CharacterSet::Ascii, creation_order: None, target };
    group_edit::insert_link(&file.container, &mut edit, file.root(), &link).unwrap();
    drop(edit);
    file.flush().unwrap();
}

/// Changes the dataset with hyperslab.
fn change(path: &Path, model: &mut Model, dims: [u64; 2], round: u64) {
    let file = open(path, true);
    let (address, _) = dataset(&file);
    let mut edit = file.container.store.edit().unwrap();
    if dims != model.dims {
        file.resize_dataset(&mut edit, address, &dims).unwrap();
        model.resize(dims);
    }
    for [start, count] in boxes(dims, round) {
        let bytes = model.write([start, count], round);
        let selection = Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab {
            start: Dims::from_slice(&start),
            stride: Dims::from_slice(&[1, 1]),
            count: Dims::from_slice(&count),
            block: Dims::from_slice(&[1, 1]),
        }));
        file.write_elements_with(
            &mut edit,
            WriteTo::Own(address),
            &selection,
            &WriteSource::stored(&bytes, 2),
        )
        .unwrap();
    }
    drop(edit);
    file.flush().unwrap();
}

/// Checks the shape and the elements of the dataset with hyperslab.
fn check(path: &Path, model: &Model, case: &Case) {
    let file = open(path, false);
    let (_, dataset) = dataset(&file);
    assert!(dataset.read(&file, &Selection::All).unwrap() == model.bytes(), "{}", case.name());
    let source = dataset.chunks(&file).unwrap().unwrap();
    let index = source.index.as_ref().unwrap();
    assert_eq!(index.kind(), case.kind);
    let run = conformance::run(&file.container.store, index.as_ref(), source.grid.counts());
    run.unwrap_or_else(|error| panic!("{}: {error}", case.name()));
}

const CHANGE: &str = r"
import h5py, numpy as np, sys, json
def value(rows, columns, round):
    return ((rows * 131 + columns * 7 + round * 1009) % 60000 + 1).astype('u2')
job = json.load(open(sys.argv[1]))
for path, kind, values, dims, boxes, round in job:
    with h5py.File(path, 'r+') as f:
        d = f['x']
        found = d[...].ravel()
        expected = np.fromfile(values, dtype='<u2')
        assert found.shape == expected.shape and (found == expected).all(), (path, 'other values', np.nonzero(found != expected))
        assert d.id.get_num_chunks() > 0
        for n in range(0, d.id.get_num_chunks(), 97):
            d.id.get_chunk_info(n)
        if dims is not None:
            if list(d.shape) != dims:
                d.resize(dims)
            for (r, c), (nr, nc) in boxes:
                rows, columns = np.mgrid[r:r+nr, c:c+nc]
                d[r:r+nr, c:c+nc] = value(rows, columns, round)
";

/// Changes and checks the dataset with libhdf5.
fn referee_changes(
    judge: &referee::Referee,
    directory: &Path,
    work: &mut [(Case, Model)],
    stage: Option<(usize, u64)>,
) {
    let mut jobs = Vec::new();
    for (case, model) in work.iter_mut() {
        let values = directory.join(format!("{}.values", case.name()));
        std::fs::write(&values, model.bytes()).unwrap();
        let (mut dims, mut all, mut round) = ("null".to_owned(), Vec::new(), 0);
        if let Some((stage, at)) = stage {
            let to = case.stages()[stage];
            model.resize(to);
            all = boxes(to, at);
            for part in &all {
                model.write(*part, at);
            }
            (dims, round) = (format!("{to:?}"), at);
        }
        let path = directory.join(format!("{}.h5", case.name()));
        let kind = case.kind;
        jobs.push(format!("[{path:?}, \"{kind:?}\", {values:?}, {dims}, {all:?}, {round}]"));
    }
    let list = directory.join("jobs.json");
    std::fs::write(&list, format!("[{}]", jobs.join(","))).unwrap();
    judge.run_script(CHANGE, [&list]).unwrap();
}

#[test]
fn libhdf5_and_hyperslab_read_and_change_the_chunks_of_each_other() {
    let judge = referee::python();
    let directory = tempfile::tempdir().unwrap();
    let mut work: Vec<(Case, Model)> =
        cases().into_iter().map(|case| (case.clone(), Model::new(case.dims))).collect();
    let path = |case: &Case| directory.path().join(format!("{}.h5", case.name()));
    for (case, model) in &mut work {
        create(&path(case), case);
        change(&path(case), model, case.dims, 1);
        check(&path(case), model, case);
    }
    for round in [2, 3, 4, 5] {
        // The sizes grow, shrink and grow again; both libraries do each step.
        let stage = usize::try_from(round % 4).unwrap();
        let (ours, theirs) = (stage, (stage + 1) % 4);
        if let Some(judge) = &judge {
            referee_changes(judge, directory.path(), &mut work, Some((theirs, round)));
        }
        for (case, model) in &mut work {
            if judge.is_some() {
                check(&path(case), model, case);
            }
            change(&path(case), model, case.stages()[ours], round + 10);
            check(&path(case), model, case);
        }
    }
    if let Some(judge) = &judge {
        referee_changes(judge, directory.path(), &mut work, None);
    }
}
