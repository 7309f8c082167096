//! Times of reads by index lists from a chunked dataset of 4096 by 4096 numbers.
//!
//! Usage: `cargo run --release -p hyperslab --example index_lists`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use hyperslab::{Array2, FileOptions, Ix2, Result};

fn main() -> Result<()> {
    let side = 4096_u32;
    let file = FileOptions::new().create_in_memory()?;
    let numbers = Array2::from_shape_fn((side as usize, side as usize), |(row, column)| {
        f64::from(u32::try_from(row).unwrap_or(0) * side + u32::try_from(column).unwrap_or(0))
    });
    let dataset = file.new_dataset("numbers").chunks(&[256, 256]).write(&numbers)?;
    // The multiplier is odd, so that the coordinates are distinct and in no order.
    let list = |count: u32, factor: u32| -> Vec<u32> { (0..count).map(|at| at * factor % side).collect() };
    let time = |name: &str, read: &dyn Fn() -> Result<Array2<f64>>| {
        let start = Instant::now();
        match read() {
            Ok(values) => println!("{name}: {:?} for {:?}", start.elapsed(), values.dim()),
            Err(error) => println!("{name}: {error}"),
        }
    };
    let rows = list(1000, 2531);
    let mut sorted = rows.clone();
    sorted.sort_unstable();
    let (few_rows, few_columns) = (list(500, 2531), list(500, 1777));
    for _ in 0..3 {
        time("whole", &|| dataset.read::<f64, Ix2>(..));
        time("1000 rows, sorted", &|| dataset.read::<f64, Ix2>((&sorted, ..)));
        time("1000 rows, unsorted", &|| dataset.read::<f64, Ix2>((&rows, ..)));
        time("1000 columns, sorted", &|| dataset.read::<f64, Ix2>((.., &sorted)));
        time("1000 columns, unsorted", &|| dataset.read::<f64, Ix2>((.., &rows)));
        time("500 rows by 500 columns, unsorted", &|| dataset.read::<f64, Ix2>((&few_rows, &few_columns)));
    }
    Ok(())
}
