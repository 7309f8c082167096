//! Transfers of whole objects: from a store to a local file, and from a local file to a store.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::Bytes;
use hyperslab::vfd::{Driver as _, DriverError};
use hyperslab::{Error, Result};
use hyperslab_exact::{to_u64, to_usize};
use object_store::path::Path;
use object_store::{
    Error as StoreError, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload, UpdateVersion,
    WriteMultipart,
};
#[cfg(feature = "client")]
use reqwest::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};

use crate::error::{driver_error, io_error, without_secrets};
use crate::location::Location;
use crate::runtime::Runtime;
use crate::{CloudDriver, CloudOptions};

/// The number of bytes that a transfer holds at once, and of one part of an upload.
const PART_BYTES: usize = 16 << 20;

/// The largest object that one request uploads. Larger objects are uploaded in parts.
const SINGLE_BYTES: usize = 64 << 20;

/// The largest number of parts of one upload, below the limit of 10000 of the stores.
const MAX_PARTS: u64 = 9_000;

/// The largest number of parts that are uploaded at the same time.
const CONCURRENT_PARTS: usize = 4;

/// The treatment of an object that exists already where a file is uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Existing {
    /// The object stays, and the upload fails.
    #[default]
    Refuse,
    /// The object is replaced.
    Replace,
    /// The object is replaced if it still has this version: [`CloudDriver::version`].
    ///
    /// [`CloudDriver::version`]: crate::CloudDriver::version
    ReplaceVersion(String),
}

#[cfg(feature = "client")]
impl Existing {
    /// Returns the condition of a request as an HTTP header.
    pub(crate) fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::Refuse => Some((IF_NONE_MATCH, HeaderValue::from_static("*"))),
            Self::Replace => None,
            Self::ReplaceVersion(tag) => {
                // A tag came from a header, so that it is valid as one.
                HeaderValue::from_str(tag).ok().map(|tag| (IF_MATCH, tag))
            }
        }
    }
}

impl CloudOptions {
    /// Copies all bytes of the object at a URL to `target`, and returns their number.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](hyperslab::ErrorKind::Io) if the object cannot be read or `target`
    /// cannot be written.
    pub fn download(&self, url: &str, target: &mut dyn Write) -> Result<u64> {
        self.download_from(&self.driver(url)?, target)
    }

    pub(crate) fn download_from(&self, driver: &CloudDriver, target: &mut dyn Write) -> Result<u64> {
        let failed = |source| Error::Io { action: format!("cannot copy `{}`", driver.name()), source };
        let length = driver.len().map_err(failed)?;
        let mut buffer = Vec::new();
        let mut at = 0;
        while at < length {
            let count = to_usize((length - at).min(4 * to_u64(PART_BYTES)))?;
            buffer.resize(count, 0);
            driver.read_at(at, &mut buffer).map_err(failed)?;
            target.write_all(&buffer).map_err(|error| failed(io_error(driver.name(), error)))?;
            at += to_u64(count);
        }
        Ok(length)
    }

    /// Uploads all bytes of `source` as the object at a URL, and returns the version of the new
    /// object, if the store has versions. The object appears as a whole or not at all, and only if
    /// the condition of `existing` holds then.
    ///
    /// Objects of more than 64 MiB are uploaded in parts. Stores other than `s3://` have no
    /// condition for such an upload: [`Existing::Refuse`] then uploads under another name, and the
    /// store copies the object to its own name; [`Existing::ReplaceVersion`] is unsupported.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Exists`](hyperslab::ErrorKind::Exists) if the object exists and is not
    /// to be replaced, [`ErrorKind::Unsupported`](hyperslab::ErrorKind::Unsupported) if the store
    /// cannot write in this way, and [`ErrorKind::Io`](hyperslab::ErrorKind::Io) if the upload
    /// fails or the object has another version.
    pub fn upload(&self, source: impl Read, url: &str, existing: Existing) -> Result<Option<String>> {
        self.upload_parts(source, url, existing, PART_BYTES)
    }

