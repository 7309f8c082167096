//! The lines that tell differences: a head, then a line for each.

use std::io::{self, Write};

use crate::compare::elements::{Leaf, Texts};
use crate::compare::rules::{Distance, Number, Numbers, Rules};
use crate::output::in_line;
use crate::tools::printf::Format;

/// What stands above the differences of two datasets or attributes.
#[derive(Debug)]
pub(super) struct Head {
    /// Shapes, as they are printed.
    pub(super) sizes: [String; 2],
    /// Names without the groups they are in.
    pub(super) names: [String; 2],
}

/// What is used of a differing pair.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// When numbers differ, and bytes, which are taken for numbers.
    pub(super) rules: Rules,
    /// Differences are also told as a part of the first value.
    pub(super) relative: bool,
    /// The dataset has no dimensions.
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
    /// How many differences the pair counts for.
    pub(super) fn count(&self, leaf: &Leaf<'_>) -> u64 {
        match leaf {
            Leaf::Texts(texts) => {
                let apart = u64::from(texts.room.is_none() && texts.one.len() != texts.other.len());
                characters(texts).filter(|pair| pair.counts).fold(apart, |count, _| count.saturating_add(1))
            }
            Leaf::Bytes(one, other) => {
                let rest = u64::try_from(one.len().abs_diff(other.len())).unwrap_or(u64::MAX);
                self.bytes(one, other).fold(rest, |count, _| count.saturating_add(1))
            }
            _ => 1,
        }
    }

    /// Returns whether the line has a column for the difference as a part of the first value.
    pub(super) fn has_relative(&self, leaf: &Leaf<'_>) -> bool {
        match leaf {
            Leaf::Numbers(numbers) => self.relative && !numbers.distance().as_f64().is_nan(),
            Leaf::Bytes(..) => self.relative,
            _ => false,
        }
    }

    /// The lines of a pair.
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
                    // A lone text tells the place of the character in it.
                    let place = if self.is_scalar {
                        format!("[ {}]", pair.place)
                    } else {
                        position.trim_end().into()
                    };
                    writeln!(out, "{place}            {one}            {other}")?;
                }
                Ok(())
            }
            Leaf::Bytes(one, other) => {
                self.bytes(one, other).try_for_each(|numbers| self.numbers(out, &position, &numbers))
            }
            Leaf::Lengths(one, other) => {
                let (one, other, apart) =
                    (format!("length {one}"), format!("length {other}"), one.abs_diff(*other));
                writeln!(out, "{position}{one:<15} {other:<15} {apart:<15}")
            }
            Leaf::References(..) => Ok(()),
        }
    }

    /// The bytes that differ, as numbers.
    fn bytes<'b>(&'b self, one: &'b [u8], other: &'b [u8]) -> impl Iterator<Item = Numbers> + 'b {
        let pairs = one.iter().zip(other).map(|(one, other)| {
            let [one, other] = [*one, *other].map(|byte| Number::Integer(byte.into()));
            Numbers { one, other }
        });
        pairs.filter(|numbers| numbers.differ(&self.rules))
    }

    /// Coordinates, with room behind them.
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
        let [one, other] = [numbers.one, numbers.other].map(|number| spelled(number, digits));
        let apart = match numbers.distance() {
            Distance::Integer(apart) => apart.to_string(),
            apart => float(signed(numbers, apart.as_f64()), digits),
        };
        if !is_relative {
            return writeln!(out, "{position}{one:<15} {other:<15} {apart:<15}");
        }
        let is_integer = matches!(numbers.one, Number::Integer(_));
        let relative = match numbers.relative_to_first() {
            Some(relative) if is_integer => format!("{relative:.6}"),
            Some(relative) => float(relative, digits),
            None => "not comparable".into(),
        };
        writeln!(out, "{position}{one:<15} {other:<15} {apart:<15} {relative:<14}")
    }
}

fn spelled(number: Number, digits: Option<usize>) -> String {
    match number {
        Number::Integer(value) => value.to_string(),
        Number::Single(value) => float(value.into(), digits),
        Number::Double(value) => float(value, digits),
    }
}

fn float(value: f64, digits: Option<usize>) -> String {
    match digits {
        Some(_) => Format::parse("%.10g").unwrap_or_default().print(value),
        None => Format::default().print(value),
    }
}

/// A distance that is zero or not a number has the sign that the C tool's arithmetic gives it: that of the difference, or of
/// the operand turned round.
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

/// Two characters that differ.
struct Characters {
    place: usize,
    /// In the order in which they are printed: that of the shorter text first, else that of the second text.
    shown: [u8; 2],
    /// Not so for what the longer text has more.
    counts: bool,
}

/// The characters that differ. Of texts of different length only those that both have, unless these are all the same.
fn characters<'a>(texts: &'a Texts<'_>) -> impl Iterator<Item = Characters> + 'a {
    let (one, other) = (&*texts.one, &*texts.other);
    let (first, second, filler) = match texts.room {
        Some((fill, _)) => (other, one, fill),
        None if one.len() < other.len() => (one, other, 0),
        None => (other, one, 0),
    };
    let shorter = first.len().min(second.len());
    let begin_alike = first.iter().zip(second).all(|(one, other)| one == other);
    let end = match texts.room {
        Some((_, room)) => room,
        None if begin_alike => first.len().max(second.len()),
        None => shorter,
    };
    let is_padded = texts.room.is_some();
    (0..end).filter_map(move |place| {
        let at = |text: &[u8]| text.get(place).copied().unwrap_or(filler);
        let shown = [at(first), at(second)];
        (shown[0] != shown[1]).then_some(Characters { place, shown, counts: is_padded || place < shorter })
    })
}

/// A character, or its number.
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
