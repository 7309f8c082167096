//! Cases in which hyperslab is slower than another implementation, and the causes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::case::Limit;
use crate::outcome::Row;

/// Ratio up to which a slower time counts as equal, because times differ by as much from run to
/// run.
const EQUAL_RATIO: f64 = 1.05;

/// A ratio that exceeds its bound.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Miss {
    to: &'static str,
    ratio: f64,
    /// The largest acceptable ratio.
    bound: f64,
}

fn misses(row: &Row) -> Vec<Miss> {
    let limit = if matches!(row.case.limit, Limit::Model(_)) { "model" } else { "limit" };
    let all = [
        ("libhdf5", row.to_libhdf5(), 1.0, EQUAL_RATIO),
        ("rust-hdf5", row.to_peer(), 1.0, EQUAL_RATIO),
        (limit, row.to_limit(), row.case.limit.bound(), row.case.limit.bound()),
    ];
    let miss = |(to, ratio, bound, maximum): (&'static str, Option<f64>, f64, f64)| {
        ratio.filter(|ratio| *ratio > maximum).map(|ratio| Miss { to, ratio, bound })
    };
    all.into_iter().filter_map(miss).collect()
}

/// Causes of slower cases by section and case, written by hand.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Causes(BTreeMap<(String, String), String>);

impl Causes {
    /// Reads the causes in a file. A missing file holds none.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        Self::parse(&std::fs::read_to_string(path)?).with_context(|| path.display().to_string())
    }

    /// Parses causes. Headings are sections; each item begins with the name of the case in
    /// backticks and a colon.
    fn parse(text: &str) -> Result<Self> {
        let (mut causes, mut section, mut last) = (BTreeMap::new(), String::new(), None);
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                (section, last) = (heading.trim().to_owned(), None);
            } else if let Some(item) = line.strip_prefix("- `") {
                let (name, cause) = item.split_once("`: ").with_context(|| format!("`{line}`: no cause"))?;
                let key = (section.clone(), name.to_owned());
                causes.insert(key.clone(), cause.trim().to_owned());
                last = Some(key);
            } else if let Some(more) = line.strip_prefix("  ")
                && let Some(cause) = last.as_ref().and_then(|key| causes.get_mut(key))
            {
                cause.push(' ');
                cause.push_str(more.trim());
            } else {
                last = None;
            }
        }
        Ok(Self(causes))
    }

    fn of(&self, row: &Row) -> Option<&str> {
        let key = (row.case.section.to_owned(), row.case.name.clone());
        self.0.get(&key).map(String::as_str)
    }

    /// Returns a line for each cause that is not needed: its case is not slower, or does not exist.
    /// The second is reported only if all cases were measured.
    pub(crate) fn unused(&self, rows: &[Row], all: bool) -> Vec<String> {
        let line = |((section, name), _): (&(String, String), &String)| {
            let same = |row: &&Row| row.case.section == section && row.case.name == *name;
            let why = match rows.iter().find(same) {
                Some(row) if misses(row).is_empty() => "is no longer slower",
                None if all => "is not a case",
                _ => return None,
            };
            Some(format!("{section}: {name}: {why}; the report omits its cause"))
        };
        self.0.iter().filter_map(line).collect()
    }
}

/// Returns the section about slower cases, the worst first.
pub(crate) fn section(rows: &[Row], causes: &Causes) -> String {
    let mut text = format!(
        "## Where hyperslab is slower\n\nThe table lists cases in which hyperslab takes more than {EQUAL_RATIO} \
         times the time of the fastest libhdf5 or of `rust-hdf5`, or exceeds the bound of a limit (1.3)\nor a model (4), worst first. \
         The limit of a workload is the time of a program that does only the work that no library can avoid. \
         The model of a workload\nis a minimal program that does the workload with a simpler file than an HDF5 file.\n\n"
    );
    let mut slower: Vec<(&Row, Vec<Miss>)> = rows.iter().map(|row| (row, misses(row))).collect();
    slower.retain(|(_, misses)| !misses.is_empty());
    if slower.is_empty() {
        text.push_str("In no case.\n\n");
        return text;
    }
    let worst =
        |misses: &[Miss]| misses.iter().map(|miss| miss.ratio / miss.bound).fold(0.0, |a: f64, b| a.max(b));
    slower.sort_by(|(_, one), (_, other)| worst(other).total_cmp(&worst(one)));
    text.push_str("| case | slower than | cause |\n|---|---|---|\n");
    for (row, misses) in slower {
        let ratios: Vec<String> =
            misses.iter().map(|miss| format!("{:.2} × {}", miss.ratio, miss.to)).collect();
        let cause = causes.of(row).unwrap_or("unknown");
        let _ =
            writeln!(text, "| {}: {} | {} | {cause} |", row.case.section, row.case.name, ratios.join(", "));
    }
    text.push('\n');
    text
}

