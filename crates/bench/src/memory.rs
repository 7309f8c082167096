//! The peak memory of reading a part of a large dataset. Hyperslab and libhdf5 each run in a
//! process of their own.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use hyperslab::{File, Region, Selection};

use crate::libhdf5::{self, Libhdf5};

/// Parts of a dataset of 32768 by 32768 f32 in chunks of 512 by 512: start and size.
const PARTS: &[(&str, [u64; 2], [u64; 2])] = &[
    ("one row of chunks", [1024, 0], [512, 32768]),
    ("rows across chunks", [1000, 0], [300, 32768]),
    ("columns across chunks", [0, 5000], [32768, 300]),
    ("a small box", [777, 777], [64, 64]),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    if let [command, rest @ ..] = args
        && command == "child"
    {
        return child(rest);
    }
    let library = Libhdf5::find()?;
    let folder = libhdf5::folder()?;
    let target = folder.to_str().context("the path is not UTF-8")?;
    library.script(include_str!("../make_arrays.py"), &[target, "tall"])?;
    let path = folder.join("array_tall.h5");
    println!("Peak memory while a part of 4 GiB of f32 (gzip) is read; libhdf5 {}\n", library.version);
    println!("| part | its size | hyperslab | libhdf5 | hyperslab beyond the part |\n|---|---|---|---|---|");
    for (name, start, count) in PARTS {
        let numbers = [start[0], start[1], count[0], count[1]].map(|number| number.to_string());
        let output = Command::new(std::env::current_exe()?)
            .args(["memory", "child"])
            .arg(&path)
            .args(&numbers)
            .output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let ours: u64 = String::from_utf8(output.stdout)?.trim().parse()?;
        let mut peer = library.serve("read_arrays")?;
        let [a, b, c, d] = &numbers;
        peer.ask(&format!("slab {} f32 2 {a} {b} {c} {d} 1 1", path.display()))?;
        let (theirs, _) = peer.ask("peak now")?;
        peer.finish()?;
        let size = count.iter().product::<u64>() * 4;
        let mib = |bytes: f64| bytes / f64::from(1 << 20);
        println!(
            "| {name} | {:.1} MiB | {:.1} MiB | {:.1} MiB | {:.1} MiB |",
            mib(to_f64(size)),
            mib(to_f64(ours)),
            mib(theirs.wall),
            mib(to_f64(ours) - to_f64(size)),
        );
    }
    Ok(())
}

fn to_f64(bytes: u64) -> f64 {
    f64::from(u32::try_from(bytes >> 10).unwrap_or(u32::MAX)) * 1024.0
}

/// Reads the part, and prints the peak memory of the process in bytes.
fn child(args: &[String]) -> Result<()> {
    let (path, numbers) = args.split_first().context("no file")?;
    let numbers: Result<Vec<u64>, _> = numbers.iter().map(|word| word.parse()).collect();
    let numbers = numbers?;
    let [a, b, c, d] = numbers.as_slice() else { anyhow::bail!("expected four numbers") };
    let dataset = File::open(path)?.dataset("x")?;
    let values = dataset.read_raw::<f32>(&Selection::region(&Region::new(&[*a, *b], &[*c, *d])?))?;
    ensure!(values.len() as u64 == c * d, "the read returned another number of elements");
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("no VmHWM")?;
    let kib: u64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
    println!("{}", kib << 10);
    Ok(())
}
