//! `cargo xtask bench-capi`: workloads of h5py over the C interface of hyperslab, and over the
//! libhdf5 that h5py brings. `--clients` runs workloads of PyTables and netCDF4-python. Both
//! libraries run in turns, each time in a new process.

mod clients;
mod report;
mod threads;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use hyperslab_testkit::workspace;

use self::clients::{Client, Clients};
use self::report::{Row, Sample};
use crate::capi;

const ROUNDS: usize = 5;
/// The variable that divides the sizes of the workloads of `--clients`, for a trial.
const SCALE: &str = "HYPERSLAB_BENCH_SCALE";

/// The options of a run.
#[derive(Debug, Default)]
struct Options {
    rounds: usize,
    update: bool,
    library: Option<PathBuf>,
    only: Vec<String>,
    /// True for the workloads of PyTables and netCDF4-python.
    clients: bool,
}

/// Runs the workloads and prints medians and ratios.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = options(args)?;
    let library = match &options.library {
        Some(file) => file.clone(),
        None => capi::build_dist()?,
    };
    let (suite, section) =
        if options.clients { (&clients::CLIENTS, &report::CLIENTS) } else { (&clients::H5PY, &report::H5PY) };
    let folder = workspace::root().join("target/bench").join(suite.folder);
    let clients = Clients::prepare(suite, &folder, &library)?;
    let workloads = clients.workloads()?;
    let (inputs, scale) = (folder.join("inputs"), std::env::var(SCALE).unwrap_or_default());
    let stamp = inputs.join("complete.txt");
    if !std::fs::read_to_string(&stamp).is_ok_and(|made| made == scale) {
        std::fs::create_dir_all(&inputs)?;
        clients.stock.call(&["prepare", path(&inputs)?])?;
        std::fs::write(&stamp, scale)?;
    }
    let mut rows = Vec::new();
    for workload in workloads {
        if !options.only.is_empty() && !options.only.contains(&workload.name) {
            continue;
        }
        let row = measure(&clients, &workload, &folder, options.rounds)?;
        println!("{}", row.line());
        rows.push(row);
    }
    println!("{}", report::summary(section, &rows));
    let with_threads = options.only.is_empty() || options.only.iter().any(|name| name == "threads");
    let threads = if with_threads && !options.clients {
        let found = threads::measure(&clients, &folder, options.rounds)?;
        threads::table(&found)?
    } else {
        String::new()
    };
    println!("{threads}");
    if options.update {
        ensure!(options.only.is_empty(), "`--update` needs all workloads");
        ensure!(std::env::var_os(SCALE).is_none(), "`--update` needs the full sizes, without {SCALE}");
        report::update(section, &rows, &threads, options.rounds)?;
    }
    let wrong: Vec<&str> =
        rows.iter().filter(|row| !row.same).map(|row| row.workload.name.as_str()).collect();
    ensure!(wrong.is_empty(), "the results differ: {}", wrong.join(", "));
    Ok(())
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options { rounds: ROUNDS, ..Options::default() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--update" => options.update = true,
            "--clients" => options.clients = true,
            "--library" => options.library = Some(args.next().context("--library FILE")?.into()),
            number if number.parse::<usize>().is_ok() => options.rounds = number.parse::<usize>()?.max(1),
            name => options.only.push(name.to_owned()),
        }
    }
    Ok(options)
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().context("the path is not UTF-8")
}

/// Runs a workload with both libraries in turns, and compares the results.
fn measure(clients: &Clients, workload: &clients::Workload, folder: &Path, rounds: usize) -> Result<Row> {
    let place = |client: &Client| {
        if workload.writes { folder.join(client.name) } else { folder.join("inputs") }
    };
    let pair = [&clients.stock, &clients.ours];
    let mut samples: [Vec<Sample>; 2] = [Vec::new(), Vec::new()];
    for client in pair {
        std::fs::create_dir_all(place(client))?;
    }
    for round in 0..rounds {
        for turn in 0..pair.len() {
            let number = (round + turn) % pair.len();
            let (Some(client), Some(list)) = (pair.get(number), samples.get_mut(number)) else { continue };
            let value = client.call(&["run", &workload.name, path(&place(client))?])?;
            list.push(Sample::of(&value).with_context(|| format!("the output of {}", workload.name))?);
        }
    }
    let mut digests: Vec<String> = samples.iter().flatten().map(|sample| sample.digest.clone()).collect();
    if workload.writes {
        for reader in pair {
            for writer in pair {
                let value = reader.call(&["digest", &workload.name, path(&place(writer))?])?;
                digests.push(value.to_string());
            }
        }
        // The digests of runs are empty for workloads that write.
        digests.retain(|digest| !digest.is_empty());
    }
    digests.dedup();
    let [stock, ours] = samples;
    Ok(Row { workload: workload.clone(), stock, ours, same: digests.len() == 1 })
}