/// Returns a table with the number of cases and the number of cases in which hyperslab is faster,
/// in total and for each section.
pub(crate) fn summary(rows: &[Row]) -> String {
    let mut text = "## Summary\n\nhyperslab is \"ahead\" if it is not slower. Ratios are geometric means.\n\n| section | cases | ahead of libhdf5 | \
                    ratio | ahead of rust-hdf5 | ratio | not beyond limits | ratio |\n|---|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    let mut sections: Vec<&str> = rows.iter().map(|row| row.case.section).collect();
    sections.dedup();
    for section in sections.iter().copied().map(Some).chain([None]) {
        let chosen: Vec<&Row> =
            rows.iter().filter(|row| section.is_none_or(|section| row.case.section == section)).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            section.unwrap_or("all"),
            chosen.len(),
            cells(&chosen).join(" | ")
        );
    }
    text.push('\n');
    text
}

/// Returns the cells of a table row. For libhdf5, the peer and the limits: the number of cases
/// within the bound, and the mean ratio.
fn cells(rows: &[&Row]) -> Vec<String> {
    let of = |ratio: fn(&Row) -> Option<f64>, bound: fn(&Row) -> f64| {
        let ratios: Vec<(f64, f64)> = rows.iter().filter_map(|row| Some((ratio(row)?, bound(row)))).collect();
        let ahead = ratios.iter().filter(|(ratio, bound)| ratio <= bound).count();
        let mean = mean(&ratios.iter().map(|(ratio, _)| *ratio).collect::<Vec<f64>>());
        [format!("{ahead} of {}", ratios.len()), mean.map_or("–".to_owned(), |mean| format!("{mean:.2}"))]
    };
    let one = |_: &Row| 1.0;
    [of(Row::to_libhdf5, one), of(Row::to_peer, one), of(Row::to_limit, |row| row.case.limit.bound())]
        .concat()
}

/// Returns the geometric mean.
fn mean(ratios: &[f64]) -> Option<f64> {
    let count = u32::try_from(ratios.len()).ok().filter(|count| *count > 0)?;
    Some((ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / f64::from(count)).exp())
}

/// Returns the exceeded bounds as text for the progress output.
pub(crate) fn misses_text(row: &Row) -> String {
    misses(row).iter().fold(String::new(), |text, miss| format!("{text}; slower than {}", miss.to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Program};
    use crate::clock::Cost;
    use crate::outcome::{Entry, Outcome, Role};

    fn row(name: &str, times: [f64; 3], limit: Option<f64>) -> Row {
        let roles = [Role::Hyperslab, Role::Libhdf5, Role::Peer];
        let entry = |(role, wall): (Role, f64)| {
            let times = vec![Cost { wall, cpu: wall }];
            let outcome = Outcome::Done { times, sum: 1, peak: None };
            Entry { at: 0, name: String::new(), role, outcome }
        };
        let entries = roles.into_iter().zip(times).map(entry).collect();
        let case = Case::new("Section", name, Program::Read, "x.h5".into(), "whole f32");
        Row { case: Case { limit: Limit::Read, ..case }, entries, limit }
    }

    #[test]
    fn slower_cases_are_listed_worst_first() {
        let rows = [
            row("ahead", [1.0, 2.0, 1.0], Some(1.0)),
            row("a little", [1.2, 1.0, 2.0], None),
            row("much", [1.0, 2.0, 2.0], Some(0.5)),
        ];
        let Ok(causes) = Causes::parse("## Section\n\n- `much`: it is\n  so\n- `ahead`: was\n- `gone`: no\n")
        else {
            panic!("the causes cannot be parsed")
        };
        let text = section(&rows, &causes);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("| Section")).collect();
        assert_eq!(
            lines,
            [
                "| Section: much | 2.00 × limit | it is so |",
                "| Section: a little | 1.20 × libhdf5 | unknown |"
            ]
        );
        let line = causes.unused(&rows, true);
        assert!(
            line.len() == 2 && line[0].contains("ahead: is no longer slower") && line[1].contains("gone")
        );
        assert_eq!(causes.unused(&rows, false).len(), 1);
        assert!(summary(&rows).contains("| all | 3 | 2 of 3 |"));
    }

    #[test]
    fn the_mean_of_ratios_is_geometric() {
        assert!(mean(&[0.5, 2.0]).is_some_and(|mean| (mean - 1.0).abs() < 1e-12));
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn an_item_without_a_cause_is_refused() {
        assert!(Causes::parse("- `name` is slow").is_err());
    }
}
