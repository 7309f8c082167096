//! Partly written chunks stay in memory until they are complete. The tests check when the chunks
//! are encoded, and their state if encoding fails.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hyperslab::filter::{Filter, FilterContext, FilterError, FilterId, FilterSpec, Produced, Registry};
use hyperslab::{Dataset, File, FileOptions, IxDyn, Region, s};

const NUMBER: FilterId = FilterId(300);

/// A filter that does not change bytes, counts the chunks, and fails on request.
#[derive(Debug, Default)]
struct Counting {
    encoded: AtomicUsize,
    decoded: AtomicUsize,
    fails: AtomicBool,
}

impl Filter for Counting {
    fn id(&self) -> FilterId {
        NUMBER
    }

    fn decode(&self, _: &FilterContext<'_>, input: &[u8], _: &mut Vec<u8>) -> Result<Produced, FilterError> {
        self.decoded.fetch_add(1, Ordering::Relaxed);
        Ok(Produced::Input(0..input.len()))
    }

    fn encode(&self, _: &FilterContext<'_>, input: &[u8], _: &mut Vec<u8>) -> Result<Produced, FilterError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(FilterError::corrupt(NUMBER, "it was told to fail"));
        }
        self.encoded.fetch_add(1, Ordering::Relaxed);
        Ok(Produced::Input(0..input.len()))
    }

    fn encoded_length(&self, _: &FilterContext<'_>, input: usize) -> Option<usize> {
        Some(input)
    }

    fn compresses(&self) -> bool {
        false
    }
}

/// Creates a dataset of `rows` rows of 1024 numbers, in chunks of 64 KiB.
fn dataset(options: FileOptions, rows: u64) -> (File, Dataset, Arc<Counting>) {
    let filter = Arc::new(Counting::default());
    let mut filters = Registry::default();
    filters.register(Arc::clone(&filter) as _);
    let file = options.filters(filters).create_in_memory().unwrap();
    let dataset = file.new_dataset("d").of::<i32>().shape(&[rows, 1024]).unlimited().chunks(&[16, 1024]);
    let dataset = dataset.filter(FilterSpec::custom(NUMBER, 0, [], None)).create().unwrap();
    (file, dataset, filter)
}

fn write(dataset: &Dataset, row: u64, rows: u64, value: i32) {
    let region = Region::new(&[row, 0], &[rows, 1024]).unwrap();
    dataset.write(&region, &vec![value; usize::try_from(rows).unwrap() * 1024]).unwrap();
}

#[test]
fn a_shape_is_known_without_encoding() {
    let (file, dataset, filter) = dataset(FileOptions::new(), 40);
    let encoded = || filter.encoded.load(Ordering::Relaxed);
    write(&dataset, 0, 8, 1);
    assert_eq!((dataset.shape(), dataset.ndim()), (vec![40, 1024], 2));
    write(&dataset, 16, 8, 2);
    dataset.write(s![8..12, ..], &ndarray::Array2::from_elem((4, 1024), 3)).unwrap();
    assert!(dataset.write(s![40..44, ..], &ndarray::Array2::from_elem((4, 1024), 3)).is_err());
    assert_eq!(encoded(), 0);
    // Reads return the written elements, also from dirty chunks.
    assert_eq!(dataset.read::<i32, IxDyn>(s![.., 0]).unwrap().sum(), 8 + 16 + 12);
    assert_eq!(encoded(), 2);
    write(&dataset, 12, 4, 4);
    dataset.resize(&[48, 1024]).unwrap();
    assert_eq!(dataset.shape(), [48, 1024]);
    file.flush().unwrap();
    assert_eq!(file.dataset("d").unwrap().shape(), [48, 1024]);
    assert_eq!(dataset.read::<i32, IxDyn>(s![.., 1023]).unwrap().sum(), 8 + 16 + 12 + 16);
}

#[test]
fn a_failed_encoding_is_repeated() {
    let (file, dataset, filter) = dataset(FileOptions::new(), 64);
    for row in [0, 20, 40] {
        write(&dataset, row, 4, 7);
    }
    filter.fails.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        let error = file.flush().unwrap_err();
        assert!(format!("{error:?}").contains("told to fail"), "{error}");
        assert!(dataset.read_raw::<i32>(..).is_err());
    }
    filter.fails.store(false, Ordering::Relaxed);
    assert_eq!(dataset.read_raw::<i32>(..).unwrap().iter().filter(|value| **value == 7).count(), 12 * 1024);
    file.flush().unwrap();
    assert_eq!(filter.encoded.load(Ordering::Relaxed), 3);
}

