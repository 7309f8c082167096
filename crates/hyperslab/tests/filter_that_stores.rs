//! A filter that itself reads and writes filtered datasets, on the thread that runs the filter.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab::filter::{Filter, FilterContext, FilterError, FilterId, FilterSpec, Produced, Registry};
use hyperslab::{Dataset, File, FileOptions};
use ndarray::{Array1, Ix1};

const NUMBER: FilterId = FilterId(300);
const LENGTH: u64 = 4096;

/// A filter that does not change bytes. Each call appends the length of its input to datasets of
/// another file, and reads them.
#[derive(Debug)]
struct Storing {
    datasets: Vec<Dataset>,
    calls: AtomicUsize,
}

impl Storing {
    fn new() -> Self {
        let file = FileOptions::new().chunk_cache(0).create_in_memory().unwrap();
        let datasets = [false, true].map(|sparse| create(&file, sparse, FilterSpec::deflate(4)));
        Self { datasets: datasets.into(), calls: AtomicUsize::new(0) }
    }

    fn store(&self, input: &[u8]) -> Produced {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let values = Array1::from_elem(usize::try_from(LENGTH).unwrap(), i32::try_from(call).unwrap());
        for dataset in &self.datasets {
            dataset.write(.., &values).unwrap();
            dataset.containing_file().unwrap().flush().unwrap();
            assert_eq!(dataset.read::<i32, Ix1>(..).unwrap(), values);
        }
        Produced::Input(0..input.len())
    }
}

impl Filter for Storing {
    fn id(&self) -> FilterId {
        NUMBER
    }

    fn decode(&self, _: &FilterContext<'_>, input: &[u8], _: &mut Vec<u8>) -> Result<Produced, FilterError> {
        Ok(self.store(input))
    }

    fn encode(&self, _: &FilterContext<'_>, input: &[u8], _: &mut Vec<u8>) -> Result<Produced, FilterError> {
        Ok(self.store(input))
    }

    fn encoded_length(&self, _: &FilterContext<'_>, input: usize) -> Option<usize> {
        Some(input)
    }

    fn compresses(&self) -> bool {
        false
    }

    fn allows_threads(&self) -> bool {
        false
    }
}

fn create(file: &File, sparse: bool, filter: FilterSpec) -> Dataset {
    let name = if sparse { "sparse" } else { "chunked" };
    let dataset = file.new_dataset(name).of::<i32>().shape(&[LENGTH]);
    let dataset = if sparse { dataset.sparse(&[1024]) } else { dataset.chunks(&[1024]) };
    dataset.filter(filter).create().unwrap()
}

#[test]
fn a_filter_reads_and_writes_chunks_itself() {
    for sparse in [false, true] {
        let filter = Arc::new(Storing::new());
        let mut filters = Registry::default();
        filters.register(Arc::clone(&filter) as _);
        let file = FileOptions::new().filters(filters).chunk_cache(0).create_in_memory().unwrap();
        let dataset = create(&file, sparse, FilterSpec::custom(NUMBER, 0, [], None));
        let values = Array1::from_iter(0..i32::try_from(LENGTH).unwrap());
        dataset.write(.., &values).unwrap();
        file.flush().unwrap();
        let encodings = filter.calls.load(Ordering::Relaxed);
        assert!(encodings >= 4, "{encodings} calls, sparse {sparse}");
        assert_eq!(dataset.read::<i32, Ix1>(..).unwrap(), values, "sparse {sparse}");
        assert!(filter.calls.load(Ordering::Relaxed) > encodings, "sparse {sparse}");
    }
}
