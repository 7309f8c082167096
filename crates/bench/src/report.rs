//! The tables and plots of a comparison.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use hyperslab_testkit::workspace;

use crate::case::Program;
use crate::contest::threads;
use crate::instructions::Counter;
use crate::outcome::{Entry, Outcome, Role, Row};
use crate::plot::{self, Bar};
use crate::reader::MAX_CASE_TIME;
use crate::slower::{self, Causes};
use crate::table::to_f64;

/// The two marker lines of the document. The report replaces the text between them.
const MARKERS: [&str; 2] = [
    "<!-- `cargo xtask bench-compare` writes the lines from here to the end marker -->",
    "<!-- end marker -->",
];

/// The results of a comparison.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) rounds: u64,
    pub(crate) rows: Vec<Row>,
    pub(crate) counter: Counter,
    pub(crate) causes: Causes,
    /// The section about sparse matrices.
    pub(crate) sparse: String,
    /// The number of bytes that are copied in memory per second: by one thread, and by all threads.
    pub(crate) copied: [f64; 2],
}

impl Report {
    /// Writes the plots, and the document of a folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let plots = folder.join("benchmarks");
        std::fs::create_dir_all(&plots)?;
        let template = std::fs::read_to_string(workspace::root().join("docs/benchmarks.md"))?;
        let [first, last] = MARKERS;
        let (before, rest) =
            template.split_once(first).context("docs/benchmarks.md lacks the line before the table")?;
        let (_, after) =
            rest.split_once(last).context("docs/benchmarks.md lacks the line after the table")?;
        let mut text = format!("{before}{first}\n\n{}", self.head());
        for section in self.sections() {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.case.section == section).collect();
            let file = format!("{}.svg", section.to_lowercase().replace(' ', "-"));
            let bar = |row: &&Row| -> Bar { (row.case.name.clone(), [row.to_libhdf5(), row.to_peer()]) };
            let bars: Vec<Bar> = rows.iter().map(bar).collect();
            plot::draw(
                &plots.join(&file),
                &format!(
                    "{section}: time of hyperslab divided by that of others (left of 1: hyperslab is faster)"
                ),
                &bars,
            )?;
            write!(text, "## {section}\n\n![{section}](benchmarks/{file})\n\n{}", table(&rows))?;
        }
        text.push_str(&self.sparse);
        text.push_str(&slower::section(&self.rows, &self.causes));
        text.push_str(&self.counter.section());
        write!(text, "{last}{after}")?;
        Ok(std::fs::write(folder.join("benchmarks.md"), text)?)
    }

    fn sections(&self) -> Vec<&'static str> {
        let mut sections: Vec<&str> = self.rows.iter().map(|row| row.case.section).collect();
        sections.dedup();
        sections
    }

    fn head(&self) -> String {
        let [one, all] = self.copied.map(|rate| rate / 1e9);
        let mut names: Vec<&str> = Vec::new();
        for Entry { name, .. } in self.rows.iter().flat_map(|row| &row.entries) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let commit = output("git", &["rev-parse", "--short=12", "HEAD"]);
        format!(
            "- date: {}, commit {commit}\n- machine: {}\n- {}; {} rounds, {} threads\n- memory is copied at {one:.1} GB/s by \
             one thread, at {all:.1} GB/s by {}\n\n{}",
            output("date", &["-u", "+%Y-%m-%d"]),
            machine(),
            names.join(", "),
            self.rounds,
            threads(),
            threads(),
            slower::summary(&self.rows),
        )
    }
}

/// The columns of the table, in order.
const ROLES: [(Role, &str); 4] = [
    (Role::Hyperslab, "hyperslab"),
    (Role::Libhdf5, "libhdf5"),
    (Role::Peer, "rust-hdf5"),
    (Role::Python, "h5py"),
];

/// Returns the roles with results.
fn roles(rows: &[&Row]) -> Vec<(Role, &'static str)> {
    let took_part = |role: Role| rows.iter().any(|row| row.of(role).next().is_some());
    ROLES.into_iter().filter(|(role, _)| took_part(*role)).collect()
}

