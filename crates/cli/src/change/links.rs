//! `hyperslab mv`, `rm`, `mkdir` and `ln`: names in groups.

use std::path::PathBuf;

use anyhow::{Result, bail};
use hyperslab::ObjectKind;

use super::copy::into_group;
use super::{change, named, open, open_or_create};
use crate::places::{explained, object};

/// What `mv` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab mv data.h5 run/one run/first
  hyperslab mv data.h5 run/one archive       into the group archive, if there is one")]
pub(crate) struct MvArguments {
    /// The file
    file: PathBuf,
    /// The link
    from: String,
    /// Its new path; groups on the way are made. If there is a group, the link goes into it
    to: String,
}

/// What `rm` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab rm data.h5 run/one run/two
  hyperslab rm -r data.h5 run                a group with all that is in it")]
pub(crate) struct RmArguments {
    /// Groups too, with all that only they lead to
    #[arg(short, long)]
    recursive: bool,
    /// Say nothing of what is not there
    #[arg(short, long)]
    force: bool,
    /// The file
    file: PathBuf,
    /// The links. What no other link leads to is deleted, and its space can be used again
    #[arg(required = true)]
    paths: Vec<String>,
}

/// What `mkdir` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab mkdir data.h5 run
  hyperslab mkdir -p data.h5 run/one/raw run/two/raw")]
pub(crate) struct MkdirArguments {
    /// Groups on the way too; say nothing of groups that are there
    #[arg(short, long)]
    parents: bool,
    /// Remember the order in which links and attributes are created
    #[arg(long)]
    track_order: bool,
    /// The file, which is made if there is none
    file: PathBuf,
    /// The groups
    #[arg(required = true)]
    paths: Vec<String>,
}

/// What `ln` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab ln data.h5 run/one latest                         another name of the same object
  hyperslab ln -s data.h5 /run/one latest                     a path, looked up when it is followed
  hyperslab ln --external other.h5 data.h5 /run/one elsewhere a path in another file")]
pub(crate) struct LnArguments {
    /// A soft link: it says a path, whether there is something or not
    #[arg(short, long, conflicts_with = "external")]
    soft: bool,
    /// An external link: it says a path in that file, whether there is something or not
    #[arg(long, value_name = "OTHER")]
    external: Option<String>,
    /// The file
    file: PathBuf,
    /// What the link leads to
    target: String,
    /// The link
    link: String,
}

/// Gives a link another path.
pub(crate) fn mv(arguments: &MvArguments) -> Result<()> {
    change(&arguments.file, open(&arguments.file)?, |file| {
        let from = named(&arguments.from)?;
        let to = into_group(file, from, &arguments.to)?;
        file.rename(from, &to).map_err(|error| explained(file, from, error))
    })
}

/// Removes links.
pub(crate) fn rm(arguments: &RmArguments) -> Result<()> {
    change(&arguments.file, open(&arguments.file)?, |file| {
        for path in &arguments.paths {
            let path = named(path)?;
            if !arguments.recursive && is_group(file, path) {
                bail!("`{path}` is a group: remove it with all that is in it by --recursive");
            }
            match file.remove(path) {
                Err(error) if arguments.force && error.kind() == hyperslab::ErrorKind::NotFound => {}
                removed => removed.map_err(|error| explained(file, path, error))?,
            }
        }
        Ok(())
    })
}

/// Returns whether a hard link leads to a group. What cannot be looked at is none.
fn is_group(file: &hyperslab::File, path: &str) -> bool {
    let trimmed = path.trim_matches('/');
    let (parent, name) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
    let hard = object(file, parent)
        .ok()
        .and_then(|parent| parent.into_group().ok())
        .and_then(|group| group.link(name).ok().flatten())
        .is_some_and(|link| matches!(link.target, hyperslab::LinkTarget::Hard(_)));
    hard && file.object(trimmed).is_ok_and(|object| object.kind() == Some(ObjectKind::Group))
}

/// Makes groups.
pub(crate) fn mkdir(arguments: &MkdirArguments) -> Result<()> {
    let options = hyperslab::GroupOptions::new().track_order(arguments.track_order);
    change(&arguments.file, open_or_create(&arguments.file)?, |file| {
        for path in &arguments.paths {
            let trimmed = path.trim_matches('/');
            if arguments.parents {
                if trimmed.is_empty() || file.group(trimmed).is_ok() {
                    continue;
                }
            } else if let Some((parent, _)) = named(path)?.trim_matches('/').rsplit_once('/')
                && let Err(error) = file.group(parent)
            {
                return Err(anyhow::Error::new(error).context("--parents makes groups on the way"));
            }
            file.create_group_with(path, options)?;
        }
        Ok(())
    })
}

/// Makes a link.
pub(crate) fn ln(arguments: &LnArguments) -> Result<()> {
    change(&arguments.file, open(&arguments.file)?, |file| {
        let link = named(&arguments.link)?;
        match &arguments.external {
            Some(other) => file.link_external(link, other, &arguments.target)?,
            None if arguments.soft => file.link_soft(link, &arguments.target)?,
            None => file.link_hard(link, &object(file, &arguments.target)?)?,
        }
        Ok(())
    })
}
