//! The options of an export, and the receiver of its results.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use hyperslab::{File, Group, Result};

use crate::walk::Walk;
use crate::{Array, Json, Report, json_file};

/// The largest number of bytes of a chunk in the references, as kerchunk has it.
const INLINE_BYTES: u64 = 500;

/// A function that opens another file by its name in the exported file.
pub(crate) type OpenOther<'a> = Box<dyn Fn(&str) -> Result<File> + 'a>;

/// The file of recoded chunks, and its URL.
pub(crate) struct Recode<'a> {
    pub(crate) output: &'a mut dyn Write,
    pub(crate) url: Arc<str>,
    pub(crate) length: u64,
}

/// The options for an export of references.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
/// use hyperslab_references::ReferenceOptions;
///
/// let file = hyperslab::File::open(path)?;
/// let mut chunks = Vec::new();
/// let options = ReferenceOptions::new("file:///data/weather_station.h5")
///     .inline(100)
///     .recode(&mut chunks, "file:///data/weather_station.chunks")
///     .skip_unsupported(true);
/// let report = options.write_json(file.root(), &mut std::io::sink())?;
/// assert_eq!(report.recoded_bytes, chunks.len() as u64);
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub struct ReferenceOptions<'a> {
    pub(crate) url: Arc<str>,
    pub(crate) inline: u64,
    pub(crate) skip_unsupported: bool,
    pub(crate) recode: Option<Recode<'a>>,
    pub(crate) open: Option<OpenOther<'a>>,
}

/// The receiver of the results of an export, group by group.
pub trait Visitor {
    /// Takes a group at a path, with its attributes. The path of the exported group is empty.
    ///
    /// # Errors
    /// An error ends the export.
    fn group(&mut self, path: &str, attributes: &Json) -> Result<()>;

    /// Takes an array. Its group came before.
    ///
    /// # Errors
    /// An error ends the export.
    fn array(&mut self, array: Array) -> Result<()>;
}

impl fmt::Debug for ReferenceOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceOptions")
            .field("inline", &self.inline)
            .field("skip_unsupported", &self.skip_unsupported)
            .finish_non_exhaustive()
    }
}

impl<'a> ReferenceOptions<'a> {
    /// Returns the default options for a file with the given URL, which all references state.
    pub fn new(url: impl Into<Arc<str>>) -> Self {
        Self { url: url.into(), inline: INLINE_BYTES, skip_unsupported: false, recode: None, open: None }
    }

    /// Sets the largest number of encoded bytes of a chunk that is written into the references: 500
    /// by default.
    #[must_use]
    pub fn inline(mut self, bytes: u64) -> Self {
        self.inline = bytes;
        self
    }

    /// Sets whether datasets that zarr cannot read are left out. Otherwise they are an error, which
    /// is the default. The [`Report`] names them.
    #[must_use]
    pub fn skip_unsupported(mut self, yes: bool) -> Self {
        self.skip_unsupported = yes;
        self
    }

    /// Sets the output for chunks that zarr cannot decode in place, and the URL that the output
    /// will have. The chunks are encoded by zstd.
    #[must_use]
    pub fn recode(mut self, output: &'a mut dyn Write, url: impl Into<Arc<str>>) -> Self {
        self.recode = Some(Recode { output, url: url.into(), length: 0 });
        self
    }

    /// Sets the function that opens the source files of virtual datasets by the names that the
    /// exported file has for them. Without it, only virtual datasets of one file have references.
    #[must_use]
    pub fn open_others(mut self, open: impl Fn(&str) -> Result<File> + 'a) -> Self {
        self.open = Some(Box::new(open));
        self
    }

    /// Passes the references of a group and of all objects below it to a visitor.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Unsupported`](hyperslab::ErrorKind::Unsupported) at the end if datasets
    /// have no references and [`skip_unsupported`](Self::skip_unsupported) is not set, and for
    /// files of several members. Returns the errors of reading, and of the visitor.
    pub fn visit(self, group: &Group, visitor: &mut dyn Visitor) -> Result<Report> {
        Walk::new(self, group)?.run(group, visitor)
    }

    /// Writes the references of a group and of all objects below it as JSON, in kerchunk's form
    /// version 1.
    ///
    /// # Errors
    /// Returns the errors of [`visit`](Self::visit), and errors of the output.
    pub fn write_json(self, group: &Group, output: &mut dyn Write) -> Result<Report> {
        json_file::write(self, group, output)
    }

    /// Writes the references of a group and of all objects below it as Parquet files into a folder,
    /// which must not exist.
    ///
    /// # Errors
    /// Returns the errors of [`visit`](Self::visit), and errors of the output.
    #[cfg(feature = "parquet")]
    pub fn write_parquet(self, group: &Group, folder: &std::path::Path) -> Result<Report> {
        crate::parquet_files::write(self, group, folder)
    }
}

/// Returns the URL of a file beside the file at `url`; `None` if the name leads out of its folder.
pub(crate) fn sibling(url: &str, name: &str) -> Option<String> {
    let leads_out = name.is_empty()
        || name.starts_with('/')
        || name.contains("://")
        || name.contains('\\')
        || name.split('/').any(|part| part == ".." || part.is_empty());
    if leads_out {
        return None;
    }
    let name = name.strip_prefix("./").unwrap_or(name);
    Some(url.rsplit_once('/').map_or_else(|| name.to_owned(), |(folder, _)| format!("{folder}/{name}")))
}

#[cfg(test)]
mod tests {
    use super::sibling;

    #[test]
    fn siblings_stay_in_the_folder() {
        assert_eq!(sibling("s3://b/d/a.h5", "x/b.raw").as_deref(), Some("s3://b/d/x/b.raw"));
        assert_eq!(sibling("a.h5", "./b.raw").as_deref(), Some("b.raw"));
        for name in ["/etc/passwd", "../b", "x/../../b", "http://host/b", "", "x\\b", "a//b"] {
            assert_eq!(sibling("s3://b/d/a.h5", name), None, "{name}");
        }
    }
}
