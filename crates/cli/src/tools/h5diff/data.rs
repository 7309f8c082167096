//! The printer of differing elements in h5diff.

use anyhow::Result;
use hyperslab::Dataspace;

pub(super) use crate::compare::elements::Elements;

use super::Diff;
use super::rows::{Head, Rows};
use super::types::{LineLevel, Verdict, size};
use crate::compare::blocks::PlacedListener;
use crate::compare::elements::Leaf;

/// A receiver of differences that prints them. It compares the elements of two datasets or
/// attributes.
pub(super) struct DifferencePrinter<'d, 'a> {
    pub(super) diff: &'d mut Diff<'a>,
    head: Head,
    rows: Rows,
    pub(super) count: u64,
    /// The coordinates of the last element that was printed.
    last: Vec<u64>,
    /// True if the head is written.
    begun: bool,
    /// True if the heading of differing regions is written.
    pub(super) regions_begun: bool,
}

/// The layout of h5diff's output for differing elements: the head and the rows.
pub(super) struct Layout {
    head: Head,
    rows: Rows,
}

impl Diff<'_> {
    /// Prints the messages of h5diff's verdict on a pair of datasets or attributes. Returns true if
    /// their elements can be compared.
    pub(super) fn print_verdict(&mut self, verdict: Verdict) -> Result<bool> {
        for (level, line) in verdict.lines {
            if self.is_verbose() || (level == LineLevel::VerboseOrListed && self.arguments.list) {
                writeln!(self.out, "{line}")?;
            }
        }
        self.has_incomparable |= !verdict.can;
        Ok(verdict.can)
    }

    /// Returns the layout of h5diff's output for the differences of two datasets or attributes.
    pub(super) fn rows_of(&self, names: &[String; 2], spaces: [&Dataspace; 2]) -> Layout {
        let sizes = spaces.map(size);
        // Take the last name of a path. The text of an attribute begins with its name and stays
        // unchanged.
        let short = |name: &String| {
            let is_attribute = name.contains(" of <");
            let last = name.rsplit('/').next().unwrap_or(name);
            if is_attribute || last.is_empty() { name.clone() } else { last.to_owned() }
        };
        let head = Head { sizes, names: names.each_ref().map(short) };
        let is_scalar = spaces.iter().all(|space| space.dims().is_empty());
        let relative = self.arguments.relative.is_some_and(|limit| limit > 0.0);
        Layout { head, rows: Rows { rules: self.arguments.rules(), relative, is_scalar } }
    }

    /// Calls `compare` and prints the differences between elements. Returns the number of
    /// differences.
    pub(super) fn elements(
        &mut self,
        layout: Layout,
        compare: impl FnOnce(&mut dyn PlacedListener) -> Result<()>,
    ) -> Result<u64> {
        let Layout { head, rows } = layout;
        let (count, last, begun, regions_begun) = (0, Vec::new(), false, false);
        let mut printer = DifferencePrinter { diff: self, head, rows, count, last, begun, regions_begun };
        let compared = compare(&mut printer);
        let count = printer.count;
        compared.or_else(|error| self.fail(error))?;
        Ok(count)
    }

    /// Prints the number of differences that were found between two objects. Also prints the title,
    /// unless the output lists each difference.
    pub(super) fn found(&mut self, kind: &str, names: [&dyn std::fmt::Display; 2], found: u64) -> Result<()> {
        self.differs |= found > 0;
        if self.arguments.lists_differences() {
            self.count(found)?;
        } else if found > 0 && !self.arguments.quiet {
            self.title(kind, names)?;
            self.count(found)?;
        }
        Ok(())
    }
}

impl DifferencePrinter<'_, '_> {
    /// Returns the last names of two paths, without the groups.
    pub(super) fn short_names(&self) -> [String; 2] {
        self.head.names.clone()
    }
}

impl PlacedListener for DifferencePrinter<'_, '_> {
    fn found(&mut self, coordinates: &[u64], _: &[u8], leaf: Leaf<'_>) -> Result<()> {
        if self.is_enough() && self.last != coordinates {
            return Ok(());
        }
        if let Leaf::References(one, other) = leaf {
            let before = self.count;
            self.references([one, other])?;
            if self.count > before {
                self.last = coordinates.to_vec();
            }
            return Ok(());
        }
        let count = self.rows.count(&leaf);
        if count == 0 {
            return Ok(());
        }
        self.count += count;
        coordinates.clone_into(&mut self.last);
        if self.diff.arguments.lists_differences() {
            if !self.begun {
                self.begun = true;
                self.head.write(self.diff.out, self.rows.has_relative(&leaf))?;
            }
            self.rows.write(self.diff.out, coordinates, &leaf)?;
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        let limit = if self.diff.arguments.quiet { Some(1) } else { self.diff.arguments.max_differences };
        limit.is_some_and(|limit| self.count >= limit)
    }
}
