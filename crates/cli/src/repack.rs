//! `hyperslab repack`: writes a new copy of a file, and compares the copy with the file.

use std::cell::RefCell;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use hyperslab::filter::FilterSpec;
use hyperslab::{
    File, FileSpace, FileSpaceStrategy, LibraryVersion, LibverBounds, Repack, RepackLayout, Repacked,
    Section, SelectionEncoding,
};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use tempfile::NamedTempFile;

use crate::cloud_layout::{cloud_bounds, cloud_space};
use crate::digest::content;
use crate::interrupted::new_file_for;
use crate::open::OpenArguments;
use crate::{output, progress, remote};

/// The arguments of `repack`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Patterns: `*` and `?` match characters within a name, `**` matches any characters of a path. A pattern without a slash is
compared with the last name of a path. If several patterns match a dataset, the last one applies.

Examples:
  hyperslab repack old.h5 new.h5                                     removes unused space
  hyperslab repack old.h5 new.h5 --filter '**=shuffle,gzip=6'        compresses all datasets
  hyperslab repack old.h5 new.h5 --layout '/run/*=chunked:64x64' --filter '/run/*=zstd=3'
  hyperslab repack old.h5 new.h5 --layout '**=contiguous' --libver earliest
  hyperslab repack old.h5 new.h5 --layout '/counts/*=sparse' --filter '/counts/*=shuffle,gzip=4'
  hyperslab repack old.h5 new.h5 --layout 'heights=sparse:1000x1000' --undefined 'heights=-9999'
  hyperslab repack old.h5 new.h5 --fs-strategy page --fs-page-size 8192 --fs-persist
  hyperslab repack old.h5 new.h5 --cloud                             few requests from object stores
  hyperslab repack old.h5 s3://bucket/new.h5 --cloud                 a new object"
)]
pub(crate) struct RepackArguments {
    #[command(flatten)]
    open: OpenArguments,
    /// The layout of datasets: contiguous, compact, chunked, chunked:64x64, sparse,
    /// sparse:1000x1000, sparse:density=0.01, or auto. Without a density, the density is computed
    /// from the elements
    #[arg(short, long, value_name = "PATTERN=LAYOUT", value_parser = layout)]
    layout: Vec<(String, RepackLayout)>,
    /// The filters of chunks, such as shuffle,gzip=6; or none
    #[arg(short, long, value_name = "PATTERN=FILTERS", value_parser = filters)]
    filter: Vec<(String, Filters)>,
    /// The filters of one section of structured chunks (selection, values or heap), which replace
    /// the filters of --filter: for example selection:shuffle,gzip=6
    #[arg(long, value_name = "PATTERN=SECTION:FILTERS", value_parser = section_filters)]
    section_filter: Vec<(String, Section, Filters)>,
    /// The value of undefined elements in datasets that become sparse. It becomes the fill value of
    /// these datasets [default: the fill value]
    #[arg(long, value_name = "PATTERN=VALUE", value_parser = undefined)]
    undefined: Vec<(String, Number)>,
    /// The encoding of the list of defined elements of sparse datasets [default: as in IN, or
    /// blocks]
    #[arg(long, value_enum, value_name = "ENCODING")]
    selection_encoding: Option<Encoding>,
    /// The versions of libhdf5 that must be able to read the file, such as earliest, v110 or
    /// v18,v112
    #[arg(long, value_name = "LOW[,HIGH]", value_parser = libver)]
    libver: Option<LibverBounds>,
    /// The strategy for free space: fsm-aggr, page, aggr or none [default: as in IN]
    #[arg(long, value_enum, value_name = "STRATEGY")]
    fs_strategy: Option<Strategy>,
    /// Store the list of free space in the file when it is closed
    #[arg(long)]
    fs_persist: bool,
    /// The smallest free space that is recorded, in bytes
    #[arg(long, value_name = "BYTES")]
    fs_threshold: Option<u64>,
    /// The size of a page in bytes [default: as in IN, or the size of the user block if that is
    /// smaller]
    #[arg(long, value_name = "BYTES")]
    fs_page_size: Option<u64>,
    /// The size of the user block in bytes: 0, or a power of two of at least 512 [default: as in
    /// IN]
    #[arg(long, value_name = "BYTES")]
    user_block: Option<u64>,
    /// Write a file that needs few requests in object stores: metadata together in pages of 4 MiB
    /// (less in files below 64 MiB), and the indexes of HDF5 1.10
    #[arg(long, conflicts_with_all = ["libver", "fs_strategy", "fs_page_size", "fs_persist"])]
    cloud: bool,
    /// Do not compare the new file with the old one
    #[arg(long)]
    no_verify: bool,
    /// Print nothing, and show no progress
    #[arg(short, long)]
    quiet: bool,
    /// Print a report as a JSON document
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// The file
    #[arg(value_name = "IN")]
    source: PathBuf,
    /// The new file, or the URL of a new object
    #[arg(value_name = "OUT")]
    target: PathBuf,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Strategy {
    FsmAggr,
    Page,
    Aggr,
    None,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Encoding {
    Blocks,
    Points,
    Shortest,
}

/// A number on the command line of `repack`: a signed or unsigned integer, or a floating-point
/// number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

/// The filters that one argument of `repack` lists. `clap` would interpret a plain `Vec` as several
/// values of the argument.
#[derive(Debug, Clone)]
struct Filters(Vec<FilterSpec>);

/// Splits an argument of `repack` at its first equals sign into a path pattern and a value.
fn split(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=').filter(|(pattern, _)| !pattern.is_empty()).ok_or_else(|| {
        format!("`{text}` does not have the form PATTERN=…; `**` is the pattern for all datasets")
    })
}

