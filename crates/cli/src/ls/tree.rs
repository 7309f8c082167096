//! The listing of a file's objects as a tree.

use std::io;
use std::path::Path;

use anyhow::Result;
use hyperslab::{DatatypeClass, FileInfo, GroupStorage};
use hyperslab_exact::to_u64;

use super::branches::Branches;
use super::dataset::{DatasetFacts, index_name, layout_name, shape, sizes};
use super::describe::{Detail, GroupFacts, ObjectFacts};
use super::describer::AttributeFacts;
use super::rows::{Cell, Row, Rows};
use super::walk::{Content, Entry, EntryPath, Sink};
use crate::output::Screen;
use crate::output::{self, DATASET, DATATYPE, ERROR, FAINT, GROUP, LINK, PLAIN, VALUE, cut, escape, width};
use crate::sections::{filter_name, filters_text, percent};

/// The largest width, in columns, of a value or a datatype that a listing prints in the line of its
/// object.
pub(crate) const SHORT_WIDTH: usize = 36;

/// The largest width, in columns, of a value or a datatype that a listing prints in a line of its
/// own.
const LONG_WIDTH: usize = 72;

/// The note in a listing for datasets whose chunks at the edge have no filters.
const EDGES_UNFILTERED: &str = " · chunks at the edge unfiltered";

/// The largest number of members of a compound datatype that a listing prints.
const SHOWN_MEMBERS: usize = 32;

/// A receiver of listed entries that prints them as a tree.
pub(crate) struct Tree<W: Screen> {
    rows: Rows<W>,
    verbose: bool,
    /// The line of the file, until the first entry is drawn.
    header: Option<Row>,
    branches: Branches,
}

impl<W: Screen> Tree<W> {
    pub(crate) fn new(output: W, file: &Path, info: &FileInfo, verbose: bool) -> Self {
        let name = escape(file.display().to_string().as_bytes());
        let mut about = format!("{} · superblock {}", output::bytes(info.length), info.superblock_version);
        if info.user_block > 0 {
            about.push_str(&format!(" · user block of {}", output::bytes(info.user_block)));
        }
        let header = Row { tail: vec![Cell::new(name, DATASET), Cell::new(about, FAINT)], ..Row::default() };
        Self { rows: Rows::new(output), verbose, header: Some(header), branches: Branches::default() }
    }

    pub(crate) fn end(mut self) -> io::Result<()> {
        self.rows.end()
    }

    fn details(&self, facts: &ObjectFacts) -> Vec<[Cell; 3]> {
        let mut lines = Vec::new();
        let line = |key: &str, text: String, style, note: String| {
            [Cell::new(key, FAINT), Cell::new(text, style), Cell::new(note, FAINT)]
        };
        for problem in &facts.problems {
            lines.push(line("error", escape(problem.as_bytes()), ERROR, String::new()));
        }
        if let Some(comment) = &facts.comment {
            lines.push(line("comment", cut(&escape(comment), LONG_WIDTH), VALUE, String::new()));
        }
        if !self.verbose {
            return lines;
        }
        lines.extend(
            details(&facts.detail).into_iter().map(|(key, text)| line(key, text, PLAIN, String::new())),
        );
        if let Some(count) = facts.link_count.filter(|count| *count > 1) {
            lines.push(line("links", format!("{count} hard links lead here"), PLAIN, String::new()));
        }
        for attribute in &facts.attributes {
            let key = format!("@{}", escape(&attribute.name));
            lines.push(match &attribute.value {
                Ok(value) => line(&key, value.text(LONG_WIDTH), VALUE, attribute_type(attribute)),
                Err(error) => {
                    line(&key, format!("error: {}", escape(error.as_bytes())), ERROR, String::new())
                }
            });
        }
        lines
    }
}