    /// Uploads a whole file as [`upload`](Self::upload) does. The size of the parts follows from
    /// the length of the file.
    ///
    /// # Errors
    /// Returns the errors of [`upload`](Self::upload).
    pub fn upload_file(
        &self,
        source: &std::fs::File,
        url: &str,
        existing: Existing,
    ) -> Result<Option<String>> {
        let length = source.metadata().map_err(|error| Error::Io {
            action: "cannot read the file for an upload".into(),
            source: io_error("local file", error),
        })?;
        let part = to_usize(length.len() / MAX_PARTS + 1)?.next_multiple_of(1 << 20);
        self.upload_parts(source, url, existing, part.max(PART_BYTES))
    }

    fn upload_parts(
        &self,
        mut source: impl Read,
        url: &str,
        existing: Existing,
        part_bytes: usize,
    ) -> Result<Option<String>> {
        let mut options = self.clone();
        options.completion = Some(existing.clone());
        let location = Location::of(url, &options)?;
        let name = location.name_of(&location.path);
        let failed =
            |error| Error::Io { action: format!("cannot upload `{name}`"), source: io_error(&name, error) };
        let runtime = Runtime::get().map_err(failed)?;
        let first = read_part(&mut source, SINGLE_BYTES + 1).map_err(failed)?;
        if first.len() <= SINGLE_BYTES {
            let put = runtime.wait(put(location, existing, first)).map_err(failed)?;
            return put.map_err(|error| upload_error(&name, &error));
        }
        let begun = runtime.wait(Parts::begin(location, existing, part_bytes)).map_err(failed)?;
        let mut parts = begun.map_err(|error| upload_error(&name, &error))?;
        let mut part = first;
        while !part.is_empty() {
            let sent = runtime.wait(parts.send(part)).map_err(failed)?;
            parts = sent.map_err(|error| upload_error(&name, &error))?;
            part = match read_part(&mut source, part_bytes) {
                Ok(part) => part,
                Err(error) => {
                    let aborted = runtime.wait(parts.writer.abort());
                    tracing::debug!(?aborted, "an upload was given up");
                    return Err(failed(error));
                }
            };
        }
        runtime.wait(parts.finish()).map_err(failed)?.map_err(|error| upload_error(&name, &error))
    }
}

fn mode(existing: Existing) -> PutMode {
    match existing {
        Existing::Refuse => PutMode::Create,
        Existing::Replace => PutMode::Overwrite,
        Existing::ReplaceVersion(tag) => PutMode::Update(UpdateVersion { e_tag: Some(tag), version: None }),
    }
}

/// Uploads an object by one request, and returns its version.
///
/// A server may refuse a request and end the connection before it has received the body. Then the
/// client sees only the end, and the object shows the reason. If the answer to a successful request
/// is lost, the object is the one of this upload, and the error says that it exists or has changed.
async fn put(location: Location, existing: Existing, bytes: Bytes) -> object_store::Result<Option<String>> {
    let options = PutOptions { mode: mode(existing.clone()), ..PutOptions::default() };
    let (store, path) = (&location.store, &location.path);
    match store.put_opts(path, PutPayload::from_bytes(bytes), options).await {
        Ok(result) => Ok(result.e_tag),
        Err(error @ StoreError::Generic { .. }) => {
            let reason = examine(&location, &existing).await.err().filter(is_condition);
            Err(reason.unwrap_or(error))
        }
        Err(error) => Err(error),
    }
}

