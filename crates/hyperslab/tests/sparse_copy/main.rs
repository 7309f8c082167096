//! Sparse datasets that are copied, created by repacking, or converted to other layouts: the
//! elements stay the same.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

mod between_files;
mod repacked;
mod samples;

use hyperslab::{Dataset, File, FileOptions, Points};

/// Checks that the file is sound.
fn check(path: &std::path::Path) {
    let report = hyperslab_check::check_path(path).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

/// Creates a file with addresses of `offsets` bytes and lengths of `lengths` bytes.
fn file(path: &std::path::Path, offsets: u8, lengths: u8) -> File {
    FileOptions::new().sizes(offsets, lengths).create(path).unwrap()
}

/// Returns scattered points, always the same.
fn points(dims: &[u64], count: u64) -> Points {
    let total: u64 = dims.iter().product();
    let (mut coordinates, mut seen) = (Vec::new(), std::collections::BTreeSet::new());
    for number in 0..count {
        let mut place = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % total;
        if !seen.insert(place) {
            continue;
        }
        let mut point: Vec<u64> = Vec::new();
        for size in dims.iter().rev() {
            point.push(place % size);
            place /= size;
        }
        coordinates.extend(point.iter().rev());
    }
    Points { rank: dims.len(), coordinates }
}

fn same_bytes(one: &Dataset, other: &Dataset) {
    let (points, values) = one.sparse().read_stored(..).unwrap();
    let (others, read) = other.sparse().read_stored(..).unwrap();
    assert_eq!(points, others);
    assert_eq!(values.bytes(), read.bytes());
}

fn same_texts(one: &Dataset, other: &Dataset) {
    let (points, values) = one.sparse().read_stored(..).unwrap();
    let (others, read) = other.sparse().read_stored(..).unwrap();
    assert_eq!(points, others);
    assert_eq!(values.strings().unwrap(), read.strings().unwrap());
}

/// Returns the message of an error, with the messages of its sources.
fn chain(error: &dyn std::error::Error) -> String {
    let mut reported = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        reported.push_str(": ");
        reported.push_str(&error.to_string());
        source = error.source();
    }
    reported
}