impl<W: Screen> Sink for Tree<W> {
    fn entry(&mut self, entry: &Entry, _: &EntryPath<'_>) -> Result<()> {
        if let Some(header) = self.header.take() {
            self.rows.push(header)?;
        }
        let (branches, above) = self.branches.of(entry);
        let row = row(escape(&entry.name), &entry.content, branches, self.verbose);
        self.rows.push(row)?;
        let Content::Object(facts) = &entry.content else { return Ok(()) };
        let lines = self.details(facts);
        let widest = |widths: &mut dyn Iterator<Item = usize>, maximum: usize| {
            widths.filter(|width| *width <= maximum).max().unwrap_or(0)
        };
        let keys = widest(&mut lines.iter().map(|[key, _, _]| width(&key.text)), 28);
        let noted = lines.iter().filter(|[_, _, note]| !note.text.is_empty());
        let values = widest(&mut noted.map(|[_, value, _]| width(&value.text)), 44);
        for [key, value, note] in lines {
            let key = Cell { text: padded(key.text, keys), ..key };
            let value = match note.text.as_str() {
                "" => value,
                _ => Cell { text: padded(value.text, values), ..value },
            };
            self.rows.push(Row {
                branches: above.clone(),
                cells: Vec::new(),
                tail: vec![key, value, note],
            })?;
        }
        Ok(())
    }
}

/// Returns the detail lines of a listed object, as names and values.
pub(crate) fn details(detail: &Detail) -> Vec<(&'static str, String)> {
    match detail {
        Detail::Group(group) => group_details(group),
        Detail::Dataset(dataset) => dataset_details(dataset),
        Detail::Datatype(datatype) => type_details(datatype),
        Detail::Unknown => Vec::new(),
    }
}

fn object(name: String, facts: &ObjectFacts, branches: String, verbose: bool) -> Row {
    let row = |style, cells: Vec<Cell>, tail| {
        let first = std::iter::once(Cell::new(name.clone(), style));
        Row { branches: branches.clone(), cells: first.chain(cells).collect(), tail }
    };
    match &facts.detail {
        Detail::Group(group) => {
            let slash = if name.ends_with('/') { "" } else { "/" };
            let name = Cell::new(format!("{name}{slash}"), GROUP);
            Row { branches, cells: vec![name], tail: group_tail(group) }
        }
        Detail::Dataset(dataset) => row(DATASET, dataset_cells(dataset), dataset_tail(dataset, verbose)),
        Detail::Datatype(datatype) => {
            let shown = Cell::new(type_text(datatype, SHORT_WIDTH), DATATYPE);
            row(DATATYPE, vec![Cell::new("datatype", PLAIN), shown], Vec::new())
        }
        Detail::Unknown => row(PLAIN, Vec::new(), vec![Cell::new("object of unknown kind", FAINT)]),
    }
}

fn dataset_tail(dataset: &DatasetFacts, verbose: bool) -> Vec<Cell> {
    let size = dataset.logical.map_or_else(|| "too large".into(), output::bytes);
    let size = format!("{size:>10}");
    if verbose {
        return vec![Cell::new(size, PLAIN)];
    }
    let mut storage = layout_text(dataset);
    if !dataset.filters.is_empty() {
        let names: Vec<String> = dataset.filters.iter().map(filter_name).collect();
        storage.push_str(&format!(" · {}", names.join(" + ")));
    }
    if let Some(totals) = &dataset.structured {
        let names = totals.filter_names();
        if !names.is_empty() {
            storage.push_str(&format!(" · {}", names.join(" + ")));
        }
        if let Some(density) = totals.density().filter(|_| totals.chunking.sparse) {
            storage.push_str(&format!(" · {} defined", percent(density)));
        }
    }
    if let Some(ratio) = dataset.ratio() {
        storage.push_str(&format!(" {ratio:.1}×"));
    }
    if let Some(fill) = &dataset.fill {
        storage.push_str(&format!(" · fill {}", fill.text(SHORT_WIDTH)));
    }
    vec![Cell::new(size, PLAIN), Cell::new(storage, FAINT)]
}

