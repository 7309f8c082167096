//! The table and the plots of a comparison.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use hyperslab_testkit::workspace;

use crate::contest::{Outcome, Program, Row, threads};
use crate::plot::{self, Bar};
use crate::table::to_f64;

/// Between these lines of the document everything is made anew.
const MARKERS: [&str; 2] =
    ["<!-- what follows is written by `cargo xtask bench-compare` -->", "<!-- end of what is written -->"];

/// Instructions that each needs for a piece of work.
#[derive(Debug)]
pub(crate) struct Instructions {
    pub(crate) name: String,
    pub(crate) counts: Vec<Option<u64>>,
}

/// What a comparison found.
#[derive(Debug)]
pub(crate) struct Report {
    /// Of those who did the work, hyperslab first.
    pub(crate) names: Vec<String>,
    pub(crate) rounds: u64,
    pub(crate) rows: Vec<Row>,
    pub(crate) instructions: Vec<Instructions>,
    /// Bytes that are copied in memory in a second, by one thread and by all.
    pub(crate) copied: [f64; 2],
}

impl Report {
    /// Writes the plots and the document of a folder anew.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let plots = folder.join("benchmarks");
        std::fs::create_dir_all(&plots)?;
        let template = std::fs::read_to_string(workspace::root().join("docs/benchmarks.md"))?;
        let [first, last] = MARKERS;
        let (before, rest) = template.split_once(first).context("no place for the table")?;
        let (_, after) = rest.split_once(last).context("no end of the place for the table")?;
        let mut text = format!("{before}{first}\n\n{}", self.head());
        for section in self.sections() {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.case.section == section).collect();
            let file = format!("{}.svg", section.to_lowercase().replace(' ', "-"));
            let bar = |row: &&Row| -> Bar { (row.case.name.clone(), [row.to_libhdf5(), row.to_peer()]) };
            let bars: Vec<Bar> = rows.iter().map(bar).collect();
            plot::draw(
                &plots.join(&file),
                &format!("{section}: time of hyperslab divided by that of others (left of 1 it is faster)"),
                &bars,
            )?;
            write!(text, "## {section}\n\n![{section}](benchmarks/{file})\n\n{}", self.table(&rows))?;
        }
        text.push_str(&self.counted());
        text.push_str(&self.behind());
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
        let commit = output("git", &["rev-parse", "--short=12", "HEAD"]);
        format!(
            "- date: {}, commit {commit}\n- machine: {}\n- {}; {} rounds, {} threads\n- memory is copied at {one:.1} GB/s by \
             one thread, at {all:.1} GB/s by {}\n- {}\n\n",
            output("date", &["-u", "+%Y-%m-%d"]),
            machine(),
            self.names.join(", "),
            self.rounds,
            threads(),
            threads(),
            self.summary(),
        )
    }

    /// How many are ahead, and by how much in the middle.
    fn summary(&self) -> String {
        let of = |name: &str, ratio: fn(&Row) -> Option<f64>| {
            let ratios: Vec<f64> = self.rows.iter().filter_map(ratio).collect();
            let ahead = ratios.iter().filter(|ratio| **ratio <= 1.0).count();
            format!(
                "not slower than {name} in {ahead} of {} workloads, median ratio {:.2}",
                ratios.len(),
                crate::table::median(&ratios)
            )
        };
        format!("{}; {}", of("libhdf5", Row::to_libhdf5), of("rust-hdf5", Row::to_peer))
    }

    fn table(&self, rows: &[&Row]) -> String {
        let written = rows.iter().any(|row| row.case.program == Program::Write);
        let limited = rows.iter().any(|row| row.limit.is_some());
        let mut heads = vec!["workload".to_owned()];
        heads.extend(self.names.iter().map(|name| format!("{name}, ms")));
        heads.extend(["÷ libhdf5", "÷ rust-hdf5"].map(str::to_owned));
        if limited {
            heads.extend(["limit, ms", "÷ limit"].map(str::to_owned));
        }
        heads.push("peak MiB: hyperslab, libhdf5, rust-hdf5".to_owned());
        if written {
            heads.push("bytes to libhdf5, to rust-hdf5".to_owned());
            heads.push("metadata bytes a chunk".to_owned());
        }
        let mut text =
            format!("| {} |\n|---|{}\n", heads.join(" | "), "---:|".repeat(heads.len().saturating_sub(1)));
        for row in rows {
            let all = [&row.ours].into_iter().chain(&row.libhdf5).chain(&row.peer);
            let mut cells = vec![row.case.name.clone()];
            cells.extend(all.map(time));
            cells.extend([ratio(row.to_libhdf5()), ratio(row.to_peer())]);
            if limited {
                cells.push(row.limit.map_or(String::new(), number));
                cells.push(row.to_limit().map_or(String::new(), |times| format!("{times:.2}")));
            }
            cells.push(memory(row));
            if written {
                cells.extend([bytes(row), overhead(row)]);
            }
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        format!("{text}\n{}", self.reasons(rows))
    }

    /// Why somebody did not do something.
    fn reasons(&self, rows: &[&Row]) -> String {
        let mut text = String::new();
        for row in rows {
            let all = [&row.ours].into_iter().chain(&row.libhdf5).chain(&row.peer);
            for (outcome, name) in all.zip(&self.names) {
                let (word, why) = match outcome {
                    Outcome::Done { .. } => continue,
                    Outcome::Wrong(why) => ("wrong", why),
                    Outcome::Cannot(why) => ("unsupported", why),
                };
                let _ = writeln!(text, "- {}, {name}: {word}: {why}", row.case.name);
            }
        }
        if text.is_empty() { text } else { format!("{text}\n") }
    }

    fn counted(&self) -> String {
        if self.instructions.is_empty() {
            return String::new();
        }
        let heads: Vec<String> = self.names.iter().map(|name| format!("{name}, M")).collect();
        let mut text = "## Instructions\n\nMillions, as callgrind counts them; they do not depend on what else the machine \
                        does.\n\n"
            .to_owned();
        let rule = "---:|".repeat(heads.len().saturating_add(1));
        let _ = writeln!(text, "| workload | {} | ÷ libhdf5 |\n|---|{rule}", heads.join(" | "));
        for Instructions { name, counts } in &self.instructions {
            let millions = |count: &Option<u64>| {
                count.map_or("–".to_owned(), |count| format!("{:.1}", to_f64(count) / 1e6))
            };
            let cells: Vec<String> = counts.iter().map(millions).collect();
            let libhdf5 = self.names.iter().zip(counts).filter(|(name, _)| name.starts_with("libhdf5"));
            let least = libhdf5.filter_map(|(_, count)| *count).min();
            let ours = counts.first().copied().flatten();
            let to_least = ours.zip(least).map(|(ours, least)| to_f64(ours) / to_f64(least));
            let _ = writeln!(text, "| {name} | {} | {} |", cells.join(" | "), ratio(to_least));
        }
        text.push('\n');
        text
    }

    /// Where somebody is faster.
    fn behind(&self) -> String {
        let mut text = "## Behind\n\n".to_owned();
        let empty = text.len();
        for row in &self.rows {
            for (name, ratio) in [("libhdf5", row.to_libhdf5()), ("rust-hdf5", row.to_peer())] {
                if let Some(ratio) = ratio.filter(|ratio| *ratio > 1.0) {
                    let _ = writeln!(text, "- {}: {}: {ratio:.2} × {name}", row.case.section, row.case.name);
                }
            }
        }
        if text.len() == empty {
            text.push_str("Nowhere.\n");
        }
        text.push('\n');
        text
    }
}