fn layout(text: &str) -> Result<(String, RepackLayout), String> {
    let (pattern, layout) = split(text)?;
    let layout = match layout.split_once(':') {
        None => match layout {
            "contiguous" => RepackLayout::Contiguous,
            "compact" => RepackLayout::Compact,
            "chunked" => RepackLayout::AutoChunked,
            "auto" => RepackLayout::Auto,
            "sparse" => RepackLayout::AutoSparse { density: None },
            _ => {
                return Err(format!(
                    "the layout `{layout}` is not known; there are contiguous, compact, chunked, chunked:AxB, \
                     sparse, sparse:AxB, sparse:density=D and auto"
                ));
            }
        },
        Some(("chunked", shape)) => RepackLayout::Chunked(crate::change::shape(shape)?),
        Some(("sparse", rest)) => match rest.strip_prefix("density=") {
            Some(density) => {
                let density = density.parse().map_err(|_| format!("`{density}` is not a number"))?;
                RepackLayout::AutoSparse { density: Some(density) }
            }
            None => RepackLayout::Sparse(crate::change::shape(rest)?),
        },
        Some(_) => {
            return Err(format!(
                "`{layout}`: only chunked and sparse layouts have a shape, as in chunked:64x64"
            ));
        }
    };
    Ok((pattern.to_owned(), layout))
}

fn filters(text: &str) -> Result<(String, Filters), String> {
    let (pattern, filters) = split(text)?;
    Ok((pattern.to_owned(), list(filters)?))
}

fn list(filters: &str) -> Result<Filters, String> {
    match filters {
        "none" => Ok(Filters(Vec::new())),
        list => FilterSpec::parse_list(list).map(Filters).map_err(|error| error.to_string()),
    }
}

fn section_filters(text: &str) -> Result<(String, Section, Filters), String> {
    let (pattern, rest) = split(text)?;
    let expected = || {
        format!(
            "`{rest}` does not have the form SECTION:FILTERS; the sections are selection, values and heap"
        )
    };
    let (section, filters) = rest.split_once(':').ok_or_else(expected)?;
    let section = match section {
        "selection" => Section::Selection,
        "values" => Section::Values,
        "heap" => Section::Heap,
        _ => return Err(expected()),
    };
    Ok((pattern.to_owned(), section, list(filters)?))
}

