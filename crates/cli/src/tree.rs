//! `hyperslab tree`: what is in a file, at a glance.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::ls::branches::Branches;
use crate::ls::dataset::{DatasetFacts, shape};
use crate::ls::describe::{AttributeFacts, Attributes, Describer, Detail, ObjectFacts};
use crate::ls::tree::{SHORT, type_text};
use crate::ls::walk::{Content, Entry, EntryPlace, Sink, Walk};
use crate::ls::{json, rows::Cell, told};
use crate::open::OpenArguments;
use crate::output::Screen;
use crate::output::{self, DATASET, DATATYPE, ERROR, FAINT, GROUP, LINK, PLAIN, VALUE, cut, escape, styled};
use crate::places;
use crate::values::paths::Paths;

/// Values of an attribute that are decoded.
const VALUES: usize = 32;

/// What `tree` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab tree data.h5
  hyperslab tree data.h5 /run/7 --depth 2
  hyperslab tree data.h5 --groups        the groups, with the number of their members
  hyperslab ls -r data.h5                the same with layouts, filters and sizes")]
pub(crate) struct TreeArguments {
    /// Levels of groups whose members are drawn [default: all]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Draw attributes, too
    #[arg(short, long)]
    attrs: bool,
    /// Draw groups only
    #[arg(short, long)]
    groups: bool,
    /// Print a JSON document: that of `ls --json`, without what storage takes
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The file
    file: PathBuf,
    /// The group to draw
    #[arg(default_value = "/", value_name = "GROUP")]
    path: String,
}

/// Draws the tree; fails at the end if something could not be read.
pub(crate) fn run(arguments: &TreeArguments) -> Result<ExitCode> {
    let shown = arguments.file.display().to_string();
    let file = arguments.open.open(&arguments.file)?;
    let object = places::object(&file, &arguments.path).with_context(|| format!("`{shown}`"))?;
    let path = format!("/{}", arguments.path.trim_matches('/'));
    let describer = Describer {
        all: false,
        storage: false,
        attributes: if arguments.attrs { Attributes::All } else { Attributes::None },
        values: VALUES,
        paths: Paths::new(&file),
    };
    let levels = arguments.depth.and_then(|levels| usize::try_from(levels).ok()).unwrap_or(usize::MAX);
    let walk = Walk::new(&file, &describer, levels).groups_only(arguments.groups);
    let failures = if arguments.json {
        let mut document =
            json::Document::begin(output::stdout(), "tree", &arguments.file, &file.info(), &path)?;
        let failures = walk.run(&object, &path, &mut document)?;
        document.end(failures)?;
        failures
    } else {
        let mut tree = Drawing::new(output::stdout());
        let failures = walk.run(&object, &path, &mut tree)?;
        tree.end()?;
        failures
    };
    arguments.open.report();
    Ok(told(failures, &shown))
}

/// Draws entries, and counts them.
struct Drawing<W: Screen> {
    output: W,
    branches: Branches,
    counts: Counts,
}

/// What was drawn below the first entry.
#[derive(Debug, Default)]
struct Counts {
    groups: u64,
    datasets: u64,
    datatypes: u64,
    links: u64,
    attributes: u64,
}

impl<W: Screen> Drawing<W> {
    fn new(output: W) -> Self {
        Self { output, branches: Branches::default(), counts: Counts::default() }
    }

    fn end(mut self) -> Result<()> {
        let Counts { groups, datasets, datatypes, links, attributes } = self.counts;
        let named = [
            (groups, "group"),
            (datasets, "dataset"),
            (datatypes, "datatype"),
            (links, "link"),
            (attributes, "attribute"),
        ];
        let said =
            named.iter().filter(|(count, _)| *count > 0).map(|(count, noun)| output::count(*count, noun));
        let said: Vec<String> = said.collect();
        let line = if said.is_empty() { "empty".to_owned() } else { said.join(", ") };
        writeln!(self.output)?;
        styled(&mut self.output, FAINT, &line)?;
        writeln!(self.output)?;
        Ok(self.output.flush()?)
    }

    fn line(&mut self, branches: &str, cells: &[Cell]) -> Result<()> {
        styled(&mut self.output, FAINT, branches)?;
        let mut gap = "";
        for cell in cells.iter().filter(|cell| !cell.text.is_empty()) {
            write!(self.output, "{gap}")?;
            styled(&mut self.output, cell.style, &cell.text)?;
            gap = "  ";
        }
        Ok(writeln!(self.output)?)
    }

    fn count(&mut self, entry: &Entry) {
        let count = match &entry.content {
            _ if entry.parent.is_none() => return,
            Content::Object(facts) => match &facts.detail {
                Detail::Group(_) => &mut self.counts.groups,
                Detail::Dataset(_) => &mut self.counts.datasets,
                Detail::Datatype(_) => &mut self.counts.datatypes,
                Detail::Unknown => return,
            },
            Content::Broken(_) => return,
            _ => &mut self.counts.links,
        };
        *count = count.saturating_add(1);
    }

