//! `h5repack`: copies a file with other filters, layouts and file properties.

mod arguments;
mod rules;
mod table;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use hyperslab::{
    File, FileSpace, FileSpaceStrategy, LibraryVersion, LibverBounds, OpenOptions, Repack,
    SharedMessageIndexInfo, SharedMessages,
};

use self::arguments::H5repackArguments;
use super::files::{is_same, warn};
use crate::repack::new_file;

const HELP: &str = include_str!("help.txt");

/// The size of the smallest user block, in bytes.
const MIN_USER_BLOCK_BYTES: u64 = 512;
/// The default size of a user block, in bytes.
const DEFAULT_USER_BLOCK_BYTES: u64 = 1024;

/// Runs the tool h5repack.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let arguments = H5repackArguments::parse(arguments)?;
    let mut out = crate::output::tool_stdout();
    if arguments.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.version {
        writeln!(out, "h5repack: Version {}", env!("CARGO_PKG_VERSION"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let named = arguments.input.iter().chain(&arguments.output).chain(&arguments.files);
    let [from, to] = named.collect::<Vec<_>>()[..] else {
        bail!("file names missing, or more than two; `-h` lists the options");
    };
    if is_same(from, to) {
        bail!("file names cannot be the same");
    }
    let source = crate::remote::open(OpenOptions::new(), from);
    let source = source.with_context(|| format!("unable to open file \"{}\"", from.display()))?;
    arguments.require_named(&source)?;
    let made = new_file(to)?;
    if arguments.verbose {
        writeln!(out, "Making new file ...")?;
    }
    let outcome = arguments.work(&source)?.run(&source, made.path());
    let outcome = outcome.with_context(|| format!("`{}`", from.display()))?;
    for (path, why) in &outcome.kept {
        warn("h5repack", &format!("<{path}> is stored as before: {why}"));
    }
    if let Some(content) = &arguments.user_block_file {
        let block = OpenOptions::new().open(made.path())?.info().user_block;
        write_user_block(made.path(), content, block)?;
    }
    if arguments.verbose {
        table::print(&mut out, &OpenOptions::new().open(made.path())?)?;
    }
    made.persist(to).with_context(|| format!("cannot write `{}`", to.display()))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

impl H5repackArguments {
    /// Checks the datasets that options of h5repack name. They must exist, and have as many
    /// dimensions as their new chunks.
    fn require_named(&self, source: &File) -> Result<()> {
        for (path, rank) in self.rules.named() {
            let dataset =
                source.dataset(path).with_context(|| format!("<{path}> is not a dataset of the file"))?;
            if let Some(rank) = rank {
                let dims = dataset.ndim();
                ensure!(
                    dims == rank,
                    "the dataset <{path}> has {dims} dimensions, but the chunk shape has {rank}"
                );
            }
        }
        Ok(())
    }

    fn work(&self, source: &File) -> Result<Repack<'static>> {
        let mut work = self.rules.apply(Repack::new())?.least_filtered(self.minimum).libver(self.bounds()?);
        if self.compact.is_some() || self.indexed.is_some() {
            work = work.link_phase_change(self.compact.unwrap_or(8), self.indexed.unwrap_or(6));
        }
        if !self.shared.is_empty() {
            let index = |(types, min_size): &(u16, u32)| SharedMessageIndexInfo {
                types: *types,
                min_size: *min_size,
            };
            let indexes = self.shared.iter().map(index).collect();
            work = work.shared_messages(SharedMessages { indexes, ..SharedMessages::default() });
        }
        if let Some(bytes) = self.metadata_block {
            work = work.metadata_block(bytes);
        }
        if self.threshold.is_some() || self.alignment.is_some() {
            let alignment = self.alignment.unwrap_or(1);
            ensure!(alignment > 0, "the alignment of objects must be above zero");
            work = work.alignment(self.threshold.unwrap_or(1), alignment);
        }
        let info = source.info();
        let block = self.block()?;
        if let Some(bytes) = block {
            work = work.user_block(bytes);
        }
        Ok(work.file_space(self.space(info.file_space, block.unwrap_or(info.user_block))))
    }

    fn bounds(&self) -> Result<LibverBounds> {
        if self.latest {
            return Ok(LibverBounds::LATEST);
        }
        let low = self.low.unwrap_or(LibraryVersion::Earliest);
        Ok(LibverBounds::new(low, self.high.unwrap_or(LibraryVersion::LATEST))?)
    }

    /// Returns the size of the new user block, or `None` if the user block keeps its size.
    fn block(&self) -> Result<Option<u64>> {
        let Some(content) = &self.user_block_file else { return Ok(self.user_block) };
        let length = content.metadata().with_context(|| content.display().to_string())?.len();
        let default = || length.max(DEFAULT_USER_BLOCK_BYTES).checked_next_power_of_two();
        let bytes = self.user_block.or_else(default).context("the user block is too large")?;
        ensure!(
            bytes >= MIN_USER_BLOCK_BYTES && bytes >= length,
            "a user block of {bytes} bytes is too small for the {length} bytes of `{}`",
            content.display()
        );
        Ok(Some(bytes))
    }

    fn space(&self, before: FileSpace, user_block: u64) -> FileSpace {
        let strategy = self.strategy.unwrap_or(before.strategy);
        // A user block must consist of whole pages. If the user block is smaller than a page, its
        // size becomes the page size.
        let uneven =
            strategy == FileSpaceStrategy::Page && !user_block.is_multiple_of(before.page_size.max(1));
        let page_size = if uneven { user_block } else { before.page_size };
        FileSpace {
            strategy,
            persist: self.persist.unwrap_or(before.persist && self.strategy.is_none()),
            threshold: self.space_threshold.unwrap_or(before.threshold),
            page_size: self.page_size.unwrap_or(page_size),
        }
    }
}

/// Writes the content of a file to the user block, followed by zeros.
fn write_user_block(made: &Path, content: &Path, bytes: u64) -> Result<()> {
    let shown = || content.display().to_string();
    let mut target = fs::OpenOptions::new().write(true).open(made)?;
    let source = fs::File::open(content).with_context(shown)?;
    let mut padded = source.chain(io::repeat(0)).take(bytes);
    io::copy(&mut padded, &mut target).with_context(shown)?;
    Ok(target.sync_all()?)
}
