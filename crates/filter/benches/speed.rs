//! Speed of decoding and encoding chunks of 1 MiB, compared with the CPU time of libhdf5 for the
//! same chunks.
//!
//! `cargo bench -p hyperslab-filter --bench speed [-- PART_OF_A_NAME]`. The Python interpreter with
//! the referee lies in `.venv/` or is named in `HYPERSLAB_REFEREE_PYTHON`. One thread; the ratio is
//! our time divided by the time of libhdf5.
#![expect(clippy::print_stdout, reason = "this is a program that reports")]

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hyperslab_filter::{ChunkTarget, FilterId, Pipeline, Registry, Scratch, Stage};
use hyperslab_testkit::referee;

/// The minimum duration of each measurement.
const MIN_MEASUREMENT: Duration = Duration::from_millis(200);

fn main() -> Result<()> {
    let Some(referee) = referee::python() else { return Ok(()) };
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let folder = tempfile::tempdir()?;
    let arguments = [folder.path().as_os_str(), wanted.as_ref()];
    let cases = referee.run_script(include_str!("speed.py"), arguments)?;
    println!("{:28}|      decode MB/s  libhdf5  ratio |      encode MB/s  libhdf5  ratio | bytes", "");
    for line in cases.lines() {
        let (name, rest) = line.split_once(';').context("a line without a name")?;
        run(name, rest, |kind| Ok(std::fs::read(folder.path().join(format!("{name}.{kind}")))?))
            .with_context(|| name.to_owned())?;
    }
    Ok(())
}

fn run(name: &str, rest: &str, bytes: impl Fn(&str) -> Result<Vec<u8>>) -> Result<()> {
    let (raw, stored) = (bytes("raw")?, bytes("chunk")?);
    let mut parts = rest.split(';');
    let pipeline = parse(parts.next().unwrap_or_default())?;
    let mut theirs = || parts.next().context("a time is missing")?.parse::<f64>().context("not a time");
    let (read, write) = (theirs()?, theirs()?);
    let (registry, mut scratch) = (Registry::default(), Scratch::default());
    let target = ChunkTarget::of_length(raw.len());
    let mut out = vec![0; raw.len()];
    let decode = time(|| {
        pipeline.decode_into(&registry, 0, &stored, &mut out, &target, &mut scratch)?;
        Ok(())
    })?;
    ensure!(out == raw, "decoded to something else");
    let mut length = 0;
    let encode = time(|| {
        length = pipeline.encode_chunk_with(&registry, &raw[..], &target, &mut scratch)?.0.len();
        Ok(())
    })?;
    #[expect(clippy::cast_precision_loss, reason = "chunks are small")]
    let speed = |seconds: f64| raw.len() as f64 / seconds / 1e6;
    println!(
        "{name:28}| {:16.0} {:8.0} {:6.2} | {:16.0} {:8.0} {:6.2} | {} -> {} (theirs {})",
        speed(decode),
        speed(read),
        decode / read,
        speed(encode),
        speed(write),
        encode / write,
        raw.len(),
        length,
        stored.len(),
    );
    Ok(())
}

/// Parses filters in the form `number client data|number client data`.
fn parse(filters: &str) -> Result<Pipeline> {
    let stage = |text: &str| {
        let numbers: Vec<u32> = text.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let (id, client_data) = numbers.split_first().context("no filter")?;
        Ok(Stage::new(FilterId(u16::try_from(*id)?), client_data))
    };
    Ok(Pipeline::new(filters.split('|').map(stage).collect::<Result<_>>()?))
}

/// Returns the shortest time of many runs in seconds.
fn time(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let (begin, mut best) = (Instant::now(), Duration::MAX);
    for round in 0.. {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
        if round > 4 && begin.elapsed() > MIN_MEASUREMENT {
            break;
        }
    }
    Ok(best.as_secs_f64())
}
