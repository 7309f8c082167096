//! The reader of Matrix Market files.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use flate2::bufread::MultiGzDecoder;
use hyperslab::H5Type;

use super::banner::{Banner, Field, Form, Symmetry};
use super::lines::Lines;
use crate::entries::{BATCH_ENTRIES, Batch, Element, Order, Source};

/// The first bytes of gzip files.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Returns true if a file begins like a Matrix Market file, compressed or not.
pub(crate) fn is_matrix_market(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = text_of(path).and_then(|text| Ok(text.take(14).read_to_end(&mut start)?));
    read.is_ok() && start.eq_ignore_ascii_case(b"%%MatrixMarket")
}

/// Opens the text of a Matrix Market file. Decompresses gzip files.
fn text_of(path: &Path) -> Result<Box<dyn BufRead>> {
    let mut file = BufReader::with_capacity(1 << 18, File::open(path)?);
    if file.fill_buf()?.starts_with(&GZIP) {
        return Ok(Box::new(BufReader::with_capacity(1 << 18, MultiGzDecoder::new(file))));
    }
    Ok(Box::new(file))
}

/// A source of the entries of a Matrix Market file.
pub(crate) struct Reader {
    lines: Lines<Box<dyn BufRead>>,
    banner: Banner,
    shape: [u64; 2],
    /// The number of entry lines that the file declares, and the number that was read.
    count: u64,
    read: u64,
    /// The coordinates of the next value of an array.
    at: [u64; 2],
    ended: bool,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::new(text_of(path)?)
    }

    pub(super) fn new(input: Box<dyn BufRead>) -> Result<Self> {
        let mut lines = Lines::new(input);
        let banner = match lines.any() {
            // An empty file has no banner.
            Ok(line) => Banner::parse(line.unwrap_or("")),
            Err(error) => Err(error),
        };
        let banner = banner.with_context(|| format!("line {}", lines.number))?;
        let size = Self::size(&mut lines, banner);
        let (shape, count) = size.with_context(|| format!("line {}", lines.number))?;
        let mut reader = Self { lines, banner, shape, count, read: 0, at: [0, 0], ended: false };
        reader.enter_triangle();
        Ok(reader)
    }

    fn size(lines: &mut Lines<Box<dyn BufRead>>, banner: Banner) -> Result<([u64; 2], u64)> {
        let line = lines.next()?.context("the file ends before the size of the matrix")?;
        let numbers: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
        let numbers = numbers.with_context(|| format!("`{}` is not a size", line.trim()))?;
        let (shape, count) = match (numbers.as_slice(), banner.form) {
            ([rows, columns, count], Form::Coordinate) => ([*rows, *columns], Some(*count)),
            ([rows, columns], Form::Array) => {
                ([*rows, *columns], value_count(*rows, *columns, banner.symmetry))
            }
            (_, Form::Coordinate) => {
                bail!("the size of the matrix must be three numbers: rows, columns and entries")
            }
            (_, Form::Array) => {
                bail!("the size of the matrix must be two numbers: rows and columns")
            }
        };
        let [rows, columns] = shape;
        if banner.symmetry != Symmetry::General && rows != columns {
            bail!("a matrix of {rows} x {columns} is not square and cannot be symmetric");
        }
        Ok((shape, count.context("the number of values in the matrix does not fit in 64 bits")?))
    }

    /// Moves the current coordinates of a symmetric matrix down to its lower triangle. In the array
    /// form, the file has no lines for other elements.
    fn enter_triangle(&mut self) {
        let [row, column] = self.at;
        let first = match self.banner.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => column,
            // No overflow: each column before this one has at least one line.
            Symmetry::Skew => column + 1,
        };
        self.at = [row.max(first), column];
    }

    /// Reads one line of the Matrix Market file, and appends its entries to the batch.
    fn entry(&mut self, batch: &mut Batch) -> Result<()> {
        let line = self.lines.next()?;
        let Some(line) = line else {
            if self.read < self.count {
                bail!("the file ends after {} of {} entries", self.read, self.count);
            }
            self.ended = true;
            return Ok(());
        };
        if self.read >= self.count {
            bail!("the file has more than the {} entries that it states", self.count);
        }
        let mut words = line.split_ascii_whitespace();
        let at = match self.banner.form {
            Form::Array => self.at,
            Form::Coordinate => {
                let [rows, columns] = self.shape;
                [index(words.next(), "row", rows)?, index(words.next(), "column", columns)?]
            }
        };
        let mut bytes = [0; 16];
        let value = value(self.banner.field, &mut words, &mut bytes)?;
        if let Some(word) = words.next() {
            bail!("unexpected `{word}` after the matrix entry");
        }
        self.read += 1;
        let element = self.banner.field.element();
        if self.banner.form == Form::Array {
            self.step();
            if element.is_zero(value) {
                return Ok(());
            }
        }
        let [row, column] = at;
        if row == column && self.banner.symmetry == Symmetry::Skew {
            if element.is_zero(value) {
                return Ok(());
            }
            bail!("the skew-symmetric matrix has a value on its diagonal");
        }
        batch.coordinates.extend(at);
        batch.values.extend_from_slice(value);
        if row != column && self.banner.symmetry != Symmetry::General {
            batch.coordinates.extend([column, row]);
            mirrored(self.banner, value, &mut batch.values)?;
        }
        Ok(())
    }

    /// Advances to the coordinates of the next element of a Matrix Market array, column by column.
    fn step(&mut self) {
        let [row, column] = self.at;
        // No overflow: the row is less than the shape, and each column has at least one line.
        let below = row + 1;
        self.at = if below < self.shape[0] { [below, column] } else { [0, column + 1] };
        self.enter_triangle();
    }
}

