//! The comparison of references by h5diff, by their targets.

use anyhow::Result;
use hyperslab::{Object, ObjectKind, ObjectToken, Reference, ReferenceTarget, Selection};

use super::data::DifferencePrinter;
use crate::compare::blocks::PlacedListener as _;
use crate::output::in_line;
use crate::tools::ddl::region::{block_texts, point_texts};

impl DifferencePrinter<'_, '_> {
    /// Compares the targets of two references and prints the differences.
    pub(super) fn references(&mut self, references: [&Reference; 2]) -> Result<()> {
        let [one, other] = references.map(|reference| without_file(reference.target()));
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
                self.count += 1;
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
            // References to references are not followed.
            return Ok(());
        }
        let names = self.short_names();
        let found = self.diff.attribute([one, other], names.each_ref().map(String::as_str))?;
        self.count += found;
        Ok(())
    }

    fn objects(&mut self, one: Object, other: Object) -> Result<()> {
        let [name, other_name] = self.short_names();
        match (one.kind(), other.kind()) {
            (Some(ObjectKind::Dataset), Some(ObjectKind::Dataset)) => self.datasets(one, other),
            (kind, other_kind) if kind == other_kind => {
                if self.diff.is_verbose() {
                    let subject = "Warning: Comparison not possible of object types referenced";
                    writeln!(
                        self.diff.out,
                        "{subject}: <{}> and <{}>",
                        in_line(&name),
                        in_line(&other_name)
                    )?;
                }
                self.diff.has_incomparable = true;
                Ok(())
            }
            _ => {
                if !self.diff.arguments.quiet {
                    let subject = "Different object types referenced";
                    writeln!(
                        self.diff.out,
                        "{subject}: <{}> and <{}>",
                        in_line(&name),
                        in_line(&other_name)
                    )?;
                }
                self.diff.failed = true;
                Ok(())
            }
        }
    }

    /// Compares the elements of two datasets to which references lead. If the elements are
    /// references, compares only the identity of the datasets.
    fn datasets(&mut self, one: Object, other: Object) -> Result<()> {
        let (one, other) = (one.into_dataset()?, other.into_dataset()?);
        if one.datatype().contains_reference() || other.datatype().contains_reference() {
            let differ = one.name() != other.name() && one.token() != other.token();
            self.count += u64::from(differ);
            return Ok(());
        }
        if self.is_enough() {
            return Ok(());
        }
        let names = self.short_names();
        let found = self.diff.dataset_elements([&one, &other], &names, &[None, None])?;
        self.count += found;
        Ok(())
    }

    fn regions(&mut self, tokens: [ObjectToken; 2], regions: [&Selection; 2]) -> Result<()> {
        let [one, other] = regions;
        let (word, pairs, gap) = match (one, other) {
            (Selection::Points(points), Selection::Points(others)) => {
                ("point", (point_texts(points), point_texts(others)), 14)
            }
            (Selection::Hyperslab(hyperslab), Selection::Hyperslab(others)) => {
                ("block", (block_texts(hyperslab)?, block_texts(others)?), 11)
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
            self.count += 1;
            if !self.diff.is_verbose() {
                continue;
            }
            let out = &mut *self.diff.out;
            if !std::mem::replace(&mut self.regions_begun, true) {
                let [one, other] = tokens.map(ObjectToken::address);
                writeln!(out, "Referenced dataset      {one}            {other}\n{}", "-".repeat(60))?;
            }
            if std::mem::take(&mut is_first) {
                writeln!(out, "Region {word}s")?;
            }
            writeln!(out, "{word} #{number}{:gap$}{text}{:gap$}{other}", "", "")?;
        }
        Ok(())
    }
}

/// Returns the text of a reference's target without the file name.
fn without_file(target: &ReferenceTarget) -> &ReferenceTarget {
    match target {
        ReferenceTarget::External { target, .. } => target,
        target => target,
    }
}
