//! The number of instructions of a case, which does not depend on the load of the machine.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Result, bail};

use crate::case::{self, Program};
use crate::contest::Contest;
use crate::outcome::{Entry, Role, Row};
use crate::table::to_f64;
use crate::{libhdf5, limits};

/// Largest number of seconds of a case whose instructions are counted. Counting takes about fifty
/// times as long.
const MAX_COUNTED_SECONDS: f64 = 0.3;

/// Counter of instructions, which runs programs under callgrind.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    /// Instructions of each program without a case.
    nothing: HashMap<(usize, Program), u64>,
    counts: Vec<Counted>,
}

/// The instructions of a case for hyperslab, the first libhdf5 and `rust-hdf5`.
#[derive(Debug)]
struct Counted {
    workload: String,
    each: Vec<(String, Role, Option<u64>)>,
}

impl Counter {
    /// Counts the instructions of a case. Does nothing if valgrind is not installed.
    pub(crate) fn count(&mut self, contest: &Contest, row: &Row) -> Result<()> {
        if Command::new("valgrind").arg("--version").output().is_err() {
            return Ok(());
        }
        let program = row.case.program;
        let (mut each, mut chosen) = (Vec::new(), Vec::new());
        for Entry { at, name, role, outcome } in &row.entries {
            // The counts of one libhdf5 are enough.
            if *role == Role::Python || each.iter().any(|(_, other, _)| other == role) {
                continue;
            }
            if outcome.wall().is_some_and(|wall| wall < MAX_COUNTED_SECONDS) {
                chosen.push((each.len(), *at, contest.command(*at, program)?));
            }
            each.push((name.clone(), *role, None));
        }
        // The counts run at the same time, because the load of the machine does not change them.
        let count = |at: usize, command: &Command| -> Result<(u64, u64)> {
            let known = self.nothing.get(&(at, program)).copied();
            let idle = known.map_or_else(|| counted(command, "", at), Ok)?;
            if program != Program::Write {
                return Ok((idle, counted(command, &row.case.line(), at)?));
            }
            // Each count writes its own file.
            let path = row.case.path.with_extension(format!("{at}.h5"));
            let count = counted(command, &case::line(&row.case.description, &path), at)?;
            std::fs::remove_file(path)?;
            Ok((idle, count))
        };
        let counts: Vec<Result<(u64, u64)>> = std::thread::scope(|scope| {
            let count = &count;
            let running: Vec<_> =
                chosen.iter().map(|(_, at, command)| scope.spawn(move || count(*at, command))).collect();
            running.into_iter().map(limits::joined).collect()
        });
        for ((place, at, _), counts) in chosen.iter().zip(counts) {
            let (idle, count) = counts?;
            self.nothing.insert((*at, program), idle);
            if let Some((_, _, found)) = each.get_mut(*place) {
                *found = Some(count.saturating_sub(idle));
            }
        }
        self.counts.push(Counted { workload: row.case.name.clone(), each });
        Ok(())
    }

    /// Returns a section of the report, empty if nothing was counted.
    pub(crate) fn section(&self) -> String {
        let Some(first) = self.counts.first() else { return String::new() };
        let heads: Vec<String> = first.each.iter().map(|(name, ..)| format!("{name}, M")).collect();
        let mut text = "## Instructions\n\ncallgrind counts the instructions, in millions. The counts do not depend on other \
                        programs on the machine. Cases that take too long are not counted.\n\n"
            .to_owned();
        let rule = "---:|".repeat(heads.len().saturating_add(1));
        let _ = writeln!(text, "| case | {} | ÷ libhdf5 |\n|---|{rule}", heads.join(" | "));
        for Counted { workload, each } in &self.counts {
            let millions = |count: &Option<u64>| {
                count.map_or("–".to_owned(), |count| format!("{:.1}", to_f64(count) / 1e6))
            };
            let cells: Vec<String> = each.iter().map(|(_, _, count)| millions(count)).collect();
            let least = |of: Role| {
                each.iter().filter(|(_, role, _)| *role == of).filter_map(|(_, _, count)| *count).min()
            };
            let both = least(Role::Hyperslab).zip(least(Role::Libhdf5));
            let ratio =
                both.map_or("–".to_owned(), |(ours, other)| format!("{:.2}", to_f64(ours) / to_f64(other)));
            let _ = writeln!(text, "| {workload} | {} | {ratio} |", cells.join(" | "));
        }
        text.push('\n');
        text
    }
}

/// Counts the instructions of a contestant's program that receives one line, or none if `line` is
/// empty.
fn counted(program: &Command, line: &str, at: usize) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let input = libhdf5::folder()?.join(format!("counted_{at}.txt"));
    std::fs::write(&input, if line.is_empty() { String::new() } else { format!("{line}\n") })?;
    let output = command.stdin(std::fs::File::open(&input)?).output()?;
    let reported = String::from_utf8_lossy(&output.stderr);
    let number = reported.lines().find_map(|line| line.split("Collected :").nth(1)).map(str::trim);
    match number.map(str::parse) {
        Some(Ok(number)) => Ok(number),
        _ => bail!("callgrind: {reported}"),
    }
}
