//! `cargo xtask bench-cloud`: requests, bytes and times of reads from a web server with a delay, of
//! hyperslab and of other libraries.

mod bars;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::web::{Served, Server};
use hyperslab_testkit::workspace;
use serde_json::Value;

use crate::{page_part, shell};

const SCRIPT: &str = "crates/cloud/bench/peers.py";
const REQUIREMENTS: &str = "crates/cloud/bench/requirements.txt";
const PAGE: &str = "docs/benchmarks/cloud.md";
const START: &str = "<!-- `cargo xtask bench-cloud` writes the lines from here to its end marker -->\n";
const END: &str = "<!-- end marker of bench-cloud -->";
const FILES: [&str; 3] = ["classic", "latest", "paged"];
/// The delay in milliseconds at which the bars are examined.
const BAR_DELAY: u64 = 50;
const PEERS: [&str; 6] = ["h5py-readahead", "h5py-blocks", "h5py-none", "pyfive", "h5coro", "zarr-kerchunk"];
const STEPS: [&str; 3] = ["open", "list", "read"];

/// The requests, bytes and seconds of one step.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    requests: u64,
    bytes: u64,
    seconds: f64,
    /// The rounds of waiting, which only hyperslab counts.
    rounds: Option<u64>,
}

/// The costs of the steps of each reader.
type Costs = BTreeMap<String, [Option<Cost>; 3]>;

/// Runs the benchmark. With `--update`, writes its table to the page of the book. With `--speed`,
/// measures and writes only the speed of reads of unfiltered data. With `--debug`, the build of
/// hyperslab is not optimized: the requests are the same, the times are not. With `--binary`,
/// another program reads the files, in place of a new build.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut update, mut speed, mut debug, mut binary, mut delays) = (false, false, false, None, Vec::new());
    let mut words = args.iter();
    while let Some(arg) = words.next() {
        match (arg.as_str(), arg.parse::<u64>()) {
            ("--update", _) => update = true,
            ("--speed", _) => speed = true,
            ("--debug", _) => debug = true,
            ("--binary", _) => binary = Some(PathBuf::from(words.next().context("--binary PROGRAM")?)),
            (_, Ok(delay)) => delays.push(delay),
            _ => bail!("cargo xtask bench-cloud [DELAY…] [--debug | --binary PROGRAM] [--update] [--speed]"),
        }
    }
    if delays.is_empty() {
        delays = vec![0, 20, BAR_DELAY, 100];
    }
    let interpreter = interpreter()?;
    let folder = workspace::root().join("target/bench/cloud");
    std::fs::create_dir_all(&folder)?;
    let script = workspace::root().join(SCRIPT);
    if !FILES.iter().chain(&[bars::PLAIN]).all(|name| folder.join(name).with_extension("h5").is_file()) {
        shell::run(Command::new(&interpreter).arg(&script).arg("write").arg(&folder))?;
    }
    let reader = match binary {
        Some(binary) => binary,
        None => build(debug)?,
    };
    if speed {
        let rows = bars::speed(&folder, &reader)?;
        println!("{rows}");
        return if update {
            page_part::change(PAGE, [START, END], |table| bars::with_speed(table, &rows))
        } else {
            Ok(())
        };
    }
    let (mut table, mut bars) = (String::new(), String::new());
    for delay in delays {
        for name in FILES {
            let bytes = std::fs::read(folder.join(name).with_extension("h5"))?;
            let server = Server::start()?;
            server.put("a.h5", bytes);
            server.set_delay(Duration::from_millis(delay));
            let costs = section(&mut table, &server, (name, delay), &reader, &interpreter, &script)?;
            if delay == BAR_DELAY && name == "classic" {
                bars = bars::rows(&costs, &reader, &server.url("a.h5"))?;
            }
        }
    }
    if !bars.is_empty() {
        let speed = bars::speed(&folder, &reader)?;
        table = format!("### Bars, classic.h5, {BAR_DELAY} ms\n\n{bars}{speed}{table}");
    }
    println!("{table}");
    if update {
        page_part::replace(PAGE, [START, END], &table)?;
    }
    Ok(())
}

/// Returns the Python with the peers: the one that a variable names, or an own environment.
fn interpreter() -> Result<PathBuf> {
    if let Some(python) = std::env::var_os("HYPERSLAB_CLOUD_PYTHON") {
        return Ok(python.into());
    }
    let venv = workspace::root().join("target/bench/cloud-venv");
    let python = venv.join("bin/python");
    if !python.is_file() {
        shell::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        shell::run(Command::new(&python).args(install).arg(workspace::root().join(REQUIREMENTS)))?;
        // Its requirements name older versions of other libraries than the ones that are measured.
        let alone = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "h5coro"];
        shell::run(Command::new(&python).args(alone))?;
    }
    Ok(python)
}

