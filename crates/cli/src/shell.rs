//! Completions for shells, including paths inside HDF5 files, and manual pages.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::{CompleteEnv, EnvCompleter, Shells};
use hyperslab::{File, Group, LinkTarget, ObjectKind};

use crate::output;

/// The environment variable by which a shell requests completions from the program.
const VARIABLE: &str = "COMPLETE";
/// The largest number of links of a group that the shell completion offers.
const MAX_LINKS: usize = 10_000;
/// The names of the arguments that are paths inside files.
const PATH_ARGUMENTS: [&str; 10] =
    ["path", "paths", "from", "to", "object", "objects", "group", "dataset", "target", "names"];

/// The arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  source <(hyperslab completions bash)                    for this shell only
  hyperslab completions bash >> ~/.bashrc                 for all later shells
  hyperslab completions zsh >> ~/.zshrc
  hyperslab completions fish > ~/.config/fish/completions/hyperslab.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

/// The arguments of the command `man`, which writes the manual pages.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArguments {
    /// The folder for the pages: hyperslab.1 and a page for each command. If the folder does not
    /// exist, it is created
    folder: PathBuf,
}

/// Prints completions and exits if a shell requests them. Otherwise does nothing.
pub(crate) fn complete_if_asked() {
    CompleteEnv::with_factory(|| with_path_completion(crate::command())).var(VARIABLE).complete();
}

/// Adds completion to all arguments of a command that are paths inside HDF5 files.
fn with_path_completion(command: clap::Command) -> clap::Command {
    let completed = |argument: clap::Arg| {
        let is_path = PATH_ARGUMENTS.contains(&argument.get_id().as_str());
        if is_path { argument.add(ArgValueCompleter::new(complete_path)) } else { argument }
    };
    command.mut_args(completed).mut_subcommands(with_path_completion)
}

/// Prints the script that enables completions in a shell.
pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<()> {
    let shells = Shells::builtins();
    let shell: &dyn EnvCompleter = shells
        .completer(&arguments.shell)
        .context("the shell is unknown; the known shells are bash, zsh, fish, elvish and powershell")?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "hyperslab", "hyperslab", "hyperslab", &mut script)?;
    let mut out = output::stdout();
    out.write_all(&script)?;
    Ok(out.flush()?)
}

/// Runs the command `man`: writes the manual pages.
pub(crate) fn man(arguments: &ManArguments) -> Result<()> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    clap_mangen::generate_to(crate::command(), folder)
        .with_context(|| format!("cannot write into `{}`", folder.display()))
}

/// Returns completions of a path inside an HDF5 file, if an earlier argument names the file.
/// Otherwise returns completions of file names, because some arguments accept both.
fn complete_path(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current).unwrap_or_else(|| PathCompleter::any().complete(current))
}

fn candidates(current: &OsStr) -> Option<Vec<CompletionCandidate>> {
    let file = File::open(file_before(std::env::args_os())?).ok()?;
    let current = current.to_str()?;
    let (parent, prefix) = current.rsplit_once('/').unwrap_or(("", current));
    let typed = current.strip_suffix(prefix)?;
    let group = if parent.is_empty() { file.root().clone() } else { file.group(parent).ok()? };
    Some(members(&file, &group, typed, prefix))
}

/// Returns completions for the links of a group whose names begin with `prefix`. A completion is
/// `typed` followed by the name; names of groups end in `/`. A group that cannot be read has no
/// completions.
fn members(file: &File, group: &Group, typed: &str, prefix: &str) -> Vec<CompletionCandidate> {
    let Ok(links) = group.links() else { return Vec::new() };
    let mut found = Vec::new();
    for link in links.into_iter().take(MAX_LINKS) {
        // Shells print candidates without escapes, one per line.
        let fits = |name: &&str| name.starts_with(prefix) && !name.chars().any(output::is_unsafe);
        let Some(name) = std::str::from_utf8(&link.name).ok().filter(fits) else { continue };
        let kind = match &link.target {
            LinkTarget::Hard(token) => file.object_at(*token).ok().and_then(|object| object.kind()),
            _ => None,
        };
        let end = if kind == Some(ObjectKind::Group) { "/" } else { "" };
        found.push(CompletionCandidate::new(format!("{typed}{name}{end}")));
    }
    found
}

/// Returns the last word of the command line that names an HDF5 file. In the arguments from the
/// shell, the command line follows `--`. The word being completed does not count.
fn file_before(words: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let words: Vec<OsString> = words.skip_while(|word| word != "--").collect();
    let is_file = |word: &&OsString| Path::new(word).is_file() && File::open(word).is_ok();
    words.iter().rev().skip(1).find(is_file).map(PathBuf::from)
}
