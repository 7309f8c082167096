//! What the shell is told: completions, which look into files, and manual pages.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::{CompleteEnv, EnvCompleter, Shells};
use hyperslab::{File, Group, LinkTarget, ObjectKind};

use crate::output;

/// The variable by which a shell asks for completions.
const VARIABLE: &str = "COMPLETE";
/// Links of a group that are looked at.
const LINKS: usize = 10_000;
/// The arguments that are paths inside files.
const INSIDE: [&str; 9] = ["path", "paths", "from", "to", "object", "objects", "group", "dataset", "target"];

/// What `completions` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  source <(hyperslab completions bash)                    now, in this shell
  hyperslab completions bash >> ~/.bashrc                 each time
  hyperslab completions zsh >> ~/.zshrc
  hyperslab completions fish > ~/.config/fish/completions/hyperslab.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

/// What `man` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArguments {
    /// The folder for the pages, hyperslab.1 and one for each command; made if there is none
    folder: PathBuf,
}

/// Answers a shell that asks for completions, and ends the program then.
pub(crate) fn answer() {
    CompleteEnv::with_factory(|| looking_inside(crate::HyperslabArguments::command()))
        .var(VARIABLE)
        .complete();
}

/// The command, with paths inside files completed wherever it takes one.
fn looking_inside(command: clap::Command) -> clap::Command {
    let completed = |argument: clap::Arg| {
        let is_inside = INSIDE.contains(&argument.get_id().as_str());
        if is_inside { argument.add(ArgValueCompleter::new(inside)) } else { argument }
    };
    command.mut_args(completed).mut_subcommands(looking_inside)
}

/// Prints the script that makes a shell ask.
pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<()> {
    let shells = Shells::builtins();
    let shell: &dyn EnvCompleter = shells.completer(&arguments.shell).context("no such shell")?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "hyperslab", "hyperslab", "hyperslab", &mut script)?;
    let mut out = output::stdout();
    out.write_all(&script)?;
    Ok(out.flush()?)
}

/// Writes the manual pages.
pub(crate) fn man(arguments: &ManArguments) -> Result<()> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    clap_mangen::generate_to(crate::HyperslabArguments::command(), folder)
        .with_context(|| format!("cannot write into `{}`", folder.display()))
}

/// Completes a path inside the file that is named before it; or one of the file system, since some arguments may be either.
fn inside(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current).unwrap_or_else(|| PathCompleter::any().complete(current))
}

fn candidates(current: &OsStr) -> Option<Vec<CompletionCandidate>> {
    let file = File::open(file_before(std::env::args_os())?).ok()?;
    let current = current.to_str()?;
    let (parent, begun) = current.rsplit_once('/').map_or(("", current), |(parent, begun)| (parent, begun));
    let typed = current.get(..current.len() - begun.len())?;
    let group = if parent.is_empty() { file.root().clone() } else { file.group(parent).ok()? };
    Some(below(&file, &group, typed, begun))
}

/// The links of the group that begin so, behind what was typed; groups end in `/`.
fn below(file: &File, group: &Group, typed: &str, begun: &str) -> Vec<CompletionCandidate> {
    let links = group.links().unwrap_or_default();
    let mut found = Vec::new();
    for link in links.into_iter().take(LINKS) {
        // A shell prints candidates as they are, a line for each.
        let fits = |name: &&str| name.starts_with(begun) && !name.chars().any(output::is_unsafe);
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

/// The last word that names an HDF5 file, of those behind the `--` with which shells ask.
fn file_before(words: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let words: Vec<OsString> = words.skip_while(|word| word != "--").collect();
    let is_file = |word: &&OsString| Path::new(word).is_file() && File::open(word).is_ok();
    words.iter().rev().skip(1).find(is_file).map(PathBuf::from)
}
