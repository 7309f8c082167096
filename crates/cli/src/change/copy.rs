//! `hyperslab cp`: objects, within a file and across files.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::{CopyOptions, File, ObjectKind};

use super::{change, open, open_or_create};
use crate::open::OpenArguments;
use crate::places::object;

/// What `cp` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab cp data.h5 run/one run/two            a copy in the same file
  hyperslab cp data.h5 run/one archive.h5 runs/7  a copy in another file, which is made if there is none
  hyperslab cp data.h5 / archive.h5 everything    the whole file, as a group")]
pub(crate) struct CpArguments {
    #[command(flatten)]
    open: OpenArguments,
    /// Of a group, only the objects in it: groups among them are copied empty
    #[arg(long)]
    shallow: bool,
    /// Copy what soft links lead to, instead of the links
    #[arg(long)]
    expand_soft: bool,
    /// Copy what external links lead to, instead of the links
    #[arg(long)]
    expand_external: bool,
    /// Copy what references point at, too
    #[arg(long)]
    expand_references: bool,
    /// Leave attributes behind
    #[arg(long)]
    without_attributes: bool,
    /// Use committed datatypes that are there already
    #[arg(long)]
    merge_types: bool,
    /// The file
    file: PathBuf,
    /// The object
    from: String,
    /// [FILE] PATH: the new path, in the same file or another one. If there is a group, the copy goes into it
    #[arg(required = true, num_args = 1..=2, value_name = "TO")]
    to: Vec<String>,
}

/// Copies an object.
pub(crate) fn cp(arguments: &CpArguments) -> Result<()> {
    let options = CopyOptions {
        shallow: arguments.shallow,
        expand_soft_links: arguments.expand_soft,
        expand_external_links: arguments.expand_external,
        expand_references: arguments.expand_references,
        without_attributes: arguments.without_attributes,
        merge_committed_datatypes: arguments.merge_types,
    };
    let (target, to) = match arguments.to.as_slice() {
        [file, to] => (Path::new(file), to),
        [to] => (arguments.file.as_path(), to),
        _ => bail!("one or two names say where the copy goes"),
    };
    if is_same(&arguments.file, target) {
        let file = open(target)?;
        return change(target, file, |file| copy(file, file, &arguments.from, to, options));
    }
    let _progress = arguments.open.progress("copying");
    let source = arguments.open.open(&arguments.file)?;
    // What cannot be copied must not leave an empty file behind.
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

/// Where the copy goes: into the group at `to`, under its own name, if there is one.
pub(super) fn into_group(target: &File, from: &str, to: &str) -> Result<String> {
    let name = from.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_group = match to.trim_matches('/') {
        "" => true,
        path => target.object(path).is_ok_and(|object| object.kind() == Some(ObjectKind::Group)),
    };
    if !is_group {
        return Ok(to.to_owned());
    }
    if name.is_empty() {
        bail!("`{to}` is there already: give the copy of the root group a name of its own");
    }
    Ok(format!("{}/{name}", to.trim_end_matches('/')))
}

fn is_same(one: &Path, other: &Path) -> bool {
    hyperslab::vfd::is_same_file(one, other)
}
