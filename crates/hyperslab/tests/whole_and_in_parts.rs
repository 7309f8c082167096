//! Different methods of reading return the same elements.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab::{
    Dataset, File, Hyperslab, IxDyn, Object, ObjectKind, OpenOptions, Region, RegularHyperslab, Selection,
};
use hyperslab_testkit::fixtures;
use proptest::prelude::*;

/// Returns every dataset of numbers in these fixtures.
fn datasets(cache: u64) -> Vec<(String, Dataset)> {
    let names = [
        "chunk_indexes_latest.h5",
        "chunk_indexes_earliest.h5",
        "filters.h5",
        "weather_station.h5",
        "layouts.h5",
    ];
    let mut found = Vec::new();
    for name in names {
        let path = fixtures::path(name);
        if !path.exists() {
            continue;
        }
        let file = OpenOptions::new().chunk_cache(cache).open(path).unwrap();
        collect(name, file.members().unwrap(), &mut found);
    }
    assert!(found.len() > 10, "only {} datasets", found.len());
    found
}

fn collect(file: &str, objects: Vec<Object>, found: &mut Vec<(String, Dataset)>) {
    for object in objects {
        match object.kind() {
            Some(ObjectKind::Group) => collect(file, object.into_group().unwrap().members().unwrap(), found),
            Some(ObjectKind::Dataset) => {
                let name = format!("{file}:{}", object.name());
                let dataset = object.into_dataset().unwrap();
                if dataset.datatype().is_number()
                    && dataset.size().is_ok_and(|size| (1..2_000_000).contains(&size))
                {
                    found.push((name, dataset));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn blocks_join_to_the_whole_dataset() {
    for (name, dataset) in datasets(0) {
        let whole = dataset.read::<f64, IxDyn>(..).unwrap();
        for bytes in [1, 100, 5000, u64::MAX] {
            let mut left = whole.clone();
            let mut count = 0;
            for block in dataset.read_blocks::<f64>(bytes) {
                let (region, values) = block.unwrap();
                count += values.len();
                for (at, value) in region.coordinates().zip(&values) {
                    let at: Vec<usize> = at.iter().map(|at| usize::try_from(*at).unwrap()).collect();
                    let place = left.get_mut(at.as_slice()).unwrap();
                    assert!(*place == *value || (place.is_nan() && value.is_nan()), "{name} {region:?}");
                    *place = *value;
                }
            }
            assert_eq!(count, whole.len(), "{name} in blocks of {bytes} bytes");
            assert!(bytes < u64::MAX || dataset.blocks(bytes).count() == 1);
        }
    }
}

#[test]
fn the_list_of_chunks_has_the_addresses() {
    let mut seen = 0;
    for (name, dataset) in datasets(1 << 20) {
        if dataset.chunking().is_none() {
            assert!(dataset.chunks().at(&vec![0; dataset.ndim()]).is_err(), "{name}");
            continue;
        }
        let chunks = dataset.chunks().list().unwrap();
        for chunk in chunks.iter().take(50) {
            let stored = dataset.chunks().read(&chunk.offset).unwrap().unwrap();
            assert_eq!(&stored.info, chunk, "{name}");
            assert_eq!(stored.bytes.len() as u64, chunk.size, "{name}");
            seen += 1;
        }
        assert!(dataset.chunks().at(&vec![u64::MAX; dataset.ndim()]).is_err(), "{name}");
    }
    assert!(seen > 20, "only {seen} chunks");
}

#[test]
fn parts_of_an_array_are_read_into() {
    let file = File::open(fixtures::path("weather_station.h5")).unwrap();
    let dataset = file.dataset("series/temperature").unwrap();
    let hundred = Selection::region(&Region::new(&[5], &[100]).unwrap());
    let expected = dataset.read_raw::<f64>(&hundred).unwrap();
    let every_third =
        Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::strided(&[1, 0], &[2, 3], &[10, 10])));
    let mut array = vec![-1.0; 20 * 30];
    dataset.read_into_part(&hundred, &mut array, &[20, 30], &every_third).unwrap();
    for (at, value) in array.iter().enumerate() {
        let (row, column) = (at / 30, at % 30);
        let wanted = (row % 2 == 1 && column % 3 == 0).then(|| expected[row / 2 * 10 + column / 3]);
        assert!((value - wanted.unwrap_or(-1.0)).abs() < 1e-12);
    }
    let run = Selection::region(&Region::new(&[2, 0], &[5, 30]).unwrap());
    let long = Selection::region(&Region::new(&[0], &[150]).unwrap());
    dataset.read_into_part(&long, &mut array, &[20, 30], &run).unwrap();
    assert_eq!(array[60..210], dataset.read_raw::<f64>(&long).unwrap());
    assert!(dataset.read_into_part(&hundred, &mut array, &[20, 30], &run).is_err());
    assert!(dataset.read_into_part(&hundred, &mut array, &[20, 31], &every_third).is_err());
    let nothing = dataset.read_into_part(&Selection::None, &mut array, &[20, 30], &Selection::None);
    assert!(nothing.is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    /// Any strided selection, with any cache size, with or without conversion, equals the same
    /// elements of the whole dataset.
    #[test]
    fn selections_equal_elements_of_the_whole_dataset(
        seed in proptest::collection::vec((any::<u16>(), 1..5_u64, 1..4_u64, any::<u16>()), 4),
        cache in prop_oneof![Just(0), Just(4096), Just(1 << 26)],
    ) {
        for (name, dataset) in datasets(cache) {
            let dims = dataset.dataspace().dims().to_vec();
            let mut slab = RegularHyperslab::region(&[], &[]);
            for (dim, (start, gap, block, count)) in dims.iter().zip(&seed) {
                let start = u64::from(*start) % dim;
                let block = (*block).min(dim - start);
                let stride = block + gap - 1;
                let maximum = (dim - start - block) / stride + 1;
                slab.start.push(start);
                slab.stride.push(stride);
                slab.count.push(u64::from(*count) % maximum + 1);
                slab.block.push(block);
            }
            let selection = Selection::Hyperslab(Hyperslab::Regular(slab));
            let whole = dataset.read::<f64, IxDyn>(..).unwrap();
            let whole = whole.as_slice().unwrap();
            let mut expected = Vec::new();
            for run in selection.linear_runs(&dims).unwrap() {
                let start = usize::try_from(run.offset).unwrap();
                expected.extend_from_slice(&whole[start..start + usize::try_from(run.length).unwrap()]);
            }
            let mut got = vec![f64::NAN; expected.len()];
            dataset.read_into(&selection, &mut got).unwrap();
            let same = |got: &[f64]| got.iter().zip(&expected).all(|(got, wanted)| got.to_bits() == wanted.to_bits());
            prop_assert!(same(&got), "{name} {selection:?}");
            prop_assert!(same(&dataset.read_raw(&selection).unwrap()), "{name} a second time {selection:?}");
        }
    }
}
