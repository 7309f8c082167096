//! `hyperslab repack`: a file written anew, and compared with what it was.

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

use crate::digest::content;
use crate::interrupted::new_file_for;
use crate::open::OpenArguments;
use crate::output;

/// What `repack` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Patterns: `*` and `?` stand for characters of a name, `**` for any of a path; without a slash a pattern is held
against the last name. Of several that match, the last counts.

Examples:
  hyperslab repack old.h5 new.h5                                     unused space goes
  hyperslab repack old.h5 new.h5 --filter '**=shuffle,gzip=6'        all datasets compressed
  hyperslab repack old.h5 new.h5 --layout '/run/*=chunked:64x64' --filter '/run/*=zstd=3'
  hyperslab repack old.h5 new.h5 --layout '**=contiguous' --libver earliest
  hyperslab repack old.h5 new.h5 --layout '/counts/*=sparse' --filter '/counts/*=shuffle,gzip=4'
  hyperslab repack old.h5 new.h5 --layout 'heights=sparse:1000x1000' --undefined 'heights=-9999'
  hyperslab repack old.h5 new.h5 --fs-strategy page --fs-page-size 8192 --fs-persist"
)]
pub(crate) struct RepackArguments {
    #[command(flatten)]
    open: OpenArguments,
    /// How datasets are stored: contiguous, compact, chunked, chunked:64x64, sparse, sparse:1000x1000,
    /// sparse:density=0.01, or auto; the elements tell the density that is not given
    #[arg(short, long, value_name = "PATTERN=LAYOUT", value_parser = layout)]
    layout: Vec<(String, RepackLayout)>,
    /// Which filters chunks pass, such as shuffle,gzip=6; or none
    #[arg(short, long, value_name = "PATTERN=FILTERS", value_parser = filters)]
    filter: Vec<(String, Filters)>,
    /// Which filters a section of structured chunks passes (selection, values or heap) instead of those of --filter,
    /// such as selection:shuffle,gzip=6
    #[arg(long, value_name = "PATTERN=SECTION:FILTERS", value_parser = section_filters)]
    section_filter: Vec<(String, Section, Filters)>,
    /// The value that counts as undefined in datasets that become sparse, and becomes their fill value [default: the fill
    /// value]
    #[arg(long, value_name = "PATTERN=VALUE", value_parser = undefined)]
    undefined: Vec<(String, Number)>,
    /// How sparse datasets list their defined elements [default: as in IN, or in blocks]
    #[arg(long, value_enum, value_name = "ENCODING")]
    selection_encoding: Option<Encoding>,
    /// The versions of the library that shall read the file, such as earliest, v110 or v18,v112
    #[arg(long, value_name = "LOW[,HIGH]", value_parser = libver)]
    libver: Option<LibverBounds>,
    /// Who hands out space: fsm-aggr, page, aggr or none [default: as in IN]
    #[arg(long, value_enum, value_name = "STRATEGY")]
    fs_strategy: Option<Strategy>,
    /// Remember free space when the file is closed
    #[arg(long)]
    fs_persist: bool,
    /// The smallest piece of free space that is remembered, in bytes
    #[arg(long, value_name = "BYTES")]
    fs_threshold: Option<u64>,
    /// Bytes of a page [default: as in IN, or those of a user block that is smaller]
    #[arg(long, value_name = "BYTES")]
    fs_page_size: Option<u64>,
    /// Bytes of the user block: 0 or a power of two from 512 on [default: as in IN]
    #[arg(long, value_name = "BYTES")]
    user_block: Option<u64>,
    /// Do not compare the new file with the old one
    #[arg(long)]
    no_verify: bool,
    /// Show no progress, and say nothing
    #[arg(short, long)]
    quiet: bool,
    /// Print a JSON document that says what was done
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// The file
    #[arg(value_name = "IN")]
    source: PathBuf,
    /// The new file
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

/// A number as it is typed in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

/// A list of filters, which `clap` would take for several values.
#[derive(Debug, Clone)]
struct Filters(Vec<FilterSpec>);

/// The pattern and what is behind the last equals sign that can separate them.
fn split(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=')
        .filter(|(pattern, _)| !pattern.is_empty())
        .ok_or_else(|| format!("`{text}` is no PATTERN=…; `**` is the pattern for all datasets"))
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
                    "`{layout}` is none of contiguous, compact, chunked, chunked:AxB, sparse, sparse:AxB, \
                     sparse:density=D, auto"
                ));
            }
        },
        Some(("chunked", shape)) => RepackLayout::Chunked(crate::change::shape(shape)?),
        Some(("sparse", how)) => match how.strip_prefix("density=") {
            Some(density) => {
                let density = density.parse().map_err(|_| format!("`{density}` is no number"))?;
                RepackLayout::AutoSparse { density: Some(density) }
            }
            None => RepackLayout::Sparse(crate::change::shape(how)?),
        },
        Some(_) => return Err(format!("`{layout}`: only chunks have a shape, as in chunked:64x64")),
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
    let expected = || format!("`{rest}` is no SECTION:FILTERS; sections are selection, values and heap");
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
            value.parse().map(Self::Float).map_err(|_| format!("`{value}` is no number"))
        }
    }
}

