//! The cost of durability: with a journal and syncs, with a journal alone, with neither, and
//! libhdf5 with a sync at the end.

use std::path::Path;

use anyhow::Result;
use hyperslab::Durability;

use crate::clock::Cost;
use crate::libhdf5::{self, Libhdf5};
use crate::reader::Reader;
use crate::table::median;
use crate::writes::{Inputs, make};

const WORKLOADS: &[(&str, &str)] = &[
    ("10 000 datasets, 2 attributes each", "objects 1 10000"),
    ("1 GiB, chunks of 1 MiB", "arrays 1 f32 none 16384 16384 512 512"),
    ("1 GiB, contiguous", "arrays 1 f32 none 16384 16384 0 0"),
    ("100 000 appends", "append 2 100000 64 1"),
    ("1000 appends, each flushed", "flushes 2 1000 64"),
];

const WAYS: [Durability; 3] = [Durability::Full, Durability::Ordered, Durability::None];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let rounds: u32 = args.first().map_or(Ok(5), |rounds| rounds.parse())?;
    let only = args.get(1).map_or("", String::as_str);
    let library = Libhdf5::find()?;
    let mut synced = library.serve_with("write_files", &library.library, &["sync"])?;
    let mut plain = library.serve("write_files")?;
    let path = libhdf5::folder()?.join("durable.h5");
    println!("{rounds} rounds, medians of the wall time in ms; libhdf5 {}\n", library.version);
    println!(
        "| file | Full | Ordered | None | libhdf5, synced | libhdf5 | Full / None | Full / libhdf5, synced | None / libhdf5 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, description) in WORKLOADS.iter().filter(|(name, _)| name.contains(only)) {
        measure(name, description, &path, rounds, &mut [&mut synced, &mut plain])?;
    }
    std::fs::remove_file(&path)?;
    synced.finish()?;
    plain.finish()
}

fn measure(
    name: &str,
    description: &str,
    path: &Path,
    rounds: u32,
    peers: &mut [&mut Reader; 2],
) -> Result<()> {
    let (kind, rest) = description.split_once(' ').unwrap_or((description, ""));
    let line = format!("{kind} {} {rest}", path.display());
    let mut inputs = Inputs::default();
    let mut times: [Vec<f64>; 5] = Default::default();
    for round in 0..=rounds {
        let mut took: Vec<Cost> = Vec::new();
        for durability in WAYS {
            inputs.durability = durability;
            took.push(make(path, description, &mut inputs)?.0);
        }
        for peer in peers.iter_mut() {
            took.push(peer.ask(&line)?.0);
        }
        // The first round warms up and is not counted.
        if round > 0 {
            times.iter_mut().zip(took).for_each(|(times, took)| times.push(took.wall * 1e3));
        }
    }
    let [full, ordered, none, synced, plain] = times.map(|times| median(&times));
    println!(
        "| {name} | {full:.1} | {ordered:.1} | {none:.1} | {synced:.1} | {plain:.1} | {:.2} | {:.2} | {:.2} |",
        full / none,
        full / synced,
        none / plain
    );
    Ok(())
}
