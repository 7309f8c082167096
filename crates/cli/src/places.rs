//! Objects by their paths, as people type them: where there is nothing, what is near is named.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use hyperslab::{Dataset, ErrorKind, File, Group, Object, ObjectKind};

use crate::open::OpenArguments;

/// Links that are looked at for a name that is near.
const LINKS: usize = 4096;

/// Bytes of a name beyond which nothing is held against it.
const LONG: usize = 128;

/// The arguments that name a dataset.
#[derive(Debug, clap::Args)]
pub(crate) struct DatasetArguments {
    #[command(flatten)]
    pub(crate) open: OpenArguments,
    /// The file
    pub(crate) file: PathBuf,
    /// The dataset
    pub(crate) path: String,
}

impl DatasetArguments {
    /// Opens the file and the dataset.
    pub(crate) fn open(&self) -> Result<(File, Dataset)> {
        let shown = self.file.display().to_string();
        let file = self.open.open(&self.file)?;
        let dataset = dataset(&file, &shown, &self.path)?;
        Ok((file, dataset))
    }
}

/// The object at a path, which may be the root.
pub(crate) fn object(file: &File, path: &str) -> Result<Object> {
    match path.trim_matches('/') {
        "" => Ok(Object::clone(file.root())),
        trimmed => file.object(trimmed).map_err(|error| explained(file, path, error)),
    }
}

/// The dataset at a path. `shown` is the name of the file.
pub(crate) fn dataset(file: &File, shown: &str, path: &str) -> Result<Dataset> {
    let path = path.trim_matches('/');
    if path.is_empty() {
        bail!("`/` of `{shown}` is a group, not a dataset; `hyperslab ls` shows what is in it");
    }
    let object = object(file, path).with_context(|| format!("`{shown}`"))?;
    match object.kind() {
        Some(ObjectKind::Dataset) => Ok(object.into_dataset()?),
        kind => {
            let kind = kind.map_or("unknown object", ObjectKind::name);
            bail!("`{path}` of `{shown}` is a {kind}, not a dataset; `hyperslab ls` shows what is in it")
        }
    }
}

/// The error; if it says that nothing is at the path, and something near is, that is said, too.
pub(crate) fn explained(file: &File, path: &str, error: hyperslab::Error) -> anyhow::Error {
    match near(file, path).filter(|_| error.kind() == ErrorKind::NotFound) {
        Some(near) => anyhow::anyhow!("nothing is at `{path}`; did you mean `{near}`?"),
        None => error.into(),
    }
}

/// A path that is there and spelled nearly as the one that is not. Only the group in which that breaks off is looked at.
fn near(file: &File, path: &str) -> Option<String> {
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
    found.push(nearest(&group, missing)?);
    // What is behind the name is kept if it is there under the new one.
    let near = found.join("/");
    let rest: Vec<&str> = names.collect();
    let whole = format!("{near}/{}", rest.join("/"));
    let slash = if path.starts_with('/') { "/" } else { "" };
    let shown = if !rest.is_empty() && file.object(&whole).is_ok() { whole } else { near };
    Some(format!("{slash}{shown}"))
}

/// The name in a group that is nearest to one that is not in it.
fn nearest(group: &Group, missing: &str) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    let (mut looked_at, mut there) = (0_usize, false);
    let lower = missing.to_lowercase();
    let visited = group.visit_links(|link| {
        looked_at = looked_at.saturating_add(1);
        // A link that is there leads nowhere, and so does what it says.
        there |= link.name() == missing.as_bytes();
        if let Ok(name) = str::from_utf8(link.name())
            && let Some(distance) = distance(&lower, name)
            && best.as_ref().is_none_or(|(least, _)| distance < *least)
        {
            best = Some((distance, name.to_owned()));
        }
        if looked_at < LINKS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    visited.ok().and(best).filter(|_| !there).map(|(_, name)| name)
}

/// How far apart two names are, capitals aside, if that is little: one slip for each three letters.
fn distance(lower: &str, name: &str) -> Option<usize> {
    if lower.len() > LONG || name.len() > LONG {
        return None;
    }
    let distance = strsim::damerau_levenshtein(lower, &name.to_lowercase());
    let letters = lower.chars().count().max(name.chars().count());
    (distance <= letters.div_ceil(3).min(letters.saturating_sub(1))).then_some(distance)
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
    fn what_is_near_is_found_where_the_path_breaks_off() {
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
            assert_eq!(near(&file, path).as_deref(), expected, "{path}");
        }
        assert_eq!(nearest(file.root(), &"s".repeat(100_000)), None);
    }

    #[test]
    fn errors_say_it() {
        let file = file();
        let said = |path: &str| crate::output::chain(object(&file, path).unwrap_err().as_ref());
        assert_eq!(said("series/humidty"), "nothing is at `series/humidty`; did you mean `series/humidity`?");
        assert_eq!(said("zzz"), "cannot open `zzz`: link `zzz` not found");
        assert_eq!(object(&file, "//").unwrap().kind(), Some(ObjectKind::Group));
    }
}
