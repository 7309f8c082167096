//! `hyperslab stat --cloud`: the requests and bytes that reads of a file need in an object store.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use hyperslab::{File, ObjectKind};
use hyperslab_cloud::{CloudDriver, CloudOptions, Usage};
use serde_json::{Value, json};

use super::url;
use crate::output;

/// The largest number of datasets that are measured one by one.
const MAX_DATASETS: usize = 20;

/// The size in bytes of a block in a read of a whole dataset.
const BLOCK_BYTES: u64 = 64 << 20;

/// Prints the requests, rounds and bytes that opening a file, listing its objects, and reading its
/// first datasets need. A file in a folder is read in the same way as an object of a store.
pub(crate) fn print_requests(path: &Path, as_json: bool) -> Result<()> {
    let url = if let Some(url) = url(path) {
        url.to_owned()
    } else {
        let absolute = path.canonicalize().with_context(|| format!("cannot open `{}`", path.display()))?;
        format!("file://{}", absolute.display())
    };
    let measured = measure(&url)?;
    let mut out = output::stdout();
    if as_json {
        let document: Vec<Value> = measured.iter().map(|(name, usage)| row(name, *usage)).collect();
        serde_json::to_writer_pretty(&mut out, &document)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{:>8} {:>10} {:>14}  read", "rounds", "requests", "bytes")?;
        for (name, usage) in &measured {
            let name = output::escape(name.as_bytes());
            writeln!(out, "{:>8} {:>10} {:>14}  {name}", usage.rounds, usage.requests, usage.bytes)?;
        }
    }
    Ok(out.flush()?)
}

fn row(name: &str, usage: Usage) -> Value {
    json!({ "read": name, "rounds": usage.rounds, "requests": usage.requests, "bytes": usage.bytes })
}

fn measure(url: &str) -> Result<Vec<(String, Usage)>> {
    let open = || CloudOptions::new().open_with_driver(url);
    let shown = hyperslab_cloud::without_credentials(url);
    let (file, driver) = open().with_context(|| format!("cannot open `{shown}`"))?;
    let mut measured = vec![("open".to_owned(), driver.usage())];
    let mut datasets = Vec::new();
    let before = driver.usage();
    for visited in file.walk() {
        let Ok(object) = visited.object else { continue };
        // A damaged attribute is the subject of `check`.
        let _ = object
            .attributes()
            .map(|attributes| attributes.iter().try_for_each(|one| one.read_dyn().map(drop)));
        if object.kind() == Some(ObjectKind::Dataset) && datasets.len() < MAX_DATASETS {
            datasets.push(String::from_utf8_lossy(&visited.path).into_owned());
        }
    }
    measured.push(("list all".to_owned(), driver.usage().since(before)));
    for name in datasets {
        let (file, driver) = open()?;
        let usage = read(&file, &driver, &name).with_context(|| format!("cannot read `{name}`"))?;
        measured.push((name, usage));
    }
    Ok(measured)
}

/// Reads a whole dataset, and returns the requests for it, without the ones for opening.
fn read(file: &File, driver: &CloudDriver, name: &str) -> Result<Usage> {
    let before = driver.usage();
    let dataset = file.dataset(name)?;
    for block in dataset.blocks(BLOCK_BYTES) {
        dataset.read_stored(&block)?;
    }
    Ok(driver.usage().since(before))
}
