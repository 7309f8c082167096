//! The text of numbers, as Python and NumPy print them: the fewest digits that identify the number.

use std::cmp::Ordering;

use hyperslab::datatype::convert::{Conversion, ConvertError};
use hyperslab::datatype::{ByteOrder, DatatypeClass, FixedPoint, FloatingPoint};
use hyperslab::{Datatype, H5Type};

use super::Value;

/// Converts one stored element to a Rust number for output.
fn element<T: H5Type>(datatype: &Datatype, bytes: &[u8]) -> Result<T, ConvertError> {
    let conversion = Conversion::new(datatype, &T::datatype())?;
    let values = T::read_vec(1, |out| conversion.convert(bytes, out, 1))?;
    values.first().copied().ok_or_else(|| ConvertError::unsupported(datatype, &T::datatype()))
}

/// Decodes an integer. An integer of more than 64 bits becomes hexadecimal digits, because a
/// conversion would clamp it.
pub(crate) fn integer(datatype: &Datatype, fixed: &FixedPoint, bytes: &[u8]) -> Result<Value, ConvertError> {
    if fixed.precision > 64 {
        return Ok(Value::Bytes(match fixed.order {
            ByteOrder::LittleEndian => hexadecimal(bytes.iter().rev().copied()),
            ByteOrder::BigEndian => hexadecimal(bytes.iter().copied()),
        }));
    }
    Ok(if fixed.signed {
        Value::Integer(element(datatype, bytes)?)
    } else {
        Value::Unsigned(element(datatype, bytes)?)
    })
}

/// Decodes a floating-point element to a value for output, with its shortest text.
pub(crate) fn float(
    datatype: &Datatype,
    format: &FloatingPoint,
    bytes: &[u8],
) -> Result<Value, ConvertError> {
    Ok(Value::Float(match format.mantissa_size {
        23 => single(element(datatype, bytes)?),
        52.. => double(element(datatype, bytes)?),
        _ => shortest(datatype, format, bytes)?,
    }))
}

/// Returns the shortest text that converts back to a single-precision number.
pub(crate) fn single(value: f32) -> String {
    let mut text = format!("{value:e}");
    if let Some(digits) = digits_to_round(value.into(), &text, 24) {
        let rounded = format!("{value:.digits$e}");
        text = if rounded.parse() == Ok(value) { rounded } else { text };
    }
    spell(&text, value.into(), 23)
}

/// Returns the shortest text that converts back to a double-precision number.
pub(crate) fn double(value: f64) -> String {
    let mut text = format!("{value:e}");
    if let Some(digits) = digits_to_round(value, &text, 53) {
        let rounded = format!("{value:.digits$e}");
        text = if rounded.parse() == Ok(value) { rounded } else { text };
    }
    spell(&text, value, 52)
}

/// Returns the number of fraction digits of the shortest text, if the value may lie halfway between
/// two texts of this length. In this case, Rust may choose the text with the odd last digit.
/// Rounding to this number of digits chooses the even one, as NumPy does.
///
/// A value halfway between two numbers of `n` decimals has exactly `n + 1` decimals, and a binary
/// number has as many decimals as fraction bits. For values of at least 2^`precision` the answer is
/// always `Some`.
fn digits_to_round(value: f64, shortest: &str, precision: i32) -> Option<usize> {
    let (mantissa, exponent) = shortest.split_once('e')?;
    let digits = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let decimals = i64::try_from(digits).ok()?.checked_sub(exponent.parse().ok()?)?;
    let (bits, power) = (value.to_bits() & ((1 << 52) - 1), (value.to_bits() >> 52) & 0x7ff);
    let (bits, power) = if power == 0 { (bits, 1) } else { (bits | 1 << 52, power) };
    let fraction_bits =
        1075_i64.checked_sub(i64::try_from(power).ok()?)?.checked_sub(bits.trailing_zeros().into())?;
    let is_halfway = fraction_bits == decimals.checked_add(1)? || value.abs() >= f64::powi(2.0, precision);
    is_halfway.then_some(digits)
}

/// Returns the shortest text that converts back to the same element. Serves floating-point formats
/// that Rust lacks.
fn shortest(datatype: &Datatype, format: &FloatingPoint, bytes: &[u8]) -> Result<String, ConvertError> {
    let number: f64 = element(datatype, bytes)?;
    let bits = format.mantissa_size;
    if number.is_finite() {
        let reverse = Conversion::new(&f64::datatype(), datatype)?;
        for digits in 0..9 {
            for text in near(number, digits) {
                let Ok(rounded) = text.parse::<f64>() else { continue };
                let mut converted = vec![0; bytes.len()];
                reverse.convert(&f64::to_bytes(&[rounded]), &mut converted, 1)?;
                if converted == bytes {
                    return Ok(spell(&text, number, bits));
                }
            }
        }
    }
    Ok(spell(&format!("{number:e}"), number, bits))
}

