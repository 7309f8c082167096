//! Measures reads by index lists from a chunked, square dataset. The argument is the length of a side.
//!
//! ```console
//! $ cargo run --release -p hyperslab --example index_lists -- 4096
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use hyperslab::{Array2, FileOptions, Ix2, Result};

fn main() -> Result<()> {
    let side: u32 = std::env::args().nth(1).and_then(|side| side.parse().ok()).unwrap_or(4096);
    let file = FileOptions::new().create_in_memory()?;
    let numbers = Array2::from_shape_fn((side as usize, side as usize), |(row, column)| {
        f64::from(u32::try_from(row).unwrap_or(0) * side + u32::try_from(column).unwrap_or(0))
    });
    let dataset = file.new_dataset("numbers").chunks(&[256, 256]).write(&numbers)?;
    // If the side is a power of two, the coordinates are distinct, because the factor is odd.
    let list = |count: u32, factor: u32| -> Vec<u32> { (0..count).map(|at| at * factor % side).collect() };
    let time = |name: &str, read: &dyn Fn() -> Result<Array2<f64>>| {
        let start = Instant::now();
        match read() {
            Ok(values) => println!("{name}: {:?} for {:?}", start.elapsed(), values.dim()),
            Err(error) => println!("{name}: {error}"),
        }
    };
    let (quarter, eighth) = (side / 4, side / 8);
    let rows = list(quarter, 2531);
    let mut sorted = rows.clone();
    sorted.sort_unstable();
    let (few_rows, few_columns) = (list(eighth, 2531), list(eighth, 1777));
    for _ in 0..3 {
        time("whole", &|| dataset.read::<f64, Ix2>(..));
        time("a quarter of the rows, sorted", &|| dataset.read::<f64, Ix2>((&sorted, ..)));
        time("a quarter of the rows, unsorted", &|| dataset.read::<f64, Ix2>((&rows, ..)));
        time("a quarter of the columns, sorted", &|| dataset.read::<f64, Ix2>((.., &sorted)));
        time("a quarter of the columns, unsorted", &|| dataset.read::<f64, Ix2>((.., &rows)));
        time("an eighth of the rows by an eighth of the columns, unsorted", &|| {
            dataset.read::<f64, Ix2>((&few_rows, &few_columns))
        });
    }
    Ok(())
}
