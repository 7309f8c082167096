//! The other files to which links and datasets of a remote file lead: only objects of the same
//! store below the same prefix.

use std::io::ErrorKind;
use std::sync::Arc;

use hyperslab::vfd::DriverError;
use hyperslab::{Error, OtherFile, OtherFiles, Result};
use object_store::path::Path;

use crate::CloudOptions;
use crate::location::Location;

/// The provider of the other files of one remote file.
#[derive(Debug)]
pub(crate) struct Siblings {
    pub(crate) options: CloudOptions,
    /// The file whose names are resolved.
    pub(crate) location: Location,
    /// The prefix of the first file, below which all other files are.
    pub(crate) prefix: Path,
}

impl OtherFiles for Siblings {
    fn open(&self, name: &str) -> Result<OtherFile> {
        let path = self.resolve(name)?;
        let location = Location { path, ..self.location.clone() };
        let driver = self.options.driver_at(&location).map_err(|error| not_found(error, name))?;
        let others = Self { location, options: self.options.clone(), prefix: self.prefix.clone() };
        Ok(OtherFile { driver: Arc::new(driver), others: Some(Arc::new(others)) })
    }
}

impl Siblings {
    /// Creates the provider of the files beside a remote file.
    pub(crate) fn of(location: Location, options: CloudOptions) -> Self {
        Self { prefix: folder(&location.path), location, options }
    }

    /// Returns the path of the object that a file name means. A relative name counts from the
    /// folder of the naming file; of an absolute name, only the last component counts.
    fn resolve(&self, name: &str) -> Result<Path> {
        let outside = || {
            Error::Misuse(format!(
                "`{name}` is outside the folder of the remote file that names it, or is not a relative path"
            ))
        };
        if name.contains("://") || name.contains('\\') || name.starts_with("file:") {
            return Err(outside());
        }
        let relative = match name.strip_prefix('/') {
            Some(absolute) => absolute.rsplit('/').next().unwrap_or(absolute),
            None => name,
        };
        if matches!(relative.rsplit('/').next(), None | Some("" | "." | "..")) {
            return Err(outside());
        }
        let folder = folder(&self.location.path);
        let mut parts: Vec<&str> = folder.as_ref().split('/').filter(|part| !part.is_empty()).collect();
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop().ok_or_else(outside)?),
                part => parts.push(part),
            }
        }
        let path = Path::parse(parts.join("/")).map_err(|_| outside())?;
        let is_below = path.prefix_match(&self.prefix).is_some_and(|mut rest| rest.next().is_some());
        if is_below { Ok(path) } else { Err(outside()) }
    }
}

/// Converts the error of an object that does not exist to [`Error::NotFound`], as for a local file.
fn not_found(error: Error, name: &str) -> Error {
    match &error {
        Error::Io { source: DriverError::Io { source, .. }, .. } if source.kind() == ErrorKind::NotFound => {
            Error::NotFound { subject: "file", name: name.to_owned() }
        }
        _ => error,
    }
}

fn folder(path: &Path) -> Path {
    let text = path.as_ref();
    text.rsplit_once('/').map_or_else(Path::default, |(folder, _)| Path::from_iter(folder.split('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn siblings(path: &str, prefix: &str) -> Siblings {
        let store = Arc::new(object_store::memory::InMemory::new());
        let location = Location::of_store(store, &Path::from(path));
        Siblings { options: CloudOptions::new(), location, prefix: Path::from(prefix) }
    }

    #[test]
    fn names_stay_below_the_prefix() {
        let files = siblings("data/run/sub/a.h5", "data/run");
        let resolved = |name| files.resolve(name).map(|path| path.to_string());
        assert_eq!(resolved("b.h5").unwrap(), "data/run/sub/b.h5");
        assert_eq!(resolved("./more/b.h5").unwrap(), "data/run/sub/more/b.h5");
        assert_eq!(resolved("../b.h5").unwrap(), "data/run/b.h5");
        assert_eq!(resolved("/elsewhere/b.h5").unwrap(), "data/run/sub/b.h5");
        for name in [
            "../../b.h5",
            "../../runner/b.h5",
            "../../../../../b.h5",
            "http://host/b.h5",
            "s3://other/b.h5",
            "file:/etc/passwd",
            "D\\b.h5",
            "",
            "..",
        ] {
            assert!(resolved(name).is_err(), "{name}");
        }
        assert_eq!(siblings("a.h5", "").resolve("b.h5").unwrap().as_ref(), "b.h5");
    }
}
