//! Objects by the paths that users type. An error for a missing path names a similar path.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use hyperslab::{Dataset, ErrorKind, File, Group, Object, ObjectKind};

use crate::open::OpenArguments;

/// The largest number of links that the search for a similar name reads.
const MAX_LINKS: usize = 4096;

/// The length of the longest name for which similar names are searched, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// The command line arguments that name a file and a dataset.
#[derive(Debug, clap::Args)]
pub(crate) struct DatasetArguments {
    #[command(flatten)]
    pub(crate) open: OpenArguments,
    /// The file
    pub(crate) file: PathBuf,
    /// The path of the dataset
    pub(crate) path: String,
}

impl DatasetArguments {
    /// Opens the file and the dataset that the arguments name.
    pub(crate) fn open(&self) -> Result<(File, Dataset)> {
        let shown = self.file.display().to_string();
        let file = self.open.open(&self.file)?;
        let dataset = dataset(&file, &shown, &self.path)?;
        Ok((file, dataset))
    }
}

/// Opens the object at a path of a file. An empty path is the root group.
pub(crate) fn object(file: &File, path: &str) -> Result<Object> {
    match path.trim_matches('/') {
        "" => Ok(Object::clone(file.root())),
        trimmed => file.object(trimmed).map_err(|error| with_suggestion(file, path, error)),
    }
}

/// Opens the dataset at a path of a file. `shown` is the name of the file.
pub(crate) fn dataset(file: &File, shown: &str, path: &str) -> Result<Dataset> {
    let path = path.trim_matches('/');
    if path.is_empty() {
        bail!("`/` of `{shown}` is a group, not a dataset; `hyperslab ls` lists its members");
    }
    let object = object(file, path).with_context(|| format!("`{shown}`"))?;
    match object.kind() {
        Some(ObjectKind::Dataset) => Ok(object.into_dataset()?),
        kind => {
            let kind = kind.map_or("unknown object", ObjectKind::name);
            bail!("`{path}` of `{shown}` is a {kind}, not a dataset; `hyperslab ls` describes it")
        }
    }
}

/// Returns the error for a missing object. If a path with a similar spelling exists, the error
/// suggests this path.
pub(crate) fn with_suggestion(file: &File, path: &str, error: hyperslab::Error) -> anyhow::Error {
    match similar_path(file, path).filter(|_| error.kind() == ErrorKind::NotFound) {
        Some(similar) => anyhow::anyhow!("nothing is at `{path}`; did you mean `{similar}`?"),
        None => error.into(),
    }
}

/// Returns an existing path with a similar spelling. Replaces only the first missing name of the
/// path by a similar name.
fn similar_path(file: &File, path: &str) -> Option<String> {
    let mut group: Group = file.root().clone();
    let mut names = path.split('/').filter(|name| !name.is_empty());
    let mut found: Vec<String> = Vec::new();
    let missing = loop {
        let name = names.next()?;
        match group.object(name) {
            Ok(object) => group = object.into_group().ok()?,
            Err(_) => break name,
        }
        found.push(name.to_owned());
    };
    found.push(similar_name(&group, missing)?);
    // The names after the missing name are kept if they exist below the similar name.
    let similar = found.join("/");
    let rest: Vec<&str> = names.collect();
    let whole = format!("{similar}/{}", rest.join("/"));
    let slash = if path.starts_with('/') { "/" } else { "" };
    let shown = if !rest.is_empty() && file.object(&whole).is_ok() { whole } else { similar };
    Some(format!("{slash}{shown}"))
}

/// Returns the name in a group that is most similar to the missing name.
fn similar_name(group: &Group, missing: &str) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    let (mut read, mut exists) = (0_usize, false);
    let lower = missing.to_lowercase();
    let visited = group.visit_links(|link| {
        read += 1;
        // If a link with this name exists but its target does not, do not suggest another name.
        exists |= link.name() == missing.as_bytes();
        if let Ok(name) = str::from_utf8(link.name())
            && let Some(distance) = distance(&lower, name)
            && best.as_ref().is_none_or(|(least, _)| distance < *least)
        {
            best = Some((distance, name.to_owned()));
        }
        if read < MAX_LINKS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    visited.ok().and(best).filter(|_| !exists).map(|(_, name)| name)
}

/// Returns the edit distance of two names, ignoring case. Returns `None` if there is more than one
/// edit for every three letters. `lower` must be in lower case.
fn distance(lower: &str, name: &str) -> Option<usize> {
    if lower.len() > MAX_NAME_BYTES || name.len() > MAX_NAME_BYTES {
        return None;
    }
    let distance = strsim::damerau_levenshtein(lower, &name.to_lowercase());
    let letters = lower.chars().count().max(name.chars().count());
    (distance <= letters.div_ceil(3) && distance < letters).then_some(distance)
}

#[cfg(test)]
mod tests {
    use hyperslab::FileOptions;

    use super::*;

    fn file() -> File {
        let file = FileOptions::new().create_in_memory().unwrap();
        for path in ["series", "series/temperature", "series/humidity", "series/x", "Events"] {
            file.create_group(path).unwrap();
        }
        file.link_soft("broken", "/nowhere").unwrap();
        file
    }

    #[test]
    fn a_similar_name_is_found_in_the_group_of_the_first_missing_name() {
        let file = file();
        for (path, expected) in [
            ("temprature", None),
            ("/series/temprature", Some("/series/temperature")),
            ("seires", Some("series")),
            ("seires/humidity", Some("series/humidity")),
            ("seires/nothing", Some("series")),
            ("EVENTS", Some("Events")),
            ("series/y", None),
            ("/series/temperature/a", None),
            ("completely different", None),
            ("broken", None),
        ] {
            assert_eq!(similar_path(&file, path).as_deref(), expected, "{path}");
        }
        assert_eq!(similar_name(file.root(), &"s".repeat(100_000)), None);
    }

    #[test]
    fn errors_name_the_similar_path() {
        let file = file();
        let message = |path: &str| crate::output::chain(object(&file, path).unwrap_err().as_ref());
        assert_eq!(
            message("series/humidty"),
            "nothing is at `series/humidty`; did you mean `series/humidity`?"
        );
        assert_eq!(message("zzz"), "cannot open `zzz`: link `zzz` not found");
        assert_eq!(object(&file, "//").unwrap().kind(), Some(ObjectKind::Group));
    }
}
