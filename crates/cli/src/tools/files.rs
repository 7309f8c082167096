//! Files that the emulated tools of the C library change.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use hyperslab::{File, FileOptions, LibverBounds, ObjectKind, OpenOptions};

/// Opens a file for changes. Creates the file if it does not exist.
pub(super) fn open_or_create(path: &Path, bounds: LibverBounds) -> Result<File> {
    let opened = if path.exists() {
        OpenOptions::new().write(true).libver(bounds).open(path)
    } else {
        FileOptions::new().libver(bounds).create_new(path)
    };
    opened.with_context(|| format!("could not open output file '{}'", path.display()))
}

/// Returns whether two paths lead to the same existing file.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    hyperslab::vfd::is_same_file(one, other)
}

/// Returns an error if a parent group of a path does not exist.
pub(super) fn require_parents(file: &File, path: &str) -> Result<()> {
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    let Some((_, parents)) = names.split_last() else { return Ok(()) };
    let mut parent = String::new();
    for name in parents {
        parent.push('/');
        parent.push_str(name);
        let is_group = file.object(&parent).is_ok_and(|object| object.kind() == Some(ObjectKind::Group));
        if !is_group {
            return Err(anyhow!("group <{parent}> doesn't exist. Use -p to create parent groups."));
        }
    }
    Ok(())
}

/// Calls `work` on an open file and closes the file. If `work` fails, the changes that it has
/// already made are kept.
pub(super) fn change<T>(file: File, work: impl FnOnce(&File) -> Result<T>) -> Result<T> {
    let outcome = work(&file);
    let closed = file.close();
    let outcome = outcome?;
    closed?;
    Ok(outcome)
}

/// Prints a line on standard output.
pub(super) fn print_line(line: &str) -> Result<()> {
    let mut out = crate::output::tool_stdout();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// Prints a warning on standard error.
pub(super) fn warn(tool: &str, line: &str) {
    crate::output::complain(format_args!("{tool} warning: {line}"));
}
