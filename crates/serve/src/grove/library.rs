//! The files that requests can name.

use hyperslab::File;
use serde_json::{Value, json};

use super::Failure;

/// The files that requests can name.
pub trait Library: Send + Sync + std::fmt::Debug {
    /// Opens the file `name`, as the parameter `file` of a request has it. Without a name, the
    /// request means the only file.
    ///
    /// # Errors
    /// Returns the failure of the request if there is no such file or it cannot be opened.
    fn open(&self, name: Option<&str>) -> Result<File, Failure>;

    /// Lists the files and folders of a folder. The empty name means the outermost folder.
    ///
    /// # Errors
    /// Returns the failure of the request if there is no such folder.
    fn list(&self, folder: &str) -> Result<Vec<Entry>, Failure>;
}

/// A file or a folder in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name as the parameters `file` and `folder` of requests have it.
    pub name: String,
    /// The size in bytes; `None` for a folder.
    pub size: Option<u64>,
    /// The time of the last change, in seconds since 1970.
    pub modified: Option<u64>,
}

impl Entry {
    pub(super) fn json(&self) -> Value {
        let kind = if self.size.is_some() { "file" } else { "folder" };
        json!({ "name": self.name, "kind": kind, "size": self.size, "modified": self.modified })
    }
}
