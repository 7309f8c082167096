//! The lines with which h5diff prints differences: a head, and a line for each difference.

use std::io::{self, Write};

use hyperslab_exact::to_u64;

use crate::compare::elements::{Leaf, Texts};
use crate::compare::rules::{Distance, Number, Numbers, Rules};
use crate::output::in_line;
use crate::tools::printf::Format;

/// The head of h5diff's output above the differences of two datasets or attributes.
#[derive(Debug)]
pub(super) struct Head {
    /// The shapes as text.
    pub(super) sizes: [String; 2],
    /// The names without the groups.
    pub(super) names: [String; 2],
}

/// The format of h5diff's output lines for differing elements.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// The rules for numbers. Bytes are compared as numbers.
    pub(super) rules: Rules,
    /// True to print differences also as a share of the first value.
    pub(super) relative: bool,
    /// True if the dataset has no dimensions.
    pub(super) is_scalar: bool,
}

impl Head {
    pub(super) fn write(&self, out: &mut dyn Write, relative: bool) -> io::Result<()> {
        let [size, other_size] = &self.sizes;
        let [name, other_name] = self.names.each_ref().map(in_line);
        writeln!(out, "size:           {size}           {other_size}")?;
        if relative {
            writeln!(
                out,
                "position        {name:<15} {other_name:<15} {:<15} {:<15}",
                "difference", "relative"
            )?;
            writeln!(out, "{}", "-".repeat(72))
        } else {
            writeln!(out, "position        {name:<15} {other_name:<15} {:<20}", "difference")?;
            writeln!(out, "{}", "-".repeat(60))
        }
    }
}

impl Rows {
    /// Returns the number of differences that h5diff counts for a pair of differing values.
    pub(super) fn count(&self, leaf: &Leaf<'_>) -> u64 {
        match leaf {
            Leaf::Texts(texts) => {
                let has_other_length =
                    u64::from(texts.padding.is_none() && texts.one.len() != texts.other.len());
                has_other_length + to_u64(characters(texts).filter(|pair| pair.counts).count())
            }
            Leaf::Bytes(one, other) => {
                to_u64(one.len().abs_diff(other.len())) + to_u64(self.bytes(one, other).count())
            }
            _ => 1,
        }
    }

    /// Returns true if the output line has a column for the relative difference.
    pub(super) fn has_relative(&self, leaf: &Leaf<'_>) -> bool {
        match leaf {
            Leaf::Numbers(numbers) => self.relative && !numbers.distance().as_f64().is_nan(),
            Leaf::Bytes(..) => self.relative,
            _ => false,
        }
    }

    /// Writes the output lines for a pair of differing elements.
    pub(super) fn write(&self, out: &mut dyn Write, coordinates: &[u64], leaf: &Leaf<'_>) -> io::Result<()> {
        let position = self.position(coordinates);
        match leaf {
            Leaf::Numbers(numbers) => self.numbers(out, &position, numbers),
            Leaf::Names(one, other) => {
                let name = |name: &Option<&[u8]>| name.map_or("**INVALID VALUE**".into(), in_line);
                writeln!(out, "{position}{:<16} {:<17}", name(one), name(other))
            }
            Leaf::Texts(texts) => {
                for pair in characters(texts) {
                    let [one, other] = pair.shown.map(character);
                    // In a single text, the position is the position of the character.
                    let position = if self.is_scalar {
                        format!("[ {}]", pair.position)
                    } else {
                        position.trim_end().into()
                    };
                    writeln!(out, "{position}            {one}            {other}")?;
                }
                Ok(())
            }
            Leaf::Bytes(one, other) => {
                self.bytes(one, other).try_for_each(|numbers| self.numbers(out, &position, &numbers))
            }
            Leaf::Lengths(one, other) => {
                let (one_text, other_text) = (format!("length {one}"), format!("length {other}"));
                let distance = one.abs_diff(*other);
                writeln!(out, "{position}{one_text:<15} {other_text:<15} {distance:<15}")
            }
            Leaf::References(..) => Ok(()),
        }
    }

