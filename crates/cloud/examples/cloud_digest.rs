//! Compares the contents of files, read from disk, through the blocking driver, and through
//! `AsyncFile`. Prints a line for each file that differs, and then the counts. `cargo xtask
//! cloud-corpus` runs it.
//!
//! `cloud_digest FOLDER LIST`, in which the file LIST has a path below FOLDER in each line
//!
//! Memory is bounded: of a large dataset, the first and the last elements are compared.

use std::fmt;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab::{
    Dataset, DynArray, Error, File, Limits, Object, ObjectKind, OpenOptions, Region, Result, Visited,
};
use hyperslab_cloud::object_store::memory::InMemory;
use hyperslab_cloud::object_store::path::Path as StorePath;
use hyperslab_cloud::object_store::{ObjectStore, ObjectStoreExt as _};
use hyperslab_cloud::{AsyncFile, CloudOptions};

/// The numbers of bytes of a line, and of the first request.
const SIZES: [(&str, u64); 2] = [("64 KiB lines", 64 << 10), ("512-byte lines", 512)];

/// The number of bytes of elements of a dataset that are read at once.
const BOX_BYTES: u64 = 4 << 20;

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
    // The other files of the folder may have the elements of a listed one.
    for path in files_below(Path::new(folder)).map_err(failed)? {
        let name = path.strip_prefix(folder).ok().and_then(Path::to_str);
        let name = name.ok_or_else(|| Error::Misuse(format!("{} is not UTF-8", path.display())))?;
        let bytes = std::fs::read(&path).map_err(failed)?;
        let put = runtime.block_on(store.put(&store_path(name)?, bytes.into()));
        put.map_err(|error| Error::Misuse(error.to_string()))?;
    }
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    let mut out = std::io::stdout().lock();
    let (mut same, mut all) = (0, 0);
    for name in names.lines() {
        all += 1;
        let expected = opening().open(Path::new(folder).join(name)).map(|file| contents(&file));
        let mut differences = Vec::new();
        for (label, bytes) in SIZES {
            let options = || CloudOptions::new().first(bytes).line(bytes).open_options(opening());
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

/// Returns the paths of all files in a folder and the folders below it.
fn files_below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    Ok(files)
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

/// Returns options whose limits bound the memory of each read.
fn opening() -> OpenOptions {
    let limits = Limits { chunk_bytes: 64 << 20, result_bytes: 64 << 20, ..Limits::default() };
    OpenOptions::new().limits(limits).chunk_cache(8 << 20)
}

/// A hash of debug texts, none of which is held in memory.
struct Hashed(DefaultHasher);

impl fmt::Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

impl Hashed {
    fn add(&mut self, value: &dyn fmt::Debug) {
        // Writing to a hash does not fail.
        let _ = fmt::Write::write_fmt(self, format_args!("{value:?};"));
    }

    fn add_result<T: fmt::Debug>(&mut self, result: Result<T>) {
        self.add(&result.map_err(|error| error.kind()));
    }
}

/// Returns a hash of everything in an object.
fn hash(visited: Visited) -> u64 {
    let mut hashed = Hashed(DefaultHasher::new());
    match visited.links {
        None => hashed.add(&"no group"),
        Some(links) => hashed.add_result(links),
    }
    match visited.object {
        Err(error) => hashed.add(&error.kind()),
        Ok(object) => add_object(&mut hashed, object),
    }
    hashed.0.finish()
}

fn add_object(hashed: &mut Hashed, object: Object) {
    match object.attributes() {
        Err(error) => hashed.add(&error.kind()),
        Ok(attributes) => {
            for attribute in attributes {
                hashed.add(&attribute.name());
                hashed.add_result(attribute.read_dyn());
            }
        }
    }
    if object.kind() != Some(ObjectKind::Dataset) {
        return;
    }
    match object.into_dataset() {
        Err(error) => hashed.add(&error.kind()),
        Ok(dataset) => {
            hashed.add(&dataset.shape());
            boxes(&dataset).into_iter().for_each(|elements| hashed.add_result(elements));
        }
    }
}

/// Returns the elements of a dataset: all of them, or the first and the last ones.
fn boxes(dataset: &Dataset) -> Vec<Result<DynArray>> {
    let shape = dataset.shape();
    let size = u64::from(dataset.datatype().size).max(1);
    let mut left = (BOX_BYTES / size).max(1);
    let mut counts = vec![0; shape.len()];
    for (count, length) in counts.iter_mut().zip(&shape).rev() {
        *count = left.min(*length);
        left /= (*count).max(1);
    }
    if counts == shape {
        return vec![dataset.read_dyn(..)];
    }
    let last: Vec<u64> = shape.iter().zip(&counts).map(|(length, count)| length - count).collect();
    let starts = [vec![0; shape.len()], last];
    let regions = starts.map(|start| Region::new(&start, &counts).map_err(Error::from));
    regions.into_iter().map(|region| dataset.read_dyn(region?)).collect()
}
