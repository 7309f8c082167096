//! A filter that does not allow several threads runs on the thread of the caller.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use hyperslab::filter::{Filter, FilterContext, FilterError, FilterId, FilterSpec, Produced, Registry};
use hyperslab::{Dataset, File, FileOptions, IxDyn, Points};

const NUMBER: FilterId = FilterId(300);
const ROWS: u64 = 64;
const COLUMNS: u64 = 16 << 10;

/// A filter that does not change bytes. It records on which threads it runs.
#[derive(Debug, Default)]
struct Recording {
    allows_threads: bool,
    threads: Mutex<HashSet<ThreadId>>,
}

impl Recording {
    fn record(&self, input: &[u8]) -> Produced {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).insert(thread::current().id());
        // Other threads get the time to take the next chunk.
        thread::sleep(Duration::from_millis(1));
        Produced::Input(0..input.len())
    }

    /// Returns the threads on which the filter ran since the last call.
    fn threads(&self) -> HashSet<ThreadId> {
        std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Filter for Recording {
    fn id(&self) -> FilterId {
        NUMBER
    }

    fn decode(&self, _: &FilterContext<'_>, input: &[u8], _: &mut Vec<u8>) -> Result<Produced, FilterError> {
        Ok(self.record(input))
    }

    fn encode(&self, _: &FilterContext<'_>, input: &[u8], _: &mut Vec<u8>) -> Result<Produced, FilterError> {
        Ok(self.record(input))
    }

    fn encoded_length(&self, _: &FilterContext<'_>, input: usize) -> Option<usize> {
        Some(input)
    }

    fn compresses(&self) -> bool {
        false
    }

    fn allows_threads(&self) -> bool {
        self.allows_threads
    }
}

/// The work of the test: writes and reads of a dataset by boxes and by points, of which each must
/// use the filter. `check` gets the name of each step after the step.
fn work(filter: &Arc<Recording>, sparse: bool, check: &mut dyn FnMut(&str)) {
    let mut filters = Registry::default();
    filters.register(Arc::clone(filter) as _);
    let file = FileOptions::new().filters(filters).chunk_cache(0).create_in_memory().unwrap();
    let dataset = create(&file, sparse);
    let values = ndarray::Array2::from_shape_fn((64, 16 << 10), |(row, column)| {
        i32::try_from(row * 3 + column).unwrap()
    });
    dataset.write(.., &values).unwrap();
    file.flush().unwrap();
    check("write of all");
    assert_eq!(dataset.read::<i32, ndarray::Ix2>(..).unwrap(), values);
    check("read of all");
    let rows: Vec<[u64; 2]> = (0..ROWS).flat_map(|row| [[row, 5], [row, 7000], [row, 16_000]]).collect();
    let points = Points::from_rows(rows);
    let found = dataset.read::<i32, IxDyn>(&points).unwrap();
    assert_eq!(found.iter().take(3).copied().collect::<Vec<_>>(), [5, 7000, 16_000]);
    check("read of points");
    dataset.write(&points, &found).unwrap();
    file.flush().unwrap();
    check("write of points");
    assert_eq!(dataset.read::<i32, ndarray::Ix2>(..).unwrap(), values);
    check("read after the write of points");
    dataset.append(0, &values).unwrap();
    file.flush().unwrap();
    check("append");
    dataset.resize(&[ROWS + 2, COLUMNS - 5]).unwrap();
    file.flush().unwrap();
    check("smaller shape");
    let rest = dataset.read::<i32, ndarray::Ix2>((ROWS..ROWS + 2, ..)).unwrap();
    assert_eq!(rest, values.slice(ndarray::s![..2, ..values.ncols() - 5]));
    check("read after the change of the shape");
}

fn create(file: &File, sparse: bool) -> Dataset {
    let dataset = file.new_dataset("d").of::<i32>().shape(&[ROWS, COLUMNS]).max_shape(&[None, None]);
    let dataset = if sparse { dataset.sparse(&[4, 4096]) } else { dataset.chunks(&[4, 4096]) };
    dataset.filter(FilterSpec::custom(NUMBER, 0, [], None)).create().unwrap()
}

#[test]
fn runs_on_the_thread_of_the_caller() {
    for sparse in [false, true] {
        let filter = Arc::new(Recording::default());
        let caller = HashSet::from([thread::current().id()]);
        work(&filter, sparse, &mut |step| {
            assert_eq!(filter.threads(), caller, "{step}, sparse {sparse}");
        });
    }
}

#[test]
fn runs_on_several_threads_if_allowed() {
    if thread::available_parallelism().map_or(1, Into::into) == 1 {
        eprintln!("skipped: one processor");
        return;
    }
    for sparse in [false, true] {
        let filter = Arc::new(Recording { allows_threads: true, ..Recording::default() });
        let mut counts = Vec::new();
        work(&filter, sparse, &mut |step| {
            counts.push((step.to_owned(), filter.threads().len()));
        });
        assert!(counts.iter().any(|(_, count)| *count > 1), "{counts:?}");
    }
}
