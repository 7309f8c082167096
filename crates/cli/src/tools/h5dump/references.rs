//! References: what they lead to, with its values.

use anyhow::Result;
use hyperslab::{Hyperslab, ObjectKind, ObjectToken, ReferenceTarget, Selection, Stored};

use super::Dump;
use super::values::Paths;
use crate::tools::ddl::LEVEL;
use crate::tools::ddl::elements::Names as _;
use crate::tools::ddl::space::dataspace;
use crate::tools::ddl::types::datatype;

/// Blocks of a region that are listed at most.
const MOST_BLOCKS: u64 = 1 << 20;

impl Dump<'_> {
    /// References, each on lines of its own.
    pub(super) fn references(&mut self, stored: &Stored, indent: usize) -> Result<()> {
        let hyperslab::DatatypeClass::Reference(kind) = &stored.datatype().class else { return Ok(()) };
        for bytes in stored.elements() {
            match stored.reference(*kind, bytes) {
                Ok(ReferenceTarget::Object(token)) => self.object_reference(token, indent)?,
                Ok(ReferenceTarget::Region(token, selection)) => self.region(token, &selection, indent)?,
                Ok(ReferenceTarget::Attribute(token, name)) => {
                    let object = self.file.object_at(token)?;
                    let attribute = object.attr(&String::from_utf8_lossy(&name))?;
                    let path = self.named(token);
                    self.line(indent, &path)?;
                    // References may lead in circles.
                    if !matches!(attribute.datatype()?.class, hyperslab::DatatypeClass::Reference(_)) {
                        self.attribute_data(&attribute, indent + LEVEL)?;
                    }
                }
                Ok(_) => self.line(indent, "NULL")?,
                Err(error) => {
                    self.failed(anyhow::Error::new(error).context("unable to follow a reference"))?;
                    self.line(indent, "NULL")?;
                }
            }
        }
        Ok(())
    }

    fn named(&self, token: ObjectToken) -> String {
        Paths { name: &self.name, known: &self.known }.of(token)
    }

    fn object_reference(&mut self, token: ObjectToken, indent: usize) -> Result<()> {
        let name = self.named(token);
        self.line(indent, &name)?;
        let object = self.file.object_at(token)?;
        if object.kind() == Some(ObjectKind::Dataset) {
            let dataset = object.into_dataset()?;
            if !matches!(dataset.datatype().class, hyperslab::DatatypeClass::Reference(_)) {
                self.dataset_data(&dataset, None, indent + LEVEL)?;
            }
        }
        Ok(())
    }

    fn region(&mut self, token: ObjectToken, selection: &Selection, indent: usize) -> Result<()> {
        let name = self.named(token);
        self.line(indent, &format!("{name} {{"))?;
        let inside = indent + LEVEL;
        let dataset = self.file.object_at(token)?.into_dataset()?;
        for line in places(selection, inside) {
            self.line(inside, &line)?;
        }
        self.line(inside, &format!("DATATYPE  {}", datatype(dataset.datatype(), inside)))?;
        self.line(inside, &format!("DATASPACE  {}", dataspace(&dataset.dataspace())))?;
        self.line(indent, "}")?;
        Ok(())
    }
}

/// The lines that say what is selected.
fn places(selection: &Selection, indent: usize) -> Vec<String> {
    let (word, places) = match selection {
        Selection::Points(points) => {
            let places: Vec<String> = points.points().map(|point| format!("({})", joined(point))).collect();
            ("REGION_TYPE POINT  ", places)
        }
        Selection::Hyperslab(slab) => ("REGION_TYPE BLOCK  ", blocks(slab)),
        _ => return vec!["REGION_TYPE UNKNOWN".into()],
    };
    // As many to a line as fit.
    let mut lines = vec![word.to_owned()];
    let mut column = indent.saturating_add(word.len());
    let count = places.len();
    for (number, place) in places.into_iter().enumerate() {
        let comma = if number.saturating_add(1) < count { "," } else { "" };
        let text = format!("{place}{comma}");
        if number > 0 && column.saturating_add(text.len()).saturating_add(1) > 77 {
            lines.push(" ".into());
            column = indent.saturating_add(1);
        } else if number > 0 {
            lines.last_mut().into_iter().for_each(|line| line.push(' '));
            column = column.saturating_add(1);
        }
        column = column.saturating_add(text.len());
        lines.last_mut().into_iter().for_each(|line| line.push_str(&text));
    }
    lines
}

fn joined(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn blocks(slab: &Hyperslab) -> Vec<String> {
    let text = |start: &[u64], end: &[u64]| format!("({})-({})", joined(start), joined(end));
    match slab {
        Hyperslab::Irregular { blocks, .. } => {
            blocks.iter().map(|block| text(&block.start, &block.end)).collect()
        }
        Hyperslab::Regular(slab) => {
            let all = slab.count.iter().fold(1, |product: u64, count| product.saturating_mul(*count));
            let mut texts = Vec::new();
            for number in 0..all.min(MOST_BLOCKS) {
                let mut rest = number;
                let (mut start, mut end) = (slab.start.to_vec(), slab.start.to_vec());
                let numbers = slab.stride.iter().zip(&slab.count).zip(&slab.block).rev();
                for (((stride, count), block), (start, end)) in
                    numbers.zip(start.iter_mut().zip(&mut end).rev())
                {
                    let count = (*count).max(1);
                    *start = start.saturating_add((rest % count).saturating_mul(*stride));
                    *end = start.saturating_add(*block).saturating_sub(1);
                    rest /= count;
                }
                texts.push(text(&start, &end));
            }
            texts
        }
    }
}
