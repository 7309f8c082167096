//! Tests of writes, resizes and reads against an array in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hyperslab_dataspace::{BoxPosition, ChunkGrid, Hyperslab, Points, RegularHyperslab, copy_box, scatter};
use hyperslab_filter::{FilterId, Pipeline, Stage};
use hyperslab_format::message::ChunkedLayout;
use proptest::prelude::*;

use super::*;
use crate::data::chunk_index::{AtChunk, BufferedTable, ChunkBox, ChunkIndex, ChunkIndexKind};
use crate::data::transfer::{FillElement, ReadContext, ReadTarget, Resources, Source as _};

/// A table of chunks in memory that the reading side shares.
#[derive(Debug, Clone, Default)]
pub(super) struct Table(Arc<Mutex<BTreeMap<Dims, ChunkLocation>>>);

impl ChunkTable for Table {
    fn get(&self, _: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        Ok(self.0.lock().unwrap().get(scaled).copied())
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }

    fn insert(&mut self, _: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()> {
        self.0.lock().unwrap().extend(chunks.iter().cloned());
        Ok(())
    }

    fn remove(&mut self, _: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        Ok(self.0.lock().unwrap().remove(scaled))
    }

    fn changed_layout(&self, _: &ChunkedLayout) -> Option<ChunkedLayout> {
        None
    }

    fn shift(&mut self, _: &mut Edit<'_>, axis: usize, count: i64) -> Result<()> {
        let mut chunks = self.0.lock().unwrap();
        *chunks = std::mem::take(&mut *chunks)
            .into_iter()
            .map(|(mut scaled, location)| {
                scaled[axis] = scaled[axis].checked_add_signed(count).unwrap();
                (scaled, location)
            })
            .collect();
        Ok(())
    }

    fn delete(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let chunks = std::mem::take(&mut *self.0.lock().unwrap());
        chunks
            .into_values()
            .try_for_each(|location| edit.free(SpaceKind::RawData, location.address, location.size))
    }

    fn for_each(&self, _: &Store, visit: &mut AtChunk<'_>) -> Result<()> {
        self.0.lock().unwrap().iter().try_for_each(|(scaled, location)| visit(scaled, *location))
    }
}

impl ChunkIndex for Table {
    fn kind(&self) -> ChunkIndexKind {
        ChunkIndexKind::BTreeV1
    }

    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        ChunkTable::get(self, store, scaled)
    }

    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        self.for_each(store, &mut |scaled, location| {
            if chunks.contains(scaled) { visit(scaled, location) } else { Ok(()) }
        })
    }

    fn bytes(&self, _: &Store) -> Result<u64> {
        Ok(0)
    }
}

/// An array in memory with the expected elements.
#[derive(Debug)]
struct Model {
    dims: Vec<u64>,
    bytes: Vec<u8>,
    fill: u8,
}

impl Model {
    fn resize(&mut self, dims: &[u64]) {
        let elements = usize::try_from(dims.iter().product::<u64>()).unwrap();
        let mut bytes = vec![self.fill; 2 * elements];
        let count: Vec<u64> = self.dims.iter().zip(dims).map(|(one, other)| *one.min(other)).collect();
        let zeros = vec![0; dims.len()];
        let from = BoxPosition { dims: &self.dims, start: &zeros };
        let to = BoxPosition { dims, start: &zeros };
        copy_box(&self.bytes, from, &mut bytes, to, &count, 2).unwrap();
        (self.dims, self.bytes) = (dims.to_vec(), bytes);
    }
}

#[derive(Debug, Clone)]
enum Step {
    Write(u8, Vec<(u64, u64, u64, u64)>),
    Resize(Vec<u64>),
    Flush,
    Allocate,
    Read,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let numbers = || proptest::collection::vec((0..100_u64, 1..4_u64, 1..4_u64, 1..6_u64), 3);
    let step = prop_oneof![
        6 => (0..5_u8, numbers()).prop_map(|(kind, numbers)| Step::Write(kind, numbers)),
        2 => proptest::collection::vec(0..12_u64, 2).prop_map(Step::Resize),
        1 => Just(Step::Flush),
        1 => Just(Step::Allocate),
        2 => Just(Step::Read),
    ];
    proptest::collection::vec(step, 1..25)
}

