//! The findings (equal, differing and missing objects) of a comparison of two files, independent of
//! the output format.

use serde_json::Value as Json;

/// A finding of a comparison of two files: the result for a pair of objects or links, or for an
/// object or link that exists in one file only.
#[derive(Debug)]
pub(super) struct Finding {
    /// The path in the first file.
    pub(super) path: String,
    /// The path in the second file, if it differs.
    pub(super) other_path: Option<String>,
    pub(super) change: Change,
}

/// The result of comparing a pair of objects or links.
#[derive(Debug)]
pub(super) enum Change {
    /// Nothing differs.
    Same,
    /// Only the first file has the object or link, which the text describes.
    Removed(String),
    /// Only the second file has the object or link, which the text describes.
    Added(String),
    Changed(Vec<Detail>),
    /// An error, and the differences that were found before it.
    Trouble(String, Vec<Detail>),
}

/// A difference between two compared objects or attributes.
#[derive(Debug)]
pub(super) enum Detail {
    /// A property by its name, with the values of both sides.
    Property { name: &'static str, one: String, other: String },
    /// Differing elements.
    Elements(Tally),
    /// Elements that are not compared, and the reason.
    NotCompared(String),
    /// The number of elements that are only defined on the first side, and only on the second side.
    Defined { one: u64, other: u64 },
    /// A differing attribute.
    Attribute { name: String, change: AttributeChange },
}

/// The result of comparing two attributes with the same name.
#[derive(Debug)]
pub(super) enum AttributeChange {
    Removed(Shown),
    Added(Shown),
    Changed { one: Shown, other: Shown, details: Vec<Detail> },
}

/// An attribute value for the output of a comparison, as text and for JSON.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) json: Json,
}

/// The differences between the elements of two datasets: their number, the largest differences, and
/// the first differing elements.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) elements: u64,
    pub(super) differing: u64,
    /// The largest distance of two numbers, and its coordinates.
    pub(super) largest: Option<(f64, Vec<u64>)>,
    /// The largest distance as a share of the larger number, and its coordinates.
    pub(super) largest_share: Option<(f64, Vec<u64>)>,
    pub(super) places: Vec<DifferingValues>,
}

/// Two differing element values and their coordinates.
#[derive(Debug)]
pub(super) struct DifferingValues {
    pub(super) coordinates: Vec<u64>,
    /// The path of the compound member that differs, with a dot before each name.
    pub(super) part: String,
    pub(super) one: Shown,
    pub(super) other: Shown,
}

/// The numbers of equal, changed, added, removed and uncompared objects and links in a comparison
/// of two files.
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
        let count = match finding.change {
            Change::Same => &mut self.same,
            Change::Removed(_) => &mut self.removed,
            Change::Added(_) => &mut self.added,
            Change::Changed(_) => &mut self.changed,
            Change::Trouble(..) => &mut self.trouble,
        };
        *count += 1;
    }

    pub(super) fn is_same(&self) -> bool {
        (self.changed, self.removed, self.added, self.trouble) == (0, 0, 0, 0)
    }
}
