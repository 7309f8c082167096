//! A model of the costs of a sparse matrix in structured chunks, and the shape of chunks with the
//! lowest cost.
//!
//! The model estimates bytes and times of a random matrix of 20 000 × 20 000 numbers of 4 bytes, in
//! chunks with the points encoding, shuffle and deflate. Its coefficients are fitted to
//! measurements with densities from 0.01 % to 10 % (`hyperslab-bench -- sparse`, two cores). The
//! cost is a sum of logarithms: of each estimate divided by its aim. The aim is a fraction of the
//! estimate for CSR arrays with gzip.
//!
//! A chunk costs about 37 µs when it is read, because each of its eight blocks of deflate has
//! prefix codes of its own. Chunks with few elements therefore take more bytes and more time to
//! read as a whole; chunks with many elements take more time to change.

/// The rows and columns of the matrix of the model.
const SIDE: f64 = 20_000.0;

/// The rows and columns of the boxes that the model reads.
const BOX_SIDE: f64 = 256.0;

/// The number of elements that the model adds to the matrix, and the number of rows that it reads.
const APPENDED: f64 = 1000.0;
const READ_ROWS: f64 = 100.0;

/// Bytes of a value after its filters.
const VALUE_BYTES: f64 = 0.95;

/// Bytes of a chunk besides its coordinates and values: the start of the selection, and the codes
/// of deflate.
const CHUNK_BYTES: f64 = 235.0;

/// Bytes of a chunk in the chunk index. Chunks without elements have entries, too.
const INDEX_BYTES: f64 = 45.0;

/// The largest number of bytes in the chunk index for each value. If most chunks are empty, smaller
/// chunks would make the index as large as the values.
const MAX_INDEX_BYTES: f64 = 0.1;

/// Bits that deflate takes for a run of equal numbers. The second part counts once for each number
/// of a run of length 1, and less for longer runs.
const RUN_BITS: (f64, f64) = (13.0, 25.0);

/// The largest number of bits for one byte of a row number. Rows are in order, so that their bytes
/// repeat.
const MAX_RUN_BITS: f64 = 6.0;

/// Bits of a run of equal high bytes in the column numbers of CSR arrays, and the largest number of
/// bits for such a byte.
const CSR_RUN_BITS: (f64, f64) = (8.4, 7.6);

/// Microseconds for reading a chunk, and for each of its elements.
const READ_MICROSECONDS: (f64, f64) = (37.0, 0.011);

/// Microseconds for reading a chunk as a part of the whole matrix on two threads, and for each
/// element.
const READ_ALL_MICROSECONDS: (f64, f64) = (17.5, 0.0108);

/// Microseconds for writing a chunk of a new matrix on two threads, and for each element.
const WRITE_MICROSECONDS: (f64, f64) = (36.0, 0.038);

/// Microseconds for changing a stored chunk on two threads, and for each element.
const CHANGE_MICROSECONDS: (f64, f64) = (15.0, 0.048);

/// The largest reward of an estimate that is below its aim, as a share of the cost above the aim.
const REWARD: f64 = 0.15;

/// The distribution of the defined elements in a sparse dataset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    /// The share of defined elements in the regions that have elements.
    pub(crate) density: f64,
    /// The share of regions that have elements.
    pub(crate) occupied: f64,
}

/// The estimates for a matrix: bytes for each value, and microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimates {
    /// Bytes for each value.
    pub(super) bytes: f64,
    /// Microseconds for each value that is written to a new dataset.
    write: f64,
    /// Microseconds for each value of a read of the whole matrix.
    read_all: f64,
    /// Microseconds for a box.
    read_box: f64,
    /// Microseconds for each of some rows.
    row: f64,
    /// Microseconds for a column.
    column: f64,
    /// Microseconds for adding some elements all over the matrix.
    append: f64,
    /// The size of the file after adding the elements, divided by the size before.
    growth: f64,
}

impl Estimates {
    /// Returns the estimates for chunks of the given shape.
    pub(super) fn of_chunks((rows, columns): (f64, f64), fill: Fill) -> Self {
        let density = fill.density;
        let elements = rows * columns * density;
        let overhead = CHUNK_BYTES + INDEX_BYTES / fill.occupied;
        let (down, across) = ((SIDE / rows).max(1.0), (SIDE / columns).max(1.0));
        let read = READ_MICROSECONDS.0 + READ_MICROSECONDS.1 * elements;
        let changed = down * across * (1.0 - (-APPENDED / (down * across)).exp());
        // Some of the rows lie in the same chunks, which stay in the chunk cache.
        let read_down = down * (1.0 - (1.0 - (rows / SIDE).min(1.0)).powf(READ_ROWS));
        let boxes = (1.0 + (BOX_SIDE - 1.0) / rows) * (1.0 + (BOX_SIDE - 1.0) / columns);
        Self {
            bytes: coordinate_bits(rows, columns, density) / 8.0 + VALUE_BYTES + overhead / elements,
            write: WRITE_MICROSECONDS.1 + WRITE_MICROSECONDS.0 / elements,
            read_all: READ_ALL_MICROSECONDS.1 + READ_ALL_MICROSECONDS.0 / elements,
            read_box: 20.0 + boxes * read,
            row: 6.0 + 0.6 * (across * fill.occupied).max(1.0) * (1.0 + read_down * read / READ_ROWS),
            column: 6.0 + 0.6 * (down * fill.occupied).max(1.0) * read,
            append: 3000.0 + changed * (CHANGE_MICROSECONDS.0 + CHANGE_MICROSECONDS.1 * elements),
            growth: 1.0 + changed / (down * across),
        }
    }

