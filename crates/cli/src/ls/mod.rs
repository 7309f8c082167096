//! `hyperslab ls`: the list of the objects of a file.

pub(crate) mod branches;
pub(crate) mod dataset;
pub(crate) mod describe;
pub(crate) mod describer;
pub(crate) mod json;
pub(crate) mod rows;
pub(crate) mod tree;
pub(crate) mod walk;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use hyperslab_exact::to_u64;

use self::describer::{Attributes, Describer};
use self::walk::Walk;
use crate::open::OpenArguments;
use crate::values::paths::Paths;
use crate::{lookup, output};

/// The largest number of values of an array that are decoded for the tree. Long values are cut
/// further.
const VALUES_IN_TREE: usize = 32;

/// The largest number of values of an array in the JSON document.
const VALUES_IN_JSON: usize = 1000;

/// The arguments of `ls`.
#[derive(Debug, clap::Args)]
pub(crate) struct LsArguments {
    /// Also list the members of groups, on all levels
    #[arg(short, long)]
    recursive: bool,
    /// Show attributes, and details of storage and datatypes
    #[arg(short, long)]
    verbose: bool,
    /// Print a JSON document, with attributes and details of storage
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

/// Lists the objects. Returns a failure after the list if a part of the file could not be read.
pub(crate) fn run(arguments: &LsArguments) -> Result<ExitCode> {
    let shown = arguments.file.display();
    let file = arguments.open.open(&arguments.file)?;
    let object = lookup::object(&file, &arguments.path).with_context(|| format!("`{shown}`"))?;
    let path = format!("/{}", arguments.path.trim_matches('/'));
    let all = arguments.verbose || arguments.json;
    let describer = Describer {
        all,
        storage: true,
        attributes: if all { Attributes::All } else { Attributes::None },
        values: if arguments.json { VALUES_IN_JSON } else { VALUES_IN_TREE },
        paths: Paths::new(&file),
    };
    let levels = if arguments.recursive { usize::MAX } else { 1 };
    let walk = Walk::new(&file, &describer, levels);
    let failures = if arguments.json {
        let mut document =
            json::Document::begin(output::stdout(), "ls", &arguments.file, &file.info(), &path)?;
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
    Ok(exit_code(failures, &shown.to_string()))
}

/// Reports the number of parts that could not be read, and returns the exit code.
pub(crate) fn exit_code(failures: usize, shown: &str) -> ExitCode {
    if failures == 0 {
        return ExitCode::SUCCESS;
    }
    let failures = to_u64(failures);
    // If standard error fails, the exit code still reports the failure.
    output::complain(format_args!(
        "hyperslab: {} of `{shown}` could not be read",
        output::count(failures, "part")
    ));
    ExitCode::FAILURE
}
