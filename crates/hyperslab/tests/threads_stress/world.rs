//! The datasets that threads share, and what threads do to them.

use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::{Dataset, File, Region, Selection};

use crate::history::{Added, FILL, History, LogSight, Sight, Write};

/// The number of elements of a cell. A cell is read and written as a whole.
const CELL: u64 = 256;
/// The number of datasets with cells. They precede the attributes.
const DATASETS: usize = 7;
/// The number of attributes that the threads set.
const ATTRIBUTES: usize = 2;
/// The number of datasets that grow.
pub(crate) const LOGS: usize = 3;
/// The dataset that is resized.
const TIDE: usize = 5;
const CELLS: u64 = 62;

/// The properties of a shared dataset or attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) cells_per_chunk: u64,
    pub(crate) is_resized: bool,
}

pub(crate) struct World {
    pub(crate) file: File,
    pub(crate) seed: u64,
    /// Ticks before and after each operation.
    clock: AtomicU64,
}

impl World {
    pub(crate) fn new(file: File, seed: u64) -> Self {
        for number in 0..DATASETS {
            let cells = shape(number).cells_per_chunk;
            let dataset = file.new_dataset(&format!("data {number}")).of::<u64>().fill(FILL);
            let dataset = dataset.shape(&[CELLS * CELL]);
            let dataset = if cells > CELLS { dataset } else { dataset.chunks(&[cells * CELL]) };
            let dataset = match number {
                0 | TIDE => dataset.deflate(1),
                1 => dataset.shuffle().deflate(1),
                6 => dataset.filter(hyperslab::filter::FilterSpec::lzf()),
                _ => dataset,
            };
            if number == TIDE { dataset.unlimited() } else { dataset }.create().unwrap();
        }
        for log in 0..LOGS {
            let dataset = file.new_dataset(&format!("log {log}")).of::<u64>().shape(&[0]).unlimited();
            let dataset = dataset.chunks(&[[512, 512, 16384][log]]);
            if log == 1 { dataset } else { dataset.deflate(1) }.create().unwrap();
        }
        for attribute in 0..ATTRIBUTES {
            file.set_attribute(&format!("attribute {attribute}"), FILL).unwrap();
        }
        Self { file, seed, clock: AtomicU64::new(1) }
    }

    /// Opens the same file again.
    pub(crate) fn again(file: File) -> Self {
        Self { file, seed: 0, clock: AtomicU64::new(1) }
    }

    pub(crate) fn shapes(&self) -> Vec<Shape> {
        (0..DATASETS + ATTRIBUTES).map(shape).collect()
    }

    fn data(&self, number: usize) -> Dataset {
        self.file.dataset(&format!("data {number}")).unwrap()
    }

