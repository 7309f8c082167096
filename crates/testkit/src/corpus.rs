//! The corpus: files from other projects with their truth, in a folder outside of the checkout.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::workspace;

/// The environment variable that replaces the corpus folder `../shared/corpus`.
pub const CORPUS_VARIABLE: &str = "HYPERSLAB_CORPUS";

/// Returns the corpus folder. If it does not exist, prints a line to stderr and returns `None`.
#[must_use]
pub fn dir() -> Option<PathBuf> {
    let dir = std::env::var_os(CORPUS_VARIABLE)
        .map_or_else(|| workspace::root().join("../shared/corpus"), PathBuf::from);
    if dir.join("truth").is_dir() {
        return Some(dir);
    }
    let why = format!("{} does not exist (set {CORPUS_VARIABLE} to another folder)", dir.display());
    workspace::skip("corpus tests", &why);
    None
}

/// The environment variable that replaces the folder `../shared/sparse/samples` of sparse sample
/// files.
pub const SPARSE_VARIABLE: &str = "HYPERSLAB_SPARSE_SAMPLES";

/// Returns small files with sparse datasets and the truth of each file. Some files are corrupt. If
/// the folder does not exist, prints a line to stderr and returns an empty list.
///
/// # Errors
/// An error if the folder cannot be listed.
pub fn sparse_samples() -> Result<Vec<Case>> {
    let dir = std::env::var_os(SPARSE_VARIABLE)
        .map_or_else(|| workspace::root().join("../shared/sparse/samples"), PathBuf::from);
    if !dir.is_dir() {
        let why = format!("{} does not exist (set {SPARSE_VARIABLE} to another folder)", dir.display());
        workspace::skip("tests of sparse samples", &why);
        return Ok(Vec::new());
    }
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&dir).with_context(|| dir.display().to_string())? {
        let file = entry?.path();
        let truth = file.with_extension("json");
        if file.extension().is_some_and(|extension| extension == "h5") && truth.is_file() {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            cases.push(Case { name, file, truth });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// A file with its truth: the values that libhdf5 reads.
#[derive(Debug)]
pub struct Case {
    /// The name of the file within the corpus.
    pub name: String,
    /// The path of the file.
    pub file: PathBuf,
    /// The path of the document with the truth.
    pub truth: PathBuf,
}

impl Case {
    /// Reads the truth.
    ///
    /// # Errors
    /// An error if the document cannot be read or is not valid JSON.
    pub fn truth(&self) -> Result<Value> {
        read_json(&self.truth)
    }
}

/// Returns all files in the corpus folder `dir` (see [`dir()`]) that have a truth, sorted by name.
///
/// # Errors
/// An error if a folder cannot be listed.
pub fn cases(dir: &Path) -> Result<Vec<Case>> {
    let truths = dir.join("truth");
    let mut folders = vec![truths.clone()];
    let mut cases = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let truth = entry?.path();
            if truth.is_dir() {
                folders.push(truth);
                continue;
            }
            let relative = truth.strip_prefix(&truths).unwrap_or(&truth).to_string_lossy().into_owned();
            if let Some(name) = relative.strip_suffix(".json") {
                cases.push(Case { file: dir.join("files").join(name), name: name.to_owned(), truth });
            }
        }
    }
    cases.retain(|case| case.file.is_file());
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

pub(crate) fn read_json(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}
