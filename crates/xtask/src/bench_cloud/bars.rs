//! The bars of the benchmark: limits of rounds, bytes and times that hyperslab keeps.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use hyperslab_testkit::web::Server;

use super::{Cost, Costs, own_cost, read};

/// The label of the reader that is measured against the bars.
pub(super) const OWN: &str = "hyperslab, asynchronous";

/// The file with one contiguous dataset without filters, without its extension.
pub(super) const PLAIN: &str = "plain";

/// The levels of groups and datasets below the root group of the file.
const DEPTH: u64 = 2;

/// The number of reads of the contiguous dataset, of which the fastest counts.
const READS: usize = 5;

/// The start of the rows for the speed.
const SPEED_ROW: &str = "| unfiltered data from loopback";

/// The size of a page of memory.
const PAGE_BYTES: usize = 4096;

/// Returns the table of the bars for one file under one delay.
pub(super) fn rows(costs: &Costs, reader: &Path, url: &str) -> Result<String> {
    let about = read(reader, url, "big", "")?;
    let number = |key: &str| about.get("dataset").and_then(|dataset| dataset.get(key)?.as_u64());
    let (chunks, stored) = number("chunks").zip(number("stored")).context("no description of `big`")?;
    let mut table = String::from("| bar | measured | limit | |\n|---|---:|---:|---|\n");
    for (label, name) in [(OWN, "asynchronous"), ("hyperslab, blocking", "blocking")] {
        let [Some(open), Some(list), Some(big)] = steps(costs, label) else { continue };
        let mut row = |what: &str, measured: f64, limit: f64, unit: &str| -> Result<()> {
            let met = if measured <= limit { "met" } else { "**not met**" };
            writeln!(table, "| {what}, {name} | {measured:.2} {unit} | {limit:.2} {unit} | {met} |")?;
            Ok(())
        };
        row("open", float(open.rounds)?, 2.0, "rounds")?;
        row("list all", float(list.rounds)?, float(Some(DEPTH + 3))?, "rounds")?;
        row("list all", float(Some(list.bytes))? / 1e6, 20.0, "MB")?;
        row("read `big`", float(big.rounds)?, float(Some(2 + chunks / 32))?, "rounds")?;
        row("read `big`", float(Some(big.bytes))? / float(Some(stored))?, 1.3, "times the chunks")?;
        for (peer, share) in [("h5py-none", 0.15), ("zarr-kerchunk", 1.0)] {
            if let [_, _, Some(other)] = steps(costs, peer) {
                row(&format!("read `big`, {share} times {peer}"), big.seconds, share * other.seconds, "s")?;
            }
        }
    }
    Ok(table)
}

/// Returns the rows for the speed of reads of unfiltered data without a delay. The last rows are
/// the speeds of one connection whose bytes are not used, and of the first access to new memory.
pub(super) fn speed(folder: &Path, reader: &Path) -> Result<String> {
    let server = Server::start()?;
    server.put("a.h5", std::fs::read(folder.join(PLAIN).with_extension("h5"))?);
    let (mut asynchronous, mut blocking, mut bare, mut touched) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..READS {
        // The machine may be slower in some rounds, so that all of them read in each round.
        for (mode, best) in [("", &mut asynchronous), ("blocking", &mut blocking)] {
            let printed = read(reader, &server.url("a.h5"), "plain", mode)?;
            let cost = printed.get("read").and_then(own_cost).context("no read")?;
            *best = best.max(float(Some(cost.bytes))? / 1e9 / cost.seconds);
        }
        bare = bare.max(received(&server)?);
        touched = touched.max(first_access(server.get("a.h5").context("no object")?.len())?);
    }
    let mut rows = String::new();
    for (name, best) in [("asynchronous", asynchronous), ("blocking", blocking)] {
        let met = if best >= 1.0 { "met" } else { "**not met**" };
        writeln!(rows, "{SPEED_ROW}, {name} | {best:.2} GB/s | at least 1.00 GB/s | {met} |")?;
    }
    writeln!(rows, "| the same bytes by one connection, without a use of them | {bare:.2} GB/s | | |")?;
    writeln!(
        rows,
        "| the first access to new memory for as many bytes, without a read | {touched:.2} GB/s | | |"
    )?;
    Ok(rows)
}

/// Returns a table whose rows for the speed are replaced: all rows from the first one about
/// unfiltered data to the end of the bars.
pub(super) fn with_speed(table: &str, rows: &str) -> Result<String> {
    let start = table.find(SPEED_ROW).context("the table has no rows for the speed")?;
    let (before, old) = table.split_at(start);
    let (_, after) = old.split_once("\n\n").context("the table ends with the speed")?;
    Ok(format!("{before}{rows}\n{after}"))
}

/// Receives a whole object from the server by one connection. Returns the gigabytes per second.
fn received(server: &Server) -> Result<f64> {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port()))?;
    let start = Instant::now();
    stream.write_all(b"GET /a.h5 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")?;
    let length = server.get("a.h5").context("no object")?.len();
    let (mut buffer, mut got) = (vec![0; 1 << 20], 0);
    while got < length {
        match stream.read(&mut buffer)? {
            0 => bail!("the server ended the connection"),
            count => got += count,
        }
    }
    Ok(float(Some(u64::try_from(got)?))? / 1e9 / start.elapsed().as_secs_f64())
}

/// Allocates a buffer and writes to each of its pages. Returns the gigabytes per second.
fn first_access(length: usize) -> Result<f64> {
    let start = Instant::now();
    let mut buffer = vec![0_u8; length];
    buffer.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 1);
    std::hint::black_box(&buffer);
    Ok(float(Some(u64::try_from(length)?))? / 1e9 / start.elapsed().as_secs_f64())
}

fn steps(costs: &Costs, label: &str) -> [Option<Cost>; 3] {
    costs.get(label).copied().unwrap_or([None; 3])
}

/// Returns a count as a number with a fraction.
fn float(count: Option<u64>) -> Result<f64> {
    Ok(count.context("no count")?.to_string().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_for_the_speed_are_replaced() {
        let table = format!("### Bars\n| open |\n{SPEED_ROW}, old |\n| bare |\n\n### Other\n{SPEED_ROW} |\n");
        let changed = with_speed(&table, "| new |\n| rows |\n").unwrap();
        assert_eq!(changed, format!("### Bars\n| open |\n| new |\n| rows |\n\n### Other\n{SPEED_ROW} |\n"));
        assert!(with_speed("| open |\n\n", "").is_err());
    }
}
