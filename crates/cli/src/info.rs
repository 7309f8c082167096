//! `hyperslab info`: the properties of a file or of one object.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use hyperslab::{File, FileInfo, FileSpaceStrategy, Object, ObjectKind};
use hyperslab_exact::to_u64;
use serde_json::{Map, Value as Json, json};

use crate::lookup;
use crate::ls::dataset::shape;
use crate::ls::describe::{Detail, ObjectFacts};
use crate::ls::describer::{Attributes, Describer};
use crate::ls::{exit_code, tree};
use crate::open::OpenArguments;
use crate::output::{self, FAINT, bytes, count, escape, spaces, styled, width};
use crate::values::paths::Paths;

/// The width of the column of property names in the output of `info`.
const NAME_COLUMNS: usize = 18;

/// The arguments of `info`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab info data.h5
  hyperslab info data.h5 run/7/image     shape, type, layout, filters and sizes of one object")]
pub(crate) struct InfoArguments {
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The file
    file: PathBuf,
    /// The path of the object [default: the file itself]
    path: Option<String>,
}

/// The properties of a file or object for the command `info`, as names and texts, and in JSON.
#[derive(Debug, Default)]
struct Properties {
    lines: Vec<(&'static str, String)>,
    document: Map<String, Json>,
}

impl Properties {
    fn add(&mut self, name: &'static str, text: impl Into<String>, value: Json) {
        self.lines.push((name, text.into()));
        self.document.insert(name.replace(' ', "_"), value);
    }

    fn print(self, as_json: bool) -> Result<()> {
        let mut out = output::stdout();
        if as_json {
            serde_json::to_writer_pretty(&mut out, &Json::Object(self.document))
                .map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            for (name, text) in &self.lines {
                styled(&mut out, FAINT, name)?;
                writeln!(out, "{}{text}", spaces(width(name), NAME_COLUMNS))?;
            }
        }
        Ok(out.flush()?)
    }
}

/// Runs the command `info`: prints the properties of a file or object. Returns a failure code if a
/// part of the object could not be read.
pub(crate) fn run(arguments: &InfoArguments) -> Result<ExitCode> {
    let shown = arguments.file.display().to_string();
    let file = arguments.open.open(&arguments.file)?;
    let (properties, failures) = match &arguments.path {
        None => (of_file(&shown, &file)?, 0),
        Some(path) => {
            let object = lookup::object(&file, path).with_context(|| format!("`{shown}`"))?;
            of_object(&file, &object)?
        }
    };
    properties.print(arguments.json)?;
    arguments.open.report();
    Ok(exit_code(failures, &shown))
}

fn of_file(shown: &str, file: &File) -> Result<Properties> {
    let info = file.info();
    let mut all = Properties::default();
    all.add("file", escape(shown.as_bytes()), json!(shown));
    all.add("size", bytes(info.length), json!(info.length));
    let driver = info.driver.name();
    all.add("driver", driver, json!(driver));
    all.add("superblock", format!("version {}", info.superblock_version), json!(info.superblock_version));
    all.add("offsets", format!("{} bytes", info.size_of_offsets), json!(info.size_of_offsets));
    all.add("lengths", format!("{} bytes", info.size_of_lengths), json!(info.size_of_lengths));
    if info.user_block > 0 {
        all.add("user block", bytes(info.user_block), json!(info.user_block));
    }
    all.add("file space", file_space(&info), json!(strategy(&info)));
    if !info.shared_messages.indexes.is_empty() {
        let indexes = to_u64(info.shared_messages.indexes.len());
        all.add("shared messages", format!("indexes: {indexes}"), json!(indexes));
    }
    if let Some(image) = info.cache_image {
        all.add("cache image", bytes(image), json!(image));
    }
    if let Some(outcome) = file.journal_outcome() {
        all.add("journal", outcome.to_string(), json!(outcome.to_string()));
    }
    let links = to_u64(file.root().len()?);
    all.add("root group", count(links, "member"), json!(links));
    let attributes = to_u64(file.root().attribute_names()?.len());
    all.add("attributes", attributes.to_string(), json!(attributes));
    Ok(all)
}

/// Returns the name of a file space strategy.
fn strategy(info: &FileInfo) -> &'static str {
    match info.file_space.strategy {
        FileSpaceStrategy::FreeSpaceAndAggregators => "free-space managers and aggregators",
        FileSpaceStrategy::Page => "pages",
        FileSpaceStrategy::Aggregators => "aggregators",
        FileSpaceStrategy::None => "end of the file only",
    }
}

fn file_space(info: &FileInfo) -> String {
    let space = &info.file_space;
    let mut text = strategy(info).to_owned();
    if space.strategy == FileSpaceStrategy::Page {
        text.push_str(&format!(" of {}", bytes(space.page_size)));
    }
    if space.persist {
        text.push_str(" · free space is recorded in the file");
    }
    text
}

/// Returns the properties of an object for the command `info`, and the number of its parts that
/// could not be read.
fn of_object(file: &File, object: &Object) -> Result<(Properties, usize)> {
    let describer = Describer {
        all: true,
        storage: true,
        attributes: Attributes::None,
        values: 32,
        paths: Paths::new(file),
    };
    let facts = describer.object(object, None)?;
    let mut all = Properties::default();
    let kind = object.kind().map_or("unknown object", ObjectKind::name);
    all.add("kind", kind, json!(kind));
    match &facts.detail {
        Detail::Group(group) => {
            if let Some(members) = group.members {
                all.add("members", members.to_string(), json!(members));
            }
            if let Some(class) = &group.class {
                all.add("class", class.clone(), json!(class));
            }
        }
        Detail::Dataset(dataset) => {
            all.add("shape", shape(&dataset.space), json!(dataset.space.dims()));
            let datatype = escape(dataset.datatype.to_string().as_bytes());
            all.add("datatype", datatype.clone(), json!(datatype));
            if let Some(units) = &dataset.units {
                all.add("units", units.clone(), json!(units));
            }
        }
        Detail::Datatype(datatype) => {
            let datatype = escape(datatype.to_string().as_bytes());
            all.add("datatype", datatype.clone(), json!(datatype));
        }
        Detail::Unknown => {}
    }
    for (name, text) in tree::details(&facts.detail) {
        let value = json!(text);
        all.add(name, text, value);
    }
    if let Some(links) = facts.link_count {
        all.add("hard links", links.to_string(), json!(links));
    }
    let attributes = to_u64(object.attribute_names()?.len());
    all.add("attributes", attributes.to_string(), json!(attributes));
    all.add("address", format!("{:#x}", facts.address), json!(facts.address));
    add_problems(&mut all, &facts);
    Ok((all, facts.failures()))
}

fn add_problems(all: &mut Properties, facts: &ObjectFacts) {
    if let Some(comment) = &facts.comment {
        all.add("comment", escape(comment), json!(String::from_utf8_lossy(comment)));
    }
    for problem in &facts.problems {
        all.add("error", escape(problem.as_bytes()), json!(problem));
    }
}
