//! Everything against libhdf5 and `rust-hdf5` in one run, with what the machine gives and what memory it takes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use hyperslab_testkit::workspace;

use crate::contest::{Case, Contest, Limit, Outcome, Program, Row, threads};
use crate::libhdf5::{self, Libhdf5};
use crate::limits::Limits;
use crate::report::{Instructions, Report};
use crate::{arrays, writes};

const ROUNDS: u64 = 7;

/// Files that libhdf5 makes for the metadata to be read: the name and what it is asked for.
const MADE: &[(&str, &str)] = &[
    ("metadata_objects_earliest", "objects 0 10000"),
    ("metadata_objects_v110", "objects 2 10000"),
    ("metadata_attributes", "attributes 1 10000"),
    ("metadata_links_earliest", "links 0 100000"),
    ("metadata_links_v18", "links 1 100000"),
];

/// Name, file and what is read; and whether instructions are counted.
const METADATA: &[(&str, &str, &str, bool)] = &[
    ("list of 10 000 datasets, earliest", "metadata_objects_earliest", "list", true),
    ("list of 10 000 datasets, v110", "metadata_objects_v110", "list", true),
    ("10 000 datasets read, 2 attributes each, earliest", "metadata_objects_earliest", "objects", true),
    ("10 000 datasets read, 2 attributes each, v110", "metadata_objects_v110", "objects", true),
    ("10 000 attributes of one group read", "metadata_attributes", "attributes", true),
    ("names of 100 000 links, earliest", "metadata_links_earliest", "links", true),
    ("names of 100 000 links, v18", "metadata_links_v18", "links", true),
    ("10 000 of 100 000 links opened, earliest", "metadata_links_earliest", "lookup 10000 100000 3", true),
    ("10 000 of 100 000 links opened, v18", "metadata_links_v18", "lookup 10000 100000 3", true),
];

/// Name, file, lower bound of the library and unlimited dimensions.
const INDEXES: &[(&str, &str, u32, u32)] = &[
    ("B-tree v1", "index_btree1", 1, 1),
    ("fixed array", "index_fixed", 2, 0),
    ("extensible array", "index_extensible", 2, 1),
    ("B-tree v2", "index_btree2", 2, 2),
];

/// Chunks of each index, and the elements of one.
const CHUNKS: u64 = 100_000;
const CHUNK: u64 = 64;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut rounds, mut only) = (ROUNDS, None);
    for arg in args {
        match arg.strip_prefix("only=") {
            Some(text) => only = Some(text),
            None => rounds = arg.parse().with_context(|| format!("`{arg}`: what is that?"))?,
        }
    }
    ensure!(rounds > 0, "no rounds");
    let mut cases = [arrays::cases()?, writes::cases()?, metadata()?, indexes()?].concat();
    cases.retain(|case| only.is_none_or(|text| format!("{}: {}", case.section, case.name).contains(text)));
    ensure!(!cases.is_empty(), "nothing is called so");
    let library = Libhdf5::find()?;
    arrays::make_inputs(&library, &cases)?;
    let mut contest = Contest::new(library)?;
    make_metadata(&contest, &cases)?;
    let (mut limits, mut rows, mut instructions) = (Limits::default(), Vec::new(), Vec::new());
    let copied = [1, threads()].map(|threads| limits.copied(threads, rounds));
    for case in cases {
        let name = format!("{}: {}", case.section, case.name);
        let row = measure(&mut contest, &mut limits, case, rounds).with_context(|| name.clone())?;
        if row.case.counted {
            instructions.extend(count(&contest, &row)?);
        }
        println!("{name}: {}", told(&row));
        rows.push(row);
    }
    let [one, all] = copied;
    let names = contest.contestants.iter().map(|one| one.name.clone()).collect();
    contest.finish()?;
    let report = Report { names, rounds, rows, instructions, copied: [one?, all?] };
    let folder =
        if only.is_some() { libhdf5::folder()?.join("compare") } else { workspace::root().join("docs") };
    report.write(&folder)?;
    println!("\n{}", folder.join("benchmarks.md").display());
    let failed = report.rows.iter().filter(|row| row.ours.wall().is_none()).count();
    ensure!(failed == 0, "hyperslab did not do {failed} of them");
    Ok(())
}

fn measure(contest: &mut Contest, limits: &mut Limits, case: Case, rounds: u64) -> Result<Row> {
    let mut outcomes = contest.measure(&case, rounds)?;
    let limit = match limits.of(&case, rounds) {
        Ok(limit) => limit,
        Err(error) => {
            println!("{}: no limit: {error:#}", case.name);
            None
        }
    };
    contest.weigh(&case, &mut outcomes)?;
    contest.row(case, outcomes, limit)
}

