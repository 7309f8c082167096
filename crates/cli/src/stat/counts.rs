//! What a file holds, counted: objects, links, datasets by their layouts and filters.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::Result;
use hyperslab::{LinkTarget, Object, ObjectKind, Section};
use serde_json::{Value as Json, json};

use super::sizes::DatasetSizes;
use crate::output;
use crate::sections::{StructuredTotals, percent, share};

/// Datasets, the bytes of their elements, and the bytes that these take in the file.
#[derive(Debug, Default, Clone, Copy)]
struct Bytes {
    datasets: u64,
    raw: u64,
    stored: u64,
}

/// Structured chunks.
#[derive(Debug, Default)]
struct Structured {
    datasets: u64,
    sparse: u64,
    chunks: u64,
    stored: u64,
    /// Defined elements of sparse datasets, ...
    defined: u64,
    /// ... their chunks, and all their elements.
    sparse_chunks: u64,
    elements: u64,
    /// Bytes in the file, and without filters.
    sections: BTreeMap<Section, (u64, u64)>,
}

/// What was counted.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// By kind.
    objects: BTreeMap<&'static str, u64>,
    links: BTreeMap<&'static str, u64>,
    attributes: u64,
    layouts: BTreeMap<&'static str, Bytes>,
    /// By the names of the filters, in their order.
    filters: BTreeMap<Vec<String>, Bytes>,
    structured: Structured,
}

impl Totals {
    /// Counts an object and its attributes.
    pub(super) fn object(&mut self, object: &Object) -> hyperslab::Result<()> {
        let kind = object.kind().map_or("unknown object", ObjectKind::name);
        add_one(self.objects.entry(kind).or_default());
        let attributes = u64::try_from(object.attributes()?.len()).unwrap_or(u64::MAX);
        self.attributes = self.attributes.saturating_add(attributes);
        Ok(())
    }

    /// Counts a link.
    pub(super) fn link(&mut self, target: &LinkTarget) {
        let kind = match target {
            LinkTarget::Hard(_) => "hard",
            LinkTarget::Soft(_) => "soft",
            LinkTarget::External { .. } => "external",
            _ => "other",
        };
        add_one(self.links.entry(kind).or_default());
    }

    /// Counts a dataset.
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

    pub(super) fn json(&self) -> serde_json::Map<String, Json> {
        let filters = self.filters.iter().map(|(names, bytes)| {
            let sizes = bytes.json();
            let mut entry = sizes.as_object().cloned().unwrap_or_default();
            entry.insert("filters".into(), json!(names));
            entry
        });
        let document = json!({
            "objects": self.objects,
            "attributes": self.attributes,
            "links": self.links,
            "layouts": self.layouts.iter().map(|(name, bytes)| (*name, bytes.json())).collect::<BTreeMap<_, _>>(),
            "filters": filters.map(Json::Object).collect::<Json>(),
            "structured_chunks": self.structured.json(),
        });
        document.as_object().cloned().unwrap_or_default()
    }
}

impl Bytes {
    fn add(&mut self, raw: u64, stored: u64) {
        add_one(&mut self.datasets);
        self.raw = self.raw.saturating_add(raw);
        self.stored = self.stored.saturating_add(stored);
    }

    fn json(self) -> Json {
        json!({ "datasets": self.datasets, "raw_size": self.raw, "stored_size": self.stored })
    }
}

fn add_one(count: &mut u64) {
    *count = count.saturating_add(1);
}

/// `59 B of 96 B (1.63×)`.
pub(super) fn sizes(stored: u64, raw: u64) -> String {
    let sizes = format!("{} of {}", output::bytes(stored), output::bytes(raw));
    if stored == 0 || stored == raw { sizes } else { format!("{sizes} ({:.2}×)", share(raw, stored)) }
}

/// Lines with datasets and their bytes, in columns.
fn table(out: &mut output::Output, title: &str, lines: impl Iterator<Item = (String, Bytes)>) -> Result<()> {
    let lines: Vec<(String, Bytes)> =
        lines.map(|(name, bytes)| (output::escape(name.as_bytes()), bytes)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    output::heading(out, &format!("datasets by {title}"))?;
    let widest = lines.iter().map(|(name, _)| output::width(name)).max().unwrap_or(0).max(20);
    for (name, bytes) in lines {
        let padding = " ".repeat(widest.saturating_sub(output::width(&name)));
        writeln!(out, "    {name}{padding}{:>10}  {}", bytes.datasets, sizes(bytes.stored, bytes.raw))?;
    }
    Ok(())
}

impl Structured {
    fn add(&mut self, totals: &StructuredTotals) {
        self.datasets = self.datasets.saturating_add(1);
        self.chunks = self.chunks.saturating_add(totals.chunks);
        self.stored = self.stored.saturating_add(totals.stored);
        if totals.chunking.sparse {
            self.sparse = self.sparse.saturating_add(1);
            self.sparse_chunks = self.sparse_chunks.saturating_add(totals.chunks);
            self.defined = self.defined.saturating_add(totals.defined);
            self.elements = self.elements.saturating_add(totals.elements.unwrap_or(u64::MAX));
        }
        for section in &totals.sections {
            let (stored, unfiltered) = self.sections.entry(section.section).or_default();
            *stored = stored.saturating_add(section.stored);
            *unfiltered = unfiltered.saturating_add(section.unfiltered);
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
