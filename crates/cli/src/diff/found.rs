//! What was found, in no words yet.

use serde_json::Value as Json;

/// Something that was compared.
#[derive(Debug)]
pub(super) struct Finding {
    /// Its path, and that in the other file if it is another one.
    pub(super) path: String,
    pub(super) other_path: Option<String>,
    pub(super) change: Change,
}

/// What became of it.
#[derive(Debug)]
pub(super) enum Change {
    /// Nothing.
    Same,
    /// It is only in the first file, and what it is.
    Removed(String),
    /// It is only in the second file, and what it is.
    Added(String),
    Changed(Vec<Detail>),
    /// It could not be read, but for what was found before.
    Trouble(String, Vec<Detail>),
}

/// What differs in an object or attribute.
#[derive(Debug)]
pub(super) enum Detail {
    /// A property, by its name, in both.
    Property { name: &'static str, one: String, other: String },
    /// Elements.
    Elements(Tally),
    /// Elements that are not compared, and why.
    NotCompared(String),
    /// Elements that are defined in the first alone, and in the second alone.
    Defined { one: u64, other: u64 },
    /// An attribute.
    Attribute { name: String, change: AttributeChange },
}

/// What became of an attribute.
#[derive(Debug)]
pub(super) enum AttributeChange {
    Removed(Shown),
    Added(Shown),
    Changed { one: Shown, other: Shown, details: Vec<Detail> },
}

/// A value, as text and for JSON.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) json: Json,
}

/// How many elements differ, how far, and where the first of them are.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) elements: u64,
    pub(super) differing: u64,
    /// The largest distance of two numbers, and where that is, ...
    pub(super) largest: Option<(f64, Vec<u64>)>,
    /// ... and the largest one as a share of the larger number.
    pub(super) largest_share: Option<(f64, Vec<u64>)>,
    pub(super) places: Vec<DifferingValues>,
}

/// Two values that differ, and their place.
#[derive(Debug)]
pub(super) struct DifferingValues {
    pub(super) coordinates: Vec<u64>,
    /// The part of a record, with a point in front.
    pub(super) part: String,
    pub(super) one: Shown,
    pub(super) other: Shown,
}

/// How much was found.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) same: u64,
    pub(super) changed: u64,
    pub(super) removed: u64,
    pub(super) added: u64,
    pub(super) trouble: u64,
}

impl Counts {
    pub(super) fn add(&mut self, finding: &Finding) {
        let place = match finding.change {
            Change::Same => &mut self.same,
            Change::Removed(_) => &mut self.removed,
            Change::Added(_) => &mut self.added,
            Change::Changed(_) => &mut self.changed,
            Change::Trouble(..) => &mut self.trouble,
        };
        *place = place.saturating_add(1);
    }

    pub(super) fn is_same(&self) -> bool {
        (self.changed, self.removed, self.added, self.trouble) == (0, 0, 0, 0)
    }
}