impl Number {
    /// Says that it counts as undefined in those datasets.
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
            .ok_or_else(|| format!("`{name}` is none of earliest, v18, v110, v112, v114, v200, latest"))
    };
    LibverBounds::new(version(low)?, version(high)?).map_err(|error| error.to_string())
}

/// Writes a file anew.
pub(crate) fn repack(arguments: &RepackArguments) -> Result<()> {
    let (from, to) = (&arguments.source, &arguments.target);
    if hyperslab::vfd::is_same_file(from, to) {
        bail!("`{}` is the file that is read: name another one", to.display());
    }
    let source = arguments.open.open(from)?;
    let made = new_file(to)?;
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
    for (path, why) in &outcome.kept {
        output::complain(format_args!("hyperslab: `{path}` is stored as before: {why}"));
    }
    if !arguments.no_verify {
        verify(arguments, &source, made.path())?;
    }
    made.persist(to).with_context(|| format!("cannot write `{}`", to.display()))?;
    arguments.say(&outcome)?;
    arguments.open.report();
    Ok(())
}

/// A file beside the one at that path, which it is to become: that appears whole or not at all.
pub(crate) fn new_file(to: &Path) -> Result<NamedTempFile> {
    new_file_for(to, ".h5")
}

fn verify(arguments: &RepackArguments, source: &File, made: &Path) -> Result<()> {
    let bar = if arguments.quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
    bar.set_message("comparing");
    bar.enable_steady_tick(Duration::from_millis(100));
    let again = hyperslab::OpenOptions::new().open(made).context("the new file cannot be opened")?;
    let found = content::compare(source, &again, !arguments.undefined.is_empty());
    bar.finish_and_clear();
    match found {
        None => Ok(()),
        Some(difference) => {
            bail!("the new file would not be the same: `{}`: {}", difference.path, difference.what)
        }
    }
}

fn progress_bar(arguments: &RepackArguments, source: &File) -> ProgressBar {
    if arguments.quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(source.info().length);
    let style = "{bar:30} {bytes:>10}  {binary_bytes_per_sec:>14}  {msg}";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar
}

impl RepackArguments {
    /// Says what was done.
    fn say(&self, outcome: &Repacked) -> Result<()> {
        if self.quiet {
            return Ok(());
        }
        let length = |path: &Path| Ok::<u64, anyhow::Error>(path.metadata()?.len());
        let (before, after) = (length(&self.source)?, length(&self.target)?);
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
            let compared = if self.no_verify { "" } else { "; compared, and the same" };
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
        if let Some(bounds) = self.libver {
            work = work.libver(bounds);
        }
        if let Some(bytes) = self.user_block {
            work = work.user_block(bytes);
        }
        let info = source.info();
        Ok(work.file_space(self.space(info.file_space, self.user_block.unwrap_or(info.user_block))))
    }

    fn space(&self, before: FileSpace, user_block: u64) -> FileSpace {
        let strategy = self.fs_strategy.map_or(before.strategy, |strategy| match strategy {
            Strategy::FsmAggr => FileSpaceStrategy::FreeSpaceAndAggregators,
            Strategy::Page => FileSpaceStrategy::Page,
            Strategy::Aggr => FileSpaceStrategy::Aggregators,
            Strategy::None => FileSpaceStrategy::None,
        });
        let other = self.fs_strategy.is_some();
        // A user block has whole pages: one that is smaller makes the pages as small as itself.
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
