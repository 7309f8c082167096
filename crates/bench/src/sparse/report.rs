//! The table of the measurements of one matrix.

use super::backend::{Done, Operation};
use crate::table::median;

/// The column of hyperslab, with which the other columns are compared.
pub(crate) const OURS: &str = "hyperslab";
/// The starts of the names of the columns with which hyperslab's column is compared: compressed CSR
/// arrays, and TileDB.
const AGAINST: [&str; 2] = ["csr_", "tiledb"];

/// Returns the columns with which hyperslab's column is compared.
fn compared(columns: &[Measured]) -> [Option<&Measured>; 2] {
    AGAINST.map(|start| columns.iter().find(|column| column.name.starts_with(start)))
}

/// The measurements of one column, operation by operation and round by round.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) done: Vec<(Operation, Done)>,
}

impl Measured {
    fn times(&self, operation: Operation, cpu: bool) -> Vec<f64> {
        let of = self.done.iter().filter(|(other, _)| *other == operation);
        of.map(|(_, done)| if cpu { done.took.cpu } else { done.took.wall }).collect()
    }

    fn wall(&self, operation: Operation) -> f64 {
        median(&self.times(operation, false))
    }

    /// Returns the bytes stored after an operation.
    #[expect(clippy::cast_precision_loss, reason = "sizes of files")]
    fn bytes(&self, operation: Operation) -> f64 {
        let of = self.done.iter().find(|(other, _)| *other == operation);
        of.map_or(f64::NAN, |(_, done)| done.bytes as f64)
    }

    /// Returns the median and the best wall-clock time, and the median processor time, in
    /// milliseconds.
    fn cell(&self, operation: Operation) -> String {
        let walls = self.times(operation, false);
        if walls.is_empty() {
            return "–".to_owned();
        }
        let best = walls.iter().copied().fold(f64::INFINITY, f64::min);
        let cpu = median(&self.times(operation, true));
        let scaled = self.done.iter().any(|(other, done)| *other == operation && done.met.is_none());
        let mark = if scaled { "~" } else { "" };
        format!("{mark}{} ({}) / {}", short(median(&walls) * 1e3), short(best * 1e3), short(cpu * 1e3))
    }
}

/// Formats a number with three digits, or with all digits of a large number.
fn short(number: f64) -> String {
    match number {
        number if !number.is_finite() => "–".to_owned(),
        number if number < 1.0 => format!("{number:.3}"),
        number if number < 10.0 => format!("{number:.2}"),
        number if number < 100.0 => format!("{number:.1}"),
        number => format!("{number:.0}"),
    }
}

/// Returns the target ratio of hyperslab to CSR arrays with shuffle and gzip.
fn aim(operation: Option<Operation>, density: f64) -> Option<f64> {
    Some(match operation {
        None => {
            if density < 0.01 {
                1.2
            } else {
                1.0
            }
        }
        Some(Operation::Write) => 0.4,
        Some(Operation::Read) => 0.7,
        Some(Operation::Boxes) => 1.0 / 20.0,
        Some(Operation::Columns) => 1.0 / 50.0,
        Some(Operation::Append) => 1.0 / 15.0,
        Some(Operation::Rows) => return None,
    })
}

/// Returns the first two lines of the table.
fn heads(columns: &[Measured], has_ours: bool) -> Vec<String> {
    let names = compared(columns).map(|column| column.map_or("–", |column| &column.name));
    let against = if has_ours { names.as_slice() } else { &[] };
    let named = columns.iter().map(|column| column.name.clone());
    let names: String = named
        .chain(against.iter().map(|name| format!("of {name}")))
        .map(|name| format!(" {name} |"))
        .collect();
    vec![format!("| |{names}"), "|---".repeat(columns.len() + against.len() + 1) + "|"]
}

/// Returns the table of one matrix with `count` values.
pub(crate) fn table(columns: &[Measured], count: f64, density: f64) -> String {
    let ours = columns.iter().find(|column| column.name == OURS);
    let against = compared(columns);
    let mut lines = heads(columns, ours.is_some());
    let row = |title: String, cells: Vec<String>, of: &dyn Fn(&Measured) -> f64, aim: Option<f64>| {
        let mut line = format!("| {title} | {}", cells.join(" | "));
        if let Some(ours) = ours {
            let [csr, tiledb] = against.map(|other| other.map_or(f64::NAN, |other| of(ours) / of(other)));
            let missed = if aim.is_some_and(|aim| csr > aim) { " *" } else { "" };
            let aim = aim.map_or(String::new(), |aim| format!(" (aim {}){missed}", short(aim)));
            line.push_str(&format!(
                " | {}{aim} | {}{}",
                short(csr),
                short(tiledb),
                if tiledb > 1.0 { " *" } else { "" }
            ));
        }
        line + " |"
    };
    let sizes = |after: Operation| columns.iter().map(|column| short(column.bytes(after) / count)).collect();
    let size = |after: Operation| move |column: &Measured| column.bytes(after);
    let stored = size(Operation::Write);
    lines.push(row("bytes per value".to_owned(), sizes(Operation::Write), &stored, aim(None, density)));
    for operation in Operation::ALL {
        let cells = columns.iter().map(|column| column.cell(operation)).collect();
        let wall = |column: &Measured| column.wall(operation);
        lines.push(row(operation.title().to_owned(), cells, &wall, aim(Some(operation), density)));
    }
    let grown = size(Operation::Append);
    lines.push(row("bytes per value after the append".to_owned(), sizes(Operation::Append), &grown, None));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Cost;

    fn measured(name: &str, wall: f64, bytes: u64) -> Measured {
        let done = Done { took: Cost { wall, cpu: wall * 2.0 }, met: None, bytes };
        Measured { name: name.to_owned(), done: Operation::ALL.map(|operation| (operation, done)).to_vec() }
    }

    #[test]
    fn ours_is_compared_where_it_is_there() {
        let others = [measured("csr_gzip", 0.1, 2000), measured("tiledb", 0.01, 5000)];
        let table = table(&others, 1000.0, 0.01);
        assert!(table.contains("| bytes per value | 2.00 | 5.00 |\n"), "{table}");
        assert!(table.contains("| write | ~100 (100) / 200 | ~10.0 (10.0) / 20.0 |\n"), "{table}");
        let all = [measured(OURS, 0.02, 3000)].into_iter().chain(others).collect::<Vec<_>>();
        let table = super::table(&all, 1000.0, 0.01);
        assert!(table.contains("| 1.50 (aim 1.00) * | 0.600 |\n"), "{table}");
        assert!(table.contains("| 0.200 (aim 0.400) | 2.00 * |\n"), "{table}");
        assert!(super::table(&all, 1000.0, 0.001).contains("| 1.50 (aim 1.20) * |"));
    }
}
