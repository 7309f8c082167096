//! Writes of so many points that several threads group the points by chunks.

use std::collections::BTreeMap;

use hyperslab::{FileOptions, Points};

/// Points in no order, of which some repeat. The last value of a point counts.
#[test]
fn the_last_of_repeated_points_counts_in_any_order() {
    // The second grid has too many chunks for a table of chunks.
    for (side, chunk) in [(30_000_u64, 300_u64), (1 << 31, 1 << 21)] {
        let file = FileOptions::new().create_in_memory().unwrap();
        let dataset =
            file.new_dataset("a").of::<u32>().shape(&[side, side]).sparse(&[chunk, chunk]).create().unwrap();
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 1500 * (chunk / 20)
        };
        let points: Vec<[u64; 2]> = (0..400_000).map(|_| [next(), next()]).collect();
        let values: Vec<u32> = (0..400_000).collect();
        dataset.sparse().write(&Points::from_rows(points.iter().copied()), &values).unwrap();
        let model: BTreeMap<[u64; 2], u32> = points.iter().copied().zip(values).collect();
        assert!(model.len() < 399_000, "{} points, none repeats", model.len());
        let (found, values) = dataset.sparse().read::<u32>(..).unwrap();
        let found: BTreeMap<[u64; 2], u32> = found
            .coordinates
            .chunks_exact(2)
            .map(|point| <[u64; 2]>::try_from(point).unwrap())
            .zip(values)
            .collect();
        assert!(found == model);
    }
}

#[test]
fn a_late_point_outside_of_the_dataset_changes_nothing() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let dataset = file.new_dataset("a").of::<u8>().shape(&[500, 700]).sparse(&[100, 100]).create().unwrap();
    let mut points: Vec<[u64; 2]> = (0..200_000).map(|number| [number % 500, number / 500]).collect();
    points[199_000][1] = 700;
    let error = dataset.sparse().write(&Points::from_rows(points), &vec![1_u8; 200_000]).unwrap_err();
    assert!(error.to_string().contains("outside a dataset of shape [500, 700]"), "{error}");
    assert_eq!(dataset.sparse().defined_count().unwrap(), 0);
}