fn selection(dims: &[u64], kind: u8, numbers: &[(u64, u64, u64, u64)]) -> Selection {
    let mut slab = RegularHyperslab::region(&[], &[]);
    for (size, (at, a, b, c)) in dims.iter().zip(numbers) {
        let first = at % size;
        let wide = (*c).min(size - first);
        let step = wide + a - 1;
        slab.start.push(first);
        slab.stride.push(step);
        slab.count.push((*b).min((size - first - wide) / step + 1));
        slab.block.push(wide);
    }
    let slab = Selection::Hyperslab(Hyperslab::Regular(slab));
    match kind {
        0 => Selection::All,
        3 => {
            // One whole chunk, if the shape has space for one.
            let at = |size: u64, chunk: u64, number: u64| number % (size / chunk).max(1) * chunk;
            let start: Vec<u64> = dims
                .iter()
                .zip([3, 4])
                .zip(numbers)
                .map(|((size, chunk), (to, ..))| at(*size, chunk, *to))
                .collect();
            let count: Vec<u64> = dims.iter().zip([3, 4]).map(|(size, chunk)| chunk.min(*size)).collect();
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::region(&start, &count)))
        }
        1 => {
            let points = numbers.iter().flat_map(|(at, ..)| dims.iter().map(move |size| at % size));
            Selection::Points(Points { rank: dims.len(), coordinates: points.collect() })
        }
        2 => {
            let whole: Vec<u64> = dims.iter().map(|size| size.div_ceil(2)).collect();
            let zeros = vec![0; dims.len()];
            let corner = Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::region(&zeros, &whole)));
            corner.combine(hyperslab_dataspace::SetOperation::Xor, &slab, dims).unwrap()
        }
        _ => slab,
    }
}

fn read(writer: &ChunkWriter, store: &Store, resources: &Resources) -> Vec<u8> {
    let elements = usize::try_from(writer.source.grid.extent().iter().product::<u64>()).unwrap();
    let mut out = vec![0; 2 * elements];
    let context = ReadContext { store, resources };
    writer.source.read(context, &Selection::All, &mut ReadTarget::stored(&mut out, 2)).unwrap();
    out
}

fn run(steps: Vec<Step>, filtered: bool, edges_unfiltered: bool, fill: u8) {
    let store = crate::store::image::new_file(crate::LibverBounds::DEFAULT);
    let resources = Resources::new(1 << 20);
    let shared = Table::default();
    let mut table = BufferedTable::new(Box::new(shared.clone()));
    let stages = if filtered { vec![Stage::new(FilterId::DEFLATE, &[1])] } else { Vec::new() };
    let source = ChunkedSource {
        owner: Address::new(96),
        grid: ChunkGrid::new(&[3, 4], &[7, 9]).unwrap(),
        max_dims: [None, Some(100)].into_iter().collect(),
        element_size: 2,
        chunk_bytes: 24,
        index: Some(Arc::new(shared)),
        pipeline: Pipeline::new(stages),
        edges_unfiltered,
        fill: FillElement::element(&[fill, fill]),
    };
    let mut writer = ChunkWriter::new(source, 100);
    let mut model = Model { dims: vec![7, 9], bytes: vec![fill; 126], fill };
    let mut edit = store.edit().unwrap();
    let mut value = 0_u8;
    for step in steps {
        match step {
            Step::Write(kind, numbers) => {
                if model.dims.contains(&0) {
                    continue;
                }
                let selection = selection(&model.dims, kind, &numbers);
                let count = usize::try_from(selection.element_count(&model.dims).unwrap()).unwrap();
                let values: Vec<u8> =
                    (0..2 * count).map(|at| value.wrapping_add(u8::try_from(at % 256).unwrap())).collect();
                value = value.wrapping_add(101);
                let from = WriteSource::stored(&values, 2);
                writer.write(&mut edit, &mut table, &resources.chunks, &selection, &from).unwrap();
                scatter(&values, &mut model.bytes, &model.dims, &selection, 2).unwrap();
            }
            Step::Resize(dims) => {
                writer.resize(&mut edit, &mut table, &resources.chunks, &dims).unwrap();
                model.resize(&dims);
            }
            Step::Flush => writer.flush(&mut edit, &mut table, &resources.chunks).unwrap(),
            Step::Allocate => writer.allocate(&mut edit, &mut table, &resources.chunks, true).unwrap(),
            Step::Read => {
                writer.flush(&mut edit, &mut table, &resources.chunks).unwrap();
                table.flush(&mut edit).unwrap();
                assert_eq!(read(&writer, &store, &resources), model.bytes);
                edit.commit().unwrap();
            }
        }
        assert!(writer.unstored_bytes() <= 100);
    }
    // Partly written plain chunks never exceed the limit, even in the middle of a write.
    assert!(filtered || writer.dirty.peak_bytes() <= 100, "{}", writer.dirty.peak_bytes());
    writer.flush(&mut edit, &mut table, &resources.chunks).unwrap();
    table.flush(&mut edit).unwrap();
    edit.commit().unwrap();
    assert_eq!(writer.unstored_bytes(), 0);
    assert_eq!(read(&writer, &store, &resources), model.bytes);
}

