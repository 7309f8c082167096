//! `cargo xtask bench-growth`: time and memory for an item as the number of objects, links,
//! attributes or chunks of a file grows.

use anyhow::{Context, Result, ensure};

use crate::{page_part, shell, test};

const PAGE: &str = "docs/benchmarks/growth.md";
const START: &str = "<!-- `cargo xtask bench-growth` writes the lines from here to its end marker -->\n";
const END: &str = "<!-- end marker of bench-growth -->";

/// Runs the benchmark; its arguments are `only=TEXT` and `alone`. With `--update`, writes the table
/// of all workloads to the page of the book.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (update, rest): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|word| *word == "--update");
    ensure!(update.is_empty() || rest.is_empty(), "--update writes the table of all workloads");
    if !rest.contains(&"alone") {
        test::prepare_referee();
    }
    let fixed = ["run", "--profile", shell::DIST, "--quiet", "--package", "hyperslab-bench", "--", "growth"];
    let mut benchmark = shell::cargo(&[&fixed, rest.as_slice()].concat());
    if update.is_empty() {
        return shell::run(&mut benchmark);
    }
    let table = shell::output(&mut benchmark).context("the benchmark failed")?;
    print!("{table}");
    page_part::replace(PAGE, [START, END], &table)
}
