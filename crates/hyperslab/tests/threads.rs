//! Many threads read one open file. The results are equal for every kind of read and every size of
//! the chunk cache.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "in a test a panic is the report")]

use std::sync::{Arc, Barrier};

use hyperslab::{
    Attribute, Dataset, File, Group, Hyperslab, Object, ObjectKind, OpenOptions, Points, RegularHyperslab,
    Selection, Stored,
};
use hyperslab_testkit::fixtures;

const THREADS: usize = 8;
/// The sizes of the cache: no cache, a cache for a few chunks, and a cache for all chunks.
const CACHES: [u64; 3] = [0, 2048, 64 << 20];
const FILES: [&str; 6] = [
    "chunk_indexes_earliest.h5",
    "chunk_indexes_latest.h5",
    "chunk_indexes_large_latest.h5",
    "filters_latest.h5",
    "layouts_earliest.h5",
    "small_nodes_earliest.h5",
];

const fn shared_and_cloned<T: Send + Sync + Clone>() {}
const _: () = {
    shared_and_cloned::<File>();
    shared_and_cloned::<Group>();
    shared_and_cloned::<Dataset>();
    shared_and_cloned::<Attribute>();
    shared_and_cloned::<Object>();
    shared_and_cloned::<Stored>();
};

/// A numeric dataset with all its values as bits, read by one thread.
struct Known {
    path: String,
    shape: Vec<u64>,
    bits: Vec<u64>,
}

fn known(path: &str, group: &Group, found: &mut Vec<Known>) {
    for object in group.members().unwrap() {
        let path = format!("{path}/{}", object.name().rsplit('/').next().unwrap());
        match object.kind() {
            Some(ObjectKind::Group) => known(&path, &object.into_group().unwrap(), found),
            Some(ObjectKind::Dataset) => {
                let dataset = object.into_dataset().unwrap();
                if dataset.datatype().is_number() && (1..20_000).contains(&dataset.size().unwrap()) {
                    let bits = dataset.read_raw::<f64>(..).unwrap().into_iter().map(f64::to_bits);
                    let shape = dataset.dataspace().dims().to_vec();
                    found.push(Known { path, shape, bits: bits.collect() });
                }
            }
            _ => {}
        }
    }
}

/// A generator of pseudo-random numbers (xorshift), which are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit.max(1)
    }
}

/// Returns the selected coordinates along one dimension: start, step, number.
fn axis(numbers: &mut Numbers, size: u64) -> [u64; 3] {
    let start = numbers.below(size);
    let step = 1 + numbers.below(3);
    [start, step, 1 + numbers.below((size - start).div_ceil(step))]
}

/// Returns a selection, and the positions of its elements in the whole dataset.
fn select(numbers: &mut Numbers, shape: &[u64]) -> (Selection, Vec<usize>) {
    let place = |at: &[u64]| {
        usize::try_from(at.iter().zip(shape).fold(0, |sum, (at, size)| sum * size + at)).unwrap()
    };
    let rank = shape.len();
    if rank == 0 || numbers.below(8) == 0 {
        let count: u64 = shape.iter().product();
        return (Selection::All, (0..usize::try_from(count).unwrap()).collect());
    }
    if numbers.below(3) == 0 {
        let points: Vec<Vec<u64>> =
            (0..20).map(|_| shape.iter().map(|size| numbers.below(*size)).collect()).collect();
        let places = points.iter().map(|point| place(point)).collect();
        return (Selection::Points(Points { rank, coordinates: points.concat() }), places);
    }
    let axes: Vec<[u64; 3]> = shape.iter().map(|size| axis(numbers, *size)).collect();
    let mut coordinates = vec![Vec::new()];
    for [start, step, count] in &axes {
        let next = |at: &Vec<u64>, n: u64| [at.as_slice(), &[start + n * step]].concat();
        coordinates = coordinates.iter().flat_map(|at| (0..*count).map(move |n| next(at, n))).collect();
    }
    let column = |part: usize| axes.iter().map(|axis| axis[part]).collect::<Vec<_>>();
    let slab = RegularHyperslab::strided(&column(0), &column(1), &column(2));
    (Selection::Hyperslab(Hyperslab::Regular(slab)), coordinates.iter().map(|at| place(at)).collect())
}

fn check(dataset: &Dataset, known: &Known, numbers: &mut Numbers) {
    let (selection, places) = select(numbers, &known.shape);
    let got: Vec<f64> = dataset.read_raw(&selection).unwrap();
    let expected = places.iter().map(|at| known.bits[*at]);
    assert!(got.iter().map(|value| value.to_bits()).eq(expected), "{}: {selection:?}", known.path);
}

/// Runs `work` on all threads at once, each with its number.
fn on_all_threads(work: impl Fn(u64) + Sync) {
    let barrier = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS as u64 {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                barrier.wait();
                work(thread);
            });
        }
    });
}

fn of_each_file(check: impl Fn(File, Arc<Vec<Known>>)) {
    for name in FILES {
        let path = fixtures::path(name);
        let mut all = Vec::new();
        known("", &File::open(&path).unwrap(), &mut all);
        assert!(!all.is_empty(), "{name}");
        let all = Arc::new(all);
        for bytes in CACHES {
            check(OpenOptions::new().chunk_cache(bytes).open(&path).unwrap(), Arc::clone(&all));
        }
    }
}

#[test]
fn threads_read_different_datasets_with_equal_results() {
    of_each_file(|file, all| {
        on_all_threads(|thread| {
            let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15 ^ thread);
            for _ in 0..25 {
                let known = &all[usize::try_from(numbers.below(all.len() as u64)).unwrap()];
                check(&file.dataset(&known.path).unwrap(), known, &mut numbers);
            }
        });
    });
}

#[test]
fn threads_read_one_dataset_with_equal_results() {
    of_each_file(|file, all| {
        for known in all.iter() {
            let dataset = file.dataset(&known.path).unwrap();
            on_all_threads(|thread| {
                let dataset = dataset.clone();
                // Half of the threads make the same reads, so that they access the same chunks at
                // the same time.
                let mut numbers = Numbers(0xD1B5_4A32_D192_ED03 ^ (thread / 2));
                for _ in 0..6 {
                    check(&dataset, known, &mut numbers);
                }
            });
        }
    });
}

#[test]
fn threads_walk_and_read_text_with_equal_results() {
    let file = File::open(fixtures::path("weather_station.h5")).unwrap();
    let describe = |file: &File| {
        let mut words = Vec::new();
        for visited in file.walk() {
            let object = visited.object.unwrap();
            for attribute in object.attributes().unwrap() {
                words.push(format!("{} {}", attribute.name(), attribute.datatype().unwrap()));
            }
            if object.kind() == Some(ObjectKind::Dataset) {
                let dataset = object.into_dataset().unwrap();
                if dataset.datatype().is_string() {
                    words.extend(dataset.read_strings::<hyperslab::IxDyn>(..).unwrap());
                }
            }
        }
        words
    };
    let expected = describe(&File::open(fixtures::path("weather_station.h5")).unwrap());
    assert!(expected.len() > 10);
    on_all_threads(|_| assert_eq!(describe(&file), expected));
}