fn undefined(text: &str) -> Result<(String, Number), String> {
    let (pattern, value) = split(text)?;
    Ok((pattern.to_owned(), value.parse()?))
}

impl FromStr for Number {
    type Err = String;

    fn from_str(value: &str) -> Result<Self, String> {
        if let Ok(number) = value.parse() {
            Ok(Self::Signed(number))
        } else if let Ok(number) = value.parse() {
            Ok(Self::Unsigned(number))
        } else {
            value.parse().map(Self::Float).map_err(|_| format!("`{value}` is not a number"))
        }
    }
}

impl Number {
    /// Adds a rule to a repack, for datasets that match a path pattern: elements with this value
    /// become undefined.
    pub(crate) fn undefined<'a>(self, work: Repack<'a>, pattern: &str) -> hyperslab::Result<Repack<'a>> {
        match self {
            Self::Signed(number) => work.undefined(pattern, number),
            Self::Unsigned(number) => work.undefined(pattern, number),
            Self::Float(number) => work.undefined(pattern, number),
        }
    }
}

fn libver(text: &str) -> Result<LibverBounds, String> {
    let (low, high) = text.split_once(',').unwrap_or((text, "latest"));
    let version = |name: &str| {
        LibraryVersion::from_name(name)
            .ok_or_else(|| format!("the version `{name}` is not known; there are earliest, v18, v110, v112, v114, v200 and latest"))
    };
    LibverBounds::new(version(low)?, version(high)?).map_err(|error| error.to_string())
}

/// Runs the command `repack`: writes a new copy of a file.
pub(crate) fn repack(arguments: &RepackArguments) -> Result<()> {
    let (from, to) = (&arguments.source, &arguments.target);
    if hyperslab::vfd::is_same_file(from, to) {
        bail!("`{}` is the input file: name another output file", to.display());
    }
    let source = arguments.open.open(from)?;
    let target = remote::url(to);
    let made = match target {
        None => new_file(to)?,
        Some(_) => new_file(&std::env::temp_dir().join("object"))?,
    };
    let bar = progress_bar(arguments, &source);
    let shown = RefCell::new(String::new());
    let work = arguments.work(&source)?.progress(|path, bytes| {
        if *shown.borrow() != path {
            path.clone_into(&mut shown.borrow_mut());
            bar.set_message(output::cut(&output::escape(path.as_bytes()), 40));
        }
        bar.inc(bytes);
    });
    let outcome = work.run(&source, made.path()).with_context(|| format!("`{}`", from.display()))?;
    bar.finish_and_clear();
    for (path, reason) in &outcome.kept {
        output::complain(format_args!("hyperslab: `{path}` keeps its layout and filters: {reason}"));
    }
    if !arguments.no_verify {
        verify(arguments, &source, made.path())?;
    }
    let after = made.as_file().metadata()?.len();
    if let Some(target) = target {
        let file = std::fs::File::open(made.path())?;
        remote::upload(&file, target, false)
            .with_context(|| format!("cannot write `{}`", remote::shown(to)))?;
    } else {
        made.persist(to).with_context(|| format!("cannot write `{}`", to.display()))?;
    }
    arguments.print(&outcome, (source.info().length, after))?;
    arguments.open.report();
    Ok(())
}

/// Creates a temporary file for a repack. The caller renames it to `to` when it is complete, so
/// that no incomplete file appears.
pub(crate) fn new_file(to: &Path) -> Result<NamedTempFile> {
    new_file_for(to, ".h5")
}

fn verify(arguments: &RepackArguments, source: &File, made: &Path) -> Result<()> {
    let bar =
        if arguments.quiet { ProgressBar::hidden() } else { progress::delayed(ProgressBar::new_spinner()) };
    bar.set_message("comparing");
    bar.enable_steady_tick(Duration::from_millis(100));
    let copy = hyperslab::OpenOptions::new().open(made).context("the new file cannot be opened")?;
    let found = content::compare(source, &copy, !arguments.undefined.is_empty());
    bar.finish_and_clear();
    match found {
        None => Ok(()),
        Some(difference) => {
            bail!("the new file differs from the old file at `{}`: {}", difference.path, difference.subject)
        }
    }
}

