//! `hyperslab tree`: a drawing of the objects of a file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use hyperslab_exact::{to_u64, to_usize};

use crate::lookup;
use crate::ls::branches::Branches;
use crate::ls::dataset::{DatasetFacts, shape};
use crate::ls::describe::{Detail, ObjectFacts};
use crate::ls::describer::{AttributeFacts, Attributes, Describer};
use crate::ls::tree::{SHORT_WIDTH, type_text};
use crate::ls::walk::{Content, Entry, EntryPath, Sink, Walk};
use crate::ls::{exit_code, json, rows::Cell};
use crate::open::OpenArguments;
use crate::output::Screen;
use crate::output::{self, DATASET, DATATYPE, ERROR, FAINT, GROUP, LINK, PLAIN, VALUE, cut, escape, styled};
use crate::values::paths::Paths;

/// The largest number of values of one attribute that the command `tree` decodes.
const MAX_VALUES: usize = 32;

/// The arguments of `tree`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab tree data.h5
  hyperslab tree data.h5 /run/7 --depth 2
  hyperslab tree data.h5 --groups        only groups, with the number of their members
  hyperslab ls -r data.h5                a list with layouts, filters and sizes")]
pub(crate) struct TreeArguments {
    /// The number of levels of groups whose members are drawn [default: all]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Also draw attributes
    #[arg(short, long)]
    attrs: bool,
    /// Draw only groups
    #[arg(short, long)]
    groups: bool,
    /// Print a JSON document in the format of `ls --json`, without storage sizes
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

/// Runs the command `tree`: draws the objects of a file as a tree. Returns a failure code if a part
/// of the file could not be read.
pub(crate) fn run(arguments: &TreeArguments) -> Result<ExitCode> {
    let shown = arguments.file.display().to_string();
    let file = arguments.open.open(&arguments.file)?;
    let object = lookup::object(&file, &arguments.path).with_context(|| format!("`{shown}`"))?;
    let path = format!("/{}", arguments.path.trim_matches('/'));
    let describer = Describer {
        all: false,
        storage: false,
        attributes: if arguments.attrs { Attributes::All } else { Attributes::None },
        values: MAX_VALUES,
        paths: Paths::new(&file),
    };
    let levels = match arguments.depth {
        Some(levels) => to_usize(levels.into())?,
        None => usize::MAX,
    };
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
    Ok(exit_code(failures, &shown))
}

/// A receiver of listed entries that draws them as a tree and counts them.
struct Drawing<W: Screen> {
    output: W,
    branches: Branches,
    counts: Counts,
}

/// The numbers of entries of each kind in a drawn tree, without the first entry.
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
        let counts =
            named.iter().filter(|(count, _)| *count > 0).map(|(count, noun)| output::count(*count, noun));
        let counts: Vec<String> = counts.collect();
        let line = if counts.is_empty() { "empty".to_owned() } else { counts.join(", ") };
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
        *count += 1;
    }

    /// Draws the problems and attributes of an object as leaves of the tree, before its members.
    fn leaves(&mut self, facts: &ObjectFacts, below: &str, open: bool) -> Result<()> {
        let lines =
            below.strip_suffix("│   ").or_else(|| below.strip_suffix("    ")).unwrap_or(below).to_owned();
        self.counts.attributes += to_u64(facts.attributes.len());
        for problem in &facts.problems {
            let branch = if facts.attributes.is_empty() && !open { "    " } else { "│   " };
            let text = format!("error: {}", escape(problem.as_bytes()));
            self.line(&format!("{lines}{branch}"), &[Cell::new(text, ERROR)])?;
        }
        let mut attributes = facts.attributes.iter().peekable();
        while let Some(attribute) = attributes.next() {
            let branch = if attributes.peek().is_none() && !open { "└── " } else { "├── " };
            self.line(&format!("{lines}{branch}"), &attribute_cells(attribute))?;
        }
        Ok(())
    }
}

impl<W: Screen> Sink for Drawing<W> {
    fn entry(&mut self, entry: &Entry, _: &EntryPath<'_>) -> Result<()> {
        let (branches, below) = self.branches.of(entry);
        self.count(entry);
        self.line(&branches, &cells(entry))?;
        match &entry.content {
            Content::Object(facts) => self.leaves(facts, &below, entry.open),
            _ => Ok(()),
        }
    }
}

/// Returns the cells of the tree line that shows an entry.
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
            let class = group.class.as_ref().map_or_else(String::new, |class| cut(class, SHORT_WIDTH));
            // The number of members is shown only for groups whose members are not drawn.
            let members = match group.members {
                Some(0) => "empty".to_owned(),
                Some(count) if !open => output::count(to_u64(count), "member"),
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
            let text = format!("datatype {}", type_text(datatype, SHORT_WIDTH));
            vec![Cell::new(name, DATATYPE), Cell::new(text, DATATYPE)]
        }
        Detail::Unknown => vec![Cell::new(name, PLAIN), Cell::new("object of unknown kind", FAINT)],
    }
}

fn dataset_cells(name: String, dataset: &DatasetFacts) -> Vec<Cell> {
    let units = match &dataset.units {
        Some(units) => format!("[{}]", cut(units, SHORT_WIDTH)),
        None => String::new(),
    };
    vec![
        Cell::new(name, DATASET),
        Cell::new(shape(&dataset.space), PLAIN),
        Cell::new(type_text(&dataset.datatype, SHORT_WIDTH), DATATYPE),
        Cell::new(units, VALUE),
    ]
}

fn attribute_cells(attribute: &AttributeFacts) -> Vec<Cell> {
    let name = Cell::new(format!("@{}", escape(&attribute.name)), FAINT);
    match &attribute.value {
        Ok(value) => vec![name, Cell::new(value.innermost().text(SHORT_WIDTH), VALUE)],
        Err(error) => vec![name, Cell::new(format!("error: {}", escape(error.as_bytes())), ERROR)],
    }
}
