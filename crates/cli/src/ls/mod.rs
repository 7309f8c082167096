//! `hyperslab ls`: what is in a file.

pub(crate) mod dataset;
mod describe;
mod json;
mod rows;
mod tree;
mod walk;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use self::describe::Describer;
use self::walk::Walk;
use crate::open::OpenArguments;
use crate::values::paths::Paths;
use crate::{output, places};

/// Values of an array that the tree decodes; fewer are shown where they are long.
const VALUES_IN_TREE: usize = 32;

/// Values of an array that JSON has.
const VALUES_IN_JSON: usize = 1000;

/// What `ls` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// List what is in the groups, too, and in the groups in them
    #[arg(short, long)]
    recursive: bool,
    /// Show attributes, storage and types at length
    #[arg(short, long)]
    verbose: bool,
    /// Print a JSON document, attributes and storage included
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The file
    file: PathBuf,
    /// The group, dataset or datatype to list
    #[arg(default_value = "/")]
    path: String,
}

/// Lists; fails at the end if something could not be read.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let shown = arguments.file.display();
    let file = arguments.open.open(&arguments.file)?;
    let object = places::object(&file, &arguments.path).with_context(|| format!("`{shown}`"))?;
    let path = format!("/{}", arguments.path.trim_matches('/'));
    let describer = Describer {
        all: arguments.verbose || arguments.json,
        values: if arguments.json { VALUES_IN_JSON } else { VALUES_IN_TREE },
        paths: Paths::new(&file),
    };
    let walk = Walk::new(&file, &describer, arguments.recursive);
    let failures = if arguments.json {
        let mut document = json::Document::begin(output::stdout(), &arguments.file, &file.info(), &path)?;
        let failures = walk.run(&object, &path, &mut document)?;
        document.end(failures)?;
        failures
    } else {
        let mut tree = tree::Tree::new(output::stdout(), &arguments.file, &file.info(), arguments.verbose);
        let failures = walk.run(&object, &path, &mut tree)?;
        tree.end()?;
        failures
    };
    arguments.open.report();
    if failures == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let things = if failures == 1 { "1 thing" } else { &format!("{failures} things") };
    let line = output::escape(format!("hyperslab: {things} in `{shown}` could not be read").as_bytes());
    // The exit code says it, too.
    let _ = writeln!(std::io::stderr(), "{line}");
    Ok(ExitCode::FAILURE)
}