    fn log(&self, number: usize) -> Dataset {
        self.file.dataset(&format!("log {number}")).unwrap()
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    /// Reads all elements of all datasets.
    pub(crate) fn contents(&self) -> Vec<Vec<u64>> {
        let datasets = (0..DATASETS).map(|number| self.data(number));
        let all = datasets.chain((0..LOGS).map(|log| self.log(log)));
        all.map(|dataset| dataset.read_raw(..).unwrap()).collect()
    }
}

fn shape(place: usize) -> Shape {
    let cells_per_chunk = match place {
        0 | TIDE => 4,
        1 => 8,
        2 => 2,
        // Chunks that one write covers completely.
        3 => 32,
        6 => 1,
        // The dataset has one chunk.
        _ => u64::MAX,
    };
    Shape { cells_per_chunk, is_resized: place == TIDE }
}

/// One thread.
pub(crate) struct Worker<'a> {
    world: &'a World,
    thread: u64,
    numbers: u64,
    count: u64,
    own: Vec<(String, u64)>,
    pub(crate) history: History,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(world: &'a World, thread: u64, seed: u64) -> Self {
        let numbers = (seed << 8 | thread | 1 << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { world, thread, numbers, count: 0, own: Vec::new(), history: History::default() }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.numbers ^= self.numbers << 13;
        self.numbers ^= self.numbers >> 7;
        self.numbers ^= self.numbers << 17;
        (self.numbers >> 11) % limit.max(1)
    }

    /// Returns a number that no other write uses.
    fn tag(&mut self) -> u64 {
        self.count += 1;
        self.thread << 32 | self.count
    }

    pub(crate) fn step(&mut self) {
        match self.below(40) {
            0..16 => self.write(),
            16..26 => self.look(),
            26..30 => self.add(),
            30 => self.read_log(),
            31 => self.resize(),
            32 | 33 => self.set_attribute(),
            34 => self.look_at_attribute(),
            35 => self.make(),
            36 => self.unmake(),
            37 => self.write_all(),
            38 => self.read_all(),
            _ => self.world.file.flush().unwrap(),
        }
    }

    /// Returns some cells: mostly a few, and often the cells of whole chunks.
    fn cells(&mut self, place: usize) -> std::ops::Range<u64> {
        let per_chunk = shape(place).cells_per_chunk.min(CELLS);
        let first = self.below(CELLS);
        if self.below(2) == 0 {
            let first = first - first % per_chunk;
            return first..(first + per_chunk * (1 + self.below(4))).min(CELLS);
        }
        first..(first + 1 + self.below(6)).min(CELLS)
    }

    fn region(cells: &std::ops::Range<u64>) -> Region {
        Region {
            start: vec![cells.start * CELL].into(),
            count: vec![(cells.end - cells.start) * CELL].into(),
        }
    }

    fn write(&mut self) {
        let place = self.below(DATASETS as u64) as usize;
        let (cells, tag) = (self.cells(place), self.tag());
        let dataset = self.world.data(place);
        let elements = vec![tag; ((cells.end - cells.start) * CELL) as usize];
        let begin = self.world.now();
        let written = match self.below(3) {
            // The read converts the elements.
            0 => {
                let converted: Vec<f64> = elements.iter().map(|element| *element as f64).collect();
                dataset.write(Self::region(&cells), &converted)
            }
            _ => dataset.write(Self::region(&cells), &elements),
        };
        let end = if written.is_ok() { self.world.now() } else { u64::MAX };
        assert!(place == TIDE || written.is_ok(), "{written:?}");
        self.history.writes.push(Write { place, cells, tag, begin, end });
    }

    fn write_all(&mut self) {
        let place = self.below(DATASETS as u64) as usize;
        if place == TIDE {
            return;
        }
        let tag = self.tag();
        let begin = self.world.now();
        self.world.data(place).write(.., &vec![tag; (CELLS * CELL) as usize]).unwrap();
        let end = self.world.now();
        self.history.writes.push(Write { place, cells: 0..CELLS, tag, begin, end });
    }

    fn see(&mut self, place: usize, first: u64, elements: &[u64], begin: u64) {
        let end = self.world.now();
        let tags = elements.chunks(CELL as usize).map(|cell| {
            assert!(cell.iter().all(|element| *element == cell[0]), "a cell of {place} is torn");
            cell[0]
        });
        let tags = tags.collect();
        self.history.sights.push(Sight { place, first, tags, begin, end });
    }

    fn look(&mut self) {
        let place = self.below(DATASETS as u64) as usize;
        let cells = self.cells(place);
        let dataset = self.world.data(place);
        let begin = self.world.now();
        let read = dataset.read_raw::<u64>(&Selection::region(&Self::region(&cells)));
        match read {
            Ok(elements) => self.see(place, cells.start, &elements, begin),
            Err(error) => assert_eq!(place, TIDE, "{error}"),
        }
    }

    fn read_all(&mut self) {
        let place = self.below(DATASETS as u64) as usize;
        let begin = self.world.now();
        let elements = self.world.data(place).read_raw(..).unwrap();
        self.see(place, 0, &elements, begin);
    }

    fn add(&mut self) {
        let log = self.below(LOGS as u64) as usize;
        let length = match self.below(3) {
            0 => 1 + self.below(100),
            1 => 512,
            _ => 1 + self.below(3000),
        };
        let tag = self.tag();
        let begin = self.world.now();
        self.world.log(log).append(0, &vec![tag; length as usize]).unwrap();
        let end = self.world.now();
        self.history.added.push(Added { log, tag, length, begin, end });
    }

    fn read_log(&mut self) {
        let log = self.below(LOGS as u64) as usize;
        self.look_at_log(log);
    }

    fn look_at_log(&mut self, log: usize) {
        let begin = self.world.now();
        let elements: Vec<u64> = self.world.log(log).read_raw(..).unwrap();
        let end = self.world.now();
        let runs = elements.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)).collect();
        self.history.logs.push(LogSight { log, runs, begin, end });
    }

    fn resize(&mut self) {
        let cells = 1 + self.below(CELLS);
        let begin = self.world.now();
        self.world.data(TIDE).resize(&[cells * CELL]).unwrap();
        let end = self.world.now();
        self.history.writes.push(Write { place: TIDE, cells: cells..u64::MAX, tag: FILL, begin, end });
    }

    fn set_attribute(&mut self) {
        let (attribute, tag) = (self.below(ATTRIBUTES as u64) as usize, self.tag());
        let begin = self.world.now();
        self.world.file.set_attribute(&format!("attribute {attribute}"), tag).unwrap();
        let end = self.world.now();
        self.history.writes.push(Write { place: DATASETS + attribute, cells: 0..1, tag, begin, end });
    }

    fn look_at_attribute(&mut self) {
        let attribute = self.below(ATTRIBUTES as u64) as usize;
        let begin = self.world.now();
        let name = format!("attribute {attribute}");
        let value = self.world.file.attribute(&name).unwrap().read_scalar::<u64>().unwrap();
        self.see(DATASETS + attribute, 0, &[value], begin);
    }

    fn make(&mut self) {
        let (tag, length) = (self.tag(), 300 + self.below(5000));
        let name = format!("own/{}/{tag}", self.thread);
        let dataset = self.world.file.new_dataset(&name).of::<u64>().shape(&[length]).chunks(&[300]);
        let dataset = if tag % 2 == 0 { dataset.deflate(1) } else { dataset };
        dataset.create().unwrap().write(.., &vec![tag; length as usize]).unwrap();
        self.own.push((name, tag));
    }

    fn unmake(&mut self) {
        if self.own.is_empty() {
            return;
        }
        let at = self.below(self.own.len() as u64) as usize;
        let (name, tag) = self.own.swap_remove(at);
        let elements = self.world.file.dataset(&name).unwrap().read_raw::<u64>(..).unwrap();
        assert!(elements.iter().all(|element| *element == tag), "{name}");
        self.world.file.remove(&name).unwrap();
    }

    /// Reads all cells, attributes and logs.
    pub(crate) fn look_at_all(&mut self) {
        for place in 0..DATASETS {
            let begin = self.world.now();
            let elements = self.world.data(place).read_raw(..).unwrap();
            self.see(place, 0, &elements, begin);
        }
        (0..LOGS).for_each(|log| self.look_at_log(log));
        for _ in 0..8 {
            self.look_at_attribute();
        }
    }
}
