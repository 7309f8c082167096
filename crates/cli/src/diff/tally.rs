//! The counter of differing elements of two datasets.

use anyhow::Result;
use hyperslab::ReferenceTarget;
use indicatif::ProgressBar;
use serde_json::{Value as Json, json};

use super::found::{DifferingValues, Shown, Tally};
use crate::compare::blocks::PlacedListener;
use crate::compare::elements::Leaf;
use crate::compare::rules::{Number, Numbers};
use crate::output::cut;
use crate::values::Value;
use crate::values::numbers::{double, hexadecimal, single};
use crate::values::paths::Paths;

/// The largest width of a value in the output of a comparison, in columns.
const VALUE_COLUMNS: usize = 40;

/// A receiver of differences that counts differing elements of two datasets.
pub(super) struct Counter<'a> {
    pub(super) tally: Tally,
    /// The largest number of differing elements that are kept.
    max_places: usize,
    /// True if the counter only records whether there is a difference.
    is_quiet: bool,
    paths: [&'a Paths; 2],
    bar: &'a ProgressBar,
    last: Option<Vec<u64>>,
}

impl<'a> Counter<'a> {
    pub(super) fn new(
        max_places: usize,
        is_quiet: bool,
        paths: [&'a Paths; 2],
        bar: &'a ProgressBar,
    ) -> Self {
        Self { tally: Tally::default(), max_places, is_quiet, paths, bar, last: None }
    }

    fn values(&self, leaf: &Leaf<'_>) -> [Shown; 2] {
        match leaf {
            Leaf::Numbers(numbers) => [number(numbers.one), number(numbers.other)],
            Leaf::Names(one, other) => [*one, *other].map(|name| match name {
                Some(name) => shown(&Value::Name(name.to_vec())),
                None => text("a value without a name"),
            }),
            Leaf::Texts(texts) => [&texts.one, &texts.other].map(|text| shown(&Value::Text(text.to_vec()))),
            Leaf::Bytes(one, other) => [*one, *other].map(|bytes| text(&hexadecimal(bytes.iter().copied()))),
            Leaf::Lengths(one, other) => {
                [*one, *other].map(|length| text(&crate::output::count(length, "item")))
            }
            Leaf::References(one, other) => {
                let [paths, other_paths] = self.paths;
                [(one, paths), (other, other_paths)]
                    .map(|(reference, paths)| text(&target_text(reference.target(), paths)))
            }
        }
    }

    /// Updates the largest absolute and relative differences with two differing numbers.
    fn measure(&mut self, coordinates: &[u64], numbers: &Numbers) {
        let distances = [
            (&mut self.tally.largest, numbers.distance().as_f64()),
            (&mut self.tally.largest_share, numbers.relative_to_larger()),
        ];
        for (largest, distance) in distances {
            if !distance.is_nan() && largest.as_ref().is_none_or(|(largest, _)| distance > *largest) {
                *largest = Some((distance, coordinates.to_vec()));
            }
        }
    }

    fn is_same_target(&self, one: &ReferenceTarget, other: &ReferenceTarget) -> bool {
        let [paths, other_paths] = self.paths;
        let region = |target: &ReferenceTarget| match target {
            ReferenceTarget::Region(_, region) => Some(region.clone()),
            _ => None,
        };
        one == other && !matches!(one, ReferenceTarget::Object(_))
            || target_text(one, paths) == target_text(other, other_paths) && region(one) == region(other)
    }
}

impl PlacedListener for Counter<'_> {
    fn found(&mut self, coordinates: &[u64], part: &[u8], leaf: Leaf<'_>) -> Result<()> {
        if let Leaf::References(one, other) = &leaf
            && self.is_same_target(one.target(), other.target())
        {
            return Ok(());
        }
        if let Leaf::Numbers(numbers) = &leaf {
            self.measure(coordinates, numbers);
        }
        if self.last.as_deref() != Some(coordinates) {
            self.tally.differing += 1;
            self.last = Some(coordinates.to_vec());
        }
        if self.tally.places.len() < self.max_places {
            let [one, other] = self.values(&leaf);
            let part = crate::output::escape(part);
            self.tally.places.push(DifferingValues { coordinates: coordinates.to_vec(), part, one, other });
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.is_quiet && self.tally.differing > 0
    }

    fn progress(&mut self, elements: u64, of: u64) {
        self.bar.set_length(of);
        self.bar.set_position(elements);
    }
}

fn number(number: Number) -> Shown {
    match number {
        Number::Integer(value) => {
            let json = i64::try_from(value)
                .map(|value| json!(value))
                .or_else(|_| u64::try_from(value).map(|value| json!(value)));
            Shown { text: value.to_string(), json: json.unwrap_or(Json::Null) }
        }
        Number::Single(value) => shown(&Value::Float(single(value))),
        Number::Double(value) => shown(&Value::Float(double(value))),
    }
}

pub(super) fn shown(value: &Value) -> Shown {
    Shown { text: value.text(VALUE_COLUMNS), json: value.json() }
}

fn text(text: &str) -> Shown {
    Shown { text: cut(text, VALUE_COLUMNS), json: json!(text) }
}

/// Describes the target of a reference as text.
fn target_text(target: &ReferenceTarget, paths: &Paths) -> String {
    let path = |address: u64| paths.of(address).unwrap_or_else(|| format!("object at {address:#x}"));
    match target {
        ReferenceTarget::Null => "nothing".into(),
        ReferenceTarget::Object(token) => path(token.address()),
        ReferenceTarget::Region(token, _) => format!("a region of {}", path(token.address())),
        ReferenceTarget::Attribute(token, name) => {
            format!("{}@{}", path(token.address()), crate::output::escape(name))
        }
        ReferenceTarget::External { file, .. } => {
            format!("an object in {}", crate::output::escape(file))
        }
        _ => "a target of unknown kind".into(),
    }
}
