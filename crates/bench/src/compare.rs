//! The comparison of all cases with libhdf5 and `rust-hdf5` in one run, with the limits of the
//! machine and the memory.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use hyperslab_testkit::workspace;

use crate::case::{Case, Program};
use crate::contest::{Contest, threads};
use crate::instructions::Counter;
use crate::libhdf5::{self, Libhdf5};
use crate::limits::Limits;
use crate::outcome::{Outcome, Role, Row};
use crate::reader::TimedOut;
use crate::report::Report;
use crate::slower::{self, Causes};
use crate::{arrays, sparse, writes};

const ROUNDS: u64 = 5;

/// Files for the metadata cases, which libhdf5 writes: the name and the request.
const METADATA_FILES: &[(&str, &str)] = &[
    ("metadata_objects_earliest", "objects 0 10000"),
    ("metadata_objects_v110", "objects 2 10000"),
    ("metadata_attributes", "attributes 1 10000"),
    ("metadata_links_earliest", "links 0 100000"),
    ("metadata_links_v18", "links 1 100000"),
];

/// Metadata cases: name, file, request, and a flag that is true if instructions are counted.
const METADATA: &[(&str, &str, &str, bool)] = &[
    ("list of 10 000 datasets, earliest", "metadata_objects_earliest", "list", true),
    ("list of 10 000 datasets, v110", "metadata_objects_v110", "list", true),
    ("10 000 datasets visited, v110", "metadata_objects_v110", "visit", true),
    ("10 000 datasets read, 2 attributes each, earliest", "metadata_objects_earliest", "objects", true),
    ("10 000 datasets read, 2 attributes each, v110", "metadata_objects_v110", "objects", true),
    ("10 000 attributes of one group read", "metadata_attributes", "attributes", true),
    ("names of 100 000 links, earliest", "metadata_links_earliest", "links", true),
    ("names of 100 000 links, v18", "metadata_links_v18", "links", true),
    ("10 000 of 100 000 links opened, earliest", "metadata_links_earliest", "lookup 10000 100000 3", true),
    ("10 000 of 100 000 links opened, v18", "metadata_links_v18", "lookup 10000 100000 3", true),
];

/// Chunk indexes: name, file, lower library bound, and number of unlimited dimensions.
const INDEXES: &[(&str, &str, u32, u32)] = &[
    ("B-tree v1", "index_btree1", 1, 1),
    ("fixed array", "index_fixed", 2, 0),
    ("extensible array", "index_extensible", 2, 1),
    ("B-tree v2", "index_btree2", 2, 2),
];

/// Number of chunks in each index, and number of elements in a chunk.
const CHUNK_COUNT: u64 = 100_000;
const CHUNK_ELEMENTS: u64 = 64;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut rounds, mut only) = (ROUNDS, None);
    for arg in args {
        match arg.strip_prefix("only=") {
            Some(text) => only = Some(text),
            None => rounds = arg.parse().with_context(|| format!("`{arg}` is not a number of rounds"))?,
        }
    }
    ensure!(rounds > 0, "no rounds");
    let cases = cases(only)?;
    let sparse = only.is_none_or(|text| sparse::SECTION.contains(text));
    ensure!(!cases.is_empty() || sparse, "no case has this name");
    let library = Libhdf5::find()?;
    arrays::make_inputs(&library, &cases)?;
    make_metadata(&library, &cases)?;
    let mut contest = Contest::new(library)?.with_python()?.with_mapped()?;
    let (mut limits, mut rows, mut counter) = (Limits::default(), Vec::new(), Counter::default());
    let copied = [1, threads()].map(|threads| limits.copied(threads, rounds));
    for case in cases {
        let name = format!("{}: {}", case.section, case.name);
        let row = measure(&mut contest, &mut limits, case, rounds).with_context(|| name.clone())?;
        if row.case.counted {
            counter.count(&contest, &row)?;
        }
        println!("{name}: {}", progress_line(&row));
        rows.push(row);
        contest.end_large_programs();
    }
    let [one, all] = copied;
    drop(contest);
    let causes = Causes::read(&workspace::root().join("docs/benchmarks/causes.md"))?;
    for line in causes.unused(&rows, only.is_none()) {
        println!("{line}");
    }
    let sparse = if sparse { sparse_section() } else { String::new() };
    let report = Report { rounds, rows, counter, causes, sparse, copied: [one?, all?] };
    let folder =
        if only.is_some() { libhdf5::folder()?.join("compare") } else { workspace::root().join("docs") };
    report.write(&folder)?;
    println!("\n{}{}", slower::summary(&report.rows), folder.join("benchmarks.md").display());
    let failed = report.rows.iter().filter(|row| row.wall().is_none()).count();
    ensure!(failed == 0, "hyperslab failed in {failed} cases");
    Ok(())
}

