//! Counts of the objects, links and attributes of a file, and of its datasets by layout and
//! filters.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::Result;
use hyperslab::{LinkTarget, Object, ObjectKind, Section};
use hyperslab_exact::to_u64;
use serde_json::{Map, Value as Json, json};

use super::sizes::{DatasetSizes, sum};
use crate::output;
use crate::sections::{StructuredTotals, percent, share};

/// The totals of a set of datasets in the statistics of a file: their number, the bytes of their
/// elements, and the bytes of their stored raw data.
#[derive(Debug, Default, Clone, Copy)]
struct Bytes {
    datasets: u64,
    raw: u64,
    stored: u64,
}

/// The totals of structured chunks in the statistics of a file.
#[derive(Debug, Default)]
struct Structured {
    datasets: u64,
    sparse: u64,
    chunks: u64,
    stored: u64,
    /// Defined elements of sparse datasets.
    defined: u64,
    /// Chunks of sparse datasets.
    sparse_chunks: u64,
    /// All elements of sparse datasets, defined or not.
    elements: u64,
    /// Bytes in the file, and bytes before the filters were applied.
    sections: BTreeMap<Section, (u64, u64)>,
}

/// The counts of the objects, links and attributes of a file.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Objects by kind.
    objects: BTreeMap<&'static str, u64>,
    links: BTreeMap<&'static str, u64>,
    attributes: u64,
    layouts: BTreeMap<&'static str, Bytes>,
    /// Datasets by the names of their filters, in the order of the pipeline.
    filters: BTreeMap<Vec<String>, Bytes>,
    structured: Structured,
}

impl Totals {
    /// Adds an object and its attributes to the statistics of a file.
    pub(super) fn object(&mut self, object: &Object) -> hyperslab::Result<()> {
        let kind = object.kind().map_or("unknown object", ObjectKind::name);
        add_one(self.objects.entry(kind).or_default());
        self.attributes = sum(self.attributes, to_u64(object.attributes()?.len()));
        Ok(())
    }

    /// Adds a link to the statistics of a file.
    pub(super) fn link(&mut self, target: &LinkTarget) {
        let kind = match target {
            LinkTarget::Hard(_) => "hard",
            LinkTarget::Soft(_) => "soft",
            LinkTarget::External { .. } => "external",
            _ => "other",
        };
        add_one(self.links.entry(kind).or_default());
    }

    /// Adds a dataset to the statistics of a file, with the sizes of its elements and of its stored
    /// raw data.
    pub(super) fn dataset(&mut self, sizes: &DatasetSizes) {
        let bytes = self.layouts.entry(sizes.layout).or_default();
        bytes.add(sizes.raw, sizes.stored);
        if let Some(totals) = &sizes.structured {
            self.structured.add(totals);
        }
        self.filters.entry(sizes.filters.clone()).or_default().add(sizes.raw, sizes.stored);
    }

    pub(super) fn print(&self, out: &mut output::Output) -> Result<()> {
        output::heading(out, "objects")?;
        for (kind, count) in &self.objects {
            writeln!(out, "    {kind:<20}{count:>10}")?;
        }
        writeln!(out, "    {:<20}{:>10}", "attributes", self.attributes)?;
        for (kind, count) in &self.links {
            writeln!(out, "    {:<20}{count:>10}", format!("{kind} links"))?;
        }
        table(out, "layout", self.layouts.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)))?;
        let name = |names: &[String]| {
            if names.is_empty() { "no filters".to_owned() } else { names.join(" + ") }
        };
        table(out, "filters", self.filters.iter().map(|(names, bytes)| (name(names), *bytes)))?;
        if self.structured.datasets > 0 {
            self.structured.print(out)?;
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Map<String, Json> {
        let filters = self.filters.iter().map(|(names, bytes)| {
            let mut entry = bytes.json();
            entry.insert("filters".into(), json!(names));
            entry
        });
        let layouts: BTreeMap<_, _> =
            self.layouts.iter().map(|(name, bytes)| (*name, bytes.json())).collect();
        Map::from_iter([
            ("objects".to_owned(), json!(self.objects)),
            ("attributes".to_owned(), json!(self.attributes)),
            ("links".to_owned(), json!(self.links)),
            ("layouts".to_owned(), json!(layouts)),
            ("filters".to_owned(), filters.map(Json::Object).collect()),
            ("structured_chunks".to_owned(), self.structured.json()),
        ])
    }
}