/// Examines the object at the place of an upload.
///
/// # Errors
/// An error if the condition of the upload does not hold, or the object cannot be examined.
async fn examine(location: &Location, existing: &Existing) -> object_store::Result<()> {
    let (store, path) = (&location.store, &location.path);
    let found = match existing {
        Existing::Replace => return Ok(()),
        _ => match store.head(path).await {
            Ok(meta) => Some(meta),
            Err(StoreError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        },
    };
    match (existing, found) {
        (Existing::Refuse, Some(_)) => Err(exists(path, "the object exists")),
        (Existing::ReplaceVersion(tag), found)
            if found.as_ref().and_then(|meta| meta.e_tag.as_ref()) != Some(tag) =>
        {
            let source = "the object has another version".into();
            Err(StoreError::Precondition { path: path.to_string(), source })
        }
        _ => Ok(()),
    }
}

/// Returns whether an error states that the condition of an upload does not hold.
fn is_condition(error: &StoreError) -> bool {
    matches!(error, StoreError::AlreadyExists { .. } | StoreError::Precondition { .. })
}

/// An upload in parts, whose object appears when it is finished.
struct Parts {
    writer: WriteMultipart,
    location: Location,
    existing: Existing,
    /// The name under which the object is uploaded, if it is not the object's own name.
    beside: Option<Path>,
}

impl Parts {
    /// Begins an upload, after it has examined the existing object: an upload that cannot succeed
    /// should not send any bytes.
    async fn begin(location: Location, existing: Existing, part_bytes: usize) -> object_store::Result<Self> {
        examine(&location, &existing).await?;
        let (store, path) = (&location.store, &location.path);
        let beside = match &existing {
            Existing::ReplaceVersion(_) if !location.has_conditional_parts => {
                return Err(StoreError::NotSupported { source: "no condition for parts".into() });
            }
            Existing::Refuse if !location.has_conditional_parts => Some(beside(path)?),
            _ => None,
        };
        let upload = store.put_multipart(beside.as_ref().unwrap_or(path)).await?;
        let writer = WriteMultipart::new_with_chunk_size(upload, part_bytes);
        Ok(Self { writer, existing, beside, location })
    }

    async fn send(mut self, part: Bytes) -> object_store::Result<Self> {
        self.writer.put(part);
        match self.writer.wait_for_capacity(CONCURRENT_PARTS).await {
            Ok(()) => Ok(self),
            Err(error) => {
                let aborted = self.writer.abort().await;
                tracing::debug!(?aborted, "an upload was given up");
                Err(error)
            }
        }
    }

    /// Makes the object appear, and returns its version.
    async fn finish(self) -> object_store::Result<Option<String>> {
        let (store, path) = (&self.location.store, &self.location.path);
        let finished = self.writer.finish().await;
        let Some(beside) = self.beside else {
            return match finished {
                Err(StoreError::Precondition { .. } | StoreError::NotModified { .. })
                    if self.existing == Existing::Refuse =>
                {
                    Err(exists(path, "the object was created during the upload"))
                }
                finished => finished.map(|result| result.e_tag),
            };
        };
        finished?;
        let copied = store.copy_if_not_exists(&beside, path).await;
        let deleted = store.delete(&beside).await;
        tracing::debug!(?deleted, %beside, "the first name of an upload was removed");
        copied?;
        Ok(store.head(path).await.ok().and_then(|meta| meta.e_tag))
    }
}

fn exists(path: &Path, why: &'static str) -> StoreError {
    StoreError::AlreadyExists { path: path.to_string(), source: why.into() }
}

/// Returns a path beside `path` that no other upload uses.
fn beside(path: &Path) -> object_store::Result<Path> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Relaxed);
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // A clock before 1970 does no harm: the process and the number differ then too.
    let nanos = time.map_or(0, |time| time.as_nanos());
    Ok(Path::parse(format!("{path}.hyperslab-{nanos:x}-{:x}-{number:x}", std::process::id()))?)
}

/// Reads at most `count` bytes; fewer at the end of the source.
fn read_part(source: &mut impl Read, count: usize) -> io::Result<Bytes> {
    let mut part = Vec::new();
    source.take(to_u64(count)).read_to_end(&mut part)?;
    Ok(part.into())
}

fn upload_error(name: &str, error: &StoreError) -> Error {
    match error {
        StoreError::AlreadyExists { .. } => Error::Exists { subject: "object", name: name.to_owned() },
        StoreError::NotImplemented { .. } | StoreError::NotSupported { .. } => {
            Error::unsupported(format!("this kind of upload to `{}`", without_secrets(name)))
        }
        error => {
            let source = match driver_error(name, error, None) {
                DriverError::Io { source, .. } => {
                    DriverError::Io { name: name.to_owned(), operation: "cannot write the object", source }
                }
                other => other,
            };
            Error::Io { action: format!("cannot upload `{name}`"), source }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_the_source() {
        let mut source = &b"abcde"[..];
        let mut lengths = Vec::new();
        for _ in 0..3 {
            lengths.push(read_part(&mut source, 3).unwrap().len());
        }
        assert_eq!(lengths, [3, 2, 0]);
    }
}