/// Returns the line of an entry in the listing.
pub(crate) fn row(name: String, content: &Content, branches: String, verbose: bool) -> Row {
    let link = |target: String, note: Vec<Cell>| {
        let mut tail = vec![Cell::new(format!("→ {target}"), LINK)];
        tail.extend(note);
        Row { branches: branches.clone(), cells: vec![Cell::new(name.clone(), LINK)], tail }
    };
    match content {
        Content::Object(facts) => object(name, facts, branches, verbose),
        Content::Same { path, .. } => {
            let tail = vec![Cell::new(format!("same as {path}"), LINK)];
            Row { branches, cells: vec![Cell::new(name, PLAIN)], tail }
        }
        Content::Soft { path, dangling } => {
            let note = dangling.then(|| Cell::new("nothing is there", ERROR));
            link(escape(path), note.into_iter().collect())
        }
        Content::External { file, path } => {
            link(format!("{}:{}", escape(file), escape(path)), vec![Cell::new("in another file", FAINT)])
        }
        Content::UserDefined { class, value } => {
            let class = Cell::new(format!("link of user-defined class {class}"), LINK);
            let bytes = Cell::new(output::bytes(to_u64(value.len())), FAINT);
            Row { branches, cells: vec![Cell::new(name, LINK)], tail: vec![class, bytes] }
        }
        Content::UnknownLink => {
            let tail = vec![Cell::new("link of unknown class", FAINT)];
            Row { branches, cells: vec![Cell::new(name, LINK)], tail }
        }
        Content::Broken(error) => {
            let tail = vec![Cell::new(format!("error: {}", escape(error.as_bytes())), ERROR)];
            Row { branches, cells: vec![Cell::new(name, ERROR)], tail }
        }
    }
}

fn padded(mut text: String, columns: usize) -> String {
    text.push_str(&output::spaces(width(&text), columns));
    text
}

fn group_tail(group: &GroupFacts) -> Vec<Cell> {
    let class = group.class.as_ref().map(|class| Cell::new(cut(class, SHORT_WIDTH), PLAIN));
    let members = group.members.map(|count| match count {
        0 => "empty".into(),
        _ => output::count(to_u64(count), "member"),
    });
    class.into_iter().chain(members.map(|text| Cell::new(text, FAINT))).collect()
}

fn group_details(group: &GroupFacts) -> Vec<(&'static str, String)> {
    let Some(storage) = group.storage else { return Vec::new() };
    let storage = match storage {
        GroupStorage::SymbolTable => "symbol table",
        GroupStorage::Compact => "compact",
        GroupStorage::Dense => "dense",
    };
    let order = if group.order_tracked { " · creation order tracked" } else { "" };
    vec![("stored", format!("{storage}{order}"))]
}

/// Returns the cells of a dataset in the listing: shape, type, and value or units.
fn dataset_cells(dataset: &DatasetFacts) -> Vec<Cell> {
    let units = dataset.units.as_deref().map(|units| cut(units, SHORT_WIDTH));
    let value = match (&dataset.value, units) {
        (Some(value), Some(units)) => format!("{} {units}", value.innermost().text(SHORT_WIDTH)),
        (Some(value), None) => value.innermost().text(SHORT_WIDTH),
        (None, Some(units)) => format!("[{units}]"),
        (None, None) => String::new(),
    };
    vec![
        Cell::new(shape(&dataset.space), PLAIN),
        Cell::new(type_text(&dataset.datatype, SHORT_WIDTH), DATATYPE),
        Cell::new(value, VALUE),
    ]
}

/// Returns the text of a datatype, shortened to `columns` columns. For a long compound, the text is
/// the number of members.
pub(crate) fn type_text(datatype: &hyperslab::Datatype, columns: usize) -> String {
    let text = escape(datatype.to_string().as_bytes());
    if width(&text) <= columns {
        return text;
    }
    match &datatype.class {
        DatatypeClass::Compound(compound) => {
            format!("compound of {}", output::count(to_u64(compound.members.len()), "member"))
        }
        _ => cut(&text, columns),
    }
}