    /// Returns the estimates for compressed rows (CSR arrays) with gzip.
    fn of_csr(density: f64) -> Self {
        let values = SIDE * SIDE * density;
        let share = values / 3e6;
        let high_bits = CSR_RUN_BITS.1.min(CSR_RUN_BITS.0 / (256.0 * density));
        Self {
            bytes: 1.0 + high_bits / 8.0 + VALUE_BYTES + SIDE / (4.0 * values),
            write: 0.106 + 3000.0 / values,
            read_all: 0.0237 + 800.0 / values,
            read_box: 130.0 + 0.0332 * BOX_SIDE * SIDE * density,
            row: 33.0 + 1450.0 * share / (1.0 + share),
            column: 250.0 + 0.025 * values,
            append: 2000.0 + 0.158 * values,
            growth: 1.0,
        }
    }

    /// Returns the cost, compared with CSR arrays with gzip.
    fn cost(&self, csr: &Self, density: f64) -> f64 {
        // Below a density of 0.1 %, the aim is to be as good as CSR arrays. From 1 % on, the aims
        // are fractions. Between, the exponent rises from 0 to 1.
        let exponent = (density / 0.001).log10().clamp(0.0, 1.0);
        let part = |weight: f64, one: f64, other: f64, aim: f64| {
            let excess = (one / other).ln() - exponent * aim.ln();
            weight * if excess > 0.0 { excess } else { REWARD * excess }
        };
        part(6.0, self.bytes, csr.bytes, 1.0)
            + part(0.5, self.write, csr.write, 0.4)
            + part(1.0, self.read_all, csr.read_all, 0.7)
            + part(1.0, self.read_box, csr.read_box, 0.05)
            + part(3.0, self.row, csr.row, 1.0)
            + part(0.5, self.column, csr.column, 0.01)
            + part(0.75, self.append, csr.append, 0.063)
            + exponent * part(0.75, self.growth, csr.growth, 1.2)
    }
}

/// Returns the bits of the two coordinates of an element after their filters.
///
/// The filter shuffle makes four planes of bytes. The low bytes of the columns are noise. The other
/// planes consist of runs, because the elements are in C order: deflate takes [`RUN_BITS`] for each
/// run, and at most the logarithm of the number of different bytes for each element.
fn coordinate_bits(rows: f64, columns: f64, density: f64) -> f64 {
    let in_row = columns * density;
    let plane = |numbers: f64, run: f64| {
        let bits = (RUN_BITS.0 + RUN_BITS.1 / run) / run;
        numbers.max(1.0).log2().min(MAX_RUN_BITS).min(bits)
    };
    columns.log2().clamp(0.0, 8.0)
        + plane(rows, in_row)
        + plane(columns / 256.0, 256.0 * density)
        + plane(rows / 256.0, 256.0 * in_row)
}

