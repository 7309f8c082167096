//! `hyperslab mv`, `rm`, `mkdir` and `ln`: changes of links and groups.

use std::path::PathBuf;

use anyhow::{Result, bail};
use hyperslab::ObjectKind;

use super::copy::into_group;
use super::{change, named, open, open_or_create};
use crate::lookup::{object, with_suggestion};

/// The arguments of `mv`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab mv data.h5 run/one run/first
  hyperslab mv data.h5 run/one archive       into the group archive, if it exists")]
pub(crate) struct MvArguments {
    /// The file
    file: PathBuf,
    /// The path of the link
    from: String,
    /// The new path. Missing groups of the path are created. If the path is a group, the link
    /// becomes a member of the group
    to: String,
}

/// The arguments of `rm`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab rm data.h5 run/one run/two
  hyperslab rm -r data.h5 run                a group and all its members")]
pub(crate) struct RmArguments {
    /// Also remove groups, with all objects that have no link from elsewhere
    #[arg(short, long)]
    recursive: bool,
    /// Ignore paths that do not exist
    #[arg(short, long)]
    force: bool,
    /// The file
    file: PathBuf,
    /// The paths of the links. Objects without another link are deleted, and their space can be
    /// used again
    #[arg(required = true)]
    paths: Vec<String>,
}

/// The arguments of `mkdir`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab mkdir data.h5 run
  hyperslab mkdir -p data.h5 run/one/raw run/two/raw")]
pub(crate) struct MkdirArguments {
    /// Also create missing parent groups, and ignore groups that exist
    #[arg(short, long)]
    parents: bool,
    /// Record the creation order of links and attributes
    #[arg(long)]
    track_order: bool,
    /// The file. If it does not exist, it is created
    file: PathBuf,
    /// The paths of the groups
    #[arg(required = true)]
    paths: Vec<String>,
}

/// The arguments of `ln`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab ln data.h5 run/one latest                         a hard link: another name of the object
  hyperslab ln -s data.h5 /run/one latest                     a soft link: a path that is looked up at each use
  hyperslab ln --external other.h5 data.h5 /run/one elsewhere a path in another file")]
pub(crate) struct LnArguments {
    /// Create a soft link to a path. The path need not exist
    #[arg(short, long, conflicts_with = "external")]
    soft: bool,
    /// Create an external link to a path in the file OTHER. Neither need exist
    #[arg(long, value_name = "OTHER")]
    external: Option<String>,
    /// The file
    file: PathBuf,
    /// The path of the target
    target: String,
    /// The path of the new link
    link: String,
}

/// Runs the command `mv`: moves or renames a link.
pub(crate) fn mv(arguments: &MvArguments) -> Result<()> {
    change(&arguments.file, open(&arguments.file)?, |file| {
        let from = named(&arguments.from)?;
        let to = into_group(file, from, &arguments.to)?;
        file.rename(from, &to).map_err(|error| with_suggestion(file, from, error))
    })
}

/// Runs the command `rm`: removes links.
pub(crate) fn rm(arguments: &RmArguments) -> Result<()> {
    change(&arguments.file, open(&arguments.file)?, |file| {
        for path in &arguments.paths {
            let path = named(path)?;
            if !arguments.recursive && is_group(file, path) {
                bail!("`{path}` is a group: --recursive removes it with all its members");
            }
            match file.remove(path) {
                Err(error) if arguments.force && error.kind() == hyperslab::ErrorKind::NotFound => {}
                removed => removed.map_err(|error| with_suggestion(file, path, error))?,
            }
        }
        Ok(())
    })
}

/// Returns true if a hard link at the path leads to a group. Returns false after an error, because
/// the removal reports the same error.
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

/// Runs the command `mkdir`: creates groups.
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
                return Err(anyhow::Error::new(error)
                    .context("the option --parents creates the missing parent groups"));
            }
            file.create_group_with(path, options)?;
        }
        Ok(())
    })
}

/// Runs the command `ln`: creates a hard, soft or external link.
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
