//! Tests of concurrent writes under many orders of steps: no written element is lost.

use std::collections::BTreeMap;

use hyperslab_dataspace::{ChunkGrid, RegularHyperslab};
use hyperslab_filter::{FilterId, Pipeline, Stage};
use shuttle::sync::{Arc, Mutex, RwLock};
use shuttle::thread;

use super::tests::Table;
use super::*;
use crate::data::chunk_index::BufferedTable;
use crate::data::transfer::{FillElement, ReadContext, ReadTarget, Resources, Source as _};

const CHUNK_ELEMENTS: u64 = 4;
const DATASET_ELEMENTS: u64 = 10;

/// A model of a chunked dataset in a concurrency test. Each step of a write takes a lock, and other
/// threads may run between two steps.
struct Model {
    store: Store,
    resources: Resources,
    /// The lock of the file: exclusive to change it, shared to read its structure.
    file: RwLock<()>,
    writer: Mutex<(ChunkWriter, BufferedTable)>,
}

impl ChunkAccess for Model {
    fn writer<T>(
        &self,
        work: impl FnOnce(&mut ChunkWriter, &dyn ChunkTable) -> Result<T>,
    ) -> Result<Option<T>> {
        let (writer, table) = &mut *self.writer.lock().unwrap();
        work(writer, table).map(Some)
    }

    fn reading<T>(&self, work: impl FnOnce(&ChunkCache) -> Result<T>) -> Result<T> {
        let _reading = self.file.read().unwrap();
        work(&self.resources.chunks)
    }

    fn edit<T>(
        &self,
        work: impl FnOnce(&mut ChunkWriter, &mut ChunkWriting<'_, '_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let _alone = self.file.write().unwrap();
        let mut edit = self.store.edit()?;
        let (writer, table) = &mut *self.writer.lock().unwrap();
        let cache = &self.resources.chunks;
        work(writer, &mut ChunkWriting { edit: &mut edit, table, cache }).map(Some)
    }

    fn store(&self) -> &Store {
        &self.store
    }
}

impl Model {
    fn new() -> Self {
        let table = Table::default();
        let source = ChunkedSource {
            owner: Address::new(96),
            grid: ChunkGrid::new(&[CHUNK_ELEMENTS], &[DATASET_ELEMENTS]).unwrap(),
            max_dims: [Some(DATASET_ELEMENTS)].into_iter().collect(),
            element_size: 1,
            chunk_bytes: usize::try_from(CHUNK_ELEMENTS).unwrap(),
            index: Some(std::sync::Arc::new(table.clone())),
            pipeline: Pipeline::new(vec![Stage::new(FilterId::DEFLATE, &[1])]),
            edges_unfiltered: false,
            fill: FillElement::ZERO,
        };
        // The limit is less than three chunks.
        let writer = (ChunkWriter::new(source, 8), BufferedTable::new(Box::new(table)));
        Self {
            store: crate::store::image::new_file(crate::LibverBounds::DEFAULT),
            resources: Resources::new(1 << 20),
            file: RwLock::new(()),
            writer: Mutex::new(writer),
        }
    }

    fn write(&self, start: u64, count: u64, value: u8) {
        let source = self.writer(|writer, _| Ok(std::sync::Arc::clone(&writer.source))).unwrap().unwrap();
        let selection =
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::region(&[start], &[count])));
        let values = vec![value; usize::try_from(count).unwrap()];
        let from = WriteSource::stored(&values, 1);
        assert_eq!(write_concurrently(self, &source, &selection, &from).unwrap(), Progress::Done);
    }

    /// Writes elements of the model dataset with exclusive access during the whole write.
    fn write_alone(&self, start: u64, count: u64, value: u8) {
        let selection =
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::region(&[start], &[count])));
        let values = vec![value; usize::try_from(count).unwrap()];
        let write = |writer: &mut ChunkWriter, writing: &mut ChunkWriting<'_, '_>| {
            writer.outdate_fetched();
            writer.write_from(writing, &selection, 0, &WriteSource::stored(&values, 1))
        };
        self.edit(write).unwrap().unwrap();
    }

    fn read(&self) -> Vec<u8> {
        let mut out = vec![0; usize::try_from(DATASET_ELEMENTS).unwrap()];
        let read = |writer: &mut ChunkWriter, writing: &mut ChunkWriting<'_, '_>| {
            writer.outdate_fetched();
            writer.flush_dirty(writing, Due::All)?;
            writing.table.flush(writing.edit)?;
            let context = ReadContext { store: &self.store, resources: &self.resources };
            writer.source.read(context, &Selection::All, &mut ReadTarget::stored(&mut out, 1))
        };
        self.edit(read).unwrap().unwrap();
        out
    }
}

/// The steps of one thread in a concurrency test: a start, a count, and whether the step has
/// exclusive access. A step with the count 0 is a flush, and every other step is a write.
type Steps = &'static [(u64, u64, bool)];

/// Runs the threads of a concurrency test in all orders that a random walk finds. Checks each
/// element: its final value must be the value that some thread wrote last.
fn check(threads: &'static [Steps]) {
    let run = move || {
        let model = Arc::new(Model::new());
        let mut last: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        let mut running = Vec::new();
        for (number, steps) in (0..).zip(threads) {
            let mut own = BTreeMap::new();
            let value = move |step: usize| u8::try_from(16 * (number + 1) + step).unwrap();
            for (step, (start, count, _)) in steps.iter().enumerate() {
                (*start..start + count).for_each(|at| _ = own.insert(at, value(step)));
            }
            own.iter().for_each(|(at, value)| last.entry(*at).or_default().push(*value));
            let model = Arc::clone(&model);
            running.push(thread::spawn(move || {
                for (step, (start, count, alone)) in steps.iter().enumerate() {
                    match (*count, alone) {
                        (0, true) => flush_concurrently(&*model, Due::All).unwrap(),
                        (0, false) => flush_concurrently(&*model, Due::Oldest { keep: 0 }).unwrap(),
                        (count, true) => model.write_alone(*start, count, value(step)),
                        (count, false) => model.write(*start, count, value(step)),
                    }
                }
            }));
        }
        running.into_iter().for_each(|thread| thread.join().unwrap());
        for (at, value) in model.read().into_iter().enumerate() {
            let allowed = last.get(&(at as u64)).cloned().unwrap_or_else(|| vec![0]);
            assert!(allowed.contains(&value), "element {at} is {value:#x}, not one of {allowed:x?}");
        }
    };
    shuttle::check_random(run, 600);
    shuttle::check_pct(run, 200, 3);
}

#[test]
fn threads_write_parts_of_one_chunk() {
    check(&[&[(0, 1, false), (0, 1, false)], &[(1, 2, false)], &[(3, 1, false), (0, 0, true)]]);
}

#[test]
fn threads_write_whole_chunks_and_parts_of_them() {
    check(&[
        &[(0, 4, false), (1, 1, false)],
        &[(2, 2, false), (0, 0, true)],
        &[(0, 0, false), (3, 3, false)],
    ]);
}

#[test]
fn more_chunks_than_the_limit_are_written() {
    check(&[&[(0, 1, false), (4, 1, false), (8, 1, false)], &[(1, 1, false), (5, 1, false), (9, 1, false)]]);
}

#[test]
fn other_threads_hold_exclusive_access() {
    check(&[&[(0, 2, false), (1, 1, false)], &[(2, 1, true), (0, 0, true)], &[(3, 4, true), (6, 1, false)]]);
}
