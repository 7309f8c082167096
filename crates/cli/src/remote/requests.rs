//! `hyperslab stat --cloud`: the requests and bytes that reads of a file need in an object store,
//! as it is and after a repack.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use hyperslab::{File, ObjectKind, Repack};
use hyperslab_cloud::{CloudDriver, CloudOptions, Usage};
use serde_json::{Value, json};

use super::{shown, url};
use crate::cloud_layout::{cloud_bounds, cloud_space};
use crate::interrupted::new_file_for;
use crate::output;

/// The largest number of datasets that are measured one by one.
const MAX_DATASETS: usize = 20;

/// The size in bytes of a block in a read of a whole dataset.
const BLOCK_BYTES: u64 = 64 << 20;

/// The requests of one step: its name, the ones of the file, and the ones of the repacked file.
struct Row {
    name: String,
    now: Usage,
    repacked: Option<Usage>,
}

/// Prints the requests, rounds and bytes that opening a file, listing its objects, and reading its
/// first datasets need. A file in a folder is read in the same way as an object of a store. With
/// `repacked`, also prints the requests after `hyperslab repack --cloud`.
pub(crate) fn print_requests(path: &Path, as_json: bool, repacked: bool) -> Result<()> {
    let url = match url(path) {
        Some(url) => url.to_owned(),
        None => url_of_file(path)?,
    };
    let mut rows = measure(&url)?;
    if repacked {
        let source = CloudOptions::new().open(&url)?;
        let made = new_file_for(&std::env::temp_dir().join("object"), ".h5")?;
        let space = cloud_space(source.info().length, source.info().user_block);
        let work = Repack::new().libver(cloud_bounds()?).file_space(space);
        work.run(&source, made.path()).with_context(|| format!("`{}`", shown(path)))?;
        for (row, after) in rows.iter_mut().zip(measure(&url_of_file(made.path())?)?) {
            row.repacked = Some(after.now).filter(|_| row.name == after.name);
        }
    }
    let mut out = output::stdout();
    if as_json {
        let document: Vec<Value> = rows.iter().map(Row::json).collect();
        serde_json::to_writer_pretty(&mut out, &document)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    if repacked {
        writeln!(out, "{:>33}   {:^33}", "as it is", "after repack --cloud")?;
    }
    let title = format!("{:>8} {:>10} {:>14}", "rounds", "requests", "bytes");
    let again = if repacked { format!(" {title}") } else { String::new() };
    writeln!(out, "{title}{again}  read")?;
    for row in &rows {
        let again = row.repacked.map_or(String::new(), |usage| format!(" {}", cells(usage)));
        let gap = if repacked && row.repacked.is_none() { 35 } else { 0 };
        writeln!(out, "{}{again}{:gap$}  {}", cells(row.now), "", output::escape(row.name.as_bytes()))?;
    }
    Ok(out.flush()?)
}

fn cells(usage: Usage) -> String {
    format!("{:>8} {:>10} {:>14}", usage.rounds, usage.requests, usage.bytes)
}

impl Row {
    fn json(&self) -> Value {
        let numbers = |usage: Usage| json!({ "rounds": usage.rounds, "requests": usage.requests, "bytes": usage.bytes });
        let mut row = numbers(self.now);
        if let Value::Object(row) = &mut row {
            row.insert("read".to_owned(), json!(self.name));
            row.extend(self.repacked.map(|usage| ("repacked".to_owned(), numbers(usage))));
        }
        row
    }
}

/// Returns the `file:` URL of a file on disk.
fn url_of_file(path: &Path) -> Result<String> {
    let absolute = path.canonicalize().with_context(|| format!("cannot open `{}`", path.display()))?;
    Ok(format!("file://{}", absolute.display()))
}

fn measure(url: &str) -> Result<Vec<Row>> {
    let open = || CloudOptions::new().open_with_driver(url);
    let shown = hyperslab_cloud::without_credentials(url);
    let (file, driver) = open().with_context(|| format!("cannot open `{shown}`"))?;
    let row = |name: &str, now| Row { name: name.to_owned(), now, repacked: None };
    let mut rows = vec![row("open", driver.usage())];
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
    rows.push(row("list all", driver.usage().since(before)));
    for name in datasets {
        let (file, driver) = open()?;
        let usage = read(&file, &driver, &name).with_context(|| format!("cannot read `{name}`"))?;
        rows.push(row(&name, usage));
    }
    Ok(rows)
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