fn progress_bar(arguments: &RepackArguments, source: &File) -> ProgressBar {
    if arguments.quiet {
        return ProgressBar::hidden();
    }
    let bar = progress::delayed(ProgressBar::new(source.info().length));
    let style = "{bar:30} {bytes:>10}  {binary_bytes_per_sec:>14}  {msg}";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar
}

impl RepackArguments {
    /// Prints the report of a repack.
    fn print(&self, outcome: &Repacked, (before, after): (u64, u64)) -> Result<()> {
        if self.quiet {
            return Ok(());
        }
        let mut out = output::stdout();
        if self.json {
            let kept = |(path, why): &(String, String)| json!({"path": path, "why": why});
            let document = json!({
                "schema": 1,
                "bytes_before": before,
                "bytes_after": after,
                "raw_data_bytes": outcome.bytes,
                "compared": !self.no_verify,
                "stored_as_before": outcome.kept.iter().map(kept).collect::<Vec<_>>(),
            });
            writeln!(out, "{document:#}")?;
        } else {
            let compared = if self.no_verify { "" } else { "; compared: no difference" };
            writeln!(out, "{} before, {} now{compared}", output::bytes(before), output::bytes(after))?;
        }
        Ok(out.flush()?)
    }

    fn work<'a>(&self, source: &File) -> Result<Repack<'a>> {
        let mut work = Repack::new();
        for (pattern, layout) in &self.layout {
            work = work.layout(pattern, layout.clone())?;
        }
        for (pattern, Filters(filters)) in &self.filter {
            work = work.filters(pattern, filters.clone())?;
        }
        for (pattern, section, Filters(filters)) in &self.section_filter {
            work = work.section_filters(pattern, *section, filters.clone())?;
        }
        for (pattern, number) in &self.undefined {
            work = number.undefined(work, pattern)?;
        }
        if let Some(encoding) = self.selection_encoding {
            work = work.selection_encoding(match encoding {
                Encoding::Blocks => SelectionEncoding::Blocks,
                Encoding::Points => SelectionEncoding::Points,
                Encoding::Shortest => SelectionEncoding::Shortest,
            });
        }
        if let Some(bounds) = self.bounds()? {
            work = work.libver(bounds);
        }
        if let Some(bytes) = self.user_block {
            work = work.user_block(bytes);
        }
        let info = source.info();
        if self.cloud {
            return Ok(work.file_space(cloud_space(info.length, self.user_block.unwrap_or(info.user_block))));
        }
        Ok(work.file_space(self.space(info.file_space, self.user_block.unwrap_or(info.user_block))))
    }

    fn bounds(&self) -> Result<Option<LibverBounds>> {
        if !self.cloud {
            return Ok(self.libver);
        }
        Ok(Some(cloud_bounds()?))
    }

    fn space(&self, before: FileSpace, user_block: u64) -> FileSpace {
        let strategy = self.fs_strategy.map_or(before.strategy, |strategy| match strategy {
            Strategy::FsmAggr => FileSpaceStrategy::FreeSpaceAndAggregators,
            Strategy::Page => FileSpaceStrategy::Page,
            Strategy::Aggr => FileSpaceStrategy::Aggregators,
            Strategy::None => FileSpaceStrategy::None,
        });
        let other = self.fs_strategy.is_some();
        // With paged allocation, the size of the user block must be a multiple of the page size.
        let uneven =
            strategy == FileSpaceStrategy::Page && !user_block.is_multiple_of(before.page_size.max(1));
        let page_size = if uneven { user_block } else { before.page_size };
        FileSpace {
            strategy,
            persist: self.fs_persist || (before.persist && !other),
            threshold: self.fs_threshold.unwrap_or(before.threshold),
            page_size: self.fs_page_size.unwrap_or(page_size),
        }
    }
}