fn build(debug: bool) -> Result<PathBuf> {
    let mut build = vec!["build", "--package", "hyperslab-cloud", "--example", "cloud_reads"];
    if !debug {
        build.extend(["--profile", shell::DIST]);
    }
    shell::run(&mut shell::command(Path::new("cargo"), &build))?;
    let profile = if debug { "debug" } else { shell::DIST };
    Ok(workspace::root().join("target").join(profile).join("examples/cloud_reads"))
}

/// Measures one file under one delay, adds its table, and returns the costs.
fn section(
    table: &mut String,
    server: &Server,
    (name, delay): (&str, u64),
    reader: &Path,
    python: &Path,
    script: &Path,
) -> Result<Costs> {
    let url = server.url("a.h5");
    let mut all = Costs::new();
    write!(table, "\n### {name}.h5, {delay} ms\n\n")?;
    *table += "| | open | list all | read `big` |\n|---|---:|---:|---:|\n";
    for (mode, label) in [("", bars::OWN), ("blocking", "hyperslab, blocking")] {
        let printed = read(reader, &url, "big", mode)?;
        let costs = STEPS.map(|step| own_cost(printed.get(step)?));
        row(table, label, &costs)?;
        all.insert(label.to_owned(), costs);
    }
    for peer in PEERS {
        match peer_costs(server, peer, &url, python, script) {
            Ok(costs) => {
                let costs = STEPS.map(|step| costs.get(step).copied());
                row(table, peer, &costs)?;
                all.insert(peer.to_owned(), costs);
            }
            Err(error) => {
                println!("{peer}, {name}.h5: {error:#}");
                writeln!(table, "| {peer} | fails | | |")?;
            }
        }
    }
    Ok(all)
}

/// Runs the program that reads a file with hyperslab, and returns its document.
fn read(reader: &Path, url: &str, dataset: &str, mode: &str) -> Result<Value> {
    let mut command = Command::new(reader);
    command.args([url, dataset]).args(Some(mode).filter(|mode| !mode.is_empty()));
    let output = command.output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "hyperslab failed, {dataset}: {}", errors.trim());
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns the cost of a step that hyperslab printed.
fn own_cost(step: &Value) -> Option<Cost> {
    let field = |key: &str| step.get(key)?.as_u64();
    let seconds = step.get("seconds")?.as_f64()?;
    Some(Cost { requests: field("requests")?, bytes: field("bytes")?, seconds, rounds: field("rounds") })
}

fn row(table: &mut String, label: &str, costs: &[Option<Cost>; 3]) -> Result<()> {
    write!(table, "| {label} |")?;
    for cost in costs {
        let Some(cost) = cost else {
            write!(table, " |")?;
            continue;
        };
        let rounds = cost.rounds.map_or(String::new(), |rounds| format!("{rounds} rounds, "));
        let megabytes = f64::from(u32::try_from(cost.bytes / 1000)?) / 1000.0;
        write!(table, " {rounds}{} requests, {megabytes:.1} MB, {:.2} s |", cost.requests, cost.seconds)?;
    }
    writeln!(table)?;
    Ok(())
}

/// Runs a peer. The peer prints a line after each step and waits, so that the counts of the server
/// can be read.
fn peer_costs(
    server: &Server,
    peer: &str,
    url: &str,
    python: &Path,
    script: &Path,
) -> Result<BTreeMap<String, Cost>> {
    server.reset();
    let mut child = Command::new(python)
        .arg(script)
        .args(["read", peer, url, "big"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let mut input = input.context("no input of the peer")?;
    let mut costs: BTreeMap<String, Cost> = BTreeMap::new();
    let mut before = Served::default();
    for line in BufReader::new(output.context("no output of the peer")?).lines() {
        let value: Value = serde_json::from_str(&line?)?;
        if let Some(step) = value.get("step").and_then(Value::as_str) {
            let now = server.served();
            let (requests, bytes) = (now.requests - before.requests, now.bytes - before.bytes);
            costs.insert(step.to_owned(), Cost { requests, bytes, ..Cost::default() });
            before = now;
            writeln!(input)?;
        } else if let Some(steps) = value.as_object() {
            for (step, cost) in steps {
                let seconds = cost.get("seconds").and_then(Value::as_f64).context("no seconds")?;
                costs.entry(step.clone()).and_modify(|cost| cost.seconds = seconds);
            }
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "the peer failed");
    Ok(costs)
}