fn number(seconds: f64) -> String {
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
    }
}

/// Bold where somebody else is faster.
fn ratio(ratio: Option<f64>) -> String {
    match ratio {
        None => "–".to_owned(),
        Some(ratio) if ratio > 1.0 => format!("**{ratio:.2}**"),
        Some(ratio) if ratio < 0.1 => format!("{ratio:.3}"),
        Some(ratio) => format!("{ratio:.2}"),
    }
}

fn memory(row: &Row) -> String {
    let mib = |bytes: Option<f64>| {
        bytes.map_or("–".to_owned(), |bytes| format!("{:.1}", bytes / f64::from(1 << 20)))
    };
    let peer = row.peer.as_ref().and_then(Outcome::peak);
    format!("{}, {}, {}", mib(row.ours.peak()), mib(row.least(Outcome::peak)), mib(peer))
}

fn bytes(row: &Row) -> String {
    if row.case.program != Program::Write {
        return String::new();
    }
    let to = |other: Option<u64>| {
        let both = row.ours.sum().zip(other);
        both.map_or("–".to_owned(), |(ours, other)| format!("{:.3}", to_f64(ours) / to_f64(other)))
    };
    let libhdf5 = row.libhdf5.iter().filter_map(Outcome::sum).min();
    format!("{}, {}", to(libhdf5), to(row.peer.as_ref().and_then(Outcome::sum)))
}

/// What the file has beyond the data, for each chunk: ours, libhdf5's, the peer's.
fn overhead(row: &Row) -> String {
    let Some((chunks, data)) = row.case.chunks else { return String::new() };
    let of = |bytes: Option<u64>| match bytes {
        Some(bytes) => format!("{:.1}", to_f64(bytes.saturating_sub(data)) / to_f64(chunks)),
        None => "–".to_owned(),
    };
    let libhdf5 = row.libhdf5.iter().filter_map(Outcome::sum).min();
    format!("{}, {}, {}", of(row.ours.sum()), of(libhdf5), of(row.peer.as_ref().and_then(Outcome::sum)))
}

/// What a program prints, if it runs.
fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).current_dir(workspace::root()).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn machine() -> String {
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