/// The dirty bytes never exceed the size of the cache. Complete chunks are encoded before the cache
/// is full.
#[test]
fn the_dirty_chunks_stay_within_their_limit() {
    let rows = 64 * 16;
    let (file, dataset, filter) = dataset(FileOptions::new().chunk_cache(1 << 20), rows);
    let encoded = || filter.encoded.load(Ordering::Relaxed);
    // Chunks have 64 KiB, so the 17th chunk exceeds the limit.
    (0..rows).step_by(16).for_each(|row| write(&dataset, row, 8, 1));
    assert!((40..=56).contains(&encoded()), "{}", encoded());
    file.flush().unwrap();
    assert_eq!(encoded(), 64);
    let (file, dataset, filter) = self::dataset(FileOptions::new(), 4 * rows);
    let encoded = || filter.encoded.load(Ordering::Relaxed);
    (0..4 * rows).step_by(8).for_each(|row| write(&dataset, row, 8, 1));
    assert!((128..=256).contains(&encoded()), "{}", encoded());
    file.flush().unwrap();
    assert_eq!(encoded(), 256);
    assert!(dataset.read_raw::<i32>(..).unwrap().iter().all(|value| *value == 1));
}

/// New chunks without filters also stay in memory, unless only a small part of the chunk is
/// written.
#[test]
fn partly_written_chunks_without_filters_stay_dirty() {
    for cache in [0, 100 << 10, 64 << 20] {
        let file = FileOptions::new().chunk_cache(cache).create_in_memory().unwrap();
        let builder = file.new_dataset("d").of::<i32>().shape(&[150, 130]).chunks(&[64, 64]);
        let dataset = builder.fill(9).create().unwrap();
        let mut model = ndarray::Array2::from_elem((150, 130), 9);
        let slabs =
            (0..150).step_by(37).flat_map(|row| (0..130).step_by(41).map(move |column| (row, column)));
        for (number, (row, column)) in slabs.enumerate() {
            // The block with number 18 is not written, and only one element of the block with
            // number 7 is written.
            let (rows, columns) = match number {
                18 => continue,
                7 => (1, 1),
                _ => (37.min(150 - row), 41.min(130 - column)),
            };
            let values = ndarray::Array2::from_shape_fn((rows, columns), |(i, j)| {
                i32::try_from(1000 * number + 50 * i + j).unwrap()
            });
            let place = ndarray::s![row..row + rows, column..column + columns];
            model.slice_mut(place).assign(&values);
            let slab = s![row..row + rows, column..column + columns];
            dataset.write(&slab, &values).unwrap();
            if number == 5 {
                assert_eq!(dataset.read::<i32, IxDyn>(..).unwrap(), model.clone().into_dyn());
                dataset.write(&slab, &values).unwrap();
            }
        }
        assert_eq!(dataset.read::<i32, IxDyn>(..).unwrap(), model.clone().into_dyn());
        let again = File::from_bytes(file.to_bytes().unwrap()).unwrap().dataset("d").unwrap();
        assert_eq!(again.read::<i32, IxDyn>(..).unwrap(), model.into_dyn());
    }
}

#[test]
fn a_failed_eviction_of_writers_loses_no_dirty_chunk() {
    let (file, first, filter) = dataset(FileOptions::new(), 16);
    let others: Vec<Dataset> = (0..300)
        .map(|number| {
            let builder = file.new_dataset(&format!("d{number}")).of::<i32>().shape(&[16, 1024]);
            let builder = builder.chunks(&[16, 1024]).filter(FilterSpec::custom(NUMBER, 0, [], None));
            builder.create().unwrap()
        })
        .collect();
    write(&first, 0, 8, 7);
    let (mut written, mut failed) = (vec![&first], 0);
    filter.fails.store(true, Ordering::Relaxed);
    for other in &others {
        // The table of writers is full at some point; the write that evicts the writers fails.
        let region = Region::new(&[0, 0], &[8, 1024]).unwrap();
        match other.write(&region, &vec![7; 8 * 1024]) {
            Ok(()) => written.push(other),
            Err(_) => failed += 1,
        }
    }
    assert!(failed > 0 && written.len() > 200, "{failed} {}", written.len());
    filter.fails.store(false, Ordering::Relaxed);
    file.flush().unwrap();
    for dataset in written {
        let sum = dataset.read_raw::<i32>(..).unwrap().iter().sum::<i32>();
        assert_eq!(sum, 7 * 8 * 1024, "{}", dataset.name());
    }
}