proptest! {
    #[test]
    fn writes_and_resizes_do_what_an_array_does(
        steps in steps(),
        filtered in any::<bool>(),
        edges_unfiltered in any::<bool>(),
        fill in prop_oneof![Just(0_u8), Just(7)],
    ) {
        run(steps, filtered, edges_unfiltered, fill);
    }
}

/// A table that keeps its chunks in order and refuses some of them.
#[derive(Debug)]
struct Refusing {
    table: Table,
    /// The number of calls that succeed before one fails.
    remaining: Arc<Mutex<usize>>,
}

impl ChunkTable for Refusing {
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        ChunkTable::get(&self.table, store, scaled)
    }

    fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    fn is_ordered(&self) -> bool {
        true
    }

    fn insert(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()> {
        assert!(chunks.is_sorted_by(|(one, _), (next, _)| one < next));
        let mut remaining = self.remaining.lock().unwrap();
        let Some(fewer) = remaining.checked_sub(1) else {
            *remaining = usize::MAX;
            return Err(Error::Misuse("refused".into()));
        };
        *remaining = fewer;
        self.table.insert(edit, chunks)
    }

    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        self.table.remove(edit, scaled)
    }

    fn changed_layout(&self, before: &ChunkedLayout) -> Option<ChunkedLayout> {
        self.table.changed_layout(before)
    }

    fn shift(&mut self, edit: &mut Edit<'_>, axis: usize, count: i64) -> Result<()> {
        self.table.shift(edit, axis, count)
    }

    fn delete(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.table.delete(edit)
    }

    fn for_each(&self, store: &Store, visit: &mut AtChunk<'_>) -> Result<()> {
        self.table.for_each(store, visit)
    }
}

/// Checks that scattered locations come to the index in order, and stay dirty if the index refuses
/// them.
#[test]
fn locations_that_the_index_refuses_stay_dirty() {
    let store = crate::store::image::new_file(crate::LibverBounds::DEFAULT);
    let mut edit = store.edit().unwrap();
    let shared = Table::default();
    let remaining = Arc::new(Mutex::new(1));
    let refusing = Refusing { table: shared.clone(), remaining: Arc::clone(&remaining) };
    let mut table = BufferedTable::new(Box::new(refusing));
    let location = |number: u64| ChunkLocation { address: Address::new(number), size: 8, filter_mask: 0 };
    for batch in 0..50_u64 {
        let numbers = (0..200).map(|step| step * 50 + (batch * 7) % 50);
        let chunks: Vec<_> = numbers.map(|number| (Dims::from_slice(&[number]), location(number))).collect();
        table.insert(&mut edit, &chunks).unwrap();
    }
    assert!(shared.is_empty(), "all of them wait");
    assert!(table.flush(&mut edit).is_err());
    assert!(table.is_dirty() && !shared.is_empty());
    let found =
        |table: &BufferedTable| (0..10_000).all(|at| table.get(&store, &[at]).unwrap() == Some(location(at)));
    assert!(found(&table));
    table.flush(&mut edit).unwrap();
    assert!(!table.is_dirty() && found(&table));
    assert_eq!(shared.0.lock().unwrap().len(), 10_000);
}
