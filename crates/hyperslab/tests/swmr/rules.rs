//! The contents of the datasets: every element is a function of its coordinates.

use std::path::Path;

use hyperslab::{File, OpenOptions};

/// The names of the datasets, and the number that is added to the elements of each dataset.
pub(crate) const DATASETS: [(&str, u64); 5] =
    [("line", 1), ("plain", 2), ("fixed", 3), ("rows", 4), ("plane", 5)];

/// Returns the elements of a box.
pub(crate) fn values(width: u64, starts: &[u64], counts: &[u64]) -> Vec<i64> {
    let column = |at: usize| (starts.get(at).copied().unwrap_or(0), counts.get(at).copied().unwrap_or(1));
    let ((row, rows), (first, columns)) = (column(0), column(1));
    let value = |row: u64, column: u64| i64::try_from(row * 1_000_003 + column * 7 + width).unwrap();
    (row..row + rows).flat_map(|row| (first..first + columns).map(move |column| value(row, column))).collect()
}

/// Returns the shapes of all datasets as one text.
pub(crate) fn shapes_in(file: &File) -> String {
    let shape = |name: &str| {
        let dims = file.dataset(name).unwrap().dataspace();
        dims.dims().iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
    };
    DATASETS.map(|(name, _)| shape(name)).join("/")
}

pub(crate) fn shapes_of(path: &Path) -> String {
    shapes_in(&File::open(path).unwrap())
}

/// Asserts that the file of a writer that has ended holds all elements within the given shapes.
pub(crate) fn holds_at_least(path: &Path, flushed: &str) {
    let file = OpenOptions::new().ignore_status_flags(true).open(path).unwrap();
    for ((name, width), least) in DATASETS.iter().zip(flushed.split('/')) {
        let dataset = file.dataset(name).unwrap();
        let dims = dataset.dataspace().dims().to_vec();
        let least = least.split('x').map(|size| size.parse::<u64>().unwrap());
        assert!(dims.iter().zip(least).all(|(size, least)| *size >= least), "{name}: {dims:?} of {flushed}");
        let starts = vec![0; dims.len()];
        let got = dataset.read_raw::<f64>(..).unwrap();
        let expected = values(*width, &starts, &dims);
        assert!(got.iter().zip(expected).all(|(got, value)| same(name, *got, value)), "{name}");
    }
}

/// Returns true if an element is correct. The elements of `plain` have 32 bits.
#[expect(clippy::float_cmp, reason = "all are whole numbers far below 2^53")]
pub(crate) fn same(name: &str, got: f64, value: i64) -> bool {
    got == (if name == "plain" { value & 0xffff_ffff } else { value }) as f64
}