/// Returns the section about sparse matrices, or an empty text if the required packages are not
/// installed.
fn sparse_section() -> String {
    sparse::section().unwrap_or_else(|error| {
        println!("sparse matrices are skipped: {error:#}");
        String::new()
    })
}

/// Returns the cases whose section and name contain `only`.
pub(crate) fn cases(only: Option<&str>) -> Result<Vec<Case>> {
    let mut cases = [arrays::cases()?, arrays::mapped()?, writes::cases()?, metadata()?, indexes()?].concat();
    cases.retain(|case| only.is_none_or(|text| format!("{}: {}", case.section, case.name).contains(text)));
    Ok(cases)
}

fn measure(contest: &mut Contest, limits: &mut Limits, case: Case, rounds: u64) -> Result<Row> {
    let mut entries = contest.measure(&case, rounds)?;
    let limit = match limits.of(&case, rounds) {
        Ok(limit) => limit,
        Err(error) => {
            println!("{}: cannot measure the limit: {error:#}", case.name);
            None
        }
    };
    contest.measure_memory(&case, &mut entries)?;
    Ok(Row { case, entries, limit })
}

/// Returns a line about a measured case, for the progress output.
fn progress_line(row: &Row) -> String {
    let mut line = format!("{:.2} ms", row.wall().unwrap_or(f64::NAN) * 1e3);
    let ratios = [("libhdf5", row.to_libhdf5()), ("rust-hdf5", row.to_peer()), ("limit", row.to_limit())];
    for (name, ratio) in ratios {
        if let Some(ratio) = ratio {
            line = format!("{line}, {ratio:.2} × {name}");
        }
    }
    line.push_str(&slower::misses_text(row));
    if let Some(Outcome::TimedOut) = row.of(Role::Hyperslab).next() {
        line = format!("{line} ({TimedOut})");
    }
    if let Some(Outcome::Cannot(why) | Outcome::Wrong(why)) = row.of(Role::Hyperslab).next() {
        line = format!("{line} ({why})");
    }
    line
}

fn metadata() -> Result<Vec<Case>> {
    let folder = libhdf5::folder()?;
    let case = |&(name, file, description, counted): &(&str, &str, &str, bool)| Case {
        counted,
        ..Case::new(
            "Reading metadata",
            name,
            Program::Metadata,
            folder.join(format!("{file}.h5")),
            description,
        )
    };
    Ok(METADATA.iter().map(case).collect())
}

fn indexes() -> Result<Vec<Case>> {
    let folder = libhdf5::folder()?;
    let mut cases = Vec::new();
    for (name, file, low, unlimited) in INDEXES {
        let path = folder.join(format!("array_{file}.h5"));
        let part = |description: &str, program: Program, path: &Path, line: &str| {
            Case::new("Chunk indexes", &format!("{name}: {description}"), program, path.to_owned(), line)
        };
        let written = folder.join("written.h5");
        for (order, step) in [("100 000 inserted", 1), ("100 000 inserted, scattered", 7919)] {
            let line = format!("insert {low} {CHUNK_COUNT} {CHUNK_ELEMENTS} {unlimited} {step}");
            let mut case = part(order, Program::Write, &written, &line);
            case.check = writes::check(&line);
            case.chunks = Some((CHUNK_COUNT, CHUNK_COUNT.saturating_mul(CHUNK_ELEMENTS).saturating_mul(8)));
            cases.push(case);
        }
        cases.push(part("20 000 looked up", Program::Metadata, &path, "sizes 20000 5"));
        cases.push(part("20 000 read as stored", Program::Metadata, &path, "chunks 20000 5"));
        cases.push(part("all walked", Program::Metadata, &path, "walk"));
    }
    Ok(cases)
}

/// Writes the missing metadata files with libhdf5.
pub(crate) fn make_metadata(library: &Libhdf5, cases: &[Case]) -> Result<()> {
    for (name, description) in METADATA_FILES {
        let path = libhdf5::folder()?.join(format!("{name}.h5"));
        if path.exists() || !cases.iter().any(|case| case.path == path) {
            continue;
        }
        let part = path.with_extension("part");
        let mut reader =
            crate::reader::Reader::start(&mut library.command(Program::Write.in_c(), &library.library)?)?;
        let (kind, rest) = description.split_once(' ').context("no numbers")?;
        reader.ask(&format!("{kind} {} {rest}", part.display()))?;
        reader.finish()?;
        std::fs::rename(part, path)?;
    }
    Ok(())
}
