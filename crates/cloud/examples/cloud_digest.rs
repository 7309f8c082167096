//! Compares the contents of files, read from disk, through the blocking driver, and through
//! `AsyncFile`. Prints a line for each file that differs, and then the counts. `cargo xtask
//! cloud-corpus` runs it.
//!
//! `cloud_digest FOLDER LIST`, in which the file LIST has a path below FOLDER in each line

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use hyperslab::{Error, File, ObjectKind, Result, Visited};
use hyperslab_cloud::object_store::memory::InMemory;
use hyperslab_cloud::object_store::path::Path as StorePath;
use hyperslab_cloud::object_store::{ObjectStore, ObjectStoreExt as _};
use hyperslab_cloud::{AsyncFile, CloudOptions};

/// The numbers of bytes of a line, and of the first request.
const SIZES: [(&str, u64); 2] = [("64 KiB lines", 64 << 10), ("512-byte lines", 512)];

/// The contents of an object: its path, and a hash of its links, attributes and elements.
type Lines = Vec<(String, u64)>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, list] = words.as_slice() else {
        return Err(Error::Misuse("cloud_digest FOLDER LIST".into()));
    };
    let failed = |error: std::io::Error| Error::Misuse(error.to_string());
    let names = std::fs::read_to_string(list).map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(failed)?;
    let store = InMemory::new();
    for name in names.lines() {
        let bytes = std::fs::read(Path::new(folder).join(name)).map_err(failed)?;
        let put = runtime.block_on(store.put(&store_path(name)?, bytes.into()));
        put.map_err(|error| Error::Misuse(error.to_string()))?;
    }
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    let mut out = std::io::stdout().lock();
    let (mut same, mut all) = (0, 0);
    for name in names.lines() {
        all += 1;
        let expected = File::open(Path::new(folder).join(name)).map(|file| contents(&file));
        let mut differences = Vec::new();
        for (label, bytes) in SIZES {
            let options = || CloudOptions::new().first(bytes).line(bytes);
            let path = store_path(name)?;
            let blocking = options().open_store(Arc::clone(&store), &path).map(|file| contents(&file));
            let awaited = runtime.block_on(async {
                let file = AsyncFile::open_store(Arc::clone(&store), &path, options()).await?;
                file.run(|file| Ok(contents(file))).await
            });
            for (reader, got) in [("driver", blocking), ("AsyncFile", awaited)] {
                if let Some(difference) = difference(&expected, &got) {
                    differences.push(format!("{reader}, {label}: {difference}"));
                }
            }
        }
        match differences.first() {
            None => same += 1,
            Some(first) => writeln!(out, "{name}: {first}").map_err(failed)?,
        }
    }
    writeln!(out, "{same} of {all} files are the same").map_err(failed)
}

/// Returns the path of a file in the store.
fn store_path(name: &str) -> Result<StorePath> {
    StorePath::parse(name).map_err(|error| Error::Misuse(error.to_string()))
}

/// Returns a text about the first difference, if there is one.
fn difference(expected: &Result<Lines>, got: &Result<Lines>) -> Option<String> {
    match (expected, got) {
        (Ok(expected), Ok(got)) if expected == got => None,
        (Ok(expected), Ok(got)) => {
            let differs = expected.iter().zip(got).find(|(one, other)| one != other);
            Some(differs.map_or_else(
                || format!("{} objects instead of {}", got.len(), expected.len()),
                |((path, _), _)| path.clone(),
            ))
        }
        (Err(expected), Err(got)) if expected.kind() == got.kind() => None,
        (Ok(_), Err(got)) => Some(format!("cannot be read: {got}")),
        (Err(expected), Ok(_)) => Some(format!("is read, and on disk not: {expected}")),
        (Err(expected), Err(got)) => Some(format!("{got} instead of {expected}")),
    }
}

fn contents(file: &File) -> Lines {
    file.walk().map(|visited| (String::from_utf8_lossy(&visited.path).into_owned(), hash(visited))).collect()
}

/// Returns a hash of everything in an object.
fn hash(visited: Visited) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut add = |text: &str| text.hash(&mut hasher);
    let kind = |error: Error| error.kind();
    add(&shown(&visited.links.map(|links| links.map_err(kind))));
    match visited.object {
        Err(error) => add(&shown(&error.kind())),
        Ok(object) => {
            match object.attributes() {
                Err(error) => add(&shown(&error.kind())),
                Ok(attributes) => {
                    for attribute in attributes {
                        add(&attribute.name());
                        add(&shown(&attribute.read_dyn().map_err(kind)));
                    }
                }
            }
            if object.kind() == Some(ObjectKind::Dataset) {
                match object.into_dataset() {
                    Err(error) => add(&shown(&error.kind())),
                    Ok(dataset) => {
                        add(&shown(&dataset.shape()));
                        add(&shown(&dataset.read_dyn(..).map_err(kind)));
                    }
                }
            }
        }
    }
    hasher.finish()
}

/// Returns the debug text of a value.
fn shown(value: &dyn std::fmt::Debug) -> String {
    format!("{value:?}")
}
