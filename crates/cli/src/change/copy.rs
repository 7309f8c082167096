//! `hyperslab cp`: copies objects within a file and between files.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::{CopyOptions, File, ObjectKind};

use super::{change, open, open_or_create};
use crate::lookup::object;
use crate::open::OpenArguments;
use crate::remote;

/// The arguments of `cp`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab cp data.h5 run/one run/two            a copy in the same file
  hyperslab cp data.h5 run/one archive.h5 runs/7  a copy in another file, which is created if necessary
  hyperslab cp data.h5 / archive.h5 everything    the whole file, as a group
  hyperslab cp s3://bucket/data.h5 data.h5        the whole file, from or to a URL")]
pub(crate) struct CpArguments {
    #[command(flatten)]
    open: OpenArguments,
    /// Copy only the members of a group. Groups among the members are copied without their members
    #[arg(long)]
    shallow: bool,
    /// Copy the targets of soft links instead of the links
    #[arg(long)]
    expand_soft: bool,
    /// Copy the targets of external links instead of the links
    #[arg(long)]
    expand_external: bool,
    /// Also copy the targets of references
    #[arg(long)]
    expand_references: bool,
    /// Do not copy attributes
    #[arg(long)]
    without_attributes: bool,
    /// Use equal committed datatypes of the target file instead of copies
    #[arg(long)]
    merge_types: bool,
    /// Replace an existing file or object by the copy of a whole file
    #[arg(long)]
    replace: bool,
    /// The file
    file: PathBuf,
    /// The path of the object
    from: String,
    /// [FILE] PATH: the new path in the same file, or in FILE. If PATH is a group, the copy becomes
    /// a member of the group. Without TO, the whole file is copied from FILE to FROM, of which one
    /// is a URL
    #[arg(num_args = 1..=2, value_name = "TO")]
    to: Vec<String>,
}

/// Runs the command `cp`: copies an object within a file or to another file.
pub(crate) fn cp(arguments: &CpArguments) -> Result<()> {
    let options = CopyOptions {
        shallow: arguments.shallow,
        expand_soft_links: arguments.expand_soft,
        expand_external_links: arguments.expand_external,
        expand_references: arguments.expand_references,
        without_attributes: arguments.without_attributes,
        merge_committed_datatypes: arguments.merge_types,
    };
    if arguments.replace && !arguments.to.is_empty() {
        bail!("--replace is an option for copies of whole files from or to a URL");
    }
    if arguments.to.is_empty() {
        let target = Path::new(&arguments.from);
        if remote::url(&arguments.file).is_none() && remote::url(target).is_none() {
            bail!("the argument TO is missing: a path, or a file and a path");
        }
        return remote::copy_file(&arguments.file, target, arguments.replace);
    }
    let (target, to) = match arguments.to.as_slice() {
        [file, to] => (Path::new(file), to),
        [to] => (arguments.file.as_path(), to),
        _ => bail!("the argument TO must be a path, or a file and a path"),
    };
    if is_same(&arguments.file, target) || arguments.file == target {
        let file = open(target)?;
        return change(target, file, |file| copy(file, file, &arguments.from, to, options));
    }
    let _progress = arguments.open.progress("copying");
    let source = arguments.open.open(&arguments.file)?;
    // The object is opened before the target file, so that a wrong path creates no file.
    object(&source, &arguments.from).with_context(|| format!("`{}`", arguments.file.display()))?;
    let file = open_or_create(target)?;
    change(target, file, |file| copy(&source, file, &arguments.from, to, options))?;
    arguments.open.report();
    Ok(())
}

fn copy(source: &File, target: &File, from: &str, to: &str, options: CopyOptions) -> Result<()> {
    let original = object(source, from)?;
    let to = into_group(target, from, to)?;
    target.copy_with(&original, &to, options)?;
    Ok(())
}

/// Returns the path of the copy of an object. If `to` is a group, the path is the object's old name
/// in this group; otherwise the path is `to`.
pub(super) fn into_group(target: &File, from: &str, to: &str) -> Result<String> {
    let trimmed = from.trim_end_matches('/');
    let name = trimmed.rsplit_once('/').map_or(trimmed, |(_, name)| name);
    let is_group = match to.trim_matches('/') {
        "" => true,
        path => target.object(path).is_ok_and(|object| object.kind() == Some(ObjectKind::Group)),
    };
    if !is_group {
        return Ok(to.to_owned());
    }
    if name.is_empty() {
        bail!("`{to}` exists; the root group has no name, so give the copy a new path");
    }
    Ok(format!("{}/{name}", to.trim_end_matches('/')))
}

fn is_same(one: &Path, other: &Path) -> bool {
    hyperslab::vfd::is_same_file(one, other)
}
