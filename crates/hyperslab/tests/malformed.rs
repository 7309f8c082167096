//! Files that crashed other HDF5 programs. hyperslab returns errors or values, in little time and
//! memory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use hyperslab::datatype::DatatypeClass;
use hyperslab::{Dataset, File, IxDyn, LinkTarget, Object, ObjectKind, OpenOptions, Stored};
use hyperslab_testkit::corpus;

/// The time limit for one file, which is sufficient on a busy machine.
const TIME: Duration = Duration::from_secs(30);
/// The size in bytes of the largest dataset that the test reads.
const MOST_BYTES: u64 = 64 << 20;
/// The memory that reading a file may take, in addition to four times the size of the file.
const MEMORY: u64 = 256 << 20;

#[test]
fn no_file_makes_the_reader_panic_hang_or_exceed_its_memory() {
    let Some(files) = corpus::dir().map(|dir| malformed(&dir)) else { return };
    assert!(!files.is_empty(), "the corpus has no malformed files");
    let failures: Vec<String> = files.iter().filter_map(|file| judge(file)).collect();
    assert!(failures.is_empty(), "{} of {} files:\n{}", failures.len(), files.len(), failures.join("\n"));
}

fn malformed(corpus: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(corpus.join("malformed")).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.is_file() && file.extension().is_none_or(|extension| extension != "tsv"));
    files.sort();
    files
}

/// Returns the fault of reading this file, if there is one. A thread that hangs is not ended.
fn judge(file: &Path) -> Option<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (done, watch) = mpsc::channel();
    let path = file.to_owned();
    let watched = memory::forget_peak();
    thread::spawn(move || {
        walk(&path);
        // After the time limit, the receiver no longer exists.
        let _ = done.send(());
    });
    match watch.recv_timeout(TIME) {
        Ok(()) => {}
        Err(RecvTimeoutError::Timeout) => return Some(format!("{name}: not done after {TIME:?}")),
        Err(RecvTimeoutError::Disconnected) => return Some(format!("{name}: a panic")),
    }
    let allowed = MEMORY + 4 * std::fs::metadata(file).map_or(0, |file| file.len());
    let peak = if watched { memory::peak() } else { None }?;
    (peak > allowed).then(|| format!("{name}: {} MiB, more than {} MiB", peak >> 20, allowed >> 20))
}

/// The peak memory of this process, if the system reports it (Linux).
mod memory {
    /// Resets the peak. Returns whether this is possible.
    pub(super) fn forget_peak() -> bool {
        std::fs::write("/proc/self/clear_refs", "5").is_ok()
    }

    /// Returns the peak in bytes since the reset.
    pub(super) fn peak() -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
        let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kibibytes << 10)
    }
}

/// Reads everything in a file and ignores the results. If the status flags prevent opening the
/// file, opens it without regard to the flags.
fn walk(path: &Path) {
    let Ok(file) = File::open(path).or_else(|_| OpenOptions::new().ignore_status_flags(true).open(path))
    else {
        return;
    };
    let mut seen = HashSet::from([file.token()]);
    let mut pending: Vec<Object> = vec![(**file.root()).clone()];
    while let Some(object) = pending.pop() {
        drop((object.link_count(), object.comment(), object.modified(), object.header_info()));
        for attribute in object.attributes().unwrap_or_default() {
            drop((attribute.datatype(), attribute.dataspace(), object.attribute(&attribute.name())));
            drop(attribute.read_stored().map(|stored| follow(&stored)));
        }
        match object.kind() {
            Some(ObjectKind::Group) => {
                for link in object.into_group().and_then(|group| group.links()).unwrap_or_default() {
                    match link.target {
                        LinkTarget::Hard(token) if seen.insert(token) => {
                            pending.extend(file.object_at(token));
                        }
                        LinkTarget::Soft(path) => drop(file.object(&String::from_utf8_lossy(&path))),
                        _ => {}
                    }
                }
            }
            Some(ObjectKind::Dataset) => drop(object.into_dataset().map(|dataset| read(&dataset))),
            Some(ObjectKind::Datatype) => {
                drop(object.into_datatype().map(|named| named.datatype().to_string()));
            }
            _ => {}
        }
    }
}

fn read(dataset: &Dataset) {
    drop((dataset.layout(), dataset.filters(), dataset.fill_value(), dataset.external_files()));
    drop((dataset.storage_size(), dataset.datatype().to_string(), dataset.dataspace().to_string()));
    let bytes = dataset.size().ok().and_then(|size| size.checked_mul(u64::from(dataset.datatype().size)));
    if bytes.is_some_and(|bytes| bytes <= MOST_BYTES) {
        drop(dataset.read_stored(..).map(|stored| follow(&stored)));
        if let Ok(values) = dataset.read_dyn(..) {
            // Calls each method that reads a single value, and ignores the values.
            drop(
                (0..values.column().len().min(100))
                    .map(|index| values.column().get(index))
                    .collect::<Vec<_>>(),
            );
        }
        for reference in dataset.read_references::<IxDyn>(..).into_iter().flatten().take(100) {
            drop((reference.object(), reference.attribute(), reference.region()));
        }
        for member in dataset.datatype().member_names() {
            drop(dataset.field(&member).and_then(|field| field.read::<f64, IxDyn>(..)));
        }
    }
}

/// Reads strings, sequences and numbers. For elements with references or variable-length data,
/// reads only the first elements.
fn follow(stored: &Stored) {
    if let DatatypeClass::VariableLength(variable) = &stored.datatype().class {
        for element in stored.elements().take(10_000) {
            drop(
                stored
                    .variable_length(element)
                    .map(|value| value.items(variable.base.size as usize).map(<[u8]>::len)),
            );
        }
        return;
    }
    if stored.datatype().is_number() {
        drop(stored.convert::<f64>());
    }
}
