//! Numbers as comma-separated values, as `numpy.savetxt` writes them.

use std::io::Write as _;

use hyperslab::{Datatype, H5Type};

use super::super::numpy::{Dtype, carrier};
use super::super::selection::Block;
use super::super::{Answer, AnswerLimits, Failure};
use super::stream::{self, Encoder, Source};

/// The encoder of lines.
struct Csv {
    /// The number of elements in a line.
    columns: u64,
    column: u64,
    /// The number of lines, if they have no elements.
    empty_lines: u64,
    complex: bool,
}

/// The largest number of lines without elements.
const MAX_EMPTY_LINES: u64 = 1 << 20;

pub(super) fn answer(
    source: Source,
    dtype: &Dtype,
    shape: &[u64],
    limits: &AnswerLimits,
) -> Result<Answer, Failure> {
    let (lines, columns) = match shape {
        [lines] => (*lines, 1),
        [lines, columns] => (*lines, *columns),
        _ => {
            return Err(Failure::refused(format!(
                "Expected 1D or 2D array, got {}D array instead",
                shape.len()
            )));
        }
    };
    let empty_lines = if columns == 0 { lines } else { 0 };
    if empty_lines > MAX_EMPTY_LINES {
        return Err(Failure::refused("the array has no elements, and too many empty rows"));
    }
    let complex = matches!(dtype.item(), Dtype::Complex { .. });
    let encoder = Csv { columns, column: 0, empty_lines, complex };
    stream::answer(source, encoder, limits, "text/csv", Some("attachment; filename=\"data.csv\""))
}

impl Encoder for Csv {
    fn start(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.extend((0..self.empty_lines).map(|_| b'\n'));
        Ok(())
    }

    fn block(&mut self, source: &Source, block: &Block, out: &mut Vec<u8>) -> Result<(), Failure> {
        let numbers = numbers(source, block, self.complex)?;
        let mut numbers = numbers.chunks_exact(if self.complex { 2 } else { 1 });
        for number in &mut numbers {
            if self.column > 0 {
                out.push(b',');
            }
            match number {
                [real, imaginary] => {
                    let sign = if imaginary.is_sign_negative() { "" } else { "+" };
                    write(out, format_args!(" ({}{sign}{}j)", exponent(*real), exponent(*imaginary)))?;
                }
                [number] => write(out, format_args!("{}", exponent(*number)))?,
                _ => return Err(Failure::internal("a number has one or two parts")),
            }
            self.column += 1;
            if self.column == self.columns {
                out.push(b'\n');
                self.column = 0;
            }
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<u8>) {}
}

fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) -> Result<(), Failure> {
    out.write_fmt(text).map_err(|error| Failure::internal(error.to_string()))
}

/// Reads the elements of a block as numbers; of complex elements, both parts in turn.
fn numbers(source: &Source, block: &Block, complex: bool) -> Result<Vec<f64>, Failure> {
    let stored = source.read(block)?;
    let carrier =
        carrier(source.dataset.datatype()).ok_or_else(|| Failure::refused("elements are no numbers"))?;
    let number = |datatype: &Datatype| number_of(datatype, complex);
    let memory = number(&carrier);
    let parts = if complex { 2 } else { 1 };
    let items = carrier_items(&carrier);
    let count = block.count.checked_mul(items).and_then(|count| count.checked_mul(parts));
    let count = count.ok_or_else(|| Failure::refused("the selection has too many elements"))?;
    let conversion = hyperslab::datatype::convert::Conversion::new(&carrier, &memory);
    let conversion = conversion.map_err(hyperslab::Error::from)?;
    let read = |out: &mut [u8]| conversion.convert(&stored, out, block.count);
    Ok(f64::read_vec(count, read).map_err(hyperslab::Error::from)?)
}

/// Returns the datatype of the same arrays of 64-bit floats.
fn number_of(datatype: &Datatype, complex: bool) -> Datatype {
    match &datatype.class {
        hyperslab::DatatypeClass::Array(array) => {
            Datatype::array(array.dims.clone(), number_of(&array.base, complex))
        }
        _ if complex => Datatype::complex_compound(f64::datatype()),
        _ => f64::datatype(),
    }
}

/// Returns the number of items in an element that may be an array.
fn carrier_items(datatype: &Datatype) -> usize {
    match &datatype.class {
        hyperslab::DatatypeClass::Array(array) => {
            // The size of the datatype, which fits 32 bits, bounds the product.
            datatype.array_len().unwrap_or(0) * carrier_items(&array.base)
        }
        _ => 1,
    }
}

/// Returns a number with 18 digits and an exponent of at least two digits, as C writes it.
fn exponent(number: f64) -> String {
    if number.is_nan() {
        return "nan".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let text = format!("{number:.18e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::exponent;

    #[test]
    fn numbers_are_written_as_c_writes_them() {
        assert_eq!(exponent(1.5), "1.500000000000000000e+00");
        assert_eq!(exponent(-0.1), "-1.000000000000000056e-01");
        assert_eq!(exponent(1e100), "1.000000000000000016e+100");
        assert_eq!(exponent(f64::NEG_INFINITY), "-inf");
        assert_eq!(exponent(f64::NAN), "nan");
    }
}
