//! `hyperslab ls`: the list of the objects of a file.

pub(crate) mod branches;
pub(crate) mod dataset;
pub(crate) mod describe;
pub(crate) mod describer;
pub(crate) mod json;
pub(crate) mod rows;
pub(crate) mod tree;
pub(crate) mod walk;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use hyperslab::File;
use hyperslab_exact::to_u64;

use self::describer::{Attributes, Describer};
use self::walk::Walk;
use crate::open::OpenArguments;
use crate::values::paths::Paths;
use crate::{lookup, output};

/// The largest number of array values that the tree output decodes. Long texts of values are
/// shortened further.
const VALUES_IN_TREE: usize = 32;

/// The largest number of values of an array in the JSON document.
const VALUES_IN_JSON: usize = 1000;

/// The arguments of `ls`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab ls data.h5 run/7
  hyperslab ls -r data.h5                all levels
  hyperslab ls *.h5                      several files
  hyperslab ls a.h5 images b.h5 images   paths in several files")]
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
    /// Groups, datasets and datatypes to list [default: /], and further files with paths of their
    /// own
    names: Vec<String>,
}

/// Runs the command `ls`: lists the objects. Returns a failure code if a part of a file could not
/// be read.
pub(crate) fn run(arguments: &LsArguments) -> Result<ExitCode> {
    let mut failed = false;
    let mut name_of_file = arguments.file.clone();
    let mut file = arguments.open.open(&name_of_file)?;
    let mut is_listed = false;
    let mut is_first = true;
    for name in &arguments.names {
        // The name of an object takes precedence over the name of a file.
        if Path::new(name).is_file() && lookup::object(&file, name).is_err() {
            if !is_listed {
                failed |= list(arguments, &file, &name_of_file, "/", &mut is_first)? > 0;
            }
            name_of_file = PathBuf::from(name);
            file = arguments.open.open(&name_of_file)?;
            is_listed = false;
        } else {
            failed |= list(arguments, &file, &name_of_file, name, &mut is_first)? > 0;
            is_listed = true;
        }
    }
    if !is_listed {
        failed |= list(arguments, &file, &name_of_file, "/", &mut is_first)? > 0;
    }
    arguments.open.report();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Lists an object and its members. Returns the number of their parts that could not be read.
fn list(
    arguments: &LsArguments,
    file: &File,
    name_of_file: &Path,
    path: &str,
    is_first: &mut bool,
) -> Result<usize> {
    let shown = name_of_file.display().to_string();
    let object = lookup::object(file, path).with_context(|| format!("`{shown}`"))?;
    let path = format!("/{}", path.trim_matches('/'));
    let all = arguments.verbose || arguments.json;
    let describer = Describer {
        all,
        storage: true,
        attributes: if all { Attributes::All } else { Attributes::None },
        values: if arguments.json { VALUES_IN_JSON } else { VALUES_IN_TREE },
        paths: Paths::new(file),
    };
    let levels = if arguments.recursive { usize::MAX } else { 1 };
    let walk = Walk::new(file, &describer, levels);
    let mut out = output::stdout();
    let failures = if arguments.json {
        let mut document = json::Document::begin(out, "ls", name_of_file, &file.info(), &path)?;
        let failures = walk.run(&object, &path, &mut document)?;
        document.end(failures)?;
        failures
    } else {
        if !*is_first {
            writeln!(out)?;
        }
        let mut tree = tree::Tree::new(out, name_of_file, &file.info(), arguments.verbose);
        let failures = walk.run(&object, &path, &mut tree)?;
        tree.end()?;
        failures
    };
    *is_first = false;
    report_failures(failures, &shown);
    Ok(failures)
}

/// Prints the number of parts of a file that could not be read.
fn report_failures(failures: usize, shown: &str) {
    if failures > 0 {
        // If writing to standard error fails, the exit code still reports the failure.
        let parts = output::count(to_u64(failures), "part");
        output::complain(format_args!("hyperslab: {parts} of `{shown}` could not be read"));
    }
}

/// Prints the number of parts of a file that could not be read, and returns the exit code.
pub(crate) fn exit_code(failures: usize, shown: &str) -> ExitCode {
    report_failures(failures, shown);
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
