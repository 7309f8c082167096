//! `hyperslab export FILE kerchunk`: references to the chunks of a file, with which zarr reads it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::{File, Group, ObjectKind};
use hyperslab_references::{ReferenceOptions, Report};

use crate::lookup;
use crate::open::OpenArguments;
use crate::output::{complain, escape};
use crate::output_target::{Content, OutputTarget};
use crate::remote::{shown, url};

/// The suffix of the file of recoded chunks, after the name of the output.
const CHUNKS_SUFFIX: &str = ".chunks";

/// The largest number of objects without references that an error names.
const MAX_NAMED: usize = 10;

/// The arguments of an export of references.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options for references (kerchunk)")]
pub(crate) struct ReferenceArguments {
    /// The URL of the file that the references state [default: the URL or the path of FILE]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Write chunks of at most this number of bytes into the references [default: 500]
    #[arg(long, value_name = "BYTES")]
    inline: Option<u64>,
    /// Write chunks that zarr cannot decode in place to the file OUT.chunks, encoded by zstd
    #[arg(long)]
    recode: bool,
    /// The URL of the file of recoded chunks that the references state [default: its path]
    #[arg(long, value_name = "URL", requires = "recode")]
    recode_url: Option<String>,
}

impl ReferenceArguments {
    /// Returns true if an argument for references was given.
    pub(crate) fn is_used(&self) -> bool {
        self.url.is_some() || self.inline.is_some() || self.recode
    }
}

/// The file and the group whose references are exported.
pub(crate) struct Source<'a> {
    pub(crate) open: &'a OpenArguments,
    pub(crate) file: &'a Path,
    pub(crate) path: &'a str,
}

/// Returns true if references are written as Parquet files to this output.
fn is_parquet(out: &Path) -> bool {
    out.extension().is_some_and(|extension| extension == "parq" || extension == "parquet")
}

/// Exports the references of a group.
pub(crate) fn export(
    source: &Source<'_>,
    out: &Path,
    arguments: &ReferenceArguments,
    skip_unsupported: bool,
) -> Result<()> {
    let file = source.open.open(source.file)?;
    let object = lookup::object(&file, source.path).with_context(|| format!("`{}`", shown(source.file)))?;
    if object.kind() != Some(ObjectKind::Group) {
        bail!("`{}` is not a group; references describe a group with all its datasets", source.path)
    }
    let group = object.into_group()?;
    let chunks = chunks_path(out);
    let mut recode = match arguments.recode {
        true => Some(OutputTarget::file(&chunks, source.file)?),
        false => None,
    };
    let mut options = ReferenceOptions::new(match &arguments.url {
        Some(url) => url.clone(),
        None => url_of(source.file)?,
    });
    // The error about objects without references names the option of the command.
    options = options.skip_unsupported(true).open_others(|name| other(source, name));
    if let Some(bytes) = arguments.inline {
        options = options.inline(bytes);
    }
    if let Some(recode) = &mut recode {
        let url = match &arguments.recode_url {
            Some(url) => url.clone(),
            None => url_of(&chunks)?,
        };
        options = options.recode(recode, url);
    }
    let report = if is_parquet(out) {
        parquet(options, &group, out, skip_unsupported)?
    } else {
        let mut output = OutputTarget::named(out, source.file, Content::Data)?;
        let report = options.write_json(&group, &mut output)?;
        require_all(&report, skip_unsupported)?;
        output.finish()?;
        report
    };
    if let Some(recode) = recode {
        recode.finish()?;
    }
    print(&report);
    source.open.report();
    Ok(())
}

/// Returns an error if objects have no references, unless they may be left out.
fn require_all(report: &Report, skip_unsupported: bool) -> Result<()> {
    if skip_unsupported || report.skipped.is_empty() {
        return Ok(());
    }
    let named = report.skipped.iter().take(MAX_NAMED);
    let mut names: Vec<String> =
        named.map(|skipped| format!("`{}` ({})", escape(skipped.path.as_bytes()), skipped.reason)).collect();
    if report.skipped.len() > MAX_NAMED {
        names.push(format!("{} more", report.skipped.len() - MAX_NAMED));
    }
    bail!(
        "these objects have no references: {}; --recode writes some of them in another encoding, and \
         --skip-unsupported leaves them out",
        names.join(", ")
    )
}

#[cfg(feature = "tables")]
fn parquet(
    options: ReferenceOptions<'_>,
    group: &Group,
    out: &Path,
    skip_unsupported: bool,
) -> Result<Report> {
    let cannot = || format!("cannot write `{}`", out.display());
    if out.exists() {
        bail!("`{}` exists already: name another output", out.display())
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The folder appears with its final name when it is complete.
    let unfinished =
        tempfile::Builder::new().prefix(".hyperslab-").tempdir_in(folder).with_context(cannot)?;
    let inner = unfinished.path().join("references");
    let report = options.write_parquet(group, &inner)?;
    require_all(&report, skip_unsupported)?;
    std::fs::rename(&inner, out).with_context(cannot)?;
    Ok(report)
}

#[cfg(not(feature = "tables"))]
fn parquet(_: ReferenceOptions<'_>, _: &Group, _: &Path, _: bool) -> Result<Report> {
    Err(crate::missing_feature::missing_feature("Parquet tables"))
}

/// Opens a file that the exported file names, which is below the same folder.
fn other(source: &Source<'_>, name: &str) -> hyperslab::Result<File> {
    let path = match url(source.file).and_then(|url| url.rsplit_once('/')) {
        Some((folder, _)) => PathBuf::from(format!("{folder}/{name}")),
        None => source.file.with_file_name("").join(name),
    };
    crate::remote::open(source.open.options(), &path)
}

/// Returns the path of the file of recoded chunks.
fn chunks_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(CHUNKS_SUFFIX);
    PathBuf::from(name)
}

/// Returns the URL of a file: without credentials, or of its absolute path.
fn url_of(path: &Path) -> Result<String> {
    if url(path).is_some() {
        return Ok(shown(path));
    }
    let absolute = std::path::absolute(path).with_context(|| format!("`{}`", path.display()))?;
    Ok(format!("file://{}", absolute.display()))
}

/// Prints the objects that have no references.
fn print(report: &Report) {
    for skipped in &report.skipped {
        complain(format_args!(
            "hyperslab: warning: `{}` has no references: {}",
            escape(skipped.path.as_bytes()),
            escape(skipped.reason.as_bytes())
        ));
    }
    for attribute in &report.skipped_attributes {
        complain(format_args!(
            "hyperslab: warning: attribute `{}` has no form in JSON",
            escape(attribute.as_bytes())
        ));
    }
}