/// The last chunk of a growing dataset stays in memory until the dataset has grown beyond it.
#[test]
fn the_last_chunk_of_a_growing_dataset_is_encoded_once() {
    let whole = |rows: u64| vec![7; usize::try_from(rows).unwrap() * 1024];
    for (step, append) in [(1_u64, false), (5, false), (16, false), (5, true), (24, true)] {
        let count = usize::try_from(step).unwrap();
        let (file, dataset, filter) = dataset(FileOptions::new(), 0);
        for rows in (0..240).step_by(count) {
            if append {
                let added = ndarray::Array2::from_shape_vec((count, 1024), whole(step));
                dataset.append(0, &added.unwrap()).unwrap();
            } else {
                dataset.resize(&[rows + step, 1024]).unwrap();
                write(&dataset, rows, step, 7);
            }
        }
        file.flush().unwrap();
        assert_eq!(filter.encoded.load(Ordering::Relaxed), 15, "{step} {append}");
        assert_eq!(dataset.read_raw::<i32>(..).unwrap(), whole(240));
        // A program that replaces all elements does not read the chunks.
        dataset.resize(&[248, 1024]).unwrap();
        dataset.write(.., &ndarray::Array2::from_elem((248, 1024), 8)).unwrap();
        file.flush().unwrap();
        assert_eq!(filter.encoded.load(Ordering::Relaxed), 31, "{step} {append}");
        assert!(dataset.read_raw::<i32>(..).unwrap().iter().all(|value| *value == 8));
    }
    // A flush stores the last chunk, which stays in memory.
    let (file, dataset, filter) = dataset(FileOptions::new(), 0);
    for _ in 0..12 {
        dataset.append(0, &ndarray::Array2::from_elem((5, 1024), 7)).unwrap();
        file.flush().unwrap();
    }
    assert_eq!(filter.decoded.load(Ordering::Relaxed), 0);
    assert_eq!(dataset.read_raw::<i32>(..).unwrap(), whole(60));
    // The chunks at the edge of a dataset that cannot grow are complete.
    let filter = Arc::new(Counting::default());
    let mut filters = Registry::default();
    filters.register(Arc::clone(&filter) as _);
    let file = FileOptions::new().filters(filters).create_in_memory().unwrap();
    let fixed = file.new_dataset("d").of::<i32>().shape(&[20, 1024]).chunks(&[16, 1024]);
    let fixed = fixed.filter(FilterSpec::custom(NUMBER, 0, [], None)).create().unwrap();
    fixed.write(s![16..18, ..], &ndarray::Array2::from_elem((2, 1024), 1)).unwrap();
    assert_eq!(filter.encoded.load(Ordering::Relaxed), 0);
    fixed.write(s![16..20, ..], &ndarray::Array2::from_elem((4, 1024), 1)).unwrap();
    assert_eq!(filter.encoded.load(Ordering::Relaxed), 1);
}

/// A chunk that a read takes whole is decoded again by the next read, unless the cache keeps it.
#[test]
fn whole_chunks_are_cached_on_request() {
    for (keeps, decoded) in [(false, 8), (true, 4)] {
        let (file, dataset, filter) = dataset(FileOptions::new().cache_whole_chunks(keeps), 64);
        write(&dataset, 0, 64, 3);
        file.flush().unwrap();
        for _ in 0..2 {
            assert!(dataset.read_raw::<i32>(..).unwrap().iter().all(|value| *value == 3));
        }
        assert_eq!(filter.decoded.load(Ordering::Relaxed), decoded);
        // A write replaces the cached chunks.
        write(&dataset, 16, 16, 5);
        file.flush().unwrap();
        assert_eq!(dataset.read::<i32, IxDyn>(s![.., 7]).unwrap().sum(), 48 * 3 + 16 * 5);
        // Conversions take the same chunks.
        assert_eq!(dataset.read::<f64, IxDyn>(s![16..32, ..]).unwrap().sum(), 16.0 * 1024.0 * 5.0);
    }
}
