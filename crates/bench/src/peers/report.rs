//! The tables of the comparison, in Markdown.

use std::fmt::Write as _;

use super::libraries::Library;
use super::request::Codec;
use super::{OPERATIONS, Row};
use crate::contest::threads;
use crate::outcome::Outcome;
use crate::report::{machine, number, output};
use crate::table::to_f64;

/// Returns the whole text between the markers of the page.
pub(super) fn text(libraries: &[Library], rows: &[Row], rounds: usize) -> String {
    let mut text = format!(
        "- date: {}\n- machine: {}\n- {} threads, {rounds} rounds\n",
        output("date", &["-u", "+%Y-%m-%d"]),
        machine(),
        threads()
    );
    for Library { name, version, options, .. } in libraries {
        let _ = writeln!(text, "- {name} {version}: {options}");
    }
    for operation in OPERATIONS {
        let of_operation: Vec<&Row> = rows.iter().filter(|row| row.operation == operation).collect();
        let _ =
            write!(text, "\n## {}\n\n{}", title(operation), times(libraries, &of_operation, Outcome::wall));
        let processor = times(libraries, &of_operation, Outcome::cpu);
        let _ = write!(text, "\nThe same, in processor time of all threads:\n\n{processor}");
    }
    let _ = write!(text, "\n## Bytes stored\n\n{}", sizes(libraries, rows));
    text + &reasons(libraries, rows) + &behind(libraries, rows)
}

fn title(operation: &str) -> &str {
    match operation {
        "write" => "Writing the array",
        "read" => "Reading the whole array",
        _ => "Reading 100 boxes",
    }
}

fn codec(codec: Codec) -> &'static str {
    match codec {
        Codec::None => "none",
        Codec::Gzip => "shuffle + gzip 4",
        Codec::Zstd => "zstd 3",
        Codec::Blosc => "blosc lz4 5, shuffle",
    }
}

fn name(row: &Row) -> String {
    format!("{} x {}, {}", row.chunk, row.chunk, codec(row.codec))
}

fn head(libraries: &[Library], unit: &str) -> String {
    let names: Vec<String> = libraries.iter().map(|library| format!("{}{unit}", library.name)).collect();
    format!("| chunks, filter | {} |\n|---|{}\n", names.join(" | "), "---:|".repeat(names.len()))
}

/// A time of an outcome in seconds.
type TimeOf = fn(&Outcome) -> Option<f64>;

fn times(libraries: &[Library], rows: &[&Row], of: TimeOf) -> String {
    let mut text = head(libraries, ", ms");
    for row in rows {
        let cells: Vec<String> = row.outcomes.iter().map(|outcome| cell(row, outcome, of)).collect();
        let _ = writeln!(text, "| {} | {} |", name(row), cells.join(" | "));
    }
    text
}

/// Returns a time and the ratio of hyperslab's time to it, bold if hyperslab needs more.
fn cell(row: &Row, outcome: &Outcome, of: TimeOf) -> String {
    let time = of(outcome).map_or_else(|| time(outcome), number);
    match ratio(row, outcome, of) {
        None => time,
        Some(ratio) if ratio > 1.0 => format!("{time} (**{ratio:.2}**)"),
        Some(ratio) => format!("{time} ({ratio:.2})"),
    }
}

/// Returns the ratio of hyperslab's time to that of another library.
fn ratio(row: &Row, outcome: &Outcome, of: TimeOf) -> Option<f64> {
    let ours = row.outcomes.first()?;
    if std::ptr::eq(ours, outcome) { None } else { Some(of(ours)? / of(outcome)?) }
}

/// Returns the median time in milliseconds, or the word for an outcome without a time.
pub(super) fn time(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done { .. } => outcome.wall().map_or("–".to_owned(), number),
        Outcome::Wrong(_) => "wrong".to_owned(),
        Outcome::Cannot(_) => "unsupported".to_owned(),
        Outcome::TimedOut => "too long".to_owned(),
    }
}

fn sizes(libraries: &[Library], rows: &[Row]) -> String {
    let mut text = head(libraries, ", MiB");
    for row in rows.iter().filter(|row| row.operation == "write") {
        let size = |outcome: &Outcome| match outcome.sum() {
            Some(bytes) => format!("{:.2}", to_f64(bytes) / f64::from(1 << 20)),
            None => time(outcome),
        };
        let cells: Vec<String> = row.outcomes.iter().map(size).collect();
        let _ = writeln!(text, "| {} | {} |", name(row), cells.join(" | "));
    }
    text
}

/// Returns a line for each reason why a library cannot do rows of the tables.
fn reasons(libraries: &[Library], rows: &[Row]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for row in rows {
        for (library, outcome) in libraries.iter().zip(&row.outcomes) {
            let (word, why) = match outcome {
                Outcome::Wrong(why) => ("wrong", why),
                Outcome::Cannot(why) => ("unsupported", why),
                Outcome::Done { .. } | Outcome::TimedOut => continue,
            };
            let line = format!("- {}, {}: {word}: {why}", codec(row.codec), library.name);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
}

/// Returns the list of the rows in which another library is faster.
fn behind(libraries: &[Library], rows: &[Row]) -> String {
    let mut text = String::new();
    let mut count = 0_usize;
    for row in rows {
        for (library, outcome) in libraries.iter().zip(&row.outcomes) {
            let Some(ratio) = ratio(row, outcome, Outcome::wall) else { continue };
            count = count.saturating_add(1);
            if ratio > 1.0 {
                let _ = writeln!(
                    text,
                    "- {}: {}: {ratio:.2} × {}",
                    title(row.operation),
                    name(row),
                    library.name
                );
            }
        }
    }
    let slower = text.lines().count();
    format!(
        "\n## Rows in which hyperslab is behind\n\nhyperslab is slower in {slower} of {count} comparisons.\n\n{text}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Cost;

    fn done(wall: f64) -> Outcome {
        Outcome::Done { times: vec![Cost { wall, cpu: wall }], sum: 1 << 20, peak: None }
    }

    #[test]
    fn ratios_are_bold_if_hyperslab_is_slower() {
        let outcomes = vec![done(0.2), done(0.1), done(0.4), Outcome::Cannot("no".to_owned())];
        let row = Row { operation: "read", chunk: 256, codec: Codec::Gzip, outcomes };
        let cells: Vec<String> =
            row.outcomes.iter().map(|outcome| cell(&row, outcome, Outcome::wall)).collect();
        assert_eq!(cells, ["200", "100 (**2.00**)", "400 (0.50)", "unsupported"]);
        assert_eq!(name(&row), "256 x 256, shuffle + gzip 4");
    }
}
