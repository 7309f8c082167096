//! Files that tools change.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use hyperslab::{File, FileOptions, LibverBounds, ObjectKind, OpenOptions};

/// Opens a file to change it; makes one where there is none.
pub(super) fn open_or_create(path: &Path, bounds: LibverBounds) -> Result<File> {
    let opened = if path.exists() {
        OpenOptions::new().write(true).libver(bounds).open(path)
    } else {
        FileOptions::new().libver(bounds).create_new(path)
    };
    opened.with_context(|| format!("could not open output file '{}'", path.display()))
}

/// Returns whether both names are those of one file, which is there.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    hyperslab::vfd::is_same_file(one, other)
}

/// An error unless the groups on the way to a path are there.
pub(super) fn require_parents(file: &File, path: &str) -> Result<()> {
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    let Some((_, parents)) = names.split_last() else { return Ok(()) };
    let mut way = String::new();
    for name in parents {
        way.push('/');
        way.push_str(name);
        let is_group = file.object(&way).is_ok_and(|object| object.kind() == Some(ObjectKind::Group));
        if !is_group {
            return Err(anyhow!("group <{way}> doesn't exist. Use -p to create parent groups."));
        }
    }
    Ok(())
}

/// Does something to a file and writes it down; what was done until an error came is kept.
pub(super) fn change<T>(file: File, work: impl FnOnce(&File) -> Result<T>) -> Result<T> {
    let outcome = work(&file);
    let closed = file.close();
    let outcome = outcome?;
    closed?;
    Ok(outcome)
}

/// A line on standard output.
pub(super) fn say(line: &str) -> Result<()> {
    let mut out = crate::output::tool_stdout();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// Prints a line on the error output.
pub(super) fn warn(tool: &str, line: &str) {
    crate::output::complain(format_args!("{tool} warning: {line}"));
}