/// Returns the number of rows and columns of the chunks of a sparse matrix with the lowest cost.
pub(super) fn best_shape(fill: Fill) -> (f64, f64) {
    let fill = Fill { density: fill.density.clamp(1e-7, 1.0), occupied: fill.occupied.clamp(1e-4, 1.0) };
    // CSR arrays have no chunks, so that only the share of all defined elements matters.
    let overall = fill.density * fill.occupied;
    let csr = Estimates::of_csr(overall);
    // Each side is larger than the next smaller one by about 40 %, and at most 65 536. Chunks are
    // not higher than wide, because programs read more rows than columns.
    let sides = || (3..=32_u32).map(|power| 2_f64.powf(f64::from(power) / 2.0));
    let cost = |shape| Estimates::of_chunks(shape, fill).cost(&csr, overall);
    let min_elements = INDEX_BYTES / MAX_INDEX_BYTES / (fill.density * fill.occupied);
    let shapes = sides().flat_map(|columns| {
        let lower = sides().take_while(move |rows| *rows <= columns);
        let filled = lower.filter(move |rows| rows * columns >= min_elements);
        filled.map(move |rows| (cost((rows, columns)), (rows, columns)))
    });
    let best = shapes.min_by(|(one, _), (other, _)| one.total_cmp(other));
    // If nearly nothing is defined, the chunk is as large as possible.
    best.map_or((65_536.0, 65_536.0), |(_, shape)| shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::FilterSpec;
    use crate::{FileOptions, Points, Section, SelectionEncoding};

    const RANDOM: f64 = 1.0;

    /// Returns the bytes of the chunks of a random square matrix, for each value.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "gaps and counts are small positive numbers"
    )]
    fn stored_bytes(side: u64, shape: [u64; 2], density: f64) -> f64 {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut unit = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        };
        let (mut coordinates, mut values) = (Vec::new(), Vec::new());
        let mut at = 0_u64;
        loop {
            at += (unit().ln() / (1.0 - density).ln()) as u64;
            if at >= side * side {
                break;
            }
            coordinates.extend([at / side, at % side]);
            // Counts of a detector.
            values.push((-(unit() * unit()).ln() * 20.0).trunc() as f32 + 1.0);
            at += 1;
        }
        let file = FileOptions::new().create_in_memory().unwrap();
        let filters = [FilterSpec::shuffle(), FilterSpec::deflate(4)];
        let new = file.new_dataset("a").of::<f32>().shape(&[side, side]).sparse(&shape);
        let new =
            new.selection_encoding(SelectionEncoding::Points).section_filters(Section::Selection, &filters);
        let dataset = new.section_filters(Section::Values, &filters).create().unwrap();
        dataset.sparse().write(&Points { rank: 2, coordinates }, &values).unwrap();
        file.flush().unwrap();
        let bytes: u64 = dataset.sparse().chunks().unwrap().iter().map(|chunk| chunk.size).sum();
        bytes as f64 / values.len() as f64
    }

    #[test]
    fn estimated_bytes_are_those_of_stored_chunks() {
        for (density, side, shape) in [
            (1e-4, 16_000, [4000, 4000]),
            (1e-3, 8192, [724, 8192]),
            (1e-3, 5000, [1000, 1000]),
            (0.01, 2000, [250, 1000]),
            (0.01, 2000, [250, 400]),
            (0.01, 2000, [500, 500]),
            (0.01, 2048, [512, 724]),
            (0.01, 2000, [1000, 1000]),
            (0.03, 1086, [181, 362]),
            (0.1, 724, [64, 724]),
            (0.1, 1024, [512, 128]),
        ] {
            let fill = Fill { density, occupied: RANDOM };
            let [rows, columns] = shape.map(|side| side as f64);
            let index = INDEX_BYTES / (rows * columns * density);
            let estimated = Estimates::of_chunks((rows, columns), fill).bytes - index;
            let stored = stored_bytes(side, shape, density);
            assert!(
                (estimated / stored - 1.0).abs() < 0.1,
                "{density}, {shape:?}: {estimated} of {stored} bytes"
            );
        }
    }

    /// The measurements, at a density of 1 %: the shape, milliseconds for 100 boxes, and for adding
    /// 1000 elements, each the best of several rounds.
    #[test]
    fn estimated_times_are_those_of_measurements() {
        for (shape, boxes, append) in [
            ((1000.0, 1000.0), 23.5, 185.0),
            ((700.0, 700.0), 17.5, 124.0),
            ((500.0, 1000.0), 19.4, 126.0),
            ((500.0, 500.0), 18.2, 96.9),
            ((354.0, 708.0), 17.7, 93.8),
            ((254.0, 358.0), 16.4, 54.9),
        ] {
            let found = Estimates::of_chunks(shape, Fill { density: 0.01, occupied: RANDOM });
            for (estimated, measured) in [(found.read_box / 10.0, boxes), (found.append / 1000.0, append)] {
                assert!(
                    (estimated / measured - 1.0_f64).abs() < 0.3,
                    "{shape:?}: {estimated}, measured {measured}"
                );
            }
        }
    }

    #[test]
    fn shapes_have_some_thousand_elements() {
        for exponent in 0..=40 {
            let density = 10_f64.powf(-f64::from(exponent) / 10.0);
            let (rows, columns) = best_shape(Fill { density, occupied: RANDOM });
            let elements = rows * columns * density;
            assert!((1500.0..20_000.0).contains(&elements), "{density}: {rows} x {columns}");
            assert!(rows <= columns);
        }
    }

    #[test]
    fn few_occupied_regions_have_larger_chunks() {
        let elements = |occupied| {
            let (rows, columns) = best_shape(Fill { density: 0.2, occupied });
            rows * columns
        };
        assert!(elements(0.03) > 3.0 * elements(1.0), "{} and {}", elements(0.03), elements(1.0));
    }
}