impl Bytes {
    fn add(&mut self, raw: u64, stored: u64) {
        add_one(&mut self.datasets);
        self.raw = sum(self.raw, raw);
        self.stored = sum(self.stored, stored);
    }

    fn json(self) -> Map<String, Json> {
        Map::from_iter([
            ("datasets".to_owned(), json!(self.datasets)),
            ("raw_size".to_owned(), json!(self.raw)),
            ("stored_size".to_owned(), json!(self.stored)),
        ])
    }
}

fn add_one(count: &mut u64) {
    *count += 1;
}

/// Formats a stored and a decoded size: `59 B of 96 B (1.63×)`.
pub(super) fn sizes(stored: u64, raw: u64) -> String {
    let sizes = format!("{} of {}", output::bytes(stored), output::bytes(raw));
    if stored == 0 || stored == raw { sizes } else { format!("{sizes} ({:.2}×)", share(raw, stored)) }
}

/// Prints a table with the number and the bytes of datasets.
fn table(out: &mut output::Output, title: &str, lines: impl Iterator<Item = (String, Bytes)>) -> Result<()> {
    let lines: Vec<(String, Bytes)> =
        lines.map(|(name, bytes)| (output::escape(name.as_bytes()), bytes)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    output::heading(out, &format!("datasets by {title}"))?;
    let widest = lines.iter().map(|(name, _)| output::width(name)).max().unwrap_or(0).max(20);
    for (name, bytes) in lines {
        let padding = " ".repeat(widest - output::width(&name));
        writeln!(out, "    {name}{padding}{:>10}  {}", bytes.datasets, sizes(bytes.stored, bytes.raw))?;
    }
    Ok(())
}

impl Structured {
    fn add(&mut self, totals: &StructuredTotals) {
        self.datasets += 1;
        self.chunks = sum(self.chunks, totals.chunks);
        self.stored = sum(self.stored, totals.stored);
        if totals.chunking.sparse {
            self.sparse += 1;
            self.sparse_chunks = sum(self.sparse_chunks, totals.chunks);
            self.defined = sum(self.defined, totals.defined);
            self.elements = sum(self.elements, totals.elements.unwrap_or(u64::MAX));
        }
        for section in &totals.sections {
            let (stored, unfiltered) = self.sections.entry(section.section).or_default();
            *stored = sum(*stored, section.stored);
            *unfiltered = sum(*unfiltered, section.unfiltered);
        }
    }

    fn print(&self, out: &mut output::Output) -> Result<()> {
        output::heading(out, "structured chunks")?;
        writeln!(out, "    {:<20}{:>10}", "chunks", self.chunks)?;
        if self.sparse > 0 {
            let density = percent(share(self.defined, self.elements));
            let all = output::count(self.elements, "element");
            writeln!(out, "    {:<20}{:>10}  of {all} ({density})", "defined", self.defined)?;
            let mean = share(self.defined, self.sparse_chunks);
            writeln!(out, "    {:<20}{mean:>10.1}", "defined per chunk")?;
        }
        for (section, (stored, unfiltered)) in &self.sections {
            writeln!(out, "    {:<20}{:>10}  {}", section.name(), "", sizes(*stored, *unfiltered))?;
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let section = |(section, (stored, unfiltered)): (&Section, &(u64, u64))| json!({ "name": section.name(), "stored_size": stored, "unfiltered_size": unfiltered });
        json!({
            "datasets": self.datasets,
            "sparse_datasets": self.sparse,
            "chunks": self.chunks,
            "stored_size": self.stored,
            "defined": self.defined,
            "elements": self.elements,
            "density": share(self.defined, self.elements),
            "defined_per_chunk": share(self.defined, self.sparse_chunks),
            "sections": self.sections.iter().map(section).collect::<Json>(),
        })
    }
}
