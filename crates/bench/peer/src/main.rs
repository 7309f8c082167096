//! Benchmark cases with the crate `rust-hdf5`, as the C programs beside this one run them with
//! libhdf5: `hyperslab-bench-peer read|write|metadata`. Each line on standard input is one case.
//! The answer is one line: seconds, processor seconds and a sum, or `unsupported` and the reason.
//! For a line that begins with `peak`, the answer is bytes of memory in place of seconds.
#![forbid(unsafe_code)]

#[path = "../../src/clock.rs"]
mod clock;
mod metadata;
mod read;
#[path = "../../src/sum.rs"]
mod sum;
mod write;

use std::io::{BufRead as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, bail};

use clock::Cost;

/// Memory that is reused by later cases.
#[derive(Debug, Default)]
struct Reused {
    buffers: read::Buffers,
    inputs: write::Inputs,
}

fn main() -> Result<()> {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let mut reused = Reused::default();
    // A panic becomes an answer, so its message is suppressed.
    std::panic::set_hook(Box::new(|_| {}));
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (line, peak) = line.strip_prefix("peak ").map_or((line.as_str(), false), |rest| (rest, true));
        clock::measure_memory(peak);
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = catch_unwind(AssertUnwindSafe(|| run_case(&mode, &words, &mut reused)));
        let answer = match answer {
            Ok(Ok((took, sum))) => format!("{:.9} {:.9} {sum}", took.wall, took.cpu),
            Ok(Err(error)) => format!("unsupported {}", format!("{error:#}").replace('\n', " ")),
            Err(_) => "unsupported the crate panics".to_owned(),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn run_case(mode: &str, words: &[&str], reused: &mut Reused) -> Result<(Cost, u64)> {
    let [kind, path, rest @ ..] = words else { bail!("expected an operation and a file") };
    match mode {
        "read" => read::read(kind, path, rest, &mut reused.buffers),
        "write" => write::write(kind, path, rest, &mut reused.inputs),
        "metadata" => metadata::read(kind, path, rest),
        _ => bail!("unknown mode `{mode}`"),
    }
}
