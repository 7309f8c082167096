//! Benchmark cases with hyperslab in a process of its own, as the C programs run them with libhdf5.

use std::io::{BufRead as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab::Durability;

use crate::clock::{self, Cost};
use crate::writes::Inputs;
use crate::{arrays, metadata, writes};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let [mode, rest @ ..] = args else { bail!("expected read, write or metadata") };
    let mapped = rest.first().is_some_and(|word| word == "mapped");
    let mut buffers = arrays::Buffers::new(mapped);
    // libhdf5 provides no durability either.
    let mut inputs = Inputs::new(Durability::None);
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (line, peak) = line.strip_prefix("peak ").map_or((line.as_str(), false), |rest| (rest, true));
        clock::measure_memory(peak);
        let answer = match run_case(mode, line, &mut buffers, &mut inputs) {
            Ok((took, sum)) => format!("{:.9} {:.9} {sum}", took.wall, took.cpu),
            Err(error) => format!("unsupported {}", format!("{error:#}").replace('\n', " ")),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn run_case(
    mode: &str,
    line: &str,
    buffers: &mut arrays::Buffers,
    inputs: &mut Inputs,
) -> Result<(Cost, u64)> {
    let (kind, rest) = line.split_once(' ').context("no file")?;
    let (path, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let (path, description) = (Path::new(path), format!("{kind} {rest}"));
    match mode {
        "read" => arrays::read(path, &description, buffers),
        "write" => writes::make(path, &description, inputs),
        "metadata" => metadata::read(path, &description),
        _ => bail!("unknown mode `{mode}`"),
    }
}