    /// Returns pairs of numbers for the bytes that differ between two elements.
    fn bytes<'b>(&'b self, one: &'b [u8], other: &'b [u8]) -> impl Iterator<Item = Numbers> + 'b {
        let pairs = one.iter().zip(other).map(|(one, other)| {
            let [one, other] = [*one, *other].map(|byte| Number::Integer(byte.into()));
            Numbers { one, other }
        });
        pairs.filter(|numbers| numbers.differ(&self.rules))
    }

    /// Returns the coordinates of a differing element as text, followed by spaces.
    fn position(&self, coordinates: &[u64]) -> String {
        if self.is_scalar {
            return " ".repeat(16);
        }
        let coordinates: Vec<String> = coordinates.iter().map(u64::to_string).collect();
        format!("[ {} ]          ", coordinates.join(" "))
    }

    fn numbers(&self, out: &mut dyn Write, position: &str, numbers: &Numbers) -> io::Result<()> {
        let is_relative = self.relative && !numbers.distance().as_f64().is_nan();
        let digits = if is_relative { Some(10) } else { None };
        let [one, other] = [numbers.one, numbers.other].map(|number| number_text(number, digits));
        let distance = match numbers.distance() {
            Distance::Integer(distance) => distance.to_string(),
            distance => float(signed(numbers, distance.as_f64()), digits),
        };
        if !is_relative {
            return writeln!(out, "{position}{one:<15} {other:<15} {distance:<15}");
        }
        let is_integer = matches!(numbers.one, Number::Integer(_));
        let relative = match numbers.relative_to_first() {
            Some(relative) if is_integer => format!("{relative:.6}"),
            Some(relative) => float(relative, digits),
            None => "not comparable".into(),
        };
        writeln!(out, "{position}{one:<15} {other:<15} {distance:<15} {relative:<14}")
    }
}

fn number_text(number: Number, digits: Option<u16>) -> String {
    match number {
        Number::Integer(value) => value.to_string(),
        Number::Single(value) => float(value.into(), digits),
        Number::Double(value) => float(value, digits),
    }
}

fn float(value: f64, digits: Option<u16>) -> String {
    digits.map_or_else(Format::default, Format::general).print(value)
}

/// Returns the absolute difference of two numbers with the sign that the C tool h5diff prints for
/// zero and NaN. A NaN has the opposite sign of the operand that is NaN.
fn signed(numbers: &Numbers, distance: f64) -> f64 {
    if distance == 0.0 {
        return numbers.one.as_f64() - numbers.other.as_f64();
    }
    if !distance.is_nan() {
        return distance;
    }
    let operand = [numbers.one.as_f64(), numbers.other.as_f64()].into_iter().find(|value| value.is_nan());
    let is_negative = operand.is_some_and(f64::is_sign_positive);
    if is_negative { -f64::NAN.abs() } else { f64::NAN.abs() }
}

/// A pair of differing characters of two compared texts.
struct Characters {
    position: usize,
    /// The characters in the order in which they are printed: the shorter text first. If the
    /// lengths are equal, the second text comes first.
    shown: [u8; 2],
    /// False for characters beyond the end of the shorter text, which do not count as differences.
    counts: bool,
}

/// Returns the differing characters of two texts. If the texts have different lengths, compares the
/// common positions. Compares further positions only if the texts are equal at the common
/// positions.
fn characters<'a>(texts: &'a Texts<'_>) -> impl Iterator<Item = Characters> + 'a {
    let (one, other) = (&*texts.one, &*texts.other);
    let (first, second, filler) = match texts.padding {
        Some((fill, _)) => (other, one, fill),
        None if one.len() < other.len() => (one, other, 0),
        None => (other, one, 0),
    };
    let shorter = first.len().min(second.len());
    let begin_alike = first.iter().zip(second).all(|(one, other)| one == other);
    let end = match texts.padding {
        Some((_, size)) => size,
        None if begin_alike => first.len().max(second.len()),
        None => shorter,
    };
    let is_padded = texts.padding.is_some();
    (0..end).filter_map(move |position| {
        let at = |text: &[u8]| text.get(position).copied().unwrap_or(filler);
        let shown = [at(first), at(second)];
        let counts = is_padded || position < shorter;
        (shown[0] != shown[1]).then_some(Characters { position, shown, counts })
    })
}

/// Returns a character as text, or as an escape if it is not printable.
fn character(byte: u8) -> String {
    match byte {
        b'\t' => "\\t".into(),
        b'\n' => "\\n".into(),
        b'\r' => "\\r".into(),
        0x08 => "\\b".into(),
        0x0c => "\\f".into(),
        b'"' => "\\\"".into(),
        b'\\' => "\\\\".into(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    }
}
