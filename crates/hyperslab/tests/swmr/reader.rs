//! The SWMR reader. It reads every new element, and some older elements again.

use std::path::Path;

use hyperslab::{Dataset, OpenOptions, Region, Selection};

use crate::rules::{DATASETS, same, shapes_in, values};

/// The largest number of rows in one read. Sometimes the reader reads the whole dataset.
const ROWS: u64 = 4000;

fn check(name: &str, width: u64, dataset: &Dataset, starts: &[u64], counts: &[u64]) {
    let region = Selection::region(&Region::new(starts, counts).unwrap());
    let got = dataset.read_raw::<f64>(&region).unwrap();
    let expected = values(width, starts, counts);
    assert_eq!(got.len(), expected.len());
    for (number, (got, value)) in got.iter().zip(expected).enumerate() {
        assert!(
            same(name, *got, value),
            "{name}: element {number} of {counts:?} from {starts:?} of {:?}: {got} for {value}",
            dataset.dataspace().dims()
        );
    }
}

#[expect(clippy::print_stdout, reason = "who started this process reads it")]
pub(crate) fn run(path: &Path, stop: &Path, seed: u64) {
    let file = OpenOptions::new().swmr_read(true).open(path).unwrap();
    let datasets = DATASETS.map(|(name, width)| (name, width, file.dataset(name).unwrap()));
    let mut seen = datasets.each_ref().map(|(.., dataset)| dataset.dataspace().dims().to_vec());
    println!("ready");
    let (mut chance, mut refreshes, mut elements) = (seed, 0_u64, 0_u64);
    let mut below = |end: u64| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) % end
    };
    loop {
        let last = stop.exists();
        if last || below(4) == 0 {
            file.refresh().unwrap();
        }
        for ((name, width, dataset), seen) in datasets.iter().zip(&mut seen) {
            dataset.refresh().unwrap();
            let dims = dataset.dataspace().dims().to_vec();
            assert!(dims.iter().zip(&*seen).all(|(now, before)| now >= before), "{name}: {seen:?}, {dims:?}");
            refreshes += 1;
            if !dims.contains(&0) {
                let whole = last || below(50) == 0;
                let from_start = below(10) < 3;
                let start = |seen: &u64| if whole || from_start { 0 } else { seen.saturating_sub(3) };
                let mut starts: Vec<u64> = seen.iter().map(start).collect();
                if !whole {
                    starts[0] = starts[0].max(dims[0].saturating_sub(ROWS));
                }
                let counts: Vec<u64> = dims.iter().zip(&starts).map(|(size, start)| size - start).collect();
                check(name, *width, dataset, &starts, &counts);
                elements += counts.iter().product::<u64>();
            }
            *seen = dims;
        }
        if last {
            break;
        }
    }
    let retries = file.swmr_retries();
    println!("refreshes {refreshes} elements {elements} retries {retries} shapes {}", shapes_in(&file));
}
