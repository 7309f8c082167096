//! `cargo xtask feature-cost`: the processor time that each feature of the library adds to a build.
//! The times are in a column of `docs/guide/features.md`.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::shell;

/// The page with the table of features.
const PAGE: &str = "docs/guide/features.md";

/// Folder of the builds, which are deleted before each build.
const FOLDER: &str = "target/feature-cost";

/// Clock ticks per second in `/proc`: a constant of Linux on all common machines.
const TICKS: f64 = 100.0;

/// A row of the table of features.
#[derive(Debug, PartialEq, Eq)]
enum Row<'a> {
    /// The build without features.
    None,
    /// The build with the features that are on by default.
    Default,
    /// The build with one feature.
    Feature(&'a str),
}

/// Measures the builds. `--update` writes their times into the page.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let page = fs::read_to_string(PAGE).with_context(|| format!("cannot read {PAGE}"))?;
    let without = build(&["--no-default-features"])?;
    let mut lines = Vec::new();
    for line in page.lines() {
        let cell = match row(line) {
            None => None,
            Some(Row::None) => Some(format!("{without:.0}")),
            Some(Row::Default) => Some(format!("{:.0}", build(&[])?)),
            Some(Row::Feature(name)) => {
                let with = build(&["--no-default-features", "--features", name])?;
                Some(format!("+ {:.0}", (with - without).max(0.0)))
            }
        };
        let line = cell.map_or_else(|| line.to_owned(), |cell| with_last_cell(line, &cell));
        if row(&line).is_some() {
            println!("{line}");
        }
        lines.push(line);
    }
    if args.iter().any(|arg| arg == "--update") {
        fs::write(PAGE, lines.join("\n") + "\n").with_context(|| format!("cannot write {PAGE}"))?;
    }
    Ok(())
}

/// Returns the row of the table of features in a line of the page.
fn row(line: &str) -> Option<Row<'_>> {
    let first = line.strip_prefix("| ")?.split(" |").next()?;
    // The other table of the page has fewer columns.
    match first {
        _ if line.matches('|').count() != 6 => None,
        "no feature" => Some(Row::None),
        "all features that are on by default" => Some(Row::Default),
        _ => Some(Row::Feature(first.strip_prefix('`')?.strip_suffix('`')?)),
    }
}

/// Returns a row of a table with another last cell.
fn with_last_cell(line: &str, cell: &str) -> String {
    let cells: Vec<&str> = line.trim_end_matches('|').split('|').collect();
    let kept = cells.split_last().map_or(&[][..], |(_, kept)| kept);
    format!("{}| {cell} |", kept.join("|"))
}

/// Builds the library from nothing with the given features. Returns the seconds of processor time.
fn build(features: &[&str]) -> Result<f64> {
    if fs::exists(FOLDER)? {
        fs::remove_dir_all(FOLDER)?;
    }
    let build = ["build", "--release", "--quiet", "--package", "hyperslab", "--target-dir", FOLDER];
    let before = children_seconds()?;
    shell::run(&mut shell::cargo(&[&build[..], features].concat()))?;
    Ok(children_seconds()? - before)
}

/// Returns the processor time in seconds of the ended child processes of this process.
fn children_seconds() -> Result<f64> {
    let line = fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    // The name of the program ends with the last parenthesis. The times are fields 16 and 17.
    let (_, fields) = line.rsplit_once(')').context("/proc/self/stat has no name")?;
    let times: Vec<f64> =
        fields.split_whitespace().skip(13).take(2).map(str::parse).collect::<Result<_, _>>()?;
    ensure!(times.len() == 2, "/proc/self/stat has too few fields");
    Ok(times.iter().sum::<f64>() / TICKS)
}

#[cfg(test)]
mod tests {
    use super::{Row, row, with_last_cell};

    #[test]
    fn rows_of_the_table_are_found() {
        assert_eq!(row("| no feature | | the reader | 48 |  |"), Some(Row::None));
        assert_eq!(row("| `lz4` | yes | LZ4 | + 1 | + 2 |"), Some(Row::Feature("lz4")));
        assert_eq!(row("| `Dataset::read_into` | a slice |"), None);
        assert_eq!(row("|---|---|---|---|---|"), None);
    }

    #[test]
    fn the_last_cell_is_replaced() {
        assert_eq!(
            with_last_cell("| `lz4` | yes | LZ4 | + 1 |  |", "+ 2"),
            "| `lz4` | yes | LZ4 | + 1 | + 2 |"
        );
        assert_eq!(
            with_last_cell("| `lz4` | yes | LZ4 | + 1 | + 9 |", "+ 2"),
            "| `lz4` | yes | LZ4 | + 1 | + 2 |"
        );
    }
}