    /// Attributes and what is wrong, as leaves before the members.
    fn leaves(&mut self, facts: &ObjectFacts, below: &str, open: bool) -> Result<()> {
        let lines =
            below.strip_suffix("│   ").or_else(|| below.strip_suffix("    ")).unwrap_or(below).to_owned();
        let mut left = facts.attributes.len();
        self.counts.attributes =
            self.counts.attributes.saturating_add(u64::try_from(left).unwrap_or(u64::MAX));
        for problem in &facts.problems {
            let branch = if left == 0 && !open { "    " } else { "│   " };
            let text = format!("error: {}", escape(problem.as_bytes()));
            self.line(&format!("{lines}{branch}"), &[Cell::new(text, ERROR)])?;
        }
        for attribute in &facts.attributes {
            left = left.saturating_sub(1);
            let branch = if left == 0 && !open { "└── " } else { "├── " };
            self.line(&format!("{lines}{branch}"), &attribute_cells(attribute))?;
        }
        Ok(())
    }
}

impl<W: Screen> Sink for Drawing<W> {
    fn entry(&mut self, entry: &Entry, _: &EntryPlace<'_>) -> Result<()> {
        let (branches, below) = self.branches.of(entry);
        self.count(entry);
        self.line(&branches, &cells(entry))?;
        match &entry.content {
            Content::Object(facts) => self.leaves(facts, &below, entry.open),
            _ => Ok(()),
        }
    }
}

/// What is said of an entry in its line.
fn cells(entry: &Entry) -> Vec<Cell> {
    let name = escape(&entry.name);
    let link = |text: String| vec![Cell::new(name.clone(), LINK), Cell::new(text, LINK)];
    match &entry.content {
        Content::Object(facts) => object_cells(name, facts, entry.open),
        Content::Same { path, around: false } => link(format!("= {path}")),
        Content::Same { path, around: true } => link(format!("↺ {path}")),
        Content::Soft { path, dangling } => {
            let mut cells = link(format!("→ {}", escape(path)));
            if *dangling {
                cells.push(Cell::new("nothing is there", ERROR));
            }
            cells
        }
        Content::External { file, path } => link(format!("→ {}:{}", escape(file), escape(path))),
        Content::UserDefined { class, .. } => link(format!("link of user-defined class {class}")),
        Content::UnknownLink => link("link of unknown class".into()),
        Content::Broken(error) => {
            vec![Cell::new(name, ERROR), Cell::new(format!("error: {}", escape(error.as_bytes())), ERROR)]
        }
    }
}

fn object_cells(name: String, facts: &ObjectFacts, open: bool) -> Vec<Cell> {
    match &facts.detail {
        Detail::Group(group) => {
            let slash = if name.ends_with('/') { "" } else { "/" };
            let class = group.class.as_ref().map(|class| cut(class, SHORT)).unwrap_or_default();
            // Members that are drawn need not be counted.
            let members = match group.members {
                Some(0) => "empty".to_owned(),
                Some(count) if !open => output::count(u64::try_from(count).unwrap_or(u64::MAX), "member"),
                _ => String::new(),
            };
            vec![
                Cell::new(format!("{name}{slash}"), GROUP),
                Cell::new(class, PLAIN),
                Cell::new(members, FAINT),
            ]
        }
        Detail::Dataset(dataset) => dataset_cells(name, dataset),
        Detail::Datatype(datatype) => {
            let text = format!("datatype {}", type_text(datatype, SHORT));
            vec![Cell::new(name, DATATYPE), Cell::new(text, DATATYPE)]
        }
        Detail::Unknown => vec![Cell::new(name, PLAIN), Cell::new("object of unknown kind", FAINT)],
    }
}

fn dataset_cells(name: String, dataset: &DatasetFacts) -> Vec<Cell> {
    let units = dataset.units.as_ref().map(|units| format!("[{}]", cut(units, SHORT)));
    vec![
        Cell::new(name, DATASET),
        Cell::new(shape(&dataset.space), PLAIN),
        Cell::new(type_text(&dataset.datatype, SHORT), DATATYPE),
        Cell::new(units.unwrap_or_default(), VALUE),
    ]
}

fn attribute_cells(attribute: &AttributeFacts) -> Vec<Cell> {
    let name = Cell::new(format!("@{}", escape(&attribute.name)), FAINT);
    match &attribute.value {
        Ok(value) => vec![name, Cell::new(value.innermost().text(SHORT), VALUE)],
        Err(error) => vec![name, Cell::new(format!("error: {}", escape(error.as_bytes())), ERROR)],
    }
}