/// Returns numbers with `digits` fraction digits near `number`: first the nearest one, then its two
/// neighbours. For a power of two, a neighbour may be the better text, because its rounding range
/// is not symmetric.
fn near(number: f64, digits: usize) -> Vec<String> {
    let rounded = format!("{number:.digits$e}");
    let mut all = vec![rounded.clone()];
    let Some((mantissa, exponent)) = rounded.split_once('e') else { return all };
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (Ok(whole), Ok(exponent)) = (mantissa.replace('.', "").parse::<u64>(), exponent.parse::<i64>())
    else {
        return all;
    };
    // At most nine digits, so that no sum overflows.
    for neighbour in [Some(whole + 1), whole.checked_sub(1)].into_iter().flatten() {
        let text = neighbour.to_string();
        let Some((first, rest)) = text.split_at_checked(1) else { continue };
        // A number with fewer digits was tried before. One digit more raises the exponent.
        let exponent = match rest.len().cmp(&digits) {
            Ordering::Less => continue,
            Ordering::Equal => exponent,
            Ordering::Greater => exponent + 1,
        };
        all.push(format!("{sign}{first}.{rest}e{exponent}"));
    }
    all
}

/// Converts a number from the scientific notation of Rust to the notation of NumPy 2.4: `1.5`,
/// `1e-05`, `1e+16`, `nan`. The result stays scientific in two cases: for numbers below 0.0001, and
/// for numbers with more digits before the point than a mantissa of `bits` bits can represent.
fn spell(scientific: &str, value: f64, bits: u8) -> String {
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific.to_ascii_lowercase();
    };
    let Ok(exponent) = exponent.parse::<i32>() else { return scientific.to_owned() };
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(|character| *character != '.').collect();
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        trimmed => trimmed,
    };
    let large = match bits {
        0..=10 => 1e3,
        11..=23 => 1e6,
        _ => 1e16,
    };
    let size = value.abs();
    if size >= large || (size < 1e-4 && size > 0.0) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let direction = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{rest}e{direction}{:02}", exponent.unsigned_abs());
    }
    let Ok(whole) = usize::try_from(exponent) else {
        // The exponent is negative. It is at least -4, because smaller numbers are scientific.
        let zeros: String = (exponent + 1..0).map(|_| '0').collect();
        return format!("{sign}0.{zeros}{digits}");
    };
    let whole = whole + 1;
    match digits.split_at_checked(whole) {
        Some((whole, "")) => format!("{sign}{whole}.0"),
        Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{digits:0<whole$}.0"),
    }
}

/// Returns the bytes of an unsigned number as hexadecimal digits, most significant byte first.
pub(crate) fn hexadecimal(bytes: impl Iterator<Item = u8>) -> String {
    let mut text = String::from("0x");
    text.extend(bytes.map(|byte| format!("{byte:02x}")));
    text
}

/// Decodes a number. Returns `None` if elements of the datatype are not integers or floating-point
/// numbers.
pub(crate) fn number(datatype: &Datatype, bytes: &[u8]) -> Option<Result<Value, ConvertError>> {
    match &datatype.class {
        DatatypeClass::FixedPoint(fixed) => Some(integer(datatype, fixed, bytes)),
        DatatypeClass::FloatingPoint(format) => Some(float(datatype, format, bytes)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::datatype::ByteOrder::{BigEndian, LittleEndian};

    fn text(datatype: &Datatype, bytes: &[u8]) -> String {
        number(datatype, bytes).unwrap().unwrap().text(80)
    }

    #[test]
    fn doubles_are_printed_as_in_python() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (100.0, "100.0"),
            (123_456.789, "123456.789"),
            (0.0001, "0.0001"),
            (0.00012, "0.00012"),
            (0.00001, "1e-05"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e-300, "1.25e-300"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, expected) in cases {
            assert_eq!(text(&f64::datatype(), &f64::to_bytes(&[value])), expected);
        }
    }

    #[test]
    fn fewer_bits_need_fewer_digits() {
        let single = |value: f32| text(&f32::datatype(), &f32::to_bytes(&[value]));
        assert_eq!(
            [0.1, 999_999.0, 1e6, 16_777_216.0].map(single),
            ["0.1", "999999.0", "1e+06", "1.6777216e+07"]
        );
        // 1493162.25, halfway between two: the even one.
        assert_eq!(single(-1_493_162.3), "-1.4931622e+06");
        assert_eq!(single(0.3), "0.3");
        // The nearest number to 0.0001 is less.
        assert_eq!(single(0.0001), "1e-04");
        assert_eq!(text(&Datatype::f16(LittleEndian), &[0xff, 0x7b]), "6.55e+04");
        assert_eq!(text(&Datatype::f16(LittleEndian), &[0x66, 0x2e]), "0.1");
        assert_eq!(text(&Datatype::bf16(BigEndian), &[0x3d, 0xcd]), "0.1");
        // 0.015625, which 0.01562 misses: numbers below a power of two lie closer together.
        assert_eq!(text(&Datatype::f16(LittleEndian), &[0x00, 0x24]), "0.01563");
        assert_eq!(text(&Datatype::f16(LittleEndian), &[0x00, 0xa4]), "-0.01563");
    }

    #[test]
    fn integers() {
        let wide = Datatype::integer(9, false, LittleEndian);
        assert_eq!(text(&wide, &[1, 0, 0, 0, 0, 0, 0, 0, 2]), "0x020000000000000001");
        assert_eq!(text(&Datatype::u64(BigEndian), &[0xff; 8]), "18446744073709551615");
        assert_eq!(text(&Datatype::i8(), &[0x80]), "-128");
    }
}
