//! The corpus: real files of other people with ground truth, kept beside the checkout and not in it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::workspace;

/// Names the folder of the corpus instead of `../shared/corpus`.
pub const CORPUS_VARIABLE: &str = "HYPERSLAB_CORPUS";

/// The folder of the corpus, or `None` after a line on stderr.
#[must_use]
pub fn dir() -> Option<PathBuf> {
    let dir = std::env::var_os(CORPUS_VARIABLE)
        .map_or_else(|| workspace::root().join("../shared/corpus"), PathBuf::from);
    if dir.join("truth").is_dir() {
        return Some(dir);
    }
    let why = format!("there is no {} (set {CORPUS_VARIABLE} to point elsewhere)", dir.display());
    workspace::skip("corpus tests", &why);
    None
}

/// Names the folder of samples of sparse storage instead of `../shared/sparse/samples`.
pub const SPARSE_VARIABLE: &str = "HYPERSLAB_SPARSE_SAMPLES";

/// Small files with sparse datasets, sound and broken ones, with ground truth beside each; none after a line on stderr if
/// they are not there.
///
/// # Errors
/// The folder cannot be listed.
pub fn sparse_samples() -> Result<Vec<Case>> {
    let dir = std::env::var_os(SPARSE_VARIABLE)
        .map_or_else(|| workspace::root().join("../shared/sparse/samples"), PathBuf::from);
    if !dir.is_dir() {
        let why = format!("there is no {} (set {SPARSE_VARIABLE} to point elsewhere)", dir.display());
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

/// One file of the corpus with what libhdf5 reads from it.
#[derive(Debug)]
pub struct Case {
    /// The file's name within the corpus.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The document with the ground truth.
    pub truth: PathBuf,
}

impl Case {
    /// Reads the ground truth.
    ///
    /// # Errors
    /// The document cannot be read or is no JSON.
    pub fn truth(&self) -> Result<Value> {
        read_json(&self.truth)
    }
}

/// Every file in `dir` (see [`dir()`]) that has a ground truth, sorted by name.
///
/// # Errors
/// A folder cannot be listed.
pub fn cases(dir: &Path) -> Result<Vec<Case>> {
    let truths = dir.join("truth");
    let mut pending = vec![truths.clone()];
    let mut cases = Vec::new();
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let truth = entry?.path();
            if truth.is_dir() {
                pending.push(truth);
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
