//! Numbers as the C library prints them.

use hyperslab::Datatype;
use hyperslab::H5Type;
use hyperslab::datatype::convert::Conversion;

use crate::values::Value;
use crate::values::numbers::number;

/// The largest width and precision of a number format. Rust formats at most 65535 digits.
const MAX_DIGITS: u16 = 9999;
/// Formats an integer element of a fixed-point datatype.
pub(crate) fn integer(datatype: &Datatype, bytes: &[u8]) -> String {
    match number(datatype, bytes) {
        Some(Ok(Value::Integer(value))) => value.to_string(),
        Some(Ok(Value::Unsigned(value))) => value.to_string(),
        _ => bytes_of(bytes),
    }
}

/// Returns the significant bits of an integer element.
pub(crate) fn unsigned(datatype: &Datatype, bytes: &[u8]) -> u64 {
    let mask = if datatype.size < 8 { (1_u64 << (datatype.size * 8)) - 1 } else { u64::MAX };
    match number(datatype, bytes) {
        Some(Ok(Value::Integer(value))) => value.cast_unsigned() & mask,
        Some(Ok(Value::Unsigned(value))) => value & mask,
        _ => 0,
    }
}

/// Converts a floating-point element to a double.
pub(crate) fn float(datatype: &Datatype, bytes: &[u8]) -> Option<f64> {
    let conversion = Conversion::new(datatype, &f64::datatype()).ok()?;
    f64::read_vec(1, |out| conversion.convert(bytes, out, 1)).ok()?.first().copied()
}

/// Formats bytes in memory order: `0x1f` for one byte, `1f:20` for several bytes.
pub(crate) fn bytes_of(bytes: &[u8]) -> String {
    match bytes {
        [one] => format!("0x{one:02x}"),
        many => many.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":"),
    }
}

/// A format for floating-point numbers: one `printf` conversion, and the text around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Format {
    before: String,
    flags: String,
    width: u16,
    precision: Option<u16>,
    conversion: char,
    after: String,
}

impl Default for Format {
    /// Returns the format `%g`.
    fn default() -> Self {
        let (before, flags, after) = (String::new(), String::new(), String::new());
        Self { before, flags, width: 0, precision: None, conversion: 'g', after }
    }
}

impl Format {
    /// Returns the format `%g` with a precision.
    pub(crate) fn general(precision: u16) -> Self {
        Self { precision: Some(precision), ..Self::default() }
    }

    /// Parses a number format such as `%.7f` or `%-12.3lg`. Returns `None` unless the format has
    /// exactly one conversion, which is for floating-point numbers. Width and precision must be at
    /// most `MAX_DIGITS`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (before, rest) = text.split_once('%')?;
        let flags: String = rest.chars().take_while(|flag| "-+ #0".contains(*flag)).collect();
        let rest = rest.get(flags.len()..)?;
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
        let (width, rest) = rest.split_at_checked(digits(rest))?;
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(rest) => {
                let (precision, rest) = rest.split_at_checked(digits(rest))?;
                (Some(digit_count(precision)?), rest)
            }
            None => (None, rest),
        };
        let rest = rest.trim_start_matches(['l', 'L', 'h']);
        let conversion = rest.chars().next().filter(|letter| "fFeEgG".contains(*letter))?;
        let after = rest.get(1..)?.to_owned();
        let width = digit_count(width)?;
        (!after.contains('%')).then(|| Self {
            before: before.into(),
            flags,
            width,
            precision,
            conversion,
            after,
        })
    }

    /// Returns a number as text in this format.
    pub(crate) fn print(&self, value: f64) -> String {
        let has = |flag| self.flags.contains(flag);
        let magnitude = value.abs();
        let digits = if magnitude.is_nan() {
            "nan".into()
        } else if magnitude.is_infinite() {
            "inf".into()
        } else {
            let precision = usize::from(self.precision.unwrap_or(6));
            match self.conversion.to_ascii_lowercase() {
                'f' => format!("{magnitude:.precision$}"),
                'e' => exponential(magnitude, precision),
                _ => general(magnitude, self.precision.unwrap_or(6), has('#')),
            }
        };
        let sign = match (value.is_sign_negative(), has('+'), has(' ')) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        };
        let zeros = has('0') && !has('-') && magnitude.is_finite();
        let width = usize::from(self.width);
        // A sign as wide as the number leaves no columns to fill.
        let columns = width.saturating_sub(sign.len());
        let number = if zeros { format!("{sign}{digits:0>columns$}") } else { format!("{sign}{digits}") };
        let number = if has('-') { format!("{number:<width$}") } else { format!("{number:>width$}") };
        let number = if self.conversion.is_ascii_uppercase() { number.to_ascii_uppercase() } else { number };
        format!("{}{number}{}", self.before, self.after)
    }
}

/// Parses the width or the precision of a number format. An empty text is 0, as in C.
fn digit_count(text: &str) -> Option<u16> {
    if text.is_empty() {
        return Some(0);
    }
    text.parse().ok().filter(|count| *count <= MAX_DIGITS)
}

/// Formats a number like `%e`: the exponent has a sign and at least two digits.
fn exponential(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// Formats a number like `%g`: with at most `precision` significant digits, and without trailing
/// zeros.
fn general(magnitude: f64, precision: u16, keep_zeros: bool) -> String {
    let significant = precision.max(1);
    let decimals = usize::from(significant - 1);
    let rounded = format!("{magnitude:.decimals$e}");
    let exponent: i32 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let digits = i32::from(significant);
    let (number, tail) = if exponent >= -4 && exponent < digits {
        // The exponent is less than the number of digits, so that the difference is not negative.
        let decimals = (digits - 1 - exponent).unsigned_abs() as usize;
        (format!("{magnitude:.decimals$}"), String::new())
    } else {
        let text = exponential(magnitude, decimals);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        (mantissa.to_owned(), format!("e{exponent}"))
    };
    if keep_zeros || !number.contains('.') {
        return format!("{number}{tail}");
    }
    format!("{}{tail}", number.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_in_c() {
        for (format, value, expected) in [
            ("%g", 0.1, "0.1"),
            ("%g", 1.0 / 3.0, "0.333333"),
            ("%g", 1e6, "1e+06"),
            ("%g", 999_999.5, "1e+06"),
            ("%g", 123_456.0, "123456"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%g", -0.0, "-0"),
            ("%g", f64::NAN, "nan"),
            ("%g", f64::NEG_INFINITY, "-inf"),
            ("%.7f", 1.5, "1.5000000"),
            ("%.17g", 0.1, "0.10000000000000001"),
            ("%10.3e|", 12345.678, " 1.235e+04|"),
            ("%-8.2lf<", 2.0, "2.00    <"),
            ("%+08.2f", 3.25, "+0003.25"),
            ("%G", 1e-10, "1E-10"),
            ("%#.3g", 1.0, "1.00"),
        ] {
            assert_eq!(Format::parse(format).unwrap().print(value), expected, "{format} of {value}");
        }
        for wrong in ["", "g", "%d", "%g %g", "%s", "%.65536g", "%70000f"] {
            assert_eq!(Format::parse(wrong), None, "{wrong}");
        }
    }
}
