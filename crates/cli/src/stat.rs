//! `hyperslab stat`: what a file holds, counted and added up.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use hyperslab::{Dataset, File, LinkTarget, Object, ObjectKind, ObjectToken, Section};
use serde_json::{Value as Json, json};

use crate::ls::dataset::layout_name;
use crate::open::OpenArguments;
use crate::output;
use crate::places;
use crate::sections::{StructuredTotals, filter_name, percent, share};

/// What `stat` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The file
    file: PathBuf,
    /// The object to count, with what is in it
    #[arg(default_value = "/")]
    path: String,
}

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
struct Totals {
    /// By kind.
    objects: BTreeMap<&'static str, u64>,
    links: BTreeMap<&'static str, u64>,
    attributes: u64,
    layouts: BTreeMap<&'static str, Bytes>,
    /// By the names of the filters, in their order.
    filters: BTreeMap<Vec<String>, Bytes>,
    structured: Structured,
    failures: Vec<String>,
}

/// Counts; fails at the end if something could not be read.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let shown = arguments.file.display();
    let file = arguments.open.open(&arguments.file)?;
    let path = format!("/{}", arguments.path.trim_matches('/'));
    let object = places::object(&file, &path).with_context(|| format!("`{shown}`"))?;
    let mut totals = Totals::default();
    totals.walk(&file, object);
    let mut out = output::stdout();
    if arguments.json {
        let mut document = totals.json();
        document.insert("format".into(), json!("hyperslab stat 1"));
        document.insert("file".into(), json!(arguments.file.to_string_lossy()));
        document.insert("path".into(), json!(path));
        document.insert("size".into(), json!(file.info().length));
        serde_json::to_writer(&mut out, &document).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        let size = output::bytes(file.info().length);
        writeln!(out, "{}  {size}", output::escape(format!("{shown} {path}").as_bytes()))?;
        totals.print(&mut out)?;
    }
    out.flush()?;
    for failure in &totals.failures {
        // The exit code says it, too.
        let _ = writeln!(std::io::stderr(), "hyperslab: {}", output::escape(failure.as_bytes()));
    }
    arguments.open.report();
    Ok(if totals.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Totals {
    /// Counts an object and all that hard links lead to from it, each once.
    fn walk(&mut self, file: &File, first: Object) {
        let mut known: HashSet<ObjectToken> = HashSet::from([first.token()]);
        let mut pending = VecDeque::new();
        let mut next = Some(Ok(first));
        while let Some(found) = next {
            let counted = found.and_then(|object| {
                self.object(&object, |token| {
                    if known.insert(token) {
                        pending.push_back(token);
                    }
                })
            });
            if let Err(error) = counted {
                self.failures.push(output::chain(&error));
            }
            next = pending.pop_front().map(|token| file.object_at(token));
        }
    }

    /// Counts one object; gives the objects that it links to.
    fn object(&mut self, object: &Object, mut linked: impl FnMut(ObjectToken)) -> hyperslab::Result<()> {
        let kind = object.kind();
        let count = self.objects.entry(kind.map_or("unknown object", ObjectKind::name)).or_default();
        *count = count.saturating_add(1);
        let attributes = u64::try_from(object.attributes()?.len()).unwrap_or(u64::MAX);
        self.attributes = self.attributes.saturating_add(attributes);
        match kind {
            Some(ObjectKind::Group) => {
                for link in object.clone().into_group()?.links()? {
                    let kind = match link.target {
                        LinkTarget::Hard(token) => {
                            linked(token);
                            "hard"
                        }
                        LinkTarget::Soft(_) => "soft",
                        LinkTarget::External { .. } => "external",
                        _ => "other",
                    };
                    let count = self.links.entry(kind).or_default();
                    *count = count.saturating_add(1);
                }
                Ok(())
            }
            Some(ObjectKind::Dataset) => self.dataset(&object.clone().into_dataset()?),
            _ => Ok(()),
        }
    }

    fn dataset(&mut self, dataset: &Dataset) -> hyperslab::Result<()> {
        let layout = layout_name(&dataset.layout());
        let bytes = self.layouts.entry(layout).or_default();
        bytes.datasets = bytes.datasets.saturating_add(1);
        let (filters, raw, stored) = if let Some(totals) = StructuredTotals::of(dataset)? {
            let raw = totals.sections.iter().fold(0, |sum: u64, one| sum.saturating_add(one.unfiltered));
            self.structured.add(&totals);
            (totals.filter_names(), raw, totals.stored)
        } else {
            let size = u64::from(dataset.datatype().size);
            let raw = dataset.dataspace().element_count().unwrap_or(u64::MAX).saturating_mul(size);
            (dataset.filters().iter().map(filter_name).collect(), raw, dataset.storage_size()?)
        };
        if let Some(bytes) = self.layouts.get_mut(layout) {
            bytes.add(raw, stored);
        }
        let bytes = self.filters.entry(filters).or_default();
        bytes.datasets = bytes.datasets.saturating_add(1);
        bytes.add(raw, stored);
        Ok(())
    }

    fn print(&self, out: &mut output::Output) -> Result<()> {
        writeln!(out, "objects")?;
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

    fn json(&self) -> serde_json::Map<String, Json> {
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
            "failures": self.failures,
        });
        document.as_object().cloned().unwrap_or_default()
    }
}

impl Bytes {
    fn add(&mut self, raw: u64, stored: u64) {
        self.raw = self.raw.saturating_add(raw);
        self.stored = self.stored.saturating_add(stored);
    }

    fn json(self) -> Json {
        json!({ "datasets": self.datasets, "raw_size": self.raw, "stored_size": self.stored })
    }
}

/// `59 B of 96 B (1.63×)`.
fn sizes(stored: u64, raw: u64) -> String {
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
    writeln!(out, "datasets by {title}")?;
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
        writeln!(out, "structured chunks")?;
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
