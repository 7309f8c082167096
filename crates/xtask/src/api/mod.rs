//! `docs/public-api.txt`: the public API of the crate `hyperslab`, listed from its source.

mod listing;
mod sources;

use std::fs;

use anyhow::{Result, bail};
use hyperslab_testkit::workspace;

use sources::Sources;

const LISTING: &str = "docs/public-api.txt";
/// The crates whose items the façade exports again, and the façade itself.
const CRATES: [&str; 8] =
    ["hyperslab", "dataspace", "datatype", "derive", "engine", "filter", "format", "vfd"];

/// Compares the listing with the source; with `--update` writes it.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let root = workspace::root();
    let mut sources = Sources::default();
    for name in CRATES {
        sources.read(&root.join("crates").join(name), name)?;
    }
    let listing = listing::of(&sources);
    let path = root.join(LISTING);
    if arguments.iter().any(|argument| argument == "--update") {
        fs::write(&path, &listing)?;
        println!("{LISTING}: {} lines", listing.lines().count());
        return Ok(());
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    if committed == listing {
        return Ok(());
    }
    let gone = committed.lines().filter(|line| !listing.lines().any(|other| other == *line));
    gone.for_each(|line| println!("- {line}"));
    let new = listing.lines().filter(|line| !committed.lines().any(|other| other == *line));
    new.for_each(|line| println!("+ {line}"));
    bail!("the public API is not what {LISTING} lists; `cargo xtask api --update` writes it")
}
