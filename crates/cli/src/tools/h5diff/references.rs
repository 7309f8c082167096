//! References: what they lead to is compared.

use anyhow::Result;
use hyperslab::{Hyperslab, Object, ObjectKind, ObjectToken, Reference, ReferenceTarget, Selection};

use super::data::Told;
use crate::compare::blocks::PlacedListener as _;
use crate::output::in_line;

/// Blocks of a region that are compared, at most.
const MOST_BLOCKS: u64 = 1 << 20;

/// What was said of the regions that references lead to.
#[derive(Debug, Default)]
pub(super) struct Regions {
    begun: bool,
}

impl Told<'_, '_> {
    /// Compares what two references lead to.
    pub(super) fn references(&mut self, references: [&Reference; 2]) -> Result<()> {
        let [one, other] = references.map(|reference| inner(reference.target()));
        match (one, other) {
            (ReferenceTarget::Null, ReferenceTarget::Null) => Ok(()),
            (ReferenceTarget::Object(_), ReferenceTarget::Object(_)) => {
                let [one, other] = references;
                self.objects(one.object()?, other.object()?)
            }
            (ReferenceTarget::Region(token, region), ReferenceTarget::Region(other, other_region)) => {
                self.regions([*token, *other], [region, other_region])
            }
            (ReferenceTarget::Attribute(..), ReferenceTarget::Attribute(..)) => {
                self.referenced_attributes(references)
            }
            _ => {
                self.count = self.count.saturating_add(1);
                Ok(())
            }
        }
    }

    fn referenced_attributes(&mut self, references: [&Reference; 2]) -> Result<()> {
        let mut attributes = Vec::new();
        for (number, reference) in (1..).zip(references) {
            let Ok(attribute) = reference.attribute() else {
                if self.diff.is_verbose() {
                    writeln!(self.diff.out, "Warning: Cannot open referenced attribute{number}")?;
                }
                return Ok(());
            };
            attributes.push(attribute);
        }
        let [one, other] = attributes.as_slice() else { return Ok(()) };
        if one.datatype()?.contains_reference() {
            // References are not followed any further.
            return Ok(());
        }
        let names = self.short_names();
        let found = self.diff.attribute([one, other], names.each_ref().map(String::as_str))?;
        self.count = self.count.saturating_add(found);
        Ok(())
    }

    fn objects(&mut self, one: Object, other: Object) -> Result<()> {
        let [name, other_name] = self.short_names();
        match (one.kind(), other.kind()) {
            (Some(ObjectKind::Dataset), Some(ObjectKind::Dataset)) => self.datasets(one, other),
            (kind, other_kind) if kind == other_kind => {
                if self.diff.is_verbose() {
                    let what = "Warning: Comparison not possible of object types referenced";
                    writeln!(self.diff.out, "{what}: <{}> and <{}>", in_line(&name), in_line(&other_name))?;
                }
                self.diff.has_incomparable = true;
                Ok(())
            }
            _ => {
                if !self.diff.arguments.quiet {
                    let what = "Different object types referenced";
                    writeln!(self.diff.out, "{what}: <{}> and <{}>", in_line(&name), in_line(&other_name))?;
                }
                self.diff.failed = true;
                Ok(())
            }
        }
    }

    /// The elements of two datasets; references among them are not followed any further.
    fn datasets(&mut self, one: Object, other: Object) -> Result<()> {
        let (one, other) = (one.into_dataset()?, other.into_dataset()?);
        if one.datatype().contains_reference() || other.datatype().contains_reference() {
            let differ = one.name() != other.name() && one.token() != other.token();
            self.count = self.count.saturating_add(differ.into());
            return Ok(());
        }
        if self.is_enough() {
            return Ok(());
        }
        let names = self.short_names();
        let found = self.diff.dataset_elements([&one, &other], &names, &[None, None])?;
        self.count = self.count.saturating_add(found);
        Ok(())
    }

    fn regions(&mut self, tokens: [ObjectToken; 2], regions: [&Selection; 2]) -> Result<()> {
        let [one, other] = regions;
        let (word, pairs, room) = match (one, other) {
            (Selection::Points(points), Selection::Points(others)) => {
                let texts = |points: &hyperslab::Points| -> Vec<String> {
                    points.points().map(|point| format!("({})", joined(point))).collect()
                };
                ("point", (texts(points), texts(others)), 14)
            }
            (Selection::Hyperslab(slab), Selection::Hyperslab(others)) => {
                ("block", (blocks(slab), blocks(others)), 11)
            }
            _ if one == other => return Ok(()),
            _ => {
                self.diff.has_incomparable = true;
                return Ok(());
            }
        };
        let (texts, others) = pairs;
        if texts.len() != others.len() {
            self.diff.has_incomparable = true;
            return Ok(());
        }
        let mut is_first = true;
        for (number, (text, other)) in texts.iter().zip(&others).enumerate() {
            if text == other {
                continue;
            }
            self.count = self.count.saturating_add(1);
            if !self.diff.is_verbose() {
                continue;
            }
            let out = &mut *self.diff.out;
            if !std::mem::replace(&mut self.regions.begun, true) {
                let [one, other] = tokens.map(ObjectToken::address);
                writeln!(out, "Referenced dataset      {one}            {other}\n{}", "-".repeat(60))?;
            }
            if std::mem::take(&mut is_first) {
                writeln!(out, "Region {word}s")?;
            }
            writeln!(out, "{word} #{number}{:room$}{text}{:room$}{other}", "", "")?;
        }
        Ok(())
    }
}

/// What is meant, of whatever file.
fn inner(target: &ReferenceTarget) -> &ReferenceTarget {
    match target {
        ReferenceTarget::External { target, .. } => target,
        target => target,
    }
}

fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// The corners of each block.
fn blocks(slab: &Hyperslab) -> Vec<String> {
    let text = |start: &[u64], end: &[u64]| format!("({})-({})", joined(start), joined(end));
    let slab = match slab {
        Hyperslab::Irregular { blocks, .. } => {
            return blocks.iter().map(|block| text(&block.start, &block.end)).collect();
        }
        Hyperslab::Regular(slab) => slab,
    };
    let all = slab.count.iter().fold(1, |product: u64, count| product.saturating_mul(*count));
    let block = |number: u64| {
        let mut rest = number;
        let (mut start, mut end) = (slab.start.to_vec(), slab.start.to_vec());
        let numbers = slab.stride.iter().zip(&slab.count).zip(&slab.block).rev();
        for (((stride, count), block), (start, end)) in numbers.zip(start.iter_mut().zip(&mut end).rev()) {
            let count = (*count).max(1);
            *start = start.saturating_add((rest % count).saturating_mul(*stride));
            *end = start.saturating_add(*block).saturating_sub(1);
            rest /= count;
        }
        text(&start, &end)
    };
    (0..all.min(MOST_BLOCKS)).map(block).collect()
}
