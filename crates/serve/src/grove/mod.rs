//! Answers to the requests of h5grove's protocol. This module has no sockets, threads or files:
//! [`answer`] takes a request and the [`Library`] of files, and returns an [`Answer`].

mod answer;
mod attr;
mod data;
mod entity;
mod json;
mod library;
mod meta;
mod numpy;
mod paths;
mod query;
mod selection;
mod stats;
mod types;

pub use answer::{Answer, Body, Failure, Pieces};
pub use library::{Entry, Library};

use std::time::Instant;

use hyperslab::Dataset;
use serde_json::Value;

use self::entity::{Entity, Links};
use self::query::Query;

/// Limits on the answers of a server.
#[derive(Debug, Clone, Copy)]
pub struct AnswerLimits {
    /// The largest number of bytes of stored elements that one answer may contain.
    pub response_bytes: u64,
    /// The largest number of bytes of elements that one piece of an answer holds in memory. A piece
    /// has at least one element.
    pub piece_bytes: u64,
    /// The largest number of bytes of stored elements that statistics may sum up. Chunks that are
    /// not stored count, too: their elements have the fill value.
    pub summed_bytes: u64,
    /// The time at which statistics end with a failure; `None` for no such time.
    pub until: Option<Instant>,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self { response_bytes: 256 << 20, piece_bytes: 4 << 20, summed_bytes: 64 << 30, until: None }
    }
}

/// A request that has been parsed, with the file that it names.
struct Asked<'a> {
    query: &'a Query,
    file: hyperslab::File,
    limits: &'a AnswerLimits,
}

/// Answers a request. `path` is the path of the URL without the prefix of the protocol, such as
/// `/meta`, and `query` is the part after `?`.
///
/// ```
/// use hyperslab::{File, FileOptions};
/// use hyperslab_serve::grove::{AnswerLimits, Entry, Failure, Library, answer};
///
/// #[derive(Debug)]
/// struct One(File);
///
/// impl Library for One {
///     fn open(&self, _: Option<&str>) -> Result<File, Failure> {
///         Ok(self.0.clone())
///     }
///
///     fn list(&self, _: &str) -> Result<Vec<Entry>, Failure> {
///         Ok(Vec::new())
///     }
/// }
///
/// let file = FileOptions::new().create_in_memory()?;
/// file.new_dataset("data").write(&[1, 2, 3])?;
/// let answer = answer(&One(file), "/data", "path=/data&selection=1:", &AnswerLimits::default());
/// assert_eq!(answer.status, 200);
/// assert_eq!(answer.body.into_bytes()?, b"[2,3]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn answer(library: &dyn Library, path: &str, query: &str, limits: &AnswerLimits) -> Answer {
    respond(library, path, query, limits).unwrap_or_else(Answer::from)
}

/// The function that answers the requests of one path.
type Endpoint = fn(&Asked<'_>) -> Result<Answer, Failure>;

/// Returns the function that answers requests of a path about a file.
fn endpoint(path: &str) -> Option<Endpoint> {
    Some(match path {
        "/attr" => attr::answer,
        "/data" => data::answer,
        "/meta" => meta::answer,
        "/paths" => paths::answer,
        "/stats" => stats::answer,
        _ => return None,
    })
}

/// Returns the name of the file that a request is about, as [`Library::open`] takes it. Returns
/// `None` if the request is about no file, or has no valid query.
#[cfg(feature = "server")]
pub(crate) fn file_of(path: &str, query: &str) -> Option<Option<String>> {
    endpoint(path)?;
    Some(Query::parse(query).ok()?.get("file").map(str::to_owned))
}

fn respond(library: &dyn Library, path: &str, query: &str, limits: &AnswerLimits) -> Result<Answer, Failure> {
    if matches!(path, "" | "/") {
        return Ok(Answer::bytes("text/plain; charset=utf-8", b"ok".to_vec()));
    }
    let query = Query::parse(query)?;
    if path == "/list" {
        let entries = library.list(query.get("folder").unwrap_or(""))?;
        return Ok(Answer::json(&Value::Array(entries.iter().map(Entry::json).collect())));
    }
    let endpoint = endpoint(path).ok_or_else(|| Failure::not_found("no such page"))?;
    let file = library.open(query.get("file"))?;
    endpoint(&Asked { query: &query, file, limits })
}

impl Asked<'_> {
    /// Returns the dataset that the request names.
    fn dataset(&self) -> Result<Dataset, Failure> {
        match entity::find(&self.file, self.query.path(), Links::OnlyValid)? {
            Entity::Dataset(dataset) => Ok(*dataset),
            _ => Err(Failure::refused(format!("{} is not a dataset", self.query.path()))),
        }
    }
}
