//! Elements that differ, as they are told.

use anyhow::Result;
use hyperslab::Dataspace;

pub(super) use crate::compare::elements::Elements;

use super::Diff;
use super::references::Regions;
use super::rows::{Head, Rows};
use super::types::{Said, Verdict, size};
use crate::compare::blocks::PlacedListener;
use crate::compare::elements::Leaf;

/// What is said of the elements of two datasets or attributes.
pub(super) struct Told<'d, 'a> {
    pub(super) diff: &'d mut Diff<'a>,
    head: Head,
    rows: Rows,
    pub(super) count: u64,
    /// The element that was told last.
    last: Vec<u64>,
    /// Whether what stands above is written.
    begun: bool,
    /// What was said of regions.
    pub(super) regions: Regions,
}

/// What rows need to know.
pub(super) struct Layout {
    head: Head,
    rows: Rows,
}

impl Diff<'_> {
    /// Says what there is to say about types; gives whether elements can be compared.
    pub(super) fn hear(&mut self, verdict: Verdict) -> Result<bool> {
        for (said, line) in verdict.lines {
            if self.is_verbose() || (said == Said::VerboseOrListed && self.arguments.list) {
                writeln!(self.out, "{line}")?;
            }
        }
        self.has_incomparable |= !verdict.can;
        Ok(verdict.can)
    }

    /// How the differences of two datasets or attributes of those names are told.
    pub(super) fn rows_of(&self, names: &[String; 2], spaces: [&Dataspace; 2]) -> Layout {
        let sizes = spaces.map(size);
        // The last name of a path, but attributes have theirs in front of it.
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

    /// Tells what `compare` finds, and gives how much that is.
    pub(super) fn elements(
        &mut self,
        layout: Layout,
        compare: impl FnOnce(&mut dyn PlacedListener) -> Result<()>,
    ) -> Result<u64> {
        let Layout { head, rows } = layout;
        let (count, last, begun, regions) = (0, Vec::new(), false, Regions::default());
        let mut told = Told { diff: self, head, rows, count, last, begun, regions };
        let compared = compare(&mut told);
        let count = told.count;
        compared.or_else(|error| self.fail(error))?;
        Ok(count)
    }

    /// The last line of two things, or if no lines were wanted the only ones, where they differ.
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

impl Told<'_, '_> {
    /// The names without the groups they are in.
    pub(super) fn short_names(&self) -> [String; 2] {
        self.head.names.clone()
    }
}

impl PlacedListener for Told<'_, '_> {
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
        self.count = self.count.saturating_add(count);
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
        let most = if self.diff.arguments.quiet { Some(1) } else { self.diff.arguments.most };
        most.is_some_and(|most| self.count >= most)
    }
}