/// A line for who waits.
fn told(row: &Row) -> String {
    let ratio = |ratio: Option<f64>| ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
    let mut line = format!(
        "{:.2} ms, {} × libhdf5, {} × rust-hdf5",
        row.ours.wall().unwrap_or(f64::NAN) * 1e3,
        ratio(row.to_libhdf5()),
        ratio(row.to_peer())
    );
    if let Some(times) = row.to_limit() {
        let word = if times > row.case.limit.bound() { ", too much" } else { "" };
        line = format!("{line}, {times:.2} × limit{word}");
    }
    if let Outcome::Cannot(why) | Outcome::Wrong(why) = &row.ours {
        line = format!("{line} ({why})");
    }
    line
}

fn metadata() -> Result<Vec<Case>> {
    let folder = libhdf5::folder()?;
    let case = |&(name, file, what, counted): &(&str, &str, &str, bool)| Case {
        counted,
        ..case("Reading metadata", name, Program::Metadata, folder.join(format!("{file}.h5")), what)
    };
    Ok(METADATA.iter().map(case).collect())
}

fn indexes() -> Result<Vec<Case>> {
    let folder = libhdf5::folder()?;
    let mut cases = Vec::new();
    for (name, file, low, unlimited) in INDEXES {
        let path = folder.join(format!("array_{file}.h5"));
        let part = |what: &str, program: Program, path: &Path, line: &str| {
            case("Chunk indexes", &format!("{name}: {what}"), program, path.to_owned(), line)
        };
        let written = folder.join("written.h5");
        for (order, step) in [("100 000 inserted", 1), ("100 000 inserted, scattered", 7919)] {
            let line = format!("insert {low} {CHUNKS} {CHUNK} {unlimited} {step}");
            let mut case = part(order, Program::Write, &written, &line);
            case.check = writes::check(&line);
            case.chunks = Some((CHUNKS, CHUNKS.saturating_mul(CHUNK).saturating_mul(8)));
            cases.push(case);
        }
        cases.push(part("20 000 looked up", Program::Metadata, &path, "sizes 20000 5"));
        cases.push(part("20 000 read as stored", Program::Metadata, &path, "chunks 20000 5"));
        cases.push(part("all walked", Program::Metadata, &path, "walk"));
    }
    Ok(cases)
}

fn case(section: &'static str, name: &str, program: Program, path: PathBuf, what: &str) -> Case {
    let limit = Limit::model(program, &path, what);
    Case {
        section,
        name: name.to_owned(),
        program,
        path,
        what: what.to_owned(),
        aim: 1.0,
        check: None,
        cold: false,
        limit,
        chunks: None,
        counted: false,
    }
}

/// Has libhdf5 make the files whose metadata is read, those that are not there yet.
fn make_metadata(contest: &Contest, cases: &[Case]) -> Result<()> {
    for (name, what) in MADE {
        let path = libhdf5::folder()?.join(format!("{name}.h5"));
        if path.exists() || !cases.iter().any(|case| case.path == path) {
            continue;
        }
        let part = path.with_extension("part");
        let mut reader = crate::reader::Reader::start(&mut contest.command(1, Program::Write)?)?;
        let (kind, rest) = what.split_once(' ').context("no numbers")?;
        reader.ask(&format!("{kind} {} {rest}", part.display()))?;
        reader.finish()?;
        std::fs::rename(part, path)?;
    }
    Ok(())
}

/// Instructions that each needs, as callgrind counts them; nothing where there is no valgrind.
fn count(contest: &Contest, row: &Row) -> Result<Option<Instructions>> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Ok(None);
    }
    let outcomes = [&row.ours].into_iter().chain(&row.libhdf5).chain(&row.peer);
    let mut counts = Vec::new();
    for (at, outcome) in outcomes.enumerate() {
        let quick = outcome.wall().is_some_and(|wall| wall < 2.0);
        let of = |line: &str| counted(&contest.command(at, row.case.program)?, line);
        counts.push(if quick { Some(of(&row.case.line())?.saturating_sub(of("")?)) } else { None });
    }
    Ok(Some(Instructions { name: row.case.name.clone(), counts }))
}

/// Instructions of a program that is given one line, or none.
fn counted(program: &Command, line: &str) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let input = libhdf5::folder()?.join("counted.txt");
    std::fs::write(&input, if line.is_empty() { String::new() } else { format!("{line}\n") })?;
    let output = command.stdin(std::fs::File::open(&input)?).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let number = said.lines().find_map(|line| line.split("Collected :").nth(1)).map(str::trim);
    match number.map(str::parse) {
        Some(Ok(number)) => Ok(number),
        _ => bail!("callgrind: {said}"),
    }
}
