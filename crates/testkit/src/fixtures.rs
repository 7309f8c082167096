//! The small test files of the project in `fixtures/`, with the values that libhdf5 reads from
//! them.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{corpus, workspace};

/// Returns the path of a fixture, for example `path("groups_latest.h5")`.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    workspace::root().join("fixtures").join(name)
}

/// Returns the document that `hyperslab digest` should print for a fixture: the values that libhdf5
/// reads.
///
/// # Errors
/// An error if `expected/NAME.json` does not exist or is not valid JSON.
pub fn expected(name: &str) -> Result<Value> {
    let stem = name.strip_suffix(".h5").unwrap_or(name);
    corpus::read_json(&path("expected").join(format!("{stem}.json")))
}

/// Returns the names of all fixtures, sorted.
///
/// # Errors
/// An error if the folder cannot be listed.
pub fn names() -> Result<Vec<String>> {
    let folder = path("");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".h5") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;

    #[test]
    fn every_fixture_has_its_truth_and_every_truth_agrees_with_itself() {
        let names = names().unwrap();
        assert!(names.len() > 40, "{names:?}");
        for name in names {
            let truth = expected(&name).unwrap();
            let result = compare(&truth, &truth);
            assert!(result.is_equal(), "{name}:\n{result}");
            assert!(result.right > 0, "{name}: nothing to compare");
        }
    }

    #[test]
    fn fixtures_stay_small() {
        let sizes = names().unwrap().iter().map(|name| path(name).metadata().unwrap().len()).sum::<u64>();
        assert!(sizes < 1_500_000, "{sizes} bytes");
    }
}