/// Returns the number of value lines of a Matrix Market array. Returns `None` if the number does
/// not fit in 64 bits.
fn value_count(rows: u64, columns: u64, symmetry: Symmetry) -> Option<u64> {
    let triangle = |side: u64| Some(rows.checked_mul(side)? / 2);
    match symmetry {
        Symmetry::General => rows.checked_mul(columns),
        Symmetry::Symmetric | Symmetry::Hermitian => triangle(rows.checked_add(1)?),
        // A matrix without rows has no values.
        Symmetry::Skew => rows.checked_sub(1).map_or(Some(0), triangle),
    }
}

/// Parses a matrix index, which counts from 1. Returns the index counted from 0.
fn index(word: Option<&str>, subject: &str, size: u64) -> Result<u64> {
    let word = word.with_context(|| format!("the {subject} is missing"))?;
    if let Ok(index @ 1..) = word.parse::<u64>()
        && index <= size
    {
        return Ok(index - 1);
    }
    let index: i128 = word.parse().ok().with_context(|| format!("`{word}` is not a {subject}"))?;
    bail!("the {subject} {index} must be from 1 to {size}")
}

/// Parses a matrix value and stores it in a buffer. Returns the bytes of the value.
fn value<'w, 'b>(
    field: Field,
    words: &mut impl Iterator<Item = &'w str>,
    bytes: &'b mut [u8; 16],
) -> Result<&'b [u8]> {
    let mut word = || words.next().context("the value of the entry is missing");
    let (first, second) = bytes.split_at_mut(8);
    match field {
        Field::Real => real(word()?)?.encode(first),
        Field::Integer => whole::<i64>(word()?)?.encode(first),
        Field::Unsigned => whole::<u64>(word()?)?.encode(first),
        Field::Complex => {
            real(word()?)?.encode(first);
            real(word()?)?.encode(second);
        }
        Field::Pattern => {
            let (one, _) = bytes.split_at_mut(1);
            one.fill(1);
        }
    }
    bytes.get(..field.element().size()).context("a value has more than 16 bytes")
}

fn real(word: &str) -> Result<f64> {
    if let Ok(number) = word.parse() {
        return Ok(number);
    }
    // Fortran writes the exponent of double-precision numbers with a D.
    let number = word.replace(['d', 'D'], "e").parse();
    number.ok().with_context(|| format!("`{word}` is not a number"))
}

fn whole<T: std::str::FromStr>(word: &str) -> Result<T> {
    word.parse().ok().with_context(|| format!("`{word}` is not an integer of 64 bits"))
}

/// Appends the value of the entry that a symmetric matrix has on the other side of its diagonal.
/// Changes the sign or conjugates the value if the symmetry requires it.
fn mirrored(banner: Banner, value: &[u8], values: &mut Vec<u8>) -> Result<()> {
    let start = values.len();
    values.extend_from_slice(value);
    let copy = values.get_mut(start..).context("the value is missing")?;
    let (first, second) = copy.split_at_mut(copy.len().min(8));
    let negated = match (banner.symmetry, banner.field.element()) {
        (Symmetry::General | Symmetry::Symmetric, _) => Some(()),
        (Symmetry::Skew, Element::I64) => {
            i64::decode(first).and_then(i64::checked_neg).map(|number| number.encode(first))
        }
        (Symmetry::Skew, _) => negate(first).and(if second.is_empty() { Some(()) } else { negate(second) }),
        (Symmetry::Hermitian, _) => negate(second),
    };
    negated.context("the negated value does not fit in 64 bits")
}

fn negate(bytes: &mut [u8]) -> Option<()> {
    f64::decode(bytes).map(|number| (-number).encode(bytes))
}

impl Source for Reader {
    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn element(&self) -> Element {
        self.banner.field.element()
    }

    fn count(&self) -> Option<u64> {
        let mirrored = self.banner.symmetry != Symmetry::General;
        if mirrored { self.count.checked_mul(2) } else { Some(self.count) }
    }

    fn order(&self) -> Order {
        Order::Any
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.clear();
        while !self.ended && batch.len(2) < BATCH_ENTRIES {
            self.entry(batch).with_context(|| format!("line {}", self.lines.number))?;
        }
        Ok(!batch.is_empty())
    }
}
