//! Opens the file at a URL, lists everything in it, and reads one dataset; prints the requests, the
//! bytes, the rounds and the times as a JSON line. `cargo xtask bench-cloud` runs it.
//!
//! `cloud_reads URL DATASET [blocking]`

use std::time::Instant;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use hyperslab::{Error, File, ObjectKind, Result};
use hyperslab_cloud::{AsyncFile, CloudOptions, Usage};

/// The bytes of a block that is read at once. The memory of such blocks is used again: the allocators
/// of most systems return larger ones to the system after each block.
const BLOCK_BYTES: u64 = 8 << 20;

/// The results of one step: its name, counts and seconds.
type Step = (&'static str, Usage, f64);

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, dataset, rest @ ..] = words.as_slice() else {
        return Err(Error::Misuse("cloud_reads URL DATASET [blocking]".into()));
    };
    let steps = if rest.is_empty() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| Error::Misuse(error.to_string()))?;
        runtime.block_on(read_asynchronously(url, dataset))?
    } else {
        read_blocking(url, dataset)?
    };
    let mut fields: Vec<String> = steps
        .iter()
        .map(|(name, usage, seconds)| {
            let Usage { requests, bytes, rounds, .. } = *usage;
            format!(
                "\"{name}\": {{\"rounds\": {rounds}, \"requests\": {requests}, \"bytes\": {bytes}, \"seconds\": {seconds:.4}}}"
            )
        })
        .collect();
    let file = hyperslab_cloud::open(url)?;
    let dataset = file.dataset(dataset)?;
    let (chunks, stored) =
        (dataset.chunks().list().map_or(1, |chunks| chunks.len()), dataset.storage_size()?);
    fields.push(format!("\"dataset\": {{\"chunks\": {chunks}, \"stored\": {stored}}}"));
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{{{}}}", fields.join(", ")).map_err(|error| Error::Misuse(error.to_string()))
}

/// Reads all headers, attributes and shapes.
fn list(file: &File) -> usize {
    let mut found = 0;
    for visited in file.walk() {
        let Ok(object) = visited.object else { continue };
        let attributes = object.attributes();
        found += attributes.iter().flatten().filter(|attribute| attribute.read_dyn().is_ok()).count();
        if object.kind() == Some(ObjectKind::Dataset) && object.into_dataset().is_ok() {
            found += 1;
        }
    }
    found
}

async fn read_asynchronously(url: &str, name: &str) -> Result<Vec<Step>> {
    let start = Instant::now();
    let file = AsyncFile::open(url, CloudOptions::new()).await?;
    let opened = (file.usage(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    file.run(|file| Ok(list(file))).await?;
    let listed = (file.usage(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let dataset = file.dataset(name).await?;
    // The next block is fetched while one is used.
    let blocks = stream::iter(dataset.dataset().blocks(BLOCK_BYTES)).map(|region| {
        let dataset = &dataset;
        async move { dataset.run(|dataset| dataset.read_stored(&region).map(drop)).await }
    });
    blocks.buffered(2).try_for_each(|()| async { Ok(()) }).await?;
    let read = (file.usage(), start.elapsed().as_secs_f64());
    Ok(vec![
        ("open", opened.0, opened.1),
        ("list", listed.0.since(opened.0), listed.1),
        ("read", read.0.since(listed.0), read.1),
    ])
}

fn read_blocking(url: &str, name: &str) -> Result<Vec<Step>> {
    let start = Instant::now();
    let (file, driver) = CloudOptions::new().open_with_driver(url)?;
    let opened = (driver.usage(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    list(&file);
    let listed = (driver.usage(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let dataset = file.dataset(name)?;
    dataset.blocks(BLOCK_BYTES).try_for_each(|region| dataset.read_stored(&region).map(drop))?;
    let read = (driver.usage(), start.elapsed().as_secs_f64());
    Ok(vec![
        ("open", opened.0, opened.1),
        ("list", listed.0.since(opened.0), listed.1),
        ("read", read.0.since(listed.0), read.1),
    ])
}
