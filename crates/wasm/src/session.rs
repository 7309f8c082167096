//! A session: sources of bytes, their open files, and requests that are answered in attempts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hyperslab::vfd::Driver;
use hyperslab::{Error, File, FileLocking, Limits, OpenOptions, OtherFile, OtherFiles};
use hyperslab_serve::grove::{self, Answer, AnswerLimits, Entry, Failure, Library};

use crate::driver::SourceDriver;
use crate::pool::{BLOCK_BYTES, Pool};

/// The largest number of stored bytes that stay in memory between requests.
const KEPT_BYTES: u64 = 192 << 20;

/// The largest number of stored bytes in memory. The memory of WebAssembly has at most 4 GiB.
const MAX_BYTES: u64 = 1 << 30;

/// The memory for the decoded chunks of a file.
const CHUNK_CACHE_BYTES: u64 = 128 << 20;

/// The limits on answers. A piece of an answer is large, because an attempt ends at the first piece
/// with missing bytes.
const ANSWER_LIMITS: AnswerLimits =
    AnswerLimits { response_bytes: 256 << 20, piece_bytes: 64 << 20, summed_bytes: 64 << 30, until: None };

/// A range of the bytes of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The number of the source.
    pub source: u32,
    /// The offset of the first byte.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
}

/// The outcome of an attempt to answer a request.
#[derive(Debug)]
pub enum Outcome {
    /// The answer: a status of HTTP, the type of the content, and the whole body.
    Answered {
        /// The status of HTTP.
        status: u16,
        /// The value of the header `Content-Type`.
        content_type: &'static str,
        /// The body.
        body: Vec<u8>,
    },
    /// Ranges of bytes that are missing. The request is repeated when they have come.
    Missing(Vec<Range>),
}

/// Sources of bytes, and the answers to requests for the files in them.
#[derive(Debug, Default)]
pub struct Session {
    shelf: Arc<Shelf>,
    files: Mutex<HashMap<u32, File>>,
}

/// The sources of a session.
#[derive(Debug, Default)]
struct Shelf {
    pool: Arc<Pool>,
    sources: Mutex<Vec<Source>>,
}

#[derive(Debug, Clone)]
struct Source {
    number: u32,
    name: Arc<str>,
    size: u64,
}

impl Shelf {
    /// Returns the number and the driver of the source `name`; of the first source without a name.
    fn driver(&self, name: Option<&str>) -> Option<(u32, Arc<dyn Driver>)> {
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let source = sources.iter().find(|source| name.is_none_or(|name| *source.name == *name))?;
        let driver = SourceDriver::new(&self.pool, source.number, &source.name, source.size);
        Some((source.number, Arc::new(driver)))
    }
}

/// The other files to which links of a file lead: the sources of the session, by the last component
/// of their names.
#[derive(Debug)]
struct Beside(Arc<Shelf>);

impl OtherFiles for Beside {
    fn open(&self, name: &str) -> hyperslab::Result<OtherFile> {
        let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let found = self.0.driver(Some(name)).or_else(|| self.0.driver(Some(last)));
        let (_, driver) = found.ok_or_else(|| Error::NotFound { subject: "file", name: name.to_owned() })?;
        Ok(OtherFile { driver, others: Some(Arc::new(Self(Arc::clone(&self.0)))) })
    }
}

impl Library for Session {
    fn open(&self, name: Option<&str>) -> Result<File, Failure> {
        let found = self.shelf.driver(name);
        let (number, driver) = found.ok_or_else(|| Failure::not_found("File not found!"))?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(&number) {
            return Ok(file.clone());
        }
        let limits = Limits { result_bytes: MAX_BYTES, ..Limits::cautious() };
        let options =
            OpenOptions::new().limits(limits).locking(FileLocking::Off).chunk_cache(CHUNK_CACHE_BYTES);
        let file = options.open_driver_with(driver, Arc::new(Beside(Arc::clone(&self.shelf))))?;
        files.insert(number, file.clone());
        Ok(file)
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, Failure> {
        if !folder.is_empty() {
            return Err(Failure::not_found("Folder not found!"));
        }
        let sources = self.shelf.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = |source: &Source| Entry {
            name: source.name.to_string(),
            size: Some(source.size),
            modified: None,
        };
        Ok(sources.iter().map(entry).collect())
    }
}

impl Session {
    /// Adds a source of `size` bytes, and returns its number. The first source of a name counts.
    pub fn add(&self, name: &str, size: u64) -> u32 {
        let mut sources = self.shelf.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let number = sources.last().map_or(0, |last| last.number + 1);
        sources.push(Source { number, name: name.into(), size });
        number
    }

    /// Passes bytes of a source that [`ask`](Self::ask) missed: a whole range.
    pub fn provide(&self, source: u32, offset: u64, bytes: &[u8]) {
        self.shelf.pool.insert(source, offset, bytes);
    }

    /// Tries to answer a request, such as `/meta?path=/`.
    pub fn ask(&self, request: &str) -> Outcome {
        let pool = &self.shelf.pool;
        pool.begin();
        let (path, query) = request.split_once('?').unwrap_or((request, ""));
        let answer = grove::answer(self, path, query, &ANSWER_LIMITS);
        let (status, content_type) = (answer.status, answer.content_type);
        let body = answer.body.into_bytes();
        let missing = pool.end();
        if missing.has_failed {
            return self.missing(&missing.ranges);
        }
        match body {
            Ok(body) => Outcome::Answered { status, content_type, body },
            Err(failure) => answered(failure),
        }
    }

    /// Ends a request: releases bytes that are more than those that stay in memory.
    pub fn finish(&self) {
        self.shelf.pool.shrink(KEPT_BYTES);
    }

    fn missing(&self, missing: &[(u32, std::ops::Range<u64>)]) -> Outcome {
        let bytes: u64 = missing.iter().map(|(_, range)| range.end - range.start).sum();
        if bytes + self.shelf.pool.bytes() > MAX_BYTES {
            return answered(Failure::refused(format!(
                "the request needs more than {MAX_BYTES} stored bytes at once, which do not fit into the memory of \
                 the page; select less, or use `hyperslab serve`"
            )));
        }
        let sources = self.shelf.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let size = |source: u32| sources.get(source as usize).map_or(0, |source| source.size);
        let ranges = missing.iter().map(|(source, range)| Range {
            source: *source,
            start: range.start,
            end: range.end.min(size(*source)),
        });
        Outcome::Missing(ranges.collect())
    }
}

fn answered(failure: Failure) -> Outcome {
    let Answer { status, content_type, body, .. } = Answer::from(failure);
    Outcome::Answered {
        status,
        content_type,
        body: body.into_bytes().unwrap_or_else(|failure| failure.message.into_bytes()),
    }
}

const _: () = assert!(BLOCK_BYTES < KEPT_BYTES && KEPT_BYTES < MAX_BYTES);