fn table(rows: &[&Row]) -> String {
    let written = rows.iter().any(|row| row.case.program == Program::Write);
    let limited = rows.iter().any(|row| row.limit.is_some());
    let roles = roles(rows);
    let other = |role: Role| roles.iter().any(|(one, _)| *one == role);
    let mut heads = vec!["case".to_owned()];
    let entries = rows.first().map_or([].as_slice(), |row| &row.entries);
    heads.extend(entries.iter().map(|entry| format!("{}, ms", entry.name)));
    heads.extend(other(Role::Libhdf5).then(|| "÷ libhdf5".to_owned()));
    heads.extend(other(Role::Peer).then(|| "÷ rust-hdf5".to_owned()));
    if limited {
        heads.extend(["limit, ms", "÷ limit"].map(str::to_owned));
    }
    let names: Vec<&str> = roles.iter().map(|(_, name)| *name).collect();
    heads.push(format!("peak MiB: {}", names.join(", ")));
    if written {
        heads.push(format!("bytes to those of {}", names.get(1..).unwrap_or_default().join(", ")));
        heads.push("metadata bytes a chunk".to_owned());
    }
    let rule = "---:|".repeat(heads.len().saturating_sub(1));
    let mut text = format!("| {} |\n|---|{rule}\n", heads.join(" | "));
    for row in rows {
        let mut cells = vec![row.case.name.clone()];
        cells.extend(row.entries.iter().map(|entry| time(&entry.outcome)));
        cells.extend(other(Role::Libhdf5).then(|| ratio(row.to_libhdf5())));
        cells.extend(other(Role::Peer).then(|| ratio(row.to_peer())));
        if limited {
            cells.push(row.limit.map_or(String::new(), number));
            cells.push(row.to_limit().map_or(String::new(), |times| format!("{times:.2}")));
        }
        cells.push(memory(row, &roles));
        if written {
            cells.extend([bytes(row, &roles), overhead(row, &roles)]);
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    format!("{text}\n{}", reasons(rows))
}

/// Returns a line for each case that a contestant could not run.
fn reasons(rows: &[&Row]) -> String {
    let mut text = String::new();
    for row in rows {
        for Entry { name, outcome, .. } in &row.entries {
            let (word, why) = match outcome {
                Outcome::Done { .. } | Outcome::TimedOut => continue,
                Outcome::Wrong(why) => ("wrong", why),
                Outcome::Cannot(why) => ("unsupported", why),
            };
            let _ = writeln!(text, "- {}, {name}: {word}: {why}", row.case.name);
        }
    }
    if text.is_empty() { text } else { format!("{text}\n") }
}

pub(crate) fn number(seconds: f64) -> String {
    let ms = seconds * 1e3;
    match ms {
        100.0.. => format!("{ms:.0}"),
        10.0..100.0 => format!("{ms:.1}"),
        1.0..10.0 => format!("{ms:.2}"),
        _ => format!("{ms:.3}"),
    }
}

fn time(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done { .. } => outcome.wall().map_or("–".to_owned(), number),
        Outcome::Wrong(_) => "wrong".to_owned(),
        Outcome::Cannot(_) => "unsupported".to_owned(),
        Outcome::TimedOut => format!("> {}", number(MAX_CASE_TIME.as_secs_f64())),
    }
}

/// Formats a ratio, bold if another implementation is faster.
fn ratio(ratio: Option<f64>) -> String {
    match ratio {
        None => "–".to_owned(),
        Some(ratio) if ratio > 1.0 => format!("**{ratio:.2}**"),
        Some(ratio) if ratio < 0.1 => format!("{ratio:.3}"),
        Some(ratio) => format!("{ratio:.2}"),
    }
}

fn memory(row: &Row, roles: &[(Role, &str)]) -> String {
    let mib = |bytes: Option<f64>| {
        bytes.map_or("–".to_owned(), |bytes| format!("{:.1}", bytes / f64::from(1 << 20)))
    };
    let peaks: Vec<String> = roles.iter().map(|(role, _)| mib(row.least(*role, Outcome::peak))).collect();
    peaks.join(", ")
}

fn bytes(row: &Row, roles: &[(Role, &str)]) -> String {
    if row.case.program != Program::Write {
        return String::new();
    }
    let to = |(role, _): &(Role, &str)| {
        let both = row.smallest(Role::Hyperslab).zip(row.smallest(*role));
        both.map_or("–".to_owned(), |(ours, other)| format!("{:.3}", to_f64(ours) / to_f64(other)))
    };
    let others: Vec<String> = roles.iter().skip(1).map(to).collect();
    others.join(", ")
}

/// Returns the bytes of the file beyond the data, for each chunk.
fn overhead(row: &Row, roles: &[(Role, &str)]) -> String {
    let Some((chunks, data)) = row.case.chunks else { return String::new() };
    let of = |(role, _): &(Role, &str)| match row.smallest(*role) {
        Some(bytes) => format!("{:.1}", to_f64(bytes.saturating_sub(data)) / to_f64(chunks)),
        None => "–".to_owned(),
    };
    let all: Vec<String> = roles.iter().map(of).collect();
    all.join(", ")
}

/// Returns the output of a program, or an empty text if the program does not run.
pub(crate) fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).current_dir(workspace::root()).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

pub(crate) fn machine() -> String {
    let line = |file: &str, heading: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(heading)?.split_once(':'));
        line.map_or(String::new(), |(_, value)| value.trim().to_owned())
    };
    let memory = line("/proc/meminfo", "MemTotal");
    let gib =
        memory.split(' ').next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / f64::from(1 << 20);
    format!(
        "{}, {} processors, {gib:.0} GiB, {}",
        line("/proc/cpuinfo", "model name"),
        threads(),
        output("uname", &["-sr"])
    )
}
