//! `hyperslab digest`: a canonical description of a whole file, with the SHA-256 of the elements of
//! each dataset and attribute. Two programs that read the same content from a file print the same
//! document.

pub(crate) mod content;
mod describe;
mod encode;
mod selection;
mod types;
mod walk;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::open::OpenArguments;

/// The arguments of the command `digest`, which describes each object of a file.
#[derive(Debug, clap::Args)]
pub(crate) struct DigestArguments {
    #[command(flatten)]
    open: OpenArguments,
    /// The HDF5 file
    file: PathBuf,
}

/// Runs the command `digest`: prints a description of each object of a file.
pub(crate) fn run(arguments: &DigestArguments) -> Result<()> {
    let path = &arguments.file;
    let progress = arguments.open.progress("reading");
    let options = arguments.open.options().swmr_read(crate::remote::url(path).is_none());
    let file = crate::remote::open(options, path)
        .with_context(|| format!("cannot open `{}`", crate::remote::shown(path)))?;
    let info = file.info();
    let found = walk::Objects::find(&file);
    let mut out = crate::output::stdout();
    let driver = json!(info.driver.name());
    write!(out, "{{\"schema\":1,\"open_as\":{driver},\"file\":{},\"objects\":[", describe::file(&info))?;
    // Objects are described one by one, because together they may exceed the memory.
    for (number, one) in found.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(out, "{comma}{}", describe::object(&found, one))?;
    }
    writeln!(out, "]{}}}", if found.truncated { ",\"truncated\":true" } else { "" })?;
    drop(progress);
    out.flush()?;
    arguments.open.report();
    Ok(())
}

/// Returns bytes as text for the JSON document: UTF-8 unchanged, other bytes as hexadecimal digits.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => format!("hex!{}", hex(bytes)),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut digits = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Returns the path of an object in a digest, or the text "unlinked" if no path leads to the
/// object.
fn path_of(objects: &walk::Objects, token: hyperslab::ObjectToken) -> String {
    objects.path(token).unwrap_or_else(|| "unlinked".into())
}
