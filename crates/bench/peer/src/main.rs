//! Does the work of the benchmarks with the crate `rust-hdf5`, as the C programs beside it do with libhdf5:
//! `hyperslab-bench-peer read|write|metadata`. Each line on standard input is one piece of work; the answer is one line:
//! seconds, seconds of the processors and a sum, or `unsupported` and why. A line that begins with `peak` is answered with
//! bytes of memory instead of seconds.
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

use clock::Took;

/// What is kept from one piece of work to the next.
#[derive(Debug, Default)]
struct Kept {
    buffers: read::Buffers,
    inputs: write::Inputs,
}

fn main() -> Result<()> {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let mut kept = Kept::default();
    // A panic is an answer too.
    std::panic::set_hook(Box::new(|_| {}));
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (line, peak) = line.strip_prefix("peak ").map_or((line.as_str(), false), |rest| (rest, true));
        clock::weigh(peak);
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = catch_unwind(AssertUnwindSafe(|| work(&mode, &words, &mut kept)));
        let answer = match answer {
            Ok(Ok((took, sum))) => format!("{:.9} {:.9} {sum}", took.wall, took.cpu),
            Ok(Err(error)) => format!("unsupported {}", format!("{error:#}").replace('\n', " ")),
            Err(_) => "unsupported it panics".to_owned(),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn work(mode: &str, words: &[&str], kept: &mut Kept) -> Result<(Took, u64)> {
    let [kind, path, rest @ ..] = words else { bail!("a kind of work and a file are needed") };
    match mode {
        "read" => read::read(kind, path, rest, &mut kept.buffers),
        "write" => write::write(kind, path, rest, &mut kept.inputs),
        "metadata" => metadata::read(kind, path, rest),
        _ => bail!("`{mode}`: what is that?"),
    }
}