/// Returns the detail lines of a listing for a datatype that is too long for its cell. For a
/// compound, each member has a line.
fn type_details(datatype: &hyperslab::Datatype) -> Vec<(&'static str, String)> {
    let text = escape(datatype.to_string().as_bytes());
    if width(&text) <= SHORT_WIDTH {
        return Vec::new();
    }
    let DatatypeClass::Compound(compound) = &datatype.class else { return vec![("type", text)] };
    let shown = compound.members.iter().take(SHOWN_MEMBERS);
    let names: Vec<String> = shown.map(|member| escape(&member.name)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let lines = names.into_iter().zip(&compound.members).enumerate().map(|(at, (name, member))| {
        let shown = escape(member.datatype.to_string().as_bytes());
        (if at == 0 { "members" } else { "" }, format!("{}  {shown}", padded(name, widest)))
    });
    let mut lines: Vec<_> = lines.collect();
    if let Some(more) = compound.members.len().checked_sub(SHOWN_MEMBERS).filter(|more| *more > 0) {
        lines.push(("", format!("… {more} more")));
    }
    lines
}

fn layout_text(dataset: &DatasetFacts) -> String {
    let mut text = layout_name(&dataset.layout).to_owned();
    if let hyperslab::Layout::Chunked(chunking) = &dataset.layout {
        text.push_str(&format!(" {}", sizes(&chunking.shape)));
    }
    if let Some(chunking) = &dataset.chunking {
        text.push_str(&format!(" {}", sizes(&chunking.shape)));
    }
    let nothing = dataset.stored.is_some_and(|stored| stored.bytes == 0) && dataset.logical != Some(0);
    if !dataset.external.is_empty() {
        text.push_str(" · in other files");
    } else if nothing {
        text.push_str(" · nothing written");
    }
    text
}

fn dataset_details(dataset: &DatasetFacts) -> Vec<(&'static str, String)> {
    let mut lines = type_details(&dataset.datatype);
    if let Some(committed) = &dataset.committed {
        let name = committed.path.clone().unwrap_or_else(|| format!("object at {:#x}", committed.address));
        lines.push(("type at", name));
    }
    let mut layout = layout_text(dataset);
    if let hyperslab::Layout::Chunked(chunking) = &dataset.layout {
        layout.push_str(&format!(" · {}", index_name(chunking.index)));
        if chunking.edges_unfiltered {
            layout.push_str(EDGES_UNFILTERED);
        }
    }
    if let Some(chunking) = &dataset.chunking {
        layout.push_str(&format!(" · {}", index_name(chunking.index)));
        if chunking.edges_unfiltered {
            layout.push_str(EDGES_UNFILTERED);
        }
    }
    if let Some(chunks) = dataset.stored.and_then(|stored| stored.chunks).filter(|chunks| *chunks > 0) {
        layout.push_str(&format!(" · {}", output::count(chunks, "chunk")));
    }
    lines.push(("layout", layout));
    if !dataset.filters.is_empty() {
        lines.push(("filters", filters_text(&dataset.filters)));
    }
    if let (Some(stored), Some(logical)) = (dataset.stored, dataset.logical)
        && stored.bytes > 0
        && (stored.bytes != logical || dataset.ratio().is_some())
    {
        let ratio = dataset.ratio().map_or_else(String::new, |ratio| format!(" ({ratio:.2}×)"));
        let sizes = format!("{} of {}", output::bytes(stored.bytes), output::bytes(logical));
        lines.push(("stored", format!("{sizes}{ratio}")));
    }
    if let Some(totals) = &dataset.structured {
        if totals.chunking.sparse {
            lines.push(("defined", totals.defined_text()));
        }
        lines.extend(totals.sections.iter().map(|section| (section.section.name(), section.text())));
    }
    for (at, piece) in dataset.external.iter().enumerate() {
        let size = piece.size.map_or_else(|| "to its end".into(), output::bytes);
        let key = if at == 0 { "data in" } else { "" };
        lines.push((key, format!("{} from byte {}, {size}", escape(&piece.name), piece.offset)));
    }
    if let Some(fill) = &dataset.fill {
        lines.push(("fill", fill.text(LONG_WIDTH)));
    }
    lines
}

/// Formats the type and shape of an attribute.
pub(crate) fn attribute_type(attribute: &AttributeFacts) -> String {
    let datatype = attribute.datatype.as_ref().map(|datatype| type_text(datatype, SHORT_WIDTH));
    match (datatype, &attribute.space) {
        (Some(datatype), Some(hyperslab::Dataspace::Scalar)) => datatype,
        (Some(datatype), Some(space)) => format!("{} {datatype}", shape(space)),
        _ => String::new(),
    }
}
